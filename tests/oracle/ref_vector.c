#include <GraphBLAS.h>

#include "oracle/ref_vector.h"

#include "support/check.h"

#include <stdlib.h>

/* The same entries as a matrix of one column. */
static FtB_Matrix column_of(FtB_Vector v)
{
    int64_t size, nvals;
    FtB_Type type;
    FtB_Matrix A;
    assert_ok(FtB_Vector_shape(v, &size, &nvals, &type));
    int64_t *I = calloc((size_t)nvals + 1, sizeof *I), *J = calloc((size_t)nvals + 1, sizeof *J);
    void *X = calloc((size_t)nvals + 1, 8);
    assert_ok(FtB_Vector_tuples(v, I, X));
    assert_ok(FtB_Matrix_build(&A, type, size, 1, 1, nvals, I, J, X, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

ref_matrix *ref_read_vector(FtB_Vector v, bool row)
{
    FtB_Matrix A = column_of(v);
    ref_matrix *R = ref_read(A, row);
    FtB_Matrix_free(&A);
    return R;
}

void ref_check_vector(FtB_Vector v, const ref_matrix *R, double tolerance, const char *what)
{
    assert_valid_vector(v);
    FtB_Matrix A = column_of(v);
    ref_check(A, R, tolerance, what);
    FtB_Matrix_free(&A);
}

GrB_Vector ref_export_vector(FtB_Vector v)
{
    GrB_Vector G = NULL;
    if (v->v.type <= FTB_FP64)
        assert_ok(FtB_Vector_export(&G, v));
    return G;
}

static void describe(ref_vector_case *c)
{
    snprintf(c->what, sizeof c->what, "C %lld %s %s, mask %s%s%s%s%s%s, transposes %d %d, accum %s",
             (long long)c->C->v.size, FtB_Type_name(c->C->v.type), ftb_form_name(c->C->v.form),
             !c->M          ? "none"
             : c->M == c->C ? "C"
                            : FtB_Type_name(c->mask->type),
             c->M ? " " : "", c->M ? ftb_form_name(c->M->v.form) : "",
             c->flags.structural ? " structural" : "", c->flags.complement ? " complement" : "",
             c->flags.replace ? " replace" : "", c->flags.transpose0, c->flags.transpose1,
             !c->accum        ? "none"
             : c->accum->text ? c->accum->text
                              : FtB_Type_name(c->accum->domain));
}

/* Few entries, so that lists are followed, or many. */
static double density(rng *r) { return rng_below(r, 3) ? rng_unit(r) : 0.1 * rng_unit(r); }

ref_vector_case ref_vector_case_new(rng *r, int64_t size, int transposes)
{
    static const int flags[] = {8, 16, 32};
    ref_vector_case c = {.flags = ref_flags_of((int)rng_below(r, flags[transposes]))};
    if (rng_below(r, 2))
        c.accum = ref_op_of((int)rng_below(r, ref_ops()));
    c.C = rng_vector(r, rng_type(r), size, rng_below(r, 6) ? density(r) : 2);
    force_any_form(r, c.C);
    c.old = ref_read_vector(c.C, false);
    const int64_t kind = rng_below(r, 5);
    if (kind == 0)
        c.M = c.C;
    else if (kind > 1) {
        c.M = rng_vector(r, rng_type(r), size, rng_below(r, 6) ? density(r) : 2);
        force_any_form(r, c.M);
    }
    c.mask = c.M ? ref_read_vector(c.M, false) : NULL;
    describe(&c);
    if (c.old->type <= FTB_FP64 && (!c.mask || c.mask->type <= FTB_FP64) && (!c.accum || c.accum->grb)) {
        c.grb_C = ref_export_vector(c.C);
        c.grb_M = c.M ? ref_export_vector(c.M) : NULL;
    }
    return c;
}

void ref_vector_case_check(const ref_vector_case *c, ref_matrix *T, double tolerance)
{
    ref_matrix *expected = ref_write(c->old, c->mask, &c->flags, c->accum, T);
    ref_check_vector(c->C, expected, tolerance, c->what);
    ref_free(expected);
    ref_free(T);
}

void ref_vector_case_check_grb(const ref_vector_case *c, double tolerance)
{
    FtB_Vector G;
    char what[600];
    snprintf(what, sizeof what, "GraphBLAS: %s", c->what);
    assert_ok(FtB_Vector_import(&G, c->grb_C));
    ref_matrix *expected = ref_read_vector(G, false);
    ref_check_vector(c->C, expected, tolerance, what);
    ref_free(expected);
    FtB_Vector_free(&G);
}

void ref_vector_case_free(ref_vector_case *c)
{
    if (c->M != c->C)
        FtB_Vector_free(&c->M);
    FtB_Vector_free(&c->C);
    ref_free(c->old);
    ref_free(c->mask);
    GrB_Vector_free(&c->grb_C);
    GrB_Vector_free(&c->grb_M);
}
