/* C = accum(C, softmax by row of the scores of A's entries, times V): arguments, plan, run, write rule.
 *
 * Scores that kernels know (expr/score.h) are made from packed rows; any other text runs as a program on the
 * entries of a step. Nothing is stored per entry, but in three steps (attention_staged.c). */
#include "ops/attention.h"

#include "core/options.h"
#include "core/watch.h"
#include "ops/block/block_map.h"
#include "ops/merge.h"
#include "ops/plan_object.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_attention
#undef FtB_attention_plan

/* ---- arguments */

static GrB_Info read_options(ftb_attention_call *c, const FtB_Attention_options *options)
{
    GrB_Info info =
        ftb_options_read(&c->options, sizeof c->options, options, "FtB_attention", "FTB_ATTENTION_OPTIONS");
    if (info == GrB_SUCCESS && !(c->options.dropout >= 0 && c->options.dropout < 1))
        info = ftb_fail(GrB_INVALID_VALUE, "options: dropout is %g; expected 0 <= dropout < 1",
                        c->options.dropout);
    return info;
}

static GrB_Info check_flags(const ftb_flags *flags)
{
    if (flags->transpose0 || flags->transpose1)
        return ftb_fail(GrB_INVALID_VALUE,
                        "desc: a transpose; attention reads A, Q and K as they are (K's rows are A's "
                        "columns); for A' give it "
                        "the transposed matrix, FtB_apply(T, NULL, NULL, \"x\", A, FTB_DESC_T0)");
    if (flags->complement)
        return ftb_fail(GrB_INVALID_VALUE, "desc: COMPLEMENT is not known to attention");
    return GrB_SUCCESS;
}

static GrB_Info check_rows(const ftb_attention_call *c)
{
    const ftb_pattern *p = c->A->pattern;
    const struct {
        FtB_Block X;
        const char *name;
        int64_t rows;
    } blocks[] = {{c->Q, "Q", p->nrows}, {c->K, "K", p->ncols}, {c->V, "V", p->ncols}};
    for (int b = 0; b < 3; b++)
        if (blocks[b].X->nrows != blocks[b].rows)
            return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %lld rows; expected %lld, as A is %lld x %lld",
                            blocks[b].name, (long long)blocks[b].X->nrows, (long long)blocks[b].rows,
                            (long long)p->nrows, (long long)p->ncols);
    if (c->V->ncols == 0)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "V: no columns");
    return GrB_SUCCESS;
}

static GrB_Info make_message(ftb_attention_call *c)
{
    static const char *const rename[] = {"a", "dst", "b", "src", NULL};
    ftb_message *m = &c->message;
    GrB_Info info;
    FTB_CHECK(ftb_message_new(m, c->ctx, c->semiring, rename));
    if (c->semiring->domain)
        FTB_CHECK(ftb_message_over_features(m));
    FTB_CHECK(ftb_message_block(m, "dst", FTB_SIDE_ROW, c->Q, c->Q->heads));
    FTB_CHECK(ftb_message_block(m, "src", FTB_SIDE_COL, c->K, c->K->heads));
    FTB_CHECK(ftb_message_values(m, "edge", c->A, NULL));
    if (c->A->width > 1 && ftb_message_reads(m, "edge")) /* else one score does for all heads of V */
        FTB_CHECK(ftb_message_heads(m, "V", c->V->heads));
    FTB_CHECK(ftb_message_indices(m, c->A->pattern, false, NULL));
    ftb_message_argument(m, "dst", "Q");
    ftb_message_argument(m, "src", "K");
    ftb_message_argument(m, "edge", "A");
    FTB_CHECK(ftb_message_compile(&c->score_type, &c->program, m));
    if (m->function)
        info =
            ftb_fail(GrB_DOMAIN_MISMATCH, "semiring: a C function; attention takes scores written as text");
    else if (c->score_type.width != 1)
        info = ftb_fail(GrB_DIMENSION_MISMATCH,
                        "semiring: the score has %lld values per head; expected 1, as of dot(src, dst)",
                        (long long)c->score_type.width);
done:
    return info;
}

