/* Picks of rows by draws through tables that are there, or all alike of what is there (row_draws.h): sixteen
 * rows at a time.
 *
 * What takes time is where draws point: a place of a table, and the column of the entry that it gives, lie
 * anywhere in memory. So the first draws of sixteen rows are made together, and their places fetched; while
 * they come, the sixteen rows before get their picks, and their columns are fetched; while these come, the
 * columns of those before them are put down. */
#include "cpu/kernels/sample_kernels.h"
#include "cpu/sample/row_draws.h"

#include <omp.h>

#define GROUPS 16   /* of sixteen rows, that a thread takes at a time */
#define ROW_WORK 16 /* a row costs as much as so many entries of other operations, and so does a pick */
#define MORE 2      /* draws beyond the picks, that are made with them */

typedef struct group {
    int64_t first, count; /* rows */
    int64_t ndrawn;       /* of each */
    uint32_t place[FTB_PICK_ROWS * FTB_PICK_MOST], fraction[FTB_PICK_ROWS * FTB_PICK_MOST];
} group;

typedef struct drawer { /* of one thread */
    _Alignas(FTB_LINE) ftb_row_draws draws;
    group group[2];
    int64_t *counts;        /* of all rows' picks */
    int64_t first, fetched; /* rows whose picks' columns are on their way */
    int64_t work;
    bool bad; /* a row has no table */
} drawer;

static inline int64_t row_begin(const ftb_sample_product *s, int64_t r)
{
    return s->p->rowptr[ftb_sample_row(s, r)];
}

/* Makes draws of rows from `first` on, and fetches what they point at. */
static void propose(drawer *w, group *g, int64_t first, int64_t count)
{
    const ftb_sample_product *s = w->draws.s;
    const ftb_alias_slot *tables = s->tables;
    ftb_pick_rows rows = {.degree = {0}};
    bool some = false;
    g->first = first;
    g->count = count;
    g->ndrawn = 0;
    for (int l = 0; l < count; l++) {
        const int64_t degree = ftb_sample_degree(s, first + l);
        rows.vertex[l] = (uint64_t)ftb_sample_row(s, first + l);
        rows.seed[l] = ftb_sample_seed(s, first + l);
        rows.stream[l] = ftb_sample_stream(s, first + l);
        rows.degree[l] = (uint32_t)degree;
        some |= degree > 0 && (s->replace || degree > s->k);
    }
    if (!some || s->k <= 0 || s->k > FTB_PICK_MOST - MORE)
        return;
    g->ndrawn = (s->k + (s->replace ? 0 : MORE) + 3) / 4 * 4;
    for (int64_t d = 0; d < g->ndrawn; d += 4)
        FTB_PICK(ftb_pick_places)
    (g->place + d * FTB_PICK_ROWS, g->fraction + d * FTB_PICK_ROWS, &rows, (uint64_t)d / 4);
    for (int l = 0; l < count; l++) {
        const int64_t begin = row_begin(s, first + l);
        for (int64_t d = 0; d < g->ndrawn && (s->replace || rows.degree[l] > (uint64_t)s->k); d++) {
            const int64_t e = begin + g->place[d * FTB_PICK_ROWS + l];
            __builtin_prefetch(tables ? (const void *)&tables[e] : s->times ? &s->times[e] : NULL);
        }
    }
}

/* Columns of picks that were fetched. */
static void put_columns(drawer *w)
{
    const ftb_sample_product *s = w->draws.s;
    for (int64_t r = w->first; r < w->first + w->fetched; r++)
        for (int64_t t = s->rowptr[r]; t < s->rowptr[r] + w->counts[r]; t++)
            ftb_sample_put_column(s, t);
    w->fetched = 0;
}

/* Picks of the rows of a group, whose columns are fetched. */
static void pick(drawer *w, const group *g)
{
    const ftb_sample_product *s = w->draws.s;
    const ftb_alias_slot *tables = s->tables;
    const char *columns = s->p->colidx;
    const int size = s->p->wide ? 8 : 4;
    for (int l = 0; l < g->count; l++) {
        const int64_t r = g->first + l, begin = row_begin(s, r);
        int64_t *place = s->entries + s->rowptr[r];
        const ftb_alias_slot *slots = tables ? tables + begin : NULL;
        if (ftb_sample_degree(s, r) > INT32_MAX ||
            (slots && ftb_sample_degree(s, r) > 0 && slots->other < 0)) {
            w->bad = true;
            continue;
        }
        w->counts[r] =
            ftb_draw_row(&w->draws, r, slots, (ftb_drawn){g->ndrawn, g->place + l, g->fraction + l}, place);
        for (int64_t t = 0; t < w->counts[r]; t++) {
            place[t] += begin;
            __builtin_prefetch(columns + place[t] * size);
        }
        w->work += 1 + w->counts[r];
    }
    put_columns(w); /* of the group before */
    w->first = g->first;
    w->fetched = g->count;
}

static void pick_part(drawer *w, int64_t first, int64_t end)
{
    const ftb_sample_product *s = w->draws.s;
    int now = 0;
    for (int64_t r = first; s->rows && r < end; r++)
        __builtin_prefetch(&s->p->rowptr[s->rows[r]]);
    for (int64_t r = first; r < end; r += FTB_PICK_ROWS, now ^= 1) {
        propose(w, &w->group[now], r, ftb_min(end - r, FTB_PICK_ROWS));
        if (r > first)
            pick(w, &w->group[now ^ 1]);
    }
    pick(w, &w->group[now ^ 1]);
    put_columns(w);
}

GrB_Info ftb_sample_by_draws(const ftb_sample_product *s, bool *bad)
{
    enum { CHUNK = GROUPS * FTB_PICK_ROWS };
    GrB_Info info = GrB_SUCCESS;
    const int threads = ftb_threads_for(s->ctx, ROW_WORK * (s->nrows + s->rowptr[s->nrows]));
    drawer *drawers = ftb_new0(s->ctx, threads, sizeof *drawers);
    int64_t *counts = ftb_new0(s->ctx, s->nrows, sizeof *counts);
    atomic_bool stopped = false;
    *bad = false;
    if (!drawers || !counts)
        FTB_CHECK(ftb_nomem());
    for (int t = 0; t < threads; t++) {
        drawers[t].draws.s = s;
        drawers[t].counts = counts;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < s->nrows; first += CHUNK)
        if (!ftb_stops(s->ctx, &stopped))
            pick_part(&drawers[omp_get_thread_num()], first, ftb_min(s->nrows, first + CHUNK));
    for (int t = 0; t < threads; t++) {
        *bad |= drawers[t].bad;
        if (drawers[t].draws.failed)
            info = ftb_nomem();
        if (s->work)
            *s->work += drawers[t].work;
    }
    if (info == GrB_SUCCESS && !*bad) {
        info = ftb_check_stopped(s->ctx, &stopped);
        ftb_sample_close(s, counts);
    }
done:
    for (int t = 0; drawers && t < threads; t++)
        ftb_delete(drawers[t].draws.scratch);
    ftb_delete(drawers);
    ftb_delete(counts);
    return info;
}
