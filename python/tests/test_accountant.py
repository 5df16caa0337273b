"""The accountant: against a dense inverse, by the caller's names, in time and memory."""

from __future__ import annotations

import gc
import math
import time
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import pytest
import rustworkx as rx
from conftest import resident
from scipy.optimize import brentq
from scipy.sparse import coo_array
from scipy.special import log_ndtr

import undertone


def dense_factors(graph: nx.Graph, own: dict, pairwise: dict, coalition: list) -> dict:
    """[Σ_H⁻¹]_uu by numpy, peer by peer of the honest graph."""
    honest = [node for node in graph if node not in set(coalition)]
    place = {node: k for k, node in enumerate(honest)}
    covariance = np.diag([own[node] ** 2 for node in honest])
    for u, v in graph.edges:
        if u in place and v in place:
            a, b, variance = place[u], place[v], pairwise[frozenset((u, v))] ** 2
            covariance[a, a] += variance
            covariance[b, b] += variance
            covariance[a, b] -= variance
            covariance[b, a] -= variance
    return dict(zip(honest, np.diag(np.linalg.inv(covariance))))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """ε of Gaussian differential privacy, from the curve δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""

    def excess(epsilon: float) -> float:
        first = log_ndtr(mu / 2 - epsilon / mu)
        return math.exp(first) * -math.expm1(epsilon + log_ndtr(-mu / 2 - epsilon / mu) - first) - delta

    return 0.0 if excess(0.0) <= 0 else brentq(excess, 0.0, mu * mu + 40 * mu, xtol=1e-13, rtol=1e-13)


def test_200_random_graphs_with_coalitions_agree_with_the_dense_inverse() -> None:
    random = np.random.default_rng(7)
    worst = 0.0
    for number in range(200):
        count = int(random.integers(4, 40))
        graph = nx.gnp_random_graph(count, float(random.uniform(0.1, 0.9)), seed=number)
        names = [f"peer {k}" if number % 2 else (k, "x") for k in range(count)]
        graph = nx.relabel_nodes(graph, dict(enumerate(names)))
        colluding = [names[k] for k in random.choice(count, int(random.integers(0, count - 1)), replace=False)]
        own = {name: float(random.uniform(0.1, 3.0)) for name in names}
        pairwise = {frozenset(edge): float(random.uniform(0.0, 30.0)) for edge in graph.edges}
        sensitivity, iterations = float(random.uniform(0.1, 2.0)), int(random.integers(1, 9))
        found = undertone.account(
            graph,
            own,
            {tuple(edge): sigma for edge, sigma in pairwise.items()},
            coalition=colluding,
            sensitivity=sensitivity,
            iterations=iterations,
        )
        truth = dense_factors(graph, own, pairwise, colluding)
        assert list(found) == list(truth)
        for name, factor in truth.items():
            mu = sensitivity * math.sqrt(iterations * factor)
            loss = found[name]
            worst = max(worst, abs(loss.mu / mu - 1.0), abs(loss.mu_low / mu - 1.0))
            assert loss.mu_low <= loss.mu and loss.certificate == "exact"
    assert worst < 1e-9, worst


def test_epsilon_is_that_of_the_exact_curve() -> None:
    for sigma in (0.3, 1.0, 4.0, 20.0):
        for delta in (1e-3, 1e-6, 1e-10):
            loss = undertone.account((1, []), sigma, 0.0, delta=delta)[0]
            assert loss.mu == pytest.approx(1 / sigma, rel=1e-12)
            assert loss.epsilon == pytest.approx(gaussian_epsilon(1 / sigma, delta), rel=1e-8, abs=1e-12)


@pytest.mark.filterwarnings("ignore:.*not part of the graph")
def test_graphs_of_every_kind_are_the_same_graph(tmp_path: Path) -> None:
    graph = nx.random_regular_graph(4, 12, seed=3)
    graph = nx.relabel_nodes(graph, {k: k for k in range(12)})
    edges = np.array(graph.edges)
    order = sorted(graph)
    by_number = undertone.account(edges, 1.0, 5.0, coalition=[2])
    rows = np.concatenate([edges, edges[:, ::-1]])
    sparse = coo_array((np.ones(len(rows)), (rows[:, 0], rows[:, 1])), shape=(12, 12))
    of_rustworkx = rx.PyGraph()
    of_rustworkx.add_nodes_from(range(12))
    of_rustworkx.add_edges_from([(u, v, None) for u, v in edges.tolist()])
    path = tmp_path / "graph.edgelist"
    nx.write_edgelist(graph, path)
    kinds = (graph, (12, edges), (12, edges.tolist()), edges.astype(np.int32), sparse, sparse.toarray())
    with pytest.warns(UserWarning, match="the attributes of edges"):
        assert list(undertone.account(str(path), 1.0, 5.0)) == list(range(12))
    for other in (*kinds, igraph.Graph(12, edges.tolist()), of_rustworkx, path):
        found = undertone.account(other, 1.0, 5.0, coalition=[2])
        assert [found[k].mu for k in order if k != 2] == [by_number[k].mu for k in order if k != 2]
    for edge in graph.edges:
        graph.edges[edge]["sigma"] = 5.0
    assert undertone.account(graph, np.ones(12), "sigma", coalition=[2]).mu == pytest.approx(by_number.mu[np.argsort([k for k in graph if k != 2])][np.argsort(np.argsort([k for k in graph if k != 2]))], rel=1e-9)


def test_any_coalition_of_a_size_is_at_least_as_bad_as_every_one_of_it() -> None:
    graph = nx.convert_node_labels_to_integers(nx.random_regular_graph(5, 14, seed=5))
    for size in (0, 1, 2):
        bound = undertone.account(graph, 1.0, 8.0, colluders=size)
        worst = bound.worst_coalition
        assert worst is not None and len(worst.attained_by) == size
        named = undertone.account(graph, 1.0, 8.0, coalition=worst.attained_by)
        assert named[worst.victim].mu >= worst.mu_at_least * (1 - 1e-8)
        assert named[worst.victim].mu <= worst.mu_at_most * (1 + 1e-9)
        for first in graph:
            coalition = [first, (first + 1) % 14][:size]
            found = undertone.account(graph, 1.0, 8.0, coalition=coalition)
            assert all(found[peer].mu_low <= bound[peer].mu for peer in found)


def test_a_plan_keeps_its_promise_against_every_coalition_of_the_size() -> None:
    graph = nx.random_regular_graph(6, 16, seed=2)
    for sensitivity in (1.0, 3.0):
        plan = undertone.plan(graph, 1.0, 1e-6, colluders=1, iterations=3, sensitivity=sensitivity)
        assert plan.sigma_own > 0 and plan.sigma_pairwise > 0 and plan.epsilon is not None and plan.epsilon <= 1.0
        for peer in graph:
            assert plan.account(coalition=[peer]).epsilon.max() <= 1.0 + 1e-9
        # One peer more than promised learns more.
        assert plan.account(colluders=2).worst_coalition.epsilon_at_least > 1.0
    least = undertone.plan(graph, 1.0, 1e-6, scheme="local")
    assert least.sigma_sum > 3 * plan.sigma_sum / 3.0 / math.sqrt(3)
    assert undertone.plan(graph, 1.0, 1e-6, scheme="none").epsilon is None


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda g: undertone.account(g, 1.0, 1.0, coalition=[99]), "no peer is named 99"),
        (lambda g: undertone.account(g, 1.0, 1.0, coalition=[0, 0]), "peer 0 is named twice"),
        (lambda g: undertone.account(g, 1.0, 1.0, coalition=list(range(5))), "at least one must be honest"),
        (lambda g: undertone.account(g, 0.0, 1.0), "own noise"),
        (lambda g: undertone.account(g, -1.0, 1.0), "sigma_own"),
        (lambda g: undertone.account(g, 1.0, float("nan")), "sigma_pairwise"),
        (lambda g: undertone.account(g, 1.0, 1.0, delta=0.0), "delta is 0; it must lie strictly between 0 and 1, well below 1/peers (for example 1e-6)"),
        (lambda g: undertone.account(g, 1.0, 1.0, delta=2.0), "strictly between 0 and 1"),
        (lambda g: undertone.account(g, 1.0, 1.0, sensitivity=0.0), "sensitivity"),
        (lambda g: undertone.account(g, 1.0, 1.0, iterations=0), "0 iterations"),
        (lambda g: undertone.account(g, 1.0, 1.0, gap=0.0), "gap"),
        (lambda g: undertone.account(g, 1.0, 1.0, method="guess"), "unknown variant `guess`"),
        (lambda g: undertone.account(g, 1.0, 1.0, coalition=[1], colluders=1), "not both"),
        (lambda g: undertone.account(g, [1, 2, 3, 4, 5], 1.0, colluders=1), "name the coalition"),
        (lambda g: undertone.account(g, [1.0, 2.0], 1.0), "there are 5 peers"),
        (lambda g: undertone.account(g, {0: 1.0}, 1.0), "sigma_own of 1 is missing"),
        (lambda g: undertone.account(g, 1.0, {(0, 1): 1.0}), "is missing"),
        (lambda g: undertone.account(g, 1.0, "weight"), "no attribute"),
        (lambda g: undertone.account(np.array([[0, 0]]), 1.0, 1.0), "self-loop"),
        (lambda g: undertone.account([(0, 1), (1, 0)], 1.0, 1.0), "more than once"),
        (lambda g: undertone.account((1, [(0, 1)]), 1.0, 1.0), "nodes"),
        (lambda g: undertone.account((0, []), 1.0, 1.0), "nodes"),
        (lambda g: undertone.account(nx.DiGraph([(0, 1)]), 1.0, 1.0), "undirected"),
        (lambda g: undertone.plan(g, 0.0, 1e-5), "epsilon is 0; it must be a finite number above 0 (typically 0.1 to 10)"),
        (lambda g: undertone.plan(g, 1.0, 1.0), "delta is 1"),
        (lambda g: undertone.plan(g, 1.0, 1e-5, colluders=5), "at least one must be honest"),
        (lambda g: undertone.plan(g, 1.0, 1e-5, scheme="magic"), "unknown variant `magic`"),
        (lambda g: undertone.plan(nx.path_graph(5), 1.0, 1e-5), "noise graph"),
    ],
)
def test_what_means_nothing_is_a_value_error_that_says_what_to_change(call, says: str) -> None:
    with pytest.raises(ValueError) as refused:
        call(nx.complete_graph(5))
    assert says in str(refused.value), refused.value


def test_the_binding_costs_nothing_at_ten_thousand_peers() -> None:
    """The seconds inside are those of the library; all around them, graphs of networkx included, may be a tenth."""
    graph = nx.random_regular_graph(10, 10_000, seed=1)
    since = time.perf_counter()
    found = undertone.account(graph, 1.0, 10.0, coalition=list(range(5)), gap=1e-5)
    taken = time.perf_counter() - since
    assert len(found) == 9_995 and found.method == "quadrature" and found.gap < 1e-5
    print(f"accountant at 10,000 peers: {found.seconds:.2f} s in the library, {taken / found.seconds:.4f} times that in all")
    assert taken <= 1.1 * found.seconds, (taken, found.seconds)


def test_memory_is_flat_over_a_thousand_calls() -> None:
    graph = nx.random_regular_graph(6, 50, seed=1)

    def call(times: int) -> int:
        for _ in range(times):
            undertone.account(graph, 1.0, 10.0, coalition=[1, 2])
        gc.collect()
        return resident()

    before = call(100)
    after = call(1000)
    # A list of brackets that is kept would be 1,000 × 50 × 5 × 8 bytes.
    assert after - before < 2 << 20, (before, after)


def test_what_can_be_read_in_two_ways_is_refused() -> None:
    graph = nx.cycle_graph(8)
    graph = nx.relabel_nodes(graph, {k: str(k) for k in graph})
    with pytest.raises(TypeError, match="a list of peers, found the text '17'"):
        undertone.account(graph, 1.0, 5.0, coalition="17")
    both = {edge: 5.0 for edge in graph.edges} | {(v, u): 5.0 for u, v in graph.edges}
    assert undertone.account(graph, 1.0, both)["0"].mu > 0.0
    with pytest.raises(ValueError, match="twice, with 5.0 and 50.0"):
        undertone.account(graph, 1.0, {**both, ("1", "0"): 50.0})
    with pytest.raises(TypeError, match="epsilon is a number"):
        undertone.plan(graph, epsilon="1", delta=1e-6)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="beyond the largest number"):
        undertone.plan(graph, epsilon=1e-3, delta=1e-6, sensitivity=1e308)


def test_names_and_pairs_of_names_are_a_graph() -> None:
    graph = nx.relabel_nodes(nx.cycle_graph(5), dict(enumerate("abcde")))
    named = (list(graph.nodes), list(graph.edges))
    assert undertone.account(named, 1.0, 5.0, coalition=["a"])["c"] == undertone.account(graph, 1.0, 5.0, coalition=["a"])["c"]
    with pytest.raises(ValueError, match="no node"):
        undertone.account((["a", "b"], [("a", "x")]), 1.0, 5.0)
