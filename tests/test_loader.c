/* Loaders: batches against FtB_sample and rows picked by hand, the same bits for any number made ahead, in
 * any order; epochs, orders, positions; what goes wrong in the thread that works ahead, and comes out where
 * it belongs; memory, which follows batches. Labels: unit */
#include "support/check.h"

#include "core/backend.h"
#include "core/core.h"
#include "sample/batch.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 500, D = 6, SEEDS = 103 };

/* What loaders are made of. */
typedef struct world {
    FtB_Matrix A, S; /* S: sparse features */
    FtB_Block X, T;
    int32_t labels[N];
    int64_t seeds[SEEDS];
} world;

static world make_world(void)
{
    static world w;
    rng r = rng_new();
    w.A = rng_matrix(&r, FTB_FP64, N, N, 1, 0.02);
    w.S = rng_matrix(&r, FTB_FP32, N, 31, 1, 0.1);
    w.X = rng_heads(&r, FTB_FP32, N, 1, D, rng_reals);
    w.T = rng_heads(&r, FTB_FP64, N, 1, 2, rng_reals);
    double *weight = matrix_values(w.A);
    int64_t nvals;
    assert_ok(FtB_Matrix_shape(w.A, NULL, NULL, &nvals, NULL, NULL));
    for (int64_t e = 0; e < nvals; e++)
        weight[e] = 0.5 + rng_unit(&r);
    assert_ok(FtB_Matrix_changed(w.A));
    for (int v = 0; v < N; v++)
        w.labels[v] = (int32_t)rng_below(&r, 7);
    for (int t = 0; t < SEEDS; t++)
        w.seeds[t] = (t * 37 + 5) % N;
    return w;
}

static void free_world(world *w)
{
    FtB_Matrix_free(&w->A);
    FtB_Matrix_free(&w->S);
    FtB_Block_free(&w->X);
    FtB_Block_free(&w->T);
}

/* ---- what a batch holds */

static void same_matrix(FtB_Matrix a, FtB_Matrix b)
{
    const int64_t *rowptr[2];
    const void *columns[2], *values[2];
    int64_t m[2], n[2], width[2];
    assert_ok(FtB_Matrix_shape(a, &m[0], &n[0], NULL, &width[0], NULL));
    assert_ok(FtB_Matrix_shape(b, &m[1], &n[1], NULL, &width[1], NULL));
    assert_ok(FtB_Matrix_csr(a, &rowptr[0], &columns[0], &values[0]));
    assert_ok(FtB_Matrix_csr(b, &rowptr[1], &columns[1], &values[1]));
    assert_true(m[0] == m[1] && n[0] == n[1] && width[0] == width[1]);
    assert_memory_equal(rowptr[0], rowptr[1], (size_t)(m[0] + 1) * 8);
    assert_memory_equal(columns[0], columns[1], (size_t)rowptr[0][m[0]] * 4);
    assert_true(!width[0] ||
                memcmp(values[0], values[1], (size_t)rowptr[0][m[0]] * FtB_Type_size(a->type)) == 0);
}

/* Row t of Y is row rows[t] of X, bit for bit. */
static void same_rows(FtB_Block Y, FtB_Block X, FtB_Ids rows)
{
    const size_t size = FtB_Type_size(X->type);
    assert_int_equal(Y->nrows, rows.count);
    assert_int_equal(Y->ncols, X->ncols);
    for (int64_t t = 0; t < rows.count; t++)
        assert_memory_equal((char *)block_values(Y) + (size_t)(t * Y->ld) * size,
                            (char *)block_values(X) + (size_t)(rows.at[t] * X->ld) * size,
                            (size_t)X->ncols * size);
}

