/* Batches that a loader makes ahead on a GPU that does not exist, whose streams are late, each as it likes:
 * what is sampled and gathered beside is the host's to the bit, while what is computed with the batches
 * before is still to be done; memory that one stream has freed is not written by the other before its time;
 * what one has sent the other reads. Another loader, another device, little room, calls that fail, batches
 * that nobody takes. */
#include "support/beside.h"
#include "support/check.h"
#include "support/fakes.h"
#include "support/real_gpu.h"

#include "core/core.h"
#include "gpu/memory.h"

#include <stdlib.h>
#include <time.h>

enum { N = 300, D = 8, SEEDS = 96, BATCH = 12, MOST = 8 };

typedef struct world {
    FtB_Matrix A;
    FtB_Block X;
    int32_t labels[N];
    int64_t seeds[SEEDS];
} world;

static world make_world(rng *r)
{
    world w;
    w.A = rng_matrix(r, FTB_FP32, N, N, 1, 0.02);
    assert_ok(FtB_Block_new(&w.X, N, D, FTB_FP32));
    rng_reals(r, block_values(w.X), FTB_FP32, N * D);
    for (int v = 0; v < N; v++)
        w.labels[v] = v % 3;
    for (int t = 0; t < SEEDS; t++)
        w.seeds[t] = (t * 37 + 5) % N;
    return w;
}

static void free_world(world *w)
{
    FtB_Block_free(&w->X);
    FtB_Matrix_free(&w->A);
}

static FtB_Loader loader_of(const world *w, FtB_Loader_options o)
{
    FtB_Loader l;
    o.size = sizeof o;
    o.fanout[0] = 4;
    o.fanout[1] = 3;
    o.batch = BATCH;
    assert_ok(FtB_Loader_new(&l, w->A, w->X, w->labels, w->seeds, SEEDS, &o));
    return l;
}

/* What a network does first: the greatest of the neighbours' rows, of which every bit is known. */
static FtB_Block greatest(FtB_Batch b)
{
    const FtB_Matrix hop = FtB_Batch_hop(b, 1);
    FtB_Block Y;
    assert_ok(FtB_Block_new(&Y, hop->pattern->nrows, D, FTB_FP32));
    assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, hop, FtB_Batch_features(b), NULL));
    return Y;
}

/* The same of the batch that the host makes. */
static void check(FtB_Block Y, FtB_Loader host, const char *what, int64_t batch)
{
    assert_ok(FtB_Context_set_device(NULL, NULL));
    FtB_Block expected = greatest(FtB_Loader_next(host));
    assert_int_equal(Y->nrows, expected->nrows);
    if (memcmp(block_values(Y), block_values(expected), (size_t)(Y->nrows * D) * sizeof(float)) != 0)
        fail_msg("%s: of batch %lld other values", what, (long long)batch);
    FtB_Block_free(&expected);
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
}

/* Batches of an epoch and a half, whose results are looked at MOST batches later. */
static void run(const world *w, FtB_Loader_options o, const char *what)
{
    FtB_Block results[MOST];
    FtB_Loader_options plain = {.seed = o.seed, .ahead = -1};
    int count = 0;
    FtB_Loader l = loader_of(w, o), host = loader_of(w, plain);
    for (int t = 0; t < SEEDS / BATCH * 3; t++) {
        const FtB_Batch b = FtB_Loader_next(l);
        assert_ok(FtB_Loader_status(l));
        if (b)
            results[count++] = greatest(b);
        for (int k = 0; k < count && (!b || count == MOST); k++) {
            check(results[k], host, what, t - count + k);
            FtB_Block_free(&results[k]);
        }
        if (!b) { /* the epoch's end, for the host's loader, too */
            assert_ok(FtB_Context_set_device(NULL, NULL));
            assert_null(FtB_Loader_next(host));
            assert_ok(FtB_Context_set_device(NULL, "gpu"));
        }
        count = !b || count == MOST ? 0 : count;
    }
    while (count > 0)
        FtB_Block_free(&results[--count]);
    FtB_Loader_free(&l);
    FtB_Loader_free(&host);
}

static void ahead(void **state)
{
    (void)state;
    for (int n = 0; n < rng_cases(4); n++) {
        rng r = rng_case(n);
        world w = make_world(&r);
        char what[60];
        const FtB_Loader_options o = {.seed = rng_bits(&r) | 1,
                                      .ahead = 1 + n % 3,
                                      .cache_share = n % 2 ? 0.4 : 0,
                                      .cache_bytes = n % 4 == 2 ? -1 : 0};
        snprintf(what, sizeof what, "case %d, %d ahead", n, o.ahead);
        run(&w, o, what);
        free_world(&w);
    }
}

/* The thread makes batches there, with nobody asking; and none of those that it has made need be taken. */
static void by_itself(void **state)
{
    (void)state;
    rng r = rng_new();
    world w = make_world(&r);
    FtB_Loader l = loader_of(&w, (FtB_Loader_options){.seed = 3, .ahead = 2});
    const struct timespec moment = {.tv_nsec = 1000000};
    int before = fake_gpu_launches(), quiet = 0;
    const int first = before;
    for (int t = 0; t < 3000 && quiet < 30 && fake_gpu_emulates(); t++) {
        nanosleep(&moment, NULL);
        quiet = fake_gpu_launches() == before ? quiet + 1 : 0;
        before = fake_gpu_launches();
    }
    if (fake_gpu_emulates())
        assert_true(before > first);
    assert_ok(FtB_Loader_seek(l, 1, 2));
    assert_non_null(FtB_Loader_next(l));
    FtB_Loader_free(&l);
    free_world(&w);
}

