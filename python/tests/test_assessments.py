"""verify, audit, privacy, receipts, advice, sweeps and studies: what comes back, and that it can be bad news."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import undertone

SMALL = {"peers.count": 12, "data.items": 20}


def test_a_verification_is_true_or_names_what_failed() -> None:
    tested = undertone.verify("sims/quickstart.toml", set=SMALL, runs=6)
    assert tested and tested.passed and tested.failures == [] and tested.runs == 6
    assert {check.kind for check in tested.checks} >= {"algebra", "peers", "law"}
    assert list(tested.to_frame()["passed"]) == [True] * len(tested.checks)
    # A table of significance nearly 1 fails by chance, two times in three: the answer can be no.
    seeds = ({**SMALL, "seed": seed} for seed in range(1, 9))
    tables = (undertone.verify("sims/quickstart.toml", set=one, runs=6, significance=0.999999) for one in seeds)
    unlucky = next(table for table in tables if not table)
    assert unlucky.failures and not unlucky.failures[0].passed
    with pytest.raises(ValueError, match="significance"):
        undertone.verify("sims/quickstart.toml", set=SMALL, significance=2.0)


def test_an_audit_on_a_graph_of_ones_own_uses_its_names(small: dict[str, Any]) -> None:
    graph = nx.relabel_nodes(nx.complete_graph(12), {k: ("site", k) for k in range(12)})
    # At mu = 0.27 most audits of 2,000 trials find nothing; of 20,000, all of six seeds found at least half of it.
    found = undertone.audit({**small, "topology": graph}, trials=20_000, coalition=[("site", 4)], victim=("site", 2))
    assert found and found.victim == ("site", 2) and found.coalition == (("site", 4),)
    assert 0.0 < found.empirical_mu <= found.certified_mu and found.pilot is None
    with pytest.raises(ValueError, match="no peer is named"):
        undertone.audit({**small, "topology": graph}, trials=300, victim="nobody")
    with pytest.raises(ValueError, match="at least 100 trials"):
        undertone.audit(small, trials=3)


def test_a_forecast_is_the_run(small: dict[str, Any]) -> None:
    cost, result = undertone.privacy(small, peers=True), undertone.run(small)
    assert cost.epsilon == result.summary["privacy"]["epsilon"]
    assert cost.privacy["views"] == result.summary["privacy"]["views"]
    assert list(cost.peers) == [str(k) for k in range(12)] and cost.topology["edges"] == 66
    assert list(cost.views["colluders"]) == [view["colluders"] for view in result.summary["privacy"]["views"]]
    advice = undertone.privacy(small, target_gap=1.1).privacy["advice"]
    assert advice["reached"] <= 1.1 and advice["edges"] == []
    with pytest.raises(ValueError, match="which no graph can beat"):
        undertone.privacy(small, target_gap=1.01)
    assert undertone.privacy(small, set={"noise.scheme": "none"}).epsilon is None


def test_a_receipt_that_promises_too_much_does_not_hold(small: dict[str, Any]) -> None:
    receipt = undertone.run(small).receipt
    checked = undertone.check_receipt(receipt)
    assert checked and all(finding.agrees for finding in checked.findings) and checked.taken_on_trust
    better = copy.deepcopy(receipt)
    better["guarantee"]["noise"]["views"][0]["mu"] *= 0.9
    assert not undertone.check_receipt(better)


def test_advice_can_be_run() -> None:
    sim = {"data.items": 30, "peers.count": 20}
    advice = undertone.advise("sims/quickstart.toml", set=sim, assume=[(1.75, 1.0, 1.0)])
    best = advice.recommended
    assert best.predicted_error is not None and len(advice.to_frame()["name"]) == len(advice.candidates) > 10
    result = undertone.run("sims/quickstart.toml", set={**sim, **best.set})
    assert result.summary["algorithm"] == best.algorithm["kind"]
    with pytest.raises(ValueError, match="no candidate sends at most 1 bytes"):
        undertone.advise("sims/quickstart.toml", set=sim, assume=[(1.75, 1.0, 1.0)], bytes=1)
    with pytest.raises(ValueError, match="taste"):
        undertone.advise("sims/quickstart.toml", set=sim, assume=[(99.0, 1.0, 1.0)])


def test_a_run_whose_algorithm_is_chosen_has_its_advice() -> None:
    result = undertone.run("sims/auto-small.toml", set={"data.items": 40, "peers.count": 30})
    assert result.advice is not None and result.summary["choice"]["chosen"] == result.advice["recommended"]["name"]


def test_a_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    small = {"sweep.seeds": 2, "sweep.over": {"privacy.epsilon": [2, 50]}, "sweep.coincide": [], "data.items": 20}
    told: list[tuple[int, int]] = []
    first = undertone.sweep("sims/fig1-small.toml", set=small, out=tmp_path, progress=lambda *now: told.append(now))
    assert told[-1] == (20, 20) and first.attrs["summary"]["cells"] == 20 and len(first.attrs["cells"]["seed"]) == 20
    told.clear()
    again = undertone.sweep("sims/fig1-small.toml", set=small, out=tmp_path, progress=lambda *now: told.append(now))
    assert again.equals(first) and told == [], "nothing was left to do"
    assert (tmp_path / "report.html").exists()
    assert undertone.sweep("sims/fig1-small.toml", set=small).equals(first)


def test_a_study_is_tables(tmp_path: Path) -> None:
    found = undertone.study("sims/fig3.toml", set={"study.runs": 1, "study.items": [60], "study.ranks": {"from": 4, "to": 20, "step": 8}}, out=tmp_path)
    assert found.tables and all(len(table) for table in found.tables.values())
    assert (tmp_path / "report.html").exists()
