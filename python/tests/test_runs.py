"""Runs: dictionaries, data and graphs in memory, callbacks, interrupts, errors."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
from conftest import resident

import undertone


def test_a_dictionary_is_the_file_it_was_read_from() -> None:
    with open("sims/quickstart.toml", "rb") as file:
        sim = tomllib.load(file)
    sim["data"]["path"] = Path("sims") / sim["data"]["path"]
    changes = {"peers.count": 20, "data.items": 30}
    ours, theirs = undertone.run(sim, set=changes), undertone.run("sims/quickstart.toml", set=changes)
    assert ours.basis.tobytes() == theirs.basis.tobytes()
    assert ours.summary["privacy"] == theirs.summary["privacy"]


def test_rows_in_memory_are_those_of_a_file(small: dict[str, Any], rows: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", rows)
    of_file = {**small, "data": {"path": tmp_path / "rows.npy", "format": "npy", "row_clip": 6.0}}
    ours, theirs = undertone.run(small), undertone.run(of_file)
    assert ours.basis.tobytes() == theirs.basis.tobytes()
    for other in (np.asfortranarray(rows), pandas.DataFrame(rows), rows.tolist()):
        again = undertone.run({**small, "data": {"path": other, "row_clip": 6.0}})
        assert again.basis.tobytes() == ours.basis.tobytes()
        # Equal calls are equal configurations, wherever memory is.
        assert again.summary["config_hash"] == ours.summary["config_hash"]
    by_keyword = undertone.run({**small, "data": {"row_clip": 6.0}}, data=rows)
    assert by_keyword.summary["config_hash"] == ours.summary["config_hash"]
    again = undertone.run(of_file, data=rows)
    assert again.basis.tobytes() == ours.basis.tobytes()


def test_interactions_in_memory_are_those_of_a_file(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    seen = random.random((60, 12)) < 0.4
    seen[:, 0] = True
    users, items = np.nonzero(seen)
    frame = pandas.DataFrame({"user": [f'#{u}, "x"' for u in users], "item": items, "rating": 1.0 + (users % 4)})
    sim = {
        "data": {"degree_floor": 2, "threshold": 1.5},
        "peers": {"count": 10},
        "topology": {"generator": "complete"},
        "algorithm": {"kind": "covariance", "rank": 2, "iterations": 1},
        "privacy": {"epsilon": 2.0, "delta": 1e-5, "adjacency": "interaction"},
    }
    whole = undertone.run(sim, data=frame)
    assert whole.summary["data"]["users"] == 60 and whole.summary["data"]["interactions"] == int((users % 4 >= 1).sum())
    matrix = scipy.sparse.csr_array((1.0 + (users % 4), (users, items)), shape=seen.shape)
    assert undertone.run(sim, data=matrix).basis.tobytes() == whole.basis.tobytes()
    frame.to_csv(tmp_path / "all.csv", index=False)
    sim["data"].update(path=tmp_path / "all.csv", format="csv-triples")
    assert undertone.run(sim).basis.tobytes() == whole.basis.tobytes()


def test_graphs_in_memory_have_the_callers_names(small: dict[str, Any], tmp_path: Path) -> None:
    plain = nx.random_regular_graph(4, 12, seed=1)
    graph = nx.Graph()
    graph.add_nodes_from(("ward", k) for k in range(12))
    graph.add_edges_from((("ward", u), ("ward", v)) for u, v in plain.edges)
    result = undertone.run({**small, "topology": graph})
    assert result.peers == [("ward", k) for k in range(12)]
    by_number = undertone.run({**small, "topology": np.array(plain.edges)})
    assert by_number.peers == list(range(12))
    assert by_number.summary["topology"] == result.summary["topology"]
    cost = undertone.privacy({**small, "topology": graph}, coalition=[("ward", 3)])
    assert ("ward", 3) not in cost.peers and len(cost.peers) == 11
    (noise,) = result.summary["privacy"]["iterations"]
    against = undertone.account(
        graph, noise["sigma_own"], noise["sigma_pairwise"], coalition=[("ward", 3)], sensitivity=noise["sensitivity"], delta=1e-5
    )
    for name, loss in cost.peers.items():
        assert loss.epsilon_high == pytest.approx(against[name].epsilon, rel=1e-9)
    # Names that are not one line of text, or not distinct as text, are still names.
    odd = nx.relabel_nodes(plain, {k: 1 if k == 0 else "1" if k == 1 else f"a\n{k}" for k in plain})
    assert set(undertone.run({**small, "topology": odd}).peers) == set(odd)


def test_a_noise_topology_in_memory(small: dict[str, Any]) -> None:
    ring = nx.cycle_graph(12)
    result = undertone.run({**small, "topology": ring, "noise_topology": nx.complete_graph(12)})
    assert result.summary["noise_topology"]["edges"] == 66 and result.summary["topology"]["edges"] == 12


def test_what_was_released_is_an_array(small: dict[str, Any], rows: Any) -> None:
    result = undertone.run(small)
    assert result.basis.shape == (4, 2) and not result.basis.flags.writeable
    np.testing.assert_allclose(result.basis.T @ result.basis, np.eye(2), atol=1e-12)
    assert result.matrix is not None and result.eigenvalues is not None
    values, vectors = np.linalg.eigh(result.matrix)
    np.testing.assert_allclose(result.eigenvalues, values[::-1][:2], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(result.basis * vectors[:, ::-1][:, :2], axis=0)), 1.0, atol=1e-9)
    quiet = undertone.run({**small, "noise": {"scheme": "none"}})
    short = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1) / 6.0)[:, None] / 6.0
    assert quiet.matrix is not None
    np.testing.assert_allclose(quiet.matrix, short.T @ short, atol=1e-9)
    for kind, largest in (("covariance", True), ("power", False)):
        other = undertone.run(small, set={"algorithm.kind": kind})
        assert (other.eigenvalues is not None) == largest
    (release,) = result.releases
    assert release.iteration == 1 and release.sum.shape == (10, 1) and release.sigmas[0] > 0
    assert list(result.metrics["iteration"]) == [1]
    assert list(result.items["item"].astype(str)) == ["1", "2", "3", "4"]


def test_without_pandas_tables_are_dicts_of_arrays(small: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    metrics = undertone.run(small).metrics
    assert isinstance(metrics, dict) and metrics["iteration"].tolist() == [1]
    assert isinstance(undertone.account((3, [(0, 1), (1, 2)]), 1.0, 1.0).to_frame(), dict)


def test_a_callback_is_told_and_may_stop_the_run() -> None:
    told: list[tuple[int, int]] = []
    slow = {"peers.count": 120, "engine.kind": "event", "averaging.scheme": "chebyshev", "averaging.tolerance": 1e-9}
    undertone.run("sims/quickstart.toml", set=slow, progress=lambda done, total: told.append((done, total)))
    assert len(told) >= 2 and all(0 <= done <= total for done, total in told) and told[-1][0] == told[-1][1]
    assert told == sorted(told)

    def enough(done: int, total: int) -> None:
        raise LookupError("enough")

    since = time.perf_counter()
    with pytest.raises(LookupError, match="enough"):
        undertone.run("sims/quickstart.toml", set=slow, progress=enough)
    assert time.perf_counter() - since < 5.0


def test_what_the_command_warns_of_is_warned_of(small: dict[str, Any]) -> None:
    with pytest.warns(undertone.PrivacyWarning, match="this run protects nobody") as warned:
        undertone.run(small, set={"noise.scheme": "none"})
    assert warned[0].filename == __file__


def test_progress_moves_a_bar() -> None:
    from tqdm import tqdm

    with open(os.devnull, "w") as nowhere, tqdm(file=nowhere) as bar:
        undertone.run("sims/quickstart.toml", set={"peers.count": 20}, progress=bar)
        assert bar.total and bar.n == bar.total
    with pytest.raises(TypeError, match="progress"):
        undertone.run("sims/quickstart.toml", progress=3)


#: Minutes of work, in many small steps.
LONG = """
import undertone
print("started", flush=True)
undertone.run("sims/quickstart.toml", set={"engine.kind": "event", "averaging.scheme": "chebyshev", "averaging.tolerance": 1e-9,
              "algorithm.kind": "power", "algorithm.iterations": 400, "algorithm.rank": 20, "compare": {}})
