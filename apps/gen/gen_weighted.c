/* Weighted draws in integers: the inverse of the running sum, with a guide table that starts the search at
 * most a few steps before its end (Chen and Asau, "On generating random variates from an empirical
 * distribution", AIIE Transactions 6, 1974). Also the power function that makes weights from ranks. */
#include "gen/gen.h"

#include <math.h>
#include <stdlib.h>

void gen_weighted_free(gen_weighted *w)
{
    free(w->sum);
    free(w->guide);
    *w = (gen_weighted){0};
}

GrB_Info gen_weighted_new(gen_weighted *w, int64_t count, const uint64_t *weights)
{
    gen_weighted made = {.count = count, .bits = 1};
    while (made.bits < 24 && INT64_C(1) << made.bits < 2 * count)
        made.bits++;
    made.sum = malloc(((size_t)count + 1) * sizeof *made.sum);
    made.guide = malloc(((size_t)1 << made.bits) * sizeof *made.guide);
    if (!made.sum || !made.guide) {
        gen_weighted_free(&made);
        return gen_nomem();
    }
    made.sum[0] = 0;
    for (int64_t r = 0; r < count; r++)
        made.sum[r + 1] = made.sum[r] + weights[r];
    made.total = made.sum[count];
    int64_t r = 0;
    for (uint64_t g = 0; g < UINT64_C(1) << made.bits; g++) {
        uint64_t at = (uint64_t)(((unsigned __int128)(g << (64 - made.bits)) * made.total) >> 64);
        while (made.sum[r + 1] <= at)
            r++;
        made.guide[g] = (int32_t)r;
    }
    *w = made;
    return GrB_SUCCESS;
}

/* ln x = 2^-k-free: x = m 2^e with m in [sqrt(1/2), sqrt 2); ln m = 2 atanh((m - 1) / (m + 1)), a series in
 * z^2 <= 0.0295 that is below 1e-16 after ten terms. */
double gen_logarithm(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double z = (m - 1) / (m + 1), z2 = z * z, sum = 0;
    for (int n = 21; n >= 1; n -= 2)
        sum = sum * z2 + 1.0 / n;
    return 2 * z * sum + e * 0.69314718055994531;
}

/* e^x = 2^n e^r with |r| <= ln 2 / 2: Taylor's series, below 1e-16 after fourteen terms. */
static double exponential(double x)
{
    double n = floor(x / 0.69314718055994531 + 0.5), r = x - n * 0.69314718055994531, sum = 1;
    for (int k = 14; k >= 1; k--)
        sum = 1 + sum * r / k;
    return ldexp(sum, (int)n);
}

double gen_power(double x, double y) { return exponential(y * gen_logarithm(x)); }
