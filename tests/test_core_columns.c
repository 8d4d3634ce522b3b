/* Entries of columns, counted by threads with counts of their own, against a plain loop: few columns that all
 * threads meet, columns without entries, as many columns as entries, parallel edges, more columns than int32
 * has, and no memory for more than one thread. */
#include "support/check.h"

#include "core/column_counts.h"
#include "support/rng.h"

#include <stdlib.h>

enum { MOST = 200000 };

typedef struct graph {
    FtB_Matrix A;
    int64_t ncols;
} graph;

static graph make(rng *r, int64_t nrows, int64_t ncols, int64_t nvals, bool skewed, FtB_Dup dup)
{
    int64_t *I = malloc((size_t)nvals * sizeof *I + 1), *J = malloc((size_t)nvals * sizeof *J + 1);
    graph g = {.ncols = ncols};
    assert_true(I && J);
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = rng_below(r, nrows);
        J[e] = rng_below(r, skewed ? 1 + rng_below(r, ncols) : ncols);
    }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP32, nrows, ncols, 0, nvals, I, J, NULL, dup, NULL));
    free(I);
    free(J);
    return g;
}

static void check(const graph *g)
{
    const ftb_pattern *p = g->A->pattern;
    uint32_t *count = malloc((size_t)g->ncols * sizeof *count + 1),
             *slow = calloc((size_t)g->ncols + 1, sizeof *slow);
    assert_true(count && slow);
    for (int64_t e = 0; e < p->nvals; e++)
        slow[p->wide ? ((const int64_t *)p->colidx)[e] : ((const int32_t *)p->colidx)[e]]++;
    for (int64_t threads = 1; threads < 12; threads += 5) {
        assert_ok(FtB_Context_set_threads(NULL, (int)threads));
        memset(count, 0x5a, (size_t)g->ncols * sizeof *count);
        ftb_column_counts(count, p, NULL);
        assert_memory_equal(count, slow, (size_t)g->ncols * sizeof *count);
    }
    free(count);
    free(slow);
}

static void counts(void **state)
{
    static const struct {
        int64_t nrows, ncols, nvals;
        bool skewed;
        FtB_Dup dup;
    } list[] = {{1000, 1, 900, false, FTB_DUP_FIRST},      {5000, 7, MOST, false, FTB_DUP_KEEP},
                {9000, 300, MOST, true, FTB_DUP_FIRST},    {9000, 3000, MOST, true, FTB_DUP_KEEP},
                {300, 20000, 80001, false, FTB_DUP_FIRST}, {300, 100000, 90000, true, FTB_DUP_FIRST},
                {5, 40, 0, false, FTB_DUP_FIRST},          {3000, 1000, 65537, false, FTB_DUP_FIRST}};
    rng r = rng_new();
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        graph g = make(&r, list[k].nrows, list[k].ncols, list[k].nvals, list[k].skewed, list[k].dup);
        check(&g);
        FtB_Matrix_free(&g.A);
    }
}

/* Columns of 64 bits, as a pattern of few columns would not have: those that are counted are the first. */
static void wide(void **state)
{
    enum { ROWS = 20000, COLS = 50 };
    rng r = rng_new();
    graph g = make(&r, ROWS, COLS, MOST, true, FTB_DUP_KEEP);
    (void)state;
    const ftb_pattern *const p = g.A->pattern;
    int64_t *col = malloc((size_t)p->nvals * sizeof *col);
    uint32_t count[COLS], expected[COLS];
    assert_non_null(col);
    for (int64_t e = 0; e < p->nvals; e++)
        col[e] = ((const int32_t *)p->colidx)[e];
    assert_ok(FtB_Context_set_threads(NULL, 6));
    ftb_column_counts(expected, p, NULL);
    ftb_pattern there = *p;
    there.colidx = col;
    there.wide = true;
    ftb_column_counts(count, &there, NULL);
    assert_memory_equal(count, expected, sizeof count);
    free(col);
    FtB_Matrix_free(&g.A);
}

/* A limit that has room for the counts of no thread, of one, of some. */
static void memory(void **state)
{
    enum { COLS = 3000 };
    rng r = rng_new();
    FtB_Context ctx;
    int64_t now;
    (void)state;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    graph g = make(&r, 9000, COLS, MOST, true, FTB_DUP_KEEP);
    assert_ok(FtB_Context_set_threads(ctx, 8));
    uint32_t *slow = calloc(COLS, sizeof *slow), count[COLS];
    assert_non_null(slow);
    for (int64_t e = 0; e < g.A->pattern->nvals; e++)
        slow[((const int32_t *)g.A->pattern->colidx)[e]]++;
    assert_ok(FtB_Context_memory(ctx, &now, NULL));
    for (int64_t room = 0; room < 8 * COLS * 4; room += COLS * 2) {
        assert_ok(FtB_Context_set_memory_limit(ctx, now + room + 1));
        ftb_column_counts(count, g.A->pattern, ctx);
        assert_memory_equal(count, slow, sizeof count);
        assert_ok(FtB_Context_set_memory_limit(ctx, 0));
    }
    free(slow);
    FtB_Matrix_free(&g.A);
    assert_ok(FtB_Context_engage(NULL));
    assert_ok(FtB_Context_free(&ctx));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(wide),
                                       cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
