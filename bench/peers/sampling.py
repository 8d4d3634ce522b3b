#!/usr/bin/env python3
"""sampling.py BENCH_SAMPLE FILE.npz THREADS [ROUNDS [BATCHES]]: neighbourhoods of seeds beside DGL and GraphBolt.

In each round BENCH_SAMPLE (build/release/bench_sample), DGL's NeighborSampler and GraphBolt's sampling and compaction
draw as many batches of seeds, one after the other; a line has the median of M picks a second of each, over the rounds,
and ours over theirs. Row i of the file has what vertex i aggregates: the graph in CSC, as both take it fastest.
One thread is timed by its CPU time, as BENCH_SAMPLE does; more by the clock.
"""
import os
import re
import statistics
import subprocess
import sys
import time

CASES = {"10,10,10 of 1024": (1024, (10, 10, 10)), "15,10,5 of 1024": (1024, (15, 10, 5)),
         "15,15,15 of 1024": (1024, (15, 15, 15)), "20,20 of 1024": (1024, (20, 20)),
         "10,10,10 of 10240": (10240, (10, 10, 10))}


def ours(program, path, threads, batches):
    text = subprocess.run([program, path, str(threads), str(batches)], check=True, capture_output=True, text=True).stdout
    lines = re.finditer(r"^(\S+ of \d+)  .* ([0-9.]+) M picks/s$", text, re.M)
    return {line[1]: float(line[2]) for line in lines if line[1] in CASES}


def rate(sample, graph, n, seeds, fanouts, threads, batches):
    """Median M picks a second of batches; one that warms up is not counted."""
    import torch
    now, rates = time.process_time if threads == 1 else time.perf_counter, []
    for batch in range(batches + 1):
        of = torch.randint(0, n, (seeds,), generator=torch.Generator().manual_seed(batch)).unique().to(torch.int32)
        start = now()
        picks = sample(graph, of, fanouts)
        rates.append(picks / (now() - start) / 1e6)
    return statistics.median(rates[1:])


def with_dgl(graph, seeds, fanouts):
    import dgl
    blocks = dgl.dataloading.NeighborSampler(list(reversed(fanouts))).sample_blocks(graph, seeds)[2]
    return sum(block.num_edges() for block in blocks)


def with_graphbolt(graph, seeds, fanouts):
    import dgl.graphbolt as gb
    import torch
    picks = 0
    for fanout in fanouts:
        sampled = graph.sample_neighbors(seeds, torch.LongTensor([fanout])).sampled_csc
        seeds, compact = gb.unique_and_compact_csc_formats(sampled, seeds)
        picks += len(compact.indices)
    return picks


def main():
    program, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    batches = int(sys.argv[5]) if len(sys.argv) > 5 else 8
    os.environ["OMP_NUM_THREADS"], os.environ["DGLBACKEND"] = str(threads), "pytorch"
    import dgl
    import dgl.graphbolt as gb
    import numpy as np
    import torch
    torch.set_num_threads(threads)
    with np.load(path) as file:
        rowptr, columns = torch.from_numpy(file["indptr"]), torch.from_numpy(file["indices"].astype(np.int32))
    n = len(rowptr) - 1
    peers = {"DGL": (with_dgl, dgl.graph(("csc", (rowptr.to(torch.int32), columns, [])), num_nodes=n, idtype=torch.int32)),
             "GraphBolt": (with_graphbolt, gb.fused_csc_sampling_graph(rowptr.to(torch.int64), columns))}
    found = {(name, case): [] for name in ("FeatBLAS", *peers) for case in CASES}
    for _ in range(rounds):
        for case, value in ours(program, path, threads, batches).items():
            found["FeatBLAS", case].append(value)
        for name, (sample, graph) in peers.items():
            for case, (seeds, fanouts) in CASES.items():
                found[name, case].append(rate(sample, graph, n, seeds, fanouts, threads, batches))
    print(f"{path}, {threads} thread{'s' if threads > 1 else ''}, medians of {rounds} rounds, M picks a second")
    for case in CASES:
        ours_here = statistics.median(found["FeatBLAS", case])
        theirs = [(name, statistics.median(found[name, case])) for name in peers]
        print(f"{case:<20} FeatBLAS {ours_here:6.1f}" +
              "".join(f"   {name} {value:5.1f} ({ours_here / value:4.1f} x)" for name, value in theirs), flush=True)


if __name__ == "__main__":
    main()
