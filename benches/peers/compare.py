"""Undertone beside what people use today: the same task, in one run, as ratios. `benches/peers/run` makes the environment and calls this."""

import gzip
import importlib.metadata
import itertools
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
import warnings

import gossip_processes
import networkx
import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.sparse.csgraph
import scipy.stats
from sklearn.utils.extmath import randomized_svd

import undertone

TURNS = 5

#: Seconds that one release of somebody else's library may take.
LIMIT = 120


def version(name):
    return f"{name} {importlib.metadata.version(name)}"


def median_seconds(work, turns=TURNS):
    times = []
    for _ in range(turns):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def heading(title, *cells):
    print(f"\n### {title}\n", flush=True)
    row(*cells)
    row(*["---"] * len(cells))


def digits():
    with gzip.open("sims/data/digits/digits.csv.gz", "rt") as file:
        rows = np.loadtxt(file, delimiter=",")
    return rows[:, :-1] / 16.0


def captured(data, components):
    """How much of the variance that the best components of this number capture."""
    return part(data - data.mean(axis=0), np.asarray(components).T)


def part(data, basis):
    """How much the columns of a basis hold of the squares that the best of their number hold."""
    basis, _ = np.linalg.qr(basis)
    best = np.linalg.svd(data, compute_uv=False)[: basis.shape[1]]
    return float(np.sum((data @ basis) ** 2) / np.sum(best**2))


def within(seconds, work):
    """What this gives, or a TimeoutError. For work that goes back to Python now and then."""

    fired = []

    def stop(*_):
        fired.append(True)
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return work()
    except Exception as error:
        if fired:  # Whatever the library made of it.
            raise TimeoutError(f"no result within {seconds} s") from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def gaussian_sigma(epsilon, delta, sensitivity):
    """The least standard deviation of Gaussian noise for a promise (Balle and Wang 2018, theorem 8)."""

    def excess(sigma):
        ratio = sensitivity / sigma
        upper, lower = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
        return scipy.stats.norm.cdf(upper) - math.exp(epsilon) * scipy.stats.norm.cdf(lower) - delta

    return scipy.optimize.brentq(excess, 1e-3 * sensitivity, 1e4 * sensitivity, xtol=1e-12)


def curator(data, rank, norm, epsilon, delta, seed):
    """What a trusted curator releases who holds all rows: the sum of their squares with Gaussian noise (Dwork, Talwar, Thakurta, Zhang 2014).

    A row of length at most 1 that is there or not moves the sum of x xᵀ by at most 1 in the Frobenius norm, in which an entry off the
    diagonal counts twice: its noise is smaller by √2.
    """
    rows = data - data.mean(axis=0)
    rows = rows * np.minimum(1, norm / np.linalg.norm(rows, axis=1))[:, None] / norm
    noise = np.random.default_rng(seed).normal(size=(rows.shape[1],) * 2) * gaussian_sigma(epsilon, delta, 1.0)
    noise = np.diag(np.diag(noise)) + (np.triu(noise, 1) + np.triu(noise, 1).T) / math.sqrt(2)
    return np.linalg.eigh(rows.T @ rows + noise)[1][:, ::-1][:, :rank].T


def script():
    """The power method of 610 peers with shared noise and gossip, as a NumPy and SciPy script of some thirty lines."""
    setting = {
        "algorithm.kind": "power", "algorithm.iterations": 3, "algorithm.rank": 8, "averaging.scheme": "linear",
        "topology.degree": 10, "engine.kind": "lockstep",
    }
    ours, sends, result = [], None, None
    for _ in range(TURNS):
        result = undertone.run("sims/quickstart.toml", set=setting)
        ours.append(result.summary["timing"]["seconds"]["run"])
        sends = result.summary["communication"]
    rounds = sends["rounds"][0]
    peers, items, rank = result.summary["peers"], result.summary["dimension"], result.summary["rank"]
    graph = networkx.random_regular_graph(10, peers, seed=1)
    adjacency = networkx.to_scipy_sparse_array(graph, format="csr", dtype=float)
    weights = adjacency / 11.0 + scipy.sparse.identity(peers) * (1.0 / 11.0)
    ends = np.array(graph.edges())
    random = np.random.default_rng(1)
    # As many ratings as the real peers have, anywhere: the time does not depend on where they are.
    density = result.summary["data"]["interactions_kept"] / (peers * items)
    rows = scipy.sparse.random(peers, items, density=density, random_state=1, format="csr")

    def by_hand():
        basis = np.linalg.qr(random.normal(size=(items, rank)))[0]
        for _ in range(3):
            values = rows.toarray()[:, :, None] * (rows @ basis)[:, None, :]
            values += random.normal(size=values.shape) * 0.01
            shared = random.normal(size=(len(ends), items, rank)) * 0.1
            np.add.at(values, ends[:, 0], shared)
            np.subtract.at(values, ends[:, 1], shared)
            flat = values.reshape(peers, -1)
            for _ in range(rounds):
                flat = weights @ flat
            basis = np.linalg.qr(flat[0].reshape(items, rank) * peers)[0]

    theirs = median_seconds(by_hand, 3)
    heading("One run: 610 peers, power method, gossip", "what", "seconds", "ours / theirs")
    own = statistics.median(ours)
    row(f"script ({version('numpy')}, {version('scipy')}), {rounds} rounds a release", f"{theirs:.2f}", "")
    row("Undertone, lockstep", f"{own:.2f}", f"{own / theirs:.2f}")
    print("\nThe script has no accounting, no planned noise, one seed for everything, and no second engine that it could be compared with.")


