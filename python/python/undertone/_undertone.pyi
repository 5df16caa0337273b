"""The compiled half of the package: plain values in, arrays and JSON out. Nothing of it is for callers of the package."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str
with_node: bool

_Floats = NDArray[np.float64]
_Edges = NDArray[np.uint32]
_Progress = Callable[[int, int], Any] | None
_Path = str | PathLike[str]

class _Held(TypedDict, total=False):
    rows: _Floats
    ratings: tuple[list[str], list[str], _Floats | None]
    topology: tuple[list[str], _Edges, str | None]
    noise_topology: tuple[list[str], _Edges, str | None]

_Memory = _Held | None

class NoResult(RuntimeError): ...

class _Losses(TypedDict):
    mu_low: _Floats
    mu_estimate: _Floats
    mu: _Floats
    epsilon_low: _Floats
    epsilon: _Floats
    method: str
    steps: int
    seconds: float

class Run:
    def summary(self) -> str: ...
    def receipt(self) -> str: ...
    def advice(self) -> str | None: ...
    def basis(self) -> _Floats: ...
    def releases(self) -> list[tuple[int, int, int, float, list[float], list[str]]]: ...
    def sum(self, release: int) -> _Floats: ...
    def metrics(self) -> bytes: ...
    def items(self) -> bytes: ...
    def peers(self) -> list[str]: ...
    def write(self, directory: _Path, trace: bool) -> None: ...

def account(
    own: _Floats,
    edges: _Edges,
    pairwise: _Floats,
    coalition: Sequence[int],
    sensitivity: float,
    iterations: int,
    delta: float,
    gap: float,
    method: str,
) -> _Losses: ...
def worst(
    peers: int,
    edges: _Edges,
    own: float,
    pairwise: float,
    colluders: int,
    sensitivity: float,
    iterations: int,
    delta: float,
    effort: float,
) -> str: ...
def plan(
    peers: int,
    edges: _Edges,
    epsilon: float,
    delta: float,
    colluders: int,
    iterations: int,
    scheme: str,
    overhead: float,
    on_disconnect: str,
    calibration: str,
    trusted_sum: bool,
) -> str: ...
def read_graph(path: _Path) -> tuple[list[str] | None, int, _Edges, str | None]: ...
def run(
    sim: Any,
    set: Any,
    memory: _Memory,
    faults: _Path | None,
    out: _Path | None,
    trace: bool,
    progress: _Progress,
) -> Run: ...
def sweep(
    sim: Any,
    set: Any,
    memory: _Memory,
    directory: _Path,
    shard: str | None,
    program: _Path,
    progress: _Progress,
) -> tuple[str, bool] | None: ...
def cells(sim: Any, set: Any, memory: _Memory, program: _Path) -> int: ...
def merge(
    folders: Sequence[_Path], base: _Path | None, memory: _Memory, directory: _Path, program: _Path
) -> tuple[str, bool]: ...
def study(path: _Path, set: Any, out: _Path | None, progress: _Progress) -> str: ...
def advise(
    sim: Any,
    set: Any,
    memory: _Memory,
    limit: int | None,
    assume: Sequence[tuple[float, ...]] | None,
    pilot: float | None,
    progress: _Progress,
) -> str: ...
def verify(
    sim: Any, set: Any, memory: _Memory, runs: int, significance: float, progress: _Progress
) -> str: ...
def verify_rows(
    rows: NDArray[np.float64],
    peers: int | None,
    edges: _Edges | None,
    algorithm: dict[str, Any],
    promised: Any,
    runs: int,
    significance: float,
    seed: int,
    progress: _Progress,
) -> str: ...
def audit(
    sim: Any,
    set: Any,
    memory: _Memory,
    trials: int,
    significance: float,
    coalition: Sequence[str],
    victim: str | None,
    progress: _Progress,
) -> tuple[str, str | None]: ...
def privacy(
    sim: Any,
    set: Any,
    memory: _Memory,
    peers: bool,
    coalition: Sequence[str],
    target_gap: float | None,
    progress: _Progress,
) -> str: ...
def test_central_dp(sums: _Floats, expected: _Floats, sigma: float) -> str: ...
def test_published_law(
    messages: _Floats, contributions: _Floats, names: Sequence[str], edges: _Edges, sigma_own: float, sigma_pairwise: float
) -> str: ...
def test_epsilon(with_record: _Floats, without_record: _Floats, epsilon: float, delta: float | None) -> str: ...
def runs_for_central_dp(values: int) -> int: ...
def runs_for_published_law(names: Sequence[str], edges: _Edges, sigma_own: float, sigma_pairwise: float, values: int) -> int: ...
def runs_for_epsilon(epsilon: float, delta: float | None) -> int: ...
def check_receipt(path: _Path, text: str | None) -> str: ...
