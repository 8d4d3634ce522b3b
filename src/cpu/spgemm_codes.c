/* Operands of few distinct values, as codes (spgemm_codes.h). */
#include "cpu/spgemm_codes.h"

#include <math.h>

/* The bucket of a value, or the free one where it would go. */
static int bucket_of(const ftb_codes *d, uint64_t bits)
{
    int at = (int)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
    while (d->code[at] && d->key[at] != bits)
        at = (at + 1) % FTB_CODE_BUCKETS;
    return at;
}

static double value_of(FtB_Matrix A, int64_t e)
{
    if (A->type == FTB_FP32)
        return (double)((const float *)ftb_values(A))[e];
    return ftb_get_real(ftb_values(A), A->type, e);
}

/* Numbers the values in ascending order. */
static void order_codes(ftb_codes *d)
{
    for (int c = 1; c < d->count; c++)
        for (int t = c; t > 0 && d->value[t] < d->value[t - 1]; t--) {
            double swap = d->value[t];
            d->value[t] = d->value[t - 1];
            d->value[t - 1] = swap;
        }
    for (int c = 0; c < d->count; c++)
        d->code[bucket_of(d, ftb_bits_of(d->value[c]))] = (uint8_t)(c + 1);
}

bool ftb_codes_collect(ftb_codes *d, FtB_Matrix A)
{
    memset(d, 0, sizeof *d);
    int64_t n = A->width == 0 ? 1 : A->pattern->nvals;
    for (int64_t e = 0; e < n; e++) {
        double x = A->width == 0 ? 1 : value_of(A, e);
        uint64_t bits = ftb_bits_of(x);
        int at = bucket_of(d, bits);
        if (d->code[at])
            continue;
        if (isnan(x) || d->count == FTB_MOST_CODES)
            return false;
        d->key[at] = bits;
        d->value[d->count++] = x;
        d->code[at] = (uint8_t)d->count;
    }
    order_codes(d);
    return true;
}

void ftb_codes_encode(uint8_t *codes, const ftb_codes *d, FtB_Matrix A, int threads)
{
#pragma omp parallel for num_threads(threads)
    for (int64_t e = 0; e < A->pattern->nvals; e++)
        codes[e] = (uint8_t)(d->code[bucket_of(d, ftb_bits_of(value_of(A, e)))] - 1);
}