static void same_sparse_rows(FtB_Matrix Y, FtB_Matrix X, FtB_Ids rows)
{
    const int64_t *from, *to;
    const void *fromcol, *tocol, *fromval, *toval;
    assert_ok(FtB_Matrix_csr(X, &from, &fromcol, &fromval));
    assert_ok(FtB_Matrix_csr(Y, &to, &tocol, &toval));
    assert_int_equal(Y->pattern->nrows, rows.count);
    for (int64_t t = 0; t < rows.count; t++) {
        const int64_t i = rows.at[t], count = from[i + 1] - from[i];
        assert_int_equal(to[t + 1] - to[t], count);
        assert_memory_equal((const int32_t *)tocol + to[t], (const int32_t *)fromcol + from[i],
                            (size_t)count * 4);
        assert_memory_equal((const float *)toval + to[t], (const float *)fromval + from[i],
                            (size_t)count * 4);
    }
}

typedef struct use {
    const char *what;
    FtB_Loader_options o;
    FtB_Sample_options sampler;
    bool sparse, bare; /* bare: neither features nor labels */
} use;

static FtB_Loader loader_of(const world *w, const use *u, int ahead)
{
    FtB_Loader l;
    FtB_Loader_options o = u->o;
    FtB_Sample_options s = u->sampler;
    o.size = sizeof o;
    s.size = sizeof s;
    o.sampler = u->sampler.selector || u->sampler.edges || u->sampler.once || u->sampler.key ? &s : NULL;
    o.ahead = ahead;
    o.targets = u->bare ? NULL : w->T;
    if (u->bare)
        assert_ok(FtB_Loader_new(&l, w->A, NULL, NULL, w->seeds, SEEDS, &o));
    else if (u->sparse)
        assert_ok(FtB_Loader_new(&l, w->A, w->S, w->labels, w->seeds, SEEDS, &o));
    else
        assert_ok(FtB_Loader_new(&l, w->A, w->X, w->labels, w->seeds, SEEDS, &o));
    return l;
}

/* A batch against the sample that the same options give for its seeds. */
static void check_batch(const world *w, const use *u, FtB_Batch b, int64_t at)
{
    const FtB_Ids seeds = FtB_Batch_seeds(b), vertices = FtB_Batch_vertices(b);
    FtB_Sample s;
    FtB_Sample_options o = u->sampler;
    int nhops = 0;
    o.size = sizeof o;
    o.seed = u->o.seed;
    o.batch = at;
    while (u->o.fanout[nhops])
        nhops++;
    assert_ok(FtB_sample(&s, w->A, seeds.at, seeds.count, u->o.fanout, nhops, &o));
    assert_int_equal(FtB_Sample_vertices(s).count, vertices.count);
    assert_memory_equal(FtB_Sample_vertices(s).at, vertices.at, (size_t)vertices.count * 8);
    for (int h = 0; h < nhops; h++)
        same_matrix(FtB_Batch_hop(b, h), FtB_Sample_layer(s, h));
    assert_null(FtB_Batch_hop(b, nhops));
    if (o.edges)
        assert_int_equal(FtB_Sample_edges(FtB_Batch_sample(b), 0).count, FtB_Sample_edge_counts(s).at[0]);
    FtB_Sample_free(&s);
    assert_true(!FtB_Batch_features(b) == (u->sparse || u->bare));
    assert_true(!FtB_Batch_sparse_features(b) == !u->sparse);
    assert_true(!FtB_Batch_labels(b) == u->bare && !FtB_Batch_targets(b) == u->bare);
    if (u->bare)
        return;
    if (u->sparse)
        same_sparse_rows(FtB_Batch_sparse_features(b), w->S, vertices);
    else
        same_rows(FtB_Batch_features(b), w->X, vertices);
    same_rows(FtB_Batch_targets(b), w->T, seeds);
    for (int64_t t = 0; t < seeds.count; t++)
        assert_int_equal(FtB_Batch_labels(b)[t], w->labels[seeds.at[t]]);
}

