"""verify on arrays: rows, graph, algorithm and promise, without an experiment."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import undertone

PEOPLE = np.random.default_rng(7).normal(size=(48, 5)) @ np.diag([2.0, 1.0, 0.5, 0.5, 0.2])
PROMISE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "row_clip": 2.5}
KRYLOV = {"kind": "krylov", "rank": 2, "iterations": 2}


@pytest.mark.parametrize(
    "algorithm",
    [
        KRYLOV,
        {"kind": "power", "rank": 1, "iterations": 2},
        {"kind": "clipped-power", "rank": 1, "iterations": 2, "clip": "geometric"},
        {"kind": "covariance", "rank": 2, "iterations": 1},
        {"kind": "deflation", "rank": 1, "iterations": 2},
        {"kind": "momentum", "rank": 1, "iterations": 2, "momentum": 0.01},
    ],
)
def test_every_kind_that_a_file_can_name_passes(algorithm: dict[str, Any]) -> None:
    result = undertone.verify(PEOPLE, algorithm=algorithm, peers=8, **PROMISE)
    assert result.passed, result
    assert {check.kind for check in result.checks} >= {"algebra", "peers", "record", "law", "spent"}
    assert result.name == algorithm["kind"] and "checks passed over 20 runs" in str(result)


def test_graphs_are_those_of_the_package() -> None:
    for graph in (nx.complete_graph(6), [(k, (k + 1) % 6) for k in range(6)] + [(0, 3), (1, 4), (2, 5)], nx.to_numpy_array(nx.complete_graph(6))):
        result = undertone.verify(PEOPLE, graph=graph, algorithm=KRYLOV, runs=5, **PROMISE)
        assert result.passed, result
    with pytest.raises(ValueError, match="6 nodes"):
        undertone.verify(PEOPLE, graph=nx.complete_graph(6), peers=5, algorithm=KRYLOV, **PROMISE)


def test_pure_differential_privacy_and_other_noise() -> None:
    covariance = {"kind": "covariance", "rank": 1, "iterations": 1}
    pure = undertone.verify(PEOPLE, algorithm=covariance, peers=8, epsilon=4.0, delta=None, row_clip=2.5)
    assert pure.passed, pure
    for more in ({"noise": "local"}, {"noise": "ring", "averaging": "tree"}, {"adjacency": "replace-user"}, {"colluders": 2}):
        result = undertone.verify(PEOPLE, algorithm=covariance, peers=8, **PROMISE, **more)
        assert result.passed, (more, result)


def test_a_table_that_fails_says_what_failed() -> None:
    tables = (undertone.verify(PEOPLE, algorithm=KRYLOV, peers=8, runs=4, seed=seed, significance=0.999999, **PROMISE) for seed in range(9))
    unlucky = next(table for table in tables if not table)
    assert "FAILED" in str(unlucky) and unlucky.failures[0].name in repr(unlucky)


def test_what_is_missing_or_wrong_is_said() -> None:
    with pytest.raises(TypeError, match="row_clip is required"):
        undertone.verify(PEOPLE, algorithm=KRYLOV, epsilon=1.0, delta=1e-5)
    with pytest.raises(TypeError, match="epsilon and delta are required"):
        undertone.verify(PEOPLE, algorithm=KRYLOV, epsilon=1.0, row_clip=2.5)
    with pytest.raises(TypeError, match="algorithm is required"):
        undertone.verify(PEOPLE, **PROMISE)
    with pytest.raises(ValueError, match="krylov"):
        undertone.verify(PEOPLE, algorithm={**KRYLOV, "kind": "krilov"}, **PROMISE)
    with pytest.raises(ValueError, match="blocks"):
        undertone.verify(PEOPLE, algorithm={**KRYLOV, "blocks": 2}, **PROMISE)
    with pytest.raises(ValueError, match=r"algorithm\.block"):
        undertone.verify(PEOPLE, algorithm={"kind": "power", "rank": 1, "iterations": 2, "block": 3}, **PROMISE)
    with pytest.raises(ValueError, match="experiment file"):
        undertone.verify(PEOPLE, algorithm={**KRYLOV, "precondition": "items"}, **PROMISE)
    with pytest.raises(ValueError, match=r"^rows\[3, 0\] is nan"):
        undertone.verify(np.where(np.arange(48)[:, None] == 3, np.nan, PEOPLE), algorithm=KRYLOV, **PROMISE)
    with pytest.raises(ValueError, match="two dimensions"):
        undertone.verify(PEOPLE[0], algorithm=KRYLOV, **PROMISE)
    with pytest.raises(ValueError, match="row_clip is 0"):
        undertone.verify(PEOPLE, algorithm=KRYLOV, **{**PROMISE, "row_clip": 0.0})
    with pytest.raises(ValueError, match="pairwise"):
        undertone.verify(PEOPLE, algorithm=KRYLOV, noise="pair", **PROMISE)
    with pytest.raises(TypeError, match="belongs to an experiment file"):
        undertone.verify(PEOPLE, algorithm=KRYLOV, set={"seed": 1}, **PROMISE)
    with pytest.raises(TypeError, match="unexpected keyword argument 'epsilom'"):
        undertone.verify(PEOPLE, algorithm=KRYLOV, epsilom=1.0, **PROMISE)
    with pytest.raises(ValueError, match="masked"):
        undertone.verify(np.ma.masked_greater(PEOPLE, 1.0), algorithm=KRYLOV, **PROMISE)
    with pytest.raises(TypeError, match="belongs to rows in memory"):
        undertone.verify("sims/quickstart.toml", row_clip=2.5)


@pytest.mark.parametrize("kind", ["auto", "pilot", "streaming", "raked-covariance", "spectral-ridge", "svd-completion", "frank-wolfe", "projected-gradient"])
def test_a_kind_that_needs_more_than_rows_names_the_experiment_file(kind: str) -> None:
    keys = {"auto": {}, "projected-gradient": {"iterations": 1, "nuclear": 3.0}}.get(kind, {"iterations": 1})
    with pytest.raises(ValueError, match=f'kind = "{kind}" .*name an experiment file'):
        undertone.verify(PEOPLE, algorithm={"kind": kind, "rank": 2, **keys}, peers=8, **PROMISE)


def test_a_search_for_a_threshold_names_the_experiment_file() -> None:
    clipped = {"kind": "clipped-power", "rank": 1, "iterations": 2, "clip": "sparse-vector"}
    with pytest.raises(ValueError, match="experiment file"):
        undertone.verify(PEOPLE, algorithm=clipped, peers=8, **PROMISE)


def test_one_number_is_no_record_where_rows_are_shortened() -> None:
    # Of (t, 1) with a large t, the shortened row is nearly (1, 0); of (0, 1) it is (0, 1): one number moved both.
    for kind in ("covariance", "krylov"):
        with pytest.raises(ValueError, match='adjacency = "rating"'):
            undertone.verify(PEOPLE, algorithm={"kind": kind, "rank": 1, "iterations": 1}, peers=8, adjacency="rating", **PROMISE)


def test_names_of_every_kind_are_listed_where_one_is_unknown() -> None:
    with pytest.raises(ValueError, match="power.*momentum.*krylov.*covariance"):
        undertone.verify(PEOPLE, algorithm={**KRYLOV, "kind": "nobody"}, **PROMISE)
