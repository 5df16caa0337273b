"""A program that fails if anything is written: ``python watched.py folder`` watches the folder, and every file by its size.

Python's own doings are told by its audit hooks, those of compiled code by the kernel: no file may become longer than nothing (RLIMIT_FSIZE), and inotify tells what
is created in the watched folder, be it for a moment.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
import tempfile
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pandas
import scipy.sparse

import undertone

#: What changes a folder, of what Python tells its audit hooks.
CHANGES = {"os.mkdir", "os.symlink", "os.link", "os.rename", "os.remove", "os.rmdir", "os.truncate", "tempfile.mkdtemp", "tempfile.mkstemp"}
#: IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE.
NOTICED = 0x2 | 0x40 | 0x80 | 0x100 | 0x200


def noticed(descriptor: int) -> list[str]:
    """Names that inotify told of."""
    try:
        told = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return []
    names = []
    while told:
        *_, length = struct.unpack_from("iIII", told)
        names.append(told[16 : 16 + length].rstrip(b"\0").decode())
        told = told[16 + length :]
    return names


def calls() -> None:
    """What takes arrays and graphs."""
    rows = np.random.default_rng(1).normal(size=(60, 4))
    graph = nx.relabel_nodes(nx.circulant_graph(12, [1, 2]), {k: ("ward", k) for k in range(12)})
    privacy = {"epsilon": 1.0, "delta": 1e-5, "adjacency": "user", "sensitivity": "unit-row"}
    small: dict[str, Any] = {
        "data": {"path": rows, "row_clip": 3.0},
        "topology": graph,
        "noise_topology": nx.complete_graph(list(graph)),
        "algorithm": {"kind": "power", "rank": 2, "iterations": 2},
        "privacy": privacy,
    }
    frame = pandas.DataFrame({"user": [0, 0, 1, 2, 3], "item": list("abaab"), "rating": [1.0, 2.0, 3.0, 4.0, 5.0]})
    interactions = {
        "data": {"degree_floor": 1},
        "algorithm": {"kind": "covariance", "rank": 1, "iterations": 1},
        "privacy": {"epsilon": 1.0, "delta": 1e-5, "adjacency": "interaction"},
        "peers": {"count": 4},
        "topology": {"generator": "complete"},
    }
    undertone.plan(graph, epsilon=1.0, delta=1e-5).account(coalition=[("ward", 3)])
    undertone.run(small)
    undertone.run({**small, "compare": {"algorithm": {"kind": "covariance", "iterations": 1}, "averaging": {"scheme": "tree"}}})
    undertone.run(interactions, data=frame)
    undertone.run(interactions, data=scipy.sparse.csr_array(np.ones((4, 3))))
    undertone.privacy(small, coalition=[("ward", 3)])
    undertone.verify(small, runs=2)
    undertone.verify(rows, graph=graph, algorithm={"kind": "krylov", "rank": 1, "iterations": 1}, epsilon=1.0, delta=1e-5, row_clip=2.5, runs=2)
    undertone.audit(small, trials=100)
    undertone.DecentralizedPCA(2, data_norm=3.0, topology=graph, random_state=1).fit(rows)
    for broken in ({**small, "privacy": {**privacy, "epsilon": -1.0}}, {**small, "topology": nx.Graph([(0, 1), (2, 3)])}):
        try:
            undertone.run(broken)
        except ValueError:
            continue
        raise AssertionError("an experiment that is none was run")


def main() -> None:
    folder = sys.argv[1]
    # What is imported late may write, too, and Python tries its folder for temporary files out.
    __import__("undertone.estimators")
    tempfile.gettempdir()
    changes: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if opened or event in CHANGES:
            changes.append(f"{event} {arguments[0]}")

    kernel = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    descriptor = -1
    if kernel is not None:
        descriptor = kernel.inotify_init1(os.O_NONBLOCK)
        assert descriptor >= 0 and kernel.inotify_add_watch(descriptor, os.fsencode(folder), NOTICED) >= 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    sys.addaudithook(hook)
    try:
        calls()
    finally:
        if descriptor >= 0:
            changes += noticed(descriptor)
        print("\n".join(changes))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