/* An epoch: every seed once, but for those that do not fill a batch; the order into `order`. */
static int64_t run_epoch(const world *w, const use *u, FtB_Loader l, int64_t epoch, int64_t *order)
{
    const int64_t size = u->o.batch, batches = u->o.drop_last ? SEEDS / size : (SEEDS + size - 1) / size;
    bool seen[N] = {false};
    int64_t count = 0, at = 0, e, b;
    assert_int_equal(FtB_Loader_batches(l), batches);
    for (FtB_Batch batch; (batch = FtB_Loader_next(l)) != NULL; at++) {
        const FtB_Ids seeds = FtB_Batch_seeds(batch);
        check_batch(w, u, batch, epoch * batches + at);
        assert_int_equal(seeds.count, at + 1 < batches || u->o.drop_last ? size : SEEDS - at * size);
        for (int64_t t = 0; t < seeds.count; t++) {
            assert_true(!seen[seeds.at[t]]);
            seen[seeds.at[t]] = true;
            order[count++] = seeds.at[t];
        }
        assert_ok(FtB_Loader_position(l, &e, &b));
        assert_true(e == epoch && b == at + 1);
    }
    assert_ok(FtB_Loader_status(l));
    assert_ok(FtB_Loader_position(l, &e, &b));
    assert_true(at == batches && e == epoch + 1 && b == 0);
    for (int64_t t = 0; t < SEEDS && !u->o.drop_last; t++)
        assert_true(seen[w->seeds[t]]);
    return count;
}

static const use uses[] = {
    {"two hops", {.fanout = {4, 3}, .batch = 20, .seed = 7}, {0}, false, false},
    {"LABOR, sparse features",
     {.fanout = {4, 3}, .batch = 16, .seed = 8},
     {.selector = FTB_SAMPLE_LABOR, .edges = true},
     true,
     false},
    {"by weight, in order",
     {.fanout = {2, -1}, .batch = 50, .seed = 9, .in_order = true},
     {.key = "x"},
     false,
     false},
    {"once, the last ones dropped",
     {.fanout = {3, 2, 2}, .batch = 10, .seed = 1, .drop_last = true, .epoch = 3, .threads = 2},
     {.once = true, .edges = true},
     false,
     false},
    {"no hops", {.batch = 30, .seed = 2}, {0}, false, false},
    {"hops alone", {.fanout = {5}, .batch = 200, .seed = 3}, {0}, false, true},
};

static void batches(void **state)
{
    world w = make_world();
    (void)state;
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
        static int64_t order[2][2][SEEDS];
        int64_t count = 0;
        for (int ahead = -1; ahead < 4; ahead += ahead < 0 ? 2 : 1) {
            FtB_Loader l = loader_of(&w, &uses[k], ahead);
            for (int e = 0; e < 2; e++) {
                int64_t here[SEEDS];
                count = run_epoch(&w, &uses[k], l, uses[k].o.epoch + e, here);
                if (ahead < 0)
                    memcpy(order[0][e], here, sizeof here);
                assert_memory_equal(order[0][e], here, (size_t)count * 8);
            }
            FtB_Loader_free(&l);
            assert_null(l);
            FtB_Loader_free(&l);
        }
        for (int64_t t = 0; t < count && uses[k].o.in_order; t++)
            assert_int_equal(order[0][0][t], w.seeds[t]);
        assert_true(uses[k].o.in_order == (memcmp(order[0][0], order[0][1], (size_t)count * 8) == 0));
    }
    free_world(&w);
}

/* Objects of a batch live on where others hold them; the same batch comes after a seek, also backwards and to
 * another epoch; a loader of another process begins where this one was. */
