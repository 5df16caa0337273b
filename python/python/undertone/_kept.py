"""A run as plain values: what pickles of a result hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._undertone import Run


class KeptRun:
    """What a run told, without the experiment, its data and its seed's noise: those stay in the process that ran it."""

    def __init__(self, run: Run) -> None:
        self._summary = run.summary()
        self._receipt = run.receipt()
        self._advice = run.advice()
        self._basis = run.basis()
        self._releases = run.releases()
        self._sums = [run.sum(place) for place in range(len(self._releases))]
        self._metrics = run.metrics()
        self._items = run.items()
        self._peers = run.peers()

    def summary(self) -> str:
        return self._summary

    def receipt(self) -> str:
        return self._receipt

    def advice(self) -> str | None:
        return self._advice

    def basis(self) -> NDArray[np.float64]:
        return self._basis

    def releases(self) -> list[tuple[int, int, int, float, list[float], list[str]]]:
        return self._releases

    def sum(self, release: int) -> NDArray[np.float64]:
        return self._sums[release]

    def metrics(self) -> bytes:
        return self._metrics

    def items(self) -> bytes:
        return self._items

    def peers(self) -> list[str]:
        return self._peers

    def write(self, directory: str, trace: bool) -> None:
        raise RuntimeError("this result came out of a pickle, which holds no files: call write before pickling, or run(..., out=folder)")
