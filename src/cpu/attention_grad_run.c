/* Gradients of attention on the host: that of q by a walk over the rows of p, those of k and v by one over
 * those of its transpose. */
#include "cpu/attention_run.h"
#include "cpu/attention_walk.h"

typedef struct backward {
    const ftb_attention_grad_product *product;
    void *delta;     /* rows x heads: dot(d(i, h, :), T(i, h, :)) */
    void *q, *k, *v; /* gradients, heads padded */
    ftb_feed d;
    int threads;
} backward;

static double dot_of(const void *x, const void *y, FtB_Type type, int64_t count)
{
    double sum = 0;
    if (type == FTB_FP32)
        for (int64_t v = 0; v < count; v++)
            sum += (double)((const float *)x)[v] * (double)((const float *)y)[v];
    else
        for (int64_t v = 0; v < count; v++)
            sum += ((const double *)x)[v] * ((const double *)y)[v];
    return sum;
}

static GrB_Info make_delta(backward *b)
{
    const ftb_attention_grad_product *g = b->product;
    const FtB_Type type = g->of.type;
    int64_t rows = g->of.p->nrows, heads = g->of.heads, width = g->of.value_width;
    size_t size = FtB_Type_size(type);
    if (!(b->delta = ftb_new(g->of.ctx, rows * heads, size)))
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t h = 0; h < heads; h++) {
            double sum = dot_of((const char *)g->t + (size_t)(i * g->ldt + h * width) * size,
                                (const char *)g->d + (size_t)(i * g->ldd + h * width) * size, type, width);
            ftb_cast((char *)b->delta + (size_t)(i * heads + h) * size, type, &sum, FTB_FP64, 1);
        }
    return GrB_SUCCESS;
}

/* Zeros for a gradient, in padded rows; nothing if it is not wanted. */
static GrB_Info new_gradient(void **to, const backward *b, bool wanted, int64_t rows, int64_t row)
{
    int64_t count;
    if (!wanted)
        return GrB_SUCCESS;
    if (__builtin_mul_overflow(rows, row, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    *to = ftb_new0(b->product->of.ctx, count, FtB_Type_size(b->product->of.type));
    return *to ? GrB_SUCCESS : ftb_nomem();
}

/* One walk: rows of y and y_values meet sources x and x_values; over the rows of p, or by_source over those
 * of its transpose. */
static GrB_Info walk(const backward *b, const ftb_sddmm_plan *plan, bool by_source, const ftb_feed *y,
                     const ftb_feed *y_values, const ftb_feed *x, const ftb_feed *x_values, void *grad,
                     void *acc)
{
    const ftb_attention_grad_product *g = b->product;
    const ftb_attention_product *of = &g->of;
    ftb_padded rows = ftb_padded_of(y, of->heads, of->type),
               values = ftb_padded_of(y_values, of->heads, of->type);
    ftb_attention_walk w = {.ctx = of->ctx,
                            .p = by_source ? g->transpose : of->p,
                            .type = of->type,
                            .job = ftb_attention_describe(of),
                            .x = ftb_padded_of(x, of->heads, of->type),
                            .x_values = ftb_padded_of(x_values, of->heads, of->type),
                            .threads = b->threads};
    GrB_Info info;
    FTB_CHECK(ftb_padded_all(&rows, of->ctx, w.p->nrows, b->threads));
    FTB_CHECK(ftb_padded_all(&values, of->ctx, w.p->nrows, b->threads));
    w.job.backward = true;
    w.job.y = rows.data;
    w.job.yld = rows.ld;
    w.job.y_values = values.data;
    w.job.y_values_ld = values.ld;
    w.job.lse = g->lse;
    w.job.lse_ld = of->heads;
    w.job.delta = b->delta;
    w.job.by_source = by_source;
    w.job.entry_of = by_source ? g->from : NULL;
    w.job.grad = grad;
    w.job.grad_ld = of->heads * w.job.width;
    w.job.acc = acc;
    w.job.acc_ld = of->heads * w.job.value_width;
    w.fours = plan->segment && ftb_attention_together(&w.job, of->type) > 1;
    info = ftb_attention_walk_run(&w, plan);
done:
    ftb_padded_clear(&rows);
    ftb_padded_clear(&values);
    return info;
}

static GrB_Info run(backward *b, const ftb_attention_grad_plan *plan)
{
    const ftb_attention_grad_product *g = b->product;
    const ftb_attention_product *of = &g->of;
    const ftb_pattern *p = of->p;
    int64_t width = of->heads * ftb_lanes_width(of->x.width),
            values = of->heads * ftb_lanes_width(of->value_width);
    bool sources = g->k || g->v;
    GrB_Info info;
    FTB_CHECK(new_gradient(&b->q, b, g->q != NULL, p->nrows, width));
    FTB_CHECK(new_gradient(&b->k, b, sources, p->ncols, width));
    FTB_CHECK(new_gradient(&b->v, b, g->v != NULL, p->ncols, values));
    if (g->q)
        FTB_CHECK(walk(b, &plan->rows, false, &of->y, &b->d, &of->x, &of->v, b->q, NULL));
    if (sources)
        FTB_CHECK(walk(b, &plan->sources, true, &of->x, &of->v, &of->y, &b->d, b->k, b->v));
done:
    return info;
}

static void put(const backward *b, void *to, int64_t ld, const void *from, int64_t rows, int64_t width)
{
    const ftb_attention_product *of = &b->product->of;
    const int64_t padded = ftb_lanes_width(width);
    if (to)
        ftb_attention_compact(to, ld, from, of->heads * padded, of->type, rows, of->heads, padded, width,
                              b->threads);
}

GrB_Info ftb_attention_grad_run(const ftb_attention_grad_product *product,
                                const ftb_attention_grad_plan *plan)
{
    const ftb_attention_product *of = &product->of;
    backward b = {.product = product,
                  .d = {.side = FTB_SIDE_ROW,
                        .type = of->type,
                        .data = product->d,
                        .nrows = of->p->nrows,
                        .ld = product->ldd,
                        .heads = of->heads,
                        .width = of->value_width},
                  .threads = plan->rows.threads};
    GrB_Info info;
    FTB_CHECK(make_delta(&b));
    FTB_CHECK(run(&b, plan));
    put(&b, product->q, product->ldq, b.q, of->p->nrows, of->y.width);
    put(&b, product->k, product->ldk, b.k, of->p->ncols, of->x.width);
    put(&b, product->v, product->ldv, b.v, of->p->ncols, of->value_width);
done:
    ftb_delete(b.delta);
    ftb_delete(b.q);
    ftb_delete(b.k);
    ftb_delete(b.v);
    return info;
}
