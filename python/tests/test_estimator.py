"""DecentralizedPCA: scikit-learn's own checks, what it finds, and what it promises."""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import undertone
from undertone import DecentralizedPCA, PrivacyLeakWarning

#: Checks of scikit-learn that privacy makes impossible, and why. There are none: with a seed the noise is a function of the input, and
#: what is fitted has the shapes and types that are asked for. (Without ``data_norm`` nothing is fitted, on purpose; the checks are of an instance
#: that has one.)
IMPOSSIBLE: dict[str, str] = {}


def expected(_: Any) -> dict[str, str]:
    return IMPOSSIBLE


@parametrize_with_checks(
    [
        DecentralizedPCA(data_norm=10.0, random_state=0),
        DecentralizedPCA(data_norm=10.0, centre="none", scheme="local", peers=5, adjacency="replace-user", random_state=0),
    ],
    expected_failed_checks=expected,
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.fixture(scope="module")
def digits() -> Any:
    return load_digits().data / 16


def test_with_a_large_budget_it_is_pca(digits: Any) -> None:
    ours = DecentralizedPCA(8, epsilon=1e5, data_norm=8.0, random_state=1).fit(digits)
    theirs = PCA(8).fit(digits)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=5e-3)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=5e-3)
    np.testing.assert_allclose(np.abs(np.sum(ours.components_ * theirs.components_, axis=1)), 1.0, atol=2e-3)
    np.testing.assert_allclose(ours.mean_, theirs.mean_, atol=0.02)
    np.testing.assert_allclose(ours.components_ @ ours.components_.T, np.eye(8), atol=1e-12)
    low = ours.inverse_transform(ours.transform(digits))
    best = theirs.inverse_transform(theirs.transform(digits))
    assert np.linalg.norm(digits - low) < 1.001 * np.linalg.norm(digits - best)


def test_less_privacy_is_more_variance(digits: Any) -> None:
    def captured(epsilon: float) -> float:
        found = [DecentralizedPCA(4, epsilon=epsilon, data_norm=4.5, centred_norm=3.0, random_state=k).fit(digits) for k in range(5)]
        return float(np.mean([np.var(one.transform(digits), axis=0).sum() for one in found]))

    assert captured(0.1) < captured(1.0) < captured(10.0)


def test_groups_are_peers(digits: Any) -> None:
    groups = np.random.default_rng(0).integers(0, 7, len(digits))
    pca = DecentralizedPCA(4, data_norm=4.5, random_state=1)
    by_number = clone(pca).fit(digits, groups=groups)
    assert by_number.n_peers_ == 7
    # Peer k holds the rows of group k: the same session, said by hand.
    means = np.full(64, 0.25)
    fitted = DecentralizedPCA(4, data_norm=4.5, centre=means, random_state=1).fit(digits, groups=groups)
    by_hand = undertone.run(
        {
            "seed": int(np.random.RandomState(1).randint(2**63 - 1, dtype=np.int64)),
            "data": {
                "path": np.concatenate([digits[groups == k] for k in range(7)]),
                "row_clip": 4.5,
                "centre": "public",
                "means": means,
            },
            "peers": {"count": 7, "partition": "contiguous", "sizes": [int((groups == k).sum()) for k in range(7)]},
            "topology": {"generator": "complete"},
            "algorithm": {"kind": "isometric-covariance", "rank": 4, "iterations": 1},
            "privacy": {"epsilon": 1.0, "delta": 1e-5, "adjacency": "user", "sensitivity": "unit-row"},
            "averaging": {"scheme": "tree"},
        }
    )
    np.testing.assert_array_equal(fitted.components_, by_hand.basis.T)
    # The k-th label in order is peer k.
    names = np.array([f"site {k}" for k in range(7)])
    by_name = clone(pca).fit(digits, groups=names[groups])
    np.testing.assert_array_equal(by_name.components_, by_number.components_)
    # Of a graph with names they are its nodes, in whatever order these come.
    order = [3, 1, 0, 2, 6, 5, 4]
    graph = nx.Graph()
    graph.add_nodes_from(names[order])
    graph.add_edges_from(nx.relabel_nodes(nx.complete_graph(7), dict(enumerate(names))).edges)
    on_graph = clone(pca).set_params(topology=graph).fit(digits, groups=names[groups])
    moved = clone(pca).fit(digits, groups=np.argsort(order)[groups])
    np.testing.assert_array_equal(on_graph.components_, moved.components_)
    listed = (names[order].tolist(), [(str(u), str(v)) for u, v in graph.edges])
    of_names = clone(pca).set_params(topology=listed).fit(digits, groups=names[groups])
    np.testing.assert_array_equal(of_names.components_, moved.components_)
    with pytest.raises(ValueError, match="peers=6, and the topology has 7 nodes"):
        clone(pca).set_params(topology=graph, peers=6).fit(digits)
    with pytest.raises(ValueError, match="'site 6' of the topology holds no row"):
        clone(pca).set_params(topology=graph).fit(digits[groups != 6], groups=names[groups[groups != 6]])
    with pytest.raises(ValueError, match="no peer is named 'x'"):
        clone(pca).set_params(topology=graph).fit(digits[:2], groups=["x", "site 0"])
    with pytest.raises(ValueError, match="one label each"):
        clone(pca).fit(digits, groups=groups[1:])


