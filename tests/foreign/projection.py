"""Projections beside networkx and scipy: graphs that are written by scipy, projected by the command, read by scipy again and
compared pair by pair with what the other libraries compute from their own definitions."""
import itertools
import math
import os
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import scipy.io
import scipy.sparse
import scipy.stats
from networkx.algorithms import bipartite

command, folder = sys.argv[1:3]
failures = 0
compared = 0


def project(matrix, weight, *options):
    """{(i, j): weight} for i < j of the columns of a matrix."""
    source, target = os.path.join(folder, "graph.mtx"), os.path.join(folder, "pairs.npz")
    scipy.io.mmwrite(source, matrix)
    subprocess.run([command, "project", "-q", source, "-w", weight, "--triangle", "-o", target, *options], check=True)
    pairs = scipy.sparse.load_npz(target).tocoo()
    assert pairs.shape == (matrix.shape[1], matrix.shape[1])
    return {(int(i), int(j)): float(w) for i, j, w in zip(pairs.row, pairs.col, pairs.data)}


def compare(what, ours, theirs, tolerance=1e-9):
    global failures, compared
    compared += len(ours)
    wrong = [p for p in set(ours) ^ set(theirs)][:3]
    wrong += [p for p in ours if p in theirs and not math.isclose(ours[p], theirs[p], rel_tol=tolerance, abs_tol=1e-12)][:3]
    for pair in wrong:
        failures += 1
        print(f"{what}, pair {pair}: ours {ours.get(pair)}, theirs {theirs.get(pair)}")


def shared(matrix):
    """For i < j that share rows: (i, j, values of i there, values of j there, entries of i, of j)."""
    columns = scipy.sparse.csc_matrix(matrix)
    entries = [dict(zip(columns[:, j].indices, columns[:, j].data)) for j in range(matrix.shape[1])]
    for i, j in itertools.combinations(range(len(entries)), 2):
        rows = [k for k in entries[i] if k in entries[j]]
        if rows:
            yield i, j, np.array([entries[i][k] for k in rows]), np.array([entries[j][k] for k in rows]), entries[i], entries[j]


def beside_networkx(name, matrix):
    """Structure: projected graphs and link prediction on the bipartite graph, columns first."""
    m, n = matrix.shape
    graph = nx.Graph()
    graph.add_nodes_from(range(n + m))
    graph.add_edges_from((int(j), n + int(k)) for k, j in zip(*matrix.nonzero()))
    side = range(n)
    projections = {
        "count": bipartite.weighted_projected_graph(graph, side),
        "ratio": bipartite.weighted_projected_graph(graph, side, ratio=True),
        "newman": bipartite.collaboration_weighted_projected_graph(graph, side),
        "jaccard": bipartite.overlap_weighted_projected_graph(graph, side),
        "overlap": bipartite.overlap_weighted_projected_graph(graph, side, jaccard=False),
    }
    for weight, projected in projections.items():
        theirs = {(min(i, j), max(i, j)): w for i, j, w in projected.edges(data="weight")}
        compare(f"{name}, {weight}", project(matrix, weight), theirs)
    pairs = list(project(matrix, "count"))
    for weight, index in {
        "adamic-adar": nx.adamic_adar_index,
        "resource-allocation": nx.resource_allocation_index,
        "jaccard": nx.jaccard_coefficient,
    }.items():
        compare(f"{name}, {weight} as an index", project(matrix, weight), {(i, j): w for i, j, w in index(graph, pairs)})


def beside_scipy(name, matrix):
    """Values, and tests against chance."""
    real = scipy.sparse.csr_matrix(matrix, dtype=float)
    pattern = real.copy()
    pattern.data[:] = 1
    counts = scipy.sparse.triu(pattern.T @ pattern, 1).tocoo()
    pairs = list(zip(counts.row.tolist(), counts.col.tolist()))
    dots = (real.T @ real).tocsr()
    norms = np.sqrt(np.asarray(real.multiply(real).sum(axis=0)).ravel())
    compare(f"{name}, dot", project(matrix, "dot"), {(i, j): dots[i, j] for i, j in pairs})
    compare(f"{name}, cosine", project(matrix, "cosine"), {(i, j): dots[i, j] / (norms[i] * norms[j]) for i, j in pairs})
    theirs = {w: {} for w in ("hypergeometric", "llr", "pearson", "msd", "bottleneck", "w1+w2")}
    for i, j, x, y, all_i, all_j in shared(matrix):
        both, only_i, only_j, n = len(x), len(all_i), len(all_j), matrix.shape[0]
        theirs["hypergeometric"][i, j] = scipy.stats.hypergeom.sf(both - 1, n, only_i, only_j)
        table = np.array([[both, only_i - both], [only_j - both, n - only_i - only_j + both]])
        proper = min(table.sum(axis=0)) > 0 and min(table.sum(axis=1)) > 0
        theirs["llr"][i, j] = (
            scipy.stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")[0] if proper else 0
        )
        varied = both > 1 and np.ptp(x) > 0 and np.ptp(y) > 0
        theirs["pearson"][i, j] = scipy.stats.pearsonr(x, y)[0] if varied else 0
        theirs["msd"][i, j] = 1 / (1 + np.mean((x.astype(float) - y) ** 2))
        theirs["bottleneck"][i, j] = np.minimum(x, y).max()
        theirs["w1+w2"][i, j] = float((x.astype(float) + y).sum())
    for weight, pairs in theirs.items():
        compare(f"{name}, {weight}", project(matrix, weight), pairs, 1e-6 if weight in ("hypergeometric", "llr") else 1e-8)


def random_graph(generator, m, n, share, kind):
    matrix = scipy.sparse.random(m, n, share, format="csr", random_state=generator)
    if kind == "real":
        matrix.data = generator.uniform(-1, 1, matrix.nnz)
    elif kind == "whole":
        matrix.data = generator.integers(1, 6, matrix.nnz)
        matrix = matrix.astype(np.int64)
    else:
        matrix.data = generator.integers(1, 4 * 10**9, matrix.nnz)
        matrix = matrix.astype(np.int64)
    return matrix


def movielens(path, users, seed):
    """Ratings of some users, films that they rated."""
    table = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(0, 1, 2))
    chosen = np.random.default_rng(seed).choice(np.unique(table[:, 0]), users, replace=False)
    table = table[np.isin(table[:, 0], chosen)]
    rows, columns = (np.unique(table[:, c], return_inverse=True)[1] for c in (1, 0))
    return scipy.sparse.csr_matrix((table[:, 2], (rows, columns)))


warnings.simplefilter("ignore")
graphs = {
    "karate": nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None, format="csr"),
    "women": bipartite.biadjacency_matrix(nx.davis_southern_women_graph(), [
        v for v, d in nx.davis_southern_women_graph().nodes(data=True) if d["bipartite"] == 0], format="csr"),
}
draw = np.random.default_rng(1)
for number, kind in enumerate(("real", "whole", "large") * 2):
    graphs[f"random {number}, {kind}"] = random_graph(draw, 20 + 30 * number, 40, 0.15, kind)
if len(sys.argv) > 3:
    graphs["movielens-small, 60 users"] = movielens(os.path.join(sys.argv[3], "ml-latest-small", "ratings.csv"), 60, 1)
for name, matrix in graphs.items():
    matrix = scipy.sparse.csr_matrix(matrix)
    beside_networkx(name, matrix)
    beside_scipy(name, matrix)
print(f"{len(graphs)} graphs, {compared} pairs compared, {failures} differ")
sys.exit(failures > 0)
