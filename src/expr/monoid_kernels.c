/* x = x (monoid) y, element by element; compiled once per instruction set. The loops are left to the
 * compiler's vectoriser: element-wise, so every instruction set gives the same bits. */
#include "core/isa.h"
#include "expr/scalar.h"

/* One kernel: `combine` over x and y, computed in T. */
#define KERNEL(name, type, combine)                                                                          \
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
#define WRAP(id, combine)                                                                                    \
    KERNEL(id##_u64, uint64_t, combine) KERNEL(id##_f32, float, combine) KERNEL(id##_f64, double, combine)
#define ORDER(id, combine)                                                                                   \
    KERNEL(id##_u8, uint8_t, combine) KERNEL(id##_i64, int64_t, combine) WRAP(id, combine)
#define LOGIC(id, combine) KERNEL(id##_u8, uint8_t, combine)
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
const ftb_combine FTB_CELL(ftb_combines)[FTB_NMONOIDS][FTB_NCLASSES] = {
#include "monoids.def"
};