static GrB_Info agree_on_heads(ftb_attention_call *c)
{
    int64_t scores = c->message.heads, values = c->V->heads;
    if (scores != values && scores != 1 && values != 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "V: %lld heads, scores have %lld; expected the same, or 1",
                        (long long)values, (long long)scores);
    c->heads = ftb_max(scores, values);
    c->value_width = c->V->ncols / values;
    c->score = ftb_score_of(&c->message, &c->score_type);
    bool wide = c->score_type.message == FTB_FP64 || c->V->type == FTB_FP64;
    c->type = wide ? FTB_FP64 : FTB_FP32;
    return GrB_SUCCESS;
}

ftb_attention_product ftb_attention_describe_call(const ftb_attention_call *c)
{
    ftb_attention_product product = {.ctx = c->ctx,
                                     .p = c->A->pattern,
                                     .type = c->type,
                                     .heads = c->heads,
                                     .value_width = c->value_width,
                                     .kind = c->score.kind,
                                     .scale = c->score.scale,
                                     .slope = c->score.slope,
                                     .v = ftb_block_feed(c->V, c->V->heads, FTB_SIDE_COL),
                                     .message = &c->message,
                                     .program = c->program,
                                     .score_type = c->score_type.message,
                                     .wraps = ftb_semiring_wraps_to(c->semiring, c->score_type.message),
                                     .dropout = c->options.dropout,
                                     .seed = c->options.seed,
                                     .seed_at = c->seed_at};
    if (c->score.kind != FTB_SCORE_ANY) {
        product.x = *c->score.x;
        product.y = *c->score.y;
    }
    return product;
}

static GrB_Info make_plan(ftb_attention_call *c)
{
    ftb_pattern *p = c->A->pattern;
    const ftb_attention_product product = ftb_attention_describe_call(c);
    c->facts = ftb_attention_facts(&product, false,
                                   ftb_threads_for(c->ctx, p->nvals * (c->heads * c->value_width / 32 + 1)));
    c->facts.standard = ftb_deterministic(c->ctx);
    c->facts.can_stage = !p->wide && c->V->heads == c->heads;
    c->facts.value_features = c->heads * ftb_lanes_width(c->value_width);
    c->facts.value_bytes = (int64_t)FtB_Type_size(c->type);
    c->facts.lanes = FTB_PICK(ftb_spmm_lanes)(c->type);
    ftb_any_plan plan;
    GrB_Info info =
        ftb_plan_choose(&plan, FTB_PLAN_ATTENTION, &(ftb_any_facts){.sddmm = c->facts}, c->flags.plan, NULL);
    c->plan = plan.sddmm;
    return info;
}

GrB_Info ftb_attention_begin(ftb_attention_call *c, FtB_Context ctx, FtB_Arg A, FtB_Arg semiring, FtB_Arg Q,
                             FtB_Arg K, FtB_Arg V, const FtB_Attention_options *options, FtB_Arg desc)
{
    GrB_Info info;
    c->ctx = ctx;
    FTB_CHECK(ftb_arg_matrix_anywhere(&c->A, A, "A", false));
    FTB_CHECK(ftb_arg_block_anywhere(&c->Q, Q, "Q", false));
    FTB_CHECK(ftb_arg_block_anywhere(&c->K, K, "K", false));
    FTB_CHECK(ftb_arg_block_anywhere(&c->V, V, "V", false));
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(check_flags(&c->flags));
    FTB_CHECK(read_options(c, options));
    FTB_CHECK(check_rows(c));
    FTB_CHECK(ftb_arg_semiring(&c->semiring, semiring, "semiring"));
    FTB_CHECK(make_message(c));
    FTB_CHECK(agree_on_heads(c));
    info = make_plan(c);
done:
    return info;
}

GrB_Info ftb_attention_end(ftb_attention_call *c, GrB_Info info)
{
    ftb_program_delete(c->program);
    ftb_message_clear(&c->message);
    FtB_Semiring_free(&c->semiring);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c->ctx);
    return info;
}

