"""Graphs of any kind as peers, numbered from 0, and edges between them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._undertone import read_graph

#: A graph of networkx, igraph or rustworkx; the path of a graph file; an array of edges of shape (m, 2) over nodes numbered from 0; the number of
#: nodes and such an array; a list of names and a list of pairs of them; or a symmetric adjacency matrix, of scipy or of shape (n, n) with n > 2.
GraphLike = Union[Any, ArrayLike, tuple[int, ArrayLike]]


@dataclass(frozen=True)
class Peers:
    """The nodes of a graph by the caller's names, and the edges by number."""

    names: Sequence[Hashable]
    edges: NDArray[np.uint32]
    graph: Any = None
    index: Mapping[Hashable, int] = field(default_factory=dict)
    #: The file that it was read from: whose edges are to be kept private must not be sent along.
    file: str | None = None

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: Hashable) -> int:
        """The number of a peer."""
        found = self.index.get(_plain(name)) if self.index else _counted(name, len(self))
        if found is None:
            shown = ", ".join(map(repr, self.names[:3])) + (f", ..., {self.names[-1]!r}" if len(self) > 3 else "")
            raise ValueError(f"no peer is named {_plain(name)!r}: the {len(self)} peers are {shown}")
        return found

    def numbers(self, names: Iterable[Hashable]) -> list[int]:
        """The numbers of some peers, in the order given."""
        if isinstance(names, (str, bytes)):
            raise TypeError(f"a coalition is a list of peers, found the text {names!r}")
        numbers: dict[int, Hashable] = {}
        for name in names:
            number = self.number(name)
            if number in numbers:
                raise ValueError(f"peer {_plain(name)!r} is named twice; name every peer once")
            numbers[number] = name
        return list(numbers)

    def labels(self) -> list[str]:
        """A text for every peer, no two the same: what the library calls it."""
        texts = [str(name) for name in self.names]
        usable = all(text.isprintable() and text.strip() == text and 0 < len(text) <= 200 for text in texts)
        return texts if usable and len(set(texts)) == len(texts) else [str(k) for k in range(len(texts))]


def peers_of(graph: GraphLike) -> Peers:
    """The peers of any graph that people have. Loops and repeated edges are refused by the caller's names."""
    found = _read(graph)
    loops = np.flatnonzero(found.edges[:, 0] == found.edges[:, 1])
    if loops.size:
        place = int(loops[0])
        raise ValueError(f"edges[{place}] is a self-loop at {_shown(found, place)[0]}: leave it out, a peer always keeps its own value")
    ends = np.sort(found.edges, axis=1).astype(np.int64)
    _, first, counts = np.unique(ends[:, 0] << 32 | ends[:, 1], return_index=True, return_counts=True)
    if (counts > 1).any():
        place = int(first[counts > 1].min())
        again = int(np.flatnonzero((ends == ends[place]).all(axis=1))[1])
        u, v = _shown(found, place)
        raise ValueError(f"edges[{place}] and edges[{again}] are both {u} - {v}, which occurs more than once: keep one")
    return found


def _shown(peers: Peers, place: int) -> tuple[str, str]:
    u, v = peers.edges[place]
    return repr(peers.names[u]), repr(peers.names[v])


def _read(graph: GraphLike) -> Peers:
    if hasattr(graph, "nodes") and hasattr(graph, "edges") and hasattr(graph, "is_directed"):
        return _of_networkx(graph)
    if hasattr(graph, "get_edgelist") and hasattr(graph, "vs"):
        return _of_igraph(graph)
    if hasattr(graph, "edge_list") and hasattr(graph, "node_indices"):
        return _of_rustworkx(graph)
    if isinstance(graph, (str, os.PathLike)):
        return _of_file(graph)
    if hasattr(graph, "tocoo"):
        return _of_adjacency(graph)
    nodes: int | None = None
    if isinstance(graph, tuple) and len(graph) == 2 and isinstance(graph[0], (list, tuple)) and isinstance(graph[1], (list, tuple)):
        named = _of_names(*graph)
        if named is not None:
            return named
    if isinstance(graph, tuple) and len(graph) == 2 and isinstance(graph[0], (int, np.integer)):
        if np.ndim(graph[1]) != 0:
            nodes, graph = int(graph[0]), graph[1]
    elif isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape[0] == graph.shape[1] > 2:
        return _of_dense(graph)
    edges = _pairs(graph)
    least = int(edges.max()) + 1 if len(edges) else 0
    if nodes is None:
        nodes = least
    if nodes < 1 or nodes < least:
        raise ValueError(f"a graph of {nodes} nodes whose edges name node {least - 1}: give (nodes, edges) with at least {max(least, 1)}")
    return Peers(range(nodes), edges)


def _of_networkx(graph: Any) -> Peers:
    if graph.is_directed():
        raise ValueError("noise and messages go both ways: give an undirected graph, such as graph.to_undirected()")
    names = [_plain(name) for name in graph.nodes]
    index = {name: number for number, name in enumerate(names)}
    pairs = [(index[u], index[v]) for u, v in graph.edges()]
    edges = np.array(pairs, dtype=np.uint32).reshape(-1, 2)
    return Peers(names, edges, graph, index)


