"""Writes the files of `graphs/` with the libraries that people use.

Run in this folder: pip install networkx igraph rustworkx scipy pandas polars && python write_graphs.py
"""

import csv
import json
from pathlib import Path

import igraph
import networkx as nx
import pandas as pd
import polars as pl
import rustworkx as rx
import scipy.sparse

OUT = Path(__file__).parent / "graphs"

petersen = nx.petersen_graph()
families = nx.florentine_families_graph()
for place, (u, v) in enumerate(sorted(families.edges)):
    families[u][v].update(weight=1 + place / 4, kind="marriage")
weighted = nx.Graph()
weighted.add_weighted_edges_from((u, v, 0.5 + u) for u, v in petersen.edges)

# networkx
nx.write_edgelist(petersen, OUT / "networkx.edgelist")
nx.write_edgelist(families, OUT / "networkx_attributes.edges", delimiter=",")
nx.write_weighted_edgelist(weighted, OUT / "networkx_weighted.txt")
nx.write_adjlist(petersen, OUT / "networkx_adjlist.txt")
nx.write_gexf(families, OUT / "networkx.gexf")
for key in ["links", "edges"]:
    data = nx.node_link_data(families, edges=key)
    (OUT / f"networkx_{key}.json").write_text(json.dumps(data, indent=1))
one_way = nx.node_link_data(nx.DiGraph([(0, 1), (1, 0), (1, 2)]), edges="links")
(OUT / "networkx_one_way.json").write_text(json.dumps(one_way, indent=1))

# igraph and rustworkx
of_igraph = igraph.Graph.from_networkx(families)
of_igraph.vs["name"] = of_igraph.vs["_nx_name"]
del of_igraph.vs["_nx_name"]
of_igraph.write_graphml(str(OUT / "igraph.graphml"))
of_igraph.write_ncol(str(OUT / "igraph_ncol.txt"), names="name", weights="weight")
of_igraph.write_edgelist(str(OUT / "igraph.edges"))
rx.node_link_json(rx.generators.generalized_petersen_graph(5, 2), str(OUT / "rustworkx.json"))

# pandas and polars
frame = nx.to_pandas_edgelist(families)
frame.to_csv(OUT / "pandas.csv", index=False)
frame.to_csv(OUT / "pandas_index.csv")
frame.to_csv(OUT / "pandas_excel.csv", index=False, encoding="utf-8-sig", lineterminator="\r\n")
frame.rename(columns={"source": "person", "target": "friend"}).assign(
    person=lambda f: f.person.astype("category").cat.codes, friend=lambda f: f.friend.astype("category").cat.codes
).to_csv(OUT / "pandas_unknown_names.csv", index=False)
quoted = [(f"{u}, Firenze", f"{v}, Firenze", d["weight"]) for u, v, d in families.edges(data=True)]
pl.DataFrame(quoted, schema=["from", "to", "weight"], orient="row").write_csv(
    OUT / "polars_semicolons.csv", separator=";", quote_style="non_numeric"
)
pl.DataFrame([(u, v) for u, v in petersen.edges], schema=["src", "dst"], orient="row").write_csv(
    OUT / "polars.tsv", separator="\t"
)

# scipy
scipy.sparse.save_npz(OUT / "scipy_csr.npz", nx.to_scipy_sparse_array(weighted, format="csr"))
scipy.sparse.save_npz(OUT / "scipy_coo.npz", nx.to_scipy_sparse_array(petersen, format="coo"), compressed=False)
one_way = scipy.sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 0, 0]])
scipy.sparse.save_npz(OUT / "scipy_one_way.npz", one_way)
(OUT / "scipy_truncated.npz").write_bytes((OUT / "scipy_csr.npz").read_bytes()[:400])

# As SNAP, KONECT and decentralizepy lay out their files.
both = sorted([(u, v) for u, v in petersen.edges] + [(v, u) for u, v in petersen.edges])
lines = ["# Undirected graph: ../../data/output/petersen.txt", "# Nodes: 10 Edges: 30", "# FromNodeId\tToNodeId"]
(OUT / "snap.txt").write_bytes("\r\n".join(lines + [f"{u}\t{v}" for u, v in both] + ["", ""]).encode())
with open(OUT / "konect.txt", "w") as file:
    file.write("% sym positive\n% 15 10 10\n")
    for place, (u, v) in enumerate(petersen.edges):
        file.write(f"{u + 1} {v + 1} {1 + place % 3} {1_100_000_000 + place}\n")
with open(OUT / "decentralizepy.edges", "w") as file:
    file.write("10\n")
    for u in petersen:
        for v in petersen[u]:
            file.write(f"{u} {v}\n")
with open(OUT / "decentralizepy_cut.edges", "w") as file:
    file.write("8\n")
    for u, v in both:
        file.write(f"{u} {v}\n")
with open(OUT / "matrix_market.edges", "w") as file:
    file.write("%%MatrixMarket matrix coordinate pattern symmetric\n10 10 15\n")
    csv.writer(file, delimiter=" ", lineterminator="\n").writerows((v + 1, u + 1) for u, v in petersen.edges)
