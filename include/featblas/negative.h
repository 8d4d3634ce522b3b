/* Negative sampling: pairs that a graph has no entry for. Part of featblas.h; docs/sampling.md. */
#ifndef FEATBLAS_NEGATIVE_H
#define FEATBLAS_NEGATIVE_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Options of FtB_sample_negative; made by FTB_NEGATIVE_OPTIONS(.seed = 7). Zero means the default. */
typedef struct FtB_Negative_options {
    size_t size;   /**< set by the macro */
    uint64_t seed; /**< 0: the context's */
    int64_t batch; /**< draws of two batches have nothing to do with each other */
    bool replace;  /**< a pair may come again */
    bool loops;    /**< of a square A, pairs (i, i) without an entry count, too */
    bool global;   /**< k pairs of all of A, not of each row */
} FtB_Negative_options;

/** Draws of what A has no entry for, its complement as a mask, all alike: S(r,:) = k columns j with
 * A(rows[r], j) not stored; or, global, S = k pairs of A's shape. All of them where there are no more. The
 * complement is never made; once for each pattern its rows are counted.
 *  @param S slot: FtB_Matrix, count x n, or m x n; it becomes a pattern without values. With replacement a
 * pair that was picked again is there again. @param rows slot: FtB_Ids, rows of A in any order, also again;
 * NULL: all of them, which global needs. @param k 0 or more. @param A slot: FtB_Matrix m x n; entries that
 * are stored count, whatever their values. @param options NULL for the defaults. @return
 * GrB_INDEX_OUT_OF_BOUNDS (a row), GrB_INVALID_VALUE (k), GrB_DIMENSION_MISMATCH, FTB_LIMIT (2^62 pairs or
 * more), GrB_OUT_OF_MEMORY. */
GrB_Info FtB_sample_negative(FtB_Arg S, FtB_Arg rows, int64_t k, FtB_Arg A,
                             const FtB_Negative_options *options);

#ifdef __cplusplus
}
#endif

#endif
