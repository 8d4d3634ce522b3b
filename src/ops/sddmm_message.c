/* Messages stored for the entries of a pattern: rewritten, planned, and run by kernels for dot products and
 * sums, or as programs. */
#include "cpu/message_run.h"
#include "ops/backends.h"
#include "ops/hoist.h"
#include "ops/plan_object.h"
#include "ops/sddmm.h"

/* How: by the plan that is given, or NULL; *made, if made is not NULL, becomes the plan instead of a result.
 */
typedef struct planning {
    FtB_Plan given, *made;
    FtB_Effort effort;
    bool there; /* a device may run it */
} planning;

/* The message as a product, all but its output. score: of m, DOT or ADD. */
static ftb_sddmm_product describe(const ftb_score *score, const ftb_message *m, FtB_Type type, ftb_pattern *p)
{
    return (ftb_sddmm_product){.ctx = m->ctx,
                               .p = p,
                               .kind = score->kind,
                               .type = type,
                               .heads = m->heads,
                               .x = *score->x,
                               .y = *score->y,
                               .scale = score->scale,
                               .slope = score->slope};
}

/* ---- dot products */

static GrB_Info run_trial(void *product, const ftb_any_plan *plan, double *seconds)
{
    (void)seconds;
    return ftb_sddmm_run(product, &plan->sddmm);
}

