"""One experiment, run."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _undertone
from ._graphs import GraphLike
from ._html import table
from ._kept import KeptRun
from ._memory import lifted
from ._progress import Progress, told
from ._tables import of_csv
from ._warnings import warn

#: The path of an experiment file, or a dictionary with its tables and keys.
Sim = Union[str, "os.PathLike[str]", Mapping[str, Any]]
#: Keys set on top: a dict of dotted keys, or texts ``key=value``.
Set = Union[Mapping[str, Any], Sequence[str], None]


class NoResult(RuntimeError):
    """So much went wrong, as the experiment plans, that nobody has a result."""

    def __init__(self, message: str, summary: dict[str, Any]) -> None:
        super().__init__(message)
        #: What went wrong, as ``faults.json`` has it.
        self.summary = summary

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.summary)


@dataclass(frozen=True)
class Release:
    """One noisy sum that everybody learned."""

    #: The iteration it belongs to, from 1.
    iteration: int
    #: How far one record moves it.
    sensitivity: float
    #: Standard deviation of the noise on every coordinate, one per block.
    sigmas: tuple[float, ...]
    #: What each block is of.
    quantities: tuple[str, ...]
    #: The sum that peer 0 has.
    sum: NDArray[np.float64]


class Result:
    """What a run left. Arrays are computed once and kept.

    Results can be copied and pickled, as ``joblib`` and ``multiprocessing`` do. A pickle holds no rows and no noise; the files of
    :meth:`write` are not in it either.
    """

    def __init__(self, run: _undertone.Run | KeptRun, names: Mapping[str, Any]) -> None:
        self._run = run
        self._names = dict(names)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Exactly ``summary.json``. What stands under ``utility`` is measured on the raw data: no epsilon covers it."""
        return dict(json.loads(self._run.summary()))

    @cached_property
    def receipt(self) -> dict[str, Any]:
        """Exactly ``receipt.json``: what was promised, and all that is needed to compute it again."""
        return dict(json.loads(self._run.receipt()))

    @cached_property
    def basis(self) -> NDArray[np.float64]:
        """The leading eigenvectors as found, items × rank; the columns are orthonormal."""
        return _frozen(self._run.basis())

    @cached_property
    def matrix(self) -> NDArray[np.float64] | None:
        """The noisy matrix that was released, where the algorithm releases it whole (``covariance``, ``isometric-covariance``)."""
        algorithm = self.summary["algorithm"]
        if algorithm not in ("covariance", "isometric-covariance"):
            return None
        packed = self._run.sum(len(self._run.releases()) - 1)
        items = self.basis.shape[0]
        if packed.shape != (items * (items + 1) // 2, 1):
            return None
        matrix = np.zeros((items, items))
        upper = np.triu_indices(items)
        matrix[upper] = packed[:, 0]
        if algorithm == "isometric-covariance":
            # Coordinates off the diagonal are released times √2.
            matrix[upper] = np.where(upper[0] == upper[1], packed[:, 0], packed[:, 0] / np.sqrt(2.0))
        return _frozen(matrix + np.triu(matrix, 1).T)

    @cached_property
    def eigenvalues(self) -> NDArray[np.float64] | None:
        """The eigenvalues of :attr:`matrix` that belong to the columns of :attr:`basis`: functions of what was released, which cost no
        privacy. ``None`` for algorithms that release no matrix."""
        if self.matrix is None:
            return None
        return _frozen(np.einsum("ij,ik,kj->j", self.basis, self.matrix, self.basis))

    @cached_property
    def metrics(self) -> Any:
        """``metrics.csv``, one row per iteration: a pandas frame, or a dict of arrays where pandas is missing."""
        return of_csv(self._run.metrics())

    @cached_property
    def items(self) -> Any:
        """``items.csv``: which item each row of the basis is."""
        return of_csv(self._run.items())

    @cached_property
    def advice(self) -> dict[str, Any] | None:
        """Exactly ``advice.json``, where the algorithm was left to be chosen."""
        text = self._run.advice()
        return None if text is None else dict(json.loads(text))

    @property
    def releases(self) -> list[Release]:
        """Every noisy sum that everybody learned, in order."""
        return [
            Release(iteration, sensitivity, tuple(sigmas), tuple(quantities), _frozen(self._run.sum(place)))
            for place, (iteration, _, _, sensitivity, sigmas, quantities) in enumerate(self._run.releases())
        ]

    @property
    def peers(self) -> list[Any]:
        """The peers, by the names of the caller's graph where it was given as one."""
        return [self._names.get(name, name) for name in self._run.peers()]

    def write(self, directory: str | os.PathLike[str], *, trace: bool = False) -> None:
        """Writes the files of ``undertone run`` into a folder: ``summary.json``, ``receipt.json``, ``basis.npy``, ``report.html`` and more.

        Rows and graphs that were in memory are not written. ``config.toml`` names them as files beside itself: ``rows.npy`` for an array,
        ``interactions.csv`` for a table, ``topology.gml`` and ``noise-topology.gml``. With these files there it runs again.
        """
        self._run.write(os.fspath(directory), trace)

    def __reduce__(self) -> Any:
        kept = self._run if isinstance(self._run, KeptRun) else KeptRun(self._run)
        return type(self), (kept, self._names)

    def __copy__(self) -> Result:
        return type(self)(self._run, self._names)

    def __deepcopy__(self, memo: dict[int, Any]) -> Result:
        # Nothing of a run changes, and its arrays are read-only.
        return type(self)(self._run, copy.deepcopy(self._names, memo))

    def _repr_html_(self) -> str:
        summary = self.summary
        privacy, utility = summary["privacy"], summary["utility"]
        rows = [
            ("algorithm", summary["algorithm"]),
            ("peers", summary["peers"]),
            ("epsilon", privacy.get("epsilon")),
            ("delta", privacy.get("delta")),
            *((name.replace("_", " "), value) for name, value in utility.items() if isinstance(value, float)),
        ]
        return table(f"Result of {summary['name']}", ("", "value"), rows)

    def __repr__(self) -> str:
        summary = self.summary
        epsilon = summary["privacy"].get("epsilon")
        kept = "no privacy" if epsilon is None else f"epsilon = {epsilon:.4g}"
        return f"<Result of {summary['name']!r}: {summary['algorithm']}, {summary['peers']} peers, {kept}>"


def run(
    sim: Sim,
    *,
    set: Set = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    faults: str | os.PathLike[str] | None = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
    trace: bool = False,
) -> Result:
    """Runs one experiment: the same bits as ``undertone run`` writes.

    Parameters
    ----------
    sim : the path of an experiment file, or a dict with the same tables and keys; its paths start at the working directory, and without
        ``name`` and ``seed`` it is called ``python`` and has the seed 0.
    set : keys set on top, such as ``{"privacy.epsilon": 0.5}``.
    out : a folder for all files of the run.
    progress : ``True`` for a bar, a bar of tqdm, or a function of (done, total).
    faults : a file of faults to run again, as an earlier run wrote it.
    data : rows held in memory instead of ``data.path``: an array of numbers; a frame with columns ``user``, ``item`` and perhaps ``rating``;
        or a sparse matrix of users by items. In a dict it may stand at ``data.path``.
    topology, noise_topology : graphs held in memory: of networkx with nodes of any kind, or edges (m, 2). Node k of the graph is
        peer k. In a dict they may stand in place of the tables, and ``peers.count`` is then that of the graph.
    trace : with ``out``, also every release.

    Ctrl-C stops it. Noise of a simulation follows from its seed: whoever knows the seed can take it off again.

    Raises
    ------
    ValueError
        For what makes no experiment, with the table, the key and what to change.
    OSError
        For files that cannot be read or written.
    NoResult
        Where what goes wrong, as planned, leaves nobody with a result.

    Examples
    --------
    >>> import numpy as np, networkx, undertone
    >>> rows = np.random.default_rng(1).normal(size=(400, 5)) * [3.0, 2.0, 1.0, 0.5, 0.5]
    >>> result = undertone.run({
    ...     "data": {"path": rows, "row_clip": 6.0},
    ...     "topology": networkx.random_regular_graph(6, 40, seed=1),
    ...     "algorithm": {"kind": "isometric-covariance", "rank": 2, "iterations": 1},
    ...     "privacy": {"epsilon": 1.0, "delta": 1e-5, "adjacency": "user", "sensitivity": "unit-row"},
    ...     "averaging": {"scheme": "tree"},
    ... })
    >>> result.basis.shape, result.summary["utility"]["captured_variance"] > 0.9
    ((5, 2), True)
    >>> result.summary["privacy"]["epsilon"] <= 1.0
    True
    """
    plain, memory = lifted(sim, data, topology, noise_topology)
    with told(progress, "running") as callback:
        try:
            found = _undertone.run(
                _given(plain), _set(set), memory.arguments, _path(faults), _path(out), bool(trace), callback
            )
        except _undertone.NoResult as error:
            message, summary = error.args
            raise NoResult(message, json.loads(summary)) from None
    result = Result(found, memory.names())
    warn(result.summary.get("warnings", ()))
    return result


def _given(sim: Any) -> Any:
    return dict(sim) if isinstance(sim, Mapping) else _path(sim)


def _set(keys: Set) -> Any:
    return dict(keys) if isinstance(keys, Mapping) else keys


def _path(path: Any) -> Any:
    return None if path is None else os.fspath(path)


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.flags.writeable = False
    return array
