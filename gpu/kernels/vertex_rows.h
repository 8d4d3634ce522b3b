/* What the host and the kernels of supersteps (vertex.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_VERTEX_ROWS_H
#define FTB_VERTEX_ROWS_H

/* A row is that of 2^lanes threads of a warp, which take its values in turn. */
enum { FTB_VERTEX_BLOCK = 256, FTB_VERTEX_MOST_LANES = 5 };

typedef struct ftb_vertex_renew_arguments {
    long long nrows, ncols, ld;
    const void *fresh;
    void *state;
    const unsigned char *who; /* NULL: all */
    unsigned char *changed;   /* NULL: not wanted */
    int lanes, more, store;
} ftb_vertex_renew_arguments;

typedef struct ftb_vertex_flags_arguments {
    long long nrows, ncols;
    const unsigned char *x, *with; /* NULL: there are none */
    const long long *weights;      /* NULL: 0 */
    unsigned char *out;
    unsigned long long *counts; /* 0 so far */
    int lanes, zeros;
} ftb_vertex_flags_arguments;

/* A batch is a warp's. */
typedef struct ftb_vertex_sums_arguments {
    long long count, each;
    const double *x;
    double *sums;
} ftb_vertex_sums_arguments;

/* Every variant of vertex_renew_<type>, X(type, values). */
#define FTB_VERTEX_RENEW(X)                                                                                  \
    X(u8, unsigned char)                                                                                     \
    X(u16, unsigned short)                                                                                   \
    X(u32, unsigned)                                                                                         \
    X(u64, unsigned long long)                                                                               \
    X(f32, float)                                                                                            \
    X(f64, double)

#endif
