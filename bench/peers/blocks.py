#!/usr/bin/env python3
"""blocks.py INPUT.npz CASE THREADS: times one product with feature blocks in DGL or scipy, in a process of its own.

CASE is operation:dim:heads; "scipy " before the operation asks scipy, else DGL. Prints one JSON line: case, threads,
seconds, cpu, setup (what is made once and kept), bytes (gathered features), check (the sum of the result). Features
are those of bench/support/stage.c. A case whose library is missing prints {"skipped": why} and succeeds.
"""
import json
import os
import sys
import time


def prepare(threads):
    """Thread counts must be known before any library is loaded."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["DGLBACKEND"] = "pytorch"


def features(rows, columns, salt):
    """Values in [-1, 1) by place, from 32-bit integers that wrap."""
    import numpy as np
    out = np.empty((rows, columns), np.float32)
    across = np.arange(columns, dtype=np.uint32) * np.uint32(2246822519) + np.uint32(salt)
    for begin in range(0, rows, 1 << 16):
        down = np.arange(begin, min(rows, begin + (1 << 16)), dtype=np.uint64).astype(np.uint32)
        h = down[:, None] * np.uint32(2654435761) + across
        h = (h ^ (h >> np.uint32(15))) * np.uint32(2246822519)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(3266489917)
        out[begin:begin + len(down)] = (h >> np.uint32(9)).astype(np.float32) * np.float32(2.0**-22) - np.float32(1)
    return out


def with_scipy(rowptr, columns, n, operation, dim, heads, threads):
    import numpy as np
    import scipy.sparse as sp
    matrix = sp.csr_matrix((np.ones(len(columns), np.float32), columns, rowptr), shape=(len(rowptr) - 1, n))
    x = features(n, dim, 1)
    return lambda: matrix @ x


def with_dgl(rowptr, columns, n, operation, dim, heads, threads):
    """Rows are destinations, in CSC order of the edges, so that edge values need no permutation."""
    import dgl
    import torch
    torch.set_num_threads(threads)
    m, split = len(rowptr) - 1, lambda a: torch.from_numpy(a).reshape(len(a), heads, -1)
    graph = dgl.create_block(("csc", (torch.from_numpy(rowptr), torch.from_numpy(columns), [])), num_src_nodes=n,
                             num_dst_nodes=m, idtype=torch.int32)
    x = torch.from_numpy(features(n, dim, 1))
    if heads > 1:
        x = x.reshape(n, heads, -1)
    if operation in ("sum", "max", "min", "mean"):
        return lambda: getattr(dgl.ops, "copy_u_" + operation)(graph, x)
    if operation in ("weighted", "heads"):
        w = torch.from_numpy(features(len(columns), heads, 3))
        w = w.reshape(len(columns), heads, 1) if heads > 1 else w
        return lambda: dgl.ops.u_mul_e_sum(graph, x, w)
    if operation == "softmax":
        a = torch.from_numpy(features(len(columns), heads, 3)).reshape(len(columns), heads, 1)
        return lambda: dgl.ops.edge_softmax(graph, a)
    y = torch.from_numpy(features(m, dim, 2)).reshape(x.shape)
    if operation == "dot":
        return lambda: dgl.ops.u_dot_v(graph, x, y)
    if operation == "attention":
        return lambda: dgl.ops.u_mul_e_sum(graph, x, dgl.ops.edge_softmax(graph, dgl.ops.u_dot_v(graph, x, y)))
    raise ImportError(f"no case {operation}")


def main():
    path, case, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    operation, dim, heads = case.split(":")
    prepare(threads)
    say = {"case": case, "threads": threads}
    try:
        import numpy as np
        with np.load(path) as file:
            rowptr, columns, n = file["indptr"].astype(np.int32), file["indices"].astype(np.int32), int(file["shape"][1])
        start = time.perf_counter()
        library = with_scipy if operation.startswith("scipy ") else with_dgl
        run = library(rowptr, columns, n, operation.split()[-1], int(dim), int(heads), threads)
        say["setup"] = time.perf_counter() - start
        import contextlib
        with contextlib.ExitStack() as stack:
            if library is with_dgl:
                import torch
                stack.enter_context(torch.no_grad())
            steps, start, cpu = 0, time.perf_counter(), time.process_time()
            while steps == 0 or time.perf_counter() - start < 0.2:
                result = run()
                steps += 1
            say["seconds"] = (time.perf_counter() - start) / steps
            say["cpu"] = (time.process_time() - cpu) / steps
        say["bytes"] = 4.0 * len(columns) * int(dim)
        say["check"] = float(result.sum(dtype=np.float64 if library is with_scipy else torch.float64))
    except ImportError as error:
        say["skipped"] = str(error)
    print(json.dumps(say))


main()
