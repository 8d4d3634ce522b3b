/* Gradients of attention: dQ by a walk over A's rows, dK and dV by one over those of its transpose. */
#include "ops/attention.h"
#include "ops/merge.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_attention_grad

typedef struct backward {
    ftb_attention_call c;
    FtB_Block dQ, dK, dV, dC, C;
    ftb_feed q, k, v, d; /* Q, K, V, dC */
    const void *lse;     /* in the type that all is computed in */
    int64_t lse_ld;
    void *lse_copy, *delta;
    void *of_q, *of_k, *of_v; /* gradients, heads padded */
    int threads;
} backward;

/* ---- arguments */

static GrB_Info check_output(FtB_Block X, const char *name, FtB_Block like, FtB_Type type)
{
    const ftb_flags none = {0};
    if (!X)
        return GrB_SUCCESS;
    if (!ftb_type_float(X->type))
        return ftb_fail(GrB_DOMAIN_MISMATCH, "%s: dtype %s; expected a floating one", name,
                        FtB_Type_name(X->type));
    GrB_Info info = ftb_block_write_check(X, NULL, &none, NULL, like->nrows, like->ncols, type);
    return info == GrB_SUCCESS ? info : ftb_wrap_error(info, "%s: ", name);
}

static GrB_Info check_result(const backward *b, FtB_Block X, const char *name)
{
    int64_t rows = b->c.A->pattern->nrows, values = b->c.heads * b->c.value_width;
    if (X->nrows != rows || X->ncols != values)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %lld x %lld; expected %lld x %lld, the result's shape",
                        name, (long long)X->nrows, (long long)X->ncols, (long long)rows, (long long)values);
    if (!ftb_type_float(X->type))
        return ftb_fail(GrB_DOMAIN_MISMATCH, "%s: dtype %s; expected a floating one", name,
                        FtB_Type_name(X->type));
    return GrB_SUCCESS;
}

/* Gradients are known of dot(src, dst), times a number, and of leaky_relu(src + dst). */
static GrB_Info check_form(const ftb_attention_call *c)
{
    if (c->score.kind == FTB_SCORE_ANY || strcmp(c->score.x->name, "src") != 0 ||
        strcmp(c->score.y->name, "dst") != 0)
        return ftb_fail(
            GrB_DOMAIN_MISMATCH,
            "semiring: the gradient of fused attention is known for dot(src, dst), times a number, "
            "and for leaky_relu(src + dst) of one value per head; else use FtB_mxm, FtB_softmax and "
            "their gradients");
    if (c->Q->heads != c->heads || c->K->heads != c->heads || c->V->heads != c->heads)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "Q, K, V: %lld, %lld and %lld heads; expected the same number for gradients",
                        (long long)c->Q->heads, (long long)c->K->heads, (long long)c->V->heads);
    if (!c->options.lse)
        return ftb_fail(GrB_NULL_POINTER,
                        "options: lse is NULL; expected what FtB_attention wrote to its own lse");
    return GrB_SUCCESS;
}

static GrB_Info check(backward *b)
{
    ftb_attention_call *c = &b->c;
    GrB_Info info;
    FTB_CHECK(check_form(c));
    FTB_CHECK(ftb_attention_check_lse(c, false));
    FTB_CHECK(check_result(b, b->dC, "dC"));
    FTB_CHECK(check_result(b, b->C, "C"));
    if (b->dC->type == FTB_FP64 || b->C->type == FTB_FP64)
        c->type = FTB_FP64;
    FTB_CHECK(check_output(b->dQ, "dQ", c->Q, c->type));
    FTB_CHECK(check_output(b->dK, "dK", c->K, c->type));
    info = check_output(b->dV, "dV", c->V, c->type);
done:
    return info;
}

