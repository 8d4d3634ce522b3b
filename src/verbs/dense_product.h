/* Dense products: row-major, FP32 or FP64, all of one type. */
#ifndef FTB_DENSE_PRODUCT_H
#define FTB_DENSE_PRODUCT_H

#include "core/core.h"

typedef enum ftb_dense_form { FTB_AB, FTB_ATB, FTB_ABT } ftb_dense_form;

/* C = A B, A' B or A B', or C += where `add`; or, of A B, plus a row. */
typedef struct ftb_dense_product {
    FtB_Context ctx;
    ftb_dense_form what;
    FtB_Type type;
    int64_t nrows, ncols, inner; /* of C, and what is summed over */
    const void *a, *b;
    /* The host's alone: */
    const void *row; /* that each of C's begins as; NULL: none */
    bool relu;       /* of A B: what is not above 0 then becomes 0 */
    void *c;
    int64_t lda, ldb, ldc; /* values from one row to the next, as stored */
    bool add;
} ftb_dense_product;

#endif
