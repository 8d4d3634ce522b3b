/* Losses: what the verbs `loss` and `loss_grad` compute. */
#ifndef FTB_LOSS_PRODUCT_H
#define FTB_LOSS_PRODUCT_H

#include "core/core.h"

typedef enum ftb_loss_form {
    FTB_LOSS_CLASSES, /* row i: log(sum exp x_i) - x_i[labels[i]] */
    FTB_LOSS_BINARY,  /* a value: log(1 + exp(x)) - x t */
    FTB_LOSS_SQUARED  /* a value: (x - t)^2 */
} ftb_loss_form;

/* out = the mean over the rows that count, or their values. Gradients: of it times dout. */
typedef struct ftb_loss_product {
    FtB_Context ctx;
    ftb_loss_form what;
    FtB_Type type;    /* of x, its gradient and out: FP32 or FP64 */
    FtB_Type targets; /* of t and its gradient */
    int64_t nrows, ncols;
    const void *x, *t; /* t: not of CLASSES */
    int64_t ldx, ldt;
    const void *labels; /* int32_t, of CLASSES */
    const void *mask;   /* uint8_t, 0: the row does not count; NULL: all do */
    int64_t counted;    /* rows that do, one at least */
    void *out;          /* one value */
    /* loss_grad; NULL: not wanted, add_*: added to what is there */
    const void *dout;
    void *dx, *dt;
    int64_t lddx, lddt;
    bool add_dx, add_dt;
} ftb_loss_product;

#endif
