/* What the host and the kernels of what winning entries stand for (winners.cu) agree on. Read by C, nvcc and
 * NVRTC. */
#ifndef FTB_WINNING_ENTRIES_H
#define FTB_WINNING_ENTRIES_H

#include "gpu/kernels/entry_sums.h"
#include "gpu/kernels/row_items.h"

/* out(i, f) = x(k, f mod xvalues), k being the column of entry won(i, f); 0 where that is none of nvals. */
typedef struct ftb_winners_arguments {
    ftb_row_items items; /* values of rows */
    const long long *won;
    const int *colidx;
    const void *x; /* row k at x + k * ldx */
    void *out;     /* packed */
    long long ldwon, ldx, xvalues, nvals;
} ftb_winners_arguments;

/* out(k, f) = the sum of x(i, f) over the entries t = (k, i) of row k of a transpose that are won(i, f). */
typedef struct ftb_winners_grad_arguments {
    ftb_entry_sums entries; /* its width: values */
    const long long *rowptr, *from;
    const int *colidx;
    const long long *won;
    const void *x;
    void *out; /* packed */
    unsigned char *any;
    long long ldwon, ldx, nrows;
} ftb_winners_grad_arguments;

/* winners_<bytes>, X(bytes, word): any type of as many. winners_grad_<type>, X(type), and its _cut, as
 * entry_sums.cuh has them; winners_any: a warp a row of the transpose. */
#define FTB_WINNERS(X) X(8, unsigned long long) X(4, unsigned) X(2, unsigned short) X(1, unsigned char)
#define FTB_WINNERS_GRAD(X) X(f32) X(f64)
enum { FTB_WINNERS_ANY_BLOCK = 128 };

#endif