/* ---- delta(i, h) = dot(dC(i, h), C(i, h)) */

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
    const ftb_attention_call *c = &b->c;
    int64_t rows = b->C->nrows, heads = c->heads, width = c->value_width, ld, ld_d;
    const void *values, *grads;
    void *copy = NULL, *copy_d = NULL;
    GrB_Info info = ftb_block_as(&values, &ld, &copy, b->C, c->type);
    if (info == GrB_SUCCESS)
        info = ftb_block_as(&grads, &ld_d, &copy_d, b->dC, c->type);
    if (info == GrB_SUCCESS && !(b->delta = ftb_new(c->ctx, rows * heads, FtB_Type_size(c->type))))
        info = ftb_nomem();
    if (info != GrB_SUCCESS)
        goto done;
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t h = 0; h < heads; h++) {
            size_t size = FtB_Type_size(c->type);
            double sum = dot_of((const char *)values + (size_t)(i * ld + h * width) * size,
                                (const char *)grads + (size_t)(i * ld_d + h * width) * size, c->type, width);
            ftb_cast((char *)b->delta + (size_t)(i * heads + h) * size, c->type, &sum, FTB_FP64, 1);
        }
done:
    ftb_delete(copy);
    ftb_delete(copy_d);
    return info;
}

/* ---- walks */