def diagonal_of_inverse(graph, own, pairwise, without=()):
    kept = [node for node in graph if node not in without]
    laplacian = networkx.laplacian_matrix(graph.subgraph(kept), nodelist=kept).toarray().astype(float)
    return np.diag(np.linalg.inv(own**2 * np.eye(len(kept)) + pairwise**2 * laplacian)).max()


def connectivity_without(graph, removed):
    kept = graph.subgraph(set(graph) - set(removed))
    return float(np.linalg.eigvalsh(networkx.laplacian_matrix(kept).toarray().astype(float))[1])


def theorem(graph, own, pairwise, colluders):
    """DECOR's bound on the loss (Allouah et al. 2024): from the least connectivity over all deletions of so many vertices."""
    left = len(graph) - colluders
    worst = min(connectivity_without(graph, removed) for removed in itertools.combinations(graph, colluders))
    return 1 / (left * own**2) + (1 - 1 / left) / (own**2 + worst * pairwise**2)


def accountant():
    """What pairwise noise costs: by the published formula, by a dense inverse, and by ours."""
    own, pairwise = 1.0, 10.0
    heading("Accountant: worst loss mu of a peer, over the truth", "graph", "colluders", "truth", "published theorem", "published code (no colluders)", "ours")
    graphs = [
        ("ring of 24", networkx.cycle_graph(24), 1),
        ("random 4-regular, 24", networkx.random_regular_graph(4, 24, seed=1), 1),
        ("random 4-regular, 24", networkx.random_regular_graph(4, 24, seed=1), 2),
        ("random 6-regular, 64", networkx.random_regular_graph(6, 64, seed=1), 1),
        ("karate club", networkx.karate_club_graph(), 0),
    ]
    for name, graph, colluders in graphs:
        graph = networkx.Graph(graph.edges())
        truth = 0.0
        for removed in itertools.combinations(graph, colluders):
            truth = max(truth, diagonal_of_inverse(graph, own, pairwise, removed))
        published = theorem(graph, own, pairwise, colluders)
        code = diagonal_of_inverse(graph, own, pairwise)
        found = undertone.account(graph, own, pairwise, colluders=colluders or None, delta=1e-5)
        ours = max(loss.mu for loss in found.values())
        over = lambda square: f"{(square / truth) ** 0.5:.4f}"  # noqa: E731
        row(name, colluders, f"{truth**0.5:.4f}", over(published), over(code), over(ours**2))
    print("\nBelow 1 the loss is understated: the published code inverts the matrix of all peers, as if nobody colluded.")
    heading("Accountant: seconds for the losses of all peers against an observer", "random 10-regular graph of", "dense inverse (NumPy)", "ours", "ours / dense")
    for peers in (500, 2000, 4000):
        graph = networkx.random_regular_graph(10, peers, seed=1)
        edges = np.array(graph.edges())
        dense = median_seconds(lambda graph=graph: diagonal_of_inverse(graph, own, pairwise), 3)
        mine = median_seconds(lambda edges=edges: undertone.account(edges, own, pairwise), 3)
        row(peers, f"{dense:.3f}", f"{mine:.3f}", f"{mine / dense:.3f}")


