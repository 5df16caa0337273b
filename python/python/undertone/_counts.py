"""Numbers and arrays of numbers that callers hand over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def count(name: str, value: Any, bits: int = 32) -> int:
    """A whole number of at least 0 that fits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is a whole number, found {value!r}")
    if not 0 <= int(value) < 2**bits:
        raise ValueError(f"{name} is a whole number from 0 to 2**{bits} - 1, found {value}")
    return int(value)


def matrix(name: str, value: Any) -> NDArray[np.float64]:
    """Rows of numbers: an array of two dimensions. What is wrong with it is named by its place as numpy counts."""
    if hasattr(value, "tocoo"):
        raise TypeError(f"{name} is a sparse matrix, and rows of numbers are a dense array: give {name}.toarray()")
    if np.ma.is_masked(value):
        row = tuple(np.argwhere(np.ma.getmaskarray(value))[0].tolist())
        raise ValueError(f"{name}{list(row)} is masked, and a mask is no part of a row: leave the row out or fill it in")
    array = np.asarray(value)
    if array.ndim != 2:
        shape = "one number" if array.ndim == 0 else f"of shape {array.shape}"
        raise ValueError(f"{name} is {shape}, and rows are an array of two dimensions, one row per person: {_reshaped(name, array.ndim)}")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {_kind(value, array)}, and rows are numbers: leave out or encode what is none")
    finite(name, array)
    return np.ascontiguousarray(array, dtype=np.float64)


def _reshaped(name: str, dimensions: int) -> str:
    if dimensions == 1:
        return f"give {name}[:, None] where every person has one number, {name}[None, :] where there is one person"
    return f"give {name}.reshape(len({name}), -1)" if dimensions > 2 else "give one list of numbers per person"


def _kind(value: Any, array: NDArray[Any]) -> str:
    columns = getattr(value, "dtypes", None)
    if columns is not None and hasattr(columns, "items"):
        wrong = [column for column, dtype in columns.items() if getattr(dtype, "kind", "O") not in "fiub"]
        if wrong:
            return f"{columns[wrong[0]]} in its column {wrong[0]!r}"
    return f"{array.dtype}"


def finite(name: str, array: Any) -> None:
    """Refuses rows with a number that is none, by its place as numpy counts, and rows without any."""
    if array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}: give at least one row and one column")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(f"{name}[{row}, {column}] is {array[row, column]}: leave the row out or fill it in")


def number(name: str, value: Any) -> float:
    """A number, not a text that reads like one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is a number, found {value!r}")
    return float(value)
