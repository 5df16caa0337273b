"""Does a system run what it publishes? Assertions about arrays that any program wrote.

Many systems publish a protocol and run something else: noise is drawn in one place, at the wrong scale, or once for all runs. A test of such a
system runs it often enough, keeps what it sent as arrays, and asserts:

- :func:`assert_central_dp`: published sums carry the noise of a trusted curator.
- :func:`assert_published_law`: messages of all peers carry own noise, and noise shared along the edges of a graph.
- :func:`assert_epsilon`: transcripts of two neighbouring inputs do not refute a claimed (ε, δ).

Each fails a right system with probability at most 1e-3. ``runs_for_…`` says how many runs it needs to pass a system that deviates as stated with
probability at most 1e-3; fewer are refused by :class:`TooFewRuns`. A :class:`NotEquivalent` says what was expected, what was found and which
peer, edge, value or run stands out.

>>> import numpy
>>> from undertone.testing import NotEquivalent, assert_central_dp, runs_for_central_dp
>>> expected, rng = numpy.array([3.0, 1.0]), numpy.random.default_rng(1)
>>> sums = expected + rng.normal(0.0, 0.5, size=(runs_for_central_dp(values=2), 2))
>>> findings = assert_central_dp(sums, expected, sigma=0.5)
>>> try:
...     assert_central_dp(sums, expected, sigma=0.8)
... except NotEquivalent as error:
...     worst = error.failures[0]
>>> worst.expected, round(worst.found, 1), worst.passed
(1.0, 0.4, False)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _undertone
from ._counts import count, number
from ._graphs import GraphLike, Peers, peers_of

__all__ = [
    "Finding",
    "NotEquivalent",
    "TooFewRuns",
    "assert_central_dp",
    "assert_epsilon",
    "assert_published_law",
    "runs_for_central_dp",
    "runs_for_epsilon",
    "runs_for_published_law",
]


@dataclass(frozen=True)
class Finding:
    """One test: what was expected, what was found, and where."""

    #: What is compared, with the place in words.
    what: str
    #: The peer, or the two ends of the edge, that stands out, by the names of the graph.
    peers: tuple[Any, ...]
    #: The values that stand out, counted from 0.
    values: tuple[int, ...]
    #: The runs that stand out, counted from 0.
    runs: tuple[int, ...]
    #: The statistic under the claim; of a bound the largest value that is claimed.
    expected: float
    #: The statistic of the arrays.
    found: float
    #: Probability of a statistic at least as unlikely under the claim, for all places of this test together; ``None`` for a bound.
    p_value: float | None
    #: The least p-value that passes; of a bound the largest value that does.
    threshold: float
    passed: bool


class NotEquivalent(AssertionError):
    """The arrays are not what is claimed. The text lists the tests that failed."""

    #: Every test, those that failed first.
    findings: tuple[Finding, ...]
    #: The runs that were tested.
    runs: int

    def __init__(self, text: str, findings: Sequence[Finding] = (), runs: int = 0) -> None:
        super().__init__(text)
        self.findings = tuple(findings)
        self.runs = runs

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.findings, self.runs)

    @property
    def failures(self) -> list[Finding]:
        """The tests that failed, the least likely first."""
        return [finding for finding in self.findings if not finding.passed]


class TooFewRuns(ValueError):
    """With so few runs a wrong system would pass too often."""

    #: The runs given.
    runs: int
    #: The runs needed.
    runs_needed: int

    def __init__(self, text: str, runs: int = 0, runs_needed: int = 0) -> None:
        super().__init__(text)
        self.runs = runs
        self.runs_needed = runs_needed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.runs, self.runs_needed)


def assert_central_dp(sums: ArrayLike, expected: ArrayLike, sigma: float) -> tuple[Finding, ...]:
    """Asserts that the noise in published sums is what a trusted curator would add: N(0, sigma²), independent over values and runs.

    Mean, variance and distribution of ``sums - expected`` are tested value by value and together, and whether runs or values share noise.

    Parameters
    ----------
    sums : R runs of the same input, of shape (R, values), or (R,) where a sum is one number.
    expected : the sum without noise, of shape (values,) or one number.
    sigma : the standard deviation of the noise of the sum, in its units.

    Returns
    -------
    tuple of Finding
        Every test that was made.

    Raises
    ------
    NotEquivalent
        The sums are not what is claimed; a right system has this with probability at most 1e-3.
    TooFewRuns
        There are fewer runs than :func:`runs_for_central_dp`.
    ValueError
        Arrays that do not fit, NaN, sigma that is not above 0.
    """
    kept = _array("sums", sums, ("runs", "values"))
    of = _array("expected", expected, ("values",))
    if kept.shape[1] != of.shape[0]:
        raise ValueError(f"sums has {kept.shape[1]} values a run and expected has {of.shape[0]}: give sums of shape (runs, {of.shape[0]})")
    return _settled(_undertone.test_central_dp(kept, of, number("sigma", sigma)), None)


def assert_published_law(
    messages: ArrayLike,
    contributions: ArrayLike,
    graph: GraphLike,
    sigma_own: float,
    sigma_pairwise: float,
) -> tuple[Finding, ...]:
    """Asserts that messages are contributions, own noise, and noise that neighbours share and that cancels in the sum.

    Peer u sends f_u + η_u + Σ_v ±ζ_uv over its neighbours v, with own noise η_u ~ N(0, sigma_own²) and ζ_uv ~ N(0, sigma_pairwise²) in every value and
    run: one end adds ζ_uv, the other takes it away. The noise of all peers then has the covariance sigma_own²·I + sigma_pairwise²·L, with the graph's
    Laplacian L. What is tested is the own part of every peer, the term of every edge, the sum, and whether runs or values share noise.

    Parameters
    ----------
    messages : R runs of the same input, of shape (R, peers, values), or (R, peers) where a message is one number. Peers are in the order
        of ``graph.nodes``, which need not be 0, 1, … where a generator drew the graph.
    contributions : what peers send without noise, of shape (peers, values) or (peers,).
    graph : networkx graph with nodes of any kind; edges (m, 2) over nodes 0, 1, …; (nodes, edges); sparse adjacency matrix. At most 1,024 peers.
    sigma_own : standard deviation of own noise of one peer.
    sigma_pairwise : standard deviation of the noise of one edge; 0 only where the graph has no edges.

    Returns
    -------
    tuple of Finding
        Every test that was made.

    Raises
    ------
    NotEquivalent
        The messages are not what is claimed; a right system has this with probability at most 1e-3.
    TooFewRuns
        There are fewer runs than :func:`runs_for_published_law`.
    ValueError
        Arrays that do not fit the graph, NaN, a sigma that is not above 0.
    """
    peers = peers_of(graph)
    sent = _array("messages", messages, ("runs", "peers", "values"))
    of = _array("contributions", contributions, ("peers", "values"))
    for name, found in (("messages", sent.shape[1]), ("contributions", of.shape[0])):
        if found != len(peers):
            raise ValueError(
                f"{name} has {found} peers and the graph {len(peers)} nodes: give one for each, or (nodes, edges) where a peer has no neighbour"
            )
    if sent.shape[2] != of.shape[1]:
        raise ValueError(f"messages has {sent.shape[2]} values a peer and contributions has {of.shape[1]}: give both as many")
    text = _undertone.test_published_law(
        sent, of, peers.labels(), peers.edges, number("sigma_own", sigma_own), number("sigma_pairwise", sigma_pairwise)
    )
    return _settled(text, peers)


def assert_epsilon(
    with_record: ArrayLike, without_record: ArrayLike, epsilon: float, delta: float | None = None
) -> tuple[Finding, ...]:
    """Asserts that transcripts of two neighbouring inputs do not refute (epsilon, delta)-differential privacy.

    Half of the runs choose a set of transcripts, among thresholds of single values, of weighted differences of the means and of a ratio of likelihoods.
    The other half counts: a lower confidence bound of ε by Clopper and Pearson, which must not exceed the claim. A claim that passes is not proved.

    Parameters
    ----------
    with_record : R runs of an input, what an adversary sees of each: an array whose first axis is runs.
    without_record : as many runs of a neighbouring input.
    epsilon, delta : the claim; ``None`` or 0 is pure ε.

    Returns
    -------
    tuple of Finding
        The one bound.

    Raises
    ------
    NotEquivalent
        The claim is refuted; a right system has this with probability at most 1e-3.
    TooFewRuns
        There are fewer runs than :func:`runs_for_epsilon`.
    ValueError
        Arrays that do not fit, NaN, a claim that is none.
    """
    one, other = _rows("with_record", with_record), _rows("without_record", without_record)
    if one.shape != other.shape:
        raise ValueError(f"with_record and without_record are runs of one system: give both one shape, found {one.shape} and {other.shape}")
    return _settled(_undertone.test_epsilon(one, other, *_claim(epsilon, delta)), None)


def runs_for_central_dp(values: int) -> int:
    """Runs that :func:`assert_central_dp` needs for sums of so many values.

    With this many runs it fails, but for probability 1e-3, a system whose sigma is at most 0.8 or at least 1.2 times what is claimed in all values, or whose
    sum is off by sigma in one value of all runs, or that adds the noise of its first run to all runs.

    >>> runs_for_central_dp(values=1) > runs_for_central_dp(values=10)
    True
    """
    return _undertone.runs_for_central_dp(_some("values", values))


def runs_for_published_law(graph: GraphLike, sigma_own: float, sigma_pairwise: float, values: int) -> int:
    """Runs that :func:`assert_published_law` needs for messages of so many values.

    With this many runs it fails, but for probability 1e-3, a system whose sigma_own is at most 0.8 or at least 1.2 times what is claimed at all peers, or whose
    sigma_pairwise is on all edges, or in which one peer leaves out the term of one neighbour, whichever, or that adds the noise of its first run to all runs.

    >>> import networkx
    >>> runs_for_published_law(networkx.cycle_graph(8), 1.0, 2.0, values=5) < 1000
    True
    """
    peers = peers_of(graph)
    own, pairwise = number("sigma_own", sigma_own), number("sigma_pairwise", sigma_pairwise)
    return _undertone.runs_for_published_law(peers.labels(), peers.edges, own, pairwise, _some("values", values))


def runs_for_epsilon(epsilon: float, delta: float | None = None) -> int:
    """Runs of each input that :func:`assert_epsilon` needs.

    With this many runs it refutes, but for probability 1e-3, the claim of a system for which a threshold of one value is right about e = ε + max(ε, 1):
    with probability exp(e)/(1 + exp(e)) of either input. To notice Gaussian noise that is somewhat too small, use the other two assertions: they know its law.

    >>> runs_for_epsilon(1.0) < 2000
    True
    """
    return _undertone.runs_for_epsilon(*_claim(epsilon, delta))


def _claim(epsilon: float, delta: float | None) -> tuple[float, float | None]:
    return number("epsilon", epsilon), None if delta is None or delta == 0 else number("delta", delta)


def _some(name: str, value: int) -> int:
    found = count(name, value)
    if found == 0:
        raise ValueError(f"{name} is a whole number of at least 1, found 0")
    return found


def _numbers(name: str, value: Any) -> NDArray[np.float64]:
    if hasattr(value, "tocoo"):
        raise TypeError(f"{name} is a sparse matrix: give {name}.toarray()")
    if np.ma.is_masked(value):
        raise ValueError(f"{name} is masked, and a mask is no part of a transcript: leave the run out")
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {array.dtype}, and transcripts are real numbers")
    return np.ascontiguousarray(array, dtype=np.float64)


def _array(name: str, value: Any, axes: tuple[str, ...]) -> NDArray[np.float64]:
    """Numbers with these axes; the last may be missing where it has one entry."""
    array = _numbers(name, value)
    if np.ndim(value) == len(axes) - 1:
        array = array.reshape((*np.shape(value), 1))
    if array.ndim != len(axes):
        raise ValueError(f"{name} has shape {np.shape(value)}: give an array of shape ({', '.join(axes)})")
    if array.size == 0:
        raise ValueError(f"{name} has shape {np.shape(value)}: give at least one number on every axis")
    return array


def _rows(name: str, value: Any) -> NDArray[np.float64]:
    array = _numbers(name, value)
    if np.ndim(value) == 0 or array.size == 0:
        raise ValueError(f"{name} has shape {np.shape(value)}: give an array whose first axis is runs")
    return array.reshape(len(array), -1)


def _settled(text: str, peers: Peers | None) -> tuple[Finding, ...]:
    """The findings of an assertion that holds; raises otherwise."""
    answer = json.loads(text)
    if answer["needed"] is not None:
        raise TooFewRuns(answer["text"], answer["runs"], answer["needed"])
    findings = tuple(_finding(found, peers) for found in answer["findings"])
    if not answer["passed"]:
        raise NotEquivalent(answer["text"], findings, answer["runs"])
    return findings


def _finding(found: dict[str, Any], peers: Peers | None) -> Finding:
    names = () if peers is None else tuple(peers.names[peer] for peer in found["peers"])
    return Finding(
        what=found["what"],
        peers=names,
        values=tuple(found["values"]),
        runs=tuple(found["runs"]),
        expected=found["expected"],
        # JSON has no infinity and no NaN.
        found=float("nan") if found["found"] is None else found["found"],
        p_value=found["p_value"],
        threshold=found["threshold"],
        passed=found["passed"],
    )
