"""`undertone.testing`: right systems pass, wrong ones fail and are told where, and what is no transcript is refused."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from conftest import REPOSITORY

from undertone import testing
from undertone.testing import (
    NotEquivalent,
    TooFewRuns,
    assert_central_dp,
    assert_epsilon,
    assert_published_law,
    runs_for_central_dp,
    runs_for_epsilon,
    runs_for_published_law,
)

EXAMPLES = REPOSITORY / "python" / "examples"
sys.path.insert(0, str(EXAMPLES))
import own_gossip  # noqa: E402
from own_gossip import DATA, GRAPH, SIGMA_OWN, SIGMA_PAIRWISE, Gossip  # noqa: E402

RUNS = runs_for_published_law(GRAPH, SIGMA_OWN, SIGMA_PAIRWISE, values=6)


def sent(seed: int, wrong: str = "", runs: int = RUNS) -> Any:
    gossip = Gossip(seed, wrong)
    return np.array([gossip.run() for _ in range(runs)])


def law(messages: Any, graph: Any = GRAPH) -> tuple[testing.Finding, ...]:
    return assert_published_law(messages, DATA, graph, SIGMA_OWN, SIGMA_PAIRWISE)


def fails(assertion: Callable[[], Any]) -> bool:
    try:
        assertion()
    except NotEquivalent:
        return True
    return False


def test_a_stranger_tests_a_gossip_in_twenty_lines(tmp_path: Path) -> None:
    """The example as it is handed out, run by pytest; and with assertions that cannot fail, it fails."""
    test = (EXAMPLES / "test_own_gossip.py").read_text()
    assert len([line for line in test.splitlines() if line.strip()]) <= 20
    gossip = (EXAMPLES / "own_gossip.py").read_text()
    assert len([line for line in gossip.splitlines() if line.strip()]) <= 40
    (tmp_path / "own_gossip.py").write_text(gossip)
    (tmp_path / "test_own_gossip.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout
    # Three wrong programs are noticed because they are wrong: made right, they are not.
    right = gossip.replace("self.wrong = wrong", 'self.wrong = ""')
    assert right != gossip
    (tmp_path / "own_gossip.py").write_text(right)
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "3 failed, 1 passed" in done.stdout, done.stdout


#: How often everything is repeated, and the most errors: 1e-3 gives more than 2 of 50 with probability 2e-5, and more than 7 of 2,000 with 1.1e-3.
REPETITIONS = int(os.environ.get("UNDERTONE_REPETITIONS", "50"))
MOST = {50: 2, 2000: 7}[REPETITIONS]


def messages_of(seed: int, wrong: str) -> Any:
    """As the example sends them, all runs at once."""
    rng = np.random.default_rng(seed)
    edges = np.array(GRAPH.edges)
    own = rng.normal(0.0, 0.8 if wrong == "own noise too small" else SIGMA_OWN, size=(RUNS, 12, 6))
    shared = rng.normal(0.0, SIGMA_PAIRWISE, size=(RUNS, len(edges), 6))
    ends = np.zeros((12, len(edges)))
    ends[edges[:, 0], np.arange(len(edges))] = 1.0
    ends[edges[:, 1], np.arange(len(edges))] = -1.0
    if wrong == "one term missing":
        ends[edges[seed % len(edges), seed % 2], seed % len(edges)] = 0.0
    noise = own + np.einsum("ue,rej->ruj", ends, shared)
    return DATA + (noise[:1].repeat(RUNS, axis=0) if wrong == "noise reused" else noise)


def sums_of(seed: int, wrong: str) -> Any:
    runs = runs_for_central_dp(values=6)
    noise = np.random.default_rng(seed).normal(size=(runs, 6))
    if wrong == "noise reused":
        noise = noise[:1].repeat(runs, axis=0)
    if wrong == "one value off":
        noise[:, seed % 6] += 1.0
    return (0.8 if wrong == "noise too small" else 1.0) * noise


def records_of(seed: int, wrong: str) -> Any:
    """Randomised response, which keeps 1 exactly, or 2; beside it nine values of noise."""
    runs, rng = runs_for_epsilon(1.0), np.random.default_rng(seed)
    kept = np.exp(2.0 if wrong == "twice the loss" else 1.0)
    both = rng.normal(size=(2, runs, 10))
    for bit in (0, 1):
        both[bit, :, 4] = (rng.random(runs) < kept / (1.0 + kept)) == bool(bit)
    return both


#: Runs of every program and the assertion about them.
REPEATED: list[tuple[str, Callable[[int], Any]]] = [
    *((f"messages {w}", lambda seed, w=w: law(messages_of(seed, w))) for w in ("", "noise reused", "one term missing", "own noise too small")),
    *((f"sums {w}", lambda seed, w=w: assert_central_dp(sums_of(seed, w), np.zeros(6), 1.0)) for w in ("", "noise reused", "one value off", "noise too small")),
    *((f"records {w}", lambda seed, w=w: assert_epsilon(*records_of(seed, w), 1.0)) for w in ("", "twice the loss")),
]


@pytest.mark.parametrize("what, assertion", REPEATED, ids=[what for what, _ in REPEATED])
def test_repeated(what: str, assertion: Callable[[int], Any]) -> None:
    """With as many runs as are needed and no more. ``UNDERTONE_REPETITIONS=2000 python/run-tests -k test_repeated -s`` makes more of them."""
    noticed = sum(fails(lambda seed=seed: assertion(seed)) for seed in range(REPETITIONS))  # type: ignore[misc]
    errors = noticed if what.endswith(" ") else REPETITIONS - noticed
    print(f"{what}: {errors} errors in {REPETITIONS}")
    assert errors <= MOST


def test_an_assertion_takes_less_than_five_seconds() -> None:
    graph = networkx.circulant_graph(200, [1, 2, 3])
    peers, values = 200, 20
    runs = runs_for_published_law(graph, 1.0, 1.0, values)
    rng = np.random.default_rng(1)
    messages = rng.normal(size=(runs, peers, values))
    for u, v in graph.edges:
        shared = rng.normal(size=(runs, values))
        messages[:, u] += shared
        messages[:, v] -= shared
    since = time.monotonic()
    assert_published_law(messages, np.zeros((peers, values)), graph, 1.0, 1.0)
    assert time.monotonic() - since < 5.0


def test_the_edge_that_lacks_a_term_is_named() -> None:
    graph = networkx.relabel_nodes(GRAPH, {k: f"site {k}" for k in range(12)})
    with pytest.raises(NotEquivalent, match="expected 1.0000, found") as caught:
        law(sent(1, "one term missing", 2 * RUNS), graph)
    other = min(GRAPH[0])
    edges = [finding for finding in caught.value.failures if "its term" in finding.what]
    assert set(edges[0].peers) == {"site 0", f"site {other}"}
    assert f"site {other}" in str(caught.value) and caught.value.runs == 2 * RUNS
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.findings == caught.value.findings and str(again) == str(copy.copy(caught.value))


def test_small_own_noise_shows_in_the_sum() -> None:
    with pytest.raises(NotEquivalent) as caught:
        law(sent(1, "own noise too small"))
    (sums,) = [f for f in caught.value.failures if f.what.startswith("sum over peers, all values: variance")]
    assert abs(sums.found - 0.64) < 0.1 and sums.expected == 1.0 and sums.p_value is not None


def test_every_kind_of_graph_is_taken() -> None:
    messages = sent(2)
    edges = np.array(GRAPH.edges)
    for graph in (edges, (12, edges), networkx.to_numpy_array(GRAPH, nodelist=range(12)), networkx.to_scipy_sparse_array(GRAPH, nodelist=range(12))):
        assert len(assert_published_law(messages, DATA, graph, SIGMA_OWN, SIGMA_PAIRWISE)) == 17
    # Peers are in the order of a graph's nodes, whatever these are.
    order = np.random.default_rng(1).permutation(12)
    shuffled = networkx.Graph()
    shuffled.add_nodes_from(order.tolist())
    shuffled.add_edges_from(GRAPH.edges)
    assert len(assert_published_law(messages[:, order], DATA[order], shuffled, SIGMA_OWN, SIGMA_PAIRWISE)) == 17
    assert fails(lambda: law(messages, shuffled))


def test_sums() -> None:
    rng = np.random.default_rng(1)
    runs = runs_for_central_dp(values=1)
    sums = 5.0 + rng.normal(0.0, 2.0, size=runs)
    assert all(finding.passed for finding in assert_central_dp(sums, 5.0, 2.0))
    for wrong in (5.0 + 0.8 * (sums - 5.0), 5.0 + 1.2 * (sums - 5.0), sums + 2.0, np.full(runs, sums[0])):
        with pytest.raises(NotEquivalent):
            assert_central_dp(wrong, 5.0, 2.0)
    with pytest.raises(TooFewRuns, match=f"make {runs} runs") as caught:
        assert_central_dp(sums[1:], 5.0, 2.0)
    assert caught.value.runs == runs - 1 and caught.value.runs_needed == runs
    assert pickle.loads(pickle.dumps(caught.value)).runs_needed == runs


def test_records() -> None:
    rng = np.random.default_rng(1)
    runs = runs_for_epsilon(1.0, 1e-5)
    # Laplace noise of scale 1 hides a record of 1 at epsilon = 1 exactly.
    noise = rng.laplace(size=(2, runs, 3))
    moved = noise + np.array([[[0.0, 1.0, 0.0]], [[0.0, 0.0, 0.0]]])
    (finding,) = assert_epsilon(moved[0], moved[1], 1.0)
    assert finding.found <= 1.0 and finding.p_value is None
    assert_epsilon(moved[0], moved[1], 1.0, 1e-5)
    with pytest.raises(NotEquivalent, match="lower confidence bound of epsilon") as caught:
        assert_epsilon(noise[0] + [0.0, 8.0, 0.0], noise[1], 1.0, 1e-5)
    assert caught.value.findings[0].values == (1,) and caught.value.findings[0].found > 1.0
    # The same transcript in every run.
    with pytest.raises(NotEquivalent):
        assert_epsilon(np.ones((runs, 2, 2)), np.zeros((runs, 2, 2)), 1.0)
    with pytest.raises(TooFewRuns):
        assert_epsilon(noise[0, 1:], noise[1, 1:], 1.0, 1e-5)


def test_what_is_no_transcript_is_refused() -> None:
    messages = sent(1)
    nan = messages.copy()
    nan[3, 2, 1] = np.nan
    refused: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: law(nan), ValueError, r"messages\[3, 2, 1\] is NaN"),
        (lambda: law(messages[:, 1:]), ValueError, "messages has 11 peers and the graph 12 nodes"),
        (lambda: law(messages[..., 1:]), ValueError, "messages has 5 values a peer"),
        (lambda: law(messages[0, 0]), ValueError, r"give an array of shape \(runs, peers, values\)"),
        (lambda: law(messages.astype(complex)), TypeError, "complex128"),
        (lambda: law(messages[:0]), ValueError, "at least one number"),
        (lambda: law(messages[:5]), TooFewRuns, f"found 5 runs, and {RUNS} are needed"),
        (lambda: assert_published_law(messages, DATA, GRAPH, 0.0, 1.0), ValueError, "sigma_own must be a finite number above 0"),
        (lambda: assert_published_law(messages, DATA, GRAPH, 1.0, 0.0), ValueError, "graph without edges"),
        (lambda: assert_published_law(messages, DATA, GRAPH, 1.0, "2"), TypeError, "sigma_pairwise is a number"),  # type: ignore[arg-type]
        (lambda: runs_for_published_law(networkx.empty_graph(1025), 1.0, 0.0, 1), ValueError, "1025 peers"),
        (lambda: runs_for_published_law(GRAPH, 1.0, 1.0, 0), ValueError, "at least 1"),
        (lambda: runs_for_central_dp(-1), ValueError, "whole number"),
        (lambda: assert_central_dp(np.zeros((9, 2)), [0.0], 1.0), ValueError, "sums has 2 values a run and expected has 1"),
        (lambda: assert_central_dp(np.zeros(2000), np.inf, 1.0), ValueError, "expected"),
        (lambda: assert_central_dp(np.zeros(2000), 0.0, float("nan")), ValueError, "sigma must be"),
        (lambda: assert_central_dp(["a", "b"], 0.0, 1.0), TypeError, "real numbers"),
        (lambda: assert_central_dp(np.ma.masked_equal(np.zeros(5), 0), 0.0, 1.0), ValueError, "masked"),
        (lambda: assert_epsilon(np.zeros((9, 2)), np.zeros((8, 2)), 1.0), ValueError, "give both one shape"),
        (lambda: assert_epsilon(np.zeros((9, 2)), np.zeros((9, 2)), 0.0), ValueError, "epsilon"),
        (lambda: assert_epsilon(np.zeros((9, 2)), np.zeros((9, 2)), 1.0, 1.5), ValueError, "delta"),
        (lambda: assert_epsilon(3.0, 4.0, 1.0), ValueError, "first axis is runs"),
        (lambda: runs_for_epsilon(60.0), ValueError, "a hundred thousand runs"),
    ]
    for call, error, text in refused:
        with pytest.raises(error, match=text):
            call()


def test_the_example_adds_up() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / "own_gossip.py")], capture_output=True, text=True)
    assert done.returncode == 0 and "noisy sum:" in done.stdout, done.stderr
    assert own_gossip.__doc__
