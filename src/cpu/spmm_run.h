/* Sparse x block on plain memory, by kernels, as a plan says. */
#ifndef FTB_SPMM_RUN_H
#define FTB_SPMM_RUN_H

#include "cpu/kernels/spmm_kernels.h"
#include "plan/spmm_plan.h"

/* T(i,:) = reduce over the entries e = (i, k) of p of message(X(k,:), Y(e,:)), for which there is a kernel.
 */
typedef struct ftb_spmm_product {
    FtB_Context ctx;
    ftb_pattern *p; /* columns not wide */
    ftb_spmm_kind kind;
    ftb_form form;        /* COPY .. DIV */
    bool least;           /* min */
    int64_t heads, width; /* of T: heads x width features */
    const void *x;        /* row k at x + k * ldx values of `stored` */
    FtB_Type stored;      /* PARTITIONED: any; DIRECT: kind.type */
    int64_t ldx;
    const void *y;          /* entry e's at y + e * yheads * ywidth values of kind.type; NULL: none */
    int64_t yheads, ywidth; /* 1 or heads, 1 or width */
    const int64_t *rows;    /* DIRECT: only these, the others of T are not written; NULL: all */
    int64_t nlisted;
    void *out; /* row i at out + i * ldo, of kind.type */
    int64_t ldo;
    bool mean;          /* rows are divided by their number of entries; FP32 or FP64 */
    bool whole;         /* rows without entries get the identity; else they hold anything */
    bool interruptible; /* out is scratch: what was begun may be left */
} ftb_spmm_product;
/* DIRECT or PARTITIONED. Allocates all that it needs before anything is written. (spmm_run.c) */
GrB_Info ftb_spmm_run(const ftb_spmm_product *product, const ftb_spmm_plan *plan);
/* Features [feature, feature + count) of row i of `out` over its number of entries, if it has any. */
void ftb_spmm_divide_row(const ftb_spmm_product *product, int64_t i, int64_t feature, int64_t count);
/* The kernel that takes the place of the direct family's where there is one feature; NULL: none does, and
 * such a product must be planned direct, since the kernel adds in an order of its own. (spmm_run.c) */
ftb_spmm_row ftb_spmm_vector(const ftb_spmm_product *product);

#endif
