/* C = accum(C, softmax by row of the scores of A's entries, times V): arguments, state, walk, finish.
 *
 * Scores that kernels know (expr/score.h) are made from packed rows; any other text runs as a program on the
 * entries of a step, in each thread. Nothing is stored per entry. */
#include "ops/attention.h"

#include "core/options.h"
#include "core/watch.h"
#include "cpu/interpreter.h"
#include "cpu/message_load.h"
#include "ops/merge.h"
#include "ops/plan_object.h"
#include "ops/sddmm.h"

#include <math.h>

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
    c->width = c->score.kind == FTB_SCORE_ANY ? 0 : c->score.x->width;
    bool wide = c->score_type.message == FTB_FP64 || c->V->type == FTB_FP64;
    c->type = wide ? FTB_FP64 : FTB_FP32;
    return GrB_SUCCESS;
}

static GrB_Info make_plan(ftb_attention_call *c)
{
    ftb_pattern *p = c->A->pattern;
    ftb_attention_job job = {0};
    ftb_attention_describe(&job, c);
    c->facts = ftb_attention_facts(p, &job, c->type,
                                   ftb_threads_for(c->ctx, p->nvals * (c->heads * c->value_width / 32 + 1)));
    c->facts.standard = ftb_deterministic(c->ctx);
    c->facts.can_stage = !p->wide && c->V->heads == c->heads;
    c->facts.value_features = c->heads * job.value_width;
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
    FTB_CHECK(ftb_arg_matrix(&c->A, A, "A", false));
    FTB_CHECK(ftb_arg_block(&c->Q, Q, "Q", false));
    FTB_CHECK(ftb_arg_block(&c->K, K, "K", false));
    FTB_CHECK(ftb_arg_block(&c->V, V, "V", false));
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
    return ftb_buffer_ask(lse->owner, output ? FTB_UPDATE : FTB_READ);
}

ftb_feed ftb_attention_feed(FtB_Block X, int64_t heads, ftb_side side)
{
    return (ftb_feed){.side = side,
                      .type = X->type,
                      .data = ftb_block_data(X),
                      .nrows = X->nrows,
                      .ld = X->ld,
                      .heads = heads,
                      .width = X->ncols / heads};
}

void ftb_attention_describe(ftb_attention_job *job, const ftb_attention_call *c)
{
    double p = c->options.dropout;
    job->heads = c->heads;
    job->width = c->width ? ftb_lanes_width(c->width) : 0;
    job->value_width = ftb_lanes_width(c->value_width);
    job->add = c->score.kind == FTB_SCORE_ADD;
    job->scale = c->score.scale;
    job->slope = c->score.slope;
    job->drop = p > 0 ? (uint32_t)ftb_min(p * 0x1p32 + 0.5, 0x1p32 - 1) : 0;
    job->kept = 1 / (1 - p);
    job->seed = c->options.seed;
}

/* ---- scores of any text */

typedef struct scorer {
    const ftb_attention_call *c;
    ftb_loader *loader;
    ftb_interpreter *machine;
    int64_t room; /* entries of a batch */
    int64_t column[FTB_ATTENTION_EDGES];
    char *scores; /* of a batch, of the score's type */
} scorer;

static void run_program(void *arg, int64_t row, int64_t entry, int64_t count, void *out)
{
    scorer *s = arg;
    const ftb_attention_call *c = s->c;
    int64_t heads = c->message.heads;
    size_t size = FtB_Type_size(c->type);
    for (int64_t done = 0; done < count; done += s->room) {
        int64_t n = ftb_min(s->room, count - done);
        for (int64_t e = 0; e < n; e++)
            s->column[e] = ftb_col(c->A->pattern, entry + done + e);
        ftb_places places[FTB_SIDES] = {[FTB_SIDE_ROW] = {.first = row, .same = true},
                                        [FTB_SIDE_COL] = {.index = s->column},
                                        [FTB_SIDE_EDGE] = {.first = entry + done}};
        const ftb_operand *operands = ftb_loader_run(s->loader, n, places);
        ftb_interpreter_run(s->machine, n * heads, operands, s->scores);
        ftb_sddmm_wrap(c->semiring, c->score_type.message, s->scores, n * heads);
        for (int64_t t = 0; t < n * c->heads; t++) /* one score for all heads, or one for each */
            ftb_cast((char *)out + (size_t)(done * c->heads + t) * size, c->type,
                     s->scores +
                         (size_t)(heads == 1 ? t / c->heads : t) * FtB_Type_size(c->score_type.message),
                     c->score_type.message, 1);
    }
}

static void delete_scorers(void **args, int count)
{
    for (int t = 0; args && t < count; t++) {
        scorer *s = args[t];
        if (!s)
            continue;
        ftb_loader_delete(s->loader);
        ftb_interpreter_delete(s->machine);
        ftb_delete(s->scores);
        ftb_delete(s);
    }
    ftb_delete(args);
}

