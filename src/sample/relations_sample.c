/* Neighbourhoods over several relations, hop by hop: all relations pick of the rows of the vertices that were
 * found so far, then what they found of a type gets its numbers in one go. Trees are those of the seeds of
 * all types, whichever type a vertex is of. */
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
    int64_t *excluded;   /* places in this relation's matrix */
} turn;

typedef struct call {
    FtB_Relation_sample sample;
    FtB_Relations list;
    FtB_Context ctx;
    FtB_Sample_options options;
    const int64_t *fanouts;
    int nhops;
    turn *turns;
    int64_t nseeds; /* of all types */
    uint64_t *tree_seeds;
} call;

/* ---- arguments */

static GrB_Info check_options(const FtB_Sample_options *o)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"induced", o->induced}, {"stack", o->stack != 0}, {"plan", o->plan != NULL}};
    for (size_t n = 0; n < sizeof others / sizeof *others; n++)
        if (others[n].given)
            return ftb_fail(GrB_NOT_IMPLEMENTED,
                            "options: %s is given, which samples over relations do not have", others[n].name);
    if (o->batch < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: batch is %lld; expected 0 or more", (long long)o->batch);
    if (o->key && o->key_op)
        return ftb_fail(GrB_INVALID_VALUE, "options: both key and key_op are given; expected one of them");
    if (o->times.at && !o->disjoint)
        return ftb_fail(GrB_INVALID_VALUE, "options: times go with disjoint trees; expected disjoint");
    return GrB_SUCCESS;
}

static GrB_Info check_seeds(call *c, const FtB_Ids *seeds)
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
        c->nseeds += list.count;
    }
    if (c->options.disjoint && c->nseeds > INT32_MAX)
        return ftb_fail(FTB_LIMIT, "seeds are %lld; expected less than 2^31 of disjoint trees",
                        (long long)c->nseeds);
    return GrB_SUCCESS;
}

/* Lists of all relations' entries have them one after the other: relation r's begin here; of r = nrelations
 * all of them. */
static int64_t first_entry(const call *c, int r)
{
    int64_t first = 0;
    for (int n = 0; n < r; n++)
        first += c->list->relation[n].A->pattern->nvals;
    return first;
}

static GrB_Info check_lists(const call *c)
{
    const FtB_Sample_options *o = &c->options;
    const int64_t all = first_entry(c, c->list->nrelations);
    char below[FTB_WORDS];
    if (o->times.at && o->times.count != all)
        return ftb_fail(
            GrB_DIMENSION_MISMATCH,
            "options: times has %lld numbers; expected %lld, one for each of the relations' entries",
            (long long)o->times.count, (long long)all);
    if (o->exclude.count < 0 || (!o->exclude.at && o->exclude.count > 0))
        return ftb_fail(GrB_INVALID_VALUE, "options: exclude has %lld numbers at %s; expected a list",
                        (long long)o->exclude.count, o->exclude.at ? "an address" : "NULL");
    for (int64_t t = 0; t < o->exclude.count; t++)
        if (o->exclude.at[t] < 0 || o->exclude.at[t] >= all)
            return ftb_fail(
                GrB_INDEX_OUT_OF_BOUNDS,
                "options: exclude[%lld] is %lld; expected a place among the relations' entries, %s",
                (long long)t, (long long)o->exclude.at[t], ftb_below_text(below, all));
    return GrB_SUCCESS;
}

/* Those of the excluded entries that are the relation's. */
static GrB_Info list_excluded(FtB_Ids *excluded, const call *c, int r)
{
    const FtB_Ids all = c->options.exclude;
    const int64_t first = first_entry(c, r), end = first_entry(c, r + 1);
    turn *t = &c->turns[r];
    int64_t count = 0;
    for (int64_t n = 0; n < all.count; n++)
        count += all.at[n] >= first && all.at[n] < end;
    *excluded = FtB_Ids_of(NULL, 0);
    if (count == 0)
        return GrB_SUCCESS;
    t->excluded = ftb_new(c->ctx, count, sizeof *t->excluded);
    if (!t->excluded)
        return ftb_nomem();
    count = 0;
    for (int64_t n = 0; n < all.count; n++)
        if (all.at[n] >= first && all.at[n] < end)
            t->excluded[count++] = all.at[n] - first;
    *excluded = FtB_Ids_of(t->excluded, count);
    const ftb_relation *of = &c->list->relation[r];
    if (c->options.reverses && of->source != of->destination)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: reverses, of excluded entries of relation \"%s\" from \"%s\" to \"%s\"; "
                        "expected such of relations from a type to itself",
                        of->name, c->list->type[of->source].name, c->list->type[of->destination].name);
    return GrB_SUCCESS;
}

