/* All hops of a neighbourhood in one kernel (kernels/sample_queue.cuh), and layers of what its tasks picked:
 * new vertices are numbered by the hop that found them and then ascending, which gives the numbers that hop
 * after hop would have given. Two numbers are waited for, whatever the hops: how many vertices and tasks
 * there are, and how long each layer is. */
#include "gpu/sample/hops.h"

#include <limits.h>
#include <stdio.h>

#define BLOCKS 4           /* of a multiprocessor: as many warps as registers allow wait for memory there */
#define PATIENCE (1 << 26) /* looks, of 100 ns and more: seconds, in which no kernel has nothing to do */

typedef struct queue {
    ftb_gpu_hops_run *run;
    ftb_queue_arguments a;
    ftb_queue_layers l;
    int lanes;
} queue;

bool ftb_gpu_hops_queue_fits(const ftb_hops_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    if (p->selector != FTB_SAMPLE_UNIFORM || p->trees || p->nhops > FTB_QUEUE_HOPS)
        return false;
    for (int h = 0; h < p->nhops; h++)
        if (p->hop[h].k < 0 || p->hop[h].k > FTB_SAMPLE_LANES)
            return false;
    return ftb_gpu_load(d, FTB_GPU_SAMPLE_QUEUE) == GrB_SUCCESS;
}

static GrB_Info step(queue *q, const char *kernel, int64_t threads)
{
    return ftb_gpu_step(&q->run->rooms, FTB_GPU_SAMPLE_QUEUE, kernel, threads, (void *[]){&q->a, &q->l});
}

/* Room as the plan has it, with nothing in it. */
static GrB_Info prepare(queue *q)
{
    const ftb_hops_product *p = q->run->product;
    ftb_gpu_rooms *rooms = &q->run->rooms;
    ftb_queue_arguments *a = &q->a;
    const int64_t capacity = q->run->plan.capacity;
    GrB_Info info;
    *a = (ftb_queue_arguments){.rowptr = q->run->rowptr,
                               .colidx = q->run->colidx,
                               .nseeds = p->nseeds,
                               .nhops = p->nhops,
                               .most = 1,
                               .replace = p->replace,
                               .patience = PATIENCE,
                               .capacity = capacity};
    for (int h = 0; h < p->nhops; h++) {
        const ftb_hop *hop = &p->hop[h];
        a->hop[h] = (ftb_queue_hop){.seed = hop->seed, .stream = hop->stream, .k = (int)hop->k};
        a->most = (int)ftb_max(a->most, hop->k);
    }
    q->lanes = a->most <= 8 ? 8 : a->most <= 16 ? 16 : 32;
    FTB_CHECK(ftb_gpu_list_of(rooms, &a->seeds, p->seeds, 8 * p->nseeds));
    FTB_CHECK(ftb_gpu_table(rooms, &a->table, q->run->plan.vertices));
    FTB_CHECK(ftb_gpu_list(rooms, &a->reached, 4 * ((int64_t)a->table.mask + 1)));
    FTB_CHECK(ftb_gpu_list(rooms, &a->tasks, 8 * capacity));
    FTB_CHECK(ftb_gpu_list(rooms, &a->places, 4 * capacity * a->most));
    FTB_CHECK(ftb_gpu_list(rooms, &a->positions, 4 * capacity * a->most));
    FTB_CHECK(ftb_gpu_list(rooms, &a->found, 4 * q->run->plan.vertices));
    FTB_CHECK(ftb_gpu_list(rooms, &a->counters, sizeof *a->counters));
    FTB_CHECK(ftb_gpu_zeros(rooms, a->reached, ((int64_t)a->table.mask + 1) / 2));
    FTB_CHECK(ftb_gpu_ones(rooms, a->tasks, capacity));
    FTB_CHECK(ftb_gpu_zeros(rooms, a->counters, sizeof *a->counters / 8));
done:
    return info;
}

/* Does all tasks; then how many there were, and how many vertices. */
static GrB_Info run_tasks(queue *q)
{
    const ftb_hops_product *p = q->run->product;
    const ftb_gpu_device *d = q->run->rooms.d;
    const int64_t groups = FTB_QUEUE_BLOCK / q->lanes,
                  blocks = ftb_min((int64_t)BLOCKS * ftb_max(1, d->facts.multiprocessors),
                                   (q->run->plan.capacity + groups - 1) / groups);
    ftb_queue_counters c;
    char name[32];
    GrB_Info info;
    FTB_CHECK(ftb_gpu_step(&q->run->rooms, FTB_GPU_SAMPLE_QUEUE, "sample_queue_seeds", p->nseeds,
                           (void *[]){&q->a}));
    snprintf(name, sizeof name, "sample_queue_%d", q->lanes);
    FTB_CHECK(ftb_gpu_launch(q->run->rooms.d, p->ctx, FTB_GPU_SAMPLE_QUEUE, name,
                             (ftb_gpu_grid){.x = blocks, .y = 1, .threads = FTB_QUEUE_BLOCK},
                             (void *[]){&q->a}));
    FTB_CHECK(ftb_gpu_lists_get(&q->run->rooms, &c, q->a.counters, sizeof c));
    if (c.stuck.value)
        info = ftb_fail(FTB_NO_DEVICE, "a queue of %lld tasks was too short", (long long)q->a.capacity);
    q->l.ntasks = (int64_t)c.tail.value;
    q->l.nfresh = (int64_t)c.found.value;
done:
    return info;
}