GrB_Info ftb_attention_check_lse(const ftb_attention_call *c, bool output)
{
    FtB_Block lse = c->options.lse;
    if (!lse)
        return GrB_SUCCESS;
    if (lse->magic != FTB_MAGIC_BLOCK)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "options: lse is not an FtB_Block, or was freed");
    if (lse->nrows != c->A->pattern->nrows || lse->ncols != c->heads)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "options: lse is %lld x %lld; expected %lld x %lld, rows x heads",
                        (long long)lse->nrows, (long long)lse->ncols, (long long)c->A->pattern->nrows,
                        (long long)c->heads);
    if (lse->type != FTB_FP32 && lse->type != FTB_FP64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "options: lse has dtype %s; expected fp32 or fp64",
                        FtB_Type_name(lse->type));
    if (output && !ftb_buffer_write(lse->owner))
        return ftb_fail(GrB_INVALID_VALUE, "options: lse is over memory that must not be written");
    return GrB_SUCCESS;
}

GrB_Info ftb_attention_ask(const ftb_attention_call *c)
{
    GrB_Info info = ftb_message_ask(&c->message);
    return info == GrB_SUCCESS ? ftb_buffer_ask_as(c->V->owner, FTB_READ, "V") : info;
}

/* ---- forward */

typedef struct forward {
    ftb_attention_call c;
    FtB_Block C;
    FtB_Op accum;
    void *lse;              /* rows x heads of c.type */
    ftb_spmm_result result; /* rows x heads x value_width */
} forward;

/* Whether C and lse can be written as they are, from what is neither. */
static bool is_direct(const forward *f)
{
    const ftb_attention_call *c = &f->c;
    const FtB_Block lse = c->options.lse, read[] = {c->Q, c->K, c->V};
    for (int n = 0; n < 3; n++)
        if (ftb_block_alias(f->C, read[n]) != FTB_ALIAS_NONE ||
            (lse && ftb_block_alias(lse, read[n]) != FTB_ALIAS_NONE))
            return false;
    return !f->accum && c->flags.fill == 0 && f->C->type == c->type &&
           (!lse || (lse->type == c->type && lse->ld == c->heads));
}

/* And by the verb. */
static bool is_verb(const forward *f)
{
    const ftb_score *score = &f->c.score;
    return is_direct(f) && !f->c.plan.staged && score->kind != FTB_SCORE_ANY && score->x->owner &&
           score->y->owner;
}

static GrB_Info run_verb(forward *f)
{
    ftb_attention_product p = ftb_attention_describe_call(&f->c);
    const ftb_place places[] = {
        {.feed = &p.x},
        {.feed = &p.y},
        {.feed = &p.v, .name = "V"},
        {.X = f->c.options.lse, .write = &p.lse, .whole = true, .name = "options: lse"},
        {.X = f->C, .write = &p.out, .whole = true, .name = "C"}};
    GrB_Info info;
    p.ldo = f->C->ld;
    FTB_RUN(info, FTB_WHO_FITS(f->c.ctx, attention, &p), attention, places, &p, &f->c.plan);
    return info;
}

static void write_lse(const forward *f)
{
    FtB_Block lse = f->c.options.lse;
    size_t size = FtB_Type_size(f->c.type);
    for (int64_t i = 0; lse && i < lse->nrows; i++)
        ftb_cast((char *)ftb_block_data(lse) + (size_t)(i * lse->ld) * FtB_Type_size(lse->type), lse->type,
                 (char *)f->lse + (size_t)(i * f->c.heads) * size, f->c.type, f->c.heads);
}

/* In steps. lse is written when nothing can fail any more. */
static GrB_Info run_steps(forward *f)
{
    const ftb_attention_call *c = &f->c;
    const FtB_Block lse = c->options.lse;
    const int64_t rows = c->A->pattern->nrows;
    FtB_Block aside = NULL;
    GrB_Info info;
    if (lse)
        FTB_CHECK(ftb_block_view(&aside, c->ctx, c->type, rows, c->heads, c->heads,
                                 ftb_buffer_new(c->ctx, rows * c->heads, FtB_Type_size(c->type))));
    FTB_CHECK(ftb_attention_staged(c, f->C, aside));
    if (lse)
        info = ftb_block_put(&(ftb_copy_product){.ldx = c->heads}, lse, aside);
done:
    FtB_Block_free(&aside);
    return info;
}

