"""Many runs: sweeps over keys, studies, advice."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from . import _undertone
from ._counts import count
from ._graphs import GraphLike
from ._memory import Memory, lifted
from ._progress import Progress, told
from ._runs import Set, Sim, _given, _path, _set
from ._tables import of_columns, of_csv, of_rows
from ._warnings import warn


def sweep(
    sim: Sim,
    *,
    set: Set = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
) -> Any:
    """Runs an experiment with a ``[sweep]``: methods × grid × seeds, on all cores. Returns its curves.

    Parameters are as in :func:`undertone.run`; with ``out`` a sweep that was stopped goes on where it was.

    Returns
    -------
    pandas.DataFrame
        One row per method and value: ``measure``, ``method``, the swept key, ``runs``, ``mean`` and the ends ``low`` and ``high`` of a 99 %
        band of the mean. ``frame.attrs`` has ``summary``, what ``summary.json`` holds, and ``cells``, the columns of ``sweep.csv``. Where pandas is missing, a dict of
        arrays.

    >>> import undertone
    >>> small = {"sweep.seeds": 2, "sweep.over": {"privacy.epsilon": [2, 50]}, "sweep.coincide": [], "data.items": 20}
    >>> curve = undertone.sweep("sims/fig1-small.toml", set=small)
    >>> ours = curve[(curve.method == "Undertone") & (curve.measure == "relative_error_non_private")]
    >>> bool(ours["mean"].is_monotonic_decreasing)
    True
    """
    plain, memory = lifted(sim, data, topology, noise_topology)
    with ExitStack() as stack:
        callback = stack.enter_context(told(progress, "sweeping"))
        folder = _path(out)
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="undertone-"))
        done = _undertone.sweep(_given(plain), _set(set), memory.arguments, folder, None, _undertone.__file__, callback)
        assert done is not None
        curves, summary = concluded(folder, *done)
    warn(summary.get("warnings", ()))
    return curves


def sweep_shard(
    sim: Sim,
    shard: str,
    *,
    out: str | os.PathLike[str],
    set: Set = None,
    progress: Progress = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
) -> None:
    """Runs a part of a sweep into a folder of its own: ``"2/4"`` is every fourth run, from the second on. :func:`sweep_merge` puts the parts
    together. A part that was killed goes on where it was. Other parameters are as in :func:`undertone.run`.
    """
    plain, memory = lifted(sim, data, topology, noise_topology)
    with told(progress, f"shard {shard}") as callback:
        program = _undertone.__file__
        _undertone.sweep(_given(plain), _set(set), memory.arguments, _path(out), str(shard), program, callback)


def sweep_merge(
    folders: Sequence[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str] | None = None,
    base: str | os.PathLike[str] | None = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
) -> Any:
    """Puts the parts of a sweep together: the frame of :func:`sweep`, and in ``out`` the bytes that the whole would have written.

    Data files are looked for where the first part found them, or from ``base`` on. What was handed to the parts in memory is handed over
    again. Runs count only if this very build made them, from the same data; what is missing is named.

    >>> import tempfile, undertone
    >>> small = {"sweep.seeds": 1, "sweep.over": {"privacy.epsilon": [2, 50]}, "sweep.coincide": [], "data.items": 20}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = [f"{folder}/{k}" for k in (1, 2)]
    ...     for k, part in enumerate(parts, 1):
    ...         undertone.sweep_shard("sims/fig1-small.toml", f"{k}/2", set=small, out=part)
    ...     merged = undertone.sweep_merge(parts)
    >>> bool((merged["mean"] == undertone.sweep("sims/fig1-small.toml", set=small)["mean"]).all())
    True
    """
    return merged(folders, out, base, Memory(data, topology, noise_topology))


def merged(
    folders: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str] | None,
    base: str | os.PathLike[str] | None,
    memory: Memory,
) -> Any:
    """:func:`sweep_merge` of parts that had this in memory."""
    with ExitStack() as stack:
        folder = _path(out)
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="undertone-"))
        done = _undertone.merge([_path(part) for part in folders], _path(base), memory.arguments, folder, _undertone.__file__)
        curves, summary = concluded(folder, *done)
    warn(summary.get("warnings", ()), stacklevel=4)
    return curves


def concluded(folder: str, text: str, holds: bool) -> tuple[Any, dict[str, Any]]:
    """The curves that a sweep wrote into a folder, and its summary."""
    curves, cells = (of_csv(_read(folder, name)) for name in ("curves.csv", "sweep.csv"))
    summary = dict(json.loads(text))
    if hasattr(curves, "attrs"):
        curves.attrs.update(summary=summary, holds=holds, cells=cells.to_dict("list"))
    return curves, summary


def _read(folder: str, name: str) -> bytes:
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


@dataclass(frozen=True)
class Study:
    """Tables that were computed without being one run."""

    name: str
    #: By name, in their order.
    tables: Mapping[str, Any]
    #: What the reader of the tables should know.
    notes: Sequence[str]


def study(
    path: str | os.PathLike[str],
    *,
    set: Set = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Study:
    """Does the study of a file with a ``[study]`` table, such as ``sims/table1.toml``."""
    with told(progress, "computing") as callback:
        found = json.loads(_undertone.study(_path(path), _set(set), _path(out), callback))
    tables = {}
    for table in found["tables"]:
        names = [column["name"] for column in table["columns"]]
        rows = [dict(zip(names, row)) for row in table["rows"]]
        tables[table["name"]] = of_rows(rows) if rows else of_columns({name: [] for name in names})
    return Study(found["name"], tables, tuple(found["notes"]))


@dataclass(frozen=True)
class Candidate:
    """An algorithm and an averaging scheme, and what is predicted of them."""

    name: str
    #: Keys of ``[algorithm]``.
    algorithm: Mapping[str, Any]
    #: Keys of ``[averaging]``.
    averaging: Mapping[str, Any]
    degree_floor: int
    sensitivity: str
    #: ``None`` where the bytes allowed rule it out.
    predicted_error: float | None
    predicted_by_guess: Sequence[float]
    #: On each stand-in; empty where the candidate is not compared. The advice follows from these.
    predicted_by_stand_in: Sequence[float]
    bytes_max_peer: int
    bytes_mean_peer: float
    #: Whether no candidate is both better and cheaper.
    on_frontier: bool

    @property
    def set(self) -> dict[str, Any]:
        """What to hand to ``set`` of :func:`undertone.run`."""
        return {
            "algorithm": dict(self.algorithm),
            "averaging": dict(self.averaging),
            "data.degree_floor": self.degree_floor,
            "privacy.sensitivity": self.sensitivity,
        }


@dataclass(frozen=True)
class Advice:
    """What to run, drawn from stand-ins for the data."""

    recommended: Candidate
    candidates: Sequence[Candidate]
    #: What cannot be run, and why.
    refused: Sequence[tuple[str, str]]
    epsilon: float
    reference_floor: int
    guesses: Sequence[Mapping[str, float]]
    #: What was used of the data.
    public: Mapping[str, int]

    def to_frame(self) -> Any:
        """One row per candidate."""
        shown = ("name", "predicted_error", "bytes_max_peer", "bytes_mean_peer", "on_frontier", "degree_floor")
        return of_rows([{name: getattr(candidate, name) for name in shown} for candidate in self.candidates])


def advise(
    sim: Sim,
    *,
    set: Set = None,
    bytes: int | None = None,
    assume: Sequence[tuple[float, float, float]] | None = None,
    pilot: float | None = None,
    progress: Progress = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
) -> Advice:
    """Which algorithm, iterations, degree floor and averaging scheme to use for this budget, predicted on stand-ins for the data.

    ``bytes`` is the most that the busiest peer may send; ``assume`` are guesses at the data (taste, decay, spread); ``pilot`` is the
    share of the budget that a pilot is given. Other arguments are as in :func:`undertone.run`.
    """
    plain, memory = lifted(sim, data, topology, noise_topology)
    with told(progress, "trying") as callback:
        guesses = None if assume is None else [tuple(map(float, guess)) for guess in assume]
        limit = None if bytes is None else count("bytes", bytes, 64)
        share = None if pilot is None else float(pilot)
        text = _undertone.advise(_given(plain), _set(set), memory.arguments, limit, guesses, share, callback)
    found = json.loads(text)
    return Advice(
        recommended=Candidate(**found["recommended"]),
        candidates=tuple(Candidate(**candidate) for candidate in found["candidates"]),
        refused=tuple((name, why) for name, why in found["refused"]),
        epsilon=found["epsilon"],
        reference_floor=found["reference_floor"],
        guesses=tuple(found["guesses"]),
        public=found["public"],
    )
