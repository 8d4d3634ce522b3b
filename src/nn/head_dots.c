/* y(i, h) = dot(x(i, h, :), a(h, :)): half of an attention score for each row and head.
 *
 *     dx(i, h, :) = dy(i, h) a(h, :),   da(h, :) = sum over i of dy(i, h) x(i, h, :)
 *
 * One pass over x each way. The sum over rows is taken in parts that do not depend on the number of threads.
 */
#include "nn/layer.h"

#include "ops/merge.h"

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    (void)n;
    return FtB_eWiseMult(c->out, NULL, NULL, "dot(x, y)", c->in[0], c->in[1], NULL);
}

#define SUM_ROWS(suffix, T)                                                                                  \
    static void sum_rows_##suffix(double *sum, T *part, FtB_Block dy, FtB_Block x, int64_t first,            \
                                  int64_t last)                                                              \
    {                                                                                                        \
        int64_t heads = dy->ncols, width = x->ncols / heads;                                                 \
        memset(part, 0, (size_t)x->ncols * sizeof *part);                                                    \
        for (int64_t i = first; i < last; i++) {                                                             \
            const T *restrict d = (const T *)dy->data + i * dy->ld, *restrict row =                          \
                                                                        (const T *)x->data + i * x->ld;      \
            for (int64_t h = 0; h < heads; h++, row += width)                                                \
                for (int64_t f = 0; f < width; f++)                                                          \
                    part[h * width + f] += d[h] * row[f];                                                    \
        }                                                                                                    \
        for (int64_t v = 0; v < x->ncols; v++)                                                               \
            sum[v] += (double)part[v];                                                                       \
    }
SUM_ROWS(f32, float)
SUM_ROWS(f64, double)

enum { PARTS = 32, SHORT = 64 }; /* SHORT: rows that are added up in x's own type */

static void sum_part(double *sum, void *part, FtB_Block dy, FtB_Block x, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i += SHORT)
        if (x->type == FTB_FP32)
            sum_rows_f32(sum, part, dy, x, i, ftb_min(i + SHORT, last));
        else
            sum_rows_f64(sum, part, dy, x, i, ftb_min(i + SHORT, last));
}

/* da = (add ? da : 0) + sum over rows. */
static GrB_Info sum_weights(FtB_Block da, FtB_Block dy, FtB_Block x, bool add, FtB_Context ctx)
{
    int64_t ncols = x->ncols, each = (x->nrows + PARTS - 1) / PARTS;
    size_t size = FtB_Type_size(da->type);
    double *sums =
        ftb_new0(ctx, 2 * PARTS * ncols, sizeof *sums); /* each part: its sum, and one of few rows */
    if (!sums)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for(ctx, x->nrows *ncols))
    for (int64_t p = 0; p < PARTS; p++)
        sum_part(sums + 2 * p * ncols, sums + (2 * p + 1) * ncols, dy, x, ftb_min(p * each, x->nrows),
                 ftb_min((p + 1) * each, x->nrows));
    for (int64_t v = 0; v < ncols; v++) {
        char *to = (char *)da->data + (size_t)v * size;
        double sum = add ? ftb_get_real(to, da->type, 0) : 0;
        for (int64_t p = 0; p < PARTS; p++)
            sum += sums[2 * p * ncols + v];
        ftb_cast(to, da->type, &sum, FTB_FP64, 1);
    }
    ftb_delete(sums);
    return GrB_SUCCESS;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    GrB_Info info = GrB_SUCCESS;
    (void)n;
    if (c->din[1])
        info = sum_weights(c->din[1], c->dout, c->in[0], c->add[1], c->ctx);
    if (info == GrB_SUCCESS && c->din[0])
        info = FtB_eWiseMult(c->din[0], NULL, ftb_plus_if(c->add[0]), "x * y", c->dout, c->in[1], NULL);
    return info;
}

static bool needs(const ftb_nn_node *n, int k) { return ftb_node_in(n, 1 - k)->gradient; }

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "dot(x, a) of %lld rows and %lld heads", (long long)n->nrows, (long long)n->ncols);
}

static const ftb_nn_op op = {.name = "head_dots",
                             .flags = FTB_NN_NEEDS_IN,
                             .forward = forward,
                             .gradient = gradient,
                             .needs = needs,
                             .print = print};

FtB_Var ftb_head_dots(FtB_Var x, FtB_Var a, int64_t heads)
{
    x = FtB_heads(x, heads);
    a = FtB_heads(a, heads);
    const ftb_nn_node *nx = ftb_var(x, "head_dots", "x"), *na = nx ? ftb_var(a, "head_dots", "a") : NULL;
    if (!na)
        return ftb_var_lost(x);
    char shape[2][80];
    if (na->nrows != 1 || na->ncols != nx->ncols || na->type != nx->type)
        return ftb_var_failed(x.tape, ftb_fail(GrB_DIMENSION_MISMATCH,
                                               "x is %s, a is %s; expected one row of x's columns and dtype",
                                               ftb_node_shape(nx, shape[0], sizeof shape[0]),
                                               ftb_node_shape(na, shape[1], sizeof shape[1])));
    const int64_t in[2] = {x.node, a.node};
    ftb_nn_node *n = ftb_node_new(x.tape, &op, in, 2, nx->nrows, heads, 0);
    if (!n)
        return ftb_var_lost(x);
    n->heads = heads;
    return ftb_node_var(n);
}
