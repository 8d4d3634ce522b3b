/* What the host and the kernels of fused attention (attention.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_ATTENTION_ROWS_H
#define FTB_ATTENTION_ROWS_H

#include "gpu/kernels/edge_dropout.h"
#include "gpu/kernels/spmm_direct.h" /* pieces of rows, and those that were cut */

typedef struct ftb_attention_arguments {
    long long npieces;
    const ftb_spmm_piece *pieces; /* of all rows */
    const int *colidx;
    const float *x; /* of columns: head h of row j at x + j * ldx + h * headx, */
    const float *y; /* of rows, and */
    const float *v; /* the columns' values, likewise; a head step of 0: all heads have the same */
    float *out;     /* row i's head h at out + i * ldo + h * value_width */
    float *lse;     /* at lse + i * heads + h; NULL: not wanted */
    float *partial; /* slot s: heads x value_width sums of exponentials times values, after */
    float *state;   /* heads x 2: the greatest score, the sum of exponentials less it */
    long long ldx, ldy, ldv, ldo;
    int heads, width, value_width; /* width: DOT; ADD has one value */
    int headx, heady, headv;
    float scale; /* DOT */
    float slope; /* ADD; 1: no leaky_relu */
    ftb_edge_dropout drop;
} ftb_attention_arguments;

/* Every variant, X(score, lanes, span, values): a group of `lanes` takes a piece, `span` of them a head, and
 * `values` consecutive features a lane: value_width, ldv, ldo and, of DOT, width, ldx and ldy are multiples
 * of `values`, and the blocks are aligned to as many. The kernel is called
 * attention_f32_<score>_<lanes>x<span>x <values>; its grid is (pieces / groups of a block, tiles of a head's
 * values times heads / (lanes / span)), both rounded up; a tile is span * values. That of the rows that were
 * cut is attention_f32_merge(arguments, cuts), of (values of a row / threads, cuts) blocks. */
#define FTB_ATTENTION_SHAPES(X, score)                                                                       \
    X(score, 32, 32, 4)                                                                                      \
    X(score, 32, 8, 4)                                                                                       \
    X(score, 32, 4, 4) X(score, 8, 8, 4) X(score, 32, 32, 1) X(score, 32, 4, 1) X(score, 4, 4, 1)
#define FTB_ATTENTION(X) FTB_ATTENTION_SHAPES(X, DOT) FTB_ATTENTION_SHAPES(X, ADD)
/* As FTB_SPMM_DIRECT_BLOCK and _BLOCKS: 128 registers a thread, as with 96 some variants spill. */
enum { FTB_ATTENTION_BLOCK = 128, FTB_ATTENTION_BLOCKS = 4 };

#endif
