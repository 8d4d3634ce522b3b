#include "oracle/ref_block.h"

#include "core/core.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

ref_block *ref_block_new(FtB_Type type, int64_t nrows, int64_t ncols)
{
    ref_block *R = malloc(sizeof *R);
    *R = (ref_block){type, nrows, ncols, calloc((size_t)(nrows * ncols) + 1, sizeof(ref_number))};
    return R;
}

static ref_number number_at(const void *values, FtB_Type type, int64_t at)
{
    if (ftb_type_float(type))
        return ref_real(ftb_get_real(values, type, at));
    int64_t x = ftb_get_integer(values, type, at);
    return (ref_number){false, type == FTB_UINT64 ? (__int128)(uint64_t)x : (__int128)x, 0};
}

ref_block *ref_block_read(FtB_Block X)
{
    if (!X)
        return NULL;
    ref_block *R = ref_block_new(X->type, X->nrows, X->ncols);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            *ref_block_at(R, i, f) = number_at(block_values(X), X->type, i * X->ld + f);
    return R;
}

void ref_block_free(ref_block *R)
{
    if (R)
        free(R->values);
    free(R);
}

FtB_Block ref_block_random(rng *r, FtB_Type type, int64_t nrows, int64_t ncols)
{
    FtB_Block whole, X;
    int64_t before = rng_below(r, 2) * rng_below(r, 4), after = rng_below(r, 2) * rng_below(r, 4);
    assert_ok(FtB_Block_new(&whole, nrows, before + ncols + after, type));
    rng_values(r, block_values(whole), type, nrows * whole->ncols);
    assert_ok(FtB_Block_columns(&X, whole, before, ncols));
    FtB_Block_free(&whole);
    return X;
}

static size_t bytes_around(FtB_Block X) { return (size_t)(X->nrows * X->ld) * FtB_Type_size(X->type); }

void *ref_block_snapshot(FtB_Block X)
{
    char *bytes = malloc(bytes_around(X) + 1);
    memcpy(bytes, ftb_buffer_data(X->owner), bytes_around(X));
    return bytes;
}

/* Bytes of the owner's that are not X's are as they were. */
static void check_around(FtB_Block X, const char *before, const char *what)
{
    size_t size = FtB_Type_size(X->type),
           first = (size_t)((char *)block_values(X) - (char *)ftb_buffer_data(X->owner));
    const char *now = ftb_buffer_data(X->owner);
    for (size_t b = 0; b < bytes_around(X); b++) {
        size_t column = (b + (size_t)X->ld * size - first) % ((size_t)X->ld * size);
        if (column >= (size_t)X->ncols * size && now[b] != before[b])
            fail_msg("%s: byte %zu beside the output was changed", what, b);
    }
}

void ref_block_check(FtB_Block X, ref_block *R, void *before, double tolerance, const char *what)
{
    assert_int_equal(X->nrows, R->nrows);
    assert_int_equal(X->ncols, R->ncols);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++) {
            double x = ref_double(number_at(block_values(X), X->type, i * X->ld + f));
            double y = ref_double(ref_cast(*ref_block_at(R, i, f), X->type));
            bool same = x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance * fmax(1, fabs(y));
            if (!same)
                fail_msg("%s: value (%lld, %lld) of %lld x %lld %s is %.17g, expected %.17g", what,
                         (long long)i, (long long)f, (long long)X->nrows, (long long)X->ncols,
                         FtB_Type_name(X->type), x, y);
        }
    if (before)
        check_around(X, before, what);
    free(before);
    ref_block_free(R);
}

ref_block *ref_block_write(const ref_block *C, const ref_block *M, const ref_flags *flags, double fill,
                           const ref_op *accum, const ref_block *T, const bool *present)
{
    ref_block *Z = ref_block_new(C->type, C->nrows, C->ncols);
    for (int64_t i = 0; i < C->nrows; i++) {
        bool admitted = (!M || flags->structural || ref_true(*ref_block_at(M, i, 0))) != flags->complement;
        for (int64_t f = 0; f < C->ncols; f++) {
            ref_number old = *ref_block_at(C, i, f), z;
            if (!admitted)
                z = flags->replace ? ref_real(fill) : old;
            else if (present && !present[i])
                z = accum ? old : ref_real(fill);
            else
                z = accum ? ref_op_apply(accum, old, *ref_block_at(T, i, f)) : *ref_block_at(T, i, f);
            *ref_block_at(Z, i, f) = ref_cast(z, C->type);
        }
    }
    return Z;
}

FtB_Descriptor ref_block_descriptor(const ref_flags *flags, double fill)
{
    FtB_Descriptor desc;
    assert_ok(FtB_Descriptor_new(&desc));
    assert_ok(FtB_Descriptor_set(desc, FTB_TRANSPOSE0, (int)flags->transpose0));
    assert_ok(FtB_Descriptor_set(desc, FTB_STRUCTURAL, (int)flags->structural));
    assert_ok(FtB_Descriptor_set(desc, FTB_COMPLEMENT, (int)flags->complement));
    assert_ok(FtB_Descriptor_set(desc, FTB_REPLACE, (int)flags->replace));
    assert_ok(FtB_Descriptor_set(desc, FTB_FILL, fill));
    return desc;
}

int64_t ref_block_dimension(rng *r)
{
    static const int64_t some[] = {0, 1, 1, 2, 3, 5, 8, 15, 16, 17, 33};
    return rng_below(r, 12) == 0 ? 200 + rng_below(r, 500) : some[rng_below(r, 11)];
}
