/* Reductions of consecutive messages into one row, one per row of semirings/monoids.def and class of values;
 * compiled once per instruction set. Every value is reduced in the order of the messages, so bits do not
 * depend on the instruction set.
 *
 * Cells: instruction sets */
#include "core/isa.h"
#include "cpu/reduce.h"
#include "expr/scalar.h"

#define FEW 16

/* Few values are kept in registers over all messages: `width` is a constant then. */
#define KERNEL(id, name, type, combine)                                                                      \
    static inline __attribute__((always_inline)) void name##_few(type *restrict xs, const type *restrict zs, \
                                                                 int64_t count, int64_t width)               \
    {                                                                                                        \
        typedef type T;                                                                                      \
        T kept[FEW];                                                                                         \
        for (int64_t f = 0; f < width; f++)                                                                  \
            kept[f] = xs[f];                                                                                 \
        for (int64_t t = 0; t < count; t++)                                                                  \
            for (int64_t f = 0; f < width; f++) {                                                            \
                const T x = kept[f], y = zs[t * width + f];                                                  \
                (void)y;                                                                                     \
                kept[f] = (T)(combine);                                                                      \
            }                                                                                                \
        for (int64_t f = 0; f < width; f++)                                                                  \
            xs[f] = kept[f];                                                                                 \
    }                                                                                                        \
    static void name(void *restrict x_, const void *restrict z_, int64_t count, int64_t width, bool fresh)   \
    {                                                                                                        \
        typedef type T;                                                                                      \
        T *restrict xs = x_;                                                                                 \
        const T *restrict zs = z_;                                                                           \
        if (fresh)                                                                                           \
            for (int64_t f = 0; f < width; f++)                                                              \
                xs[f] = FTB_##id == FTB_PLUS ? (T)(0 + zs[f]) : zs[f];                                       \
        zs += fresh ? width : 0;                                                                             \
        count -= fresh;                                                                                      \
        if (width == 1) {                                                                                    \
            name##_few(xs, zs, count, 1);                                                                    \
        } else if (width == 8) {                                                                             \
            name##_few(xs, zs, count, 8);                                                                    \
        } else if (width == FEW) {                                                                           \
            name##_few(xs, zs, count, FEW);                                                                  \
        } else {                                                                                             \
            for (int64_t t = 0; t < count; t++, zs += width)                                                 \
                for (int64_t f = 0; f < width; f++) {                                                        \
                    const T x = xs[f], y = zs[f];                                                            \
                    (void)y;                                                                                 \
                    xs[f] = (T)(combine);                                                                    \
                }                                                                                            \
        }                                                                                                    \
    }
#include "cpu/kernels/monoid_cells.h"

extern const ftb_segment FTB_CELL(ftb_segments)[FTB_NMONOIDS][FTB_NCLASSES];
const ftb_segment FTB_CELL(ftb_segments)[FTB_NMONOIDS][FTB_NCLASSES] = {
#include "monoids.def"
};
