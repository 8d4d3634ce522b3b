/* Elementwise instructions: one loop per row of semirings/operators.def and class of operands, compiled once
 * per instruction set. Loops are plain, over restrict pointers, for the compiler to vectorise. */
#include "expr/kernels.h"
#include "expr/real.h"

#define SIGNATURE (int64_t items, int64_t width, void *restrict out_, const ftb_view *v)

#define LOOP1(name, type, result, form)                                                                      \
    static void name SIGNATURE                                                                               \
    {                                                                                                        \
        typedef type T;                                                                                      \
        result *restrict out = out_;                                                                         \
        for (int64_t t = 0; t < items; t++, out += width) {                                                  \
            const T *restrict xs = (const T *)v[0].data + t * v[0].item;                                     \
            if (v[0].feature) {                                                                              \
                for (int64_t f = 0; f < width; f++) {                                                        \
                    const T x = xs[f];                                                                       \
                    out[f] = (result)(form);                                                                 \
                }                                                                                            \
            } else {                                                                                         \
                const T x = xs[0];                                                                           \
                const result z = (result)(form);                                                             \
                for (int64_t f = 0; f < width; f++)                                                          \
                    out[f] = z;                                                                              \
            }                                                                                                \
        }                                                                                                    \
    }

#define LOOP2(name, type, result, form)                                                                      \
    static void name SIGNATURE                                                                               \
    {                                                                                                        \
        typedef type T;                                                                                      \
        result *restrict out = out_;                                                                         \
        for (int64_t t = 0; t < items; t++, out += width) {                                                  \
            const T *restrict xs = (const T *)v[0].data + t * v[0].item;                                     \
            const T *restrict ys = (const T *)v[1].data + t * v[1].item;                                     \
            if (v[0].feature && v[1].feature) {                                                              \
                for (int64_t f = 0; f < width; f++) {                                                        \
                    const T x = xs[f], y = ys[f];                                                            \
                    out[f] = (result)(form);                                                                 \
                }                                                                                            \
            } else if (v[0].feature) {                                                                       \
                const T y = ys[0];                                                                           \
                for (int64_t f = 0; f < width; f++) {                                                        \
                    const T x = xs[f];                                                                       \
                    out[f] = (result)(form);                                                                 \
                }                                                                                            \
            } else {                                                                                         \
                const T x = xs[0];                                                                           \
                for (int64_t f = 0; f < width; f++) {                                                        \
                    const T y = ys[f * v[1].feature];                                                        \
                    out[f] = (result)(form);                                                                 \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

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

#define FTB_OPERATOR(id, spelling, arity, fallback, rule, commutes, integer, real, dx, dy, summary)          \
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

#define SELECT(name, T)                                                                                      \
    static void name SIGNATURE                                                                               \
    {                                                                                                        \
        T *restrict out = out_;                                                                              \
        for (int64_t t = 0; t < items; t++, out += width) {                                                  \
            const uint8_t *restrict c = (const uint8_t *)v[0].data + t * v[0].item;                          \
            const T *restrict xs = (const T *)v[1].data + t * v[1].item;                                     \
            const T *restrict ys = (const T *)v[2].data + t * v[2].item;                                     \
            if (v[0].feature && v[1].feature && v[2].feature) {                                              \
                for (int64_t f = 0; f < width; f++)                                                          \
                    out[f] = c[f] ? xs[f] : ys[f];                                                           \
            } else if (v[0].feature && v[1].feature) {                                                       \
                const T y = ys[0];                                                                           \
                for (int64_t f = 0; f < width; f++)                                                          \
                    out[f] = c[f] ? xs[f] : y;                                                               \
            } else if (v[0].feature && v[2].feature) {                                                       \
                const T x = xs[0];                                                                           \
                for (int64_t f = 0; f < width; f++)                                                          \
                    out[f] = c[f] ? x : ys[f];                                                               \
            } else if (v[0].feature) {                                                                       \
                const T x = xs[0], y = ys[0];                                                                \
                for (int64_t f = 0; f < width; f++)                                                          \
                    out[f] = c[f] ? x : y;                                                                   \
            } else {                                                                                         \
                const T *restrict from = c[0] ? xs : ys;                                                     \
                const int64_t step = c[0] ? v[1].feature : v[2].feature;                                     \
                for (int64_t f = 0; f < width; f++)                                                          \
                    out[f] = from[f * step];                                                                 \
            }                                                                                                \
        }                                                                                                    \
    }
SELECT(select_8, uint8_t)
SELECT(select_32, uint32_t)
SELECT(select_64, uint64_t)

/* ---- the set of this instruction set */

#define ROW_WRAP(id) {NULL, id##_u64, id##_u64, id##_f32, id##_f64},
#define ROW_ORDER(id) {NULL, id##_i64, id##_u64, id##_f32, id##_f64},
#define ROW_INTEGER(id) {NULL, id##_u64, id##_u64, NULL, NULL},
#define ROW_REAL(id) {NULL, NULL, NULL, id##_f32, id##_f64},
#define ROW_COMPARE(id) {NULL, id##_i64, id##_u64, id##_f32, id##_f64},
#define ROW_LOGIC(id) {id##_u8, NULL, NULL, NULL, NULL},
#define ROW_CONVERT(id) {NULL, id##_u64, id##_u64, NULL, id##_f64},
#define ROW_FEATURE(id) FEATURE_##id,
#define ROW_FORM(id) {NULL},
#define CELL3(u64, f32, f64)                                                                                 \
    {                                                                                                        \
        NULL, FTB_CELL(u64), FTB_CELL(u64), FTB_CELL(f32), FTB_CELL(f64)                                     \
    }
#define FEATURE_DOT CELL3(ftb_dot_u64, ftb_dot_f32, ftb_dot_f64)
#define FEATURE_SUM CELL3(ftb_sum_u64, ftb_sum_f32, ftb_sum_f64)
#define FEATURE_MEAN                                                                                         \
    {                                                                                                        \
        NULL, NULL, NULL, FTB_CELL(ftb_mean_f32), FTB_CELL(ftb_mean_f64)                                     \
    }
#define FEATURE_HYPERGEOM_SF                                                                                 \
    {                                                                                                        \
        NULL, NULL, NULL, NULL, FTB_CELL(ftb_hypergeometric)                                                 \
    }

const ftb_kernel_set FTB_CELL(ftb_kernel_sets)[1] = {{
    .op =
        {
#define FTB_OPERATOR(id, spelling, arity, fallback, rule, commutes, integer, real, dx, dy, summary)          \
    ROW_##rule(id)
#include "operators.def"
        },
    .cast = {{copy_8, bool_i64, bool_i64, bool_f32, bool_f64},
             {u64_bool, copy_64, copy_64, i64_f32, i64_f64},
             {u64_bool, copy_64, copy_64, u64_f32, u64_f64},
             {f32_bool, f32_i64, f32_u64, copy_32, f32_f64},
             {f64_bool, f64_i64, f64_u64, f64_f32, copy_64}},
    .copy = {copy_8, copy_64, copy_64, copy_32, copy_64},
    .select = {select_8, select_64, select_64, select_32, select_64},
    .matmul = CELL3(ftb_matmul_u64, ftb_matmul_f32, ftb_matmul_f64),
}};
