#include "support/rng.h"

#include "core/core.h"
#include "support/check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t run_seed(void)
{
    static uint64_t seed;
    static bool chosen;
    if (!chosen) {
        const char *text = getenv("FEATBLAS_SEED");
        struct timespec now;
        seed = text ? strtoull(text, NULL, 10) : 1;
        if (text && strcmp(text, "random") == 0) {
            clock_gettime(CLOCK_REALTIME, &now);
            seed = (uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec;
        }
        chosen = true;
        print_message("FEATBLAS_SEED=%llu\n", (unsigned long long)seed);
    }
    return seed;
}

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
uint64_t rng_bits(rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int rng_cases(int usual)
{
    const char *text = getenv("FEATBLAS_CASES");
    char *end = NULL;
    const long given = text ? strtol(text, &end, 10) : usual;
    if (given < 1 || given > INT_MAX)
        fail_msg("FEATBLAS_CASES=%s; expected a number of cases, or of hundredths of the usual ones, as 20%%",
                 text);
    return end && *end == '%' ? (int)((usual * given + 99) / 100) : (int)given;
}

rng rng_case(int number)
{
    rng r = {run_seed() * 1000003 + (uint64_t)number};
    return r;
}

rng rng_new(void)
{
    static uint64_t stream;
    rng r = {run_seed() + stream++ * UINT64_C(0xd1342543de82ef95)};
    rng_bits(&r);
    return r;
}

int64_t rng_below(rng *r, int64_t n) { return (int64_t)(rng_bits(r) % (uint64_t)n); }

double rng_unit(rng *r) { return (double)(rng_bits(r) >> 11) * 0x1p-53; }

FtB_Type rng_type(rng *r) { return (FtB_Type)(FTB_BOOL + rng_below(r, FTB_BF16)); }

static void store_small(void *values, FtB_Type type, int64_t at, int64_t x)
{
    static const uint16_t fp16[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
    uint64_t magnitude = (uint64_t)(x < 0 ? -x : x);
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    switch (type) {
    case FTB_FP64:
        ((double *)values)[at] = (double)x;
        break;
    case FTB_FP32:
        ((float *)values)[at] = f;
        break;
    case FTB_FP16:
        ((uint16_t *)values)[at] = (uint16_t)(fp16[magnitude] | (x < 0 ? 0x8000 : 0));
        break;
    case FTB_BF16:
        ((uint16_t *)values)[at] = (uint16_t)(bits >> 16);
        break;
    default: /* little endian: the low bytes of a two's complement number */
        memcpy((char *)values + (size_t)at * FtB_Type_size(type), &x, FtB_Type_size(type));
    }
}

void rng_values(rng *r, void *values, FtB_Type type, int64_t count)
{
    bool is_unsigned = type >= FTB_UINT8 && type <= FTB_UINT64;
    for (int64_t t = 0; t < count; t++)
        store_small(values, type, t,
                    type == FTB_BOOL ? rng_below(r, 2) : rng_below(r, 9) - (is_unsigned ? 0 : 4));
}

void rng_any_values(rng *r, void *values, FtB_Type type, int64_t count)
{
    size_t size = FtB_Type_size(type);
    for (int64_t t = 0; t < count; t++) {
        uint64_t bits = rng_bits(r);
        if (type == FTB_BOOL)
            bits &= 1;
        else if (rng_below(r, 4) == 0)
            bits = (uint64_t)0 - (bits & 7); /* often near zero, or all ones: small integers, NaN */
        memcpy((char *)values + (size_t)t * size, &bits, size);
    }
}

void rng_reals(rng *r, void *values, FtB_Type type, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        const double x = 2 * rng_unit(r) - 1;
        ftb_cast((char *)values + (size_t)t * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
}

FtB_Matrix rng_matrix(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width, double density)
{
    int64_t count = 0, room = nrows * ncols;
    int64_t *I = malloc(sizeof *I * (size_t)(room + 1)), *J = malloc(sizeof *J * (size_t)(room + 1));
    void *X = malloc(FtB_Type_size(type) * (size_t)(room * width + 1));
    for (int64_t i = 0; i < nrows; i++) {
        bool empty = rng_below(r, 8) == 0;
        for (int64_t j = 0; j < ncols && !empty; j++)
            if (rng_unit(r) < density) {
                I[count] = i;
                J[count++] = j;
            }
    }
    rng_values(r, X, type, count * width);
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, type, nrows, ncols, width, count, I, J, X, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

FtB_Block rng_block(rng *r, int64_t nrows, int64_t ncols, FtB_Type type)
{
    FtB_Block whole = NULL, view = NULL;
    int64_t gap = rng_below(r, 2) * 3;
    assert_ok(FtB_Block_new(&whole, nrows, ncols + gap, type));
    rng_values(r, block_values(whole), type, nrows * (ncols + gap));
    assert_ok(FtB_Block_columns(&view, whole, gap / 3, ncols));
    FtB_Block_free(&whole);
    return view;
}

FtB_Block rng_heads(rng *r, FtB_Type type, int64_t nrows, int64_t heads, int64_t width, rng_fill fill)
{
    FtB_Block whole, view, X;
    const int64_t ncols = heads * width, first = rng_below(r, 3), all = first + ncols + rng_below(r, 2);
    assert_ok(FtB_Block_new(&whole, nrows, all, type));
    fill(r, block_values(whole), type, nrows * all);
    assert_ok(FtB_Block_columns(&view, whole, first, ncols));
    assert_ok(FtB_Block_heads(&X, view, heads));
    FtB_Block_free(&whole);
    FtB_Block_free(&view);
    return X;
}