/* Numbers for new vertices, the list of all, and where each layer's rows begin among those of all. */
static GrB_Info number(queue *q, long long **vertices)
{
    ftb_hops_product *p = q->run->product;
    ftb_gpu_rooms *rooms = &q->run->rooms;
    ftb_queue_layers *l = &q->l;
    unsigned long long news[FTB_QUEUE_HOPS];
    ftb_gpu_order order = {.with = q->a.found, .n = l->nfresh};
    int64_t known = p->nseeds;
    GrB_Info info;
    FTB_CHECK(ftb_gpu_list(rooms, &l->keys, 8 * l->nfresh));
    FTB_CHECK(ftb_gpu_list(rooms, &l->news, 8 * p->nhops));
    FTB_CHECK(ftb_gpu_zeros(rooms, l->news, p->nhops));
    FTB_CHECK(step(q, "sample_queue_keys", l->nfresh));
    order.keys = l->keys;
    FTB_CHECK(ftb_gpu_order_by(rooms, &order, ftb_gpu_bits(p->p->ncols), ftb_gpu_bits(p->nhops)));
    FTB_CHECK(ftb_gpu_list(rooms, vertices, 8 * (p->nseeds + l->nfresh)));
    ftb_number_arguments n = {.table = q->a.table,
                              .known = q->a.seeds,
                              .nknown = p->nseeds,
                              .keys = order.keys,
                              .with = order.with,
                              .nfresh = l->nfresh,
                              .vertices = *vertices};
    FTB_CHECK(
        ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, "sample_give", p->nseeds + l->nfresh, (void *[]){&n}));
    FTB_CHECK(ftb_gpu_lists_get(rooms, news, l->news, 8 * p->nhops));
    l->vertices = *vertices;
    for (int h = 0; h < p->nhops; h++) {
        l->known[h] = known;
        l->first[h + 1] = l->first[h] + known;
        p->hop[h].nrows = known;
        p->hop[h].nfresh = (int64_t)news[h];
        known += p->hop[h].nfresh;
    }
done:
    return info;
}

static GrB_Info write_layers(queue *q)
{
    ftb_hops_product *p = q->run->product;
    ftb_gpu_rooms *rooms = &q->run->rooms;
    ftb_queue_layers *l = &q->l;
    const int64_t rows = l->first[p->nhops];
    int64_t totals[FTB_QUEUE_HOPS + 1];
    char name[32];
    GrB_Info info;
    FTB_CHECK(ftb_gpu_list(rooms, &l->task, 4 * rows));
    FTB_CHECK(ftb_gpu_list(rooms, &l->to, 8 * (rows + 1)));
    FTB_CHECK(ftb_gpu_list(rooms, &l->totals, 8 * (p->nhops + 1)));
    FTB_CHECK(step(q, "sample_queue_tasks", l->ntasks));
    FTB_CHECK(step(q, "sample_queue_counts", rows));
    FTB_CHECK(ftb_gpu_list_sums(rooms, l->to, rows));
    FTB_CHECK(step(q, "sample_queue_totals", p->nhops + 1));
    FTB_CHECK(ftb_gpu_lists_get(rooms, totals, l->totals, 8 * (p->nhops + 1)));
    for (int h = 0; h < p->nhops; h++) {
        p->hop[h].picks = totals[h + 1] - totals[h];
        FTB_CHECK(ftb_gpu_hops_rows(q->run, h));
        FTB_CHECK(ftb_gpu_hops_picks(q->run, h));
        l->rowptr[h] = q->run->to[h];
        l->columns[h] = q->run->columns[h];
        l->entries[h] = q->run->entries[h];
    }
    snprintf(name, sizeof name, "sample_queue_rows_%d", q->lanes);
    FTB_CHECK(step(q, name, rows * q->lanes));
    for (int h = 0; h < p->nhops; h++)
        FTB_CHECK(ftb_gpu_hops_layer(q->run, h));
done:
    return info;
}

GrB_Info ftb_gpu_hops_queue(ftb_gpu_hops_run *run)
{
    queue q = {.run = run};
    long long *vertices = NULL;
    GrB_Info info = prepare(&q);
    if (info == GrB_SUCCESS)
        info = run_tasks(&q);
    if (info == GrB_SUCCESS)
        info = number(&q, &vertices);
    if (info == GrB_SUCCESS)
        info = write_layers(&q);
    if (info == GrB_SUCCESS)
        info =
            ftb_gpu_hops_vertices(run, (ftb_gpu_vertices){.at = vertices}, run->product->nseeds + q.l.nfresh);
    return info;
}
