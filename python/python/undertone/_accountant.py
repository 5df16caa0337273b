"""The accountant on its own: what correlated noise on a graph costs every peer, and which noise keeps a promise."""

from __future__ import annotations

import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _undertone
from ._counts import count, number
from ._graphs import GraphLike, Peers, peers_of
from ._html import cell, table
from ._tables import of_columns

#: One number for all, one per peer in their order, or one per peer by name.
PerPeer = Union[float, ArrayLike, Mapping[Any, float]]
#: One number for all, one per edge in their order, one per edge by its ends, or the name of an attribute of networkx edges.
PerEdge = Union[float, ArrayLike, Mapping[Any, float], str]


class Loss(NamedTuple):
    """What one peer's data loses, over all iterations."""

    #: μ of Gaussian differential privacy: certified, never less than the truth.
    mu: float
    #: A certified lower end of μ: 0 where none is known.
    mu_low: float
    #: ε at the δ asked for, of ``mu``.
    epsilon: float
    #: ε of ``mu_low``.
    epsilon_low: float
    #: How ``mu`` is known: ``"exact"`` of a coalition that is named, or the bound for all coalitions of a size.
    certificate: str


@dataclass(frozen=True)
class WorstCoalition:
    """The worst coalition of a size, as far as it is known."""

    #: Who attains the lower end.
    attained_by: list[Any]
    #: About whom.
    victim: Any
    #: What it learns.
    mu_at_least: float
    epsilon_at_least: float
    #: What no coalition of the size exceeds, about anybody.
    mu_at_most: float
    epsilon_at_most: float
    #: Whether every coalition was looked at.
    exhaustive: bool
    #: How the upper end is known.
    certificate: str


@dataclass(frozen=True, eq=False)
class Account(Mapping[Any, Loss]):
    """What every honest peer loses, by the names of the caller's graph.

    A mapping from peers to :class:`Loss`; the arrays are in the order of ``peers``.
    """

    #: The honest peers.
    peers: list[Any]
    #: μ of each, certified.
    mu: NDArray[np.float64]
    #: Certified lower ends.
    mu_low: NDArray[np.float64]
    #: ε of each at ``delta``.
    epsilon: NDArray[np.float64]
    #: ε of the lower ends.
    epsilon_low: NDArray[np.float64]
    #: How each μ is known.
    certificates: list[str]
    #: Who colludes; empty where it is any coalition of ``colluders``.
    coalition: list[Any]
    #: How many collude.
    colluders: int
    #: δ of every ε.
    delta: float
    #: How it was computed: ``"dense"``, ``"sparse"``, ``"quadrature"`` or ``"bounds"``.
    method: str
    #: Of any coalition of a size: the worst one found.
    worst_coalition: WorstCoalition | None = None
    #: Seconds that the computation took inside the library.
    seconds: float = field(default=0.0, repr=False)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {name: place for place, name in enumerate(self.peers)}

    def __getitem__(self, peer: Any) -> Loss:
        k = self._places[peer]
        return Loss(
            float(self.mu[k]),
            float(self.mu_low[k]),
            float(self.epsilon[k]),
            float(self.epsilon_low[k]),
            self.certificates[k],
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.peers)

    def __len__(self) -> int:
        return len(self.peers)

    def __hash__(self) -> int:
        return id(self)

    @property
    def worst(self) -> Any:
        """The peer that loses most; the first of equals."""
        return self.peers[int(np.argmax(self.mu))]

    @property
    def gap(self) -> float:
        """How far μ may overstate the truth at most, relatively; infinite where no lower end is known."""
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = np.where(self.mu == self.mu_low, 0.0, self.mu / self.mu_low - 1.0)
        return float(gaps.max(initial=0.0))

    def to_frame(self) -> Any:
        """A table with one row per honest peer: a pandas frame, or a dict of arrays where pandas is missing."""
        peers = np.empty(len(self.peers), dtype=object)
        peers[:] = self.peers
        return of_columns(
            {
                "peer": peers,
                "mu": self.mu,
                "mu_low": self.mu_low,
                "epsilon": self.epsilon,
                "epsilon_low": self.epsilon_low,
                "certificate": np.array(self.certificates, dtype=object),
            }
        )

    def __repr__(self) -> str:
        worst = self.worst
        whom = f"any {self.colluders}" if self.worst_coalition is not None else f"{self.coalition}" if self.coalition else "an outsider"
        return (
            f"<Account of {len(self.peers)} peers against {whom}: at most epsilon = {self[worst].epsilon:.6g} "
            f"at delta = {self.delta:g}, about {worst!r}>"
        )


