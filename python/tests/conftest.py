"""What all tests share: the repository they run in, and a small experiment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths such as ``sims/quickstart.toml`` are those of the repository."""
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture
def rows() -> Any:
    """Numbers with two strong directions."""
    return np.random.default_rng(1).normal(size=(120, 4)) * [3.0, 2.0, 0.5, 0.5]


@pytest.fixture
def small(rows: Any) -> dict[str, Any]:
    """An experiment on them, in memory."""
    return {
        "data": {"path": rows, "row_clip": 6.0},
        "peers": {"count": 12},
        "topology": {"generator": "complete"},
        "algorithm": {"kind": "isometric-covariance", "rank": 2, "iterations": 1},
        "privacy": {"epsilon": 1.0, "delta": 1e-5, "adjacency": "user", "sensitivity": "unit-row"},
        "averaging": {"scheme": "tree"},
    }


def resident() -> int:
    """Bytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
