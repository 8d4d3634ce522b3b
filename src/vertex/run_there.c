/* Supersteps on a device (run_there.h), of verbs one after the other:
 *
 *     send     map_rows                      apply    map_rows, into other memory than the state
 *     combine  spmm or aggregate             changed  vertex_renew, which also writes the fields, last of all
 *     received aggregate, of flags           active   map_rows, vertex_flags
 *     settled  map_rows, vertex_flags        sums     map_rows, vertex_sums
 *
 * Vertices that are not active send what changes nothing. What comes home is one row of counts and sums. */
#include "vertex/run_there.h"

#include "cpu/block/write_run.h"
#include "cpu/vertex/vertex_verbs.h"
#include "ops/spmm.h"
#include "ops/vertices.h"

/* ---- blocks */

/* Values first, first + 1, ... of X's only row. */
static GrB_Info part_of_row(FtB_Block *part, FtB_Block X, int64_t first, int64_t count)
{
    GrB_Info info = ftb_block_view(part, X->ctx, X->type, 1, count, count, ftb_buffer_retain(X->owner));
    if (info == GrB_SUCCESS)
        (*part)->offset = X->offset + first * (int64_t)FtB_Type_size(X->type);
    return info;
}

/* ---- texts */

static GrB_Info map(FtB_Block Y, const struct FtB_Run_opaque *r, ftb_message *m, const ftb_program *program)
{
    return ftb_map_rows(
        Y, r->there->who, m,
        &(ftb_map_rows_product){.program = program, .side = FTB_SIDE_ROW, .nrows = r->n, .fold = 1});
}

static GrB_Info map_text(FtB_Block Y, const struct FtB_Run_opaque *r, int text, const ftb_there_text *other)
{
    const ftb_vertex_text *t = &r->work.texts[text];
    ftb_message m;
    ftb_there_point(&m, r, t);
    if (other && other->expr)
        m.expr = other->expr;
    return map(Y, r, &m, other ? other->program : t->program);
}

/* ---- a superstep: messages */

/* X becomes the message's values, reduced; rows without entries are 0. */
static GrB_Info reduce(FtB_Block X, const struct FtB_Run_opaque *r, const ftb_message *m, int which)
{
    ftb_pattern *p = (ftb_pattern *)(uintptr_t)r->by_receiver.rows[which];
    ftb_spmm_result result;
    const ftb_spmm_request request = {.message = m,
                                      .p = p,
                                      .into = ftb_block_address(X),
                                      .into_type = X->type,
                                      .ldinto = X->ld,
                                      .block = X,
                                      .device = r->there->who};
    GrB_Info info = ftb_spmm_message(&result, &request);
    if (info != GrB_SUCCESS || result.there)
        return info;
    const ftb_plain_rows rows = {ftb_block_data(X), X->type, X->nrows, X->ncols, X->ld}; /* the host did it */
    for (int64_t v = 0; result.values != ftb_block_data(X) && v < X->nrows; v++)
        ftb_cast((char *)ftb_block_data(X) + (size_t)(v * X->ld) * FtB_Type_size(X->type), X->type,
                 (const char *)result.values + (size_t)(v * result.ld) * FtB_Type_size(result.type),
                 result.type, X->ncols);
    ftb_rows_fill_empty(r->ctx, &rows, p->rowptr, 0);
    ftb_delete(result.owned);
    return info;
}

/* The flags of the run's list. */
static GrB_Info put_active(FtB_Run r)
{
    ftb_vertex_there *d = r->there;
    if (d->knows_active || r->all)
        return GrB_SUCCESS;
    GrB_Info info = ftb_buffer_ask(d->on->owner, FTB_UPDATE);
    if (info != GrB_SUCCESS)
        return info;
    uint8_t *on = ftb_block_data(d->on);
    memset(on, 0, (size_t)r->n);
    for (int64_t t = 0; t < r->nactive; t++)
        on[r->active[t]] = 1;
    return info;
}

static GrB_Info deliver(FtB_Run r)
{
    const ftb_vertex_there *d = r->there;
    const bool asks = !r->all && (d->filled || !r->program->all_apply);
    ftb_message m;
    GrB_Info info = r->sends_field ? GrB_SUCCESS : map_text(d->sent, r, FTB_VERTEX_SEND, NULL);
    for (int which = 0; which < 2 && d->received[which] && info == GrB_SUCCESS; which++) {
        ftb_there_point_message(&m, r, which, !r->all);
        info = reduce(d->received[which], r, &m, which);
        if (info != GrB_SUCCESS || !asks)
            continue;
        ftb_there_point_any(&m, r);
        info = reduce(d->got[which], r, &m, which);
    }
    if (info == GrB_SUCCESS && d->filled) {
        ftb_there_point_fill(&m, r);
        info = map(d->filled, r, &m, d->fill.program);
    }
    return info;
}