/* Two loaders by turns, of whose threads one at a time works beside. */
static void two(void **state)
{
    (void)state;
    rng r = rng_new();
    world w = make_world(&r);
    const FtB_Loader_options o = {.seed = 9, .ahead = 1}, plain = {.seed = 9, .ahead = -1};
    FtB_Loader l[2] = {loader_of(&w, o), loader_of(&w, o)}, host = loader_of(&w, plain);
    for (int t = 0; t < SEEDS / BATCH; t++) {
        FtB_Block a = greatest(FtB_Loader_next(l[0])), b = greatest(FtB_Loader_next(l[1]));
        check(a, host, "the first", t);
        assert_int_equal(a->nrows, b->nrows);
        assert_memory_equal(block_values(a), block_values(b), (size_t)(a->nrows * D) * sizeof(float));
        FtB_Block_free(&a);
        FtB_Block_free(&b);
    }
    FtB_Loader_free(&l[0]);
    FtB_Loader_free(&l[1]);
    FtB_Loader_free(&host);
    free_world(&w);
}

/* The context is given another device while the thread works: each batch is whole, wherever it was made. */
static void other_device(void **state)
{
    (void)state;
    rng r = rng_new();
    world w = make_world(&r);
    const FtB_Loader_options o = {.seed = 4, .ahead = 2}, plain = {.seed = 4, .ahead = -1};
    FtB_Loader l = loader_of(&w, o), host = loader_of(&w, plain);
    for (int t = 0; t < SEEDS / BATCH; t++) {
        for (int k = 0; k < 500; k++)
            assert_ok(FtB_Context_set_device(NULL, (k + t) % 3 == 1 ? NULL : "gpu"));
        FtB_Block a = greatest(FtB_Loader_next(l));
        if (t % 3 == 0)
            assert_ok(FtB_Block_to_host(w.X)); /* of which the thread may be gathering */
        check(a, host, "the device changes", t);
        FtB_Block_free(&a);
    }
    FtB_Loader_free(&l);
    FtB_Loader_free(&host);
    free_world(&w);
}

/* What FtB_Loader_plan has said stays as it is until it is asked again, whatever the thread does. */
static void plan_stays(void **state)
{
    (void)state;
    rng r = rng_new();
    world w = make_world(&r);
    assert_ok(FtB_Context_set_device(NULL, NULL));
    FtB_Loader l = loader_of(&w, (FtB_Loader_options){.seed = 4, .ahead = 1});
    const char *before = FtB_Loader_plan(l);
    assert_string_equal(before, "");
    assert_non_null(FtB_Loader_next(l));
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    for (int t = 0; t < 3; t++)
        assert_non_null(FtB_Loader_next(l));
    assert_string_equal(before, "");
    assert_non_null(strstr(FtB_Loader_plan(l), "on gpu:0"));
    FtB_Loader_free(&l);
    free_world(&w);
}

/* There is hardly any room: what gives way is not what the other thread uses. */
static void tight(void **state)
{
    (void)state;
    for (int n = 0; n < rng_cases(3) && fake_gpu_emulates() && !real_gpu(); n++) {
        rng r = rng_case(n);
        world w = make_world(&r);
        char text[24];
        const FtB_Loader_options o = {
            .seed = rng_bits(&r) | 1, .ahead = 1 + n % 2, .cache_bytes = n == 2 ? -1 : 0};
        assert_ok(ftb_gpu_trim(ftb_device(NULL)));
        snprintf(text, sizeof text, "%d", 30000 + 25000 * n);
        setenv("FAKE_CUDA_MEMORY", text, 1);
        run(&w, o, text);
        unsetenv("FAKE_CUDA_MEMORY");
        free_world(&w);
    }
}

/* What is made for work beside, or there, cannot be had: batches are the same. Nothing changes the
 * environment while threads run. */
static void failures(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuStreamCreate", "cuEventCreate", "cuMemHostAlloc", "cuMemAlloc=2"};
    rng r = rng_new();
    world w = make_world(&r);
    FtB_Loader none = loader_of(&w, (FtB_Loader_options){.seed = 5, .ahead = -1});
    assert_non_null(FtB_Loader_next(none)); /* what all work needs is there */
    FtB_Loader_free(&none);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
        setenv("FAKE_CUDA_FAILS", calls[c], 1);
        FtB_Loader l = loader_of(&w, (FtB_Loader_options){.seed = 5, .ahead = 1});
        for (int k = 0; k < 3; k++) {
            const FtB_Batch b = FtB_Loader_next(l);
            assert_non_null(b);
            const FtB_Ids v = FtB_Batch_vertices(b);
            const float *x = block_values(w.X), *y = block_values(FtB_Batch_features(b));
            assert_non_null(y);
            for (int64_t t = 0; t < v.count; t++)
                assert_memory_equal(y + t * D, x + v.at[t] * D, D * sizeof(float));
        }
        FtB_Loader_free(&l);
        unsetenv("FAKE_CUDA_FAILS");
    }
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(failures, beside_clean),
                                       cmocka_unit_test_teardown(ahead, beside_clean),
                                       cmocka_unit_test_teardown(by_itself, beside_clean),
                                       cmocka_unit_test_teardown(two, beside_clean),
                                       cmocka_unit_test_teardown(other_device, beside_clean),
                                       cmocka_unit_test_teardown(plan_stays, beside_clean),
                                       cmocka_unit_test_teardown(tight, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
