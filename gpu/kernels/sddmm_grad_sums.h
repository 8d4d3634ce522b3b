/* What the host and the kernels of gradients of sums on entries (sddmm_grad.cu) agree on. Read by C, nvcc and
 * NVRTC. */
#ifndef FTB_SDDMM_GRAD_SUMS_H
#define FTB_SDDMM_GRAD_SUMS_H

#include "gpu/kernels/entry_sums.h"

typedef struct ftb_sddmm_grad_arguments {
    ftb_entry_sums entries; /* of the rows that are walked; its width: heads */
    const int *colidx;
    const long long *from; /* where in grad entry e is: from[e]; NULL: e */
    const float *grad;     /* packed rows of heads */
    const float *own;      /* of the rows, row i at own + i * ldown */
    const float *other;    /* of the columns */
    long long ldown, ldother;
    float slope;
    float *out; /* packed rows of heads */
} ftb_sddmm_grad_arguments;

#endif
