#!/usr/bin/env python3
"""vertex.py BENCH_VERTEX GRAPH.npz THREADS [ROUNDS] [--peer ROW:NAME=COMMAND]...: vertex programs beside other libraries.

In each round BENCH_VERTEX (build/release/bench_vertex), networkit, igraph and scipy run what they have of breadth-first
search, shortest paths (lengths 1 to 255), components, PageRank (GAP's definition, ended where ranks change by less than
1e-4 together), betweenness from one source, triangles, clustering coefficients and the topological order of the entries
above the diagonal, one after the other; a line has the median seconds of each, over the rounds, and theirs over ours. The graph is symmetric. One thread is timed by its CPU time, as BENCH_VERTEX does; more by
the clock. networkit alone takes more than one.

COMMAND is any other program, such as --peer 'bfs:GAP=./bfs -f kron.sg -n 16': run once a round, the last number that it
prints is its seconds; ROW, the first word of a line of BENCH_VERTEX, says which program it is beside.
"""
import os
import re
import statistics
import subprocess
import sys
import time

ENOUGH = 1e-4
# How the lines of BENCH_VERTEX begin that stand for their first word: the others of it take long, and are left out.
LINES = ("bfs, levels", "sssp", "components", "pagerank, GAP", "triangles", "clustering", "betweenness from one", "communities",
         "topological")


def ours(program, path, threads):
    """Seconds of each line, by its first word."""
    text = subprocess.run([program, path, str(threads), "3", *LINES], check=True, capture_output=True, text=True).stdout
    return {line[1]: float(line[2]) for line in re.finditer(r"^([a-z]+).*? ([0-9.]+) s\b", text, re.M)}


def with_networkit(matrix, source, threads):
    import networkit as nk
    import scipy.sparse as sp
    nk.setNumberOfThreads(threads)
    upper = sp.triu(matrix, 1, format="coo")
    plain = nk.GraphFromCoo((upper.row, upper.col), n=matrix.shape[0])
    long = nk.GraphFromCoo((upper.data.astype(float), (upper.row, upper.col)), n=matrix.shape[0], weighted=True)
    one_way = nk.GraphFromCoo((upper.row, upper.col), n=matrix.shape[0], directed=True)
    indexed = nk.Graph(plain)
    indexed.indexEdges()

    def pagerank():
        ranks = nk.centrality.PageRank(plain, damp=0.85, tol=ENOUGH)
        ranks.norm = nk.centrality.Norm.L1_NORM
        ranks.run()
    return {"bfs": lambda: nk.distance.BFS(plain, source(), True, False).run(),
            "sssp": lambda: nk.distance.Dijkstra(long, source(), True, False).run(),
            "components": lambda: nk.components.ConnectedComponents(plain).run(),
            "pagerank": pagerank,
            "betweenness": lambda: nk.centrality.EstimateBetweenness(plain, 1).run(),
            "triangles": lambda: nk.sparsification.TriangleEdgeScore(indexed).run(),
            "clustering": lambda: nk.centrality.LocalClusteringCoefficient(plain).run(),
            "topological": lambda: nk.graphtools.topologicalSort(one_way)}


def with_igraph(matrix, source):
    import igraph
    import numpy as np
    import scipy.sparse as sp
    upper = sp.triu(matrix, 1, format="coo")
    graph = igraph.Graph(n=matrix.shape[0], edges=np.column_stack((upper.row, upper.col)))
    lengths = upper.data.tolist()
    one_way = igraph.Graph(n=matrix.shape[0], edges=np.column_stack((upper.row, upper.col)), directed=True)
    return {"bfs": lambda: graph.bfs(source()),
            "sssp": lambda: graph.distances(source(), weights=lengths),
            "components": lambda: graph.connected_components().membership,
            "pagerank": lambda: graph.pagerank(damping=0.85),
            "betweenness": lambda: graph.betweenness(sources=[source()]),
            "clustering": lambda: graph.transitivity_local_undirected(mode="zero"),
            "topological": lambda: one_way.topological_sorting()}


def with_scipy(matrix, source):
    import numpy as np
    from scipy.sparse import csgraph
    n, degree = matrix.shape[0], np.diff(matrix.indptr)
    share = np.where(degree > 0, 0.85 / np.maximum(degree, 1), 0).astype(np.float32)
    links = matrix.astype(np.float32)
    links.data[:] = 1

    def pagerank():
        rank, change = np.full(n, 1 / n, np.float32), 1
        while change >= ENOUGH:
            new = links @ (share * rank) + np.float32(0.15 / n)
            rank, change = new, np.abs(new - rank).sum()
    return {"bfs": lambda: csgraph.breadth_first_order(matrix, source()),
            "sssp": lambda: csgraph.dijkstra(matrix, indices=source()),
            "components": lambda: csgraph.connected_components(matrix, directed=False),
            "pagerank": pagerank}


def by_command(command):
    text = subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
    numbers = re.findall(r"[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?", text)
    if not numbers:
        sys.exit(f"vertex.py: '{command}' printed no number")
    return float(numbers[-1])


def main():
    words, commands = [], []
    for word in sys.argv[1:]:
        (commands if words and words[-1] == "--peer" else words).append(word)
        if commands and words and words[-1] == "--peer":
            words.pop()
    program, path, threads = words[0], words[1], int(words[2])
    rounds = int(words[3]) if len(words) > 3 else 3
    now = time.process_time if threads == 1 else time.perf_counter
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import numpy as np
    import scipy.sparse as sp
    with np.load(path) as file:
        n = len(file["indptr"]) - 1
        matrix = sp.csr_matrix((np.ones(len(file["indices"])), file["indices"].astype(np.int32), file["indptr"]), (n, n))
    drawn = np.random.default_rng(7)
    half = sp.triu(matrix, 1, format="csr")
    half.data = drawn.integers(1, 256, len(half.data)).astype(np.float64)
    matrix = (half + half.T).tocsr()
    starts = np.flatnonzero(np.diff(matrix.indptr))

    def source():
        return int(drawn.choice(starts))
    peers = {"networkit": with_networkit(matrix, source, threads), "igraph": with_igraph(matrix, source),
             "scipy": with_scipy(matrix, source)}
    found = {}
    for _ in range(rounds):
        for row, seconds in ours(program, path, threads).items():
            found.setdefault(row, {}).setdefault("FeatBLAS", []).append(seconds)
        for name, rows in peers.items():
            for row, run in rows.items():
                start = now()
                run()
                found.setdefault(row, {}).setdefault(name, []).append(now() - start)
        for word in commands:
            what, command = word.split("=", 1)
            row, name = what.split(":", 1)
            found.setdefault(row, {}).setdefault(name, []).append(by_command(command))
    print(f"{path}: {n} vertices, {matrix.nnz} entries, {threads} thread{'s' if threads > 1 else ''}, "
          f"medians of {rounds} rounds, seconds")
    for row, times in found.items():
        mine = statistics.median(times.pop("FeatBLAS", [float("nan")]))
        print(f"{row:<14} FeatBLAS {mine:9.4f}" + "".join(
            f"   {name} {statistics.median(each):8.3f} ({statistics.median(each) / mine:5.1f} x)"
            for name, each in times.items()), flush=True)


if __name__ == "__main__":
    main()