static GrB_Info begin_turn(call *c, int r)
{
    const FtB_Sample_options *o = &c->options;
    const FtB_Matrix A = c->list->relation[r].A;
    char name[FTB_WORDS];
    ftb_selector *s = &c->turns[r].selector;
    ftb_selector_options how = {.key = o->key ? FTB_ARG(o->key) : FTB_ARG(o->key_op),
                                .selector = o->selector,
                                .replace = o->replace,
                                .threshold = o->threshold,
                                .iterations = o->iterations,
                                .times = o->times,
                                .until = o->until,
                                .nuntil = c->nseeds,
                                .until_of = "the seeds of all types",
                                .seed = o->seed};
    if (o->times.at)
        how.times = FtB_Ids_of(o->times.at + first_entry(c, r), A->pattern->nvals);
    GrB_Info info = list_excluded(&how.exclude, c, r);
    how.reverses = o->reverses && how.exclude.count > 0;
    if (info == GrB_SUCCESS)
        info = ftb_selector_begin(s, c->ctx, A, &how);
    if (r > 0)
        s->product.seed = ftb_random_mix(s->product.seed, (uint64_t)r, FTB_DRAW_RELATION);
    for (int h = 0; h < c->nhops && info == GrB_SUCCESS; h++) {
        snprintf(name, sizeof name, "fanouts[%d]", r * c->nhops + h);
        info = ftb_selector_check(s, c->fanouts[r * c->nhops + h], name);
    }
    return info;
}