static void positions(void **state)
{
    world w = make_world();
    FtB_Loader l = loader_of(&w, &uses[0], 2), other;
    FtB_Matrix held;
    int64_t epoch, batch;
    (void)state;
    for (int k = 0; k < 3; k++)
        assert_non_null(FtB_Loader_next(l));
    assert_ok(FtB_Loader_position(l, &epoch, &batch));
    assert_true(epoch == 0 && batch == 3);
    FtB_Batch b = FtB_Loader_next(l);
    check_batch(&w, &uses[0], b, 3);
    assert_ok(FtB_Matrix_dup(&held, FtB_Batch_hop(b, 1)));
    other = loader_of(&w, &uses[0], 1);
    assert_ok(FtB_Loader_seek(other, epoch, batch));
    same_matrix(held, FtB_Batch_hop(FtB_Loader_next(other), 1));
    assert_ok(FtB_Loader_seek(l, 5, 2));
    check_batch(&w, &uses[0], FtB_Loader_next(l), 5 * 6 + 2);
    assert_ok(FtB_Loader_seek(l, 0, 3));
    same_matrix(held, FtB_Batch_hop(FtB_Loader_next(l), 1));
    assert_ok(FtB_Loader_seek(l, 1, 6));
    assert_null(FtB_Loader_next(l));
    check_batch(&w, &uses[0], FtB_Loader_next(l), 12);
    assert_fails(GrB_INVALID_VALUE, "epoch is 1 and batch 7; expected an epoch and one of 0 to 6",
                 FtB_Loader_seek(l, 1, 7));
    assert_fails(GrB_INVALID_VALUE, "epoch is -1 and batch 0", FtB_Loader_seek(l, -1, 0));
    assert_fails(GrB_INVALID_VALUE, "epoch is 9223372036854775807", FtB_Loader_seek(l, INT64_MAX, 0));
    check_batch(&w, &uses[0], FtB_Loader_next(l), 13); /* where it was */
    FtB_Matrix_free(&held);
    FtB_Loader_free(&other);
    FtB_Loader_free(&l);
    free_world(&w);
}

/* ---- what goes wrong */

/* Objects of other kinds are told apart, and none is NULL. */
static void no_objects(void **state)
{
    FtB_Relations list;
    FtB_Relation_sample drawn;
    (void)state;
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_sample(&drawn, list, NULL, NULL, 2, NULL));
    assert_null(FtB_Batch_sample((FtB_Batch)(void *)list));
    assert_fails(GrB_UNINITIALIZED_OBJECT, "is not an FtB_Loader",
                 FtB_Loader_position((FtB_Loader)(void *)drawn, NULL, NULL));
    FtB_Relations_free(&list);
    FtB_Relation_sample_free(&drawn);
    assert_null(FtB_Loader_next(NULL));
    assert_fails(GrB_NULL_POINTER, "loader is NULL; expected an FtB_Loader", FtB_Loader_status(NULL));
    assert_fails(GrB_NULL_POINTER, "loader is NULL", FtB_Loader_position(NULL, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "loader is NULL", FtB_Loader_seek(NULL, 0, 0));
    assert_int_equal(FtB_Loader_batches(NULL), 0);
    assert_null(FtB_Batch_features(NULL));
    assert_null(FtB_Batch_hop(NULL, 0));
    assert_int_equal(FtB_Batch_seeds(NULL).count + FtB_Batch_vertices(NULL).count, 0);
}

