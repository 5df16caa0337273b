"""Rows held in memory, a graph of networkx, and the same as an estimator of scikit-learn."""

import networkx
import numpy as np

import undertone
from undertone import DecentralizedPCA

rows = np.random.default_rng(1).normal(size=(600, 5)) * [3.0, 2.0, 1.0, 0.5, 0.5]
graph = networkx.random_regular_graph(6, 30, seed=1)

result = undertone.run(
    {
        "name": "own-rows",
        "data": {"path": rows, "row_clip": 6.0},
        "topology": graph,
        "algorithm": {"kind": "isometric-covariance", "rank": 2, "iterations": 1},
        "privacy": {"epsilon": 1.0, "delta": 1e-5, "adjacency": "user", "sensitivity": "unit-row"},
        "averaging": {"scheme": "tree"},
    },
    set={"privacy.epsilon": 2.0},
)
print(result)
print("captured variance:", result.summary["utility"]["captured_variance"])
assert result.eigenvalues is not None and result.basis.shape == (5, 2)
assert undertone.check_receipt(result.receipt)

pca = DecentralizedPCA(2, epsilon=2.0, data_norm=6.0, topology=graph, random_state=1).fit(rows)
print("explained:", pca.explained_variance_ratio_)
