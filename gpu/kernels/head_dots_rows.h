/* What the host and the kernels of heads' dot products (head_dots.cu) agree on. Read by C, nvcc and NVRTC. */
#ifndef FTB_HEAD_DOTS_ROWS_H
#define FTB_HEAD_DOTS_ROWS_H

#include "gpu/kernels/column_parts.h"
#include "gpu/kernels/row_items.h"

typedef struct ftb_head_dots_arguments {
    ftb_row_items items;    /* DOT: a lane of a head's span; DX: `values` of a row, all of one head */
    ftb_column_parts parts; /* DA: of heads x width columns */
    int width, span, add;   /* DOT: lanes of a head; not 0: gradients are added */
    const void *x, *a;      /* rows of heads x width values; one of them, packed */
    const void *dy;         /* DX, DA: rows of heads values */
    void *out;              /* DOT: as dy; DX: as x; DA: as a */
    long long ldx, lddy, ldo;
} ftb_head_dots_arguments;

/* Every variant, X(type, values), called head_dots_<type>_DOT_<values> and _DX_<values>: for more than one
 * value, x and a, or a and out, the distances of their rows and the width are multiples of 16 bytes. The
 * passes over rows are X(type), head_dots_<type>_DA and _JOIN. A DOT's order does not depend on the variant.
 */
#define FTB_HEAD_DOTS(X) X(f32, 4) X(f32, 1) X(f64, 2) X(f64, 1)
#define FTB_HEAD_DOTS_DA(X) X(f32) X(f64)
/* DOT: a lane has so many consecutive features, then the span's next. The span is a power of 2, at most a
 * warp. */
enum { FTB_HEAD_DOTS_FEATURES = 4 };

#endif
