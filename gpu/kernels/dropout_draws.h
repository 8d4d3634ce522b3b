/* What the host and the kernels of dropout (dropout.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_DROPOUT_DRAWS_H
#define FTB_DROPOUT_DRAWS_H

typedef struct ftb_dropout_arguments {
    long long count, ncols, ldx, ldy; /* count: of all values; rows that lie side by side are one */
    const void *x;
    void *y; /* may be x */
    unsigned long long seed;
    const unsigned long long *seed_at; /* where it is, in place of that; else NULL */
    unsigned threshold;                /* of 2^16: a draw below it drops */
    float scale;                       /* of what is kept */
} ftb_dropout_arguments;

/* Every variant, X(type, what), called dropout_<type>_<what>. A thread has a counter, which is 8 draws, and a
 * block so many values: the grid is a line of count / FTB_DROPOUT_VALUES, rounded up. */
#define FTB_DROPOUT(X) X(f32, PUT) X(f32, ADD) X(f64, PUT) X(f64, ADD)
enum { FTB_DROPOUT_THREADS = 256, FTB_DROPOUT_VALUES = 8 * FTB_DROPOUT_THREADS };

#endif