def binding():
    """The accountant called from Python beside a Rust program that does the same on the same graph, in turns."""
    peers, program = 10_000, os.environ.get("UNDERTONE_ACCOUNT")
    heading("Accountant from Python: 10,000 peers, random 10-regular, five colluders, gap 1e-5", "what", "seconds, median of 5", "over the Rust program", "worst epsilon")
    if program is None:
        print("\nSKIPPED: UNDERTONE_ACCOUNT names no program; `benches/peers/run` builds it")
        return
    graph = networkx.random_regular_graph(10, peers, seed=1)
    edges = np.array(graph.edges(), dtype=np.uint32)
    text = "".join(f"{u} {v}\n" for u, v in edges)
    rust, arrays, graphs = [], [], []
    worst = {}
    for _ in range(TURNS):
        seconds, worst["rust"] = subprocess.run([program, "1"], input=text, capture_output=True, text=True, check=True).stdout.split()
        rust.append(float(seconds))
        for kind, of, times in (("edges", edges, arrays), ("graph", graph, graphs)):
            began = time.perf_counter()
            found = undertone.account(of, 1.0, 10.0, coalition=range(5), delta=1e-5, gap=1e-5)
            times.append(time.perf_counter() - began)
            worst[kind] = found.epsilon.max()
    base = statistics.median(rust)
    row("a Rust program on the library, of the same build", f"{base:.2f}", "1", f"{float(worst['rust']):.12g}")
    row("Python, an array of edges", f"{statistics.median(arrays):.2f}", f"{statistics.median(arrays) / base:.3f}", f"{worst['edges']:.12g}")
    row("Python, a graph of networkx", f"{statistics.median(graphs):.2f}", f"{statistics.median(graphs) / base:.3f}", f"{worst['graph']:.12g}")


def draw(bars, path=os.environ.get("UNDERTONE_FIGURE")):
    """The captured variance of every row as a bar, 1 for the best components: a small SVG where UNDERTONE_FIGURE names a file."""
    if path is None:
        return
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{len(bars) * 30 + 40}" font-family="sans-serif" font-size="13">']
    lines.append("<title>Private principal components of 1,797 digits: captured variance, 1 for the best eight components</title>")
    lines.append('<rect width="100%" height="100%" fill="white"/><text x="10" y="20">Captured variance of eight private components (1: the best eight)</text>')
    for place, (name, value) in enumerate(bars):
        top = 32 + place * 30
        colour = "#1f6f8b" if name.startswith("Undertone") else "#a9a9a9"
        lines.append(f'<rect x="380" y="{top}" width="{280 * value:.1f}" height="20" fill="{colour}"/>')
        lines.append(f'<text x="370" y="{top + 15}" text-anchor="end">{name}</text><text x="{386 + 280 * value:.1f}" y="{top + 15}">{value:.2f}</text>')
    lines.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def pca():
    """Private components of the digits at equal epsilon."""
    data, rank, norm = digits(), 8, 3.0
    warnings.simplefilter("ignore")
    heading(f"PCA of 1,797 digits, {rank} components: captured variance", "epsilon", "what", "captured", "standard deviation", "runs", "seconds a run", "promise")
    from diffprivlib.models import PCA as TheirPCA

    def report(epsilon, name, one, promise):
        values, since = [], time.perf_counter()
        try:
            # Ten runs, or as many as begin within a minute; never fewer than three.
            while len(values) < 3 or (len(values) < 10 and time.perf_counter() - since < 60):
                values.append(captured(data, within(LIMIT, lambda: one(len(values)))))
        except Exception as error:  # What a release cannot do is a row, not the end.
            row(epsilon, name, "-", "-", len(values), "-", f"{type(error).__name__}: {str(error)[:80]}")
            return
        taken = (time.perf_counter() - since) / len(values)
        drawn.append((f"{name}, epsilon = {epsilon:g}", statistics.mean(values)))
        row(epsilon, name, f"{statistics.mean(values):.3f}", f"{statistics.stdev(values):.3f}", len(values), f"{taken:.2f}", promise)

    drawn: list[tuple[str, float]] = []
    means = data.mean(axis=0)
    longest = np.linalg.norm(data - means, axis=1).max()
    for epsilon in (1.0, 5.0):
        ours = lambda seed, epsilon=epsilon: undertone.DecentralizedPCA(  # noqa: E731
            rank, epsilon=epsilon, delta=1e-5, data_norm=norm, centre=means, random_state=seed
        ).fit(data).components_
        report(epsilon, "Undertone, 100 peers, nobody holds the data", ours, "delta = 1e-5, public mean, rows shortened to 3")
        central = lambda seed, epsilon=epsilon: curator(data, rank, norm, epsilon, 1e-5, seed)  # noqa: E731
        report(epsilon, "a curator's Gaussian noise (NumPy)", central, "delta = 1e-5, a curator, public mean, rows shortened to 3")
        theirs = lambda seed, epsilon=epsilon: TheirPCA(  # noqa: E731
            rank, epsilon=epsilon, data_norm=longest, centered=True, random_state=seed
        ).fit(data - means).components_
        report(epsilon, version("diffprivlib"), theirs, "delta = 0, a curator, public mean, longest row public")

        def opendp_pca(seed, epsilon=epsilon):
            import opendp.prelude as dp
            from opendp.extras.sklearn.decomposition import PCA as OpenPCA

            dp.enable_features("contrib", "floating-point", "honest-but-curious")
            model = OpenPCA(epsilon=epsilon, row_norm=norm, n_samples=len(data), n_features=data.shape[1], n_components=rank)
            shortened = (data - means) * np.minimum(1, norm / np.linalg.norm(data - means, axis=1))[:, None]
            return model.fit(shortened).components_

        report(epsilon, version("opendp"), opendp_pca, "delta = 0, a curator, rows shortened to 3")
    draw(drawn)


