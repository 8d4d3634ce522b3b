/* Neighbourhoods over several relations, hop by hop: all relations pick of the rows of the vertices that were
 * found so far, then what they found of a type gets its numbers in one go. */
#include "core/draws.h"
#include "core/options.h"
#include "core/words.h"
#include "cpu/block/gather_run.h"
#include "cpu/sample/sample_run.h"
#include "ops/backends.h"
#include "sample/relations_object.h"
#include "sample/selector.h"

/* A relation in the hop at hand. */
typedef struct turn {
    ftb_selector selector;
    ftb_picks picks;
    int32_t *local;
    int64_t row0, nrows; /* destinations that are picked of */
    double *before;      /* scales of the hop before's layer */
} turn;

typedef struct call {
    FtB_Relation_sample sample;
    FtB_Relations list;
    FtB_Context ctx;
    FtB_Sample_options options;
    const int64_t *fanouts;
    int nhops;
    turn *turns;
} call;

/* ---- arguments */

static GrB_Info check_options(const FtB_Sample_options *o)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"key_op", o->key_op != NULL}, {"disjoint", o->disjoint},
                  {"apart", o->apart},           {"self", o->self},
                  {"times", o->times.at},        {"until", o->until.at},
                  {"exclude", o->exclude.at},    {"reverses", o->reverses},
                  {"induced", o->induced},       {"stack", o->stack != 0},
                  {"plan", o->plan != NULL}};
    for (size_t n = 0; n < sizeof others / sizeof *others; n++)
        if (others[n].given)
            return ftb_fail(GrB_NOT_IMPLEMENTED,
                            "options: %s is given, which samples over relations do not have", others[n].name);
    if (o->batch < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: batch is %lld; expected 0 or more", (long long)o->batch);
    return GrB_SUCCESS;
}

static GrB_Info check_seeds(const call *c, const FtB_Ids *seeds)
{
    char below[FTB_WORDS];
    if (!seeds && c->list->ntypes > 0)
        return ftb_fail(GrB_NULL_POINTER, "seeds is NULL; expected %d lists, one for each type",
                        c->list->ntypes);
    for (int t = 0; t < c->list->ntypes; t++) {
        const ftb_vertex_type *type = &c->list->type[t];
        const FtB_Ids list = seeds[t];
        if (list.count < 0 || list.count > INT32_MAX || (!list.at && list.count > 0))
            return ftb_fail(GrB_INVALID_VALUE, "seeds of type \"%s\": %lld numbers at %s; expected a list",
                            type->name, (long long)list.count, list.at ? "an address" : "NULL");
        const int64_t bad = ftb_rows_beyond(c->ctx, list.at, list.count, 1, type->count);
        if (bad < list.count)
            return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "seeds of type \"%s\": number %lld is %lld; expected %s",
                            type->name, (long long)bad, (long long)list.at[bad],
                            ftb_below_text(below, type->count));
    }
    return GrB_SUCCESS;
}

/* Selectors of all relations, and their numbers of picks. */
static GrB_Info begin_turns(call *c)
{
    char name[FTB_WORDS];
    GrB_Info info = GrB_SUCCESS;
    c->turns = ftb_new0(c->ctx, c->list->nrelations, sizeof *c->turns);
    if (!c->turns)
        return ftb_nomem();
    for (int r = 0; r < c->list->nrelations && info == GrB_SUCCESS; r++) {
        const ftb_selector_options how = {.key = FTB_ARG(c->options.key),
                                          .selector = c->options.selector,
                                          .replace = c->options.replace,
                                          .threshold = c->options.threshold,
                                          .iterations = c->options.iterations,
                                          .seed = c->options.seed};
        ftb_selector *s = &c->turns[r].selector;
        info = ftb_selector_begin(s, c->ctx, c->list->relation[r].A, &how);
        if (r > 0)
            s->product.seed = ftb_random_mix(s->product.seed, (uint64_t)r, FTB_DRAW_RELATION);
        for (int h = 0; h < c->nhops && info == GrB_SUCCESS; h++) {
            snprintf(name, sizeof name, "fanouts[%d]", r * c->nhops + h);
            info = ftb_selector_check(s, c->fanouts[r * c->nhops + h], name);
        }
    }
    return info;
}

