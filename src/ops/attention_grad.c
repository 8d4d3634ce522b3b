/* Gradients of attention: arguments, plans of the two walks, run, write rule. */
#include "ops/attention.h"
#include "ops/block/block_map.h"
#include "ops/merge.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_attention_grad

/* A gradient: where it goes, and on its way there memory of the type that all is computed in. */
typedef struct output {
    FtB_Block X;
    void *made;
} output;

typedef struct backward {
    ftb_attention_call c;
    FtB_Block dC, C;
    output q, k, v;
    ftb_attention_grad_product product;
    ftb_attention_grad_plan plan;
    void *lse, *t, *d; /* copies, or NULL */
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
    FTB_CHECK(check_output(b->q.X, "dQ", c->Q, c->type));
    FTB_CHECK(check_output(b->k.X, "dK", c->K, c->type));
    info = check_output(b->v.X, "dV", c->V, c->type);
done:
    return info;
}

/* What was forced of a plan holds for both walks. */
static void make_plans(backward *b)
{
    const ftb_attention_call *c = &b->c;
    const int threads = c->plan.threads;
    ftb_attention_product by_source = b->product.of;
    by_source.p = b->product.transpose ? b->product.transpose : by_source.p;
    ftb_sddmm_facts facts[] = {ftb_attention_facts(&b->product.of, true, threads),
                               ftb_attention_facts(&by_source, true, threads)};
    ftb_sddmm_plan *plans[] = {&b->plan.rows, &b->plan.sources};
    for (int n = 0; n < 2; n++) {
        facts[n].standard = c->facts.standard;
        *plans[n] = c->plan;
        ftb_rule_sddmm(plans[n], &facts[n], ftb_machine_here());
    }
}

static GrB_Info prepare(backward *b)
{
    ftb_attention_grad_product *g = &b->product;
    GrB_Info info = GrB_SUCCESS;
    g->of = ftb_attention_describe_call(&b->c);
    if (b->k.X || b->v.X) /* only draws ask for entries */
        info = ftb_pattern_transpose(g->of.p, &g->transpose, b->c.options.dropout > 0 ? &g->from : NULL);
    if (info == GrB_SUCCESS)
        make_plans(b);
    return info;
}

/* ---- operands as they are */

static bool fits_output(const backward *b, const output *o)
{
    const FtB_Block read[] = {b->c.Q, b->c.K, b->c.V, b->C, b->dC, b->c.options.lse};
    for (int n = 0; o->X && n < 6; n++)
        if (ftb_block_alias(o->X, read[n]) != FTB_ALIAS_NONE)
            return false;
    return !o->X || o->X->type == b->c.type;
}

static bool is_direct(const backward *b)
{
    const FtB_Block lse = b->c.options.lse;
    const FtB_Type type = b->c.type;
    return b->C->type == type && b->dC->type == type && lse->type == type && lse->ld == b->c.heads &&
           fits_output(b, &b->q) && fits_output(b, &b->k) && fits_output(b, &b->v);
}

static GrB_Info run_directly(backward *b, const ftb_backend *who)
{
    ftb_attention_grad_product *g = &b->product;
    const ftb_place places[] = {{.feed = &g->of.x},
                                {.feed = &g->of.y},
                                {.feed = &g->of.v, .name = "V"},
                                {.X = b->c.options.lse, .read = &g->lse, .name = "options: lse"},
                                {.X = b->C, .read = &g->t, .name = "C"},
                                {.X = b->dC, .read = &g->d, .name = "dC"},
                                {.X = b->q.X, .write = &g->q, .whole = true, .name = "dQ"},
                                {.X = b->k.X, .write = &g->k, .whole = true, .name = "dK"},
                                {.X = b->v.X, .write = &g->v, .whole = true, .name = "dV"}};
    GrB_Info info;
    g->ldt = b->C->ld;
    g->ldd = b->dC->ld;
    g->ldq = b->q.X ? b->q.X->ld : 0;
    g->ldk = b->k.X ? b->k.X->ld : 0;
    g->ldv = b->v.X ? b->v.X->ld : 0;
    FTB_RUN(info, who, attention_grad, places, g, &b->plan);
    return info;
}

/* ---- copies of them, on the host */

static GrB_Info ask(const backward *b)
{
    static const char *const read_names[] = {"C", "dC", "options: lse"}, *const names[] = {"dQ", "dK", "dV"};
    const FtB_Block read[] = {b->C, b->dC, b->c.options.lse}, written[] = {b->q.X, b->k.X, b->v.X};
    GrB_Info info = ftb_attention_ask(&b->c);
    for (int n = 0; n < 3 && info == GrB_SUCCESS; n++)
        info = ftb_buffer_ask_as(read[n]->owner, FTB_READ, read_names[n]);
    for (int n = 0; n < 3 && info == GrB_SUCCESS; n++)
        info = written[n] ? ftb_buffer_ask_as(written[n]->owner, FTB_UPDATE, names[n]) : info;
    return info;
}

