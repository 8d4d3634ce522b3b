/* Triangles by degree order: vertices are renamed to places by falling degree, and an edge stands in the row
 * of its later place alone, so that no row is longer than sqrt(2 edges). A triangle r > v > w is then met
 * once: w is in the row of v, which is in the row of r, whose columns have a mark. Marks and counts of the
 * first places, which most columns are, stay in the nearest cache, and nothing depends on a guess: what is
 * added is the mark. Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", SIAM J. Comput. 1985;
 * Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs", 2008.
 *
 * Of entries, an edge counts twice that has both directions: the mark of w is what the edge of w and r
 * counts, which v has between its neighbours. */
#include "cpu/graph/triangles_run.h"

#include "cpu/entries/keep_run.h"

#include <omp.h>

typedef struct ordered {
    const ftb_triangles *w;
    const ftb_pattern *p, *t; /* t: p's transpose, whose rows are merged with p's; NULL: the same */
    int64_t n;
    int32_t *vertex, *place; /* at each place; of each vertex */
    ftb_pattern *later;      /* row r: neighbours at places behind r, in no order */
    ftb_pattern *rows;       /* its transpose: neighbours at places before r, ascending */
    uint8_t *weight, *ahead; /* entries of p that an edge of rows, and of `later`, stands for; NULL: one */
} ordered;

/* ---- places */

static int64_t about_degree(const ordered *g, int64_t v)
{
    return g->p->rowptr[v + 1] - g->p->rowptr[v] + (g->t ? g->t->rowptr[v + 1] - g->t->rowptr[v] : 0);
}

static GrB_Info order_vertices(ordered *g)
{
    enum { VERTEX_BITS = 31 };
    const FtB_Context ctx = g->w->ctx;
    const int threads = ftb_threads_for(ctx, g->n);
    uint64_t *words = ftb_new(ctx, g->n, sizeof *words), *scratch = ftb_new(ctx, g->n, sizeof *words);
    int64_t most = 0;
    g->vertex = ftb_new(ctx, g->n, sizeof *g->vertex);
    g->place = ftb_new(ctx, g->n, sizeof *g->place);
    const bool room = words && scratch && g->vertex && g->place;
    for (int64_t v = 0; v < g->n && room; v++)
        most = ftb_max(most, about_degree(g, v));
    for (int64_t v = 0; v < g->n && room; v++)
        words[v] = (uint64_t)(most - about_degree(g, v)) << VERTEX_BITS | (uint64_t)v;
    if (room) {
        const int high = 64 - __builtin_clzll((unsigned long long)most | 1);
        const uint64_t *sorted = ftb_sort_by(words, scratch, g->n, VERTEX_BITS, VERTEX_BITS + high, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t r = 0; r < g->n; r++) {
            g->vertex[r] = (int32_t)(sorted[r] & ((UINT64_C(1) << VERTEX_BITS) - 1));
            g->place[g->vertex[r]] = (int32_t)r;
        }
    }
    ftb_delete(words);
    ftb_delete(scratch);
    return room ? GrB_SUCCESS : ftb_nomem();
}

/* ---- edges */

/* Edges of place r with those behind it, and how many entries each is; to NULL: only how many there are. */
static int64_t merge_row(const ordered *g, int64_t r, int32_t *to, uint8_t *weight)
{
    const int64_t v = g->vertex[r];
    const int32_t *a = (const int32_t *)g->p->colidx + g->p->rowptr[v], *b = a;
    const int32_t *const a_end = (const int32_t *)g->p->colidx + g->p->rowptr[v + 1], *b_end = b;
    int64_t count = 0;
    if (g->t) {
        b = (const int32_t *)g->t->colidx + g->t->rowptr[v];
        b_end = (const int32_t *)g->t->colidx + g->t->rowptr[v + 1];
    }
    while (a < a_end || b < b_end) {
        const int32_t x = a < a_end ? *a : INT32_MAX, y = b < b_end ? *b : INT32_MAX, j = ftb_min(x, y);
        a += x == j;
        b += y == j;
        if (g->place[j] < r)
            continue;
        if (to)
            to[count] = g->place[j];
        if (weight)
            weight[count] = (uint8_t)((x == j) + (y == j));
        count++;
    }
    return count;
}

static GrB_Info fill_later(ordered *g, ftb_buffer **rowptr, ftb_buffer **colidx)
{
    const FtB_Context ctx = g->w->ctx;
    const int threads = ftb_threads_for(ctx, g->n + g->p->nvals);
    int64_t *row = ftb_new(ctx, g->n + 1, sizeof *row);
    *rowptr = ftb_buffer_adopt(ctx, row);
    if (!*rowptr)
        return ftb_nomem();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
    for (int64_t r = 0; r < g->n; r++)
        row[r + 1] = merge_row(g, r, NULL, NULL);
    const int64_t nedges = ftb_rows_sum(row, g->n);
    int32_t *column = ftb_new(ctx, nedges, sizeof *column);
    *colidx = ftb_buffer_adopt(ctx, column);
    g->ahead = g->t && g->w->entries ? ftb_new(ctx, nedges, 1) : NULL;
    if (!*colidx || (g->t && g->w->entries && !g->ahead))
        return ftb_nomem();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
    for (int64_t r = 0; r < g->n; r++)
        merge_row(g, r, column + row[r], g->ahead ? g->ahead + row[r] : NULL);
    return GrB_SUCCESS;
}

