/* Sparse x block: what the verb `spmm` computes. */
#ifndef FTB_SPMM_PRODUCT_H
#define FTB_SPMM_PRODUCT_H

#include "core/core.h"
#include "expr/rewrite.h"

/* What edges bring along. */
typedef enum ftb_spmm_edge {
    FTB_EDGE_NONE,
    FTB_EDGE_ONE,   /* one value, for all features */
    FTB_EDGE_HEADS, /* one per head, whose features fill whole vectors */
    FTB_EDGE_LANES  /* one per head or per feature */
} ftb_spmm_edge;

/* Which kernel. form: COPY, MUL, or ANY: one of MUL, ADD, SUB, RSUB, DIV that is looked at while running. */
typedef struct ftb_spmm_kind {
    FtB_Type type; /* FP32, FP64, INT64 */
    bool best;     /* min or max; else plus */
    ftb_form form;
    ftb_spmm_edge edge;
} ftb_spmm_kind;

/* What rows without entries become. */
typedef enum ftb_empty_rows { FTB_EMPTY_ANYTHING, FTB_EMPTY_IDENTITY, FTB_EMPTY_ZERO } ftb_empty_rows;

/* T(i,:) = reduce over the entries e = (i, k) of p of message(X(k,:), Y(e,:)), for which there is a kernel.
 */
typedef struct ftb_spmm_product {
    FtB_Context ctx;
    ftb_pattern *p; /* columns not wide */
    ftb_spmm_kind kind;
    ftb_form form;        /* COPY .. DIV */
    bool least;           /* min */
    int64_t heads, width; /* of T: heads x width features */
    const void *x;        /* row k at x + k * ldx values of `stored`; computed with in kind.type */
    FtB_Type stored;
    int64_t ldx;
    const void
        *y; /* entry e's yheads * ywidth at y + (at ? at[e] : e) * ldy values of `ystored`; NULL: none */
    FtB_Type ystored;
    int64_t ldy, yheads, ywidth; /* 1 or heads, 1 or width */
    const int64_t *at;           /* the host's; NULL: as they are */
    const int64_t *rows;         /* DIRECT: only these, the others of T are not written; NULL: all */
    int64_t nlisted;
    void *out; /* row i at out + i * ldo, of kind.type */
    int64_t ldo;
    bool mean;            /* rows are divided by their number of entries; FP32 or FP64 */
    bool add;             /* rows with entries are added to out, the others stay; all rows */
    ftb_empty_rows empty; /* without add */
    bool with_won; /* best: the entries of p that won are wanted, INT64, -1 for none; not on the host */
    void *won;     /* row i at won + i * ldwon; NULL: not wanted */
    int64_t ldwon;
    bool interruptible; /* out is scratch: what was begun may be left */
} ftb_spmm_product;

#endif
