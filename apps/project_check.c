/* featblas project --check: compares the library's result with the oracle's, row by row. */
#include "oracle.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct comparison {
    const project *p;
    oracle o;
    FtB_Matrix C;
    const int64_t *rowptr;
    const void *colidx;
    const double *values;
    double tolerance;
    bool *kept; /* of one row */
} comparison;

static bool close_to(const comparison *c, double x, double y)
{
    return x == y || (isnan(x) && isnan(y)) ||
           fabs(x - y) <= c->tolerance * fmax(fmax(fabs(x), fabs(y)), 1e-3);
}

static int differs(const comparison *c, int64_t i, int64_t j, const char *what, double got, double want)
{
    FtB_Labels ids = project_ids(c->p);
    int64_t base = project_base(c->p);
    char x[24], y[24];
    snprintf(x, sizeof x, "%" PRId64, i + base);
    snprintf(y, sizeof y, "%" PRId64, j + base);
    return app_fail(APP_FAILURE, "check failed: pair (%s, %s) %s; weight %.17g, expected %.17g",
                    ids ? FtB_Labels_get(ids, i) : x, ids ? FtB_Labels_get(ids, j) : y, what, got, want);
}

/* Whether min_weight and top_k could have dropped a pair of weight w from a row that kept `count` pairs,
 * `least` the smallest of them; weights within the tolerance of the bound may go either way. */
static bool may_be_dropped(const comparison *c, double w, int64_t count, double least)
{
    const FtB_Project_options *o = &c->p->options;
    bool light = o->use_min_weight && !(w >= o->min_weight && !close_to(c, w, o->min_weight));
    bool beaten = o->top_k > 0 && (isnan(w) || (count == o->top_k && (w <= least || close_to(c, w, least))));
    return light || beaten;
}

static int compare_row(comparison *c, int64_t i)
{
    const FtB_Project_options *options = &c->p->options;
    int64_t count = c->rowptr[i + 1] - c->rowptr[i];
    double least = INFINITY;
    oracle_row(&c->o, i);
    memset(c->kept, 0, (size_t)c->o.n);
    for (int64_t e = c->rowptr[i]; e < c->rowptr[i + 1]; e++) {
        int64_t j =
            c->o.n <= FTB_INT32_LIMIT ? ((const int32_t *)c->colidx)[e] : ((const int64_t *)c->colidx)[e];
        double w = c->values[e];
        c->kept[j] = true;
        least = fmin(least, w);
        if (!c->o.present[j])
            return differs(c, i, j, "should not be there", w, NAN);
        if (!close_to(c, w, c->o.weights[j]))
            return differs(c, i, j, "is wrong", w, c->o.weights[j]);
        if (options->use_min_weight && !(w >= options->min_weight))
            return differs(c, i, j, "is below --min-weight", w, c->o.weights[j]);
    }
    if (options->top_k > 0 && count > options->top_k)
        return differs(c, i, i, "stands for a row with more pairs than --top-k", (double)count,
                       (double)options->top_k);
    for (int64_t j = 0; j < c->o.n; j++)
        if (c->o.present[j] && !c->kept[j] && !may_be_dropped(c, c->o.weights[j], count, least))
            return differs(c, i, j, "is missing", NAN, c->o.weights[j]);
    return APP_OK;
}

int project_check(const project *p)
{
    comparison c = {.p = p};
    FtB_Type type = FTB_FP64;
    int code = oracle_new(&c.o, p);
    if (code != APP_OK)
        goto done;
    GrB_Info info = FtB_Matrix_new(&c.C, FTB_FP64, p->vertices, p->vertices, 1);
    if (info == GrB_SUCCESS)
        info = FtB_project(c.C, p->R, p->weight, &p->options);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_csr(c.C, &c.rowptr, &c.colidx, (const void **)&c.values);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_shape(p->R, NULL, NULL, NULL, NULL, &type);
    c.kept = calloc((size_t)p->vertices + 1, sizeof *c.kept);
    if (info != GrB_SUCCESS || !c.kept) {
        code = info != GrB_SUCCESS ? app_library_error(info, APP_FAILURE)
                                   : app_fail(APP_MEMORY, "--check: out of memory");
        goto done;
    }
    bool single = FtB_Type_size(type) < 4 || type == FTB_FP32 || formula_narrows(&c.o.message) ||
                  formula_narrows(&c.o.epilogue) || formula_narrows(&c.o.where);
    c.tolerance = single ? 1e-4 : 1e-9; /* FP32 sums */
    for (int64_t i = 0; code == APP_OK && i < p->vertices; i++)
        code = app_signal() ? APP_SIGNAL + app_signal() : compare_row(&c, i);
    if (code == APP_OK && !p->values->reader.common.quiet)
        fputs("check: the result agrees with the slow computation\n", stderr);
done:
    oracle_free(&c.o);
    FtB_Matrix_free(&c.C);
    free(c.kept);
    return code;
}