/* All that can be refused. */
static GrB_Info begin(forward *f, FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring, FtB_Arg Q, FtB_Arg K,
                      FtB_Arg V, const FtB_Attention_options *options, FtB_Arg desc)
{
    ftb_attention_call *c = &f->c;
    GrB_Info info;
    FTB_CHECK(ftb_arg_block_anywhere(&f->C, C, "C", false));
    FTB_CHECK(ftb_arg_op(&f->accum, accum, "accum", true));
    FTB_CHECK(ftb_attention_begin(c, f->C->ctx, A, semiring, Q, K, V, options, desc));
    FTB_CHECK(ftb_attention_check_lse(c, true));
    info = ftb_block_write_check(f->C, NULL, &c->flags, f->accum, c->A->pattern->nrows,
                                 c->heads * c->value_width, c->type);
done:
    return info;
}

/* Rows as long as the walk's, so that it may work in them. */
static GrB_Info run_fused(forward *f)
{
    const ftb_attention_call *c = &f->c;
    ftb_attention_product p = ftb_attention_describe_call(c);
    int64_t rows = c->A->pattern->nrows, values;
    p.ldo = c->heads * ftb_lanes_width(c->value_width);
    if (__builtin_mul_overflow(rows, p.ldo, &values))
        values = INT64_MAX; /* refused by the allocator, with its message */
    p.out = ftb_new0(c->ctx, values, FtB_Type_size(c->type));
    p.scratch = true;
    p.lse = f->lse;
    f->result = (ftb_spmm_result){.values = p.out, .owned = p.out, .type = c->type, .ld = p.ldo};
    return p.out ? ftb_attention_run(&p, &c->plan) : ftb_nomem();
}

/* *X: rows of `ncols` values over our memory at `data`. */
static GrB_Info over(FtB_Block *X, const ftb_attention_call *c, void *data, int64_t ncols)
{
    const int64_t rows = c->A->pattern->nrows;
    return ftb_block_view(
        X, c->ctx, c->type, rows, ncols, ncols,
        ftb_buffer_wrap(c->ctx, data, rows * ncols * (int64_t)FtB_Type_size(c->type), true));
}

static GrB_Info run_staged(forward *f)
{
    const ftb_attention_call *c = &f->c;
    const int64_t ncols = c->heads * c->value_width;
    FtB_Block T = NULL, lse = NULL;
    int64_t values;
    GrB_Info info;
    if (__builtin_mul_overflow(c->A->pattern->nrows, ncols, &values))
        values = INT64_MAX; /* refused by the allocator, with its message */
    void *out = ftb_new(c->ctx, values, FtB_Type_size(c->type));
    f->result = (ftb_spmm_result){.values = out, .owned = out, .type = c->type, .ld = ncols};
    if (!out)
        return ftb_nomem();
    FTB_CHECK(over(&T, c, out, ncols));
    if (f->lse)
        FTB_CHECK(over(&lse, c, f->lse, c->heads));
    FTB_CHECK(ftb_attention_staged(c, T, lse));
    FTB_CHECK(ftb_buffer_ask(T->owner, FTB_READ));
    info = lse ? ftb_buffer_ask(lse->owner, FTB_READ) : GrB_SUCCESS;
done:
    FtB_Block_free(&T);
    FtB_Block_free(&lse);
    return info;
}

static GrB_Info run(forward *f)
{
    const ftb_attention_call *c = &f->c;
    int64_t states;
    if (__builtin_mul_overflow(c->A->pattern->nrows, c->heads, &states))
        states = INT64_MAX; /* refused by the allocator, with its message */
    if (c->options.lse && !(f->lse = ftb_new(c->ctx, states, FtB_Type_size(c->type))))
        return ftb_nomem();
    return c->plan.staged ? run_staged(f) : run_fused(f);
}

static void clear_state(forward *f)
{
    ftb_delete(f->lse);
    ftb_delete(f->result.owned);
    f->lse = NULL;
    f->result = (ftb_spmm_result){0};
}