/* lse in the type that all is computed in, its rows one after the other. */
static GrB_Info take_lse(backward *b)
{
    const FtB_Block lse = b->c.options.lse;
    const int64_t heads = b->c.heads;
    const FtB_Type type = b->c.type;
    b->product.lse = ftb_block_data(lse);
    if (lse->type == type && lse->ld == heads)
        return GrB_SUCCESS;
    if (!(b->lse = ftb_new(b->c.ctx, lse->nrows * heads, FtB_Type_size(type))))
        return ftb_nomem();
    for (int64_t i = 0; i < lse->nrows; i++)
        ftb_cast((char *)b->lse + (size_t)(i * heads) * FtB_Type_size(type), type,
                 (const char *)ftb_block_data(lse) + (size_t)(i * lse->ld) * FtB_Type_size(lse->type),
                 lse->type, heads);
    b->product.lse = b->lse;
    return GrB_SUCCESS;
}

static GrB_Info new_output(output *o, void **to, int64_t *ld, FtB_Type type, FtB_Context ctx)
{
    int64_t count;
    if (!o->X)
        return GrB_SUCCESS;
    if (__builtin_mul_overflow(o->X->nrows, o->X->ncols, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    *ld = o->X->ncols;
    *to = o->made = ftb_new(ctx, count, FtB_Type_size(type));
    return o->made ? GrB_SUCCESS : ftb_nomem();
}

static GrB_Info put(const output *o, FtB_Type type)
{
    const ftb_flags none = {0};
    return o->X ? ftb_block_write(o->X, NULL, &none, NULL, o->made, type, o->X->ncols, NULL) : GrB_SUCCESS;
}

static GrB_Info run_aside(backward *b)
{
    ftb_attention_grad_product *g = &b->product;
    const FtB_Type type = b->c.type;
    const FtB_Context ctx = b->c.ctx;
    GrB_Info info;
    FTB_CHECK(ask(b));
    FTB_CHECK(take_lse(b));
    FTB_CHECK(ftb_block_as(&g->t, &g->ldt, &b->t, b->C, type));
    FTB_CHECK(ftb_block_as(&g->d, &g->ldd, &b->d, b->dC, type));
    FTB_CHECK(new_output(&b->q, &g->q, &g->ldq, type, ctx));
    FTB_CHECK(new_output(&b->k, &g->k, &g->ldk, type, ctx));
    FTB_CHECK(new_output(&b->v, &g->v, &g->ldv, type, ctx));
    FTB_CHECK(ftb_attention_grad_run(g, &b->plan));
    FTB_CHECK(put(&b->q, type));
    FTB_CHECK(put(&b->k, type));
    info = put(&b->v, type);
done:
    return info;
}

GrB_Info ftb_attention_grad_seeded(const uint64_t *seed_at, FtB_Arg dQ, FtB_Arg dK, FtB_Arg dV, FtB_Arg dC,
                                   FtB_Arg A, FtB_Arg semiring, FtB_Arg Q, FtB_Arg K, FtB_Arg V, FtB_Arg C,
                                   const FtB_Attention_options *options, FtB_Arg desc)
{
    backward b = {.c = {.seed_at = seed_at}};
    GrB_Info info;
    FTB_CHECK(ftb_arg_block_anywhere(&b.q.X, dQ, "dQ", true));
    FTB_CHECK(ftb_arg_block_anywhere(&b.k.X, dK, "dK", true));
    FTB_CHECK(ftb_arg_block_anywhere(&b.v.X, dV, "dV", true));
    FTB_CHECK(ftb_arg_block_anywhere(&b.dC, dC, "dC", false));
    FTB_CHECK(ftb_arg_block_anywhere(&b.C, C, "C", false));
    const FtB_Block first = b.q.X ? b.q.X : b.k.X ? b.k.X : b.v.X;
    if (!first)
        return GrB_SUCCESS;
    FTB_CHECK(ftb_attention_begin(&b.c, first->ctx, A, semiring, Q, K, V, options, desc));
    FTB_CHECK(check(&b));
    FTB_CHECK(prepare(&b));
    info =
        is_direct(&b) ? run_directly(&b, FTB_WHO_FITS(b.c.ctx, attention_grad, &b.product)) : run_aside(&b);
done:
    ftb_delete(b.lse);
    ftb_delete(b.t);
    ftb_delete(b.d);
    ftb_delete(b.q.made);
    ftb_delete(b.k.made);
    ftb_delete(b.v.made);
    return ftb_attention_end(&b.c, info);
}

GrB_Info FtB_attention_grad(FtB_Arg dQ, FtB_Arg dK, FtB_Arg dV, FtB_Arg dC, FtB_Arg A, FtB_Arg semiring,
                            FtB_Arg Q, FtB_Arg K, FtB_Arg V, FtB_Arg C, const FtB_Attention_options *options,
                            FtB_Arg desc)
{
    return ftb_attention_grad_seeded(NULL, dQ, dK, dV, dC, A, semiring, Q, K, V, C, options, desc);
}
