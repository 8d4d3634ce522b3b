/* What the host and the kernels of sparse x block, direct form (spmm_direct.cuh), agree on. Read by C, nvcc
 * and NVRTC, which has no headers: hence long long. */
#ifndef FTB_SPMM_DIRECT_H
#define FTB_SPMM_DIRECT_H

/* Entries begin .. end - 1 of a row. slot: -1, the whole row, which goes to y; else where in `partial` the
 * sum of this piece of a row that was cut goes. */
typedef struct ftb_spmm_piece {
    long long begin, end;
    int row, slot;
} ftb_spmm_piece;

/* A row that was cut: what its pieces gave is partial[slot .. slot + count - 1], in the order of its entries.
 */
typedef struct ftb_spmm_cut {
    long long entries; /* of the row */
    int row, slot, count;
} ftb_spmm_cut;

/* Memory of `void *` but x and w is of the type that is computed in: FP64 where x or w is, else FP32. */
typedef struct ftb_spmm_direct_arguments {
    long long npieces;
    const ftb_spmm_piece *pieces; /* rows that none of them names are not written */
    const int *colidx;
    const void *x; /* row k at x + k * ldx values */
    const void *w; /* entry e's values, one or one a head, at w + (from ? from[e] : e) * ldw: FP32 or, where
                      it is `wide`, FP64 */
    const long long *from;
    const int *rest; /* piece p's entries are rest[p] .. rest[p + 1] - 1 of colidx and w, and come after what
                        start has for its row or, if that was cut, partial; NULL: all of the piece's. BEST:
                        not with won */
    void *start;     /* row i at start + i * ldstart */
    void *y;         /* row i at y + i * ldy */
    void *partial;   /* slot s at partial + s * ldp */
    long long
        *won; /* BEST: the entry that won; row i at won + i * ldwon, -1 without entries; NULL: not wanted */
    long long *partial_won; /* of pieces, as partial; not without won */
    long long ldx, ldw, ldy, ldp, ldwon, ldstart;
    int d, width; /* features; features of a head */
    int wide;     /* computed in FP64, not 0: w is FP64 */
    int mean;     /* PLUS, not 0: sums are divided by the row's number of entries, if it has any */
    int least;    /* BEST, not 0: min, else max */
    float empty;  /* BEST: what rows without entries become */
    int add;      /* not 0: results are added to what y has */
} ftb_spmm_direct_arguments;

/* Every variant: X(stored, reduce, edge, lanes, values). stored: of x, and what is computed in: f32, f16,
 * bf16: FP32; f64, and f32as64, FP32 that is widened: FP64. PLUS: sums and means; BEST: min and max. COPY: x;
 * EDGE: one weight an entry times x; HEADS: one a head. A group of `lanes` takes a piece, `values`
 * consecutive features a lane: d, for HEADS width, and all of ldx, ldy, ldp, ldwon and ldstart are multiples
 * of `values`, and x, y, partial, start, won and partial_won are aligned to as many, at most to 16 bytes. The
 * kernel is called spmm_direct_<stored>_<reduce>_<edge>_<lanes>x<values>; its grid is (pieces / groups of a
 * block, d / (lanes * values)), rounded up. That of the rows that were cut is
 * spmm_direct_<f32 or f64>_<reduce>_merge. */
#define FTB_SPMM_DIRECT_SHAPES_1(X, stored, reduce, edge)                                                    \
    X(stored, reduce, edge, 32, 1) X(stored, reduce, edge, 4, 1)
#define FTB_SPMM_DIRECT_SHAPES_32(X, stored, reduce, edge)                                                   \
    X(stored, reduce, edge, 32, 4)                                                                           \
    X(stored, reduce, edge, 8, 4)                                                                            \
    FTB_SPMM_DIRECT_SHAPES_1(X, stored, reduce, edge)
#define FTB_SPMM_DIRECT_SHAPES_16(X, stored, reduce, edge)                                                   \
    X(stored, reduce, edge, 16, 8)                                                                           \
    X(stored, reduce, edge, 4, 8)                                                                            \
    X(stored, reduce, edge, 8, 4)                                                                            \
    FTB_SPMM_DIRECT_SHAPES_1(X, stored, reduce, edge)
#define FTB_SPMM_DIRECT_SHAPES_64(X, stored, reduce, edge)                                                   \
    X(stored, reduce, edge, 32, 2)                                                                           \
    X(stored, reduce, edge, 8, 2)                                                                            \
    FTB_SPMM_DIRECT_SHAPES_1(X, stored, reduce, edge)
#define FTB_SPMM_DIRECT_EDGES(X, stored, reduce, SHAPES)                                                     \
    SHAPES(X, stored, reduce, COPY)                                                                          \
    SHAPES(X, stored, reduce, EDGE)                                                                          \
    SHAPES(X, stored, reduce, HEADS)
#define FTB_SPMM_DIRECT_STORED(X, stored, SHAPES)                                                            \
    FTB_SPMM_DIRECT_EDGES(X, stored, PLUS, SHAPES) FTB_SPMM_DIRECT_EDGES(X, stored, BEST, SHAPES)
/* By source: spmm_direct.cu, spmm_direct_16.cu, spmm_direct_64.cu. Of f32as64 there is no COPY: it would be
 * computed in FP32. */
#define FTB_SPMM_DIRECT_F32(X) FTB_SPMM_DIRECT_STORED(X, f32, FTB_SPMM_DIRECT_SHAPES_32)
#define FTB_SPMM_DIRECT_16(X)                                                                                \
    FTB_SPMM_DIRECT_STORED(X, f16, FTB_SPMM_DIRECT_SHAPES_16)                                                \
    FTB_SPMM_DIRECT_STORED(X, bf16, FTB_SPMM_DIRECT_SHAPES_16)
#define FTB_SPMM_DIRECT_WIDENED(X, reduce)                                                                   \
    FTB_SPMM_DIRECT_SHAPES_64(X, f32as64, reduce, EDGE) FTB_SPMM_DIRECT_SHAPES_64(X, f32as64, reduce, HEADS)
#define FTB_SPMM_DIRECT_64(X)                                                                                \
    FTB_SPMM_DIRECT_STORED(X, f64, FTB_SPMM_DIRECT_SHAPES_64)                                                \
    FTB_SPMM_DIRECT_WIDENED(X, PLUS) FTB_SPMM_DIRECT_WIDENED(X, BEST)
#define FTB_SPMM_DIRECT(X) FTB_SPMM_DIRECT_F32(X) FTB_SPMM_DIRECT_16(X) FTB_SPMM_DIRECT_64(X)
/* Threads of a block, and blocks that a multiprocessor is to hold: 64 registers a thread, with which nothing
 * spills on sm_80, sm_90 and sm_100. Left to itself nvcc takes 40 of some variants, and spills. */
enum { FTB_SPMM_DIRECT_BLOCK = 128, FTB_SPMM_DIRECT_BLOCKS = 8 };

#endif
