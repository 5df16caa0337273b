"""Numbers that callers hand over."""

from __future__ import annotations

from typing import Any

import numpy as np


def count(name: str, value: Any, bits: int = 32) -> int:
    """A whole number of at least 0 that fits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is a whole number, found {value!r}")
    if not 0 <= int(value) < 2**bits:
        raise ValueError(f"{name} is a whole number from 0 to 2**{bits} - 1, found {value}")
    return int(value)


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
