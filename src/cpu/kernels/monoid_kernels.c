/* x = x (monoid) y, element by element; compiled once per instruction set. The loops are left to the
 * compiler's vectoriser: element-wise, so every instruction set gives the same bits.
 *
 * Cells: instruction sets */
#include "core/isa.h"
#include "expr/scalar.h"

/* One kernel: `combine` over x and y, computed in T. */
#define KERNEL(id, name, type, combine)                                                                      \
    static void name(void *restrict x_, const void *restrict y_, int64_t count)                              \
    {                                                                                                        \
        typedef type T;                                                                                      \
        T *restrict xs = x_;                                                                                 \
        const T *restrict ys = y_;                                                                           \
        for (int64_t f = 0; f < count; f++) {                                                                \
            const T x = xs[f], y = ys[f];                                                                    \
            (void)y;                                                                                         \
            xs[f] = (T)(combine);                                                                            \
        }                                                                                                    \
    }
#include "cpu/kernels/monoid_cells.h"

const ftb_combine FTB_CELL(ftb_combines)[FTB_NMONOIDS][FTB_NCLASSES] = {
#include "monoids.def"
};
