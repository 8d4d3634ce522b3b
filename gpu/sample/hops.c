/* Neighbourhoods of seeds on a GPU: picks, numbers, hop by hop, with nothing sent but the seeds; what is
 * waited for is how long lists become. Layers stay where they were made, and come home once, since patterns
 * are read on the host, too. */
#include "gpu/sample/hops.h"

#include "gpu/gather.h"
#include "gpu/gpu_verbs.h"
#include "gpu/scan.h"

#include <math.h>
#include <stdio.h>

bool ftb_gpu_hops_fit(const ftb_hops_product *p)
{
    const char *const sources[] = {FTB_GPU_SAMPLE_PICKS,
                                   FTB_GPU_SAMPLE_KEYS,
                                   FTB_GPU_SAMPLE_ORDER,
                                   FTB_GPU_SAMPLE_NUMBERS,
                                   FTB_GPU_SCAN,
                                   p->tables ? FTB_GPU_SAMPLE_WEIGHTED : NULL,
                                   NULL};
    if ((p->selector == FTB_SAMPLE_WEIGHTED && !p->tables) || p->nseeds == 0 || p->nhops == 0 ||
        p->nhops > FTB_HOPS_MOST)
        return false;
    for (int h = 0; h < p->nhops; h++)
        if (!ftb_gpu_picking_fits(p->p, p->selector, p->replace, p->hop[h].k))
            return false;
    return ftb_gpu_load_all(ftb_gpu_of(ftb_device(p->ctx)), sources);
}

/* ---- layers */

/* A list of the device's, of which the host will have a copy. */
static GrB_Info make_list(ftb_gpu_hops_run *run, ftb_buffer **list, void *at, int64_t count, size_t size)
{
    *list = ftb_buffer_new(run->product->ctx, ftb_max(count, 1), size);
    if (!*list)
        return ftb_nomem();
    return ftb_buffer_ask_at(*list, &run->rooms.d->row, FTB_WRITE, at);
}

GrB_Info ftb_gpu_hops_rows(ftb_gpu_hops_run *run, int h)
{
    ftb_hop *hop = &run->product->hop[h];
    return make_list(run, &hop->rowptr, &run->to[h], hop->nrows + 1, sizeof(int64_t));
}

GrB_Info ftb_gpu_hops_picks(ftb_gpu_hops_run *run, int h)
{
    const ftb_hops_product *p = run->product;
    ftb_hop *hop = &p->hop[h];
    GrB_Info info = make_list(run, &hop->columns, &run->columns[h], hop->picks, sizeof(int32_t));
    if (info == GrB_SUCCESS && (p->edges || p->values))
        info = ftb_gpu_list(&run->rooms, &run->entries[h], 8 * hop->picks);
    return info;
}

static GrB_Info come_home(ftb_buffer *list)
{
    const GrB_Info info = ftb_buffer_written(list);
    return info == GrB_SUCCESS ? ftb_buffer_ask(list, FTB_READ) : info;
}

static GrB_Info make_values(ftb_gpu_hops_run *run, int h)
{
    const ftb_hops_product *p = run->product;
    ftb_hop *hop = &p->hop[h];
    void *to;
    GrB_Info info = make_list(run, &hop->values, &to, hop->picks, (size_t)p->value_bytes);
    if (info == GrB_SUCCESS && hop->picks > 0)
        info = ftb_gpu_gather_rows(run->rooms.d, p->ctx, run->entries[h], hop->picks, run->values, to,
                                   p->value_bytes);
    return info == GrB_SUCCESS ? ftb_buffer_written(hop->values) : info;
}

GrB_Info ftb_gpu_hops_layer(ftb_gpu_hops_run *run, int h)
{
    const ftb_hops_product *p = run->product;
    ftb_hop *hop = &p->hop[h];
    GrB_Info info = come_home(hop->rowptr);
    if (info == GrB_SUCCESS)
        info = come_home(hop->columns);
    if (info == GrB_SUCCESS && p->values)
        info = make_values(run, h);
    if (info != GrB_SUCCESS || !p->edges)
        return info;
    hop->entries = ftb_new(p->ctx, hop->picks, sizeof *hop->entries);
    if (!hop->entries)
        return ftb_nomem();
    return ftb_gpu_lists_get(&run->rooms, hop->entries, run->entries[h], 8 * hop->picks);
}