/* Runs the forward pass for its time alone. */
static GrB_Info try_plan(void *given, const ftb_any_plan *plan, double *seconds)
{
    forward *f = given;
    (void)seconds;
    f->c.plan = plan->sddmm;
    GrB_Info info = run(f);
    clear_state(f);
    return info;
}

/* On the host, aside from C, and by the write rule. */
static GrB_Info run_aside(forward *f)
{
    const ftb_attention_call *c = &f->c;
    FtB_Block lse = c->options.lse;
    GrB_Info info;
    FTB_CHECK(ftb_attention_ask(c));
    FTB_CHECK(ftb_buffer_ask_as(f->C->owner, FTB_UPDATE, "C"));
    FTB_CHECK(lse ? ftb_buffer_ask_as(lse->owner, FTB_UPDATE, "options: lse") : GrB_SUCCESS);
    FTB_CHECK(run(f));
    FTB_CHECK(ftb_block_write(f->C, NULL, &c->flags, f->accum, f->result.values, f->result.type, f->result.ld,
                              c->A->pattern->rowptr));
    write_lse(f);
done:
    return info;
}

GrB_Info ftb_attention_seeded(const uint64_t *seed_at, FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring,
                              FtB_Arg Q, FtB_Arg K, FtB_Arg V, const FtB_Attention_options *options,
                              FtB_Arg desc)
{
    forward f = {.c = {.seed_at = seed_at}};
    ftb_attention_call *c = &f.c;
    GrB_Info info;
    FTB_CHECK(begin(&f, C, A, accum, semiring, Q, K, V, options, desc));
    info = is_verb(&f) ? run_verb(&f) : c->plan.staged && is_direct(&f) ? run_steps(&f) : run_aside(&f);
done:
    clear_state(&f);
    FtB_Op_free(&f.accum);
    return ftb_attention_end(c, info);
}

GrB_Info FtB_attention(FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring, FtB_Arg Q, FtB_Arg K, FtB_Arg V,
                       const FtB_Attention_options *options, FtB_Arg desc)
{
    return ftb_attention_seeded(NULL, C, A, accum, semiring, Q, K, V, options, desc);
}

GrB_Info FtB_attention_plan(FtB_Plan *plan, FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring, FtB_Arg Q,
                            FtB_Arg K, FtB_Arg V, const FtB_Attention_options *options, FtB_Arg desc,
                            FtB_Effort effort)
{
    forward f = {0};
    if (!plan)
        return ftb_fail(GrB_NULL_POINTER, "plan: NULL; expected where to put the plan");
    *plan = NULL;
    GrB_Info info = begin(&f, C, A, accum, semiring, Q, K, V, options, desc);
    const ftb_any_facts facts = {.sddmm = f.c.facts};
    ftb_any_plan made = {.sddmm = f.c.plan};
    bool learns = info == GrB_SUCCESS && !f.c.facts.standard;
    if (learns && effort == FTB_MEASURE)
        info = ftb_attention_ask(&f.c);
    if (info == GrB_SUCCESS && learns && effort == FTB_MEASURE)
        info = ftb_plan_measure(&made, FTB_PLAN_ATTENTION, &facts, try_plan, &f, f.c.ctx);
    else if (info == GrB_SUCCESS && learns) /* not for calls without a plan: bits depend on it */
        info = ftb_plan_choose(&made, FTB_PLAN_ATTENTION, &facts, f.c.flags.plan, f.c.ctx);
    if (info == GrB_SUCCESS)
        info = ftb_plan_new(plan, f.c.ctx, FTB_PLAN_ATTENTION, &facts, &made);
    if (info == GrB_SUCCESS)
        ftb_plan_place_message(*plan,
                               is_verb(&f) ? FTB_WHO(f.c.ctx, attention) != NULL
                                           : f.c.plan.staged && is_direct(&f) && FTB_WHO(f.c.ctx, softmax),
                               &f.c.message, f.c.V->owner);
    FtB_Op_free(&f.accum);
    return ftb_attention_end(&f.c, info);
}
