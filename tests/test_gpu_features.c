/* Features of a loader's batches on a GPU that does not exist, which keeps some rows and reads the others
 * from the host's memory: every bit is the host's, hits are those that are counted here, nothing else goes
 * over the bus; what the rule keeps where there is little memory; the host's memory is registered once, and
 * not any more when loaders are gone; calls of the driver that fail; copies that give way. */
#include "support/beside.h"
#include "support/check.h"
#include "support/fakes.h"

#include "core/core.h"
#include "gpu/memory.h"

#include <stdlib.h>

enum { N = 400, SEEDS = 60, BATCH = 10 };

static struct {
    int (*mapped)(void), (*calls)(const char *), (*asked)(const char *);
} driver;

typedef struct world {
    FtB_Matrix A;
    FtB_Block all, X; /* X: some columns of `all` */
    int64_t seeds[SEEDS];
} world;

static int start(void **state)
{
    fake_gpu_start(state);
    fake_find("fake_cuda", "fake_cuda_mapped", &driver.mapped);
    fake_find("fake_cuda", "fake_cuda_calls", &driver.calls);
    return 0;
}

/* Values and the hub's columns are drawn; rows of X are `offset` values into rows that are `gap` longer. */
static world make_world(rng *r, FtB_Type type, int64_t d, int64_t offset, int64_t gap)
{
    world w;
    FtB_Matrix dense = rng_matrix(r, FTB_FP32, N, N, 0, 0.01);
    const int64_t *rowptr;
    const void *columns;
    int64_t I[8 * N], J[8 * N], n = 0;
    assert_ok(FtB_Matrix_csr(dense, &rowptr, &columns, NULL));
    for (int64_t i = 0; i < N; i++) {
        for (int64_t e = rowptr[i]; e < rowptr[i + 1] && n < 6 * N; e++, n++) {
            I[n] = i;
            J[n] = ((const int32_t *)columns)[e];
        }
        if (i % 2) { /* few columns are in many rows */
            I[n] = i;
            J[n++] = rng_below(r, 9) * 11;
        }
    }
    assert_ok(FtB_Matrix_build(&w.A, FTB_FP32, N, N, 0, n, I, J, NULL, FTB_DUP_FIRST, NULL));
    FtB_Matrix_free(&dense);
    assert_ok(FtB_Block_new(&w.all, N, offset + d + gap, type));
    rng_reals(r, block_values(w.all), type, N * (offset + d + gap));
    assert_ok(FtB_Block_columns(&w.X, w.all, offset, d));
    for (int t = 0; t < SEEDS; t++)
        w.seeds[t] = (t * 37 + 5) % N;
    return w;
}

static void free_world(world *w)
{
    FtB_Block_free(&w->X);
    FtB_Block_free(&w->all);
    FtB_Matrix_free(&w->A);
}

/* Row t of the batch's features is that of its vertex t. */
static void check_rows(FtB_Batch b, FtB_Block X)
{
    const FtB_Ids v = FtB_Batch_vertices(b);
    const FtB_Block Y = FtB_Batch_features(b);
    const size_t size = FtB_Type_size(X->type);
    const char *y = block_values(Y), *x = block_values(X);
    assert_int_equal(Y->nrows, v.count);
    for (int64_t t = 0; t < v.count; t++)
        if (memcmp(y + (size_t)(t * Y->ld) * size, x + (size_t)(v.at[t] * X->ld) * size,
                   (size_t)X->ncols * size) != 0)
            fail_msg("row %lld of the batch is not that of vertex %lld", (long long)t, (long long)v.at[t]);
}

/* The rows that ought to be kept, one after the other by the largest count. */
static void choose(bool kept[N], const int64_t count[N], int64_t nkept)
{
    memset(kept, 0, N * sizeof *kept);
    for (int64_t k = 0; k < nkept; k++) {
        int64_t best = -1;
        for (int64_t v = 0; v < N; v++)
            if (!kept[v] && (best < 0 || count[v] > count[best]))
                best = v;
        kept[best] = true;
    }
}

static void count_degrees(int64_t count[N], FtB_Matrix A)
{
    const int64_t *rowptr;
    const void *columns;
    assert_ok(FtB_Matrix_csr(A, &rowptr, &columns, NULL));
    memset(count, 0, N * sizeof *count);
    for (int64_t e = 0; e < rowptr[N]; e++)
        count[((const int32_t *)columns)[e]]++;
}