/* ---- a superstep: who applies */

/* flags of out = `with` and (x, or that it has zeros); counts go to the tally's `first` and the next. */
static GrB_Info find_flags(const struct FtB_Run_opaque *r, FtB_Block out, FtB_Block with, FtB_Block x,
                           bool zeros, FtB_Block weights, int64_t first)
{
    ftb_vertex_flags_product p = {.ctx = r->ctx, .nrows = r->n, .ncols = x ? x->ncols : 0, .zeros = zeros};
    FtB_Block counts = NULL;
    GrB_Info info = part_of_row(&counts, r->there->tally, first, 2);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_place places[] = {{.X = x, .read = (const void **)&p.x},
                                {.X = with, .read = (const void **)&p.with},
                                {.X = weights, .read = (const void **)&p.weights},
                                {.X = out, .write = (void **)&p.out, .whole = out != with},
                                {.X = counts, .write = (void **)&p.counts}};
    FTB_RUN(info, r->there->who, vertex_flags, places, &p);
    FtB_Block_free(&counts);
    return info;
}

/* *who: flags of those that apply, NULL: all do; *applied: how many, -1: the tally says. */
static GrB_Info find_appliers(FtB_Block *who, int64_t *applied, const struct FtB_Run_opaque *r)
{
    const ftb_vertex_there *d = r->there;
    const bool settles = r->work.settled >= 0, all = r->program->all_apply, looked = !all && !r->all;
    GrB_Info info = GrB_SUCCESS;
    *who = all ? NULL : d->has_any;
    *applied = all ? r->n : d->nhas;
    if (looked) {
        *who = d->applies;
        info = find_flags(r, d->applies, NULL, d->got_any, false, NULL, FTB_THERE_APPLIED);
    }
    if (settles && info == GrB_SUCCESS)
        info = map_text(d->settled, r, r->work.settled, &d->settles);
    if (settles && info == GrB_SUCCESS)
        info = find_flags(r, d->applies, *who, d->settled, true, NULL, FTB_THERE_APPLIED);
    if (settles)
        *who = d->applies;
    if (settles || looked)
        *applied = -1;
    return info;
}

/* ---- a superstep: the state */

static GrB_Info renew(const struct FtB_Run_opaque *r, FtB_Block who, int f, bool wanted, bool store)
{
    const ftb_vertex_there *d = r->there;
    const ftb_vertex_field *field = &r->work.fields[f];
    const FtB_Block X = r->states[field->state].block;
    ftb_vertex_renew_product p = {.ctx = r->ctx,
                                  .type = field->type,
                                  .nrows = r->n,
                                  .ncols = field->ncols,
                                  .ld = field->ld,
                                  .more = f > 0,
                                  .store = store};
    const void **const reads = (const void **)&p.state;
    GrB_Info info;
    const ftb_place places[] = {
        {.X = d->fresh[f], .read = &p.fresh},
        {.X = who, .read = (const void **)&p.who},
        {.X = wanted ? d->changed : NULL, .write = (void **)&p.changed, .whole = f == 0},
        {.X = X,
         .read = reads,
         .write = store ? &p.state : NULL,
         .stays = r->closed,
         .name = r->states[field->state].name}};
    FTB_RUN(info, d->who, vertex_renew, places, &p);
    return info;
}

static GrB_Info renew_all(const struct FtB_Run_opaque *r, FtB_Block who, bool wanted, bool store)
{
    GrB_Info info = GrB_SUCCESS;
    for (int f = 0; f < r->work.nfields && info == GrB_SUCCESS; f++)
        info = renew(r, who, f, wanted, store);
    return info;
}

static GrB_Info make_sums(const struct FtB_Run_opaque *r, int s)
{
    const ftb_vertex_there *d = r->there;
    ftb_vertex_sums_product p = {
        .ctx = r->ctx, .count = r->n * d->terms[s]->ncols, .each = r->work.room * d->terms[s]->ncols};
    FtB_Block sums = NULL;
    GrB_Info info = map_text(d->terms[s], r, r->work.first_sum + s, NULL);
    if (info == GrB_SUCCESS)
        info = part_of_row(&sums, d->tally, FTB_THERE_COUNTS + s * d->batches, d->batches);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_place places[] = {{.X = d->terms[s], .read = (const void **)&p.x},
                                {.X = sums, .write = (void **)&p.sums}};
    FTB_RUN(info, d->who, vertex_sums, places, &p);
    FtB_Block_free(&sums);
    return info;
}

