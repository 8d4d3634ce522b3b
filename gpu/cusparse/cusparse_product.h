/* Products of a sparse matrix and blocks by cuSPARSE, as both of its calls take them: ways of the verbs spmm
 * and sddmm. */
#ifndef FTB_GPU_CUSPARSE_PRODUCT_H
#define FTB_GPU_CUSPARSE_PRODUCT_H

#include "core/core.h"
#include "gpu/context.h"

/* A block, or the transpose of one, on the device. */
typedef struct ftb_gpu_sparse_block {
    int64_t nrows, ncols, ld;
    void *at;        /* which is only read, or written */
    bool by_columns; /* a value's neighbour is that of the next row */
} ftb_gpu_sparse_block;

/* A, with the entries of p and these values, and two blocks:
 *
 *     SpMM     right = alpha A left + beta right
 *     SDDMM    A = alpha (left right) where A has entries; beta is 0 */
typedef struct ftb_gpu_sparse_product {
    FtB_Context ctx;
    bool dots;      /* SDDMM */
    ftb_pattern *p; /* narrow, of less than 2^31 rows and entries, of which there are some */
    void *values;
    ftb_gpu_sparse_block left, right;
    unsigned algorithm; /* as that call names them */
    float alpha, beta;
} ftb_gpu_sparse_product;

/* Whether cuSPARSE can be used on a GPU, which is found out once, but for want of memory. */
bool ftb_gpu_cusparse_ready(ftb_gpu_device *d);
/* GrB_NO_VALUE: cuSPARSE has nothing for it, and nothing was done. */
GrB_Info ftb_gpu_cusparse_run(ftb_gpu_device *d, const ftb_gpu_sparse_product *product);
/* Between _enter and _leave: what is kept for later products is given up; whether there was any. */
bool ftb_gpu_cusparse_drop(ftb_gpu_device *d);

#endif
