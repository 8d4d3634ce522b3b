/* Partitions: graphs as METIS is given them, against loops over a dense matrix; a METIS that checks what it
 * is given, and the machine's own where there is one: balanced, and with fewer edges between parts than
 * random ones; what is said where there is none. */
#include "support/check.h"

#include "cpu/sample/cluster_run.h"
#include "sample/metis.h"
#include "support/cluster_graph.h"
#include "support/fail_alloc.h"

#include <stdlib.h>

/* ---- what METIS is given */

static int64_t number(const void *list, int bytes, int64_t at)
{
    return bytes == 4 ? ((const int32_t *)list)[at] : ((const int64_t *)list)[at];
}

static void check_mutual(const graph *g, int bytes, bool ordered, rng *r)
{
    ftb_pattern *t;
    const int64_t *from;
    int64_t at = 0, order[MOST], place[MOST];
    int least = INT32_MAX, most = 0;
    ftb_mutual m = {.ctx = g->A->ctx, .p = g->A->pattern, .bytes = bytes};
    assert_ok(ftb_pattern_transpose(g->A->pattern, &t, &from));
    m.t = t;
    for (int64_t v = 0; v < g->n; v++)
        order[v] = v;
    for (int64_t v = g->n - 1; v > 0 && ordered; v--) {
        const int64_t w = rng_below(r, v + 1), swap = order[v];
        order[v] = order[w];
        order[w] = swap;
    }
    for (int64_t v = 0; v < g->n; v++)
        place[order[v]] = v;
    if (ordered) {
        m.order = ftb_new(NULL, g->n, sizeof *m.order);
        m.place = ftb_new(NULL, g->n, sizeof *m.place);
        memcpy(m.order, order, sizeof *order * (size_t)g->n);
        memcpy(m.place, place, sizeof *place * (size_t)g->n);
    }
    assert_ok(ftb_mutual_run(&m));
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t j = 0; j < g->n; j++) {
            const int edges = i != j ? g->entries[i][j] + g->entries[j][i] : 0;
            least = edges > 0 && edges < least ? edges : least;
            most = edges > most ? edges : most;
        }
    assert_true(!m.weight == (most <= least));
    for (int64_t row = 0; row < g->n; row++) {
        const int64_t i = order[row];
        assert_int_equal(number(m.rowptr, bytes, row), at);
        for (int64_t j = 0; j < g->n; j++) {
            const int edges = i != j ? g->entries[i][j] + g->entries[j][i] : 0;
            if (edges == 0)
                continue;
            assert_true(at < m.nvals);
            assert_int_equal(number(m.column, bytes, at), place[j]);
            if (m.weight)
                assert_int_equal(number(m.weight, bytes, at), edges);
            at++;
        }
    }
    assert_int_equal(number(m.rowptr, bytes, g->n), at);
    assert_int_equal(m.nvals, at);
    ftb_mutual_delete(&m);
}