/* Selectors of all relations, and their numbers of picks. */
static GrB_Info begin_turns(call *c)
{
    GrB_Info info = check_lists(c);
    if (info != GrB_SUCCESS)
        return info;
    c->turns = ftb_new0(c->ctx, c->list->nrelations, sizeof *c->turns);
    c->tree_seeds = c->options.disjoint ? ftb_new(c->ctx, c->nseeds, sizeof *c->tree_seeds) : NULL;
    if (!c->turns || (c->options.disjoint && !c->tree_seeds))
        return ftb_nomem();
    for (int r = 0; r < c->list->nrelations && info == GrB_SUCCESS; r++)
        info = begin_turn(c, r);
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
    int32_t tree = 0;
    for (int t = 0; t < s->ntypes; t++) {
        ftb_type_vertices *v = &s->type[t];
        v->count = seeds[t].count;
        v->vertices = ftb_new(ctx, v->count, sizeof *v->vertices);
        v->found = ftb_new0(ctx, (int64_t)s->nhops + 1, sizeof *v->found);
        v->trees = c->options.disjoint ? ftb_new(ctx, v->count, sizeof *v->trees) : NULL;
        if (!v->vertices || !v->found || (c->options.disjoint && !v->trees))
            return ftb_nomem();
        for (int64_t n = 0; n < v->count && v->trees; n++)
            v->trees[n] = tree++;
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

/* A tree's draws follow from its seed vertex, and from this one's type, but for the first. */
static void seed_trees(const call *c, uint64_t seed)
{
    int64_t tree = 0;
    for (int t = 0; t < c->sample->ntypes && c->tree_seeds; t++) {
        const ftb_type_vertices *v = &c->sample->type[t];
        const uint64_t of_type = t > 0 ? ftb_random_mix(seed, (uint64_t)t, FTB_DRAW_RELATION) : seed;
        for (int64_t n = 0; n < v->found[0]; n++)
            c->tree_seeds[tree++] = ftb_random_mix(of_type, (uint64_t)v->vertices[n], FTB_DRAW_TREE);
    }
}

static GrB_Info pick(call *c, int r, int hop)
{
    turn *t = &c->turns[r];
    const ftb_type_vertices *rows = &c->sample->type[c->list->relation[r].destination];
    ftb_sample_product *p = &t->selector.product;
    const uint64_t seed = p->seed;
    t->row0 = c->options.once && hop > 0 ? rows->count - rows->found[hop] : 0;
    t->nrows = rows->count - t->row0;
    p->stream = ftb_draw_stream(&p->seed, (uint64_t)c->options.batch, (uint64_t)hop);
    seed_trees(c, p->seed);
    if (rows->trees) {
        p->seeds = c->tree_seeds;
        p->trees = rows->trees + t->row0;
        p->ntrees = c->nseeds;
    }
    const GrB_Info info =
        ftb_pick(&t->picks, &t->selector, rows->vertices + t->row0, t->nrows, c->fanouts[r * c->nhops + hop]);
    p->seed = seed;
    return info;
}

/* Room for the picks of all relations from a type, one after the other; numbers of the picks go along. */
typedef struct joined {
    int64_t nrows, count;
    int64_t *rowptr, *order;
    char *columns;
    int32_t *local, *trees; /* of the rows; NULL: one */
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
    j->trees = c->options.disjoint ? ftb_new(c->ctx, j->nrows, sizeof *j->trees) : NULL;
    if (!j->rowptr || !j->order || !j->columns || !j->local || (c->options.disjoint && !j->trees))
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
        const ftb_type_vertices *rows = &c->sample->type[c->list->relation[r].destination];
        for (int64_t i = 0; i < t->nrows && j->trees; i++)
            j->trees[row + i] = rows->trees[t->row0 + i];
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
                             .trees = v->trees,
                             .ntrees = c->nseeds,
                             .row_trees = j.trees,
                             .apart = c->options.apart,
                             .nrows = j.nrows,
                             .rowptr = j.rowptr,
                             .columns = j.columns,
                             .wide = ftb_col_size(c->list->type[type].count) == 8,
                             .local = j.local,
                             .entries = j.order};
    if (info == GrB_SUCCESS)
        FTB_RUN(info, FTB_WHO_FITS(c->ctx, relabel, &p), relabel, nothing, &p);
    if (info == GrB_SUCCESS) {
        ftb_delete(v->vertices);
        ftb_delete(v->trees);
        v->vertices = p.vertices;
        v->trees = p.vertex_trees;
        v->count += p.nfresh;
        v->found[hop + 1] = p.nfresh;
        info = part_picks(&j, c, type);
    }
    ftb_delete(j.trees);
    ftb_delete(j.rowptr);
    ftb_delete(j.order);
    ftb_delete(j.columns);
    ftb_delete(j.local);
    return info;
}

/* Of a relation from a type to itself. */
static GrB_Info add_self(call *c, int r)
{
    turn *t = &c->turns[r];
    const ftb_relation *of = &c->list->relation[r];
    const ftb_type_vertices *v = &c->sample->type[of->destination];
    ftb_self_rows rows = {.ctx = c->ctx,
                          .p = of->A->pattern,
                          .vertices = v->vertices,
                          .nseeds = c->options.apart || c->options.disjoint ? 0 : v->found[0],
                          .nrows = t->nrows,
                          .row0 = t->row0,
                          .rowptr = t->picks.rowptr,
                          .local = t->local,
                          .entries = t->picks.entries,
                          .scale = t->picks.scale};
    if (!c->options.self || of->source != of->destination)
        return GrB_SUCCESS;
    const GrB_Info info = ftb_sample_self(&rows);
    t->picks.rowptr = rows.rowptr;
    t->local = rows.local;
    t->picks.entries = rows.entries;
    t->picks.scale = rows.scale;
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
                                                .count = t->picks.rowptr[t->nrows],
                                                .ones = c->options.self});
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
        info = add_self(c, r);
        if (info == GrB_SUCCESS)
            of->picked[hop] = t->picks.rowptr[t->nrows];
        if (info == GrB_SUCCESS && c->options.once && hop > 0)
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
        ftb_delete(c.turns[r].excluded);
        ftb_selector_end(&c.turns[r].selector);
    }
    ftb_delete(c.turns);
    ftb_delete(c.tree_seeds);
    FtB_Relation_sample_free(&c.sample);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.ctx);
    return info;
}
