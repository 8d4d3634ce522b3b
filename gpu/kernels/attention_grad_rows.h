/* What the host and the kernels of attention's gradients (attention_grad.cu) agree on. Read by C, nvcc and
 * NVRTC. */
#ifndef FTB_ATTENTION_GRAD_ROWS_H
#define FTB_ATTENTION_GRAD_ROWS_H

#include "gpu/kernels/edge_dropout.h"
#include "gpu/kernels/spmm_direct.h" /* pieces of rows, and those that were cut */

/* One walk: over the rows of the pattern (QUERIES), or over those of its transpose (SOURCES). Rows of blocks
 * are as attention_rows.h has them; `own` is the walked row's, `other` the entry's column's. */
typedef struct ftb_attention_grad_arguments {
    long long npieces;
    const ftb_spmm_piece *pieces; /* of all rows that are walked */
    const int *colidx;
    const long long *from; /* SOURCES: the entry's number in the pattern; NULL: nothing is dropped */
    const float *other, *other_values; /* QUERIES: x and v; SOURCES: y and d */
    const float *own, *own_values;     /* QUERIES: y and d; SOURCES: x and v */
    const float *lse, *delta; /* of the pattern's rows: heads each, delta as attention_grad_delta has it */
    float *grad;        /* of `own`: head h of row i at grad + i * ldgrad + h * width; NULL: not wanted */
    float *grad_values; /* SOURCES: of `own_values`, likewise; NULL: not wanted */
    float *partial, *partial_values; /* the same of slots of pieces, packed */
    long long ldother, ldother_values, ldown, ldown_values, ldgrad, ldgrad_values;
    int heads, width, value_width; /* width: DOT; of ADD 1 */
    float scale;                   /* DOT */
    float slope;                   /* ADD */
    ftb_edge_dropout drop;
} ftb_attention_grad_arguments;

/* delta(i, h) = dot(t(i, h), d(i, h)) */
typedef struct ftb_attention_delta_arguments {
    const float *t, *d; /* head h of row i at t + i * ldt + h * value_width */
    float *delta;
    long long ldt, ldd, count; /* count: rows x heads */
    int heads, value_width;
} ftb_attention_delta_arguments;

/* Every variant, X(walk, score, lanes, span, values), in the shapes and with the grid of attention_rows.h,
 * where tiles are of the wider of width and value_width: attention_grad_f32_<walk>_<score>_<lanes>x<span>x
 * <values>. Rows that were cut: attention_grad_merge(arguments, cuts), of (values of a row of grad and
 * grad_values / threads, cuts) blocks. attention_grad_delta: FTB_ATTENTION_DELTA_LANES lanes a row's head. */
#define FTB_ATTENTION_GRAD_SHAPES(X, walk, score)                                                            \
    X(walk, score, 32, 32, 4)                                                                                \
    X(walk, score, 32, 8, 4)                                                                                 \
    X(walk, score, 32, 4, 4)                                                                                 \
    X(walk, score, 8, 8, 4)                                                                                  \
    X(walk, score, 32, 32, 1)                                                                                \
    X(walk, score, 32, 4, 1)                                                                                 \
    X(walk, score, 4, 4, 1)
#define FTB_ATTENTION_GRAD(X)                                                                                \
    FTB_ATTENTION_GRAD_SHAPES(X, QUERIES, DOT)                                                               \
    FTB_ATTENTION_GRAD_SHAPES(X, QUERIES, ADD)                                                               \
    FTB_ATTENTION_GRAD_SHAPES(X, SOURCES, DOT)                                                               \
    FTB_ATTENTION_GRAD_SHAPES(X, SOURCES, ADD)
enum { FTB_ATTENTION_GRAD_BLOCK = 128, FTB_ATTENTION_GRAD_BLOCKS = 4, FTB_ATTENTION_DELTA_LANES = 8 };

#endif