/* Transposing sorts: places come in order, whatever the order of a row. */
static GrB_Info make_rows(ordered *g)
{
    const FtB_Context ctx = g->w->ctx;
    ftb_buffer *rowptr = NULL, *colidx = NULL;
    const int64_t *from = NULL;
    GrB_Info info;
    FTB_CHECK(fill_later(g, &rowptr, &colidx));
    g->later = ftb_pattern_new(ctx, g->n, g->n, rowptr, colidx);
    rowptr = colidx = NULL; /* adopted */
    if (!g->later)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ftb_pattern_transpose(g->later, &g->rows, g->ahead ? &from : NULL));
    if (!g->ahead)
        goto done;
    const int64_t nedges = g->rows->nvals;
    g->weight = ftb_new(ctx, nedges, 1);
    if (!g->weight)
        FTB_CHECK(ftb_nomem());
#pragma omp parallel for num_threads(ftb_threads_for(ctx, nedges)) schedule(static)
    for (int64_t e = 0; e < nedges; e++)
        g->weight[e] = g->ahead[from[e]];
done:
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    return info;
}

static void clear(ordered *g)
{
    ftb_pattern_release(g->later);
    ftb_delete(g->vertex);
    ftb_delete(g->place);
    ftb_delete(g->weight);
    ftb_delete(g->ahead);
}

/* ---- counting */

/* Triangles whose last place is r. */
static inline __attribute__((always_inline)) void
count_row(const ordered *g, int64_t r, int64_t *restrict counts, uint8_t *restrict mark, const bool weighted)
{
    const int64_t *rowptr = g->rows->rowptr;
    const int32_t *column = g->rows->colidx;
    const int64_t first = rowptr[r], end = rowptr[r + 1];
    int64_t at_r = 0;
    for (int64_t e = first; e < end; e++)
        mark[column[e]] = weighted ? g->weight[e] : 1;
    for (int64_t e = first; e < end; e++) {
        const int32_t v = column[e];
        const int64_t across = weighted ? g->weight[e] : 1;
        int64_t at_v = 0;
        for (int64_t f = rowptr[v]; f < rowptr[v + 1]; f++) {
            const int32_t w = column[f];
            const int64_t is = mark[w];
            at_v += is;
            counts[w] += weighted ? (is ? across : 0) : is;
            at_r += weighted ? (is ? g->weight[f] : 0) : is;
        }
        counts[v] += at_v;
    }
    counts[r] += at_r;
    for (int64_t e = first; e < end; e++)
        mark[column[e]] = 0;
}

static void count_rows(const ordered *g, int64_t first, int64_t last, int64_t *counts, uint8_t *mark)
{
    for (int64_t r = first; r < last; r++)
        if (g->weight)
            count_row(g, r, counts, mark, true);
        else
            count_row(g, r, counts, mark, false);
}

/* What threads have counted, by vertex. Where all edges stand for both directions they were counted once. */
static void gather(const ordered *g, const int64_t *counts, int threads)
{
    const int64_t times = g->w->entries && !g->t ? 2 : 1;
#pragma omp parallel for num_threads(ftb_threads_for(g->w->ctx, g->n *threads)) schedule(static)
    for (int64_t r = 0; r < g->n; r++) {
        const int64_t v = g->vertex[r];
        int64_t sum = 0;
        for (int t = 0; t < threads; t++)
            sum += counts[t * g->n + r];
        g->w->each[v] = times * sum;
        if (g->w->degrees)
            g->w->degrees[v] =
                g->rows->rowptr[r + 1] - g->rows->rowptr[r] + g->later->rowptr[r + 1] - g->later->rowptr[r];
    }
}

static GrB_Info count(const ordered *g)
{
    enum {
        ROWS = 128,
        STEPS = 16,
        BYTES = 9
    }; /* of a part; of an edge, in entries of other operations;
          of a vertex, for each thread */
    const FtB_Context ctx = g->w->ctx;
    const int64_t parts = (g->n + ROWS - 1) / ROWS;
    atomic_bool stopped = false;
    int threads = ftb_threads_for(ctx, STEPS * g->rows->nvals);
    while (threads > 1 && ftb_memory_left(ctx) / threads / BYTES < g->n)
        threads /= 2;
    int64_t *counts = ftb_new0(ctx, threads * g->n, sizeof *counts);
    uint8_t *marks = ftb_new0(ctx, threads * g->n, 1);
    const bool room = counts && marks;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t part = 0; part < (room ? parts : 0); part++)
        if (!ftb_stops(ctx, &stopped))
            count_rows(g, part * ROWS, ftb_min((part + 1) * ROWS, g->n), counts + omp_get_thread_num() * g->n,
                       marks + omp_get_thread_num() * g->n);
    GrB_Info info = room ? ftb_check_stopped(ctx, &stopped) : ftb_nomem();
    if (info == GrB_SUCCESS)
        gather(g, counts, threads);
    ftb_delete(counts);
    ftb_delete(marks);
    return info;
}

GrB_Info ftb_triangles_run(ftb_triangles *w)
{
    ordered g = {.w = w, .p = w->p, .n = w->p->nrows};
    ftb_pattern *t;
    GrB_Info info;
    FTB_CHECK(ftb_pattern_transpose(w->p, &t, NULL));
    g.t = t == w->p ? NULL : t;
    FTB_CHECK(order_vertices(&g));
    FTB_CHECK(make_rows(&g));
    info = count(&g);
done:
    clear(&g);
    return info;
}
