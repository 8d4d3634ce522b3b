/* What a device has of a run: blocks, texts, and whether it takes them (run_there.h). */
#include "expr/guard.h"
#include "ops/spmm.h"
#include "vertex/run_there.h"

#define ON ".on" /* names that no text has */
#define SILENT ".silent"
#define GOT ".got"
#define NONE ".none"

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
        case FTB_VERTEX_EDGE:
            feed->at = r->by_receiver.from[0];
            break;
        case FTB_VERTEX_RECEIVED:
            point_feed(feed, d->filled ? d->filled : d->received, FTB_SIDE_ROW);
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

/* The messages of those that are active: of the others what changes nothing. */
void ftb_there_point_masked(ftb_message *m, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_text *t = &r->work.texts[FTB_VERTEX_COMBINE];
    ftb_there_point(m, r, t);
    m->expr = r->there->masked.expr;
    m->feeds[m->nfeeds++] = flag_feed(ON, r->there->on, FTB_SIDE_COL);
    m->feeds[m->nfeeds++] = value_feed(SILENT, t->type, &r->there->silent);
}

/* What was received, and of those who received nothing the identity. */
void ftb_there_point_fill(ftb_message *m, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_there *d = r->there;
    *m = (ftb_message){.ctx = r->ctx, .heads = 1, .expr = d->fill.expr, .nfeeds = 3};
    m->feeds[0] = flag_feed("received", d->received, FTB_SIDE_ROW);
    m->feeds[1] = flag_feed(GOT, r->all ? d->has : d->got, FTB_SIDE_ROW);
    m->feeds[2] = value_feed(NONE, r->work.reduced, &d->identity);
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
static GrB_Info reduce_fits(bool *fits, const struct FtB_Run_opaque *r, const ftb_message *m, FtB_Block X)
{
    ftb_spmm_result result;
    const ftb_spmm_request request = {.message = m,
                                      .p = (ftb_pattern *)(uintptr_t)r->by_receiver.rows[0],
                                      .into_type = X->type,
                                      .block = X,
                                      .device = r->there->who,
                                      .plan_only = true};
    GrB_Info info = ftb_spmm_message(&result, &request);
    *fits = info == GrB_SUCCESS && result.fits;
    return info;
}

static const char *why_not(const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    const ftb_verbs *verbs = r->there->who->verbs;
    if (!verbs->map_rows || !verbs->aggregate || !verbs->vertex_renew || !verbs->vertex_flags ||
        !verbs->vertex_sums)
        return "it has no verbs for texts";
    if (r->program->direction == FTB_BOTH)
        return "messages go in both directions";
    if (w->texts[FTB_VERTEX_COMBINE].m.function)
        return "the message is a C function";
    if (w->monoid == FTB_ANY)
        return "any has an order";
    if (w->priority >= 0)
        return "priorities are looked at here";
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
    ftb_there_point(&m, r, &w->texts[FTB_VERTEX_COMBINE]);
    GrB_Info info = fits ? reduce_fits(&fits, r, &m, d->received) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && fits && d->masked.expr) {
        ftb_there_point_masked(&m, r);
        info = reduce_fits(&fits, r, &m, d->received);
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
    ftb_there_point_masked(&m, r);
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

static GrB_Info make_fill(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    ftb_expr *received = NULL;
    ftb_message m;
    GrB_Info info = ftb_expr_parse(&received, r->ctx, "received", "apply", 0);
    if (info == GrB_SUCCESS)
        info = ftb_expr_guard(&d->fill.expr, received, GOT, NONE);
    ftb_expr_release(received);
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
    if (!w->always || !r->all || w->settled >= 0 || !r->program->all_apply)
        FTB_CHECK(make_masked(d, r));
    if (d->filled)
        FTB_CHECK(make_fill(d, r));
    if (w->active >= 0)
        FTB_CHECK(compile_truth(&d->activates, r, w->active));
    if (w->settled >= 0)
        FTB_CHECK(compile_truth(&d->settles, r, w->settled));
    for (int t = 0; t < w->ntexts; t++)
        for (int f = 0; f < w->texts[t].m.nfeeds; f++)
            d->reads_changed |= w->texts[t].of[f].kind == FTB_VERTEX_CHANGED;
done:
    return info;
}

static GrB_Info make_has(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    const ftb_pattern *p = r->by_receiver.rows[0];
    GrB_Info info = new_flags(&d->has, r);
    if (info != GrB_SUCCESS)
        return info;
    uint8_t *has = ftb_block_data(d->has);
    for (int64_t v = 0; v < r->n; v++) {
        has[v] = p->rowptr[v] < p->rowptr[v + 1];
        d->nhas += has[v];
    }
    return info;
}

static GrB_Info make_blocks(ftb_vertex_there *d, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_work *w = &r->work;
    const ftb_vertex_text *send = &w->texts[FTB_VERTEX_SEND];
    GrB_Info info;
    FTB_CHECK(new_degrees(&d->outdegree, r, true));
    FTB_CHECK(new_degrees(&d->indegree, r, false));
    FtB_Block *const flags[] = {&d->on, &d->next, &d->got, &d->applies, &d->changed};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
        FTB_CHECK(new_flags(flags[f], r));
    FTB_CHECK(make_has(d, r));
    if (!r->sends_field)
        FTB_CHECK(new_block(&d->sent, r, send->type, r->n, send->width));
    FTB_CHECK(new_block(&d->received, r, w->reduced, r->n, w->width));
    if (r->program->all_apply && !identity_is_zero(w->monoid))
        FTB_CHECK(new_block(&d->filled, r, w->reduced, r->n, w->width));
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
    FtB_Block *const blocks[] = {&d->outdegree, &d->indegree, &d->on,      &d->next, &d->has,
                                 &d->got,       &d->applies,  &d->changed, &d->sent, &d->received,
                                 &d->filled,    &d->settled,  &d->active,  &d->tally};
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
