/* Matrices of few entries far apart (far_apart.h). */
#include "support/far_apart.h"

#include "support/check.h"
#include "support/some_vectors.h"

#include <stdlib.h>

void far_apart(rng *r, int64_t map[FEW])
{
    int64_t at = rng_below(r, 2);
    for (int i = 0; i < FEW; i++) {
        map[i] = at;
        at += rng_below(r, 3) ? 1 + rng_below(r, N / FEW - 1) : 1;
    }
    if (rng_below(r, 2))
        map[FEW - 1] = N - 1;
}

tuples tuples_of(FtB_Matrix A)
{
    tuples t;
    assert_ok(FtB_Matrix_shape(A, NULL, NULL, &t.nvals, &t.width, &t.type));
    t.I = malloc((size_t)t.nvals * 8 + 1);
    t.J = malloc((size_t)t.nvals * 8 + 1);
    t.X = calloc((size_t)(t.nvals * t.width) + 1, FtB_Type_size(t.type));
    assert_ok(FtB_Matrix_tuples(A, t.I, t.J, t.X));
    return t;
}

void free_tuples(tuples *t)
{
    free(t->I);
    free(t->J);
    free(t->X);
}

FtB_Matrix spread(FtB_Matrix A, const int64_t *map)
{
    tuples t = tuples_of(A);
    FtB_Matrix B;
    for (int64_t e = 0; e < t.nvals; e++) {
        t.I[e] = map[t.I[e]];
        t.J[e] = map[t.J[e]];
    }
    assert_ok(FtB_Matrix_build(&B, t.type, N, N, t.width, t.nvals, t.I, t.J, t.X, FTB_DUP_ERROR, NULL));
    assert_non_null(B->pattern->listed);
    free_tuples(&t);
    return B;
}

void assert_listed(FtB_Matrix A)
{
    const ftb_pattern *p = A->pattern, *q = p->listed;
    assert_non_null(q);
    assert_null(p->rowptr);
    assert_true(q->all_rows == p->nrows && q->nvals == p->nvals && q->ncols == p->ncols);
    for (int64_t r = 0; r < q->nrows; r++) {
        assert_true(q->rowptr[r] < q->rowptr[r + 1]);
        assert_true(q->numbers[r] < p->nrows && (r == 0 ? -1 : q->numbers[r - 1]) < q->numbers[r]);
    }
}

void assert_spread(FtB_Matrix B, FtB_Matrix A, const int64_t *rows, const int64_t *columns)
{
    tuples a = tuples_of(A), b = tuples_of(B);
    assert_int_equal(a.nvals, b.nvals);
    assert_true(a.type == b.type && a.width == b.width);
    for (int64_t e = 0; e < a.nvals; e++) {
        assert_true(b.I[e] == (rows ? rows[a.I[e]] : a.I[e]));
        assert_true(b.J[e] == (columns ? columns[a.J[e]] : a.J[e]));
    }
    assert_memory_equal(a.X, b.X, (size_t)(a.nvals * a.width) * FtB_Type_size(a.type));
    if (rows)
        assert_listed(B);
    free_tuples(&a);
    free_tuples(&b);
}

FtB_Vector spread_vector(FtB_Vector v, const int64_t *map)
{
    int64_t I[FEW], nvals;
    double X[FEW];
    FtB_Type type;
    FtB_Vector u;
    assert_ok(FtB_Vector_shape(v, NULL, &nvals, &type));
    assert_ok(FtB_Vector_tuples(v, I, X));
    for (int64_t e = 0; e < nvals; e++)
        I[e] = map[I[e]];
    assert_ok(FtB_Vector_build(&u, type, N, nvals, I, X, FTB_DUP_ERROR));
    return u;
}

void assert_spread_vector(FtB_Vector u, FtB_Vector v, const int64_t *map)
{
    FtB_Vector w = spread_vector(v, map);
    assert_same_vector(u, w);
    FtB_Vector_free(&w);
}
