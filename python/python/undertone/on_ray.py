"""A sweep as tasks of Ray: its runs on whatever machines a cluster has, and the bytes of a sweep on one of them.

A task is a part of the sweep. What it has finished comes back to the caller as a message, so that machines share no folder but the files that
the experiment names; what is in memory is sent along. Every machine needs this very build of the package: runs of another are not taken.
``pip install "./python[ray]"`` brings Ray.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from . import _undertone
from ._campaigns import merged, sweep_shard
from ._counts import count
from ._graphs import GraphLike
from ._memory import lifted
from ._progress import Progress, told
from ._runs import Set, Sim, _given, _path, _set

__all__ = ["sweep"]

#: What merging needs of a part.
_KEPT = ("shard.json", "cells.jsonl")


def sweep(
    sim: Sim,
    *,
    tasks: int | None = None,
    cpus: int = 1,
    set: Set = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    data: Any = None,
    topology: GraphLike | None = None,
    noise_topology: GraphLike | None = None,
) -> Any:
    """:func:`undertone.sweep`, in ``tasks`` tasks of ``cpus`` processors each; four tasks a processor where nothing is said.

    Uses the cluster that ``ray.init(…)`` has joined, or the one named by ``RAY_ADDRESS``, or a local one. Paths are those of the caller, which all
    machines must have. With ``out`` what tasks have finished is kept in ``out/shards``, and a second call with as many tasks goes on from there.
    A task whose process dies is run again by Ray. ``progress`` is told of tasks.

    Returns
    -------
    pandas.DataFrame
        As :func:`undertone.sweep`, to the byte.
    """
    try:
        import ray
    except ImportError as error:
        raise ImportError('a sweep on Ray needs Ray, which is missing: pip install "./python[ray]", or pip install ray') from error
    threads = count("cpus", cpus, 64)
    if not isinstance(sim, Mapping):
        sim = os.path.abspath(sim)
    # What cannot be swept is refused here, before anything is started.
    plain, memory = lifted(sim, data, topology, noise_topology)
    cells = _undertone.cells(_given(plain), _set(set), memory.arguments, _undertone.__file__)
    if not ray.is_initialized():
        ray.init(logging_level="ERROR")
    if tasks is None:
        tasks = 4 * max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
    tasks = min(count("tasks", tasks, 64), cells)
    if tasks < 1 or threads < 1:
        raise ValueError(f"tasks={tasks} of cpus={threads}: at least one of each is needed")

    with ExitStack() as stack:
        callback = stack.enter_context(told(progress, "sweeping on Ray"))
        folder = _path(out)
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="undertone-"))
        kept = [Path(folder) / "shards" / f"{number}-of-{tasks}" for number in range(1, tasks + 1)]
        remote = ray.remote(_part).options(
            name="undertone sweep", num_cpus=threads, max_retries=3, runtime_env={"env_vars": {"RAYON_NUM_THREADS": str(threads)}}
        )
        given = ray.put((sim, set, data, topology, noise_topology, os.getcwd()))
        running = {}
        for number, place in enumerate(kept, 1):
            journal = place / "cells.jsonl"
            running[remote.remote(given, f"{number}/{tasks}", journal.read_bytes() if journal.exists() else b"")] = place
        try:
            while running:
                (ended,), _ = ray.wait(list(running))
                _keep(ray.get(ended), running.pop(ended))
                if callback is not None:
                    callback(tasks - len(running), tasks)
        except ray.exceptions.RayTaskError as error:
            # What the task raised, and not the words of Ray around it.
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        finally:
            for task in running:
                ray.cancel(task, force=True)
        base = None if isinstance(sim, Mapping) else os.path.dirname(sim)
        return merged(kept, folder, base, memory)


def _keep(files: dict[str, bytes], place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        whole = place / f"{name}.new"
        whole.write_bytes(content)
        whole.replace(place / name)


def _part(given: Any, shard: str, journal: bytes) -> dict[str, bytes]:
    """On a worker: runs what is left of a part and gives its files."""
    sim, set, data, topology, noise_topology, directory = given
    # Paths of a dictionary are relative to where the caller is.
    if isinstance(sim, Mapping):
        os.chdir(directory)
    with tempfile.TemporaryDirectory(prefix="undertone-") as folder:
        (Path(folder) / "cells.jsonl").write_bytes(journal)
        sweep_shard(sim, shard, out=folder, set=set, data=data, topology=topology, noise_topology=noise_topology)
        return {name: (Path(folder) / name).read_bytes() for name in _KEPT}
