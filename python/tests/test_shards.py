"""Sweeps in parts, and as tasks of a local Ray of two workers: the bytes of the whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from conftest import REPOSITORY

import undertone

pytestmark = pytest.mark.filterwarnings("ignore")

SIM = "sims/fig1-small.toml"
SMALL = {"sweep.seeds": 3, "sweep.over": {"privacy.epsilon": [2, 50]}, "sweep.coincide": [], "data.items": 20}


def written(folder: Path) -> dict[str, bytes]:
    """What a sweep concluded. The journal has its lines in the order in which cells were finished."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    files["cells.jsonl"] = b"".join(sorted(files["cells.jsonl"].splitlines(keepends=True)))
    return files


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The unsharded sweep."""
    folder = tmp_path_factory.mktemp("whole")
    undertone.sweep(REPOSITORY / SIM, set=SMALL, out=folder)
    files = written(folder)
    assert set(files) == {"cells.jsonl", "config.toml", "curves.csv", "report.html", "summary.json", "sweep.csv"}
    return files


def test_parts_make_the_bytes_of_the_whole(whole: dict[str, bytes], tmp_path: Path) -> None:
    parts = [tmp_path / f"part-{k}" for k in (1, 2, 3, 4)]
    for k, part in enumerate(parts, 1):
        undertone.sweep_shard(SIM, f"{k}/4", set=SMALL, out=part)
    with pytest.raises(ValueError, match="shard 2/4 was not given"):
        undertone.sweep_merge([parts[0], *parts[2:]], out=tmp_path / "some")
    assert not (tmp_path / "some").exists()
    merged = undertone.sweep_merge(parts, out=tmp_path / "merged")
    assert written(tmp_path / "merged") == whole
    assert merged.attrs["holds"] and len(merged.attrs["cells"]["seed"]) == 30
    # One number of one cell is another: the comparison can fail.
    journal = parts[2] / "cells.jsonl"
    lines = journal.read_text().splitlines()
    first = json.loads(lines[0])
    first["measures"][0] = str(float(first["measures"][0]) * (1 + 1e-15) + 1e-16)
    journal.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    undertone.sweep_merge(parts, out=tmp_path / "other")
    assert written(tmp_path / "other") != whole


def test_runs_of_another_build_are_not_taken(tmp_path: Path) -> None:
    """The program is the compiled half of this package, not the interpreter."""
    from undertone import _undertone

    other = tmp_path / "other-build"
    other.write_bytes(b"another")
    _undertone.sweep(SIM, SMALL, None, tmp_path / "part", "1/1", str(other), None)
    with pytest.raises(ValueError, match="30 of 30 cells are not finished"):
        undertone.sweep_merge([tmp_path / "part"])
    undertone.sweep_shard(SIM, "1/1", set=SMALL, out=tmp_path / "part")
    assert len(undertone.sweep_merge([tmp_path / "part"])) > 0


def test_parts_of_what_is_in_memory(small: dict[str, Any], tmp_path: Path) -> None:
    graph = nx.relabel_nodes(nx.complete_graph(12), {k: ("ward", k) for k in range(12)})
    sim = {**small, "topology": graph, "sweep": {"seeds": 2, "over": {"privacy.epsilon": [1, 5]}, "methods": [{"name": "ours", "set": {}}]}}
    undertone.sweep(sim, out=tmp_path / "whole")
    parts = [tmp_path / "1", tmp_path / "2"]
    for k, part in enumerate(parts, 1):
        undertone.sweep_shard(sim, f"{k}/2", out=part)
    undertone.sweep_merge(parts, out=tmp_path / "merged", data=small["data"]["path"], topology=graph)
    assert written(tmp_path / "merged") == written(tmp_path / "whole")
    # Other data: what was computed from the first is not taken.
    with pytest.raises(ValueError, match="4 of 4 cells are not finished"):
        undertone.sweep_merge(parts, data=np.asarray(small["data"]["path"]) + 1.0, topology=graph)


def test_parts_that_mean_nothing_say_what_to_change(tmp_path: Path) -> None:
    for shard in ("0/4", "5/4", "1", ""):
        with pytest.raises(ValueError, match="such as 2/4"):
            undertone.sweep_shard(SIM, shard, out=tmp_path)
    with pytest.raises(ValueError, match="has no \\[sweep\\]"):
        undertone.sweep_shard("sims/quickstart.toml", "1/2", out=tmp_path)
    with pytest.raises(ValueError, match="give the folder of every shard"):
        undertone.sweep_merge([])
    with pytest.raises(ValueError, match="is no shard's"):
        undertone.sweep_merge([tmp_path])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A local Ray of two workers."""
    try:
        import ray
    except ImportError:
        pytest.skip('SKIPPED: sweeps as tasks of Ray are not tested without Ray: pip install "./python[ray]"')
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=80 << 20, logging_level="ERROR", log_to_driver=False)
    yield ray
    ray.shutdown()


