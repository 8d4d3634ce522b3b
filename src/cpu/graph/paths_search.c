/* Shortest paths of one column, bucket by bucket: the lists of the lowest are walked until they are empty. A
 * list of many edges is shared out by chunks; a short one is walked by one thread, which costs less than to
 * wait for others.
 *
 * Who is lowered when depends on the threads, and what is left in the end does not: adding a length that is
 * not negative keeps the order of two distances, also rounded, so that distances fall to the least sum of any
 * path, and stop there. */
#include "cpu/graph/paths_run.h"

#include <math.h>
#include <omp.h>

#define FEW 16384 /* edges that one thread walks alone: some 60 us */

typedef struct search {
    FtB_Context ctx;
    ftb_paths *x;
    ftb_bins *bins; /* of each thread */
    int threads;
    ftb_bin_chunk **chunk; /* of the list at hand */
    int64_t chunks, room;
} search;

static inline double dist_at(const ftb_paths *x, int64_t v)
{
    return x->wide ? ((const ftb_distance *)x->dist)[v] : (double)((const ftb_few_distance *)x->dist)[v];
}

/* Of what waits behind the window: by now it may have been walked already. */
static int64_t waits_for(const void *of, int64_t v)
{
    const ftb_paths *x = of;
    const int64_t bucket = ftb_paths_bucket(x, dist_at(x, v));
    return bucket <= x->passed ? FTB_NO_BUCKET : bucket;
}

/* The lowest bucket of all threads. */
static GrB_Info find_lowest(const search *s, int64_t *lowest)
{
    *lowest = FTB_NO_BUCKET;
    for (int t = 0; t < s->threads; t++)
        *lowest = ftb_min(*lowest, ftb_bins_first(&s->bins[t]));
    if (*lowest != FTB_NO_BUCKET)
        return GrB_SUCCESS;
    for (int t = 0; t < s->threads; t++)
        *lowest = ftb_min(*lowest, ftb_bins_far(&s->bins[t], waits_for, s->x));
    for (int t = 0; t < s->threads && *lowest != FTB_NO_BUCKET; t++)
        if (!ftb_bins_move(&s->bins[t], *lowest, waits_for, s->x))
            return ftb_nomem();
    return GrB_SUCCESS;
}

/* Edges of a chunk's vertices, no more than are asked about. */
static int64_t count_edges(const search *s, const ftb_bin_chunk *c, int64_t most)
{
    int64_t edges = 0;
    for (int64_t t = 0; t < c->count && edges <= most; t++)
        edges += s->x->rowptr[c->at[t] + 1] - s->x->rowptr[c->at[t]];
    return edges;
}

/* The bucket's lists, of all threads, become one. */
static GrB_Info collect(search *s, int64_t bucket, bool *many)
{
    int64_t edges = 0;
    s->chunks = 0;
    for (int t = 0; t < s->threads; t++)
        for (ftb_bin_chunk *c = ftb_bins_take(&s->bins[t], bucket); c; c = c->next) {
            if (s->chunks == s->room) {
                const int64_t more = ftb_max(1024, 2 * s->room);
                ftb_bin_chunk **larger = ftb_new(s->ctx, more, sizeof(ftb_bin_chunk *));
                if (!larger)
                    return ftb_nomem();
                if (s->chunk)
                    memcpy(larger, s->chunk, (size_t)s->chunks * sizeof *larger);
                ftb_delete(s->chunk);
                s->chunk = larger;
                s->room = more;
            }
            s->chunk[s->chunks++] = c;
            edges += edges > FEW || s->threads == 1 ? 0 : count_edges(s, c, FEW);
        }
    *many = s->threads > 1 && s->chunks > 1 && edges > FEW;
    return GrB_SUCCESS;
}

static bool walk_one(const search *s, int64_t c, int64_t bucket, bool shared)
{
    ftb_bins *own = &s->bins[shared ? omp_get_thread_num() : 0];
    ftb_bin_chunk *chunk = s->chunk[c];
    const ftb_bin_chunk *after = c + 1 < s->chunks && !shared ? s->chunk[c + 1] : NULL;
    const bool done = (s->x->wide ? FTB_PICK(ftb_paths_walk_f64)
                                  : FTB_PICK(ftb_paths_walk_f32))(s->x, own, chunk, after, bucket, shared);
    ftb_bins_give(own, chunk);
    return done;
}

static GrB_Info walk_list(const search *s, int64_t bucket, bool many)
{
    atomic_bool stopped = false;
    ftb_paths_failure failure = {.info = GrB_SUCCESS};
    if (!many)
        for (int64_t c = 0; c < s->chunks && !ftb_stops(s->ctx, &stopped); c++) {
            if (!walk_one(s, c, bucket, false))
                return ftb_nomem();
        }
    else {
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, 1)
        for (int64_t c = 0; c < s->chunks; c++)
            if (!ftb_stops(s->ctx, &stopped) && !ftb_paths_failed(&failure) && !walk_one(s, c, bucket, true))
                ftb_paths_note(&failure, ftb_nomem());
    }
    const GrB_Info info = ftb_paths_raise(&failure);
    return info == GrB_SUCCESS ? ftb_check_stopped(s->ctx, &stopped) : info;
}

/* Who begins waits behind the window. */
static GrB_Info begin(const search *s, const ftb_paths_begin *from)
{
    const int64_t count = from->start ? from->nstart : s->x->n;
    double least = (double)INFINITY;
    s->x->passed = -1;
    for (int64_t t = 0; t < count; t++) {
        const int64_t v = from->start ? from->start[t] : t;
        const double dist = dist_at(s->x, v);
        if (!(dist < (double)INFINITY) || (from->due && !(from->due[v].columns >> from->column & 1)))
            continue;
        least = fmin(least, dist);
        if (!ftb_bins_put(&s->bins[0], &s->bins[0].far, v))
            return ftb_nomem();
    }
    s->x->base = least;
    return GrB_SUCCESS;
}

GrB_Info ftb_paths_search(FtB_Context ctx, ftb_paths *x, const ftb_paths_begin *from, ftb_bins *bins,
                          int threads)
{
    search s = {.ctx = ctx, .x = x, .bins = bins, .threads = threads};
    int64_t bucket = 0, walked = 0;
    bool many = false;
    GrB_Info info = begin(&s, from);
    while (info == GrB_SUCCESS && (from->most == 0 || walked < from->most)) {
        info = find_lowest(&s, &bucket);
        if (info != GrB_SUCCESS || bucket == FTB_NO_BUCKET)
            break;
        x->passed = bucket;
        info = collect(&s, bucket, &many);
        for (int64_t c = 0; c < s.chunks && from->most; c++)
            walked += count_edges(&s, s.chunk[c], from->most);
        if (info == GrB_SUCCESS)
            info = walk_list(&s, bucket, many);
    }
    ftb_delete(s.chunk);
    return info;
}
