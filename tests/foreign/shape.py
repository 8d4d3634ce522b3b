"""A graph's shape, and PageRank, beside networkx: graphs that networkx makes are written by scipy, looked at by the command, and compared
vertex by vertex with what networkx says. Graphs without directions are symmetric matrices."""
import os
import random
import subprocess
import sys

import networkx as nx
import numpy as np
import scipy.io
import scipy.sparse

command, folder = sys.argv[1:3]
failures = 0
compared = 0
# Before, sources had the same share as others.
SCALES_SAMPLES = tuple(int(part) for part in nx.__version__.split(".")[:2]) >= (3, 5)


def run(matrix, program, *options):
    """The column that a program writes, a row for each vertex; of several, row after row."""
    source, target = os.path.join(folder, "graph.mtx"), os.path.join(folder, "column.npy")
    scipy.io.mmwrite(source, matrix, symmetry="general")
    subprocess.run([command, "run", "-q", program, source, "-o", target, *options], check=True)
    return np.load(target).ravel()


def compare(what, ours, theirs, tolerance=1e-12):
    global failures, compared
    compared += len(ours)
    for v, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        if not abs(x - y) <= tolerance * max(1, abs(y)):
            failures += 1
            print(f"{what}, vertex {v}: ours {x}, theirs {y}")


def column(values, n):
    return [values[v] for v in range(n)]


def by_hand(graph, sources):
    """Betweenness from some sources, of ordered pairs, by networkx's own lists of shortest paths."""
    sums = dict.fromkeys(graph, 0.0)
    for source in sources:
        for target in nx.descendants(graph, source):
            paths = list(nx.all_shortest_paths(graph, source, target))
            for path in paths:
                for v in path[1:-1]:
                    sums[v] += 1 / len(paths)
    return sums


class Chosen(random.Random):
    """Draws what it was told."""

    def __init__(self, chosen):
        super().__init__(0)
        self.chosen = chosen

    def sample(self, population, k):
        return self.chosen


def beside_networkx(name, graph):
    n = graph.number_of_nodes()
    matrix = nx.to_scipy_sparse_array(graph, nodelist=range(n), weight=None, dtype=np.float64, format="coo")
    one_way = graph.is_directed()
    plain = nx.Graph(graph)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    compare(f"{name}, triangles", run(matrix, "triangles"), column(nx.triangles(plain), n))
    compare(f"{name}, clustering", run(matrix, "clustering", "--undirected"), column(nx.clustering(plain), n))
    if not one_way:
        compare(f"{name}, clustering by LDBC", run(matrix, "clustering"), column(nx.clustering(plain), n))
    theirs = nx.betweenness_centrality(graph, normalized=True)
    compare(f"{name}, betweenness", run(matrix, "betweenness", "--normalized"), column(theirs, n))
    theirs = nx.betweenness_centrality(graph, normalized=False)
    compare(f"{name}, sums", run(matrix, "betweenness") / (1 if one_way else 2), column(theirs, n))
    some = list(range(1, n, 4))
    compare(f"{name}, from some", run(matrix, "betweenness", "--sources", ",".join(str(v + 1) for v in some)),
            column(by_hand(graph, some), n))
    if 1 < len(some) < n and SCALES_SAMPLES:
        theirs = nx.betweenness_centrality(graph, k=len(some), normalized=True, seed=Chosen(some))
        ours = run(matrix, "betweenness", "--normalized", "--sources", ",".join(str(v + 1) for v in some))
        compare(f"{name}, means from some", ours, column(theirs, n))
    if one_way and nx.is_directed_acyclic_graph(graph):
        theirs = {v: level for level, some in enumerate(nx.topological_generations(graph)) for v in some}
        compare(f"{name}, topological", run(matrix, "topological"), column(theirs, n))


def ranks_beside_networkx(name, graph):
    """For all alike, and personalised: columns at once. Entries' values count, and vertices without links give to all."""
    n = graph.number_of_nodes()
    matrix = nx.to_scipy_sparse_array(graph, nodelist=range(n), dtype=np.float64, format="coo")
    exact = {"tol": 1e-14 / n, "max_iter": 2000}
    options = "--definition", "networkx", "--tolerance", str(1e-14 / n), "--rounds", "2000"
    compare(f"{name}, ranks", run(matrix, "pagerank", *options), column(nx.pagerank(graph, **exact), n))
    some = list(range(0, n, 7))
    ours = run(matrix, "pagerank", *options, "--sources", ",".join(str(v + 1) for v in some)).reshape(n, -1)
    for c, source in enumerate(some):
        theirs = nx.pagerank(graph, personalization={source: 1}, **exact)
        compare(f"{name}, ranks for {source}", ours[:, c], column(theirs, n))


graphs = {
    "karate": nx.convert_node_labels_to_integers(nx.karate_club_graph()),
    "les miserables": nx.convert_node_labels_to_integers(nx.les_miserables_graph()),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 9)),
    "caveman": nx.connected_caveman_graph(6, 7),
    "without edges": nx.empty_graph(5),
    "tree": nx.balanced_tree(3, 3, create_using=nx.DiGraph),
}
for seed in range(4):
    graphs[f"random {seed}"] = nx.gnp_random_graph(40 + 10 * seed, 0.04 * (seed + 1), seed=seed)
    graphs[f"random {seed}, directed"] = nx.gnp_random_graph(45, 0.05 * (seed + 1), seed=seed, directed=True)
    above = nx.gnp_random_graph(50, 0.1, seed=seed, directed=True)
    graphs[f"random {seed}, acyclic"] = nx.DiGraph((u, v) for u, v in above.edges if u < v)
    graphs[f"random {seed}, acyclic"].add_nodes_from(range(50))
loops = nx.gnp_random_graph(30, 0.2, seed=9, directed=True)
loops.add_edges_from((v, v) for v in range(0, 30, 3))
graphs["with loops"] = loops
for name, graph in graphs.items():
    beside_networkx(name, graph)
    ranks_beside_networkx(name, graph)
print(f"{len(graphs)} graphs, {compared} values compared, {failures} differ")
sys.exit(failures > 0)
