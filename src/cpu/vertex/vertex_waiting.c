/* Vertices by priority (vertex_waiting.h): bins hold them in the order of their buckets. A vertex whose
 * bucket changes while it waits comes into the new one too; where it is met again its own number says which
 * of the two counts. */
#include "cpu/vertex/vertex_waiting.h"

#include <float.h>
#include <math.h>

#define MOST 9e15                /* buckets on either side of 0: what lies beyond is the outermost one's */
#define ZERO ((int64_t)9e15 + 1) /* where bucket 0 is */

ftb_vertex_waiting *ftb_vertex_waiting_new(const ftb_vertex_work *w)
{
    ftb_vertex_waiting *q = ftb_new0(w->ctx, 1, sizeof *q);
    int64_t *bucket = ftb_new0(w->ctx, w->n, sizeof *bucket);
    if (!q || !bucket) {
        ftb_delete(q);
        ftb_delete(bucket);
        return NULL;
    }
    q->bucket = bucket;
    q->bins.arena.ctx = w->ctx;
    return q;
}

void ftb_vertex_waiting_delete(ftb_vertex_waiting *q)
{
    if (!q)
        return;
    ftb_bins_free(&q->bins);
    ftb_delete(q->bucket);
    ftb_delete(q->values.at);
    ftb_delete(q->scratch.at);
    ftb_delete(q);
}

static int64_t bucket_of(double priority, double delta)
{
    const double at = floor(priority / delta);
    return ZERO + (at < -MOST ? -(int64_t)MOST : at < MOST ? (int64_t)at : (int64_t)MOST); /* NaN: the last */
}

/* Of what lies in bins. */
static int64_t waits_for(const void *of, int64_t v)
{
    const int64_t *bucket = of;
    return bucket[v] > 0 ? bucket[v] : FTB_NO_BUCKET;
}

GrB_Info ftb_vertex_waiting_reserve(ftb_vertex_waiting *q, const ftb_vertex_work *w, int64_t count)
{
    const int64_t width = w->texts[w->priority].width;
    /* Each bin may begin a chunk; also when all are told apart again. */
    const int64_t begun = ftb_min(q->entries, FTB_BINS + 2) + ftb_min(count, FTB_BINS + 2);
    if (!ftb_vertex_need(w->ctx, &q->values, count * width, sizeof(double)) ||
        !ftb_bins_reserve(&q->bins, begun + count / FTB_BIN_CHUNK))
        return ftb_nomem();
    return GrB_SUCCESS;
}

/* values: a number for each of some vertices, in place of their text's. */
static void find_priorities(double *values, const ftb_vertex_work *w, const ftb_vertex_list *who)
{
    const ftb_vertex_text *text = &w->texts[w->priority];
    const int64_t width = text->width;
    ftb_vertex_send(w, w->priority, who, values);
    ftb_cast(values, FTB_FP64, values, text->type, who->count * width);
    for (int64_t t = 0; t < who->count; t++) {
        double least = values[t * width];
        for (int64_t f = 1; f < width; f++)
            least = fmin(least, values[t * width + f]); /* NaN only if all are */
        values[t] = least;
    }
}

static inline int64_t vertex_at(const ftb_vertex_list *v, int64_t t) { return v->list ? v->list[t] : t; }

/* Makes room below the window, for some buckets more than are asked for. */
static void lower_window(ftb_vertex_waiting *q, int64_t bucket)
{
    ftb_bins_close(&q->bins);
    (void)ftb_bins_move(&q->bins, bucket - FTB_BINS / 2, waits_for, q->bucket); /* there is room */
}

void ftb_vertex_waiting_add(ftb_vertex_waiting *q, const ftb_vertex_work *w, const ftb_vertex_list *who,
                            const uint8_t *flags)
{
    double *priority = q->values.at;
    int64_t least = INT64_MAX;
    if (who->count == 0)
        return;
    find_priorities(priority, w, who);
    for (int64_t t = 0; t < who->count; t++)
        if (!flags || flags[t] || q->bucket[vertex_at(who, t)] > 0)
            least = ftb_min(least, bucket_of(priority[t], w->delta));
    if (least < q->bins.low)
        lower_window(q, least);
    for (int64_t t = 0; t < who->count; t++) {
        const int64_t v = vertex_at(who, t), was = q->bucket[v];
        if (flags && !flags[t] && was == 0)
            continue;
        const int64_t now = bucket_of(priority[t], w->delta);
        q->count += was == 0;
        if (now == was)
            continue;
        q->bucket[v] = now;
        q->entries++;
        (void)ftb_bins_push(&q->bins, now, v); /* there is room */
    }
}

/* Those of a bucket's list that wait for it; there may be others, and some twice. */
static int64_t pick(ftb_vertex_waiting *q, int64_t bucket, int64_t *list)
{
    int64_t count = 0;
    for (ftb_bin_chunk *c = ftb_bins_take(&q->bins, bucket), *next; c; c = next) {
        next = c->next;
        for (int64_t t = 0; t < c->count; t++) {
            const int64_t v = c->at[t];
            if (q->bucket[v] != bucket)
                continue;
            q->bucket[v] = 0;
            list[count++] = v;
        }
        q->entries -= c->count;
        ftb_bins_give(&q->bins, c);
    }
    q->count -= count;
    return count;
}

GrB_Info ftb_vertex_waiting_take(ftb_vertex_waiting *q, const ftb_vertex_work *w, ftb_vertex_room *room,
                                 int64_t *count)
{
    for (*count = 0; *count == 0 && q->count > 0;) {
        int64_t bucket = ftb_bins_first(&q->bins);
        if (bucket == FTB_NO_BUCKET) {
            bucket = ftb_bins_far(&q->bins, waits_for, q->bucket);
            if (!ftb_bins_move(&q->bins, bucket, waits_for, q->bucket))
                return ftb_nomem();
        }
        const int64_t most = ftb_bins_count(&q->bins, bucket);
        if (!ftb_vertex_need(w->ctx, room, most, sizeof(int64_t)) ||
            !ftb_vertex_need(w->ctx, &q->scratch, most, sizeof(int64_t)))
            return ftb_nomem();
        *count = pick(q, bucket, room->at);
    }
    const int threads = ftb_min(w->nthreads, ftb_threads_for(w->ctx, *count));
    if (ftb_sort_by(room->at, q->scratch.at, *count, 0, ftb_vertex_bits_of(w->n), threads) == q->scratch.at) {
        const ftb_vertex_room swap = *room;
        *room = q->scratch;
        q->scratch = swap;
    }
    return GrB_SUCCESS;
}
