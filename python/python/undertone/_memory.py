"""Arrays, tables and graphs of a call, as the compiled half takes them. They stay in memory: no file is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._counts import matrix
from ._graphs import GraphLike, Peers, peers_of

if TYPE_CHECKING:
    from ._undertone import _Held

#: The columns of a table of interactions; the last may be missing.
_COLUMNS = ("user", "item", "rating")


class Memory:
    """What a call has in memory: ``arguments`` for the compiled half, and the caller's names of peers."""

    def __init__(
        self, data: Any = None, topology: GraphLike | None = None, noise_topology: GraphLike | None = None
    ) -> None:
        self.topology = None if topology is None else peers_of(topology)
        arguments: _Held = {} if data is None else _data(data)
        if self.topology is not None:
            arguments["topology"] = _graph(self.topology)
        if noise_topology is not None:
            arguments["noise_topology"] = _graph(peers_of(noise_topology))
        self.arguments = arguments or None

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


def _graph(graph: Peers) -> tuple[list[str], Any, str | None]:
    return graph.labels(), graph.edges, graph.file


def _data(data: Any) -> _Held:
    """``rows``: an array of numbers; or ``ratings``: the columns of a table of who interacted with what."""
    if hasattr(data, "tocoo"):
        return {"ratings": _of_sparse(data)}
    columns = getattr(data, "columns", None)
    if columns is not None and {"user", "item"} <= set(columns):
        return {"ratings": _of_frame(data, list(columns))}
    return {"rows": matrix("data", data)}


def _of_sparse(matrix: Any) -> tuple[list[str], list[str], Any]:
    """A sparse matrix of users by items: every entry that it holds is a rating."""
    entries = matrix.tocoo()
    if len(entries.shape) != 2:
        raise ValueError(f"data has shape {entries.shape}: a sparse matrix is of users by items, two dimensions")
    silent = np.setdiff1d(np.arange(entries.shape[0]), entries.row)
    if silent.size:
        raise ValueError(f"data[{silent[0]}] is an empty row of the sparse matrix: leave users without interactions out")
    ratings = np.asarray(entries.data, dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(ratings))
    if wrong.size:
        entry = wrong[0]
        raise ValueError(f"data[{entries.row[entry]}, {entries.col[entry]}] is {ratings[entry]}: leave the entry out or fill it in")
    places = entries.row.astype(np.int64) * entries.shape[1] + entries.col
    found, counts = np.unique(places, return_counts=True)
    if found.size < places.size:
        row, column = divmod(int(found[counts > 1][0]), entries.shape[1])
        raise ValueError(f"data[{row}, {column}] is in the sparse matrix twice: call data.sum_duplicates(), or leave one out")
    return list(map(str, entries.row.tolist())), list(map(str, entries.col.tolist())), ratings


def _of_frame(frame: Any, columns: list[Any]) -> tuple[list[str], list[str], Any]:
    """A frame whose columns say who interacted with what."""
    other = [column for column in columns if column not in _COLUMNS]
    if other or len(set(columns)) < len(columns):
        kept = [column for column in _COLUMNS if column in columns]
        raise ValueError(f"data has the columns user and item, so it is a table of ratings, and {other or columns} is no part of one: give data[{kept}]")
    names = []
    for key in _COLUMNS[:2]:
        texts = []
        for place, name in enumerate(frame[key]):
            if name is None or name != name or str(name) == "":
                raise ValueError(f"data[{key!r}] has no {key} in row {place}, counted from 0: leave the row out or fill it in")
            texts.append(str(name))
        names.append(texts)
    if "rating" not in columns:
        return names[0], names[1], None
    ratings = np.asarray(frame["rating"], dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(ratings))
    if wrong.size:
        raise ValueError(f"data['rating'] is {ratings[wrong[0]]} in row {wrong[0]}, counted from 0: leave the row out or fill it in")
    return names[0], names[1], ratings


def lifted(
    sim: Any, data: Any = None, topology: GraphLike | None = None, noise_topology: GraphLike | None = None
) -> tuple[Any, Memory]:
    """An experiment without what is in memory, and that. In a dictionary ``data.path``, ``topology`` and ``noise_topology`` may be arrays,
    frames and graphs themselves; a graph says how many peers there are."""
    if isinstance(sim, (str, os.PathLike)):
        return sim, Memory(data, topology, noise_topology)
    if not isinstance(sim, Mapping):
        raise TypeError(
            'an experiment is the path of a file, or a dict such as {"data": {"path": rows, "row_clip": 5.0}, "privacy": {"epsilon": 1.0}}; '
            f"found {type(sim).__name__}"
        )
    plain = dict(sim)
    table = plain.get("data")
    if table is not None and not isinstance(table, Mapping):
        raise TypeError(f'data is a dict such as {{"path": rows, "row_clip": 5.0}}, whose path may be an array; found {type(table).__name__}')
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