/* Zeros for the gradient of a block, in padded rows; nothing if it is not wanted. */
static GrB_Info new_gradient(void **to, const backward *b, bool wanted, int64_t rows, int64_t row)
{
    int64_t count;
    if (!wanted)
        return GrB_SUCCESS;
    if (__builtin_mul_overflow(rows, row, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    *to = ftb_new0(b->c.ctx, count, FtB_Type_size(b->c.type));
    return *to ? GrB_SUCCESS : ftb_nomem();
}

/* One walk: rows of y and y_values meet sources x and x_values; of p, or by_source of its transpose, whose
 * entries come `from` those of p (NULL: nothing asks). */
static GrB_Info walk(backward *b, ftb_pattern *p, bool by_source, const int64_t *from, const ftb_feed *y,
                     const ftb_feed *y_values, const ftb_feed *x, const ftb_feed *x_values, void *grad,
                     void *acc)
{
    const ftb_attention_call *c = &b->c;
    ftb_padded rows = ftb_padded_of(y, c->heads, c->type);
    ftb_padded values = ftb_padded_of(y_values, c->heads, c->type);
    ftb_attention_walk w = {.ctx = c->ctx, .p = p, .type = c->type, .threads = b->threads};
    ftb_sddmm_plan plan = c->plan; /* what was forced of it holds here, too */
    GrB_Info info;
    ftb_attention_describe(&w.job, c);
    w.job.backward = true;
    ftb_sddmm_facts facts = ftb_attention_facts(p, &w.job, c->type, b->threads);
    facts.standard = c->facts.standard;
    ftb_rule_sddmm(&plan, &facts, ftb_machine_here());
    FTB_CHECK(ftb_padded_all(&rows, c->ctx, p->nrows, b->threads));
    FTB_CHECK(ftb_padded_all(&values, c->ctx, p->nrows, b->threads));
    w.x = ftb_padded_of(x, c->heads, c->type);
    w.x_values = ftb_padded_of(x_values, c->heads, c->type);
    w.job.y = rows.data;
    w.job.yld = rows.ld;
    w.job.y_values = values.data;
    w.job.y_values_ld = values.ld;
    w.job.lse = b->lse;
    w.job.lse_ld = b->lse_ld;
    w.job.delta = b->delta;
    w.job.by_source = by_source;
    w.job.entry_of = from;
    w.job.grad = grad;
    w.job.grad_ld = c->heads * w.job.width;
    w.job.acc = acc;
    w.job.acc_ld = c->heads * w.job.value_width;
    info = ftb_attention_run(&w, &plan);
done:
    ftb_padded_clear(&rows);
    ftb_padded_clear(&values);
    return info;
}

static GrB_Info run(backward *b)
{
    ftb_attention_call *c = &b->c;
    ftb_pattern *p = c->A->pattern, *transpose;
    const int64_t *from = NULL; /* only draws ask for entries */
    int64_t width = c->heads * ftb_lanes_width(c->width), values = c->heads * ftb_lanes_width(c->value_width);
    bool sources = b->dK || b->dV;
    GrB_Info info;
    FTB_CHECK(new_gradient(&b->of_q, b, b->dQ != NULL, p->nrows, width));
    FTB_CHECK(new_gradient(&b->of_k, b, sources, p->ncols, width));
    FTB_CHECK(new_gradient(&b->of_v, b, b->dV != NULL, p->ncols, values));
    if (b->dQ)
        FTB_CHECK(walk(b, p, false, NULL, &b->q, &b->d, &b->k, &b->v, b->of_q, NULL));
    if (sources) {
        FTB_CHECK(ftb_pattern_transpose(p, &transpose, c->options.dropout > 0 ? &from : NULL));
        FTB_CHECK(walk(b, transpose, true, from, &b->k, &b->v, &b->q, &b->d, b->of_k, b->of_v));
    }
    info = GrB_SUCCESS;
done:
    return info;
}

static GrB_Info write_gradient(const backward *b, FtB_Block X, void *T, int64_t width)
{
    const ftb_flags none = {0};
    int64_t padded = ftb_lanes_width(width);
    if (!X)
        return GrB_SUCCESS;
    ftb_attention_compact(T, b->c.type, X->nrows, b->c.heads * padded, b->c.heads, padded, width, b->threads);
    return ftb_block_write(X, NULL, &none, NULL, T, b->c.type, b->c.heads * padded, NULL);
}

static GrB_Info prepare(backward *b)
{
    ftb_attention_call *c = &b->c;
    b->threads = c->plan.threads;
    b->q = ftb_attention_feed(c->Q, c->heads, FTB_SIDE_ROW);
    b->k = ftb_attention_feed(c->K, c->heads, FTB_SIDE_COL);
    b->v = ftb_attention_feed(c->V, c->heads, FTB_SIDE_COL);
    b->d = ftb_attention_feed(b->dC, c->heads, FTB_SIDE_ROW);
    GrB_Info info = ftb_block_as(&b->lse, &b->lse_ld, &b->lse_copy, c->options.lse, c->type);
    if (info != GrB_SUCCESS)
        return info;
    if (b->lse_ld != c->heads) { /* lse and delta are read with one distance of rows */
        FtB_Type type = c->options.lse->type;
        char *packed = ftb_new(c->ctx, c->options.lse->nrows * c->heads, FtB_Type_size(c->type));
        if (!packed)
            return ftb_nomem();
        for (int64_t i = 0; i < c->options.lse->nrows; i++)
            ftb_cast(packed + (size_t)(i * c->heads) * FtB_Type_size(c->type), c->type,
                     (const char *)ftb_block_data(c->options.lse) +
                         (size_t)(i * c->options.lse->ld) * FtB_Type_size(type),
                     type, c->heads);
        ftb_delete(b->lse_copy);
        b->lse = b->lse_copy = packed;
        b->lse_ld = c->heads;
    }
    return make_delta(b);
}

GrB_Info FtB_attention_grad(FtB_Arg dQ, FtB_Arg dK, FtB_Arg dV, FtB_Arg dC, FtB_Arg A, FtB_Arg semiring,
                            FtB_Arg Q, FtB_Arg K, FtB_Arg V, FtB_Arg C, const FtB_Attention_options *options,
                            FtB_Arg desc)
{
    backward b = {0};
    GrB_Info info;
    FTB_CHECK(ftb_arg_block(&b.dQ, dQ, "dQ", true));
    FTB_CHECK(ftb_arg_block(&b.dK, dK, "dK", true));
    FTB_CHECK(ftb_arg_block(&b.dV, dV, "dV", true));
    FTB_CHECK(ftb_arg_block(&b.dC, dC, "dC", false));
    FTB_CHECK(ftb_arg_block(&b.C, C, "C", false));
    FtB_Block output = b.dQ ? b.dQ : b.dK ? b.dK : b.dV;
    if (!output)
        return GrB_SUCCESS;
    FTB_CHECK(ftb_attention_begin(&b.c, output->ctx, A, semiring, Q, K, V, options, desc));
    FTB_CHECK(check(&b));
    FTB_CHECK(prepare(&b));
    FTB_CHECK(run(&b));
    FTB_CHECK(write_gradient(&b, b.dQ, b.of_q, b.c.width));
    FTB_CHECK(write_gradient(&b, b.dK, b.of_k, b.c.width));
    info = write_gradient(&b, b.dV, b.of_v, b.c.value_width);
done:
    ftb_delete(b.lse_copy);
    ftb_delete(b.delta);
    ftb_delete(b.of_q);
    ftb_delete(b.of_k);
    ftb_delete(b.of_v);
    return ftb_attention_end(&b.c, info);
}
