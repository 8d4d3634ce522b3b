/* What the host and the kernels of softmax by row (softmax.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_SOFTMAX_ROWS_H
#define FTB_SOFTMAX_ROWS_H

#include "gpu/kernels/edge_dropout.h"
#include "gpu/kernels/spmm_direct.h" /* pieces of rows, and those that were cut */

typedef struct ftb_softmax_arguments {
    long long npieces;
    const ftb_spmm_piece *pieces; /* those of rows that were cut are passed over */
    const long long *rowptr;      /* for the rows that were cut */
    const long long *from;        /* where in the arrays entry e is: from[e]; NULL: e */
    const float *in; /* its score for head h at in + (where it is) * heads + h, as what follows: */
    const float *d;  /* GRADIENT: that of out, where in is the softmax */
    float *out;      /* may be in or d */
    float *lse;      /* FORWARD: row i's at lse + i * heads; NULL: not wanted */
    int heads;
    ftb_edge_dropout drop; /* FORWARD, without from: of out, after lse */
} ftb_softmax_arguments;

/* Every variant, X(what, lanes), called softmax_f32_<what>_<lanes>: a group of `lanes` takes a row, and the
 * grid is a line. The rows that were cut have a block each, with softmax_f32_<what>_cut(arguments, cuts). */
#define FTB_SOFTMAX(X) X(FORWARD, 32) X(FORWARD, 8) X(GRADIENT, 32) X(GRADIENT, 8)
#define FTB_SOFTMAX_CUT(X) X(FORWARD) X(GRADIENT)
/* As FTB_SPMM_DIRECT_BLOCK and _BLOCKS. */
enum { FTB_SOFTMAX_BLOCK = 128, FTB_SOFTMAX_BLOCKS = 8 };

#endif