/* By batches of a loader without features. */
static void count_drawn(int64_t count[N], const world *w, const FtB_Loader_options *o)
{
    FtB_Loader l;
    memset(count, 0, N * sizeof *count);
    assert_ok(FtB_Loader_new(&l, w->A, NULL, NULL, w->seeds, SEEDS, o));
    const int64_t batches = FtB_Loader_batches(l), most = o->cache_batches ? o->cache_batches : 16,
                  drawn = batches < most ? batches : most;
    for (int64_t t = 0; t < drawn; t++) {
        assert_ok(FtB_Loader_seek(l, o->epoch, batches * t / drawn));
        const FtB_Ids v = FtB_Batch_vertices(FtB_Loader_next(l));
        for (int64_t k = 0; k < v.count; k++)
            count[v.at[k]]++;
    }
    FtB_Loader_free(&l);
}

/* Two epochs, with so many rows kept. */
static void run_case(const world *w, FtB_Loader_options o, int64_t nkept)
{
    FtB_Loader l;
    FtB_Batch b;
    bool kept[N];
    int64_t count[N], gathered = 0, hits = 0, seen[3], sent[2], home;
    if (o.cache_by == FTB_CACHE_SAMPLED)
        count_drawn(count, w, &o);
    else
        count_degrees(count, w->A);
    choose(kept, count, nkept);
    assert_ok(FtB_Loader_new(&l, w->A, w->X, NULL, w->seeds, SEEDS, &o));
    assert_string_equal(FtB_Loader_plan(l), "");
    for (int epoch = 0; epoch < 2; epoch++) {
        assert_ok(FtB_Context_moved(NULL, &home, &sent[0]));
        while ((b = FtB_Loader_next(l))) {
            const FtB_Ids v = FtB_Batch_vertices(b);
            check_rows(b, w->X);
            gathered += v.count;
            for (int64_t t = 0; t < v.count; t++)
                hits += kept[v.at[t]];
        }
        assert_ok(FtB_Loader_status(l));
        assert_ok(FtB_Context_moved(NULL, &home, &sent[1]));
    }
    assert_ok(FtB_Loader_cache(l, &seen[0], &seen[1], &seen[2]));
    if (fake_gpu_emulates()) {
        assert_int_equal(seen[0], nkept);
        assert_int_equal(seen[1], gathered);
        assert_int_equal(seen[2], hits);
        assert_int_equal(sent[1], sent[0]); /* of the second epoch's rows, all are there, or read */
        assert_int_equal(driver.mapped(), nkept < N);
    }
    FtB_Loader_free(&l);
    assert_int_equal(driver.mapped(), 0);
}

static FtB_Loader_options options(uint64_t seed)
{
    return (FtB_Loader_options){
        .size = sizeof(FtB_Loader_options), .fanout = {4, 3}, .batch = BATCH, .seed = seed, .ahead = -1};
}

static void rows(void **state)
{
    (void)state;
    static const struct {
        FtB_Type type;
        int64_t d, offset, gap;
    } shapes[] = {{FTB_FP32, 12, 4, 8}, {FTB_FP64, 3, 1, 2}, {FTB_FP16, 5, 0, 0}, {FTB_INT8, 7, 1, 0}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        rng r = rng_case((int)s);
        world w = make_world(&r, shapes[s].type, shapes[s].d, shapes[s].offset, shapes[s].gap);
        const int64_t bytes = shapes[s].d * (int64_t)FtB_Type_size(shapes[s].type);
        FtB_Loader_options o = options(s + 1);
        o.cache_share = 0.25;
        o.cache_by = s % 2 ? FTB_CACHE_SAMPLED : FTB_CACHE_DEGREE;
        run_case(&w, o, N / 4);
        o.cache_share = 0;
        o.cache_bytes = 50 * bytes + bytes - 1;
        o.cache_batches = 2;
        o.epoch = 3;
        run_case(&w, o, 50);
        o.cache_bytes = -1;
        run_case(&w, o, 0);
        o.cache_bytes = s % 2 ? 0 : N * bytes; /* all of it is there */
        run_case(&w, o, N);
        free_world(&w);
    }
}

