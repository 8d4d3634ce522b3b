/* Kernels that compute a value for every entry of a pattern from rows of two blocks. */
#ifndef FTB_CPU_SDDMM_H
#define FTB_CPU_SDDMM_H

#include "core/isa.h"
#include "cpu/kernels/heads.h"

#include <stdbool.h>

typedef struct ftb_sddmm_job {
    ftb_visits visits;
    int64_t heads;
    int64_t width; /* of a head, as ftb_lanes_width gives it */
    const void *x; /* source rows, xld values apart, heads x width each */
    int64_t xld;
    const void *y; /* destination rows, likewise */
    int64_t yld;
    bool add; /* to what `out` holds: features after the first tile */
    double scale;
    void *out; /* entries x heads */
} ftb_sddmm_job;

/* Visits first .. last - 1. */
typedef void (*ftb_sddmm_kernel)(const ftb_sddmm_job *s, int64_t first, int64_t last);

/* The registry: X(name, heads are one, groups of 16 lanes in a head, lanes in a narrow head); 0 is any. The
 * first row that fits is taken. Each is compiled for both floating types and columns of 2 and 4 bytes; wider
 * columns share one body. */
#define FTB_SDDMM_KERNELS(X)                                                                                 \
    X(dot_1x64, true, 4, 0)                                                                                  \
    X(dot_1x128, true, 8, 0)                                                                                 \
    X(dot_1xany, true, 0, 0)                                                                                 \
    X(dot_nx16, false, 1, 0)                                                                                 \
    X(dot_nxany, false, 0, 0)                                                                                \
    X(dot_nx1, false, 0, 1)                                                                                  \
    X(dot_nx2, false, 0, 2)                                                                                  \
    X(dot_nx4, false, 0, 4)                                                                                  \
    X(dot_nx8, false, 0, 8)

/* out(e, h) = scale * dot(y(i, h), x(j, h)) over entries e = (i, j). (sddmm_dot.c) */
FTB_CELLS(ftb_sddmm_kernel, ftb_sddmm_pick_f32, (int64_t heads, int64_t width, int column_size))
FTB_CELLS(ftb_sddmm_kernel, ftb_sddmm_pick_f64, (int64_t heads, int64_t width, int column_size))

#endif
