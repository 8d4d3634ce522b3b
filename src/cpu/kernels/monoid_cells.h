/* Kernels by monoid and class of values, for files that have one for each: a file defines
 *
 *     KERNEL(id, name, type, combine)        the function `name`: x and y of `type` give `combine`
 *
 * and includes this header, which makes the functions of every row of semirings/monoids.def. From then on
 * including monoids.def gives the rows of a table [FTB_NMONOIDS][FTB_NCLASSES] of them, NULL where a monoid
 * is not of that class. */
#ifndef FTB_MONOID_CELLS_H
#define FTB_MONOID_CELLS_H

#define KERNELS_WRAP(id, combine)                                                                            \
    KERNEL(id, id##_u64, uint64_t, combine)                                                                  \
    KERNEL(id, id##_f32, float, combine)                                                                     \
    KERNEL(id, id##_f64, double, combine)
#define KERNELS_ORDER(id, combine)                                                                           \
    KERNEL(id, id##_u8, uint8_t, combine)                                                                    \
    KERNEL(id, id##_i64, int64_t, combine)                                                                   \
    KERNELS_WRAP(id, combine)
#define KERNELS_LOGIC(id, combine) KERNEL(id, id##_u8, uint8_t, combine)
#define FTB_MONOID(id, name, identity, idempotent, rule, combine, summary) KERNELS_##rule(id, combine)
#include "monoids.def"
#undef FTB_MONOID

/* clang-format off */
#define ROW_WRAP(id) {NULL, id##_u64, id##_u64, id##_f32, id##_f64},
#define ROW_ORDER(id) {id##_u8, id##_i64, id##_u64, id##_f32, id##_f64},
#define ROW_LOGIC(id) {id##_u8, NULL, NULL, NULL, NULL},
/* clang-format on */
#define FTB_MONOID(id, name, identity, idempotent, rule, combine, summary) ROW_##rule(id)

#endif