/* What the rule keeps where not all fits: as many as it says, and less than there is room for. */
static void planned(void **state)
{
    (void)state;
    rng r = rng_new();
    world w = make_world(&r, FTB_FP32, 1024, 0, 0); /* 1.6 MB */
    FtB_Loader l;
    FtB_Batch b;
    int64_t kept, hits, gathered;
    const FtB_Loader_options o = options(5);
    assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
    setenv("FAKE_CUDA_MEMORY", "2000000", 1);
    assert_ok(FtB_Loader_new(&l, w.A, w.X, NULL, w.seeds, SEEDS, &o));
    for (int epoch = 0; epoch < 2; epoch++)
        while ((b = FtB_Loader_next(l)))
            check_rows(b, w.X);
    assert_ok(FtB_Loader_status(l));
    assert_ok(FtB_Loader_cache(l, &kept, &gathered, &hits));
    if (fake_gpu_emulates()) {
        assert_in_range(kept, N / 3, N * 2 / 3);
        assert_in_range(hits, gathered / 4, gathered - 1);
        assert_non_null(strstr(FtB_Loader_plan(l), "on gpu:0: "));
        assert_non_null(strstr(FtB_Loader_plan(l), "of 400 rows of features are kept there"));
    }
    FtB_Loader_free(&l);
    setenv("FAKE_CUDA_MEMORY", "60000", 1); /* nothing can be kept */
    assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
    assert_ok(FtB_Loader_new(&l, w.A, w.X, NULL, w.seeds, SEEDS, &o));
    while ((b = FtB_Loader_next(l)))
        check_rows(b, w.X);
    assert_ok(FtB_Loader_status(l));
    FtB_Loader_free(&l);
    unsetenv("FAKE_CUDA_MEMORY");
    free_world(&w);
}

/* Two loaders of the same rows; values that change; a block that its owner has freed. */
static void lifetime(void **state)
{
    (void)state;
    rng r = rng_new();
    world w = make_world(&r, FTB_FP32, 8, 0, 0);
    FtB_Loader l[2];
    FtB_Loader_options o = options(9);
    FtB_Block copy;
    const int before = driver.calls("cuMemHostRegister");
    o.cache_share = 0.5;
    for (int n = 0; n < 2; n++) {
        assert_ok(FtB_Loader_new(&l[n], w.A, w.X, NULL, w.seeds, SEEDS, &o));
        check_rows(FtB_Loader_next(l[n]), w.X);
    }
    if (fake_gpu_emulates()) {
        assert_int_equal(driver.calls("cuMemHostRegister") - before, 1);
        assert_int_equal(driver.mapped(), 1);
    }
    rng_reals(&r, block_values(w.X), FTB_FP32, 8 * N);
    assert_ok(FtB_Block_changed(w.X));
    for (int n = 0; n < 2; n++)
        check_rows(FtB_Loader_next(l[n]), w.X);
    FtB_Loader_free(&l[0]);
    assert_int_equal(driver.mapped(), fake_gpu_emulates());
    assert_ok(FtB_Block_new(&copy, N, 8, FTB_FP32));
    memcpy(block_values(copy), block_values(w.X), N * 8 * 4);
    FtB_Block_free(&w.X);
    FtB_Block_free(&w.all);
    check_rows(FtB_Loader_next(l[1]), copy);
    FtB_Loader_free(&l[1]);
    for (int t = 0; t < 5; t++) { /* with work under way, which is waited for */
        assert_ok(FtB_Loader_new(&l[0], w.A, copy, NULL, w.seeds, SEEDS, &o));
        assert_non_null(FtB_Loader_next(l[0]));
        FtB_Loader_free(&l[0]);
    }
    assert_int_equal(driver.mapped(), 0);
    FtB_Block_free(&copy);
    free_world(&w);
}

/* What the library writes into X is written when the batch before has read it; a device that is left. */
static void written(void **state)
{
    (void)state;
    enum { D = 8 };
    rng r = rng_new();
    world w = make_world(&r, FTB_FP32, D, 0, 0);
    FtB_Loader l;
    FtB_Block more, copy;
    int64_t which[N];
    FtB_Loader_options o = options(11);
    o.cache_bytes = -1;
    assert_ok(FtB_Block_new(&more, N, D, FTB_FP32));
    assert_ok(FtB_Block_new(&copy, N, D, FTB_FP32));
    rng_reals(&r, block_values(more), FTB_FP32, N * D);
    for (int64_t v = 0; v < N; v++)
        which[v] = v;
    assert_ok(FtB_Loader_new(&l, w.A, w.X, NULL, w.seeds, SEEDS, &o));
    for (int t = 0; t < 5; t++) {
        memcpy(block_values(copy), block_values(w.X), N * D * 4);
        const FtB_Batch b = FtB_Loader_next(l);
        assert_non_null(b);
        assert_ok(FtB_Context_set_device(NULL, NULL));
        assert_ok(FtB_scatter(w.X, "x + y", more, which, N));
        assert_ok(FtB_Context_set_device(NULL, "gpu"));
        check_rows(b, copy);
    }
    assert_ok(FtB_Context_set_device(NULL, NULL)); /* on the host, from now on */
    check_rows(FtB_Loader_next(l), w.X);
    assert_int_equal(driver.mapped(), 0);
    FtB_Loader_free(&l);
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    FtB_Block_free(&more);
    FtB_Block_free(&copy);
    free_world(&w);
}

