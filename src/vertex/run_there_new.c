/* What a device has of a run: blocks, texts, and whether it takes them (run_there.h). */
#include "expr/guard.h"
#include "ops/spmm.h"
#include "vertex/run_there.h"

#define ON ".on" /* names that no text has */
#define SILENT ".silent"

/* ---- blocks */

static GrB_Info new_block(FtB_Block *X, const struct FtB_Run_opaque *r, FtB_Type type, int64_t nrows,
                          int64_t ncols)
{
    int64_t count;
    if (__builtin_mul_overflow(nrows, ncols, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    return ftb_block_view(X, r->ctx, type, nrows, ncols, ncols,
                          ftb_buffer_adopt(r->ctx, ftb_new(r->ctx, count, FtB_Type_size(type))));
}

static GrB_Info new_flags(FtB_Block *X, const struct FtB_Run_opaque *r)
{
    return new_block(X, r, FTB_BOOL, r->n, 1);
}

static GrB_Info new_degrees(FtB_Block *X, const struct FtB_Run_opaque *r, bool out)
{
    ftb_pattern *p = r->A->pattern;
    GrB_Info info = out ? GrB_SUCCESS : ftb_pattern_transpose(p, &p, NULL);
    if (info == GrB_SUCCESS)
        info = new_block(X, r, FTB_INT64, r->n, 1);
    if (info != GrB_SUCCESS)
        return info;
    int64_t *degree = ftb_block_data(*X);
    for (int64_t v = 0; v < r->n; v++)
        degree[v] = p->rowptr[v + 1] - p->rowptr[v];
    return info;
}

/* ---- texts */

static void point_feed(ftb_feed *feed, FtB_Block X, ftb_side side)
{
    const ftb_feed old = *feed;
    *feed = ftb_block_feed(X, 1, side);
    memcpy(feed->name, old.name, sizeof feed->name);
}

/* The feeds of a text over what is on the device. The blocks are those that the run has: nothing is retained.
 */
void ftb_there_point(ftb_message *m, const struct FtB_Run_opaque *r, const ftb_vertex_text *t)
{
    const ftb_vertex_there *d = r->there;
    *m = t->m;
    for (int f = 0; f < m->nfeeds; f++) {
        ftb_feed *feed = &m->feeds[f];
        const int index = t->of[f].index;
        switch (t->of[f].kind) {
        case FTB_VERTEX_STATE:
            point_feed(feed, r->states[index].block, r->states[index].vertex ? FTB_SIDE_ROW : FTB_SIDE_NONE);
            break;
        case FTB_VERTEX_MESSAGE:
            point_feed(feed, r->sends_field ? r->states[r->sent_field].block : d->sent, FTB_SIDE_COL);
            break;
        case FTB_VERTEX_RECEIVED:
            point_feed(feed, d->filled ? d->filled : d->received[0], FTB_SIDE_ROW);
            break;
        case FTB_VERTEX_NEW:
            point_feed(feed, d->fresh[index], FTB_SIDE_ROW);
            break;
        case FTB_VERTEX_CHANGED:
            point_feed(feed, d->changed, FTB_SIDE_ROW);
            break;
        default:
            if (feed->degree && t != &r->work.texts[FTB_VERTEX_COMBINE])
                point_feed(feed, feed->degree == r->A->pattern->rowptr ? d->outdegree : d->indegree,
                           FTB_SIDE_ROW);
        }
    }
}

static ftb_feed flag_feed(const char *name, FtB_Block flags, ftb_side side)
{
    ftb_feed feed = ftb_block_feed(flags, 1, side);
    snprintf(feed.name, sizeof feed.name, "%s", name);
    return feed;
}

static ftb_feed value_feed(const char *name, FtB_Type type, const void *value)
{
    ftb_feed feed = {
        .side = FTB_SIDE_NONE, .type = type, .data = value, .nrows = 1, .ld = 1, .heads = 1, .width = 1};
    snprintf(feed.name, sizeof feed.name, "%s", name);
    return feed;
}

void ftb_there_point_message(ftb_message *m, const struct FtB_Run_opaque *r, int which, bool masked)
{
    const ftb_vertex_text *t = &r->work.texts[FTB_VERTEX_COMBINE];
    ftb_there_point(m, r, t);
    for (int f = 0; f < m->nfeeds; f++)
        if (t->of[f].kind == FTB_VERTEX_EDGE)
            m->feeds[f].at = r->by_receiver.from[which];
    if (!masked)
        return;
    m->expr = r->there->masked.expr;
    m->feeds[m->nfeeds++] = flag_feed(ON, r->there->on, FTB_SIDE_COL);
    m->feeds[m->nfeeds++] = value_feed(SILENT, t->type, &r->there->silent);
}

void ftb_there_point_fill(ftb_message *m, const struct FtB_Run_opaque *r)
{
    static const char *const names[][2] = {{"a", "got_a"}, {"b", "got_b"}};
    const ftb_vertex_there *d = r->there;
    *m = (ftb_message){.ctx = r->ctx, .heads = 1, .expr = d->fill.expr};
    for (int which = 0; which < 2 && d->received[which]; which++) {
        m->feeds[m->nfeeds++] = flag_feed(names[which][0], d->received[which], FTB_SIDE_ROW);
        m->feeds[m->nfeeds++] =
            flag_feed(names[which][1], r->all ? d->has[which] : d->got[which], FTB_SIDE_ROW);
    }
    m->feeds[m->nfeeds++] = value_feed("none", r->work.reduced, &d->identity);
}

void ftb_there_point_any(ftb_message *m, const struct FtB_Run_opaque *r)
{
    *m = r->there->any;
    m->feeds[0] = flag_feed("src", r->there->on, FTB_SIDE_COL);
}

static GrB_Info compile(ftb_there_text *t, const ftb_message *m)
{
    GrB_Info info = ftb_message_program(&t->program, m, m->expr);
    if (info == GrB_SUCCESS) {
        t->type = ftb_program_type(t->program);
        t->width = ftb_program_width(t->program);
    }
    return info;
}

/* A text as truths. */
static GrB_Info compile_truth(ftb_there_text *to, const struct FtB_Run_opaque *r, int text)
{
    const ftb_vertex_text *t = &r->work.texts[text];
    ftb_message m = t->m;
    GrB_Info info = t->type == FTB_BOOL ? GrB_SUCCESS : ftb_expr_truth(&to->expr, t->m.expr);
    if (info != GrB_SUCCESS)
        return info;
    if (to->expr)
        m.expr = to->expr;
    return compile(to, &m);
}

/* ---- what a device takes */

static bool map_fits(const struct FtB_Run_opaque *r, const ftb_message *m, const ftb_program *program,
                     FtB_Block Y)
{
    const ftb_map_rows_product p = {.m = m,
                                    .program = program,
                                    .type = Y->type,
                                    .side = FTB_SIDE_ROW,
                                    .nrows = r->n,
                                    .ncols = Y->ncols,
                                    .fold = 1};
    return ftb_feeds_fit(m, program) && FTB_FITS(r->there->who, map_rows, &p);
}

static bool text_fits(const struct FtB_Run_opaque *r, int text, const ftb_there_text *other, FtB_Block Y)
{
    ftb_message m;
    ftb_there_point(&m, r, &r->work.texts[text]);
    if (other && other->expr)
        m.expr = other->expr;
    return map_fits(r, &m, other ? other->program : r->work.texts[text].program, Y);
}

/* Whether the device reduces a message's values into X. */
static GrB_Info reduce_fits(bool *fits, const struct FtB_Run_opaque *r, const ftb_message *m, int which)
{
    const FtB_Block X = r->there->received[which];
    ftb_spmm_result result;
    const ftb_spmm_request request = {.message = m,
                                      .p = (ftb_pattern *)(uintptr_t)r->by_receiver.rows[which],
                                      .into_type = X->type,
                                      .block = X,
                                      .device = r->there->who,
                                      .plan_only = true};
    GrB_Info info = ftb_spmm_message(&result, &request);
    *fits = info == GrB_SUCCESS && result.fits;
    return info;
}

/* Whether some vertices may not be active. */
static bool some_rest(const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    return !w->always || !r->program->all_apply || w->settled >= 0 || !r->all;
}

static const char *why_not(const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    const ftb_verbs *verbs = r->there->who->verbs;
    if (!verbs->map_rows || !verbs->aggregate || !verbs->vertex_renew || !verbs->vertex_flags ||
        !verbs->vertex_sums)
        return "it has no verbs for texts";
    if (w->texts[FTB_VERTEX_COMBINE].m.function)
        return "the message is a C function";
    if (w->monoid == FTB_ANY)
        return "any has an order";
    if (w->priority >= 0)
        return "priorities are looked at here";
    const bool sums = (w->monoid == FTB_PLUS || w->monoid == FTB_TIMES) && ftb_type_float(w->reduced);
    if (sums && r->program->direction == FTB_BOTH && some_rest(r))
        return "sums of both directions have an order";
    if (r->A->pattern->wide)
        return "vertices are more than 2^31";
    if (w->nsums > 0 && (!r->program->all_apply || w->settled >= 0))
        return "sums are of those that apply";
    return NULL;
}

static GrB_Info texts_fit(const char **why, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_there *d = r->there;
    const ftb_vertex_work *w = &r->work;
    ftb_message m;
    bool fits = r->sends_field || text_fits(r, FTB_VERTEX_SEND, NULL, d->sent);
    *why = NULL;
    for (int f = 0; f < w->nfields && fits; f++)
        fits = text_fits(r, FTB_VERTEX_APPLY + f, NULL, d->fresh[f]) &&
               FTB_FITS(d->who, vertex_renew, (&(ftb_vertex_renew_product){.type = w->fields[f].type}));
    for (int s = 0; s < w->nsums && fits; s++)
        fits = text_fits(r, w->first_sum + s, NULL, d->terms[s]);
    fits = fits && (w->active < 0 || text_fits(r, w->active, &d->activates, d->active)) &&
           (w->settled < 0 || text_fits(r, w->settled, &d->settles, d->settled));
    if (fits && d->fill.program) {
        ftb_there_point_fill(&m, r);
        fits = map_fits(r, &m, d->fill.program, d->filled);
    }
    if (!fits)
        *why = "a text";
    GrB_Info info = GrB_SUCCESS;
    for (int which = 0; which < 2 && d->received[which]; which++)
        for (int masked = 0; masked < (d->masked.expr ? 2 : 1) && fits && info == GrB_SUCCESS; masked++) {
            ftb_there_point_message(&m, r, which, masked);
            info = reduce_fits(&fits, r, &m, which);
        }
    if (info == GrB_SUCCESS && !fits && !*why)
        *why = "the reduction";
    return info;
}

/* ---- a run's */

static bool identity_is_zero(ftb_monoid monoid)
{
    return monoid == FTB_PLUS || monoid == FTB_OR || monoid == FTB_XOR;
}

/* What a vertex that is not active sends: NaN loses to every number, and to NaN. */
static void choose_silent(ftb_vertex_there *d, const ftb_vertex_work *w)
{
    const FtB_Type type = w->texts[FTB_VERTEX_COMBINE].type;
    const bool nan = ftb_type_float(type) && (w->monoid == FTB_MIN || w->monoid == FTB_MAX);
    const double none = NAN;
    if (nan)
        ftb_cast(&d->silent, type, &none, FTB_FP64, 1);
    else
        ftb_monoid_identity(w->monoid, type, &d->silent);
    ftb_monoid_identity(w->monoid, w->reduced, &d->identity);
}

/* Not all are always active: then messages are masked, and who receives is looked for. */
static GrB_Info make_masked(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_text *t = &r->work.texts[FTB_VERTEX_COMBINE];
    ftb_message m;
    GrB_Info info = ftb_expr_guard(&d->masked.expr, t->m.expr, ON, SILENT);
    if (info != GrB_SUCCESS)
        return info;
    if (t->m.nfeeds + 2 > FTB_MAX_FEEDS)
        return ftb_fail(GrB_INVALID_VALUE, "combine: more than %d names", FTB_MAX_FEEDS);
    ftb_there_point_message(&m, r, 0, true);
    info = compile(&d->masked, &m);
    if (info == GrB_SUCCESS)
        info = ftb_arg_semiring(&d->or_src, FTB_ARG("or : src"), "semiring");
    if (info == GrB_SUCCESS)
        info = ftb_message_new(&d->any, r->ctx, d->or_src, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_message_block(&d->any, "src", FTB_SIDE_COL, d->on, 1);
    if (info == GrB_SUCCESS)
        info = ftb_message_indices(&d->any, (ftb_pattern *)(uintptr_t)r->by_receiver.rows[0], false, NULL);
    return info;
}

/* What came along both patterns together, as the monoid has it. */
static GrB_Info make_fill(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    static const char *const joined[FTB_NMONOIDS] = {
        [FTB_PLUS] = "a + b", [FTB_TIMES] = "a * b", [FTB_MIN] = "min(a, b)", [FTB_MAX] = "max(a, b)",
        [FTB_OR] = "a || b",  [FTB_AND] = "a && b",  [FTB_XOR] = "a != b",    [FTB_XNOR] = "a == b"};
    char text[80] = "got_a ? a : none";
    ftb_message m;
    if (d->received[1])
        snprintf(text, sizeof text, "got_a ? (got_b ? %s : a) : got_b ? b : none", joined[r->work.monoid]);
    GrB_Info info = ftb_expr_parse(&d->fill.expr, r->ctx, text, "received", 0);
    if (info != GrB_SUCCESS)
        return info;
    ftb_there_point_fill(&m, r);
    return compile(&d->fill, &m);
}

static GrB_Info make_texts(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    GrB_Info info = GrB_SUCCESS;
    choose_silent(d, w);
    if (some_rest(r))
        FTB_CHECK(make_masked(d, r));
    if (d->filled)
        FTB_CHECK(make_fill(d, r));
    if (w->active >= 0)
        FTB_CHECK(compile_truth(&d->activates, r, w->active));
    if (w->settled >= 0)
        FTB_CHECK(compile_truth(&d->settles, r, w->settled));
done:
    return info;
}

static bool has_entries(const ftb_pattern *p, int64_t v) { return p && p->rowptr[v] < p->rowptr[v + 1]; }

static GrB_Info make_has(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    const ftb_pattern *const *rows = r->by_receiver.rows;
    FtB_Block *const flags[] = {&d->has_any, &d->has[0], &d->has[1]};
    uint8_t *has[3] = {NULL};
    for (int f = 0; f < (rows[1] ? 3 : 2); f++) {
        GrB_Info info = new_flags(flags[f], r);
        if (info != GrB_SUCCESS)
            return info;
        has[f] = ftb_block_data(*flags[f]);
    }
    for (int64_t v = 0; v < r->n; v++) {
        has[1][v] = has_entries(rows[0], v);
        if (has[2])
            has[2][v] = has_entries(rows[1], v);
        has[0][v] = has_entries(rows[0], v) || has_entries(rows[1], v);
        d->nhas += has[0][v];
    }
    return GrB_SUCCESS;
}

/* Who receives: columns side by side for both patterns. */
static GrB_Info make_received(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    const int parts = r->by_receiver.rows[1] ? 2 : 1;
    GrB_Info info = new_block(&d->got_any, r, FTB_BOOL, r->n, parts);
    for (int which = 0; which < parts && info == GrB_SUCCESS; which++) {
        info = FtB_Block_columns(&d->got[which], d->got_any, which, 1);
        if (info == GrB_SUCCESS)
            info = new_block(&d->received[which], r, w->reduced, r->n, w->width);
    }
    if (info == GrB_SUCCESS && (parts == 2 || (r->program->all_apply && !identity_is_zero(w->monoid))))
        info = new_block(&d->filled, r, w->reduced, r->n, w->width);
    return info;
}

/* Degrees that texts read, and those of senders where not all always are. */
static GrB_Info make_degrees(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    const bool counts = !w->always || !r->program->all_apply || w->settled >= 0;
    const FtB_Direction along = r->program->direction;
    bool out = counts && along != FTB_IN, in = counts && along != FTB_OUT;
    for (int t = 0; t < w->ntexts; t++)
        for (int f = 0; f < w->texts[t].m.nfeeds; f++) {
            const int64_t *degree = w->texts[t].m.feeds[f].degree;
            out = out || degree == r->A->pattern->rowptr;
            in = in || (degree && degree != r->A->pattern->rowptr);
        }
    GrB_Info info = out ? new_degrees(&d->outdegree, r, true) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && in)
        info = new_degrees(&d->indegree, r, false);
    if (info != GrB_SUCCESS || !counts)
        return info;
    info = new_block(&d->weights, r, FTB_INT64, r->n, 1);
    for (int64_t v = 0; v < r->n && info == GrB_SUCCESS; v++)
        ((int64_t *)ftb_block_data(d->weights))[v] =
            (along != FTB_IN ? ((const int64_t *)ftb_block_data(d->outdegree))[v] : 0) +
            (along != FTB_OUT ? ((const int64_t *)ftb_block_data(d->indegree))[v] : 0);
    return info;
}

static GrB_Info make_blocks(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    const ftb_vertex_text *send = &w->texts[FTB_VERTEX_SEND];
    GrB_Info info;
    FTB_CHECK(make_degrees(d, r));
    FtB_Block *const flags[] = {&d->on, &d->next, &d->applies, &d->changed};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
        FTB_CHECK(new_flags(flags[f], r));
    FTB_CHECK(make_has(d, r));
    if (!r->sends_field)
        FTB_CHECK(new_block(&d->sent, r, send->type, r->n, send->width));
    FTB_CHECK(make_received(d, r));
    if (w->settled >= 0)
        FTB_CHECK(new_block(&d->settled, r, FTB_BOOL, r->n, w->texts[w->settled].width));
    if (w->active >= 0)
        FTB_CHECK(new_block(&d->active, r, FTB_BOOL, r->n, w->texts[w->active].width));
    for (int f = 0; f < w->nfields; f++)
        FTB_CHECK(new_block(&d->fresh[f], r, w->fields[f].type, r->n, w->fields[f].ncols));
    for (int s = 0; s < w->nsums; s++)
        FTB_CHECK(new_block(&d->terms[s], r, FTB_FP64, r->n, w->texts[w->first_sum + s].width));
    d->batches = (r->n + w->room - 1) / w->room;
    FTB_CHECK(new_block(&d->tally, r, FTB_INT64, 1, FTB_THERE_COUNTS + w->nsums * d->batches));
done:
    return info;
}

static void clear(ftb_vertex_there *d)
{
    FtB_Block *const blocks[] = {&d->outdegree, &d->indegree,    &d->weights,     &d->on,      &d->next,
                                 &d->has[0],    &d->has[1],      &d->has_any,     &d->got[0],  &d->got[1],
                                 &d->got_any,   &d->received[0], &d->received[1], &d->sent,    &d->filled,
                                 &d->settled,   &d->active,      &d->applies,     &d->changed, &d->tally};
    ftb_there_text *const texts[] = {&d->masked, &d->fill, &d->settles, &d->activates};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        FtB_Block_free(blocks[b]);
    for (int f = 0; f < FTB_VERTEX_FIELDS; f++)
        FtB_Block_free(&d->fresh[f]);
    for (int s = 0; s < FTB_VERTEX_SUMS; s++)
        FtB_Block_free(&d->terms[s]);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        ftb_program_delete(texts[t]->program);
        ftb_expr_release(texts[t]->expr);
    }
    ftb_message_clear(&d->any);
    FtB_Semiring_free(&d->or_src);
}

GrB_Info ftb_vertex_there_new(ftb_vertex_there **there, FtB_Run r, const ftb_backend *who)
{
    ftb_vertex_there *d = ftb_new0(r->ctx, 1, sizeof *d);
    if (!d)
        return ftb_nomem();
    GrB_Info info = GrB_SUCCESS;
    d->who = who;
    *there = d; /* which texts are pointed at */
    d->why = why_not(r);
    if (!d->why) {
        FTB_CHECK(ftb_vertex_want_edges(r, false));
        FTB_CHECK(make_blocks(d, r));
        FTB_CHECK(make_texts(d, r));
        FTB_CHECK(texts_fit(&d->why, r));
    }
done:
    if (info == GrB_SUCCESS && !d->why)
        return info;
    clear(d);
    *d = (ftb_vertex_there){.who = who, .why = d->why};
    if (info == GrB_OUT_OF_MEMORY) { /* which supersteps of the host may not need */
        d->why = "there is no memory for its blocks here";
        return GrB_SUCCESS;
    }
    if (info != GrB_SUCCESS) {
        ftb_delete(d);
        *there = NULL;
    }
    return info;
}

void ftb_vertex_there_delete(ftb_vertex_there *d)
{
    if (d)
        clear(d);
    ftb_delete(d);
}
