#include "support/compare.h"

#include "support/check.h"

#include "core/hypersparse.h"

#include <math.h>

/* All rows, by pointers that whoever looks at A afterwards has, too; of very many those that are held. */
static const ftb_pattern *rows_of(FtB_Matrix A)
{
    if (A->pattern->nrows < 1 << 20)
        assert_ok(FtB_Matrix_csr(A, &(const int64_t *){NULL}, NULL, NULL));
    return A->pattern->rowptr ? A->pattern : A->pattern->listed;
}

const ftb_pattern *all_rows_of(FtB_Matrix A)
{
    assert_ok(ftb_pattern_all_rows(A->pattern, "A"));
    return A->pattern;
}

void assert_valid(FtB_Matrix A, bool multi)
{
    assert_non_null(A);
    const ftb_pattern *p = rows_of(A);
    for (int64_t r = 0; p->numbers && r < p->nrows; r++)
        assert_true(p->numbers[r] > (r ? p->numbers[r - 1] : -1) && p->numbers[r] < p->all_rows);
    assert_int_equal(p->rowptr[0], 0);
    assert_int_equal(p->rowptr[p->nrows], p->nvals);
    for (int64_t i = 0; i < p->nrows; i++) {
        assert_true(p->rowptr[i] <= p->rowptr[i + 1]);
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            int64_t j = ftb_col(p, e);
            if (j < 0 || j >= p->ncols)
                fail_msg("entry %lld of row %lld: column %lld of %lld", (long long)e, (long long)i,
                         (long long)j, (long long)p->ncols);
            if (e > p->rowptr[i] && (multi ? ftb_col(p, e - 1) > j : ftb_col(p, e - 1) >= j))
                fail_msg("entry %lld of row %lld: column %lld after %lld", (long long)e, (long long)i,
                         (long long)j, (long long)ftb_col(p, e - 1));
        }
    }
}

static void assert_same_pattern(FtB_Matrix A, FtB_Matrix B)
{
    const ftb_pattern *p = rows_of(A), *q = rows_of(B);
    assert_int_equal(A->pattern->nrows, B->pattern->nrows);
    assert_int_equal(p->nrows, q->nrows);
    for (int64_t r = 0; r < p->nrows; r++)
        assert_int_equal(ftb_row_number(p, r), ftb_row_number(q, r));
    assert_int_equal(p->ncols, q->ncols);
    assert_int_equal(A->width, B->width);
    for (int64_t i = 0; i < p->nrows; i++) {
        if (p->rowptr[i + 1] - p->rowptr[i] != q->rowptr[i + 1] - q->rowptr[i])
            fail_msg("row %lld: %lld entries and %lld", (long long)i,
                     (long long)(p->rowptr[i + 1] - p->rowptr[i]),
                     (long long)(q->rowptr[i + 1] - q->rowptr[i]));
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            if (ftb_col(p, e) != ftb_col(q, e))
                fail_msg("row %lld, entry %lld: column %lld and %lld", (long long)i, (long long)e,
                         (long long)ftb_col(p, e), (long long)ftb_col(q, e));
    }
}

void assert_same(FtB_Matrix A, FtB_Matrix B)
{
    assert_same_pattern(A, B);
    assert_string_equal(FtB_Type_name(A->type), FtB_Type_name(B->type));
    size_t size = FtB_Type_size(A->type);
    int64_t count = A->pattern->nvals * A->width;
    for (int64_t t = 0; t < count; t++)
        if (memcmp((char *)matrix_values(A) + (size_t)t * size, (char *)matrix_values(B) + (size_t)t * size,
                   size) != 0)
            fail_msg("value %lld: %.17g and %.17g", (long long)t, ftb_get_real(matrix_values(A), A->type, t),
                     ftb_get_real(matrix_values(B), B->type, t));
}

void assert_close(FtB_Matrix A, FtB_Matrix B, double tolerance)
{
    assert_same_pattern(A, B);
    int64_t count = A->pattern->nvals * A->width;
    for (int64_t t = 0; t < count; t++) {
        double a = ftb_get_real(matrix_values(A), A->type, t), b = ftb_get_real(matrix_values(B), B->type, t);
        bool equal = a == b || (isnan(a) && isnan(b));
        if (!equal && !(fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)))))
            fail_msg("value %lld: %.17g and %.17g", (long long)t, a, b);
    }
}

double value_at(FtB_Matrix A, int64_t i, int64_t j, int64_t f, double absent)
{
    const ftb_pattern *p = A->pattern;
    assert_ok(FtB_Matrix_csr(A, &(const int64_t *){NULL}, NULL, NULL));
    for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
        if (ftb_col(p, e) == j)
            return A->width ? ftb_get_real(matrix_values(A), A->type, e * A->width + f) : 1;
    return absent;
}