def _of_igraph(graph: Any) -> Peers:
    if graph.is_directed():
        raise ValueError("noise and messages go both ways: give an undirected graph, such as graph.as_undirected()")
    edges = np.array(graph.get_edgelist(), dtype=np.uint32).reshape(-1, 2)
    if "name" not in graph.vs.attributes():
        return Peers(range(graph.vcount()), edges)
    return _named([_plain(name) for name in graph.vs["name"]], edges)


def _of_rustworkx(graph: Any) -> Peers:
    if hasattr(graph, "in_degree"):
        raise ValueError("noise and messages go both ways: give an undirected graph, such as graph.to_undirected()")
    # Indices of nodes that were removed are left out.
    nodes = list(graph.node_indices())
    index = {node: number for number, node in enumerate(nodes)}
    pairs = [(index[u], index[v]) for u, v in graph.edge_list()]
    edges = np.array(pairs, dtype=np.uint32).reshape(-1, 2)
    return Peers(range(len(nodes)), edges) if nodes == list(range(len(nodes))) else _named(nodes, edges)


def _of_file(path: str | os.PathLike[str]) -> Peers:
    names, nodes, edges, left_out = read_graph(os.fspath(path))
    if left_out is not None:
        warnings.warn(f"{os.fspath(path)}: not part of the graph: {left_out}", stacklevel=5)
    found = Peers(range(nodes), edges) if names is None else _named(names, edges)
    return replace(found, file=os.path.abspath(path))


def _named(names: Sequence[Hashable], edges: NDArray[np.uint32]) -> Peers:
    index = {name: number for number, name in enumerate(names)}
    if len(index) < len(names):
        raise ValueError("two nodes have one name")
    return Peers(names, edges, None, index)


def _of_dense(matrix: NDArray[Any]) -> Peers:
    from_, to = np.nonzero(matrix)
    one_way = np.flatnonzero(matrix[to, from_] == 0)
    if len(one_way):
        u, v = int(from_[one_way[0]]), int(to[one_way[0]])
        raise ValueError(f"an adjacency matrix is symmetric, and entry {(u, v)} has no entry {(v, u)}")
    kept = from_ <= to
    return Peers(range(len(matrix)), np.column_stack([from_[kept], to[kept]]).astype(np.uint32))


def _of_names(nodes: Sequence[Any], edges: Sequence[Any]) -> Peers | None:
    """Names and pairs of names; ``None`` of two pairs of numbers, which are edges."""
    if not any(isinstance(name, str) for name in nodes):
        return None
    names = [_plain(name) for name in nodes]
    index = {name: number for number, name in enumerate(names)}
    if len(index) < len(names):
        raise ValueError("two nodes have one name")
    pairs = []
    for edge in edges:
        if isinstance(edge, str) or len(edge) != 2:
            raise ValueError(f"an edge is a pair of nodes, found {edge!r}")
        unknown = next((end for end in edge if _plain(end) not in index), None)
        if unknown is not None:
            raise ValueError(f"an edge names {unknown!r}, which is no node")
        pairs.append([index[_plain(end)] for end in edge])
    return Peers(names, np.array(pairs, dtype=np.uint32).reshape(-1, 2), None, index)


def _of_adjacency(matrix: Any) -> Peers:
    entries = matrix.tocoo()
    if entries.shape[0] != entries.shape[1]:
        raise ValueError(f"an adjacency matrix is square, found {entries.shape}")
    rows, columns = entries.row[entries.data != 0], entries.col[entries.data != 0]
    pairs = set(zip(rows.tolist(), columns.tolist()))
    one_way = next((pair for pair in pairs if pair[::-1] not in pairs), None)
    if one_way is not None:
        raise ValueError(f"an adjacency matrix is symmetric, and entry {one_way} has no entry {one_way[::-1]}")
    kept = sorted(pair for pair in pairs if pair[0] <= pair[1])
    return Peers(range(entries.shape[0]), np.array(kept, dtype=np.uint32).reshape(-1, 2))


def _pairs(edges: Any) -> NDArray[np.uint32]:
    array = np.asarray(edges)
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, 2), dtype=np.uint32)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"a graph is one of networkx, igraph or rustworkx, a path, an array of edges of shape (m, 2), (nodes, edges) or an adjacency matrix; found {_described(edges, array)}"
        )
    if array.dtype.kind not in "iu":
        raise TypeError(f"the ends of edges are whole numbers from 0, found {array.dtype}")
    wrong = np.argwhere((array < 0) | (array >= 2**32 - 1))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(f"edges[{row}, {column}] is {array[row, column]}: nodes are numbered from 0, below 2**32 - 1")
    return np.ascontiguousarray(array, dtype=np.uint32)


def _described(edges: Any, array: NDArray[Any]) -> str:
    return f"shape {array.shape}" if array.ndim else f"{type(edges).__name__}"


def _plain(name: Hashable) -> Hashable:
    # numpy's numbers hash as Python's; their text does not matter.
    return name.item() if isinstance(name, np.generic) else name


def _counted(name: Hashable, count: int) -> int | None:
    plain = _plain(name)
    if isinstance(plain, int) and not isinstance(plain, bool) and 0 <= plain < count:
        return plain
    return None
