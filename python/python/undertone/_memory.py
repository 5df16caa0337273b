"""Arrays, tables and graphs of a call, handed to the library as files that nobody else sees.

Rows are private: where the system allows it they are held in anonymous memory, which no name leads to and no disk sees. Elsewhere they are
in a folder that only its owner may read, for as long as the call takes. Names inside the folder are always the same, so that equal calls
have equal configurations.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import tempfile
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from ._counts import finite
from ._graphs import GraphLike, Peers, peers_of

#: The columns of a table of interactions.
_TRIPLES = (("user", "item"), ("user", "item", "rating"))


class Memory:
    """A context in which ``arguments`` says where everything is; everything is gone after it."""

    def __init__(
        self, data: Any = None, topology: GraphLike | None = None, noise_topology: GraphLike | None = None
    ) -> None:
        self.topology = None if topology is None else peers_of(topology)
        self.noise_topology = None if noise_topology is None else peers_of(noise_topology)
        self._data = data
        self._folder: str | None = None
        self._held: list[int] = []
        self.arguments: dict[str, str] | None = None

    def __enter__(self) -> Memory:
        if self._data is None and self.topology is None and self.noise_topology is None:
            return self
        self._folder = tempfile.mkdtemp(prefix="undertone-")
        self.arguments = {"folder": self._folder}
        try:
            if self._data is not None:
                self._write_data()
            for key, graph in (("topology", self.topology), ("noise_topology", self.noise_topology)):
                if graph is not None:
                    self._write_graph(key, graph)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Forgets everything."""
        for descriptor in self._held:
            os.close(descriptor)
        self._held.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def names(self) -> Mapping[str, Any]:
        """The caller's name of every peer, by the library's."""
        graph = self.topology
        return {} if graph is None else dict(zip(graph.labels(), graph.names))

    def label(self, name: Any) -> str:
        """The library's name of a peer."""
        graph = self.topology
        return str(name) if graph is None else graph.labels()[graph.number(name)]

    def labels(self, names: Any) -> list[str]:
        """The library's names of some peers."""
        if isinstance(names, (str, bytes)):
            raise TypeError(f"a coalition is a list of peers, found the text {names!r}")
        return [self.label(name) for name in names]

    def _write_data(self) -> None:
        assert self.arguments is not None
        written = _interactions(self._data)
        if written is not None:
            self.arguments.update(data="interactions.csv", format="csv-triples")
            self._write("interactions.csv", written)
            return
        rows = np.asarray(self._data)
        if rows.ndim != 2:
            raise ValueError(f"data are rows of numbers, an array of two dimensions; found {rows.ndim}")
        if rows.dtype.kind not in "fiub":
            raise TypeError(f"data are numbers, found {rows.dtype}")
        finite("data", rows)
        self.arguments.update(data="rows.npy", format="npy")
        self._write("rows.npy", _Npy(rows))

    def _write_graph(self, key: str, graph: Peers) -> None:
        assert self.arguments is not None and self._folder is not None
        name = f"{key.replace('_', '-')}.gml"
        self.arguments[key] = name
        with open(os.path.join(self._folder, name), "w", encoding="utf-8") as file:
            file.write(graph.gml())

    def _write(self, name: str, content: Any) -> None:
        assert self._folder is not None
        path = os.path.join(self._folder, name)
        if hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd"):
            descriptor = os.memfd_create(f"undertone-{name}")
            self._held.append(descriptor)
            os.symlink(f"/proc/self/fd/{descriptor}", path)
        else:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._held.append(descriptor)
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            content.write(file)


class _Npy:
    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def write(self, file: Any) -> None:
        np.lib.format.write_array(file, np.asarray(self.rows, dtype=np.float64), allow_pickle=False)


class _Triples:
    def __init__(self, header: tuple[str, ...], columns: list[Any]) -> None:
        self.header, self.columns = header, columns

    def write(self, file: Any) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        text.write(",".join(self.header) + "\n")
        writer.writerows(zip(*self.columns))
        text.flush()
        text.detach()


def _interactions(data: Any) -> _Triples | None:
    """Who interacted with what: a frame with these columns, or a sparse matrix of users by items."""
    if hasattr(data, "tocoo"):
        entries = data.tocoo()
        silent = np.setdiff1d(np.arange(entries.shape[0]), entries.row)
        if silent.size:
            raise ValueError(f"row {silent[0]} of the sparse matrix is empty: leave users without interactions out")
        ratings = entries.data.astype(np.float64).tolist()
        return _Triples(_TRIPLES[1], [list(map(str, entries.row)), list(map(str, entries.col)), ratings])
    columns = getattr(data, "columns", None)
    if columns is None:
        return None
    header = tuple(columns)
    if header not in _TRIPLES:
        return None
    texts = [list(map(str, data["user"])), list(map(str, data["item"]))]
    if len(header) == 3:
        texts.append(np.asarray(data["rating"], dtype=np.float64).tolist())
    return _Triples(header, texts)


def lifted(
    sim: Any, data: Any = None, topology: GraphLike | None = None, noise_topology: GraphLike | None = None
) -> tuple[Any, Memory]:
    """An experiment without what is in memory, and that. In a dictionary ``data.path``, ``topology`` and ``noise_topology`` may be arrays,
    frames and graphs themselves; a graph says how many peers there are."""
    if not isinstance(sim, Mapping):
        return sim, Memory(data, topology, noise_topology)
    plain = dict(sim)
    table = plain.get("data")
    if data is None and isinstance(table, Mapping):
        path = table.get("path")
        if path is not None and not isinstance(path, (str, os.PathLike)):
            data = path
            plain["data"] = {key: value for key, value in table.items() if key != "path"}
    graphs = {"topology": topology, "noise_topology": noise_topology}
    for key, given in graphs.items():
        value = plain.get(key)
        if value is not None and not isinstance(value, Mapping):
            if isinstance(value, (str, os.PathLike)):
                raise TypeError(f'{key} is a table such as {{"file": {os.fspath(value)!r}}}, a graph or an array of edges')
            del plain[key]
            if given is None:
                graphs[key] = value
    memory = Memory(data, graphs["topology"], graphs["noise_topology"])
    if memory.topology is not None:
        # Node k is peer k, unless the dictionary says otherwise.
        plain.setdefault("peers", {"count": len(memory.topology)})
    return plain, memory