/* The plan by trial, on a result of our own. */
static GrB_Info measure_dot(ftb_sddmm_product *r, ftb_any_plan *plan, const ftb_any_facts *facts)
{
    int64_t count;
    if (__builtin_mul_overflow(r->p->nvals, r->heads, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    r->out = ftb_new(r->ctx, count, FtB_Type_size(r->type));
    GrB_Info info =
        r->out ? ftb_plan_measure(plan, FTB_PLAN_SDDMM, facts, run_trial, r, r->ctx) : ftb_nomem();
    ftb_delete(r->out);
    return info;
}

static GrB_Info plan_dot(ftb_any_plan *plan, ftb_any_facts *facts, const ftb_sddmm_product *r,
                         const planning *how)
{
    const int threads = ftb_threads_for(r->ctx, r->p->nvals * (r->x.width * r->heads / 64 + 1));
    facts->sddmm = ftb_sddmm_facts_of(r, threads);
    return ftb_plan_choose(plan, FTB_PLAN_SDDMM, facts, how->given,
                           how->effort == FTB_MEASURE ? NULL : r->ctx);
}

/* A plan of a device's by trial. */
typedef struct trial_there {
    ftb_sddmm_product r;
    const ftb_backend *who;
    ftb_buffer *V; /* ours */
} trial_there;

static GrB_Info run_there(void *run, const ftb_any_plan *plan, double *seconds)
{
    trial_there *t = run;
    const ftb_backend *who = t->who;
    const ftb_place places[] = {
        {.feed = &t->r.x}, {.feed = &t->r.y}, {.values = t->V, .write = &t->r.out, .whole = true}};
    ftb_sddmm_plan chosen = plan->sddmm;
    chosen.there = ftb_gpu_sddmm_chosen(&plan->sddmm.gpu);
    GrB_Info info = who->memory->lap(who, t->r.ctx, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_places_ask(who, places, 3);
    if (info == GrB_SUCCESS)
        info = who->verbs->sddmm(&t->r, &chosen);
    if (info == GrB_SUCCESS)
        info = ftb_places_written(who, places, 3);
    if (info == GrB_SUCCESS)
        info = who->memory->lap(who, t->r.ctx, seconds);
    if (info != FTB_NO_DEVICE && info != GrB_OUT_OF_MEMORY)
        return info;
    *seconds = FTB_NEVER;
    return GrB_SUCCESS;
}

static GrB_Info measure_there(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_sddmm_product *r,
                              const ftb_backend *who)
{
    trial_there t = {.r = *r, .who = who};
    ftb_any_plan found = *plan;
    t.V = ftb_buffer_new(r->ctx, r->p->nvals * r->heads, FtB_Type_size(r->type));
    GrB_Info info =
        t.V ? ftb_plan_measure(&found, FTB_PLAN_GPU_SDDMM, facts, run_there, &t, r->ctx) : ftb_nomem();
    ftb_buffer_release(t.V);
    if (info != GrB_SUCCESS)
        return info;
    plan->sddmm.gpu = found.sddmm.gpu;
    plan->sddmm.there = ftb_gpu_sddmm_chosen(&found.sddmm.gpu);
    plan->sddmm.there.nanoseconds = (int64_t)(1e9 * found.sddmm.gpu.seconds);
    return info;
}

/* What a device that has the product would do, beside the host's plan. */
static GrB_Info plan_there(ftb_any_plan *plan, ftb_any_facts *facts, const ftb_sddmm_product *r,
                           const planning *how)
{
    const ftb_backend *who = how->there ? FTB_WHO_FITS(r->ctx, sddmm, r) : NULL;
    const ftb_verb_limits *limits = who ? who->verbs->limits : NULL;
    if (!limits || !limits->sddmm_plan)
        return GrB_SUCCESS;
    GrB_Info info = limits->sddmm_plan(&plan->sddmm, &facts->sddmm, r);
    if (info == GrB_SUCCESS && how->effort == FTB_MEASURE && who->memory->lap && !ftb_deterministic(r->ctx))
        info = measure_there(plan, facts, r, who);
    return info;
}

static GrB_Info run_dot(void *V, const ftb_score *score, const ftb_message *m, FtB_Type type, ftb_pattern *p,
                        const planning *how)
{
    ftb_sddmm_product r = describe(score, m, type, p);
    ftb_any_facts facts = {0};
    ftb_any_plan plan;
    GrB_Info info = plan_dot(&plan, &facts, &r, how);
    if (info != GrB_SUCCESS)
        return info;
    r.out = V;
    r.interruptible = true;
    if (!how->made)
        return ftb_sddmm_run(&r, &plan.sddmm);
    if (how->effort == FTB_MEASURE)
        info = measure_dot(&r, &plan, &facts);
    if (info == GrB_SUCCESS)
        info = plan_there(&plan, &facts, &r, how);
    return info == GrB_SUCCESS ? ftb_plan_new(how->made, m->ctx, FTB_PLAN_SDDMM, &facts, &plan) : info;
}

/* ---- sums */

bool ftb_sddmm_is_sum(const ftb_message *m, const ftb_message_type *type)
{
    ftb_score score = ftb_score_of(m, type);
    const ftb_feed *x = score.x, *y = score.y;
    return score.kind == FTB_SCORE_ADD && x->type == type->message && y->type == type->message &&
           x->heads == m->heads && y->heads == m->heads;
}

static GrB_Info run_sum(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p)
{
    const ftb_score score = ftb_score_of(m, type);
    ftb_sddmm_product r = describe(&score, m, type->message, p);
    r.out = V;
    r.interruptible = true;
    return ftb_sddmm_run(&r, NULL);
}

/* ---- any message */

/* The plan of a message that is no dot product, of which there is one: it takes none other. */
static GrB_Info plan_program(ftb_any_plan *plan, ftb_any_facts *any, const ftb_message *m,
                             const ftb_message_type *type, ftb_pattern *p, const planning *how)
{
    ftb_sddmm_facts facts = {.nrows = p->nrows,
                             .ncols = p->ncols,
                             .all_rows = p->all_rows,
                             .nvals = p->nvals,
                             .entry_bytes = m->heads * type->width * (int64_t)FtB_Type_size(type->message),
                             .memory_left = ftb_memory_left(m->ctx),
                             .heads = m->heads,
                             .threads = ftb_threads(m->ctx),
                             .program = true,
                             .kernel = !ftb_sddmm_is_sum(m, type)  ? "program"
                                       : type->message == FTB_FP32 ? "sum_f32"
                                                                   : "sum_f64"};
    for (int f = 0; f < m->nfeeds; f++)
        if (m->feeds[f].side == FTB_SIDE_COL && m->feeds[f].data) {
            int64_t features = m->feeds[f].heads * m->feeds[f].width;
            facts.features += features;
            facts.source_bytes += features * (int64_t)FtB_Type_size(m->feeds[f].type);
        }
    facts.degrees = *ftb_pattern_degrees(p);
    any->sddmm = facts;
    return ftb_plan_choose(plan, FTB_PLAN_SDDMM, any, how->given, NULL);
}

static GrB_Info run_program(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                            const planning *how)
{
    ftb_any_facts facts = {0};
    ftb_any_plan plan;
    GrB_Info info = plan_program(&plan, &facts, m, type, p, how);
    if (info == GrB_SUCCESS && how->made)
        return ftb_plan_new(how->made, m->ctx, FTB_PLAN_SDDMM, &facts, &plan);
    if (info != GrB_SUCCESS)
        return info;
    return ftb_sddmm_is_sum(m, type)
               ? run_sum(V, m, type, p)
               : ftb_messages_run(&(ftb_messages_product){.m = m, .p = p, .out = V, .interruptible = true});
}

static GrB_Info run_any(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                        const planning *how)
{
    ftb_hoisted h = {0};
    if (m->function || m->nfeeds + FTB_MAX_PRE > FTB_MAX_FEEDS)
        return run_program(V, m, type, p, how);
    GrB_Info info = ftb_hoist(&h, m, p, false, false, how->made && how->effort != FTB_MEASURE, NULL);
    if (info == GrB_SUCCESS) {
        bool same = h.type.message == type->message && h.type.width == type->width;
        ftb_score score = ftb_score_of(&h.core, type);
        if (same && score.kind == FTB_SCORE_DOT)
            info = run_dot(V, &score, &h.core, type->message, p, how);
        else
            info = run_program(V, same ? &h.core : m, type, p, how);
    }
    ftb_hoist_clear(&h);
    return info;
}

static GrB_Info run_message(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                            const planning *how)
{
    ftb_score score = ftb_score_of(m, type);
    if (score.kind == FTB_SCORE_DOT)
        return run_dot(V, &score, m, type->message, p, how);
    if (score.kind == FTB_SCORE_ADD)
        return run_program(V, m, type, p, how);
    return run_any(V, m, type, p, how);
}

GrB_Info ftb_sddmm_message(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                           FtB_Plan plan)
{
    return run_message(V, m, type, p, &(planning){.given = plan});
}

GrB_Info ftb_sddmm_make_plan(FtB_Plan *made, const ftb_message *m, const ftb_message_type *type,
                             ftb_pattern *p, FtB_Plan plan, FtB_Effort effort, bool there)
{
    return run_message(NULL, m, type, p, &(planning){plan, made, effort, there});
}

/* ---- where the result is */

static bool overlaps(const void *V, size_t bytes, const ftb_feed *feed)
{
    int64_t values = feed->nrows > 0 ? (feed->nrows - 1) * feed->ld + feed->heads * feed->width : 0;
    const char *begin = V, *data = feed->data;
    return data && data < begin + bytes && begin < data + (size_t)values * FtB_Type_size(feed->type);
}

/* Whether a device has dot products and sums of what is over buffers and of one type. */
static bool score_leaves(const ftb_score *score, const ftb_message *m, const ftb_message_type *type)
{
    return FTB_WHO(m->ctx, sddmm) && score->kind != FTB_SCORE_ANY && score->x->type == type->message &&
           score->y->type == type->message && score->x->owner && score->y->owner;
}

bool ftb_sddmm_leaves(const ftb_message *m, const ftb_message_type *type)
{
    const ftb_score score = ftb_score_of(m, type);
    return score.kind != FTB_SCORE_ANY ? score_leaves(&score, m, type)
                                       : FTB_WHO(m->ctx, messages) && ftb_feeds_fit(m, NULL) &&
                                             m->nfeeds + FTB_MAX_PRE <= FTB_MAX_FEEDS;
}

static GrB_Info score_over(ftb_buffer *V, const ftb_score *score, const ftb_message *m,
                           const ftb_message_type *type, ftb_pattern *p, FtB_Plan plan)
{
    const int64_t bytes = p->nvals * m->heads * (int64_t)FtB_Type_size(type->message);
    ftb_any_facts facts = {0};
    ftb_any_plan chosen = {0};
    ftb_sddmm_product r = describe(score, m, type->message, p);
    const ftb_place places[] = {{.feed = &r.x},
                                {.feed = &r.y},
                                {.values = V, .write = &r.out, .whole = V->bytes == bytes, .name = "C"}};
    const ftb_backend *who = score_leaves(score, m, type) ? FTB_WHO_FITS(m->ctx, sddmm, &r) : NULL;
    GrB_Info info = score->kind == FTB_SCORE_DOT ? plan_dot(&chosen, &facts, &r, &(planning){.given = plan})
                                                 : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        FTB_RUN(info, who, sddmm, places, &r, &chosen.sddmm);
    return info;
}

/* On a device: what depends on one vertex, then what is left. */
static GrB_Info any_over(ftb_buffer *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                         FtB_Plan plan)
{
    const ftb_backend *who = FTB_WHO(m->ctx, messages);
    ftb_any_facts facts = {0};
    ftb_any_plan chosen;
    ftb_hoisted h = {0};
    GrB_Info info;
    FTB_CHECK(ftb_hoist(&h, m, p, false, false, false, who));
    const bool same = h.type.message == type->message && h.type.width == type->width;
    ftb_message left = same ? h.core : *m;
    const ftb_score score = ftb_score_of(&left, type);
    if (score.kind == FTB_SCORE_DOT) {
        info = score_over(V, &score, &left, type, p, plan);
        goto done;
    }
    FTB_CHECK(plan_program(&chosen, &facts, &left, type, p, &(planning){.given = plan}));
    if (ftb_sddmm_is_sum(&left, type)) {
        info = score_over(V, &score, &left, type, p, NULL);
        goto done;
    }
    ftb_place places[FTB_MAX_FEEDS + 1];
    ftb_messages_product product = {.m = &left, .p = p};
    ftb_places_feeds(places, &left, NULL);
    places[FTB_MAX_FEEDS] = (ftb_place){.values = V,
                                        .write = &product.out,
                                        .whole = V->bytes == p->nvals * m->heads * type->width *
                                                                 (int64_t)FtB_Type_size(type->message),
                                        .name = "C"};
    FTB_RUN(info, FTB_WHO_FITS(m->ctx, messages, &product), messages, places, &product);
done:
    ftb_hoist_clear(&h);
    return info;
}

bool ftb_sddmm_over(GrB_Info *info, ftb_buffer *V, const ftb_message *m, const ftb_message_type *type,
                    ftb_pattern *p, FtB_Plan plan)
{
    const ftb_score score = ftb_score_of(m, type);
    const size_t bytes = (size_t)(p->nvals * m->heads * type->width) * FtB_Type_size(type->message);
    for (int f = 0; f < m->nfeeds; f++)
        if (overlaps(V->host, bytes, &m->feeds[f]))
            return false;
    if (score.kind == FTB_SCORE_ANY ? !ftb_sddmm_leaves(m, type)
                                    : score.kind == FTB_SCORE_ADD && (plan || !ftb_sddmm_is_sum(m, type)))
        return false;
    *info =
        score.kind == FTB_SCORE_ANY ? any_over(V, m, type, p, plan) : score_over(V, &score, m, type, p, plan);
    return true;
}
