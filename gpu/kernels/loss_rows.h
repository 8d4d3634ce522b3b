/* What the host and the kernels of losses (loss.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_LOSS_ROWS_H
#define FTB_LOSS_ROWS_H

#include "gpu/kernels/column_parts.h"

enum { FTB_LOSS_ROWS_BLOCK = 128 };

/* As ftb_loss_product has them; what: of its forms. */
typedef struct ftb_loss_arguments {
    int what;
    long long nrows, ncols;
    const void *x, *t;
    long long ldx, ldt;
    const int *labels;
    const unsigned char *mask;
    double terms; /* over which the mean is */
    void *out;
    const void *dout;
    void *dx, *dt;
    long long lddx, lddt;
    int add_dx, add_dt;
    ftb_column_parts rows; /* of one column: a row's loss */
} ftb_loss_arguments;

/* Every variant, X(type): loss_<type>_part and loss_<type>_join (columns.cuh); loss_<type>_grad, a thread for
 * each row. */
#define FTB_LOSS_KERNELS(X) X(f32) X(f64)

#endif