def account(
    graph: GraphLike,
    sigma_own: PerPeer,
    sigma_pairwise: PerEdge,
    *,
    coalition: Collection[Hashable] | None = None,
    colluders: int | None = None,
    sensitivity: float = 1.0,
    iterations: int = 1,
    delta: float = 1e-5,
    gap: float = 1e-9,
    method: str = "auto",
    effort: float = 5e8,
) -> Account:
    """What own and pairwise noise on a graph costs every peer.

    Peer u publishes f_u + η_u + Σ_v ±ζ_uv, with own noise η_u ~ N(0, σ_own²) on every coordinate and noise ζ_uv ~ N(0, σ_pairwise²) that
    the two ends of an edge share and that cancels in the sum (DECOR, GOPA). The adversary sees everything that is published and knows the
    noise of its members. If one record moves a contribution by at most ``sensitivity`` in Euclidean norm, ``iterations`` rounds of fresh
    noise cost peer u exactly μ_u = sensitivity·√(iterations·[Σ_H⁻¹]_uu), where Σ_H = σ_own²·I + σ_pairwise²·L_H is over the honest peers.

    Against a named ``coalition`` the answer is exact: ``mu`` and ``mu_low`` are certified ends, rounding included, ``gap`` apart
    where that can be reached. With ``colluders=t`` it holds against **every** coalition of at most t peers, by proved bounds.

    Parameters
    ----------
    graph : networkx graph with nodes of any kind; edges (m, 2) over nodes 0, 1, …; (nodes, edges); sparse adjacency matrix.
    sigma_own : standard deviation of own noise: a number, an array over peers, or a dict by name.
    sigma_pairwise : of the noise on an edge: a number, an array over edges, a dict by ends, or the name of an edge attribute.
    coalition : names of colluding peers; nobody by default, which is an outside observer.
    colluders : or how many collude, whoever they are; both kinds of noise must then be the same everywhere.
    sensitivity : how far one record moves one contribution, in the units of the sigmas.
    iterations : rounds, each with fresh noise of the same law.
    delta : the δ at which ε is stated.
    gap : the relative gap between the ends of a bracket to aim for.
    method : ``"auto"``, ``"dense"``, ``"sparse"`` or ``"quadrature"``.
    effort : multiplications to spend on looking for the worst coalition.

    Raises
    ------
    ValueError
        With what to change: noise that leaves a peer unprotected, peers that do not exist, a δ that is no probability.

    Examples
    --------
    A ring of six on which noise of 10 is shared and everybody adds noise of 1:

    >>> import networkx, undertone
    >>> ring = networkx.cycle_graph(["ann", "bea", "cem", "dil", "eva", "flo"])
    >>> loss = undertone.account(ring, sigma_own=1.0, sigma_pairwise=10.0, delta=1e-6)
    >>> round(loss["ann"].mu, 6)      # 1/sqrt(6) = 0.408 is what a trusted curator of the same sum would spend
    0.414114
    >>> undertone.account(ring, 1.0, 10.0, coalition=["bea", "flo"])["ann"].mu      # nobody left to hide behind
    1.000000000000002

    Against any coalition of one, whoever it is:

    >>> any_one = undertone.account(ring, 1.0, 10.0, colluders=1)
    >>> any_one["ann"].certificate in {"exact-enumeration", "gauss-radau", "detour", "lambda2", "overlap"}
    True
    """
    peers = peers_of(graph)
    own = _per_peer(peers, sigma_own)
    pairwise = _per_edge(peers, sigma_pairwise)
    if colluders is not None:
        if coalition is not None:
            raise ValueError("name the coalition, or give the number of colluders; not both")
        return _of_size(peers, own, pairwise, count("colluders", colluders), sensitivity, iterations, delta, effort)
    numbers = peers.numbers(() if coalition is None else coalition)
    names = [peers.names[peer] for peer in numbers]
    found = _undertone.account(
        own, peers.edges, pairwise, numbers, float(sensitivity), count("iterations", iterations), float(delta), float(gap), method
    )
    colluding = set(numbers)
    honest = np.array([k for k in range(len(peers)) if k not in colluding], dtype=np.intp)
    return Account(
        peers=[peers.names[k] for k in honest],
        mu=found["mu"][honest],
        mu_low=found["mu_low"][honest],
        epsilon=found["epsilon"][honest],
        epsilon_low=found["epsilon_low"][honest],
        certificates=["exact"] * len(honest),
        coalition=names,
        colluders=len(names),
        delta=float(delta),
        method=found["method"],
        seconds=found["seconds"],
    )