static GrB_Info new_scorers(void ***args, const ftb_attention_call *c, int count)
{
    GrB_Info info = GrB_SUCCESS;
    *args = ftb_new0(c->ctx, count, sizeof **args);
    if (!*args)
        return ftb_nomem();
    for (int t = 0; t < count && info == GrB_SUCCESS; t++) {
        scorer *s = (*args)[t] = ftb_new0(c->ctx, 1, sizeof *s);
        if (!s)
            return ftb_nomem();
        s->c = c;
        s->room = ftb_max(1, ftb_min(FTB_ATTENTION_EDGES, FTB_BATCH / c->message.heads));
        s->scores = ftb_new(c->ctx, s->room * c->message.heads, 8);
        info = s->scores ? ftb_loader_new(&s->loader, &c->message, c->program, s->room) : ftb_nomem();
        if (info == GrB_SUCCESS)
            info = ftb_interpreter_new(&s->machine, c->ctx, c->program);
    }
    return info;
}

/* ---- forward */

typedef struct forward {
    ftb_attention_call c;
    FtB_Block C;
    FtB_Op accum;
    ftb_attention_walk w;
    ftb_padded y;
    void *most, *sum, *acc;
    ftb_spmm_result result; /* rows x heads x value_width */
} forward;

static GrB_Info new_state(forward *f)
{
    int64_t rows = f->c.A->pattern->nrows, heads = f->c.heads, states, values;
    size_t size = FtB_Type_size(f->c.type);
    const double least = -INFINITY;
    ftb_attention_job *job = &f->w.job;
    job->acc_ld = heads * job->value_width;
    job->state_ld = heads;
    if (__builtin_mul_overflow(rows, heads, &states) || __builtin_mul_overflow(rows, job->acc_ld, &values))
        states = values = INT64_MAX; /* refused by the allocator, with its message */
    f->most = ftb_new(f->c.ctx, states, size);
    job->most = f->most;
    if (f->w.fours) {
        job->acc = f->acc = ftb_new(f->c.ctx, values, size);
        return f->most && f->acc ? GrB_SUCCESS : ftb_nomem();
    }
    f->sum = ftb_new0(f->c.ctx, states, size);
    f->acc = ftb_new0(f->c.ctx, values, size);
    if (!f->most || !f->sum || !f->acc)
        return ftb_nomem();
    for (int64_t t = 0; t < states; t++)
        ftb_cast((char *)f->most + (size_t)t * size, f->c.type, &least, FTB_FP64, 1);
    job->sum = f->sum;
    job->acc = f->acc;
    return GrB_SUCCESS;
}

static GrB_Info walk(forward *f)
{
    ftb_attention_call *c = &f->c;
    ftb_attention_walk *w = &f->w;
    const ftb_feed values = ftb_attention_feed(c->V, c->V->heads, FTB_SIDE_COL);
    GrB_Info info;
    w->x_values = ftb_padded_of(&values, c->heads, c->type);
    if (c->score.kind == FTB_SCORE_ANY) {
        w->job.scores = run_program;
        w->job.y = f->acc; /* not read */
        FTB_CHECK(new_scorers(&w->args, c, w->threads));
    } else {
        w->x = ftb_padded_of(c->score.x, c->heads, c->type);
        f->y = ftb_padded_of(c->score.y, c->heads, c->type);
        FTB_CHECK(ftb_padded_all(&f->y, c->ctx, c->A->pattern->nrows, w->threads));
        w->job.y = f->y.data;
        w->job.yld = f->y.ld;
    }
    info = ftb_attention_run(w, &c->plan);
done:
    delete_scorers(w->args, w->threads);
    ftb_padded_clear(&f->y);
    return info;
}

/* acc / sum of every row and head; most becomes the log of the sum of exponentials. */
static void finish(const forward *f)
{
    const ftb_attention_job *job = &f->w.job;
    int64_t rows = f->c.A->pattern->nrows, heads = f->c.heads, width = job->value_width;
    bool wide = f->c.type == FTB_FP64;
#pragma omp parallel for schedule(static) num_threads(f->w.threads)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t h = 0; h < heads; h++) {
            int64_t at = i * heads + h;
            double sum = ftb_get_real(f->sum, f->c.type, at), most = ftb_get_real(f->most, f->c.type, at);
            double lse = sum == 0 ? -INFINITY : most + log(sum), factor = sum == 0 ? 0 : 1 / sum;
            ftb_cast((char *)f->most + (size_t)at * FtB_Type_size(f->c.type), f->c.type, &lse, FTB_FP64, 1);
            for (int64_t v = 0; v < width; v++)
                if (wide)
                    ((double *)f->acc)[at * width + v] *= factor;
                else
                    ((float *)f->acc)[at * width + v] *= (float)factor;
        }
}