def test_the_promise_is_kept_with_everything_that_is_fitted(digits: Any) -> None:
    pca = DecentralizedPCA(4, epsilon=0.7, delta=1e-6, data_norm=4.5, random_state=1).fit(digits)
    assert pca.privacy_["epsilon"] <= 0.7 and pca.privacy_["adjacency"] == "user"
    assert [view for view in pca.privacy_["views"] if view["colluders"] == 1][0]["epsilon"] <= 0.7 * (1 + 1e-9)
    assert undertone.check_receipt(pca.receipt_)
    # The mean has a share of the same budget.
    prelude = pca.receipt_["program"]["prelude"]
    assert prelude["raw_clip"] == 4.5 and prelude["slots"] == 1797 and 0.0 < prelude["share"] < 1.0


def test_rows_beyond_the_norm_are_shortened_whatever_they_are(digits: Any) -> None:
    """One row, however long, moves what is released as little as any other."""
    plain = DecentralizedPCA(2, epsilon=1e6, data_norm=4.5, centre="none", random_state=1)
    spiked = digits.copy()
    spiked[0] = 0.0
    spiked[0, 0] = 1e9
    # Pixel 0 is always white: 1,797 rows, of which one has the norm 4.5 in that direction.
    found = clone(plain).fit(spiked)
    assert np.abs(found.components_[:, 0]).max() < 0.05
    np.testing.assert_allclose(found.explained_variance_, clone(plain).fit(digits).explained_variance_, rtol=0.02)


def test_what_is_taken_from_the_data_is_warned_of_and_nothing_is_by_default(digits: Any) -> None:
    with pytest.raises(ValueError, match="data_norm is required"):
        DecentralizedPCA().fit(digits)
    with pytest.warns(PrivacyLeakWarning, match="data_norm was taken from the data"):
        DecentralizedPCA(data_norm="from-data").fit(digits)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecentralizedPCA(data_norm=4.5).fit(digits)


def test_without_a_seed_no_two_fits_are_alike(digits: Any) -> None:
    fits = [DecentralizedPCA(data_norm=4.5, random_state=state).fit(digits).components_ for state in (None, None, 3, 3)]
    assert not np.array_equal(fits[0], fits[1]) and np.array_equal(fits[2], fits[3])


def test_public_means_and_pipelines(digits: Any) -> None:
    means = np.full(64, 0.3)
    pca = DecentralizedPCA(3, data_norm=4.0, centre=means, random_state=1)
    pipeline = make_pipeline(FunctionTransformer(np.sqrt, feature_names_out="one-to-one"), pca)
    assert pipeline.fit_transform(digits).shape == (1797, 3)
    np.testing.assert_array_equal(pipeline[-1].mean_, means)
    assert list(pipeline[-1].get_feature_names_out()) == ["decentralizedpca0", "decentralizedpca1", "decentralizedpca2"]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"epsilon": 0.0}, "epsilon is 0; it must be a finite number above 0 (typically 0.1 to 10)"),
        ({"delta": 1.0}, "delta is 1"),
        ({"n_components": 65}, "n_components=65"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, "n_components=1.5"),
        ({"data_norm": -1.0}, "data_norm=-1.0 must be a finite number above 0"),
        ({"data_norm": "big"}, "from-data"),
        ({"centred_norm": float("nan")}, "centred_norm=nan"),
        ({"centre": "median"}, "public means"),
        ({"centre": [1.0]}, "one per column"),
        ({"adjacency": "interaction"}, "unit-row"),
        ({"scheme": "magic"}, "unknown variant"),
        ({"peers": 1}, "colluders"),
        ({"peers": 10_000}, "1797 users"),
        ({"colluders": 100}, "colluders"),
        ({"topology": nx.path_graph(10)}, "noise graph"),
        ({"topology": nx.DiGraph([(0, 1)])}, "undirected"),
    ],
)
def test_parameters_that_mean_nothing_say_what_to_change(digits: Any, parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError) as refused:
        DecentralizedPCA(**{"data_norm": 4.5, "random_state": 1, **parameters}).fit(digits)
    assert says in str(refused.value), refused.value


def test_warnings_of_the_run_reach_whoever_fits(digits: Any) -> None:
    with pytest.warns(undertone.PrivacyWarning, match="delta = 0.5 allows revealing one of"):
        DecentralizedPCA(2, epsilon=5.0, delta=0.5, data_norm=80.0, random_state=1).fit(digits)