def _of_size(
    peers: Peers,
    own: NDArray[np.float64],
    pairwise: NDArray[np.float64],
    colluders: int,
    sensitivity: float,
    iterations: int,
    delta: float,
    effort: float,
) -> Account:
    for name, sigmas in (("sigma_own", own), ("sigma_pairwise", pairwise)):
        if len(sigmas) and not np.all(sigmas == sigmas[0]):
            raise ValueError(
                f"the bounds for every coalition of a size are proved for noise that is the same everywhere, and {name} is not: name the coalition"
            )
    text = _undertone.worst(
        len(peers),
        peers.edges,
        float(own[0]),
        float(pairwise[0]) if len(pairwise) else 0.0,
        colluders,
        float(sensitivity),
        count("iterations", iterations),
        float(delta),
        float(effort),
    )
    found = json.loads(text)
    worst = WorstCoalition(
        attained_by=[peers.names[k] for k in found["attained_by"]],
        victim=peers.names[found["victim"]],
        mu_at_least=found["mu_at_least"],
        epsilon_at_least=found["epsilon_at_least"],
        mu_at_most=found["mu_at_most"],
        epsilon_at_most=found["epsilon_at_most"],
        exhaustive=found["exhaustive"],
        certificate=found["certificate"],
    )
    mu = np.array(found["mu"], dtype=np.float64)
    return Account(
        peers=list(peers.names),
        mu=mu,
        mu_low=np.zeros_like(mu),
        epsilon=np.array(found["epsilon"], dtype=np.float64),
        epsilon_low=np.zeros_like(mu),
        certificates=found["certificates"],
        coalition=[],
        colluders=colluders,
        delta=float(delta),
        method="bounds",
        worst_coalition=worst,
    )


@dataclass(frozen=True)
class View:
    """What one kind of adversary learns about the worst-placed peer."""

    #: Who looks.
    view: str
    #: How many collude.
    colluders: int
    #: μ of all iterations together.
    mu: float
    #: ε of that at the δ of the plan.
    epsilon: float
    #: μ over what a trusted curator with the same noise on the sum would spend; 1 is central privacy.
    gap_to_central: float
    #: The part of it that comes of colluders who know their own noise.
    gap_colluders: float
    #: The rest of it.
    gap_finite: float
    #: How μ is known.
    certificate: str


@dataclass(frozen=True)
class Plan:
    """The noise that keeps a promise on a graph."""

    #: Standard deviation of every peer's own noise, on every coordinate, in the units of ``sensitivity``.
    sigma_own: float
    #: Of the noise on every edge.
    sigma_pairwise: float
    #: Of the noise on the sum.
    sigma_sum: float
    #: Of the noise on the sum that a trusted curator would add.
    sigma_central: float
    #: The ε of the coalition size asked for; ``None`` where nothing is protected.
    epsilon: float | None
    delta: float
    colluders: int
    iterations: int
    sensitivity: float
    #: What adversaries of growing size learn.
    views: Sequence[View]
    #: What the calibration really spends, where that is more than was asked for.
    warning: str | None
    graph: Any = field(repr=False)

    def _repr_html_(self) -> str:
        caption = f"Noise for epsilon = {cell(self.epsilon)}, delta = {self.delta:g} against {self.colluders} colluders"
        deviations = ("sigma_own", "sigma_pairwise", "sigma_sum", "sigma_central")
        noise = table(caption, ("standard deviation", "value"), [(name, getattr(self, name)) for name in deviations])
        names = ("view", "colluders", "mu", "epsilon", "gap_to_central", "certificate")
        rows = [[getattr(view, name) for name in names] for view in self.views]
        return noise + table("What adversaries learn of the worst-placed peer", names, rows)

    def account(self, *, coalition: Collection[Hashable] | None = None, colluders: int | None = None) -> Account:
        """What this noise costs every peer against a coalition: :func:`account` on the plan's own graph."""
        return account(
            self.graph,
            self.sigma_own,
            self.sigma_pairwise,
            coalition=coalition,
            colluders=colluders,
            sensitivity=self.sensitivity,
            iterations=self.iterations,
            delta=self.delta,
        )


