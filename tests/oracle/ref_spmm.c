#include "oracle/ref_spmm.h"

#include "core/core.h"
#include "support/check.h"
#include "support/compare.h"

#include <math.h>
#include <stdlib.h>

static double copy(double src, double edge, double dst)
{
    (void)edge, (void)dst;
    return src;
}
static double product(double src, double edge, double dst)
{
    (void)dst;
    return edge * src;
}
static double sum(double src, double edge, double dst)
{
    (void)dst;
    return src + edge;
}
static double difference(double src, double edge, double dst)
{
    (void)dst;
    return src - edge;
}
static double reversed(double src, double edge, double dst)
{
    (void)dst;
    return edge - src;
}
static double scaled(double src, double edge, double dst)
{
    (void)edge;
    return src * dst * 2;
}
static double three(double src, double edge, double dst) { return (src + 1) * edge - dst; }
static double weight(double src, double edge, double dst)
{
    (void)src, (void)dst;
    return edge + 0 * src;
}
static double one(double src, double edge, double dst)
{
    (void)src, (void)edge, (void)dst;
    return 1;
}

const ref_spmm_case ref_spmm_cases[] = {
    {"plus : src", "plus", copy},
    {"mean : src", "mean", copy},
    {"max : src", "max", copy},
    {"min : src", "min", copy},
    {"times : src", "times", copy},
    {"plus : edge * src", "plus", product},
    {"max : src * edge", "max", product},
    {"mean : edge * src", "mean", product},
    {"plus : src + edge", "plus", sum},
    {"min : src + edge", "min", sum},
    {"max : src - edge", "max", difference},
    {"plus : src - edge", "plus", difference},
    {"min : edge - src", "min", reversed},
    {"plus : edge - src", "plus", reversed},
    {"plus : src * dst * 2", "plus", scaled},
    {"max : (src + 1) * edge - dst", "max", three},
    {"plus : (src + 1) * edge - dst", "plus", three},
    {"plus : edge + 0 * src", "plus", weight},
    {"plus : 1 + 0 * src", "plus", one},
};
const int ref_spmm_count = sizeof ref_spmm_cases / sizeof *ref_spmm_cases;

static double block_at(FtB_Block X, int64_t i, int64_t f)
{
    return ftb_get_real(block_values(X), X->type, i * X->ld + f);
}

static double edge_at(FtB_Matrix A, int64_t e, int64_t head, int64_t inside, int64_t heads, int64_t width)
{
    int64_t f = A->width == heads * width ? head * width + inside : A->width == heads ? head : 0;
    return A->width == 0 ? 1 : ftb_get_real(matrix_values(A), A->type, e * A->width + f);
}

/* Whether messages are real: whole numbers know no -0. */
static bool is_real(const ref_spmm_case *c, FtB_Matrix A, FtB_Block X, FtB_Block D)
{
    return ftb_type_float(X->type) || (A->width > 0 && ftb_type_float(A->type) && strstr(c->text, "edge")) ||
           (ftb_type_float(D->type) && strstr(c->text, "dst"));
}

/* One feature of one row: *count messages. */
static double reduce(const ref_spmm_case *c, FtB_Matrix A, bool transpose, FtB_Block X, FtB_Block D,
                     int64_t i, int64_t f, int64_t heads, int64_t *count, int64_t *winner)
{
    const ftb_pattern *p = all_rows_of(A);
    int64_t width = X->ncols / heads, nwalked = transpose ? p->nrows : 1;
    double h = strcmp(c->reducer, "times") == 0 ? 1 : 0;
    *count = 0;
    *winner = -1;
    for (int64_t w = 0; w < nwalked; w++) { /* A' : every row of A that has column i */
        int64_t row = transpose ? w : i;
        for (int64_t e = p->rowptr[row]; e < p->rowptr[row + 1]; e++) {
            if (transpose && ftb_col(p, e) != i)
                continue;
            int64_t k = transpose ? row : ftb_col(p, e);
            double z = c->message(block_at(X, k, f), edge_at(A, e, f / width, f % width, heads, width),
                                  block_at(D, i, f));
            z = is_real(c, A, X, D) ? z : z + 0.0;
            bool less = strcmp(c->reducer, "min") == 0, more = strcmp(c->reducer, "max") == 0;
            if (less || more) {
                double low = less ? z : h, high = less ? h : z; /* -0 counts as less than 0 */
                bool before = low < high || (!(high < low) && signbit(low) && !signbit(high));
                bool wins = *count == 0 || (isnan(h) && !isnan(z)) || (!isnan(z) && before);
                h = wins ? z : h;
                *winner = wins ? *count : *winner;
            } else {
                h = strcmp(c->reducer, "times") == 0 ? h * z : h + z;
            }
            ++*count;
        }
    }
    return strcmp(c->reducer, "mean") == 0 ? h / (double)*count : h;
}

static bool admits(const ref_spmm_write *w, int64_t i)
{
    if (!w->mask)
        return !w->complement;
    return (w->structural || block_at(w->mask, i, 0) != 0) != w->complement;
}

void ref_spmm(double *out, int64_t *winner, const ref_spmm_case *c, FtB_Matrix A, bool transpose, FtB_Block X,
              FtB_Block D, int64_t heads, const ref_spmm_write *write, const double *old)
{
    const ftb_pattern *p = A->pattern;
    int64_t nrows = transpose ? p->ncols : p->nrows, at = 0;
    for (int64_t i = 0, first = 0; i < nrows; i++) {
        int64_t count = 0, won;
        for (int64_t f = 0; f < X->ncols; f++, at++) {
            double h = reduce(c, A, transpose, X, D, i, f, heads, &count, &won);
            bool admitted = admits(write, i);
            if (winner)
                winner[at] = won < 0 || !admitted ? -1 : first + won;
            if (!admitted)
                out[at] = write->replace ? write->fill : old[at];
            else if (count == 0)
                out[at] = write->add ? old[at] : write->fill;
            else
                out[at] = write->add ? old[at] + h : h;
        }
        first += count;
    }
}
