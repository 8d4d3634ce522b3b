#include <GraphBLAS.h>

#include "oracle/ref_case.h"

#include "support/check.h"

int64_t ref_dimension(rng *r)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 3, 5, 5, 8, 8, 13, 13, 13, 13, 13, 20, 20, 40, 40, 70, 200};
    return sizes[rng_below(r, 20)];
}

FtB_Type ref_grb_type(rng *r) { return (FtB_Type)(FTB_BOOL + rng_below(r, FTB_FP64)); }

static void describe(ref_case *c, int64_t nrows, int64_t ncols)
{
    int64_t width;
    FtB_Type type;
    assert_ok(FtB_Matrix_shape(c->C, NULL, NULL, NULL, &width, &type));
    snprintf(c->what, sizeof c->what,
             "C %lld x %lld %s width %lld, mask %s%s%s%s, transposes %d %d, accum %s", (long long)nrows,
             (long long)ncols, FtB_Type_name(type), (long long)width,
             !c->M          ? "none"
             : c->M == c->C ? "C"
                            : FtB_Type_name(c->mask->type),
             c->flags.structural ? " structural" : "", c->flags.complement ? " complement" : "",
             c->flags.replace ? " replace" : "", c->flags.transpose0, c->flags.transpose1,
             !c->accum        ? "none"
             : c->accum->text ? c->accum->text
                              : FtB_Type_name(c->accum->domain));
}

static void choose_mask(ref_case *c, rng *r, int64_t nrows, int64_t ncols)
{
    int64_t kind = rng_below(r, 6), most = c->flags.structural ? 3 : 1;
    if (kind < 2)
        return;
    if (kind == 2 && (c->old->width <= 1 || c->flags.structural)) {
        c->M = c->C;
        c->mask = ref_read(c->C, false);
    } else {
        c->M = rng_matrix(r, rng_type(r), nrows, ncols, rng_below(r, most + 1), rng_unit(r));
        c->mask = ref_read(c->M, false);
    }
}

static bool in_graphblas(const ref_matrix *R) { return R->type <= FTB_FP64 && R->width <= 1; }

ref_case ref_case_new(rng *r, int64_t nrows, int64_t ncols, int64_t width, int transposes)
{
    static const int flags[] = {8, 16, 32};
    ref_case c = {.flags = ref_flags_of((int)rng_below(r, flags[transposes]))};
    if (rng_below(r, 2))
        c.accum = ref_op_of((int)rng_below(r, ref_ops()));
    c.C = rng_matrix(r, rng_type(r), nrows, ncols, width, rng_unit(r));
    c.old = ref_read(c.C, false);
    choose_mask(&c, r, nrows, ncols);
    describe(&c, nrows, ncols);
    if (in_graphblas(c.old) && width == 1 && (!c.mask || in_graphblas(c.mask)) &&
        (!c.accum || c.accum->grb)) {
        assert_ok(FtB_Matrix_export(&c.grb_C, c.C, 0));
        if (c.M)
            assert_ok(FtB_Matrix_export(&c.grb_M, c.M, 0));
    }
    return c;
}

void ref_case_check(const ref_case *c, ref_matrix *T, double tolerance)
{
    ref_matrix *expected = ref_write(c->old, c->mask, &c->flags, c->accum, T);
    ref_check(c->C, expected, tolerance, c->what);
    ref_free(expected);
    ref_free(T);
}

void ref_case_check_grb(const ref_case *c, double tolerance)
{
    FtB_Matrix G;
    char what[600];
    snprintf(what, sizeof what, "GraphBLAS: %s", c->what);
    assert_ok(FtB_Matrix_import(&G, c->grb_C));
    ref_matrix *expected = ref_read(G, false);
    ref_check(c->C, expected, tolerance, what);
    ref_free(expected);
    FtB_Matrix_free(&G);
}

void ref_case_free(ref_case *c)
{
    if (c->M != c->C)
        FtB_Matrix_free(&c->M);
    FtB_Matrix_free(&c->C);
    ref_free(c->old);
    ref_free(c->mask);
    GrB_Matrix_free(&c->grb_C);
    GrB_Matrix_free(&c->grb_M);
}