def plan(
    graph: GraphLike,
    epsilon: float,
    delta: float,
    *,
    colluders: int = 1,
    iterations: int = 1,
    sensitivity: float = 1.0,
    scheme: str = "pairwise",
    overhead: float = 0.01,
    on_disconnect: str = "refuse",
    calibration: str = "analytic",
    trusted_sum: bool = False,
) -> Plan:
    """The least noise of a scheme that keeps (ε, δ) for everybody against every coalition of ``colluders`` peers.

    Parameters
    ----------
    graph : who shares noise with whom, as in :func:`account`.
    epsilon, delta : the promise, for all iterations together.
    colluders : t: how many may put together what they know.
    iterations : rounds, each with fresh noise.
    sensitivity : how far one record moves one contribution.
    scheme : ``"pairwise"``, ``"local"``, or ``"independent"`` with ``trusted_sum``.
    overhead : extra variance on the sum that is allowed so that pairwise noise can be finite.
    on_disconnect : ``"refuse"``, or ``"smallest-component"`` where a coalition can split the graph.
    calibration : ``"analytic"``, or the constants of a paper to compare with.
    trusted_sum : whether an ideal secure aggregation shows nothing but the sum.

    Examples
    --------
    >>> import networkx, undertone
    >>> friends = networkx.karate_club_graph()
    >>> undertone.plan(friends, epsilon=1.0, delta=1e-5, colluders=1)
    Traceback (most recent call last):
        ...
    ValueError: ...
    >>> plan = undertone.plan(networkx.random_regular_graph(8, 34, seed=1), epsilon=1.0, delta=1e-5, colluders=1)
    >>> round(plan.sigma_sum / plan.sigma_central, 3)     # what it costs that nobody is trusted
    1.02
    >>> max(view.epsilon for view in plan.views if view.colluders <= 1) <= 1.0
    True
    """
    peers = peers_of(graph)
    if scheme == "ring":
        raise ValueError('scheme "ring" is planned with the releases it is for: use undertone.privacy on an experiment')
    text = _undertone.plan(
        len(peers),
        peers.edges,
        number("epsilon", epsilon),
        number("delta", delta),
        count("colluders", colluders),
        count("iterations", iterations),
        scheme,
        number("overhead", overhead),
        on_disconnect,
        calibration,
        bool(trusted_sum),
    )
    size = number("sensitivity", sensitivity)
    if not (size > 0.0 and np.isfinite(size)):
        raise ValueError(f"the sensitivity is {size}; it must be a finite number above 0")
    found = json.loads(text)
    noise = found["plan"]
    sizes = [noise["sigma_own"] * size, noise["sigma_pairwise"] * size, noise["sigma_sum"] * size, found["calibrated"]["z"] * size]
    if not np.all(np.isfinite(sizes)):
        raise ValueError(f"noise for a sensitivity of {size} is beyond the largest number; measure contributions in a larger unit")
    return Plan(
        sigma_own=noise["sigma_own"] * size,
        sigma_pairwise=noise["sigma_pairwise"] * size,
        sigma_sum=noise["sigma_sum"] * size,
        sigma_central=found["calibrated"]["z"] * size,
        epsilon=noise["epsilon"],
        delta=float(delta),
        colluders=int(colluders),
        iterations=int(iterations),
        sensitivity=size,
        views=tuple(View(**view) for view in noise["views"]),
        warning=found["warning"],
        graph=graph,
    )


def _per_peer(peers: Peers, sigma: PerPeer) -> NDArray[np.float64]:
    peers_there = len(peers)
    if isinstance(sigma, Mapping):
        own = np.full(peers_there, np.nan)
        for name, value in sigma.items():
            own[peers.number(name)] = value
        missing = np.flatnonzero(np.isnan(own))
        if missing.size:
            raise ValueError(f"sigma_own of {peers.names[missing[0]]!r} is missing, or not a number")
        return own
    return _spread("sigma_own", sigma, peers_there, "peers")


def _per_edge(peers: Peers, sigma: PerEdge) -> NDArray[np.float64]:
    if isinstance(sigma, str):
        if peers.graph is None:
            raise ValueError(f"sigma_pairwise = {sigma!r} is the name of an edge attribute, and the graph is not one of networkx")
        found = [attribute for _, _, attribute in peers.graph.edges(data=sigma)]
        if any(value is None for value in found):
            raise ValueError(f"an edge has no attribute {sigma!r}")
        return np.array(found, dtype=np.float64)
    if isinstance(sigma, Mapping):
        by_ends: dict[frozenset[int], float] = {}
        for ends, value in sigma.items():
            edge = frozenset(peers.numbers(ends))
            if by_ends.setdefault(edge, value) != value:
                raise ValueError(f"sigma_pairwise names the edge {ends!r} twice, with {by_ends[edge]} and {value}")
        values = [by_ends.pop(frozenset(edge), None) for edge in peers.edges.tolist()]
        if any(value is None for value in values):
            u, v = peers.edges[values.index(None)]
            raise ValueError(f"sigma_pairwise of the edge {peers.names[u]!r} - {peers.names[v]!r} is missing")
        if by_ends:
            raise ValueError("sigma_pairwise names a pair that is no edge of the graph")
        return np.array(values, dtype=np.float64)
    return _spread("sigma_pairwise", sigma, len(peers.edges), "edges")


def _spread(name: str, sigma: Any, there: int, of: str) -> NDArray[np.float64]:
    values = np.asarray(sigma)
    if values.dtype.kind not in "fiu":
        raise TypeError(f"{name} is a number or numbers, found {values.dtype}")
    if values.ndim == 0:
        return np.full(there, float(values))
    if values.shape != (there,):
        raise ValueError(f"{name} has shape {values.shape}, and there are {there} {of}")
    return np.ascontiguousarray(values, dtype=np.float64)