def test_tasks_of_ray_make_the_bytes_of_the_whole(cluster: Any, whole: dict[str, bytes], tmp_path: Path) -> None:
    from undertone import on_ray

    told: list[tuple[int, int]] = []
    curves = on_ray.sweep(SIM, tasks=5, set=SMALL, out=tmp_path / "ray", progress=lambda *now: told.append(now))
    assert written(tmp_path / "ray") == whole
    assert told == [(k, 5) for k in range(1, 6)]
    assert curves.equals(undertone.sweep(SIM, set=SMALL))
    # All of it is there: a second call computes nothing anew, and more tasks than runs are as many tasks.
    journals = sorted((tmp_path / "ray" / "shards").glob("*/cells.jsonl"))
    before = [path.read_bytes() for path in journals]
    on_ray.sweep(SIM, tasks=5, set=SMALL, out=tmp_path / "ray")
    assert [path.read_bytes() for path in journals] == before and written(tmp_path / "ray") == whole
    on_ray.sweep(SIM, tasks=100, set={**SMALL, "sweep.seeds": 2, "sweep.over": {"privacy.epsilon": [2]}}, out=tmp_path / "few")
    assert len(list((tmp_path / "few" / "shards").iterdir())) == 10


def tasks_of_ray() -> list[int]:
    """Processes that run a part of a sweep now: Ray names them so."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if b"ray::undertone sweep" in (process / "cmdline").read_bytes():
                    found.append(int(process.name))
            except OSError:
                continue
    return found


def test_a_task_whose_process_is_killed_is_run_again(cluster: Any, tmp_path: Path) -> None:
    from undertone import on_ray

    slow = {**SMALL, "sweep.seeds": 12, "data.items": 60}
    killed: list[int] = []
    stop = threading.Event()

    def kill() -> None:
        # A stopped process that still bears the name has not finished its part. Which process Ray gives it to afterwards is Ray's affair.
        while not stop.is_set() and not killed:
            for process in tasks_of_ray():
                time.sleep(0.1)
                os.kill(process, signal.SIGSTOP)
                if process in tasks_of_ray():
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)
                    break
                os.kill(process, signal.SIGCONT)
            time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        on_ray.sweep(SIM, tasks=4, set=slow, out=tmp_path / "ray")
    finally:
        stop.set()
        thread.join()
    assert len(killed) == 1, "no part was being computed when it was looked for"
    undertone.sweep(SIM, set=slow, out=tmp_path / "whole")
    assert written(tmp_path / "ray") == written(tmp_path / "whole")


def test_tasks_of_ray_know_what_is_in_memory(cluster: Any, small: dict[str, Any], tmp_path: Path) -> None:
    from undertone import on_ray

    graph = nx.relabel_nodes(nx.complete_graph(12), {k: ("ward", k) for k in range(12)})
    sim = {**small, "topology": graph, "sweep": {"seeds": 2, "over": {"privacy.epsilon": [1, 5]}, "methods": [{"name": "ours", "set": {}}]}}
    on_ray.sweep(sim, tasks=2, out=tmp_path / "ray")
    undertone.sweep(sim, out=tmp_path / "whole")
    assert written(tmp_path / "ray") == written(tmp_path / "whole")


def test_what_a_task_refuses_is_refused_in_its_own_words(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from undertone import on_ray

    with pytest.raises(ValueError, match="has no \\[sweep\\]"):
        on_ray.sweep("sims/quickstart.toml")
    with pytest.raises(ValueError, match="at least one of each"):
        on_ray.sweep(SIM, tasks=0, set=SMALL)

    def refuses(given: Any, shard: str, journal: bytes) -> dict[str, bytes]:
        if shard == "1/3":
            raise FileNotFoundError("the rows are elsewhere")
        time.sleep(30)
        return {}

    monkeypatch.setattr(on_ray, "_part", refuses)
    since = time.perf_counter()
    with pytest.raises(FileNotFoundError) as refused:
        on_ray.sweep(SIM, tasks=3, set=SMALL)
    # Not what Ray makes of it, and the others are not waited for.
    assert str(refused.value) == "the rows are elsewhere" and type(refused.value) is FileNotFoundError
    assert time.perf_counter() - since < 20


def test_the_script_for_clusters_runs(cluster: Any, whole: dict[str, bytes], tmp_path: Path) -> None:
    sets = [word for change in ("sweep.seeds=3", "sweep.over={'privacy.epsilon'=[2,50]}", "sweep.coincide=[]", "data.items=20") for word in ("--set", change)]
    address = cluster.get_runtime_context().gcs_address
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "sims/cluster/ray_sweep.py", SIM, str(tmp_path / "out"), "--tasks", "3", *sets],
        capture_output=True, text=True, timeout=300, env={**os.environ, "RAY_ADDRESS": address},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 3 tasks have ended" in done.stdout
    assert written(tmp_path / "out") == whole