static void write_lse(const forward *f)
{
    FtB_Block lse = f->c.options.lse;
    size_t size = FtB_Type_size(f->c.type);
    for (int64_t i = 0; lse && i < lse->nrows; i++)
        ftb_cast((char *)ftb_block_data(lse) + (size_t)(i * lse->ld) * FtB_Type_size(lse->type), lse->type,
                 (char *)f->most + (size_t)(i * f->c.heads) * size, f->c.type, f->c.heads);
}

/* All that can be refused. */
static GrB_Info begin(forward *f, FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring, FtB_Arg Q, FtB_Arg K,
                      FtB_Arg V, const FtB_Attention_options *options, FtB_Arg desc)
{
    ftb_attention_call *c = &f->c;
    GrB_Info info;
    FTB_CHECK(ftb_arg_block(&f->C, C, "C", false));
    FTB_CHECK(ftb_arg_op(&f->accum, accum, "accum", true));
    FTB_CHECK(ftb_attention_begin(c, f->C->ctx, A, semiring, Q, K, V, options, desc));
    FTB_CHECK(ftb_attention_check_lse(c, true));
    info = ftb_block_write_check(f->C, NULL, &c->flags, f->accum, c->A->pattern->nrows,
                                 c->heads * c->value_width, c->type);
done:
    return info;
}

/* What the fused walk leaves in acc and most. */
static GrB_Info run_fused(forward *f)
{
    ftb_attention_call *c = &f->c;
    GrB_Info info;
    f->w =
        (ftb_attention_walk){.ctx = c->ctx, .p = c->A->pattern, .type = c->type, .threads = c->plan.threads};
    ftb_attention_describe(&f->w.job, c);
    f->w.fours = c->plan.segment && ftb_attention_together(&f->w.job, c->type) > 1;
    FTB_CHECK(new_state(f));
    FTB_CHECK(walk(f));
    if (!f->w.fours)
        finish(f);
    ftb_attention_compact(f->acc, c->type, c->A->pattern->nrows, f->w.job.acc_ld, c->heads,
                          f->w.job.value_width, c->value_width, f->w.threads);
    f->result = (ftb_spmm_result){.values = f->acc, .owned = f->acc, .type = c->type, .ld = f->w.job.acc_ld};
    f->acc = NULL;
done:
    return info;
}

static GrB_Info run_staged(forward *f)
{
    const ftb_attention_call *c = &f->c;
    int64_t states;
    ftb_attention_describe(&f->w.job, c);
    if (__builtin_mul_overflow(c->A->pattern->nrows, c->heads, &states))
        states = INT64_MAX; /* refused by the allocator, with its message */
    if (c->options.lse && !(f->most = ftb_new(c->ctx, states, FtB_Type_size(c->type))))
        return ftb_nomem();
    return ftb_attention_staged(&f->result, c, &f->w.job, f->most);
}

static void clear_state(forward *f)
{
    ftb_delete(f->most);
    ftb_delete(f->sum);
    ftb_delete(f->acc);
    ftb_delete(f->result.owned);
    f->most = f->sum = f->acc = NULL;
    f->result = (ftb_spmm_result){0};
}

/* Runs the forward pass for its time alone. */
static GrB_Info try_plan(void *run, const ftb_any_plan *plan, double *seconds)
{
    forward *f = run;
    (void)seconds;
    f->c.plan = plan->sddmm;
    GrB_Info info = f->c.plan.staged ? run_staged(f) : run_fused(f);
    clear_state(f);
    return info;
}

GrB_Info FtB_attention(FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring, FtB_Arg Q, FtB_Arg K, FtB_Arg V,
                       const FtB_Attention_options *options, FtB_Arg desc)
{
    forward f = {0};
    ftb_attention_call *c = &f.c;
    GrB_Info info;
    FTB_CHECK(begin(&f, C, A, accum, semiring, Q, K, V, options, desc));
    FTB_CHECK(c->plan.staged ? run_staged(&f) : run_fused(&f));
    FTB_CHECK(ftb_block_write(f.C, NULL, &c->flags, f.accum, f.result.values, f.result.type, f.result.ld,
                              c->A->pattern->rowptr));
    write_lse(&f);
done:
    clear_state(&f);
    FtB_Op_free(&f.accum);
    return ftb_attention_end(c, info);
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
        info = ftb_plan_measure(&made, FTB_PLAN_ATTENTION, &facts, try_plan, &f, f.c.ctx);
    else if (learns) /* not for calls without a plan: bits depend on it */
        info = ftb_plan_choose(&made, FTB_PLAN_ATTENTION, &facts, f.c.flags.plan, f.c.ctx);
    if (info == GrB_SUCCESS)
        info = ftb_plan_new(plan, f.c.ctx, FTB_PLAN_ATTENTION, &facts, &made);
    FtB_Op_free(&f.accum);
    return ftb_attention_end(&f.c, info);
}