static GrB_Info begin(call *c, const FtB_Ids *seeds, const FtB_Sample_options *options)
{
    GrB_Info info = ftb_options_read(&c->options, sizeof c->options, options, "FtB_Relations_sample",
                                     "FTB_SAMPLE_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_relations_check(c->list);
    if (info == GrB_SUCCESS && c->nhops < 0)
        info = ftb_fail(GrB_INVALID_VALUE, "nhops is %d; expected 0 or more", c->nhops);
    if (info == GrB_SUCCESS && !c->fanouts && c->nhops > 0 && c->list->nrelations > 0)
        info = ftb_fail(GrB_NULL_POINTER, "fanouts is NULL; expected %d numbers for each of %d relations",
                        c->nhops, c->list->nrelations);
    if (info == GrB_SUCCESS)
        info = check_options(&c->options);
    if (info == GrB_SUCCESS)
        info = check_seeds(c, seeds);
    return info == GrB_SUCCESS ? begin_turns(c) : info;
}

/* The object with its seeds. */
static GrB_Info make_sample(call *c, const FtB_Ids *seeds)
{
    const FtB_Context ctx = c->ctx;
    FtB_Relation_sample s = c->sample = ftb_new0(ctx, 1, sizeof *s);
    if (!s)
        return ftb_nomem();
    s->magic = FTB_MAGIC_RELATION_SAMPLE;
    s->ctx = ctx;
    s->nhops = c->nhops;
    s->type = ftb_new0(ctx, c->list->ntypes, sizeof *s->type);
    s->relation = ftb_new0(ctx, c->list->nrelations, sizeof *s->relation);
    if (!s->type || !s->relation)
        return ftb_nomem();
    s->ntypes = c->list->ntypes;
    s->nrelations = c->list->nrelations;
    for (int t = 0; t < s->ntypes; t++) {
        ftb_type_vertices *v = &s->type[t];
        v->count = seeds[t].count;
        v->vertices = ftb_new(ctx, v->count, sizeof *v->vertices);
        v->found = ftb_new0(ctx, (int64_t)s->nhops + 1, sizeof *v->found);
        if (!v->vertices || !v->found)
            return ftb_nomem();
        if (v->count > 0)
            memcpy(v->vertices, seeds[t].at, (size_t)v->count * sizeof *v->vertices);
        v->found[0] = v->count;
    }
    for (int r = 0; r < s->nrelations; r++) {
        ftb_relation_hops *to = &s->relation[r];
        to->layer = ftb_new0(ctx, s->nhops, sizeof(FtB_Matrix));
        to->edges = ftb_new0(ctx, s->nhops, sizeof(int64_t *));
        to->picked = ftb_new0(ctx, s->nhops, sizeof *to->picked);
        if (!to->layer || !to->edges || !to->picked)
            return ftb_nomem();
    }
    return GrB_SUCCESS;
}

/* ---- a hop */

static GrB_Info pick(call *c, int r, int hop)
{
    turn *t = &c->turns[r];
    const ftb_type_vertices *rows = &c->sample->type[c->list->relation[r].destination];
    ftb_sample_product *p = &t->selector.product;
    const uint64_t seed = p->seed;
    t->row0 = c->options.once && hop > 0 ? rows->count - rows->found[hop] : 0;
    t->nrows = rows->count - t->row0;
    p->stream = ftb_draw_stream(&p->seed, (uint64_t)c->options.batch, (uint64_t)hop);
    const GrB_Info info =
        ftb_pick(&t->picks, &t->selector, rows->vertices + t->row0, t->nrows, c->fanouts[r * c->nhops + hop]);
    p->seed = seed;
    if (info == GrB_SUCCESS)
        c->sample->relation[r].picked[hop] = t->picks.rowptr[t->nrows];
    return info;
}

/* Room for the picks of all relations from a type, one after the other; numbers of the picks go along. */
typedef struct joined {
    int64_t nrows, count;
    int64_t *rowptr, *order;
    char *columns;
    int32_t *local;
} joined;

static GrB_Info join_picks(joined *j, const call *c, int type)
{
    *j = (joined){.nrows = 0};
    const size_t size = ftb_col_size(c->list->type[type].count);
    for (int r = 0; r < c->list->nrelations; r++)
        if (c->list->relation[r].source == type) {
            j->nrows += c->turns[r].nrows;
            j->count += c->turns[r].picks.rowptr[c->turns[r].nrows];
        }
    j->rowptr = ftb_new(c->ctx, j->nrows + 1, sizeof *j->rowptr);
    j->order = ftb_new(c->ctx, j->count, sizeof *j->order);
    j->columns = ftb_new(c->ctx, j->count, size);
    j->local = ftb_new(c->ctx, j->count, sizeof *j->local);
    if (!j->rowptr || !j->order || !j->columns || !j->local)
        return ftb_nomem();
    int64_t row = 0, at = 0;
    j->rowptr[0] = 0;
    for (int r = 0; r < c->list->nrelations; r++) {
        const turn *t = &c->turns[r];
        if (c->list->relation[r].source != type)
            continue;
        const int64_t count = t->picks.rowptr[t->nrows];
        for (int64_t i = 1; i <= t->nrows; i++)
            j->rowptr[row + i] = at + t->picks.rowptr[i];
        for (int64_t e = 0; e < count; e++)
            j->order[at + e] = e;
        memcpy(j->columns + (size_t)at * size, t->picks.columns, (size_t)count * size);
        row += t->nrows;
        at += count;
    }
    return GrB_SUCCESS;
}

/* Hands numbers, and the entries that they are of, back to the relations. */
static GrB_Info part_picks(const joined *j, call *c, int type)
{
    int64_t at = 0;
    for (int r = 0; r < c->list->nrelations; r++) {
        turn *t = &c->turns[r];
        if (c->list->relation[r].source != type)
            continue;
        const int64_t count = t->picks.rowptr[t->nrows];
        int64_t *entries = ftb_new(c->ctx, count, sizeof *entries);
        t->local = ftb_new(c->ctx, count, sizeof *t->local);
        if (!entries || !t->local) {
            ftb_delete(entries);
            return ftb_nomem();
        }
        memcpy(t->local, j->local + at, (size_t)count * sizeof *t->local);
        memcpy(entries, j->order + at, (size_t)count * sizeof *entries);
        GrB_Info info = GrB_SUCCESS;
        if (t->picks.scale)
            info = ftb_sample_reorder(c->ctx, entries, t->picks.entries, &t->picks.scale, count);
        for (int64_t e = 0; !t->picks.scale && e < count; e++)
            entries[e] = t->picks.entries[entries[e]];
        ftb_delete(t->picks.entries);
        t->picks.entries = entries;
        if (info != GrB_SUCCESS)
            return info;
        at += count;
    }
    return GrB_SUCCESS;
}

/* Numbers for what was picked of a type. */
static GrB_Info relabel(call *c, int type, int hop)
{
    ftb_type_vertices *v = &c->sample->type[type];
    const ftb_place nothing[] = {{.X = NULL}};
    joined j;
    GrB_Info info = join_picks(&j, c, type);
    ftb_relabel_product p = {.ctx = c->ctx,
                             .known = v->vertices,
                             .nknown = v->count,
                             .bound = c->list->type[type].count,
                             .nrows = j.nrows,
                             .rowptr = j.rowptr,
                             .columns = j.columns,
                             .wide = ftb_col_size(c->list->type[type].count) == 8,
                             .local = j.local,
                             .entries = j.order};
    if (info == GrB_SUCCESS) {
        FTB_RUN(info, FTB_WHO_FITS(c->ctx, relabel, &p), relabel, nothing, &p);
        void *vertices = v->vertices;
        if (info == GrB_SUCCESS && !ftb_resize(c->ctx, &vertices, v->count + p.nfresh, sizeof *v->vertices))
            info = ftb_nomem();
        v->vertices = vertices;
    }
    if (info == GrB_SUCCESS) {
        memcpy(v->vertices + v->count, p.fresh, (size_t)p.nfresh * sizeof *v->vertices);
        v->count += p.nfresh;
        v->found[hop + 1] = p.nfresh;
        info = part_picks(&j, c, type);
    }
    ftb_delete(p.fresh);
    ftb_delete(j.rowptr);
    ftb_delete(j.order);
    ftb_delete(j.columns);
    ftb_delete(j.local);
    return info;
}

static GrB_Info make_layer(call *c, int r, int hop)
{
    turn *t = &c->turns[r];
    const FtB_Matrix A = c->list->relation[r].A;
    ftb_relation_hops *to = &c->sample->relation[r];
    ftb_picked_values picked = {.type = A->type};
    GrB_Info info = GrB_SUCCESS;
    if (!c->options.structural)
        info = ftb_pick_values(&picked, &t->selector,
                               &(ftb_pick_list){.entries = t->picks.entries,
                                                .scale = t->picks.scale,
                                                .count = t->picks.rowptr[t->nrows]});
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer *rowptr = ftb_buffer_adopt(c->ctx, t->picks.rowptr),
               *colidx = ftb_buffer_adopt(c->ctx, t->local);
    t->picks.rowptr = NULL;
    t->local = NULL;
    ftb_pattern *pattern =
        ftb_pattern_new(c->ctx, t->nrows, c->sample->type[c->list->relation[r].source].count, rowptr, colidx);
    if (pattern)
        pattern->multi = c->options.replace || A->pattern->multi;
    info = ftb_matrix_make(&to->layer[hop], c->ctx, picked.type, picked.width, pattern, picked.values);
    to->edges[hop] = t->picks.entries;
    ftb_delete(t->before);
    t->before = t->picks.scale;
    t->picks.entries = NULL;
    t->picks.scale = NULL;
    ftb_picks_delete(&t->picks);
    return info;
}

static GrB_Info run_hop(call *c, int hop)
{
    GrB_Info info = ftb_check_cancelled(c->ctx);
    for (int r = 0; r < c->list->nrelations && info == GrB_SUCCESS; r++)
        info = pick(c, r, hop);
    for (int t = 0; t < c->list->ntypes && info == GrB_SUCCESS; t++)
        info = relabel(c, t, hop);
    for (int r = 0; r < c->list->nrelations && info == GrB_SUCCESS; r++) {
        turn *t = &c->turns[r];
        const ftb_relation_hops *of = &c->sample->relation[r];
        if (c->options.once && hop > 0)
            info = ftb_picks_join(c->ctx, &t->picks, &t->local, &t->nrows,
                                  &(ftb_hop_before){.layer = of->layer[hop - 1],
                                                    .entries = of->edges[hop - 1],
                                                    .scale = t->before});
        if (info == GrB_SUCCESS)
            info = make_layer(c, r, hop);
    }
    return info;
}

GrB_Info FtB_Relations_sample(FtB_Relation_sample *sample, FtB_Relations relations, const FtB_Ids *seeds,
                              const int64_t *fanouts, int nhops, const FtB_Sample_options *options)
{
    call c = {.list = relations, .ctx = ftb_context(), .fanouts = fanouts, .nhops = nhops};
    if (!sample)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Relations_sample: sample is NULL");
    *sample = NULL;
    GrB_Info info = begin(&c, seeds, options);
    if (info == GrB_SUCCESS)
        info = make_sample(&c, seeds);
    for (int h = 0; h < nhops && info == GrB_SUCCESS; h++)
        info = run_hop(&c, h);
    for (int r = 0; info == GrB_SUCCESS && !c.options.edges && r < c.sample->nrelations; r++)
        for (int h = 0; h < nhops; h++) {
            ftb_delete(c.sample->relation[r].edges[h]);
            c.sample->relation[r].edges[h] = NULL;
        }
    if (info == GrB_SUCCESS) {
        *sample = c.sample;
        c.sample = NULL;
    }
    for (int r = 0; c.turns && r < relations->nrelations; r++) {
        ftb_picks_delete(&c.turns[r].picks);
        ftb_delete(c.turns[r].local);
        ftb_delete(c.turns[r].before);
        ftb_selector_end(&c.turns[r].selector);
    }
    ftb_delete(c.turns);
    FtB_Relation_sample_free(&c.sample);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.ctx);
    return info;
}
