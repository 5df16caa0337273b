"""What a verification finds, and that of rows in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from . import _undertone
from ._counts import count, matrix, number
from ._graphs import GraphLike, peers_of
from ._html import table
from ._progress import Progress, told
from ._tables import of_rows
from ._warnings import warn


@dataclass(frozen=True)
class Check:
    """One line of a verification."""

    #: Which kind: ``algebra``, ``peers``, ``record``, ``law``, ``utility`` or ``spent``.
    kind: str
    #: What is checked.
    name: str
    statistic: float | None
    #: Where it is a test.
    p_value: float | None
    #: What the statistic, or the p-value, is held against.
    threshold: float | None
    passed: bool


@dataclass(frozen=True, repr=False)
class Verification:
    """The statistical test that an experiment is what its plan says. True where every check passed."""

    name: str
    engine: str
    passed: bool
    runs: int
    checks: Sequence[Check]
    #: Checks that do not apply, with the reason.
    skipped: Sequence[str]
    #: The failures, one a line, and what was skipped: what ``print`` shows.
    text: str = ""

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        # What pytest shows of `assert result.passed, result`. It cuts a repr after 240 characters, so failures stand alone.
        lines = self.text.splitlines()
        return "\n".join(line for line in lines if not line.startswith("  skipped: "))

    def _repr_html_(self) -> str:
        names = ("kind", "name", "statistic", "p_value", "threshold", "passed")
        verdict = "passed" if self.passed else f"{len(self.failures)} of {len(self.checks)} checks failed"
        caption = f"Verification of {self.name} ({self.engine}, {self.runs} runs): {verdict}"
        rows = [[getattr(check, name) for name in names] for check in self.checks]
        return table(caption, [name.replace("_", "-") for name in names], rows)

    @classmethod
    def read(cls, text: str) -> Verification:
        """The table that the library wrote."""
        found = json.loads(text)
        warn(found.pop("warnings"))
        checks = tuple(Check(**check) for check in found.pop("checks"))
        return cls(checks=checks, **{**found, "skipped": tuple(found["skipped"])})

    @property
    def failures(self) -> list[Check]:
        """The checks that failed."""
        return [check for check in self.checks if not check.passed]

    def to_frame(self) -> Any:
        """One row per check."""
        return of_rows([vars(check) for check in self.checks])


#: What was not said: ``None`` is a value of ``delta``.
_UNSAID: Any = object()


def verify_rows(
    rows: ArrayLike,
    *,
    algorithm: Mapping[str, Any] | None = None,
    epsilon: float | None = None,
    delta: float | None = _UNSAID,
    row_clip: float | None = None,
    graph: GraphLike | None = None,
    peers: int | None = None,
    adjacency: str = "user",
    noise: str | None = None,
    colluders: int = 1,
    averaging: str = "chebyshev",
    runs: int = 20,
    significance: float = 1e-3,
    seed: int = 0,
    progress: Progress = None,
) -> Verification:
    """Tests that a decentralised computation over an array of rows is what its plan says: see :func:`undertone.verify`."""
    if row_clip is None:
        raise TypeError("row_clip is required: the length that rows are shortened to is public, and one that the data chose bounds nothing")
    if not isinstance(algorithm, Mapping):
        raise TypeError('algorithm is required: the keys of the table [algorithm], such as {"kind": "krylov", "rank": 2, "iterations": 3}')
    if epsilon is None or delta is _UNSAID:
        raise TypeError("epsilon and delta are required; delta=None is 0, which Laplace noise keeps")
    array = matrix("rows", rows)
    edges = None
    if graph is not None:
        nodes = peers_of(graph)
        if peers is not None and peers != len(nodes):
            raise ValueError(f"the graph has {len(nodes)} nodes, one per peer: leave peers out, or say {len(nodes)}")
        peers, edges = len(nodes), nodes.edges
    promised = _Promised(
        number("epsilon", epsilon),
        None if delta is None else number("delta", delta),
        number("row_clip", row_clip),
        adjacency,
        noise if noise is not None else ("local" if delta is None else "pairwise"),
        count("colluders", colluders),
        averaging,
    )
    with told(progress, "verifying") as callback:
        text = _undertone.verify_rows(
            array,
            None if peers is None else count("peers", peers),
            edges,
            dict(algorithm),
            promised,
            count("runs", runs),
            number("significance", significance),
            count("seed", seed),
            callback,
        )
    return Verification.read(text)


@dataclass(frozen=True)
class _Promised:
    epsilon: float
    delta: float | None
    row_clip: float
    adjacency: str
    noise: str
    colluders: int
    averaging: str
