"""Whether the gossip of own_gossip.py is what it publishes: `pytest test_own_gossip.py`."""

import numpy as np
import pytest
from own_gossip import DATA, GRAPH, SIGMA_OWN, SIGMA_PAIRWISE, Gossip

from undertone.testing import NotEquivalent, assert_central_dp, assert_published_law, runs_for_central_dp, runs_for_published_law

RUNS = max(runs_for_published_law(GRAPH, SIGMA_OWN, SIGMA_PAIRWISE, values=6), runs_for_central_dp(values=6))


def test_gossip_is_what_it_publishes() -> None:
    gossip = Gossip(seed=1)
    messages = np.array([gossip.run() for _ in range(RUNS)])
    assert_published_law(messages, DATA, GRAPH, SIGMA_OWN, SIGMA_PAIRWISE)
    assert_central_dp(messages.sum(axis=1), DATA.sum(axis=0), SIGMA_OWN * np.sqrt(12))


@pytest.mark.parametrize("wrong", ["noise reused", "one term missing", "own noise too small"])
def test_wrong_gossip_is_noticed(wrong: str) -> None:
    gossip = Gossip(seed=1, wrong=wrong)
    messages = np.array([gossip.run() for _ in range(RUNS)])
    with pytest.raises(NotEquivalent):
        assert_published_law(messages, DATA, GRAPH, SIGMA_OWN, SIGMA_PAIRWISE)