/* Each call of the driver fails in turn: rows are those of the host all the same, and nothing stays. */
static void failures(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "cuMemHostRegister", "cuMemHostRegister=712", "cuMemHostGetDevicePointer", "cuMemGetInfo",
        "cuMemAlloc=2",      "cuLaunchKernel",        "cuMemcpyHtoDAsync"};
    rng r = rng_new();
    world w = make_world(&r, FTB_FP32, 8, 0, 0);
    FtB_Loader_options o = options(13);
    o.cache_share = 0.5;
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (int after = 0; after < (c < 4 ? 1 : 40); after += 1 + after) {
            FtB_Loader l;
            char text[16];
            assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
            snprintf(text, sizeof text, "%d", after + 1);
            assert_ok(FtB_Loader_new(&l, w.A, w.X, NULL, w.seeds, SEEDS, &o));
            setenv("FAKE_CUDA_AT", text, 1);
            setenv("FAKE_CUDA_FAILS", calls[c], 1);
            for (int t = 0; t < 2; t++) {
                const FtB_Batch b = FtB_Loader_next(l);
                assert_ok(FtB_Loader_status(l));
                unsetenv("FAKE_CUDA_FAILS");
                unsetenv("FAKE_CUDA_AT");
                check_rows(b, w.X);
            }
            if (c < 4 && fake_gpu_emulates())
                assert_non_null(strstr(FtB_Loader_plan(l), "gathered on the host and sent"));
            FtB_Loader_free(&l);
            assert_int_equal(driver.mapped(), 0);
        }
    free_world(&w);
}

/* Copies give way to what has no room, and rows are the same. */
static void gives_way(void **state)
{
    (void)state;
    rng r = rng_new();
    world w = make_world(&r, FTB_FP32, 512, 0, 0); /* 0.8 MB */
    FtB_Loader l;
    FtB_Block large;
    int64_t kept = 0;
    FtB_Loader_options o = options(15);
    if (!fake_gpu_emulates()) {
        free_world(&w);
        return;
    }
    o.cache_share = 0.5;
    assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
    setenv("FAKE_CUDA_MEMORY", "1300000", 1);
    assert_ok(FtB_Loader_new(&l, w.A, w.X, NULL, w.seeds, SEEDS, &o));
    check_rows(FtB_Loader_next(l), w.X);
    assert_ok(FtB_Loader_cache(l, &kept, NULL, NULL));
    assert_int_equal(kept, N / 2);
    assert_ok(FtB_Block_new(&large, 1, 200000, FTB_FP32));
    assert_ok(FtB_Block_to_device(large));
    assert_ok(FtB_Loader_cache(l, &kept, NULL, NULL));
    assert_int_equal(kept, 0);
    for (int t = 0; t < 3; t++)
        check_rows(FtB_Loader_next(l), w.X);
    unsetenv("FAKE_CUDA_MEMORY");
    FtB_Loader_free(&l);
    FtB_Block_free(&large);
    free_world(&w);
}

static void refused(void **state)
{
    (void)state;
    rng r = rng_new();
    world w = make_world(&r, FTB_FP32, 2, 0, 0);
    FtB_Loader l = NULL;
    FtB_Loader_options o[] = {options(1), options(1), options(1), options(1), options(1), options(1)};
    static const char *const says[] = {"cache_bytes is -2", "cache_share is 1.5", "cache_share is -0.1",
                                       "expected one",      "cache_by is 7",      "cache_batches is -1"};
    o[0].cache_bytes = -2;
    o[1].cache_share = 1.5;
    o[2].cache_share = -0.1;
    o[3].cache_bytes = 100;
    o[3].cache_share = 0.5;
    o[4].cache_by = (FtB_Cache_by)7;
    o[5].cache_batches = -1;
    for (int n = 0; n < 6; n++) {
        assert_int_equal(FtB_Loader_new(&l, w.A, w.X, NULL, w.seeds, SEEDS, &o[n]), GrB_INVALID_VALUE);
        assert_null(l);
        assert_non_null(strstr(FtB_error(), says[n]));
    }
    assert_int_equal(FtB_Loader_cache(NULL, NULL, NULL, NULL), GrB_NULL_POINTER);
    assert_null(FtB_Loader_plan(NULL));
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows, beside_clean),     cmocka_unit_test_teardown(planned, beside_clean),
        cmocka_unit_test_teardown(lifetime, beside_clean), cmocka_unit_test_teardown(written, beside_clean),
        cmocka_unit_test_teardown(failures, beside_clean), cmocka_unit_test_teardown(gives_way, beside_clean),
        cmocka_unit_test_teardown(refused, beside_clean),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
