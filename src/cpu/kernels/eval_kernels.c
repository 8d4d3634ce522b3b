/* Elementwise instructions: one loop per row of semirings/operators.def and class of operands, compiled once
 * per instruction set. Loops are plain, over restrict pointers, for the compiler to vectorise.
 *
 * Cells: instruction sets */
#include "cpu/kernels/eval_kernels.h"

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

#include "expr/operator_cells.h"

const ftb_kernel_set FTB_CELL(ftb_kernel_sets)[1] = {{
    .op =
        {
#include "operators.def"
        },
    .cast = FTB_CASTS,
    .copy = FTB_COPIES,
    .select = FTB_SELECTS,
    .matmul = CELL3(ftb_matmul_u64, ftb_matmul_f32, ftb_matmul_f64),
}};