static void refusals(void **state)
{
    world w = make_world();
    FtB_Loader l;
    FtB_Matrix rect;
    FtB_Block few;
    int64_t bad[] = {3, N, 1};
    (void)state;
    assert_ok(FtB_Matrix_new(&rect, FTB_FP32, 3, 4, 0));
    assert_ok(FtB_Block_new(&few, 9, 2, FTB_FP32));
#define REFUSED(code, text, A, X, labels, seeds, count, options)                                             \
    do {                                                                                                     \
        assert_fails(code, text, FtB_Loader_new(&l, A, X, labels, seeds, count, options));                   \
        assert_null(l);                                                                                      \
    } while (0)
    REFUSED(GrB_NULL_POINTER, "A is NULL", NULL, w.X, NULL, w.seeds, 3, NULL);
    REFUSED(GrB_DIMENSION_MISMATCH, "A is 3 x 4; expected as many rows as columns", rect, NULL, NULL, w.seeds,
            0, NULL);
    REFUSED(GrB_DIMENSION_MISMATCH, "X is 9 x 2; expected 500 rows", w.A, few, NULL, w.seeds, 3, NULL);
    REFUSED(GrB_DIMENSION_MISMATCH, "X is 3 x 4 with 0 values per entry; expected 500 rows", w.A, rect, NULL,
            w.seeds, 3, NULL);
    REFUSED(GrB_INVALID_VALUE, "X is text; expected", w.A, "x", NULL, w.seeds, 3, NULL);
    REFUSED(GrB_DIMENSION_MISMATCH, "options: targets is 9 x 2; expected 500 rows", w.A, w.X, NULL, w.seeds,
            3, FTB_LOADER(.targets = few));
    REFUSED(GrB_NULL_POINTER, "seeds is NULL; expected 3 vertices", w.A, w.X, NULL, NULL, 3, NULL);
    REFUSED(GrB_INVALID_VALUE, "nseeds is -1; expected 0 or more", w.A, w.X, NULL, w.seeds, -1, NULL);
    REFUSED(GrB_INDEX_OUT_OF_BOUNDS, "seeds[1] is 500; expected 0 to 499", w.A, w.X, NULL, bad, 3, NULL);
    REFUSED(GrB_INVALID_VALUE, "batch is -1, epoch 0, threads 0, ahead 0; expected 0 or more", w.A, w.X, NULL,
            w.seeds, 3, FTB_LOADER(.batch = -1));
    REFUSED(GrB_INVALID_VALUE, "ahead -2", w.A, w.X, NULL, w.seeds, 3, FTB_LOADER(.ahead = -2));
    REFUSED(GrB_INVALID_VALUE, "fanouts[1] is -2; expected 0 or more, or -1 for all", w.A, w.X, NULL, w.seeds,
            3, FTB_LOADER(.fanout = {2, -2}));
    REFUSED(GrB_INVALID_VALUE, "fanout[2] is 4, after a 0, which ends the list", w.A, w.X, NULL, w.seeds, 3,
            FTB_LOADER(.fanout = {2, 0, 4}));
    REFUSED(GrB_INVALID_VALUE, "sampler: batch is 3; expected 0", w.A, w.X, NULL, w.seeds, 3,
            FTB_LOADER(.sampler = FTB_SAMPLE_OPTIONS(.batch = 3)));
    REFUSED(GrB_INVALID_VALUE, "sampler: stack is 2; expected 0", w.A, w.X, NULL, w.seeds, 3,
            FTB_LOADER(.sampler = FTB_SAMPLE_OPTIONS(.stack = 2)));
    REFUSED(GrB_NULL_POINTER, "FtB_Loader_new: key is NULL; FTB_SAMPLE_TOPK needs an expression", w.A, w.X,
            NULL, w.seeds, 3, FTB_LOADER(.sampler = FTB_SAMPLE_OPTIONS(.selector = FTB_SAMPLE_TOPK)));
    assert_fails(GrB_INVALID_VALUE, "size is 4096",
                 FtB_Loader_new(&l, w.A, w.X, NULL, w.seeds, 3, &(FtB_Loader_options){.size = 4096}));
    assert_fails(GrB_NULL_POINTER, "loader is NULL", FtB_Loader_new(NULL, w.A, w.X, NULL, w.seeds, 3, NULL));
    assert_ok(FtB_Loader_new(&l, w.A, NULL, NULL, NULL, 0, NULL)); /* no seeds: epochs of nothing */
    assert_null(FtB_Loader_next(l));
    assert_null(FtB_Loader_next(l));
    assert_ok(FtB_Loader_status(l));
    FtB_Loader_free(&l);
    FtB_Matrix_free(&rect);
    FtB_Block_free(&few);
    free_world(&w);
}

/* A row that cannot be sampled: batches before it come, then the error does, as often as one asks; what comes
 * after it may be sought. */
static void errors_ahead(void **state)
{
    world w = make_world();
    (void)state;
    int64_t at = 60;
    while (w.A->pattern->rowptr[w.seeds[at] + 1] == w.A->pattern->rowptr[w.seeds[at]])
        at++;
    ((double *)matrix_values(w.A))[w.A->pattern->rowptr[w.seeds[at]]] = -3;
    assert_ok(FtB_Matrix_changed(w.A));
    const use u = {"", {.fanout = {2}, .batch = 10, .seed = 3, .in_order = true}, {.key = "x"}, false, false};
    for (int ahead = -1; ahead < 4; ahead += 2) {
        FtB_Loader l = loader_of(&w, &u, ahead);
        int64_t batch;
        for (int64_t k = 0; k < at / 10; k++)
            check_batch(&w, &u, FtB_Loader_next(l), k);
        for (int k = 0; k < 2; k++) {
            assert_null(FtB_Loader_next(l));
            assert_ok(FtB_Loader_position(l, NULL, &batch));
            assert_int_equal(batch, at / 10);
            assert_fails(GrB_INVALID_VALUE, "-3", FtB_Loader_status(l));
        }
        assert_ok(FtB_Loader_seek(l, 0, at / 10 + 1));
        check_batch(&w, &u, FtB_Loader_next(l), at / 10 + 1);
        assert_ok(FtB_Loader_status(l));
        FtB_Loader_free(&l);
    }
    free_world(&w);
}

