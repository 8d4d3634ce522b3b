/* Rows of exact degree: each row draws columns until it has enough distinct ones. A bitmap over the columns
 * tells repeats, and is read in order where that is cheaper than sorting. */
#include "gen/gen.h"
#include "gen/gen_random.h"

#include <stdlib.h>
#include <string.h>

typedef struct row_maker {
    int64_t ncols;
    const gen_weighted *popularity; /* NULL: uniform */
    const int32_t *name;            /* NULL: as drawn */
    uint64_t seed;
    uint64_t *seen; /* bitmap over the columns, all zero between rows */
} row_maker;

static int by_column(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

/* After 16 draws per wanted column what is left are rare columns: the rest is drawn uniformly, so that a row
 * that wants (nearly) all columns ends. */
static void draw_row(const row_maker *m, int64_t i, int64_t degree, int32_t *columns)
{
    int64_t found = 0;
    for (uint32_t draw = 0; found < degree; draw++) {
        gen_draw d = gen_random(m->seed, (uint64_t)i, draw, GEN_STREAM_COLUMNS);
        for (int half = 0; half < 2 && found < degree; half++) {
            uint64_t x = gen_word64(d, half);
            int64_t j = m->popularity && draw < 8 * degree + 8 ? gen_weighted_draw(m->popularity, x)
                                                               : (int64_t)gen_below(x, (uint64_t)m->ncols);
            if (m->name)
                j = m->name[j];
            if (m->seen[j >> 6] >> (j & 63) & 1)
                continue;
            m->seen[j >> 6] |= UINT64_C(1) << (j & 63);
            columns[found++] = (int32_t)j;
        }
    }
}

/* Sorts the drawn columns and clears the bitmap. */
static void order_row(const row_maker *m, int64_t degree, int32_t *columns)
{
    int64_t words = (m->ncols + 63) / 64;
    if (degree < words / 32) {
        for (int64_t e = 0; e < degree; e++)
            m->seen[columns[e] >> 6] = 0;
        qsort(columns, (size_t)degree, sizeof *columns, by_column);
        return;
    }
    int64_t e = 0;
    for (int64_t w = 0; w < words; w++) {
        for (uint64_t bits = m->seen[w]; bits; bits &= bits - 1)
            columns[e++] = (int32_t)(w * 64 + __builtin_ctzll(bits));
        m->seen[w] = 0;
    }
}

static GrB_Info fill_rows(gen_graph *g, const row_maker *shared)
{
    int failed = 0;
#pragma omp parallel reduction(| : failed)
    {
        row_maker mine = *shared;
        mine.seen = calloc((size_t)(g->ncols + 63) / 64 + 1, sizeof *mine.seen);
        failed = !mine.seen;
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < g->nrows; i++) {
            if (!mine.seen)
                continue;
            int64_t degree = g->rowptr[i + 1] - g->rowptr[i];
            draw_row(&mine, i, degree, g->colidx + g->rowptr[i]);
            order_row(&mine, degree, g->colidx + g->rowptr[i]);
        }
        free(mine.seen);
    }
    return failed ? gen_nomem() : GrB_SUCCESS;
}

GrB_Info gen_rows(gen_graph *g, int64_t nrows, int64_t ncols, const int32_t *degree,
                  const gen_weighted *popularity, const int32_t *name, gen_values values, uint64_t seed)
{
    int64_t nvals = 0;
    for (int64_t i = 0; i < nrows; i++)
        nvals += degree[i];
    gen_graph made = {0};
    GrB_Info info = gen_alloc(&made, nrows, ncols, nvals, values);
    if (info)
        return info;
    made.nvals = nvals;
    for (int64_t i = 0; i < nrows; i++)
        made.rowptr[i + 1] = made.rowptr[i] + degree[i];
    row_maker shared = {.ncols = ncols, .popularity = popularity, .name = name, .seed = seed};
    info = fill_rows(&made, &shared);
    if (info) {
        gen_free(&made);
        return info;
    }
    gen_fill_values(&made, values, false, seed);
    *g = made;
    return GrB_SUCCESS;
}
