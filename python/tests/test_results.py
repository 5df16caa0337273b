"""Results leave the process that ran them, and show themselves in notebooks."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import undertone


@pytest.fixture
def result(small: dict[str, Any]) -> undertone.Result:
    graph = nx.relabel_nodes(nx.complete_graph(12), {k: ("ward", k) for k in range(12)})
    del small["peers"]
    return undertone.run({**small, "topology": graph})


def same(found: undertone.Result, expected: undertone.Result) -> None:
    assert found.basis.tobytes() == expected.basis.tobytes()
    assert {**found.summary, "timing": None} == {**expected.summary, "timing": None} and found.receipt == expected.receipt
    assert found.peers == expected.peers and found.advice == expected.advice
    assert [release.sum.tobytes() for release in found.releases] == [release.sum.tobytes() for release in expected.releases]
    assert found.matrix is not None and expected.matrix is not None
    assert found.matrix.tobytes() == expected.matrix.tobytes()
    assert len(found.metrics) == len(expected.metrics) and len(found.items) == len(expected.items)


def test_results_are_pickled_and_copied(result: undertone.Result, rows: Any, tmp_path: Path) -> None:
    packed = pickle.dumps(result)
    for found in (pickle.loads(packed), copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(pickle.loads(packed)))):
        same(found, result)
        assert repr(found) == repr(result)
    # Nobody's rows leave with it, in whatever order of bytes.
    assert not any(number.tobytes() in packed for number in rows.astype("<f8").ravel())
    copy.deepcopy(result).write(tmp_path / "copy")
    assert (tmp_path / "copy" / "summary.json").exists()
    with pytest.raises(RuntimeError, match="before pickling"):
        pickle.loads(packed).write(tmp_path / "none")


def test_joblib_brings_results_from_other_processes(small: dict[str, Any]) -> None:
    joblib = pytest.importorskip("joblib")
    tasks = (joblib.delayed(undertone.run)({**small, "seed": seed}) for seed in (1, 2))
    for seed, found in zip((1, 2), joblib.Parallel(n_jobs=2)(tasks)):
        same(found, undertone.run({**small, "seed": seed}))


def test_what_else_is_returned_is_pickled_and_copied(small: dict[str, Any]) -> None:
    graph = nx.random_regular_graph(4, 12, seed=1)
    plan = undertone.plan(graph, epsilon=1.0, delta=1e-5)
    verified = undertone.Verification("v", "lockstep", True, 3, (), ())
    account = plan.account(colluders=1)
    for value in (verified, undertone.privacy(small), account.worst_coalition):
        assert pickle.loads(pickle.dumps(value)) == value and copy.deepcopy(value) == value
    again = pickle.loads(pickle.dumps(account))
    assert again.mu.tobytes() == account.mu.tobytes() and again.peers == account.peers
    assert pickle.loads(pickle.dumps(plan)).views == plan.views
    error = undertone.NoResult("nobody has one", {"lost": 3})
    for lost in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert str(lost) == str(error) and lost.summary == error.summary


def test_notebooks_show_tables(result: undertone.Result) -> None:
    html = result._repr_html_()
    assert "<td>isometric-covariance</td>" in html and "<td>epsilon</td><td>1</td>" in html, html
    plan = undertone.plan(nx.complete_graph(8), epsilon=1.0, delta=1e-5)
    assert f"<td>sigma_own</td><td>{plan.sigma_own:.4g}</td>" in plan._repr_html_()
    bad = undertone.Check("law", "<b>&", 0.5, None, 0.1, False)
    verified = undertone.Verification("v", "lockstep", False, 3, (bad,), ())
    html = verified._repr_html_()
    assert "1 of 1 checks failed" in html and "<b>" not in html and "&lt;b&gt;&amp;" in html
    assert "<td>0.5</td><td></td><td>0.1</td><td>no</td>" in html


def test_errors_name_places_as_numpy_does_and_keys_of_the_dict(small: dict[str, Any], rows: Any) -> None:
    rows[2, 1] = float("nan")
    small["data"] = {"path": rows, "row_clip": 6.0}
    with pytest.raises(ValueError, match=r"^data\[2, 1\] is nan: "):
        undertone.run(small)
    with pytest.raises(ValueError, match=r"^rows\[2, 1\] is nan: "):
        undertone.verify(rows, algorithm={"kind": "power", "rank": 1, "iterations": 1}, epsilon=1.0, delta=1e-5, row_clip=3.0)
    small["data"] = {"path": rows[:0], "row_clip": 6.0}
    with pytest.raises(ValueError, match=r"^data has shape \(0, 4\): give at least one row"):
        undertone.run(small)
    small["algorithm"] = {"kind": "power", "rnk": 1}
    small["data"] = {"path": rows[3:], "row_clip": 6.0}
    with pytest.raises(ValueError, match=r"^unknown field `rnk`"):
        undertone.run(small)
    with pytest.raises(ValueError, match=r"^set privacy\.epsilom=2\.0: unknown"):
        undertone.run({**small, "algorithm": {"kind": "power", "rank": 1, "iterations": 1}}, set={"privacy.epsilom": 2.0})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"privacy.epsilom": 2.0, "seed": 3}, "set privacy.epsilom=2.0 and seed=3: unknown"),
        ({"name.x": 1}, "set name.x=1: `name` is not a table"),
        (["privacy.epsilon"], "set privacy.epsilon: expected key=value, for example privacy.epsilon=1.0"),
        ({"averaging": {"scheme": "tree", "rounds": 3}}, 'set the whole table, averaging = {scheme = "tree"}'),
    ],
)
def test_errors_speak_of_keys_and_not_of_the_flags_of_the_command(small: dict[str, Any], change: Any, says: str) -> None:
    with pytest.raises((ValueError, OSError)) as refused:
        undertone.run(small, set=change)
    assert says in str(refused.value) and "--" not in str(refused.value)


def test_a_missing_file_asks_for_its_key(small: dict[str, Any]) -> None:
    with pytest.raises(FileNotFoundError, match="put it there, or set data.path to where it is$"):
        undertone.run({**small, "data": {"path": "nowhere.npy", "format": "npy", "row_clip": 1.0}})
