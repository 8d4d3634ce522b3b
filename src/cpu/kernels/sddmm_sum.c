/* Scores leaky_relu(x(j, h) + y(i, h)) on the entries (i, j) of a pattern, and their gradients:
 *
 *     d(e, h)  = grad(e, h) (x + y > 0 ? 1 : slope)
 *     dy(i, h) = sum over row i of d,   dx(j, h) = sum over column j of d
 *
 * Eight heads at a time, or four, or one, so that a row's half of the score and its sum stay in registers. d
 * is stored for dx, which gathers it by the transpose's permutation: every sum belongs to one thread and has
 * the order of its entries, in parts of 64, so that errors do not grow with hubs. (Velickovic et al., "Graph
 * attention networks", ICLR 2018.)
 *
 * Cells: f32, f64 */
#include "cpu/kernels/sddmm_sum.h"

#include "cpu/kernels/exp.h"

#define PART 64 /* entries that are summed before they join the total */

typedef real single __attribute__((may_alias));
typedef quad_unaligned quads;
typedef real eights __attribute__((vector_size(8 * FTB_REAL_SIZE), aligned(FTB_REAL_SIZE), may_alias));

FTB_INLINE single slope_single(single z, single slope) { return z > 0 ? 1 : slope; }
#define SLOPE(T)                                                                                             \
    FTB_INLINE T slope_##T(T z, real slope)                                                                  \
    {                                                                                                        \
        typedef word mask __attribute__((vector_size(sizeof(T))));                                           \
        const mask above = (mask)(z > 0);                                                                    \
        return (T)(((mask)((T){0} + 1) & above) | ((mask)((T){0} + slope) & ~above));                        \
    }
SLOPE(quads)
SLOPE(eights)

/* Head h, and those behind it that T holds, of one row. */
#define HEADS_OF_ROW(T)                                                                                      \
    FTB_INLINE void sums_##T(const ftb_sums_job *s, int size, int64_t i, int64_t h)                          \
    {                                                                                                        \
        const T y = *(const T *)((const real *)s->y + i * s->yld + h);                                       \
        for (int64_t e = s->rowptr[i]; e < s->rowptr[i + 1]; e++) {                                          \
            const real *x = (const real *)s->x + lanes_column(s->column, size, e) * s->xld;                  \
            const T z = *(const T *)(x + h) + y;                                                             \
            *(T *)((real *)s->out + e * s->heads + h) = z * slope_##T(z, (real)s->slope);                    \
        }                                                                                                    \
    }                                                                                                        \
    FTB_INLINE void grads_##T(const ftb_sums_job *s, int size, int64_t i, int64_t h)                         \
    {                                                                                                        \
        const T y = *(const T *)((const real *)s->y + i * s->yld + h);                                       \
        T total = (T){0}, some = (T){0};                                                                     \
        for (int64_t first = s->rowptr[i], e = first; e < s->rowptr[i + 1]; e++) {                           \
            const real *x = (const real *)s->x + lanes_column(s->column, size, e) * s->xld;                  \
            const T z = *(const T *)(x + h) + y;                                                             \
            const T d =                                                                                      \
                *(const T *)((const real *)s->grad + e * s->heads + h) * slope_##T(z, (real)s->slope);       \
            *(T *)((real *)s->out + e * s->heads + h) = d;                                                   \
            some += d;                                                                                       \
            if ((e - first) % PART == PART - 1) {                                                            \
                total += some;                                                                               \
                some = (T){0};                                                                               \
            }                                                                                                \
        }                                                                                                    \
        *(T *)((real *)s->sum + i * s->heads + h) = total + some;                                            \
    }                                                                                                        \
    FTB_INLINE void listed_##T(const ftb_sums_job *s, const int64_t *entry, int64_t j, int64_t h)            \
    {                                                                                                        \
        T total = (T){0}, some = (T){0};                                                                     \
        for (int64_t first = s->rowptr[j], t = first; t < s->rowptr[j + 1]; t++) {                           \
            some += *(const T *)((const real *)s->out + entry[t] * s->heads + h);                            \
            if ((t - first) % PART == PART - 1) {                                                            \
                total += some;                                                                               \
                some = (T){0};                                                                               \
            }                                                                                                \
        }                                                                                                    \
        *(T *)((real *)s->sum + j * s->heads + h) = total + some;                                            \
    }
HEADS_OF_ROW(single)
HEADS_OF_ROW(quads)
HEADS_OF_ROW(eights)

/* All heads of rows first .. last - 1. */
#define ROWS(run, ...)                                                                                       \
    for (int64_t i = first; i < last; i++) {                                                                 \
        int64_t h = 0;                                                                                       \
        for (; h + 8 <= s->heads; h += 8)                                                                    \
            run##_eights(__VA_ARGS__, i, h);                                                                 \
        for (; h + 4 <= s->heads; h += 4)                                                                    \
            run##_quads(__VA_ARGS__, i, h);                                                                  \
        for (; h < s->heads; h++)                                                                            \
            run##_single(__VA_ARGS__, i, h);                                                                 \
    }

void FTB_REAL_CELL(ftb_sums)(const ftb_sums_job *s, int64_t first, int64_t last)
{
    if (s->column_size == 4)
        ROWS(sums, s, 4)
    else
        ROWS(sums, s, 8)
}

void FTB_REAL_CELL(ftb_sums_grad)(const ftb_sums_job *s, int64_t first, int64_t last)
{
    if (s->column_size == 4)
        ROWS(grads, s, 4)
    else
        ROWS(grads, s, 8)
}

void FTB_REAL_CELL(ftb_sums_listed)(const ftb_sums_job *s, const int64_t *entry, int64_t first, int64_t last)
{
    ROWS(listed, s, entry)
}
