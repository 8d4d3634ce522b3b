#include "support/some_vectors.h"

#include "support/check.h"

#include <stdlib.h>

static FtB_Vector make(rng *r, FtB_Type type, int64_t size, double density,
                       void (*fill)(rng *, void *, FtB_Type, int64_t))
{
    FtB_Vector v;
    int64_t count = 0, *I = malloc(sizeof *I * (size_t)(size + 1));
    void *X = malloc(8 * (size_t)(size + 1));
    for (int64_t i = 0; i < size; i++)
        if (rng_unit(r) < density)
            I[count++] = i;
    fill(r, X, type, count);
    assert_ok(FtB_Vector_build(&v, type, size, count, I, X, FTB_DUP_ERROR));
    free(I);
    free(X);
    return v;
}

FtB_Vector rng_vector(rng *r, FtB_Type type, int64_t size, double density)
{
    return make(r, type, size, density, rng_values);
}

FtB_Vector rng_real_vector(rng *r, FtB_Type type, int64_t size, double density)
{
    return make(r, type, size, density, rng_reals);
}

bool force_form(FtB_Vector v, ftb_vector_form form)
{
    ftb_vector other;
    if (form == FTB_VECTOR_DENSE && v->v.nvals < v->v.size)
        return false;
    assert_ok(ftb_vector_as(&other, v->ctx, &v->v, form));
    ftb_vector_become(v, &other);
    return true;
}

void force_any_form(rng *r, FtB_Vector v)
{
    while (!force_form(v, (ftb_vector_form)rng_below(r, 3)))
        ;
}

void assert_valid_vector(FtB_Vector v)
{
    assert_non_null(v);
    const ftb_vector *u = &v->v;
    int64_t count = 0;
    if (u->form == FTB_VECTOR_LIST) {
        for (int64_t t = 0; t < u->nvals; t++)
            if (u->index[t] < 0 || u->index[t] >= u->size || (t > 0 && u->index[t] <= u->index[t - 1]))
                fail_msg("entry %lld is at %lld of %lld places", (long long)t, (long long)u->index[t],
                         (long long)u->size);
        assert_null(u->present);
        return;
    }
    assert_null(u->index);
    if (u->form == FTB_VECTOR_DENSE) {
        assert_int_equal(u->nvals, u->size);
        assert_null(u->present);
        return;
    }
    for (int64_t i = 0; i < u->size; i++) {
        assert_true(u->present[i] <= 1);
        count += u->present[i];
    }
    assert_int_equal(u->nvals, count);
}

void assert_same_vector(FtB_Vector u, FtB_Vector v)
{
    assert_int_equal(u->v.size, v->v.size);
    assert_int_equal(u->v.nvals, v->v.nvals);
    assert_string_equal(FtB_Type_name(u->v.type), FtB_Type_name(v->v.type));
    const size_t each = FtB_Type_size(u->v.type);
    const int64_t count = u->v.nvals;
    int64_t *I = malloc(sizeof *I * (size_t)(count + 1)), *J = malloc(sizeof *J * (size_t)(count + 1));
    char *X = malloc(each * (size_t)(count + 1)), *Y = malloc(each * (size_t)(count + 1));
    assert_ok(FtB_Vector_tuples(u, I, X));
    assert_ok(FtB_Vector_tuples(v, J, Y));
    for (int64_t t = 0; t < count; t++)
        if (I[t] != J[t] || memcmp(X + (size_t)t * each, Y + (size_t)t * each, each) != 0)
            fail_msg("entry %lld: %.17g at %lld and %.17g at %lld", (long long)t,
                     ftb_get_real(X, u->v.type, t), (long long)I[t], ftb_get_real(Y, u->v.type, t),
                     (long long)J[t]);
    free(I);
    free(J);
    free(X);
    free(Y);
}
