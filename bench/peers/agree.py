#!/usr/bin/env python3
"""agree.py INPUT.npz PAIRS.tsv jaccard|dot_product [K]: our top-K pairs against similaripy's.

Ties may be broken differently, so for every vertex the sorted weights must agree, and every pair that is strictly
above the K-th weight must be in both. Ids in the text count from 0. Ends with 1 where they do not agree.
"""
import sys

import numpy as np
import scipy.sparse as sp
import similaripy


def rows_of(matrix, row):
    begin, end = matrix.indptr[row], matrix.indptr[row + 1]
    return matrix.indices[begin:end], matrix.data[begin:end]


def main():
    path, pairs, measure = sys.argv[1:4]
    k = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    matrix = sp.csr_matrix(sp.load_npz(path), dtype=np.float32)
    if measure == "jaccard":
        matrix.data[:] = 1
    kept = np.flatnonzero(np.diff(matrix.tocsc().indptr))
    # One more than K, since it counts a vertex as its own neighbour.
    theirs = getattr(similaripy, measure)(matrix[:, kept].T.tocsr(), k=k + 1, verbose=False).tocsr()
    theirs.setdiag(0)
    theirs.eliminate_zeros()
    i, j, w = np.loadtxt(pairs, unpack=True)
    n = matrix.shape[1]
    place = np.full(n, -1)
    place[kept] = np.arange(len(kept))
    ours = sp.csr_matrix((w, (place[i.astype(int)], place[j.astype(int)])), shape=theirs.shape)
    bad = 0
    for row in range(len(kept)):
        (mine, a), (other, b) = rows_of(ours, row), rows_of(theirs, row)
        best = np.argsort(-b, kind="stable")[:k]
        other, b = other[best], b[best]
        a_sorted, b_sorted = np.sort(a), np.sort(b)
        if len(a) != len(b) or not np.allclose(a_sorted, b_sorted, rtol=1e-5, atol=1e-7):
            bad += 1
        elif len(a):
            above = a_sorted[0] * (1 + 1e-5)
            bad += set(mine[a > above]) != set(other[b > above])
    print(f"{len(kept)} vertices, {ours.nnz} pairs, {bad} vertices differ")
    return bad != 0


sys.exit(main())
