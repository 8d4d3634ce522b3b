/* Topological levels by counting: a vertex is let go when the last of those that it waits for has been.
 * Levels are done one after the other, large ones by all threads, which count down together: who comes to 0
 * does not depend on who counts. Kahn, "Topological sorting of large networks", CACM 1962. */
#include "cpu/graph/topological_run.h"

#include "core/column_counts.h"

enum {
    FOUND = 256,  /* vertices of a thread before they are listed */
    ROWS = 64,    /* of a part */
    SMALL = 8192, /* entries: a level of fewer is one thread's */
};

typedef struct counting {
    ftb_topological *w;
    uint32_t *waits;  /* for so many */
    atomic_llong end; /* of the order */
} counting;

static int64_t entries_of(const counting *c, int64_t first, int64_t end)
{
    int64_t sum = 0;
    for (int64_t t = first; t < end; t++)
        sum += c->w->p->rowptr[c->w->order[t] + 1] - c->w->p->rowptr[c->w->order[t]];
    return sum;
}

static void list(counting *c, const int64_t *found, int64_t count)
{
    const int64_t at = atomic_fetch_add_explicit(&c->end, count, memory_order_relaxed);
    memcpy(c->w->order + at, found, (size_t)count * sizeof *found);
}

/* Those who wait for order[first .. end - 1] count down; `alone`: nobody else does meanwhile. */
static inline __attribute__((always_inline)) void let_go(counting *c, int64_t level, int64_t first,
                                                         int64_t end, const bool alone)
{
    const ftb_pattern *p = c->w->p;
    int64_t found[FOUND], count = 0;
    for (int64_t t = first; t < end; t++) {
        const int64_t u = c->w->order[t];
        c->w->level[u] = level;
        for (int64_t e = p->rowptr[u]; e < p->rowptr[u + 1]; e++) {
            uint32_t *waits = &c->waits[ftb_col(p, e)];
            const uint32_t left = alone ? --*waits : __atomic_sub_fetch(waits, 1, __ATOMIC_RELAXED);
            if (left > 0)
                continue;
            found[count++] = ftb_col(p, e);
            if (count == FOUND) {
                list(c, found, count);
                count = 0;
            }
        }
    }
    list(c, found, count);
}

static void do_level(counting *c, int64_t level, int64_t first, int64_t end)
{
    const int64_t entries = entries_of(c, first, end);
    const int threads = entries < SMALL ? 1 : ftb_threads_for(c->w->ctx, entries);
    if (threads == 1) {
        let_go(c, level, first, end, true);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t part = 0; part < (end - first + ROWS - 1) / ROWS; part++)
        let_go(c, level, first + part * ROWS, ftb_min(first + (part + 1) * ROWS, end), false);
}

/* Who waits for nobody. */
static GrB_Info begin(counting *c)
{
    int64_t end = 0;
    ftb_column_counts(c->waits, c->w->p, c->w->ctx);
    for (int64_t v = 0; v < c->w->p->nrows; v++) {
        if (c->waits[v] == UINT32_MAX) /* or more */
            return ftb_fail(FTB_LIMIT, "A: column %lld has 2^32 - 1 entries or more", (long long)v);
        c->w->level[v] = -1;
        if (c->waits[v] == 0)
            c->w->order[end++] = v;
    }
    atomic_init(&c->end, end);
    return GrB_SUCCESS;
}

GrB_Info ftb_topological_run(ftb_topological *w)
{
    counting c = {.w = w, .waits = ftb_new(w->ctx, w->p->nrows, sizeof *c.waits)};
    if (!c.waits)
        return ftb_nomem();
    GrB_Info info = begin(&c);
    w->nlevels = 0;
    for (int64_t first = 0, end; info == GrB_SUCCESS && (end = atomic_load(&c.end)) > first; first = end) {
        do_level(&c, w->nlevels++, first, end);
        if (ftb_cancelled(w->ctx))
            break;
    }
    if (info == GrB_SUCCESS)
        info = ftb_check_cancelled(w->ctx);
    w->nordered = info == GrB_SUCCESS ? atomic_load(&c.end) : 0;
    ftb_delete(c.waits);
    return info;
}