static void mutual(void **state)
{
    (void)state;
    const int cases = rng_cases(200);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 1 + rng_below(&r, MOST), rng_below(&r, 300), c % 3 == 0, 0);
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
        check_mutual(&g, c % 2 ? 4 : 8, c % 4 >= 2, &r);
        FtB_Matrix_free(&g.A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- partitions */

static const char *fake(const char *name)
{
    static char path[4096];
    const char *folder = getenv("FEATBLAS_FAKE_METIS");
    if (!folder)
        return NULL;
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    return path;
}

/* METIS that checks: parts are its own, at the vertices that it was told of. */
static void partitions(void **state)
{
    (void)state;
    if (!fake(""))
        skip();
    for (int wide = 0; wide < 2; wide++) {
        ftb_metis m;
        ftb_metis_look(&m, fake(wide ? "fake_metis_64" : "fake_metis_32"));
        assert_int_equal(m.bytes, wide ? 8 : 4);
        for (int c = 0; c < 60; c++) {
            rng r = rng_case(c);
            graph g = make_graph(&r, 2 + rng_below(&r, MOST - 1), rng_below(&r, 200), c % 2, 0);
            const int64_t nparts = 2 + rng_below(&r, g.n - 1);
            int32_t labels[MOST], again[MOST];
            int64_t size[MOST] = {0};
            bool same = true;
            assert_ok(ftb_metis_part(&m, g.A->ctx, labels, g.A->pattern, nparts, 0));
            for (int64_t v = 0; v < g.n; v++) {
                assert_int_equal(labels[v], v * nparts / g.n);
                size[labels[v]]++;
            }
            assert_ok(ftb_metis_part(&m, g.A->ctx, again, g.A->pattern, nparts, 7));
            for (int64_t v = 0; v < g.n; v++) {
                same &= labels[v] == again[v];
                size[again[v]]--;
            }
            for (int64_t p = 0; p < nparts; p++)
                assert_int_equal(size[p], 0);
            assert_true(!same || g.n < 20);
            FtB_Matrix_free(&g.A);
        }
    }
}

static void without_metis(void **state)
{
    (void)state;
    rng r = rng_new();
    graph g = make_graph(&r, 10, 30, false, 0);
    int32_t labels[10] = {5};
    ftb_metis m;
    ftb_metis_look(&m, "");
    assert_int_equal(m.bytes, 0);
    assert_fails(GrB_NOT_IMPLEMENTED, "METIS is not there: FEATBLAS_METIS is empty",
                 ftb_metis_part(&m, g.A->ctx, labels, g.A->pattern, 2, 0));
    assert_non_null(strstr(FtB_error(), "libmetis5"));
    ftb_metis_look(&m, "/there/is/none.so");
    assert_fails(GrB_NOT_IMPLEMENTED, "/there/is/none.so",
                 ftb_metis_part(&m, g.A->ctx, labels, g.A->pattern, 2, 0));
    if (fake("")) {
        ftb_metis_look(&m, fake("fake_metis_lacks"));
        assert_fails(GrB_NOT_IMPLEMENTED, "has no function METIS_PartGraphKway",
                     ftb_metis_part(&m, g.A->ctx, labels, g.A->pattern, 2, 0));
        ftb_metis_look(&m, fake("fake_metis_32"));
        assert_int_equal(setenv("FAKE_METIS_ANSWERS", "-3", 1), 0);
        assert_fails(GrB_OUT_OF_MEMORY, "METIS has not enough memory",
                     ftb_metis_part(&m, g.A->ctx, labels, g.A->pattern, 2, 0));
        assert_int_equal(setenv("FAKE_METIS_ANSWERS", "-4", 1), 0);
        assert_fails(GrB_PANIC, "METIS_PartGraphKway fails with -4",
                     ftb_metis_part(&m, g.A->ctx, labels, g.A->pattern, 2, 0));
        assert_int_equal(unsetenv("FAKE_METIS_ANSWERS"), 0);
    }
    assert_int_equal(labels[0], 5);
    FtB_Matrix_free(&g.A);
}

/* The machine's own METIS: parts of a random graph in space, whose random parts cut nearly all. */
static void real_metis(void **state)
{
    (void)state;
    enum { SIDE = 60, N = SIDE * SIDE, PARTS = 12 };
    ftb_metis m;
    ftb_metis_look(&m, "libmetis.so.5");
    if (!m.bytes) {
        const char *ci = getenv("CI");
        print_message("no METIS here: %s\n", m.why);
        assert_false(ci && strcmp(ci, "true") == 0);
        skip();
    }
    int64_t *I = malloc(sizeof *I * 4 * N), *J = malloc(sizeof *J * 4 * N), count = 0, cut, random_cut,
            largest;
    int32_t *labels = malloc(sizeof *labels * N), *again = malloc(sizeof *again * N);
    FtB_Matrix A, none;
    for (int directed = 0; directed < 2; directed++) {
        count = 0;
        for (int64_t v = 0; v < N; v++)
            for (int d = 0; d < 2; d++) { /* to the right, and down */
                const int64_t w = d ? v + SIDE : v + 1;
                if (d ? w >= N : w % SIDE == 0)
                    continue;
                I[count] = v;
                J[count++] = w;
                if (directed)
                    continue;
                I[count] = w;
                J[count++] = v;
            }
        assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 0, count, I, J, NULL, FTB_DUP_ERROR, NULL));
        assert_ok(ftb_metis_part(&m, A->ctx, labels, A->pattern, PARTS, 0));
        assert_ok(ftb_metis_part(&m, A->ctx, again, A->pattern, PARTS, 0));
        assert_memory_equal(labels, again, sizeof *labels * N);
        assert_ok(FtB_partition_measure(&cut, &largest, A, labels, PARTS));
        assert_true((double)largest <= N / PARTS * 1.031 + 1);
        assert_ok(ftb_metis_part(&m, A->ctx, again, A->pattern, PARTS, 3));
        assert_memory_not_equal(labels, again, sizeof *labels * N);
        assert_ok(FtB_partition_measure(&random_cut, NULL, A, again, PARTS));
        assert_true(random_cut < count / 10);
        for (int64_t v = 0; v < N; v++)
            again[v] = (int32_t)(v % PARTS);
        assert_ok(FtB_partition_measure(&random_cut, NULL, A, again, PARTS));
        assert_true(cut < random_cut / 5);
        FtB_Matrix_free(&A);
    }
    assert_ok(FtB_Matrix_new(&none, FTB_FP32, 20, 20, 0)); /* no edges: any parts will do */
    assert_ok(ftb_metis_part(&m, none->ctx, labels, none->pattern, 4, 0));
    FtB_Matrix_free(&none);
    free(I);
    free(J);
    free(labels);
    free(again);
}

static void measured(void **state)
{
    (void)state;
    for (int c = 0; c < 60; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, 1 + rng_below(&r, MOST), rng_below(&r, 300), c % 2, 0);
        const int64_t nparts = 1 + rng_below(&r, 9);
        int32_t labels[MOST];
        int64_t cut, largest, slowly = 0, size[9] = {0}, most = 0;
        random_labels(&r, labels, g.n, nparts);
        for (int64_t i = 0; i < g.n; i++) {
            size[labels[i]]++;
            for (int64_t j = 0; j < g.n; j++)
                slowly += labels[i] != labels[j] ? g.entries[i][j] : 0;
        }
        for (int64_t p = 0; p < nparts; p++)
            most = size[p] > most ? size[p] : most;
        assert_ok(FtB_partition_measure(&cut, &largest, g.A, labels, nparts));
        assert_int_equal(cut, slowly);
        assert_int_equal(largest, most);
        FtB_Matrix_free(&g.A);
    }
}

static GrB_Info part_once(void *arg)
{
    const ftb_metis *m = arg;
    static const int64_t I[] = {0, 1, 2, 3, 4, 5, 0}, J[] = {1, 0, 3, 4, 5, 2, 5};
    FtB_Matrix A;
    int32_t labels[6];
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP32, 6, 6, 0, 7, I, J, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_metis_part(m, A->ctx, labels, A->pattern, 2, 9);
    FtB_Matrix_free(&A);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    ftb_metis m;
    if (!fake(""))
        skip();
    ftb_metis_look(&m, fake("fake_metis_32"));
    fail_every_allocation(part_once, NULL, &m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutual),     cmocka_unit_test(partitions), cmocka_unit_test(without_metis),
        cmocka_unit_test(real_metis), cmocka_unit_test(measured),   cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
