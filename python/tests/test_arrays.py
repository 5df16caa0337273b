"""Arrays, tables and graphs stay in memory: the bits of files, without any file."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
from conftest import REPOSITORY

import undertone

PLAIN = nx.random_regular_graph(4, 12, seed=1)
WARDS = nx.relabel_nodes(PLAIN, {k: ("ward", k) for k in PLAIN})
SEEN = np.random.default_rng(3).random((60, 12)) < 0.4
SEEN[:, 0] = True
USERS, ITEMS = np.nonzero(SEEN)
FRAME = pandas.DataFrame({"user": [f'#{u}, "x"' for u in USERS], "item": ITEMS, "rating": 1.0 + (USERS % 4)})
INTERACTIONS: dict[str, Any] = {
    "data": {"degree_floor": 2, "threshold": 1.5},
    "peers": {"count": 10},
    "topology": {"generator": "complete"},
    "algorithm": {"kind": "covariance", "rank": 2, "iterations": 1},
    "privacy": {"epsilon": 2.0, "delta": 1e-5, "adjacency": "interaction"},
}


def renumbered() -> Any:
    """A noise graph over the same names in another order."""
    graph = nx.Graph()
    graph.add_nodes_from(reversed(list(WARDS)))
    graph.add_edges_from(nx.complete_graph(list(WARDS)).edges)
    return graph


def power(small: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**small, "algorithm": {"kind": "power", "rank": 2, "iterations": 3}, "averaging": {"scheme": "chebyshev"}, **more}


#: Runs over what is in memory, and the digest of what each found, from before it was handed over without files.
STORED: dict[str, tuple[Callable[[dict[str, Any], Any], undertone.Result], str]] = {
    "rows": (
        lambda small, rows: undertone.run(small),
        "0ddcaaddb711fb34",
    ),
    "float32 in Fortran's order": (
        lambda small, rows: undertone.run(small, data=np.asfortranarray(rows.astype(np.float32))),
        "8b801442d575bff7",
    ),
    "whole numbers": (
        lambda small, rows: undertone.run(small, data=np.rint(rows).astype(int)),
        "c97da9253aaf7871",
    ),
    "columns left out": (
        lambda small, rows: undertone.run({**small, "data": {"path": rows, "row_clip": 6.0, "drop": [2, "last"]}}),
        "c6342cc1bd4251f7",
    ),
    "a private mean": (
        lambda small, rows: undertone.run({**small, "data": {"path": rows, "row_clip": 6.0, "centre": "private", "raw_clip": 6.0}}),
        "a15bc7c6d01ae6bc",
    ),
    "a graph": (
        lambda small, rows: undertone.run(power(small, topology=WARDS)),
        "a3e3ec2163d7365a",
    ),
    "edges": (
        lambda small, rows: undertone.run(power(small, topology=np.array(PLAIN.edges))),
        "a3e3ec2163d7365a",
    ),
    "a noise graph": (
        lambda small, rows: undertone.run(power(small, topology=nx.cycle_graph(12), noise_topology=nx.complete_graph(12))),
        "04b3d135ac2d5292",
    ),
    "a noise graph in another order": (
        lambda small, rows: undertone.run(power(small, topology=WARDS, noise_topology=renumbered())),
        "000bdf6b24687528",
    ),
    "a frame": (
        lambda small, rows: undertone.run(INTERACTIONS, data=FRAME),
        "1bff52ce807a04ed",
    ),
    "a frame of pairs": (
        lambda small, rows: undertone.run({**INTERACTIONS, "data": {"degree_floor": 2}}, data=FRAME[["user", "item"]]),
        "02e8f670ae0f3fd5",
    ),
    "a sparse matrix": (
        lambda small, rows: undertone.run(INTERACTIONS, data=scipy.sparse.csr_array((1.0 + (USERS % 4), (USERS, ITEMS)), shape=SEEN.shape)),
        "1bff52ce807a04ed",
    ),
    "ratings as numbers": (
        lambda small, rows: undertone.run({**small, "data": {"path": FRAME, "values": "ratings", "row_clip": 6.0, "ranges": [0.0, 5.0]}}),
        "e0eecff23cf267f6",
    ),
    "held out": (
        lambda small, rows: undertone.run({**INTERACTIONS, "evaluation": {"holdout": 0.2}}, data=FRAME),
        "6a021693e9e7d210",
    ),
    "a chosen algorithm": (
        lambda small, rows: undertone.run({**INTERACTIONS, "algorithm": {"kind": "auto", "rank": 2}, "data": {}}, data=FRAME),
        "c82e2628903bb1a9",
    ),
    "a graph for a file": (
        lambda small, rows: undertone.run("sims/quickstart.toml", set={"peers.count": 12, "data.items": 20}, topology=nx.circulant_graph(12, [1, 2, 3])),
        "dea344671673a94c",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STORED)
def test_what_is_in_memory_has_the_bits_that_it_had_in_files(name: str, small: dict[str, Any], rows: Any) -> None:
    call, stored = STORED[name]
    result = call(small, rows)
    found = hashlib.sha256(result.basis.tobytes() + b"".join(release.sum.tobytes() for release in result.releases))
    assert found.hexdigest()[:16] == stored


def test_nothing_is_written_for_what_is_in_memory(tmp_path: Path) -> None:
    """Not a file, not a folder, not a link, and not a byte to any file, also by compiled code."""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(Path(__file__).with_name("watched.py")), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [] and list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_the_watch_would_notice(tmp_path: Path) -> None:
    watched = Path(__file__).with_name("watched.py")
    for act, told in (
        ("import tempfile; tempfile.mkdtemp()", "tempfile.mkdtemp"),
        ("import ctypes; ctypes.CDLL(None).mkdir(b'made', 0o700)", "made"),
        ("open(os.devnull, 'w')", "open /dev/null"),
    ):
        program = f"import os, sys; sys.argv = ['', {str(tmp_path)!r}]; import watched\ndef calls():\n    {act}\nwatched.calls = calls; watched.main()"
        environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(watched.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0 and told in done.stdout, done.stdout + done.stderr
    program = f"import sys; sys.argv = ['', {str(tmp_path)!r}]; import watched\nwatched.calls = lambda: open('long', 'wb', buffering=0).write(b'x')\nwatched.main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert "File too large" in done.stderr, done.stderr


def test_a_written_configuration_runs_with_the_arrays_beside_it(small: dict[str, Any], rows: Any, tmp_path: Path) -> None:
    graph = nx.relabel_nodes(PLAIN, {k: f"ward {k}" for k in PLAIN})
    result = undertone.run(power(small, topology=graph), out=tmp_path)
    # Nobody's rows are written, whatever is asked for.
    assert not any((tmp_path / name).exists() for name in ("rows.npy", "topology.gml"))
    with pytest.raises(FileNotFoundError, match="rows.npy"):
        undertone.run(tmp_path / "config.toml")
    np.save(tmp_path / "rows.npy", rows)
    nx.write_gml(graph, tmp_path / "topology.gml")
    again = undertone.run(tmp_path / "config.toml")
    assert again.basis.tobytes() == result.basis.tobytes() and again.peers == result.peers
    # The same file, with what is in memory in place of what it names.
    os.remove(tmp_path / "rows.npy")
    other = undertone.run(tmp_path / "config.toml", data=rows + 1.0)
    assert other.basis.tobytes() != result.basis.tobytes()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (np.zeros(3), r"^data is of shape \(3,\), .* two dimensions.*data\[:, None\]"),
        (np.zeros((2, 2, 2)), r"data\.reshape\(len\(data\), -1\)"),
        (np.ma.masked_greater(np.arange(6.0).reshape(3, 2), 3.0), r"^data\[2, 0\] is masked"),
        (pandas.DataFrame({"age": [1.0, 2.0], "city": ["ulm", "bonn"]}), r"^data holds \S+ in its column 'city'"),
        (FRAME.assign(time=0), r"'time'\] is no part of one: give data\[\['user', 'item', 'rating'\]\]"),
        (pandas.DataFrame({"user": ["a", None], "item": ["x", "y"]}), r"^data\['user'\] has no user in row 1, counted from 0"),
        (pandas.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "rating": [1.0, np.nan]}), r"^data\['rating'\] is nan in row 1"),
        (pandas.DataFrame({"user": ["a", "b", "a"], "item": ["x", "y", "x"]}), r"^data: ratings 0 and 2, counted from 0, are both of item \"x\" by user \"a\""),
        (pandas.DataFrame({"user": [], "item": []}), "give at least one"),
        (scipy.sparse.csr_array(np.array([[1.0, 0.0], [0.0, 0.0]])), r"^data\[1\] is an empty row"),
        (scipy.sparse.csr_array(np.array([[1.0, np.inf]])), r"^data\[0, 1\] is inf"),
        (scipy.sparse.coo_array((np.ones(2), ([0, 0], [1, 1])), shape=(1, 2)), r"^data\[0, 1\] is in the sparse matrix twice"),
    ],
)
def test_what_is_wrong_with_data_is_named_by_its_place(data: Any, says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        undertone.run(INTERACTIONS, data=data)


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (np.array([[0, 1], [1, 2], [2, 2]]), r"^edges\[2\] is a self-loop at 2: leave it out"),
        (np.array([[0, 1], [1, 2], [1, 0]]), r"^edges\[0\] and edges\[2\] are both 0 - 1, .*keep one"),
        (nx.Graph([("a", "b"), ("b", "b")]), r"^edges\[1\] is a self-loop at 'b'"),
        (np.array([[0, 1], [1, -2]]), r"^edges\[1, 1\] is -2: nodes are numbered from 0"),
        (np.array([[0, 1, 2]]), r"found shape \(1, 3\)"),
        (np.array([[0.0, 1.0]]), "whole numbers"),
        ([(0, 1), (2, 3)], r"2 components, the largest with 2 of 4 nodes; add edges between them"),
        ((["1", "01", "b"], [("1", "01"), ("01", "b")]), r"'1' and '01' are named by two spellings of one name"),
    ],
)
def test_what_is_wrong_with_a_graph_is_named_by_its_place(small: dict[str, Any], graph: Any, says: str) -> None:
    del small["peers"]
    with pytest.raises((ValueError, TypeError), match=says):
        undertone.run({**small, "topology": graph})


def test_columns_of_a_table_come_in_any_order() -> None:
    found = undertone.run(INTERACTIONS, data=FRAME[["rating", "item", "user"]])
    assert found.basis.tobytes() == undertone.run(INTERACTIONS, data=FRAME).basis.tobytes()


def test_a_format_of_ones_own_is_refused_where_data_are_in_memory(small: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="format is not that of the data in memory: leave it out"):
        undertone.run(small, set={"data.format": "matrix-csv"})


def test_a_graph_in_memory_is_no_file_of_its_name(small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that happens to be called like the array or the graph is not looked at."""
    monkeypatch.chdir(tmp_path)
    expected = undertone.run(power(small, topology=WARDS)).basis.tobytes()
    for name in ("rows.npy", "topology.gml", "interactions.csv"):
        (tmp_path / name).write_text("nothing of the kind")
    assert undertone.run(power(small, topology=WARDS)).basis.tobytes() == expected
    (tmp_path / "topology.gml").write_bytes((REPOSITORY / "topologies" / "karate.edges").read_bytes())
    assert undertone.run(power(small, topology=WARDS)).basis.tobytes() == expected