GrB_Info ftb_gpu_hops_vertices(ftb_gpu_hops_run *run, ftb_gpu_vertices vertices, int64_t count)
{
    ftb_hops_product *p = run->product;
    p->nvertices = count;
    p->vertices = ftb_new(p->ctx, count, sizeof *p->vertices);
    p->vertex_trees = p->trees ? ftb_new(p->ctx, count, sizeof *p->vertex_trees) : NULL;
    if (!p->vertices || (p->trees && !p->vertex_trees))
        return ftb_nomem();
    const GrB_Info info = ftb_gpu_lists_get(&run->rooms, p->vertices, vertices.at, 8 * count);
    if (info != GrB_SUCCESS || !p->trees)
        return info;
    return ftb_gpu_lists_get(&run->rooms, p->vertex_trees, vertices.trees, 4 * count);
}

/* ---- hop by hop */

static ftb_gpu_picking picking_of(const ftb_gpu_hops_run *run, int h, ftb_gpu_vertices known)
{
    const ftb_hops_product *p = run->product;
    const ftb_hop *hop = &p->hop[h];
    return (ftb_gpu_picking){.p = p->p,
                             .selector = p->selector,
                             .k = hop->k,
                             .replace = p->replace,
                             .nrows = hop->nrows,
                             .threshold = p->threshold,
                             .seed = hop->seed,
                             .stream = hop->stream,
                             .seeds = hop->seeds,
                             .streams = hop->streams,
                             .ntrees = p->ntrees,
                             .rows = known.at,
                             .trees = known.trees,
                             .values = run->key,
                             .type = p->key_type,
                             .slots = run->slots,
                             .to = run->to[h]};
}

/* Of the vertices that are known: a longer list takes their place. */
static GrB_Info run_hop(ftb_gpu_hops_run *run, ftb_gpu_rooms *lists, ftb_gpu_vertices *known,
                        int64_t *nvertices, int h)
{
    ftb_hops_product *p = run->product;
    ftb_hop *hop = &p->hop[h];
    ftb_gpu_rooms *rooms = &run->rooms;
    ftb_gpu_picking picking;
    ftb_gpu_numbering n = {.bound = p->p->ncols,
                           .nknown = *nvertices,
                           .nrows = *nvertices,
                           .known = known->at,
                           .trees = known->trees,
                           .row_trees = known->trees,
                           .ntrees = p->ntrees};
    ftb_gpu_vertices more = {.trees = NULL};
    long long *entries = NULL;
    int *columns = NULL;
    GrB_Info info;
    hop->nrows = *nvertices;
    FTB_CHECK(ftb_gpu_hops_rows(run, h));
    picking = picking_of(run, h, *known);
    FTB_CHECK(ftb_gpu_pick_counts(rooms, &picking));
    hop->picks = picking.picks;
    FTB_CHECK(ftb_gpu_hops_picks(run, h));
    if (run->entries[h])
        FTB_CHECK(ftb_gpu_list(rooms, &entries, 8 * hop->picks));
    FTB_CHECK(ftb_gpu_list(rooms, &columns, 4 * hop->picks));
    FTB_CHECK(ftb_gpu_pick_entries(rooms, &picking, entries, columns));
    n.npicks = hop->picks;
    n.most = picking.most;
    n.to = run->to[h];
    n.columns = columns;
    n.entries = entries;
    FTB_CHECK(ftb_gpu_number_find(rooms, &n));
    hop->nfresh = n.nfresh;
    FTB_CHECK(ftb_gpu_list(lists, &more.at, 8 * (*nvertices + n.nfresh)));
    if (p->trees)
        FTB_CHECK(ftb_gpu_list(lists, &more.trees, 4 * (*nvertices + n.nfresh)));
    FTB_CHECK(ftb_gpu_number_give(rooms, &n, more, run->columns[h], run->entries[h]));
    FTB_CHECK(ftb_gpu_hops_layer(run, h));
    *known = more;
    *nvertices += n.nfresh;
done:
    ftb_gpu_rooms_free(rooms);
    return info;
}

static GrB_Info run_levels(ftb_gpu_hops_run *run)
{
    const ftb_hops_product *p = run->product;
    ftb_gpu_rooms lists = {.d = run->rooms.d, .ctx = p->ctx};
    ftb_gpu_vertices vertices = {.trees = NULL};
    int64_t count = p->nseeds;
    GrB_Info info = ftb_gpu_list_of(&lists, &vertices.at, p->seeds, 8 * count);
    if (info == GrB_SUCCESS && p->trees)
        info = ftb_gpu_list_of(&lists, &vertices.trees, p->trees, 4 * count);
    for (int h = 0; h < p->nhops && info == GrB_SUCCESS; h++) {
        info = ftb_check_cancelled(p->ctx);
        if (info == GrB_SUCCESS)
            info = run_hop(run, &lists, &vertices, &count, h);
    }
    if (info == GrB_SUCCESS)
        info = ftb_gpu_hops_vertices(run, vertices, count);
    ftb_gpu_rooms_free(&lists);
    return info;
}