/* Who is active next. Those that always are need no flags where all are. */
static GrB_Info find_next(const struct FtB_Run_opaque *r, FtB_Block who)
{
    const ftb_vertex_there *d = r->there;
    const ftb_vertex_work *w = &r->work;
    GrB_Info info = GrB_SUCCESS;
    if (w->always)
        return who ? find_flags(r, d->next, who, NULL, false, d->weights, FTB_THERE_NEXT) : info;
    if (w->active < 0)
        return find_flags(r, d->next, NULL, d->changed, false, d->weights, FTB_THERE_NEXT);
    info = map_text(d->active, r, w->active, &d->activates);
    return info == GrB_SUCCESS ? find_flags(r, d->next, who, d->active, false, d->weights, FTB_THERE_NEXT)
                               : info;
}

/* Counts and sums come home; -1 is all. */
static GrB_Info read_tally(FtB_Run r, int64_t *applied, int64_t *next, int64_t *edges)
{
    const ftb_vertex_there *d = r->there;
    const ftb_vertex_work *w = &r->work;
    const bool all = w->always && *applied == r->n;
    *next = r->n;
    *edges = ftb_vertex_entries(r);
    if (all && w->nsums == 0)
        return GrB_SUCCESS;
    GrB_Info info = ftb_buffer_ask(d->tally->owner, FTB_READ);
    if (info != GrB_SUCCESS)
        return info;
    const int64_t *counts = ftb_block_data(d->tally);
    if (*applied < 0)
        *applied = counts[FTB_THERE_APPLIED];
    if (!all) {
        *next = counts[FTB_THERE_NEXT];
        *edges = counts[FTB_THERE_NEXT_EDGES];
    }
    for (int s = 0; s < w->nsums; s++) {
        const double *parts = (const double *)(counts + FTB_THERE_COUNTS + s * d->batches);
        r->sums[s] = 0;
        for (int64_t b = 0; b < d->batches; b++)
            r->sums[s] += parts[b];
    }
    return info;
}

GrB_Info ftb_vertex_there_step(FtB_Run r, int64_t *applied)
{
    ftb_vertex_there *d = r->there;
    const ftb_vertex_work *w = &r->work;
    const bool wanted = (!w->always && w->active < 0) || w->reads_changed;
    FtB_Block who = NULL;
    int64_t next, edges;
    GrB_Info info;
    FTB_CHECK(put_active(r));
    FTB_CHECK(deliver(r));
    FTB_CHECK(find_appliers(&who, applied, r));
    for (int f = 0; f < w->nfields; f++)
        FTB_CHECK(map_text(d->fresh[f], r, FTB_VERTEX_APPLY + f, NULL));
    if (wanted)
        FTB_CHECK(renew_all(r, who, true, false));
    FTB_CHECK(find_next(r, who));
    for (int s = 0; s < w->nsums; s++)
        FTB_CHECK(make_sums(r, s));
    FTB_CHECK(read_tally(r, applied, &next, &edges));
    FTB_CHECK(renew_all(r, who, false, true));
    r->nactive = next;
    r->all = next == r->n;
    d->edges = edges;
    d->knows_active = !r->all;
    const FtB_Block swap = d->on;
    d->on = d->next;
    d->next = swap;
done:
    return info;
}

/* ---- between the two */

GrB_Info ftb_vertex_there_leave(FtB_Run r)
{
    ftb_vertex_there *d = r->there;
    if (!d || !d->knows_active)
        return GrB_SUCCESS;
    int64_t *list = ftb_vertex_need(r->ctx, &r->active_room, r->nactive, sizeof *list), count = 0;
    GrB_Info info = list ? ftb_buffer_ask(d->on->owner, FTB_READ) : ftb_nomem();
    if (info != GrB_SUCCESS)
        return info;
    const uint8_t *on = ftb_block_data(d->on);
    for (int64_t v = 0; v < r->n; v++)
        if (on[v])
            list[count++] = v;
    r->active = list;
    d->knows_active = false;
    return info;
}

GrB_Info ftb_vertex_there_home(FtB_Run r)
{
    GrB_Info info = GrB_SUCCESS;
    for (int f = 0; r->there && f < r->work.nfields; f++) {
        ftb_buffer *b = r->states[r->work.fields[f].state].block->owner;
        const GrB_Info failed = atomic_load(&b->lent) ? ftb_buffer_ask(b, FTB_READ) : GrB_SUCCESS;
        info = info == GrB_SUCCESS ? failed : info;
    }
    return info;
}