def test_edges_that_are_private_are_not_sent_along() -> None:
    """Also where the graph of who sends to whom is read from their file here, and not by the library."""
    friends = REPOSITORY / "topologies" / "karate.edges"
    private = {
        "data": {"path": str(friends), "format": "graph"},
        "peers": {"count": "vertices"},
        "algorithm": {"kind": "power", "rank": 1, "iterations": 2},
        "privacy": {"epsilon": 2.0, "delta": 1e-5, "adjacency": "edge"},
    }
    for topology in (friends, str(friends.with_suffix(".toml"))):
        with pytest.raises(ValueError, match="no epsilon covers it"):
            undertone.run(private, topology=topology)
    assert undertone.run(private, topology=nx.random_regular_graph(4, 34, seed=1)).basis.shape == (34, 1)


def test_what_is_no_experiment_is_told_what_one_is(small: dict[str, Any], rows: Any) -> None:
    with pytest.raises(TypeError, match=r'a dict such as \{"data": \{"path": rows, "row_clip": 5.0\}, .*found ndarray'):
        undertone.run(rows)
    with pytest.raises(TypeError, match=r'^data is a dict such as \{"path": rows, "row_clip": 5.0\}'):
        undertone.run({**small, "data": rows})
    with pytest.raises(ValueError, match="no peer is named 12: the 10 peers are 0, 1, 2, ..., 9"):
        undertone.account(nx.complete_graph(10), 1.0, 1.0, coalition=[12])
    with pytest.raises(ValueError, match="an adjacency matrix; found int"):
        undertone.plan(8, 1.0, 1e-5)
    with pytest.raises(OSError, match="choose another folder"):
        undertone.run(small, out=__file__)


@pytest.mark.filterwarnings("ignore")
def test_other_processes_run_what_is_in_memory(small: dict[str, Any]) -> None:
    """Each has a copy of its own: there is no folder that two could share."""
    joblib = pytest.importorskip("joblib")
    sims = [power(small, topology=graph, seed=seed) for seed, graph in ((1, WARDS), (2, nx.complete_graph(12)))]
    here = [undertone.run(sim) for sim in sims]
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(undertone.run)(sim) for sim in sims)
    for ours, theirs in zip(here, there):
        assert ours.basis.tobytes() == theirs.basis.tobytes() and ours.peers == theirs.peers
