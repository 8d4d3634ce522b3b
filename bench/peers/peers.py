#!/usr/bin/env python3
"""peers.py INPUT.npz CASE THREADS [REPEATS]: times one case in one other library, in a process of its own.

Prints one JSON line: case, threads, seconds (the median of the wall clock and of the CPU), check (a sum that the
caller compares). A case whose library is missing prints {"skipped": why} and succeeds. Each is in its best
configuration: CSR operands sorted and prepared outside the clock, single precision where the library has it.
"""
import glob
import json
import os
import statistics
import sys
import time


def prepare(threads):
    """Thread counts must be known before any library is loaded."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ.setdefault("MKL_THREADING_LAYER", "INTEL")
    found = glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*"))
    if found and "MKL_RT" not in os.environ:
        os.environ["MKL_RT"] = found[0]


def load(path, ones):
    import numpy as np
    import scipy.sparse as sp
    matrix = sp.csr_matrix(sp.load_npz(path), dtype=np.float32)
    if ones:
        matrix.data[:] = 1
    matrix.sort_indices()
    return matrix


def nonempty(matrix):
    """Without empty columns, which similaripy.jaccard cannot take."""
    import numpy as np
    return matrix[:, np.flatnonzero(np.diff(matrix.tocsc().indptr))].tocsr()


def scipy_full(matrix, threads):
    """scipy `A.T @ A`; int32 counts would be slower (measured), so float32."""
    left = matrix.T.tocsr()
    return (lambda: left @ matrix), (lambda c: float(c.sum(dtype="float64")))


def scipy_chunks(matrix, threads):
    """`A.T @ A` in chunks of rows of about 2^26 products, statistics kept, chunks dropped."""
    import numpy as np
    left = matrix.T.tocsr()
    work = np.concatenate([[0], np.cumsum(left @ np.diff(matrix.indptr).astype(np.float64))])
    cuts = [0]
    while cuts[-1] < left.shape[0]:
        end = int(np.searchsorted(work, work[cuts[-1]] + 2.0**26, "right")) - 1
        cuts.append(max(end, cuts[-1] + 1))

    def run():
        total = entries = 0.0
        for begin, end in zip(cuts, cuts[1:]):
            part = left[begin:end] @ matrix
            total += float(part.sum(dtype="float64"))
            entries += part.nnz
        return total
    return run, float


def mkl_syrk(matrix, threads):
    from sparse_dot_mkl import gram_matrix_mkl
    return (lambda: gram_matrix_mkl(matrix, transpose=False, reorder_output=False)), (lambda c: float(c.sum(dtype="float64")))


def mkl_full(matrix, threads):
    """Columns are left unsorted, which saves it a fifth."""
    from sparse_dot_mkl import dot_product_mkl
    left = matrix.T.tocsr()
    return (lambda: dot_product_mkl(left, matrix, reorder_output=False)), (lambda c: float(c.sum(dtype="float64")))


def grb(semiring, dtype, matrix, threads):
    import graphblas as gb
    gb.init("suitesparse", blocking=True)
    gb.ss.config["nthreads"] = threads
    a = gb.io.from_scipy_sparse(matrix).dup(dtype=dtype)
    b = a.T.new()  # both operands by row
    run = getattr(gb.semiring, semiring)

    def go():
        c = run(b @ a).new(dtype=dtype)
        c.wait()
        return c
    return go, (lambda c: float(c.reduce_scalar(gb.monoid.plus["FP64"]).value))


def grb_plus_pair(matrix, threads):
    return grb("plus_pair", "INT32", matrix, threads)


def grb_plus_times(matrix, threads):
    return grb("plus_times", "FP32", matrix, threads)


def grb_triangles(matrix, threads):
    """C<L> = L L, plus_pair, vertices by rising degree: what LAGraph's Sandia_LL does."""
    import graphblas as gb
    import numpy as np
    import scipy.sparse as sp
    gb.init("suitesparse", blocking=True)
    gb.ss.config["nthreads"] = threads
    order = np.argsort(np.diff(matrix.indptr), kind="stable")
    lower = gb.io.from_scipy_sparse(sp.tril(matrix[order][:, order], -1).tocsr()).dup(dtype="INT64")

    def go():
        c = gb.Matrix("INT64", lower.nrows, lower.ncols)
        c(mask=lower.S) << gb.semiring.plus_pair(lower @ lower)
        c.wait()
        return c
    return go, (lambda c: float(c.reduce_scalar(gb.monoid.plus["FP64"]).value))


def similaripy(measure, matrix, threads):
    import similaripy as s
    items = nonempty(matrix).T.tocsr()
    return (lambda: getattr(s, measure)(items, k=20, num_threads=threads, verbose=False)), (
        lambda c: float(c.sum(dtype="float64")))


def similaripy_jaccard(matrix, threads):
    return similaripy("jaccard", matrix, threads)


def similaripy_dot(matrix, threads):
    return similaripy("dot_product", matrix, threads)


def topn_dot(matrix, threads):
    from sparse_dot_topn import sp_matmul_topn
    items = matrix.T.tocsr()
    return (lambda: sp_matmul_topn(items, matrix, top_n=20, n_threads=threads)), (
        lambda c: float(c.sum(dtype="float64")))


CASES = {  # name: (function, every value counts as 1)
    "scipy": (scipy_full, True),
    "scipy_chunks": (scipy_chunks, True),
    "mkl_syrk": (mkl_syrk, True),
    "mkl_full": (mkl_full, True),
    "graphblas_plus_pair": (grb_plus_pair, True),
    "graphblas_plus_times": (grb_plus_times, False),
    "graphblas_triangles": (grb_triangles, True),
    "mkl_syrk_weights": (mkl_syrk, False),
    "scipy_weights": (scipy_full, False),
    "similaripy_jaccard": (similaripy_jaccard, True),
    "similaripy_dot": (similaripy_dot, False),
    "sparse_dot_topn": (topn_dot, False),
}


def touch():
    """Pages that a virtual machine's host took back are fetched outside the clock, as for ours."""
    import numpy as np
    np.ones(5 << 30, np.uint8)


def main():
    path, case, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    prepare(threads)
    function, ones = CASES[case]
    try:
        run, check = function(load(path, ones), threads)
    except ImportError as error:
        print(json.dumps({"case": case, "threads": threads, "skipped": str(error)}))
        return
    wall, cpu = [], []
    for _ in range(repeats):
        touch()
        t, c = time.perf_counter(), time.process_time()
        result = run()
        wall.append(time.perf_counter() - t)
        cpu.append(time.process_time() - c)
        checked = check(result)
        del result
    print(json.dumps({"case": case, "threads": threads, "seconds": round(statistics.median(wall), 4),
                      "cpu": round(statistics.median(cpu), 4), "check": checked}))


main()