def svd():
    """Our path without noise beside a good library for one machine, on the same matrix."""
    data, rank = digits(), 8
    setting = {
        "data": {"path": data, "row_clip": 100.0},
        "topology": {"generator": "random-regular", "degree": 10, "seed": 1},
        "algorithm": {"kind": "krylov", "rank": rank, "block": 18, "iterations": 2},
        "privacy": {"epsilon": 1.0, "delta": 1e-5, "adjacency": "user", "sensitivity": "unit-row"},
        "noise": {"scheme": "none"},
        "averaging": {"scheme": "tree"},
    }
    warnings.simplefilter("ignore")
    heading("Without privacy: eight leading directions of 1,797 digits of 64 numbers", "what", "seconds", "ours / theirs", "1 - part of the squares held")
    theirs = median_seconds(lambda: randomized_svd(data, rank, n_iter=2, random_state=1))
    row(f"randomized_svd, {version('scikit-learn')}", f"{theirs:.4f}", "", f"{1 - part(data, randomized_svd(data, rank, n_iter=2, random_state=1)[2].T):.1e}")
    for engine, peers in (("central", 100), ("lockstep", 100), ("lockstep", 1797)):
        sim = {**setting, "peers": {"count": peers}, "engine": {"kind": engine}}
        results = [undertone.run(sim) for _ in range(TURNS)]
        ours = statistics.median(result.summary["timing"]["seconds"]["run"] for result in results)
        held = part(data, results[0].basis)
        name = f"Undertone, {peers:,} peers over a tree in lockstep" if engine == "lockstep" else "Undertone, engine central"
        row(f"{name} (its time of the run)", f"{ours:.4f}", f"{ours / theirs:.1f}", f"{1 - held:.1e}")


def processes():
    """Gossip of real messages: a process per peer over ZeroMQ, and libp2p peers in one process."""
    heading("Gossip of blocks of 200 x 8 numbers over sockets on loopback, random 4-regular graph", "peers", "what", "seconds for 60 rounds", "ours / theirs")
    for peers in (16, 32):
        theirs = gossip_processes.seconds(peers, 4, 60, (200, 8))
        row(peers, f"a process per peer, {version('pyzmq')}, no encryption", f"{theirs:.2f}", "")
        for transport in ("memory", "tcp"):
            setting = {
                "peers.count": peers, "topology.degree": 4, "algorithm.kind": "power", "algorithm.iterations": 1, "algorithm.rank": 8,
                "averaging.scheme": "linear", "engine.kind": "swarm", "engine.transport": transport,
            }
            result = undertone.run("sims/quickstart.toml", set=setting)
            seconds = result.summary["timing"]["seconds"]["run"] * 60 / sum(result.summary["communication"]["rounds"])
            row(peers, f"Undertone, swarm over {transport}, noise and QR included", f"{seconds:.2f}", f"{seconds / theirs:.2f}")


PARTS = {part.__name__: part for part in (script, accountant, binding, pca, svd, processes)}


def main(names):
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]}; parts are {', '.join(PARTS)}")
    print(json.dumps({"undertone": undertone.__version__, "python": sys.version.split()[0], "numpy": np.__version__}))
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