"""


def test_control_c_stops_a_run() -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG.replace(', "compare": {}', "")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    time.sleep(1.5)
    assert process.poll() is None, "the work is long enough to be stopped"
    since = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and "panicked" not in said, said
    assert time.perf_counter() - since < 6.0


def test_other_threads_of_python_run_meanwhile() -> None:
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    since = time.perf_counter()
    undertone.run("sims/quickstart.toml")
    taken = time.perf_counter() - since
    stop.set()
    thread.join()
    assert counted > 50 * taken, (counted, taken)


#: A child that uses the package after its parent has.
CHILD = """
import multiprocessing, sys, undertone

def account(queue):
    try:
        undertone.account((2, [(0, 1)]), 1.0, 1.0)
        queue.put("ran")
    except RuntimeError as error:
        queue.put(str(error))

if __name__ == "__main__":
    undertone.account((2, [(0, 1)]), 1.0, 1.0)
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    process = context.Process(target=account, args=(queue,))
    process.start()
    print(queue.get(timeout=60))
    process.join(timeout=60)
"""


@pytest.mark.parametrize(("method", "says"), [("fork", "spawn"), ("spawn", "ran")])
def test_after_a_fork_there_is_an_error_and_no_hang(method: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    done = subprocess.run([sys.executable, str(tmp_path / "child.py"), method], capture_output=True, text=True, timeout=120)
    assert says in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("change", "kind", "says"),
    [
        ({"privacy.epsilon": -1}, ValueError, "epsilon is -1; it must be a finite number above 0 (typically 0.1 to 10)"),
        ({"privacy.epsilon": float("nan")}, ValueError, "epsilon is NaN"),
        ({"privacy.delta": 1}, ValueError, "well below 1/peers"),
        ({"privacy.colluders": 12}, ValueError, "colluders"),
        ({"privacy.adjacency": "interaction"}, ValueError, "unit-row"),
        ({"privacy.epsilom": 1}, ValueError, "unknown field `epsilom`"),
        ({"algorithm.rank": 0}, ValueError, "rank"),
        ({"algorithm.rank": 5}, ValueError, "rank"),
        ({"engine.kind": "warp"}, ValueError, "unknown variant `warp`"),
        ({"name": "../x"}, ValueError, "name"),
        ({"seed": 2**63}, ValueError, "seed"),
        ({"peers.count": 121}, ValueError, "120 users"),
        ({"peers.sizes": [60, 60]}, ValueError, "contiguous"),
        ({"peers.partition": "contiguous", "peers.sizes": [60, 59] + [1] * 9}, ValueError, "120 together"),
        ({"topology.file": "nowhere.gml"}, FileNotFoundError, "nowhere.gml"),
        ({"data.row_clip": 0}, ValueError, "row_clip"),
        ({"data.means": "nowhere.csv", "data.centre": "public"}, FileNotFoundError, "nowhere.csv"),
    ],
)
def test_errors_are_of_their_kind_and_say_what_to_change(small: dict[str, Any], change: dict[str, Any], kind: type, says: str) -> None:
    with pytest.raises(kind) as refused:
        undertone.run(small, set=change)
    assert says in str(refused.value), refused.value


def test_files_that_are_not_there_are_os_errors(small: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.toml"):
        undertone.run("nowhere.toml")
    with pytest.raises(FileNotFoundError, match="to obtain it|does not exist|nowhere"):
        undertone.run("sims/quickstart.toml", set={"data.path": "nowhere.csv"})
    with pytest.raises(OSError):
        undertone.run("sims")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        undertone.run(small, out=tmp_path / "file" / "folder")
    with pytest.raises(OSError):
        undertone.run(small).write("/proc/nowhere")
    with pytest.raises(FileNotFoundError):
        undertone.check_receipt(tmp_path / "receipt.json")


def test_wrong_doors_name_the_right_one(small: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="undertone.sweep"):
        undertone.run("sims/fig1-small.toml")
    with pytest.raises(ValueError, match="undertone.run"):
        undertone.sweep(small)
    with pytest.raises(ValueError, match="undertone.run or undertone.sweep"):
        undertone.study("sims/quickstart.toml")
    with pytest.raises(ValueError, match="out"):
        undertone.run(small, trace=True)
    if not undertone.with_node:
        with pytest.raises(ValueError, match="--features node"):
            undertone.run("sims/swarm-64.toml")


def test_a_run_that_nobody_survives_says_what_went_wrong() -> None:
    with pytest.raises(undertone.NoResult) as none:
        undertone.run("sims/crashes.toml", set={"faults.random.crashes": 9})
    assert "nobody has a result" in str(none.value)
    assert sum(none.value.summary["ends"].values()) == 24


def test_files_are_written_with_the_run(small: dict[str, Any], tmp_path: Path) -> None:
    result = undertone.run(small, out=tmp_path / "out", trace=True)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary == result.summary
    assert np.load(tmp_path / "out" / "trace" / "sum-1.npy").tobytes() == result.releases[0].sum.tobytes()
    assert (tmp_path / "out" / "report.html").exists()
    assert undertone.check_receipt(tmp_path / "out" / "receipt.json")


def test_memory_is_flat_over_many_runs(small: dict[str, Any]) -> None:
    def call(times: int) -> int:
        for _ in range(times):
            undertone.run(small).metrics
        gc.collect()
        return resident()

    before = call(60)
    assert call(300) - before < 8 << 20
