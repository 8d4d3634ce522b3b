/* Instructions over the values of one item: dot, sum, mean, and x @ W; compiled once per instruction set.
 *
 * A sum of w values is taken in LANES interleaved parts, which are then added in pairs; a shorter one in
 * order. Both depend on w alone, so the bits are the same for every instruction set. The lanes are a
 * vector type, so no reassociation is asked of the compiler.
 *
 * Cells: instruction sets */
#include "cpu/kernels/eval_kernels.h"

#define LANES 16

#define SUMS(suffix, T)                                                                                      \
    typedef T lanes_##suffix __attribute__((vector_size(LANES * sizeof(T))));                                \
    static inline T total_##suffix(const lanes_##suffix *sum)                                                \
    {                                                                                                        \
        T part[LANES];                                                                                       \
        memcpy(part, sum, sizeof part);                                                                      \
        for (int half = LANES / 2; half > 0; half /= 2)                                                      \
            for (int l = 0; l < half; l++)                                                                   \
                part[l] += part[l + half];                                                                   \
        return part[0];                                                                                      \
    }                                                                                                        \
    static inline T sum_##suffix(const T *x, int64_t width)                                                  \
    {                                                                                                        \
        lanes_##suffix sum = {0};                                                                            \
        T rest = 0;                                                                                          \
        int64_t f = 0;                                                                                       \
        for (; f + LANES <= width; f += LANES) {                                                             \
            lanes_##suffix a;                                                                                \
            memcpy(&a, x + f, sizeof a);                                                                     \
            sum += a;                                                                                        \
        }                                                                                                    \
        for (; f < width; f++)                                                                               \
            rest += x[f];                                                                                    \
        return width < LANES ? rest : total_##suffix(&sum) + rest;                                           \
    }                                                                                                        \
    static inline T dot_##suffix(const T *x, int64_t xf, const T *y, int64_t yf, int64_t width)              \
    {                                                                                                        \
        lanes_##suffix sum = {0};                                                                            \
        T rest = 0;                                                                                          \
        int64_t f = 0;                                                                                       \
        for (; f + LANES <= width; f += LANES) {                                                             \
            lanes_##suffix a = x[0] + (lanes_##suffix){0}, b = y[0] + (lanes_##suffix){0};                   \
            if (xf)                                                                                          \
                memcpy(&a, x + f, sizeof a);                                                                 \
            if (yf)                                                                                          \
                memcpy(&b, y + f, sizeof b);                                                                 \
            sum += a * b;                                                                                    \
        }                                                                                                    \
        for (; f < width; f++)                                                                               \
            rest += x[f * xf] * y[f * yf];                                                                   \
        return width < LANES ? rest : total_##suffix(&sum) + rest;                                           \
    }

SUMS(u64, uint64_t)
SUMS(f32, float)
SUMS(f64, double)

#define SIGNATURE (int64_t items, int64_t width, void *restrict out_, const ftb_view *v)

#define FEATURES(suffix, T)                                                                                  \
    void FTB_CELL(ftb_dot_##suffix) SIGNATURE                                                                \
    {                                                                                                        \
        const T *x = v[0].data, *y = v[1].data;                                                              \
        for (int64_t t = 0; t < items; t++)                                                                  \
            ((T *)out_)[t] =                                                                                 \
                dot_##suffix(x + t * v[0].item, v[0].feature, y + t * v[1].item, v[1].feature, width);       \
    }                                                                                                        \
    void FTB_CELL(ftb_sum_##suffix) SIGNATURE                                                                \
    {                                                                                                        \
        for (int64_t t = 0; t < items; t++)                                                                  \
            ((T *)out_)[t] = sum_##suffix((const T *)v[0].data + t * v[0].item, width);                      \
    }
#define MEANS(suffix, T)                                                                                     \
    void FTB_CELL(ftb_mean_##suffix) SIGNATURE                                                               \
    {                                                                                                        \
        for (int64_t t = 0; t < items; t++)                                                                  \
            ((T *)out_)[t] = sum_##suffix((const T *)v[0].data + t * v[0].item, width) / (T)width;           \
    }

FEATURES(u64, uint64_t)
FEATURES(f32, float)
FEATURES(f64, double)
MEANS(f32, float)
MEANS(f64, double)

void FTB_CELL(ftb_hypergeometric) SIGNATURE
{
    for (int64_t t = 0; t < items; t++) {
        const double *x = (const double *)v[0].data + t * v[0].item;
        ((double *)out_)[t] = width == 4 ? ftb_hypergeom_sf(x[0], x[1], x[2], x[3]) : 0;
    }
}

/* Items in fours share each row of a panel; every output is its own sum over the depth, in order. */
#define MATMUL(suffix, T)                                                                                    \
    static inline void panel_##suffix(int64_t rows, int64_t depth, int64_t columns, T *out, int64_t ld,      \
                                      const T *x, int64_t item, const T *panel)                              \
    {                                                                                                        \
        lanes_##suffix sum[4] = {{0}, {0}, {0}, {0}};                                                        \
        for (int64_t p = 0; p < depth; p++) {                                                                \
            lanes_##suffix w;                                                                                \
            memcpy(&w, panel + p * FTB_PANEL, sizeof w);                                                     \
            for (int64_t r = 0; r < rows; r++)                                                               \
                sum[r] += x[r * item + p] * w;                                                               \
        }                                                                                                    \
        for (int64_t r = 0; r < rows; r++)                                                                   \
            memcpy(out + r * ld, &sum[r], (size_t)columns * sizeof(T));                                      \
    }                                                                                                        \
    void FTB_CELL(ftb_matmul_##suffix)(int64_t items, int64_t depth, int64_t width, void *restrict out,      \
                                       const ftb_view *v, const void *restrict panels)                       \
    {                                                                                                        \
        const T *x = v->data, *w = panels;                                                                   \
        for (int64_t c = 0; c < width; c += FTB_PANEL, w += depth * FTB_PANEL) {                             \
            int64_t columns = ftb_min(FTB_PANEL, width - c), t = 0;                                          \
            T *to = (T *)out + c;                                                                            \
            for (; t + 4 <= items; t += 4)                                                                   \
                panel_##suffix(4, depth, columns, to + t * width, width, x + t * v->item, v->item, w);       \
            for (; t < items; t++)                                                                           \
                panel_##suffix(1, depth, columns, to + t * width, width, x + t * v->item, v->item, w);       \
        }                                                                                                    \
    }

MATMUL(u64, uint64_t)
MATMUL(f32, float)
MATMUL(f64, double)
