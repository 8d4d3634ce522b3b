/* What the host and the kernels of dense products (dense.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_DENSE_TILES_H
#define FTB_DENSE_TILES_H

/* A block computes a tile of C over a part of what is summed over: part t of `parts` is steps
 * t steps / parts .. (t + 1) steps / parts - 1, of STEP terms each. */
enum { FTB_DENSE_BLOCK = 256, FTB_DENSE_SIDE = 16, FTB_DENSE_STEP = 16 };

typedef struct ftb_dense_arguments {
    long long nrows, ncols, inner; /* of C, and what is summed over */
    const void *a, *b;
    void *c;
    long long lda, ldb, ldc;
    void *partial; /* of more than one part: part t's nrows x ncols sums; joined by dense_<type>_join */
    int parts, add;
    unsigned tiles; /* beside one another in C */
} ftb_dense_arguments;

/* Every variant, X(type, form, r, s): dense_<type>_<form>_<r>x<s>, of tiles of 16 r x 16 s values, whose grid
 * is (tiles of C, parts). That of dense_<type>_join is a line with a thread for each value of C. */
#define FTB_DENSE_SHAPES(X, type, form)                                                                      \
    X(type, form, 4, 4) X(type, form, 4, 1) X(type, form, 1, 4) X(type, form, 1, 1)
#define FTB_DENSE_FORMS(X, type)                                                                             \
    FTB_DENSE_SHAPES(X, type, AB) FTB_DENSE_SHAPES(X, type, ATB) FTB_DENSE_SHAPES(X, type, ABT)
#define FTB_DENSE(X) FTB_DENSE_FORMS(X, f32) FTB_DENSE_FORMS(X, f64)
#define FTB_DENSE_JOIN(X) X(f32) X(f64)

#endif
