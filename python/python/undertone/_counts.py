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


def number(name: str, value: Any) -> float:
    """A number, not a text that reads like one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is a number, found {value!r}")
    return float(value)
