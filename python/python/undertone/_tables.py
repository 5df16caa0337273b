"""Tables of results: a frame of pandas where it is there, and a dict of arrays otherwise."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def of_csv(text: bytes) -> Any:
    """The table of a CSV file whose columns are numbers, where all that is there is one, or text."""
    lines = csv.reader(io.StringIO(text.decode("utf-8")))
    header = next(lines)
    rows = list(lines)
    columns = {name: _column([row[k] for row in rows]) for k, name in enumerate(header)}
    return of_columns(columns)


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The table of these rows."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return of_columns({name: np.array([row.get(name) for row in rows], dtype=_kind(rows, name)) for name in names})


def of_columns(columns: Mapping[str, Any]) -> Any:
    """The table of these columns."""
    try:
        import pandas
    except ImportError:
        return dict(columns)
    return pandas.DataFrame(columns)


def _kind(rows: Iterable[Mapping[str, Any]], name: str) -> Any:
    values = [row.get(name) for row in rows]
    numbers = all(value is None or isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if numbers and any(value is None or isinstance(value, float) for value in values):
        return np.float64
    return None if numbers or all(isinstance(value, bool) for value in values) else object


def _column(texts: list[str]) -> Any:
    if all(text.lstrip("-").isdigit() for text in texts) and texts:
        return np.array([int(text) for text in texts])
    try:
        return np.array([float(text) if text else np.nan for text in texts], dtype=np.float64)
    except ValueError:
        return np.array(texts, dtype=object)
