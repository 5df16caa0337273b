"""A private sum of one's own in NumPy, without anything of Undertone; and three ways to get it wrong. test_own_gossip.py tests all four."""

import networkx
import numpy as np
from numpy.typing import NDArray

GRAPH = networkx.circulant_graph(12, [1, 2])
SIGMA_OWN, SIGMA_PAIRWISE = 1.0, 2.0
DATA = np.random.default_rng(0).normal(size=(12, 6))  # peers x values


class Gossip:
    """Peers send their data with own noise, and with noise that neighbours share and that cancels in the sum."""

    def __init__(self, seed: int, wrong: str = "") -> None:
        self.rng = np.random.default_rng(seed)
        self.wrong = wrong
        self.noise = self.draw()

    def draw(self) -> NDArray[np.float64]:
        """The noise of one run: peers x values."""
        own = SIGMA_OWN * (0.8 if self.wrong == "own noise too small" else 1.0)
        noise = self.rng.normal(0.0, own, size=DATA.shape)
        for u, v in GRAPH.edges:
            shared = self.rng.normal(0.0, SIGMA_PAIRWISE, size=DATA.shape[1])
            if not (self.wrong == "one term missing" and u == 0 and v == min(GRAPH[0])):
                noise[u] += shared
            noise[v] -= shared
        return noise

    def run(self) -> NDArray[np.float64]:
        """What all peers send in one run: peers x values."""
        if self.wrong != "noise reused":
            self.noise = self.draw()
        return DATA + self.noise


if __name__ == "__main__":
    # Gossip: everybody takes the mean with its neighbours until all have the mean of all.
    averages = Gossip(seed=1).run()
    for _ in range(50):
        averages = np.array([np.mean(averages[[u, *GRAPH[u]]], axis=0) for u in range(12)])
    print("noisy sum:", np.round(12 * averages[0], 2), "sum:", np.round(DATA.sum(axis=0), 2))
