/* Reductions of consecutive messages into one row, one per row of semirings/monoids.def and class of values;
 * compiled once per instruction set. Every value is reduced in the order of the messages, so bits do not
 * depend on the instruction set. */
#include "core/isa.h"
#include "expr/reduce.h"
#include "expr/scalar.h"

#define KERNEL(name, type, combine, sum)                                                                     \
    static void name(void *restrict x_, const void *restrict z_, int64_t count, int64_t width, bool fresh)   \
    {                                                                                                        \
        typedef type T;                                                                                      \
        T *restrict xs = x_;                                                                                 \
        const T *restrict zs = z_;                                                                           \
        int64_t t = 0;                                                                                       \
        if (fresh && (sum))                                                                                  \
            memset(xs, 0, (size_t)width * sizeof(T));                                                        \
        if (fresh && !(sum)) {                                                                               \
            memcpy(xs, zs, (size_t)width * sizeof(T));                                                       \
            t = 1;                                                                                           \
        }                                                                                                    \
        for (; t < count; t++) {                                                                             \
            const T *restrict ys = zs + t * width;                                                           \
            for (int64_t f = 0; f < width; f++) {                                                            \
                const T x = xs[f], y = ys[f];                                                                \
                (void)y;                                                                                     \
                xs[f] = (T)(combine);                                                                        \
            }                                                                                                \
        }                                                                                                    \
    }
#define IS_SUM(id) (FTB_##id == FTB_PLUS)
#define WRAP(id, combine)                                                                                    \
    KERNEL(id##_u64, uint64_t, combine, IS_SUM(id))                                                          \
    KERNEL(id##_f32, float, combine, IS_SUM(id))                                                             \
    KERNEL(id##_f64, double, combine, IS_SUM(id))
#define ORDER(id, combine)                                                                                   \
    KERNEL(id##_u8, uint8_t, combine, false) KERNEL(id##_i64, int64_t, combine, false) WRAP(id, combine)
#define LOGIC(id, combine) KERNEL(id##_u8, uint8_t, combine, false)
#define FTB_MONOID(id, name, identity, terminal, idempotent, rule, combine, summary) rule(id, combine)
#include "monoids.def"
#undef FTB_MONOID

#define WRAP_ROW(id)                                                                                         \
    {                                                                                                        \
        NULL, id##_u64, id##_u64, id##_f32, id##_f64                                                         \
    }
#define ORDER_ROW(id)                                                                                        \
    {                                                                                                        \
        id##_u8, id##_i64, id##_u64, id##_f32, id##_f64                                                      \
    }
#define LOGIC_ROW(id)                                                                                        \
    {                                                                                                        \
        id##_u8, NULL, NULL, NULL, NULL                                                                      \
    }
#define FTB_MONOID(id, name, identity, terminal, idempotent, rule, combine, summary) rule##_ROW(id),
extern const ftb_segment FTB_CELL(ftb_segments)[FTB_NMONOIDS][FTB_NCLASSES];
const ftb_segment FTB_CELL(ftb_segments)[FTB_NMONOIDS][FTB_NCLASSES] = {
#include "monoids.def"
};
