/* What operators, casts, copies and choices do to values: a function for each and each class of operands. A
 * file defines how one is made,
 *
 *     LOOP1(name, type, result, form)    the function `name`: `form` over x of `type` (T), as `result`
 *     LOOP2(name, type, result, form)    over x and y
 *     SELECT(name, type)                 c ? x : y, c of uint8_t
 *     FEATURE_DOT, ...                   rows of the table below for operators over the values of an item
 *
 * and includes this header, which makes the functions of every row of semirings/operators.def. From then on
 * including operators.def gives the rows of a table [FTB_NOPERATORS][FTB_NCLASSES] of them, NULL where an
 * operator is not of that class; FTB_CASTS, FTB_COPIES and FTB_SELECTS are the tables of the others. */
#ifndef FTB_OPERATOR_CELLS_H
#define FTB_OPERATOR_CELLS_H

#include "expr/real.h"
#include "expr/scalar.h"

#define KERNELS_WRAP(id, arity, integer, real)                                                               \
    LOOP##arity(id##_u64, uint64_t, uint64_t, integer) KERNELS_REAL(id, arity, integer, real)
#define KERNELS_ORDER(id, arity, integer, real)                                                              \
    LOOP##arity(id##_i64, int64_t, int64_t, integer) KERNELS_WRAP(id, arity, integer, real)
#define KERNELS_INTEGER(id, arity, integer, real) LOOP##arity(id##_u64, uint64_t, uint64_t, integer)
#define KERNELS_REAL(id, arity, integer, real)                                                               \
    LOOP##arity(id##_f32, float, float, real) LOOP##arity(id##_f64, double, double, real)
#define KERNELS_COMPARE(id, arity, integer, real)                                                            \
    LOOP##arity(id##_i64, int64_t, uint8_t, integer) LOOP##arity(id##_u64, uint64_t, uint8_t, integer)       \
        LOOP##arity(id##_f32, float, uint8_t, real) LOOP##arity(id##_f64, double, uint8_t, real)
#define KERNELS_LOGIC(id, arity, integer, real) LOOP##arity(id##_u8, uint8_t, uint8_t, integer)
#define KERNELS_CONVERT(id, arity, integer, real)                                                            \
    LOOP##arity(id##_u64, uint64_t, uint64_t, integer) LOOP##arity(id##_f64, double, double, real)
#define KERNELS_FEATURE(id, arity, integer, real)
#define KERNELS_FORM(id, arity, integer, real)

#define FTB_OPERATOR(id, spelling, arity, fallback, rule, commutes, rises, integer, real, dx, dy, summary)   \
    KERNELS_##rule(id, arity, integer, real)
#include "operators.def"
#undef FTB_OPERATOR

/* ---- casts: to_from */

LOOP1(bool_i64, int64_t, uint8_t, x != 0)
LOOP1(bool_f32, float, uint8_t, x != 0)
LOOP1(bool_f64, double, uint8_t, x != 0)
LOOP1(u64_bool, uint8_t, uint64_t, x)
LOOP1(i64_f32, float, int64_t, ftb_int64_of((double)x))
LOOP1(i64_f64, double, int64_t, ftb_int64_of(x))
LOOP1(u64_f32, float, uint64_t, ftb_uint64_of((double)x))
LOOP1(u64_f64, double, uint64_t, ftb_uint64_of(x))
LOOP1(f32_bool, uint8_t, float, x)
LOOP1(f32_i64, int64_t, float, x)
LOOP1(f32_u64, uint64_t, float, x)
LOOP1(f32_f64, double, float, x)
LOOP1(f64_bool, uint8_t, double, x)
LOOP1(f64_i64, int64_t, double, x)
LOOP1(f64_u64, uint64_t, double, x)
LOOP1(f64_f32, float, double, x)

/* ---- copies and choices: values as bits */

LOOP1(copy_8, uint8_t, uint8_t, x)
LOOP1(copy_32, uint32_t, uint32_t, x)
LOOP1(copy_64, uint64_t, uint64_t, x)

SELECT(select_8, uint8_t)
SELECT(select_32, uint32_t)
SELECT(select_64, uint64_t)

/* clang-format off */
#define ROW_WRAP(id) {NULL, id##_u64, id##_u64, id##_f32, id##_f64},
#define ROW_ORDER(id) {NULL, id##_i64, id##_u64, id##_f32, id##_f64},
#define ROW_INTEGER(id) {NULL, id##_u64, id##_u64, NULL, NULL},
#define ROW_REAL(id) {NULL, NULL, NULL, id##_f32, id##_f64},
#define ROW_COMPARE(id) {NULL, id##_i64, id##_u64, id##_f32, id##_f64},
#define ROW_LOGIC(id) {id##_u8, NULL, NULL, NULL, NULL},
#define ROW_CONVERT(id) {NULL, id##_u64, id##_u64, NULL, id##_f64},
#define ROW_FEATURE(id) FEATURE_##id,
#define ROW_FORM(id) {NULL},
#define FTB_OPERATOR(id, spelling, arity, fallback, rule, commutes, rises, integer, real, dx, dy, summary) ROW_##rule(id)

#define FTB_CASTS /* to, from */                                                                             \
    {{copy_8, bool_i64, bool_i64, bool_f32, bool_f64},                                                       \
     {u64_bool, copy_64, copy_64, i64_f32, i64_f64},                                                         \
     {u64_bool, copy_64, copy_64, u64_f32, u64_f64},                                                         \
     {f32_bool, f32_i64, f32_u64, copy_32, f32_f64},                                                         \
     {f64_bool, f64_i64, f64_u64, f64_f32, copy_64}}
#define FTB_COPIES {copy_8, copy_64, copy_64, copy_32, copy_64}
#define FTB_SELECTS {select_8, select_64, select_64, select_32, select_64}
/* clang-format on */

#endif
