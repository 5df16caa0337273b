"""Whether an experiment keeps what it promises."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from numpy.typing import ArrayLike

from . import _undertone
from ._counts import count
from ._graphs import GraphLike
from ._memory import lifted
from ._progress import Progress, told
from ._runs import Set, Sim, _given, _path, _set
from ._tables import of_rows
from ._verification import Verification, verify_rows
from ._warnings import warn


#: Arguments of a verification of rows in memory.
_OF_ROWS = frozenset(verify_rows.__kwdefaults__ or ())


@overload
def verify(
    sim: Sim,
    *,
    set: Set = None,
    runs: int = 20,
    significance: float = 1e-3,
    progress: Progress = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
) -> Verification: ...


@overload
def verify(
    sim: ArrayLike,
    *,
    algorithm: Mapping[str, Any],
    epsilon: float,
    delta: float | None,
    row_clip: float,
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
) -> Verification: ...


def verify(
    sim: Sim | ArrayLike,
    *,
    set: Set = None,
    runs: int = 20,
    significance: float = 1e-3,
    progress: Progress = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
    **rows: Any,
) -> Verification:
    """Tests by repeated runs that a decentralised computation is, in law, what a trusted curator would have done.

    A correct one fails with probability at most ``significance``.

    **Of an experiment.** ``sim`` is a path or a dictionary, and other arguments are as in :func:`undertone.run`.

    >>> import undertone
    >>> tested = undertone.verify("sims/quickstart.toml", set={"peers.count": 12, "data.items": 20}, runs=5)
    >>> bool(tested), tested.failures
    (True, [])

    **Of rows in memory.** ``sim`` is an array of one row per person. Then ``algorithm`` (the keys of the table ``[algorithm]`` of a file),
    ``epsilon``, ``delta`` (``None`` for 0: Laplace noise) and ``row_clip`` are needed. Every row that is longer than ``row_clip`` is shortened
    to it; choose it without looking at the rows. ``graph`` is any graph that the package takes, one node per peer; without one, peers are on a
    random graph, one peer per row or as many as ``peers`` says. Rows are dealt to peers in turn. ``adjacency="user"`` (or ``"replace-user"``),
    ``noise="pairwise"`` (``"local"`` where ``delta`` is ``None``), ``colluders=1`` and ``averaging="chebyshev"`` are names and numbers that files
    have, too. ``seed=0`` is the root of all random numbers. Kinds that need more than rows, such as ``auto``, ``streaming`` and those that predict
    ratings, are refused: they need an experiment file.

    >>> import numpy as np
    >>> people = np.random.default_rng(1).normal(size=(60, 4))
    >>> ring = [(k, (k + 1) % 6) for k in range(6)] + [(0, 3), (1, 4), (2, 5)]
    >>> result = undertone.verify(people, graph=ring, algorithm={"kind": "krylov", "rank": 1, "iterations": 2},
    ...     epsilon=1.0, delta=1e-5, row_clip=2.5)
    >>> assert result.passed, result
    """
    unknown = [name for name in rows if name not in _OF_ROWS]
    if unknown:
        raise TypeError(f"verify() got an unexpected keyword argument {unknown[0]!r}")
    if not isinstance(sim, (str, os.PathLike, Mapping)):
        of_files = {"set": set, "data": data, "topology": topology, "noise_topology": noise_topology}
        given = [name for name, value in of_files.items() if value is not None]
        if given:
            raise TypeError(f"{given[0]} belongs to an experiment file: of rows give graph, algorithm, epsilon, delta and row_clip")
        return verify_rows(sim, runs=runs, significance=significance, progress=progress, **rows)
    if rows:
        raise TypeError(f"{next(iter(rows))} belongs to rows in memory: of an experiment, use set={{\"key\": value}} and topology")
    plain, memory = lifted(sim, data, topology, noise_topology)
    with told(progress, "verifying") as callback:
        text = _undertone.verify(_given(plain), _set(set), memory.arguments, count("runs", runs), float(significance), callback)
    return Verification.read(text)


@dataclass(frozen=True)
class Audit:
    """What attackers found who tried to tell two neighbouring worlds apart. True where they stayed below the certificate."""

    adjacency: str
    #: The peer that held the record, by the caller's name.
    victim: Any
    coalition: Sequence[Any]
    #: Runs in each world.
    trials: int
    significance: float
    #: The record: items in the two worlds, and how much of the sensitivity it uses.
    canary: Mapping[str, Any]
    #: What the accountant certifies for this victim and coalition.
    certified_mu: float
    certified_epsilon: float
    #: What this pair of worlds loses, from the change it really makes.
    pair_mu: float
    #: Who did best.
    attacker: str
    #: Lower confidence bounds.
    empirical_mu: float
    empirical_epsilon: float
    #: ``None`` beyond the coalition that the experiment promises to withstand.
    promised_epsilon: float | None
    passed: bool
    #: The audit of the pilot before it, if there is one.
    pilot: Audit | None = field(default=None)

    def __bool__(self) -> bool:
        return self.passed and (self.pilot is None or self.pilot.passed)


def audit(
    sim: Sim,
    *,
    set: Set = None,
    trials: int = 2000,
    significance: float = 1e-3,
    coalition: Collection[Hashable] = (),
    victim: Hashable | None = None,
    progress: Progress = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
) -> Audit:
    """Plays the distinguishing game on real transcripts: a lower bound on the privacy loss, to hold against the certificate.

    >>> import undertone
    >>> small = {"peers.count": 8, "topology.degree": 4, "data.items": 8, "algorithm.rank": 2}
    >>> found = undertone.audit("sims/quickstart.toml", set=small, trials=200)
    >>> bool(found), found.empirical_epsilon <= found.certified_epsilon
    (True, True)
    """
    plain, memory = lifted(sim, data, topology, noise_topology)
    with told(progress, "auditing") as callback:
        own, before = _undertone.audit(
            _given(plain),
            _set(set),
            memory.arguments,
            count("trials", trials),
            float(significance),
            memory.labels(coalition),
            None if victim is None else memory.label(victim),
            callback,
        )
    names = memory.names()
    pilot = None if before is None else _audit(json.loads(before), names, None)
    return _audit(json.loads(own), names, pilot)


def _audit(found: dict[str, Any], names: Mapping[str, Any], pilot: Audit | None) -> Audit:
    found["victim"] = names.get(found["victim"], found["victim"])
    found["coalition"] = tuple(names.get(name, name) for name in found["coalition"])
    return Audit(**found, pilot=pilot)


@dataclass(frozen=True)
class PeerCost:
    """What one honest peer loses to the coalition that was named."""

    peer: Any
    #: Noise partners that do not collude.
    honest_partners: int
    epsilon_low: float
    epsilon: float
    epsilon_high: float
    mu: float


@dataclass(frozen=True)
class Forecast:
    """What an experiment costs before it runs."""

    #: The ``privacy`` table that the run's summary will have, with coalitions and conversions.
    privacy: Mapping[str, Any]
    topology: Mapping[str, Any]
    #: By peer, in the caller's names, where asked for.
    peers: Mapping[Any, PeerCost]
    warnings: Sequence[str]

    @property
    def epsilon(self) -> float | None:
        """The ε promised against the coalition size asked for; ``None`` without privacy."""
        epsilon = self.privacy.get("epsilon")
        return None if epsilon is None else float(epsilon)

    @property
    def views(self) -> Any:
        """What adversaries of growing size learn, one row each."""
        return of_rows(self.privacy.get("views", []))


def privacy(
    sim: Sim,
    *,
    set: Set = None,
    peers: bool = False,
    coalition: Collection[Hashable] = (),
    target_gap: float | None = None,
    progress: Progress = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
) -> Forecast:
    """What an experiment would cost, without running it: every view, the worst coalitions, and, with ``peers`` or a ``coalition``, everybody's
    loss to it. ``target_gap`` asks which edges would bring the price of decentralisation down to that.

    >>> import undertone
    >>> cost = undertone.privacy("sims/quickstart.toml", set={"peers.count": 40})
    >>> cost.epsilon <= 2.0
    True
    """
    plain, memory = lifted(sim, data, topology, noise_topology)
    with told(progress, "planning") as callback:
        text = _undertone.privacy(
            _given(plain),
            _set(set),
            memory.arguments,
            bool(peers),
            memory.labels(coalition),
            None if target_gap is None else float(target_gap),
            callback,
        )
    found = json.loads(text)
    names = memory.names()
    table = found["privacy"]
    costs = [PeerCost(**{**cost, "peer": names.get(cost["peer"], cost["peer"])}) for cost in table.pop("peers", None) or ()]
    for worst in table.get("coalitions", ()):
        worst["attained_by"] = [names.get(name, name) for name in worst["attained_by"]]
        worst["victim"] = names.get(worst["victim"], worst["victim"])
    return Forecast(
        privacy=table,
        topology=found["topology"],
        peers={cost.peer: cost for cost in costs},
        warnings=tuple(found["warnings"]),
    )


@dataclass(frozen=True)
class Finding:
    """One field of a receipt, computed again. Numbers that are infinite are None."""

    what: str
    stated: float | str | bool | None
    computed: float | str | bool | None
    agrees: bool


@dataclass(frozen=True)
class ReceiptCheck:
    """Whether a receipt's promises follow from what it states. That proves the arithmetic, not that the run happened."""

    holds: bool
    findings: Sequence[Finding]
    #: What nobody can compute from a receipt, and why.
    taken_on_trust: Sequence[Mapping[str, str]]

    def __bool__(self) -> bool:
        return self.holds


def check_receipt(receipt: str | os.PathLike[str] | Mapping[str, Any]) -> ReceiptCheck:
    """Computes a receipt's promises again: of a file, or of :attr:`Result.receipt <undertone.Result.receipt>`.

    >>> import undertone
    >>> result = undertone.run("sims/quickstart.toml", set={"peers.count": 12, "data.items": 20})
    >>> bool(undertone.check_receipt(result.receipt))
    True
    """
    if isinstance(receipt, Mapping):
        found = json.loads(_undertone.check_receipt("the receipt", json.dumps(receipt)))
    else:
        found = json.loads(_undertone.check_receipt(_path(receipt), None))
    return ReceiptCheck(
        holds=found["holds"],
        findings=tuple(Finding(**finding) for finding in found["findings"]),
        taken_on_trust=tuple(found["taken_on_trust"]),
    )
