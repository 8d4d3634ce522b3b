/* What the host and the kernels of sparse x block, direct form (spmm_direct.cu), agree on. Read by C, nvcc
 * and NVRTC, which has no headers: hence long long. */
#ifndef FTB_SPMM_DIRECT_H
#define FTB_SPMM_DIRECT_H

/* Entries begin .. end - 1 of a row. slot: -1, the whole row, which goes to y; else where in `partial` the
 * sum of this piece of a row that was cut goes. */
typedef struct ftb_spmm_piece {
    long long begin, end;
    int row, slot;
} ftb_spmm_piece;

/* A row that was cut: its sums are partial[slot .. slot + count - 1], in the order of its entries. */
typedef struct ftb_spmm_cut {
    long long entries; /* of the row */
    int row, slot, count;
} ftb_spmm_cut;

typedef struct ftb_spmm_direct_arguments {
    long long npieces;
    const ftb_spmm_piece *pieces; /* rows that none of them names are not written */
    const int *colidx;
    const float *x; /* row k at x + k * ldx */
    const float *w; /* entry e's values, one or one a head, at w + e * ldw */
    float *y;       /* row i at y + i * ldy */
    float *partial; /* slot s at partial + s * ldp */
    long long ldx, ldw, ldy, ldp;
    int d, width; /* features; features of a head */
    int mean;     /* not 0: sums are divided by the row's number of entries, if it has any */
    int add;      /* not 0: then they are added to what y has */
} ftb_spmm_direct_arguments;

/* Every variant: X(edge, lanes, values). COPY: x; EDGE: one weight an entry times x; HEADS: one a head. A
 * group of `lanes` takes a piece, `values` consecutive features a lane: d, width and all of ldx, ldy and ldp
 * are multiples of `values`, and x, y and partial are aligned to as many. The kernel is called
 * spmm_direct_f32_<edge>_<lanes>x<values>; its grid is (pieces / groups of a block, d / (lanes * values)),
 * rounded up. */
#define FTB_SPMM_DIRECT_SHAPES(X, edge) X(edge, 32, 4) X(edge, 8, 4) X(edge, 32, 1) X(edge, 4, 1)
#define FTB_SPMM_DIRECT(X)                                                                                   \
    FTB_SPMM_DIRECT_SHAPES(X, COPY) FTB_SPMM_DIRECT_SHAPES(X, EDGE) FTB_SPMM_DIRECT_SHAPES(X, HEADS)
/* Threads of a block, and blocks that a multiprocessor is to hold: 64 registers a thread, with which nothing
 * spills on sm_80, sm_90 and sm_100. Left to itself nvcc takes 40 of some variants, and spills. */
enum { FTB_SPMM_DIRECT_BLOCK = 128, FTB_SPMM_DIRECT_BLOCKS = 8 };

#endif