static void wait_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); }

/* The thread makes batches while nobody asks; a cancellation that it meets is left to the caller's calls. */
static void cancelled(void **state)
{
    world w = make_world();
    FtB_Loader l = loader_of(&w, &uses[0], 3);
    int64_t now, before;
    (void)state;
    assert_non_null(FtB_Loader_next(l));
    assert_ok(FtB_Context_cancel(NULL));
    assert_null(FtB_Loader_next(l));
    assert_fails(FTB_CANCELLED, "cancelled", FtB_Loader_status(l));
    check_batch(&w, &uses[0], FtB_Loader_next(l), 1);
    assert_ok(FtB_Loader_status(l));
    assert_ok(FtB_Context_cancel(NULL));
    assert_ok(FtB_Loader_seek(l, 1, 0)); /* begins to make batches, and meets it */
    for (int k = 0; k < 20; k++)
        wait_a_little();
    FtB_Sample s;
    const int64_t fanout = 2;
    assert_fails(FTB_CANCELLED, "cancelled", FtB_sample(&s, w.A, w.seeds, 3, &fanout, 1, NULL));
    FtB_Context_memory(NULL, &before, NULL);
    check_batch(&w, &uses[0], FtB_Loader_next(l), 6);
    for (now = before; ftb_device(NULL) == NULL && now < before + 3000;) { /* two batches, later three */
        wait_a_little();
        FtB_Context_memory(NULL, &now, NULL);
    }
    check_batch(&w, &uses[0], FtB_Loader_next(l), 7);
    FtB_Loader_free(&l);
    free_world(&w);
}

/* ---- memory, processes, allocation */

/* n vertices on a ring, of which each hears 8 on either side; as much is drawn of any such graph. */
static int64_t peak_of(int64_t n, int ahead)
{
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Block X;
    FtB_Loader l;
    int64_t *rowptr = malloc((size_t)(n + 1) * 8), seeds[300], held, peak, nbatches = 0;
    int32_t *columns = malloc((size_t)n * 16 * 4);
    float *features = calloc((size_t)n * D, 4);
    for (int64_t i = 0; i <= n; i++)
        rowptr[i] = 16 * i;
    for (int64_t i = 0; i < n; i++) /* rows ascend */
        for (int64_t k = 0, at = 0; k < 17; k++) {
            const int64_t first = i < 8 ? 0 : i + 8 >= n ? n - 17 : i - 8;
            if (first + k != i)
                columns[16 * i + at++] = (int32_t)(first + k);
        }
    for (int64_t t = 0; t < 300; t++)
        seeds[t] = 20 + 40 * t;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Context_set_threads(ctx, 1)); /* scratch of threads is theirs */
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, n, n, 0, rowptr, columns, NULL));
    assert_ok(FtB_Block_wrap(&X, features, n, D, D, FTB_FP32));
    assert_ok(FtB_Context_memory(ctx, &held, NULL));
    assert_ok(FtB_Loader_new(
        &l, A, X, NULL, seeds, 300,
        FTB_LOADER(.fanout = {5, 5}, .batch = 32, .seed = 1, .in_order = true, .ahead = ahead)));
    for (int e = 0; e < 2; e++)
        while (FtB_Loader_next(l))
            nbatches++;
    assert_int_equal(nbatches, 20);
    assert_ok(FtB_Loader_status(l));
    FtB_Loader_free(&l);
    assert_ok(FtB_Context_memory(ctx, NULL, &peak));
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Context_free(&ctx);
    free(rowptr);
    free(columns);
    free(features);
    return peak - held;
}

