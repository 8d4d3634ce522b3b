/* Steps of SGD and Adam (nn_train.h has the equations): w, g and the moments are read once, w and the moments
 * written once, which is all that a step costs. Without momentum m is NULL.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/update.h"

#include "cpu/kernels/lanes.h"

FTB_INLINE real cut(real g, real clip) { return g > clip ? clip : g < -clip ? -clip : g; }

FTB_INLINE void sgd(const ftb_update *u, real *restrict w, const real *restrict g, real *restrict m,
                    int64_t count, bool momentum, bool nesterov)
{
    const real rate = (real)u->rate, decay = (real)u->decay, clip = (real)u->clip, scale = (real)u->scale,
               beta = (real)u->beta1;
    for (int64_t k = 0; k < count; k++) {
        real d = cut(g[k], clip) * scale + decay * w[k];
        if (momentum) {
            m[k] = beta * m[k] + d;
            d = nesterov ? d + beta * m[k] : m[k];
        }
        w[k] -= rate * d;
    }
}

void FTB_REAL_CELL(ftb_update_sgd)(const ftb_update *u, void *w, const void *g, void *m, int64_t count)
{
    if (!m)
        sgd(u, w, g, NULL, count, false, false);
    else if (!u->nesterov)
        sgd(u, w, g, m, count, true, false);
    else
        sgd(u, w, g, m, count, true, true);
}

#if FTB_REAL_SIZE == 4
#define root_of(x) __builtin_sqrtf(x)
#else
#define root_of(x) __builtin_sqrt(x)
#endif

void FTB_REAL_CELL(ftb_update_adam)(const ftb_update *u, void *w_, const void *g_, void *m_, void *v_,
                                    int64_t count)
{
    real *restrict w = w_, *restrict m = m_, *restrict v = v_;
    const real *restrict g = g_;
    const real rate = (real)u->rate, decay = (real)u->decay, keep = (real)u->keep, clip = (real)u->clip,
               scale = (real)u->scale, beta1 = (real)u->beta1, beta2 = (real)u->beta2,
               rest1 = (real)(1 - u->beta1), rest2 = (real)(1 - u->beta2), root = (real)u->root,
               eps = (real)u->eps;
    for (int64_t k = 0; k < count; k++) {
        real d = cut(g[k], clip) * scale + decay * w[k];
        real mean = beta1 * m[k] + rest1 * d, square = beta2 * v[k] + rest2 * d * d;
        m[k] = mean;
        v[k] = square;
        w[k] = w[k] * keep - rate * mean / (root_of(square) * root + eps);
    }
}

#define DOUBLES (FTB_VECTOR_BYTES / 8)
#define PARTS (FTB_LANES / DOUBLES) /* registers that hold sixteen sums */

typedef double doubles __attribute__((vector_size(FTB_VECTOR_BYTES), may_alias));
typedef int64_t masks __attribute__((vector_size(FTB_VECTOR_BYTES), may_alias));

/* mask ? x : y; masks are 0 or all ones. */
FTB_INLINE doubles choose(masks mask, doubles x, doubles y)
{
    return (doubles)(((masks)x & mask) | ((masks)y & ~mask));
}

FTB_INLINE void add_squares(doubles sum[PARTS], const real *g, double clip)
{
    const doubles most = clip + (doubles){0};
    for (int p = 0; p < PARTS; p++) {
        doubles x;
        for (int l = 0; l < DOUBLES; l++)
            x[l] = (double)g[p * DOUBLES + l];
        x = choose(x > most, most, choose(x < -most, -most, x));
        sum[p] += x * x;
    }
}

double FTB_REAL_CELL(ftb_sum_squares)(const void *g_, int64_t count, double clip)
{
    const real *g = g_;
    real rest[FTB_LANES] = {0};
    doubles sum[PARTS] = {{0}};
    double lane[FTB_LANES];
    int64_t k = 0;
    clip = (double)(real)clip; /* as the step cuts */
    for (; k + FTB_LANES <= count; k += FTB_LANES)
        add_squares(sum, g + k, clip);
    memcpy(rest, g + k, (size_t)(count - k) * sizeof *g);
    add_squares(sum, rest, clip);
    memcpy(lane, sum, sizeof lane);
    for (int half = FTB_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}
