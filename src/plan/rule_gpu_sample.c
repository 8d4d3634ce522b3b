/* Neighbourhoods on a GPU: hop by hop, or all hops in one kernel with a queue of tasks.
 *
 *     levels    hops x (launches + waits for sizes); what picks move: by weight more of all three
 *     queue     launches + waits, once; a chain of tasks as long as there are hops; what picks move, and
 *               clearing what has room for as many as could come; counters that all warps change, one after
 *               the other
 *
 * So few seeds are the queue's, whose launches hop by hop would take longer than their work, and many are
 * done hop by hop. Vertices are expected as if picks went to all of them alike, which is more than there will
 * be. */
#include "plan/gpu_sample_plan.h"

#include <math.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SECTOR 32.0
#define SHARE 4 /* of memory, for a queue */
/* The following rest on no measurement. */
#define LAUNCH 4e-6         /* seconds of one among many, with what a small kernel takes */
#define WAIT 12e-6          /* until the host has a number, and goes on */
#define LEVEL_LAUNCHES 30.0 /* of a hop: picks, their numbers, in order */
#define LEVEL_WAITS 3.0
#define QUEUE_LAUNCHES 35.0 /* of all of them */
#define QUEUE_WAITS 3.0
#define RANDOM_SHARE 0.5      /* of the memory's bandwidth, where sectors lie anywhere */
#define PICK_SECTORS 5.0      /* of a pick: its column, its place, its number's, and the way into order */
#define TASK_SECTORS 4.0      /* of a row: its ends, its task */
#define WEIGHTED_SECTORS 2.0  /* of a pick by weight: slots of its draws, its place */
#define WEIGHTED_LAUNCHES 8.0 /* of a hop: room for its picks, draws, those of long rows, their entries */
#define WEIGHTED_WAITS 2.0    /* how much room, and whether draws were enough for all */
#define CHAIN 6e-6            /* from a task's ticket to its children being seen */
#define COUNTERS 3.0          /* changes of a counter by a warp, */
#define COUNTER_RATE 0.7      /* a clock */

static double lanes_of(const ftb_gpu_sample_facts *f)
{
    int64_t most = 0;
    for (int h = 0; h < f->nhops; h++)
        most = MAX(most, f->fanout[h]);
    return most <= 8 ? 8 : most <= 16 ? 16 : 32;
}

/* What to expect, and what there may be at most. */
static void count(ftb_gpu_sample_plan *plan, const ftb_gpu_sample_facts *f)
{
    const double vertices = (double)MAX(f->nvertices, 1), degree = (double)f->nvals / vertices;
    const double n = vertices * (double)MAX(f->ntrees, 1); /* each tree has its own */
    double known = MIN((double)f->nseeds, n), bound = known;
    plan->tasks = plan->picks = 0;
    double capacity = 0;
    for (int h = 0; h < f->nhops; h++) {
        const double k = f->fanout[h] < 0 ? degree : MIN((double)f->fanout[h], degree);
        plan->tasks += known;
        plan->picks += known * k;
        capacity += bound;
        known += (n - known) * -expm1(-known * k / n);
        bound = f->fanout[h] < 0 ? n : MIN(n, bound * (1 + (double)f->fanout[h]));
    }
    plan->capacity = (int64_t)MIN(capacity, 0x1p62);
    plan->vertices = (int64_t)bound;
}

/* Of room for tasks and their picks, and a table twice as long as it has vertices. */
static double queue_bytes(const ftb_gpu_sample_plan *plan, const ftb_gpu_sample_facts *f)
{
    int64_t most = 1;
    for (int h = 0; h < f->nhops; h++)
        most = MAX(most, f->fanout[h]);
    const double table = exp2(ceil(log2(2.0 * (double)plan->vertices + 1)));
    return (double)plan->capacity * (8 + 8 * (double)most + 12) + 12 * table + 24 * (double)plan->vertices;
}

void ftb_rule_gpu_sample(ftb_gpu_sample_plan *plan, const ftb_gpu_sample_facts *f, const ftb_gpu_facts *gpu)
{
    *plan = (ftb_gpu_sample_plan){.queue_seconds = INFINITY};
    count(plan, f);
    const double rate = gpu->memory_rate * RANDOM_SHARE;
    const double pick = PICK_SECTORS + (f->weighted ? WEIGHTED_SECTORS : 0);
    const double moving = (plan->picks * pick + plan->tasks * TASK_SECTORS) * SECTOR / rate;
    const double launches = LEVEL_LAUNCHES + (f->weighted ? WEIGHTED_LAUNCHES : 0),
                 waits = LEVEL_WAITS + (f->weighted ? WEIGHTED_WAITS : 0);
    plan->levels_seconds = f->nhops * (launches * LAUNCH + waits * WAIT) + moving;
    if (!f->fits)
        return;
    const double bytes = queue_bytes(plan, f), groups = 32 / lanes_of(f);
    plan->bytes = (int64_t)MIN(bytes, 0x1p62);
    if (plan->capacity >= INT32_MAX || (gpu->memory > 0 && bytes > (double)gpu->memory / SHARE))
        return;
    const double cleared =
        8 * (double)plan->capacity + 12 * exp2(ceil(log2(2.0 * (double)plan->vertices + 1)));
    const double counters = plan->tasks / groups * COUNTERS / (gpu->clock * COUNTER_RATE);
    plan->queue_seconds = QUEUE_LAUNCHES * LAUNCH + QUEUE_WAITS * WAIT + f->nhops * CHAIN +
                          fmax(moving, counters) + cleared / gpu->memory_rate;
    plan->queue = plan->queue_seconds < plan->levels_seconds;
}