static void memory_of_batches(void **state)
{
    (void)state;
    const int64_t small = peak_of(65000, -1), large = peak_of(650000, -1), ahead = peak_of(65000, 2);
    print_message("peak %lld bytes, of a graph 10 times as large %lld, two ahead %lld\n", (long long)small,
                  (long long)large, (long long)ahead);
    assert_true(small > 10000);
    assert_true(large < small + small / 50);
    assert_true(ahead >= small && ahead < 4 * small);
}

/* Memory for one batch at a time is enough, however many should be made ahead. */
static void limited(void **state)
{
    world w = make_world();
    int64_t peak = 0;
    FtB_Context ctx;
    (void)state;
    for (int round = 0; round < 2; round++) { /* what one at a time takes, then no more than that */
        assert_ok(FtB_Context_new(&ctx));
        assert_ok(FtB_Context_engage(ctx));
        assert_ok(FtB_Context_set_threads(ctx, 1));
        if (round > 0)
            assert_ok(FtB_Context_set_memory_limit(ctx, peak + 300));
        FtB_Loader l = loader_of(&w, &uses[0], round > 0 ? 1 : -1);
        while (FtB_Loader_next(l))
            ;
        assert_ok(FtB_Loader_status(l));
        assert_ok(FtB_Context_memory(ctx, NULL, &peak));
        FtB_Loader_free(&l);
        FtB_Context_free(&ctx);
    }
    free_world(&w);
}

/* Until nothing has been allocated for a while: the thread has made all that it makes ahead. */
static void wait_for_rest(void)
{
    int64_t now, before = -1;
    for (int same = 0; same < 10; before = now) {
        wait_a_little();
        FtB_Context_memory(NULL, &now, NULL);
        same = now == before ? same + 1 : 0;
    }
}

/* In a forked child the thread is not there; batches come all the same. (Nor is a lock let go of that it
 * held: a sanitizer's allocator has such.) */
static void forked(void **state)
{
    world w = make_world();
    FtB_Loader l = loader_of(&w, &uses[0], 2);
    int status = -1;
    (void)state;
    assert_non_null(FtB_Loader_next(l));
    wait_for_rest();
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int count = 0;
        while (FtB_Loader_next(l))
            count++;
        const bool ok = count == 5 && FtB_Loader_status(l) == GrB_SUCCESS;
        FtB_Loader_free(&l);
        _exit(ok ? 0 : 1);
    }
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    check_batch(&w, &uses[0], FtB_Loader_next(l), 1);
    FtB_Loader_free(&l);
    free_world(&w);
}

static GrB_Info whole_life(void *arg)
{
    const int *ahead = arg;
    FtB_Matrix A = NULL, S = NULL;
    FtB_Block T = NULL;
    FtB_Loader l = NULL;
    const int64_t I[] = {0, 0, 1, 2, 3}, J[] = {1, 2, 3, 0, 0}, seeds[] = {0, 2, 3};
    const int32_t labels[] = {0, 1, 0, 1};
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP32, 4, 4, 0, 5, I, J, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_build(&S, FTB_FP32, 4, 4, 0, 5, I, J, NULL, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&T, 4, 2, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Loader_new(&l, A, S, labels, seeds, 3,
                              FTB_LOADER(.fanout = {2, 1}, .batch = 2, .ahead = *ahead, .targets = T));
    for (int k = 0; k < 2 && info == GrB_SUCCESS; k++)
        if (!FtB_Loader_next(l))
            info = FtB_Loader_status(l);
    FtB_Loader_free(&l);
    FtB_Block_free(&T);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    return info;
}

static void failing_allocation(void **state)
{
    (void)state;
    fail_every_allocation(whole_life, NULL, &(int){-1});
    fail_every_allocation(whole_life, NULL, &(int){2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches),
        cmocka_unit_test(positions),
        cmocka_unit_test(no_objects),
        cmocka_unit_test(refusals),
        cmocka_unit_test(errors_ahead),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(memory_of_batches),
        cmocka_unit_test(limited),
        cmocka_unit_test(forked),
        cmocka_unit_test(failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