/* ---- either way */

static void plan(ftb_gpu_hops_run *run)
{
    const ftb_hops_product *p = run->product;
    const ftb_gpu_facts gpu = ftb_gpu_planned(run->rooms.d);
    ftb_gpu_sample_facts f = {.nseeds = p->nseeds,
                              .nvertices = p->p->nrows,
                              .nvals = p->p->nvals,
                              .ntrees = p->trees ? p->trees[p->nseeds - 1] + INT64_C(1) : 1,
                              .nhops = p->nhops,
                              .weighted = p->tables != NULL,
                              .fits = ftb_gpu_hops_queue_fits(p)};
    for (int h = 0; h < p->nhops; h++)
        f.fanout[h] = p->hop[h].k;
    ftb_rule_gpu_sample(&run->plan, &f, &gpu);
    const bool can = run->plan.queue_seconds < INFINITY;
    if (p->way != FTB_HOPS_PLANNED && can)
        run->plan.queue = p->way == FTB_HOPS_QUEUE;
}

static void say(const ftb_gpu_hops_run *run)
{
    const ftb_gpu_sample_plan *s = &run->plan;
    char queue[40] = "cannot be";
    if (s->queue_seconds < INFINITY)
        snprintf(queue, sizeof queue, "%.2g ms", 1e3 * s->queue_seconds);
    else if (run->product->tables || run->product->trees)
        snprintf(queue, sizeof queue, "cannot be %s", run->product->tables ? "by weight" : "of trees");
    snprintf(run->product->text, sizeof run->product->text,
             "on %s, %s; about %.3g picks of %.3g rows; predicted: hop by hop %.2g ms, in one kernel %s",
             run->rooms.d->gpu->label, s->queue ? "all hops in one kernel" : "hop by hop", s->picks, s->tasks,
             1e3 * s->levels_seconds, queue);
}

static GrB_Info ask(ftb_gpu_hops_run *run)
{
    ftb_hops_product *p = run->product;
    const ftb_backend *where = &run->rooms.d->row;
    const int64_t *rowptr;
    const void *colidx;
    void *at;
    GrB_Info info;
    FTB_CHECK(ftb_pattern_ask_at(p->p, where, &rowptr, &colidx));
    run->rowptr = (const long long *)rowptr;
    run->colidx = colidx;
    if (p->key) {
        FTB_CHECK(ftb_buffer_ask_at(p->key, where, FTB_READ, &at));
        run->key = at;
    }
    if (p->tables) {
        FTB_CHECK(ftb_buffer_ask_at(p->tables, where, FTB_READ, &at));
        run->slots = at;
    }
    if (p->values) {
        FTB_CHECK(ftb_buffer_ask_at(p->values, where, FTB_READ, &at));
        run->values = at;
    }
done:
    return info;
}

static void forget(ftb_hops_product *p)
{
    for (int h = 0; h < p->nhops; h++) {
        ftb_hop *hop = &p->hop[h];
        ftb_buffer_release(hop->rowptr);
        ftb_buffer_release(hop->columns);
        ftb_buffer_release(hop->values);
        ftb_delete(hop->entries);
        *hop = (ftb_hop){.k = hop->k,
                         .seed = hop->seed,
                         .stream = hop->stream,
                         .seeds = hop->seeds,
                         .streams = hop->streams};
    }
    ftb_delete(p->vertices);
    ftb_delete(p->vertex_trees);
    p->vertices = NULL;
    p->vertex_trees = NULL;
}

GrB_Info ftb_gpu_hops(ftb_hops_product *p)
{
    ftb_gpu_hops_run run = {.product = p, .rooms = {.d = ftb_gpu_of(ftb_device(p->ctx)), .ctx = p->ctx}};
    plan(&run);
    GrB_Info info = ask(&run);
    if (info == GrB_SUCCESS && run.plan.queue) {
        info = ftb_gpu_hops_queue(&run);
        ftb_gpu_rooms_free(&run.rooms);
        if (info == FTB_NO_DEVICE) { /* there was no room for it */
            forget(p);
            run.plan.queue = false;
            info = GrB_SUCCESS;
        }
    }
    if (info == GrB_SUCCESS && !run.plan.queue)
        info = run_levels(&run);
    if (info != GrB_SUCCESS)
        forget(p);
    say(&run);
    return info;
}
