/* Memory that is kept to be used again (core/spare.h): what is found again, what is counted, the limit, the
 * peak, rounds, failing allocations, threads; and that training and loaders leave none behind. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include "core/spare.h"
#include "featblas_nn.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB (INT64_C(1) << 20)

static int64_t held(FtB_Context ctx)
{
    int64_t now;
    assert_ok(FtB_Context_memory(ctx, &now, NULL));
    return now;
}

static int64_t peak(FtB_Context ctx)
{
    int64_t most;
    assert_ok(FtB_Context_memory(ctx, NULL, &most));
    return most;
}

static FtB_Context begin(void)
{
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    ftb_spare_begin(ctx);
    return ctx;
}

static void end(FtB_Context ctx)
{
    ftb_spare_end(ctx);
    assert_int_equal(held(ctx), 0);
    assert_int_equal(atomic_load(&ctx->spare_bytes), 0);
    assert_null(ctx->spares);
    FtB_Context_free(&ctx);
}

/* Allocations of the C library, counted by live_allocations' hooks. */
static void found_again(void **state)
{
    (void)state;
    const int64_t before = live_allocations();
    FtB_Context ctx = begin();
    const int64_t none = live_allocations();
    char *p = ftb_new(ctx, 3 * MB, 1), *small[] = {ftb_new(ctx, MB - 200, 1), ftb_new(ctx, MB - 200, 1)};
    memset(p, 7, (size_t)(3 * MB));
    assert_int_equal(live_allocations(), none + 3);
    ftb_delete(small[0]);
    ftb_delete(small[1]);
    assert_int_equal(live_allocations(), none + 1);
    const char *was = p;
    const int64_t counted = held(ctx);
    ftb_delete(p);
    assert_int_equal(live_allocations(), none + 1);
    assert_int_equal(held(ctx), counted);
    assert_int_equal(ftb_memory_left(ctx), INT64_MAX);
    p = ftb_new0(ctx, 3 * MB - 100000, 1); /* somewhat less */
    assert_ptr_equal(p, was);
    assert_int_equal(ftb_size_of(p), 3 * MB - 100000);
    for (int64_t t = 0; t < 3 * MB - 100000; t++)
        assert_int_equal(p[t], 0);
    assert_int_equal(held(ctx), counted);
    ftb_delete(p);
    p = ftb_new(ctx, MB, 1); /* much less: another */
    assert_ptr_not_equal(p, was);
    char *q = ftb_new(ctx, 3 * MB + 3 * MB / 64, 1); /* somewhat more: sizes are rounded */
    assert_ptr_equal(q, was);
    ftb_delete(p);
    ftb_delete(q);
    end(ctx);
    assert_int_equal(live_allocations(), before);
    FtB_set_allocator(NULL, NULL, NULL);
}

/* Of several that would do the smallest. */
static void best_of_all(void **state)
{
    (void)state;
    FtB_Context ctx = begin();
    void *p[3];
    for (int k = 0; k < 3; k++)
        p[k] = ftb_new(ctx, (int64_t[]){9, 8, 10}[k] * MB, 1);
    for (int k = 0; k < 3; k++)
        ftb_delete(p[k]);
    void *eight = ftb_new(ctx, 8 * MB - 1000, 1), *nine = ftb_new(ctx, 8 * MB - 1000, 1);
    assert_ptr_equal(eight, p[1]);
    assert_ptr_equal(nine, p[0]);
    ftb_delete(eight);
    ftb_delete(nine);
    end(ctx);
}

/* Without anybody who wants it memory goes at once; who says so twice says so until both have ended. */
static void only_while_wanted(void **state)
{
    (void)state;
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    ftb_delete(ftb_new(ctx, 5 * MB, 1));
    assert_int_equal(held(ctx), 0);
    ftb_spare_begin(ctx);
    ftb_spare_begin(ctx);
    ftb_delete(ftb_new(ctx, 5 * MB, 1));
    ftb_spare_end(ctx);
    assert_true(held(ctx) >= 5 * MB);
    ftb_spare_end(ctx);
    assert_int_equal(held(ctx), 0);
    FtB_Context_free(&ctx);
}

/* A caller's own, once however often it is said; it ends with the context. */
static void asked_for(void **state)
{
    (void)state;
    const int64_t before = live_allocations();
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    for (int t = 0; t < 2; t++)
        assert_ok(FtB_Context_set_reuse(ctx, true));
    const void *was = ftb_new(ctx, 5 * MB, 1);
    ftb_delete((void *)was);
    assert_true(held(ctx) >= 5 * MB);
    void *again = ftb_new(ctx, 5 * MB, 1);
    assert_ptr_equal(again, was);
    ftb_delete(again);
    ftb_spare_begin(ctx); /* a tape's */
    ftb_spare_end(ctx);
    assert_true(held(ctx) >= 5 * MB);
    for (int t = 0; t < 2; t++)
        assert_ok(FtB_Context_set_reuse(ctx, false));
    assert_int_equal(held(ctx), 0);
    assert_int_equal(atomic_load(&ctx->spare_users), 0);
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Context_set_reuse(NULL, true));
    ftb_delete(ftb_new(NULL, 5 * MB, 1));
    assert_true(held(ctx) >= 5 * MB);
    FtB_Context_free(&ctx);
    assert_int_equal(live_allocations(), before);
    FtB_set_allocator(NULL, NULL, NULL);
}

/* In a fork what the parent keeps is nobody's: it does not count, and who asks for more does not wait. */
static void forked(void **state)
{
    (void)state;
    FtB_Context ctx;
    int status = -1;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_memory_limit(ctx, 8 * MB));
    assert_ok(FtB_Context_set_reuse(ctx, true));
    ftb_delete(ftb_new(ctx, 5 * MB, 1));
    pthread_mutex_lock(&ctx->spare_lock); /* as a thread that is not there any more might hold it */
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        void *p = ftb_new(ctx, 6 * MB, 1);
        bool ok = p && FtB_Context_set_reuse(ctx, false) == GrB_SUCCESS &&
                  FtB_Context_set_reuse(ctx, true) == GrB_SUCCESS;
        ok = ok && !ftb_new(ctx, 3 * MB, 1);
        ftb_delete(p);
        _exit(!ok);
    }
    pthread_mutex_unlock(&ctx->spare_lock);
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    FtB_Context_free(&ctx);
}

/* What is kept is a quarter of what was in use at most, and no reason for a limit to be met: the longest
 * freed goes first. */
static void gives_way(void **state)
{
    (void)state;
    FtB_Context ctx = begin();
    char *p = ftb_new(ctx, 4 * MB, 1), *q = ftb_new(ctx, 8 * MB, 1);
    const int64_t most = peak(ctx);
    ftb_delete(p);
    ftb_delete(q);
    void *r = ftb_new(ctx, 2 * MB, 1), *t = ftb_new(ctx, 2 * MB, 1);
    assert_true(peak(ctx) <= most + most / 4); /* room beside both for one, and p was freed first */
    assert_true(held(ctx) < 13 * MB);
    void *s = ftb_new(ctx, 8 * MB, 1);
    assert_ptr_equal(s, q);
    ftb_delete(r);
    ftb_delete(s);
    ftb_delete(t);
    assert_true(held(ctx) >= 12 * MB);
    assert_ok(FtB_Context_set_memory_limit(ctx, 12 * MB));
    assert_int_equal(ftb_memory_left(ctx), 12 * MB);
    p = ftb_new(ctx, 12 * MB - 1000, 1); /* not a byte is left for rounding */
    assert_non_null(p);
    assert_true(held(ctx) <= 12 * MB);
    assert_null(ftb_new(ctx, 2 * MB, 1));
    assert_int_equal(ftb_nomem(), FTB_LIMIT);
    ftb_delete(p);
    void *grown = ftb_new(ctx, 1000, 1);
    assert_true(ftb_resize(ctx, &grown, 11 * MB, 1));
    ftb_delete(grown);
    end(ctx);
}

static void rounds(void **state)
{
    (void)state;
    FtB_Context ctx = begin();
    ftb_delete(ftb_new(ctx, 4 * MB, 1));
    for (int k = 0; k < 3; k++)
        ftb_spare_round(ctx);
    assert_true(held(ctx) >= 4 * MB);
    ftb_delete(ftb_new(ctx, 4 * MB, 1)); /* wanted: it begins anew */
    for (int k = 0; k < 3; k++)
        ftb_spare_round(ctx);
    assert_true(held(ctx) >= 4 * MB);
    ftb_spare_round(ctx);
    assert_int_equal(held(ctx), 0);
    end(ctx);
}

static GrB_Info use_again(void *arg)
{
    (void)arg;
    FtB_Context ctx = ftb_context();
    GrB_Info info = GrB_SUCCESS;
    ftb_spare_begin(ctx);
    ftb_delete(ftb_new(ctx, 4 * MB, 1));
    void *p = ftb_new(ctx, 4 * MB, 1), *q = ftb_new0(ctx, 2 * MB, 1), *r = NULL;
    if (!p || !q || !ftb_resize(ctx, &r, MB, 1) || !ftb_resize(ctx, &r, 3 * MB, 1))
        info = ftb_nomem();
    ftb_delete(p);
    ftb_delete(q);
    ftb_delete(r);
    ftb_spare_end(ctx);
    return info;
}

static void failing_allocation(void **state)
{
    (void)state;
    fail_every_allocation(use_again, NULL, NULL);
}

static int refuse; /* so many allocations fail */
static void *refusing_malloc(size_t size) { return refuse > 0 && refuse-- ? NULL : malloc(size); }
static void *refusing_realloc(void *p, size_t size)
{
    return refuse > 0 && refuse-- ? NULL : realloc(p, size);
}

/* Where the system has no more, all that is kept is given back, and it is asked again. */
static void out_of_memory(void **state)
{
    (void)state;
    assert_ok(FtB_set_allocator(refusing_malloc, refusing_realloc, free));
    FtB_Context ctx = begin();
    for (int way = 0; way < 2; way++) {
        void *p = ftb_new(ctx, 10, 1), *room = ftb_new(ctx, 20 * MB, 1);
        ftb_delete(room);
        ftb_delete(ftb_new(ctx, 4 * MB, 1));
        refuse = 1;
        if (way)
            assert_true(ftb_resize(ctx, &p, 6 * MB, 1));
        else
            assert_non_null(room = ftb_new(ctx, 6 * MB, 1));
        assert_int_equal(refuse, 0);
        assert_int_equal(atomic_load(&ctx->spare_bytes), 0);
        ftb_delete(p);
        if (!way)
            ftb_delete(room);
    }
    end(ctx);
    assert_ok(FtB_set_allocator(NULL, NULL, NULL));
}

static atomic_int nworkers;

static void *worker(void *ctx)
{
    rng r = rng_case(atomic_fetch_add(&nworkers, 1));
    for (int t = 0; t < 200; t++) {
        const int64_t size = MB + rng_below(&r, 2 * MB);
        char *p = ftb_new(ctx, size, 1);
        assert(p);
        p[0] = p[size - 1] = (char)t;
        assert(p[0] == (char)t);
        ftb_delete(p);
        if (t % 16 == 0)
            ftb_spare_round(ctx);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    FtB_Context ctx = begin();
    pthread_t workers[4];
    for (int k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&workers[k], NULL, worker, ctx), 0);
    for (int k = 0; k < 4; k++)
        pthread_join(workers[k], NULL);
    end(ctx);
}

static int large; /* allocations of 1 MB and more */
static void *counting_malloc(size_t size)
{
    large += size >= (size_t)MB;
    return malloc(size);
}

/* n vertices on a ring, of which each hears the 8 that follow. */
static FtB_Matrix ring(int64_t n)
{
    FtB_Matrix A;
    int64_t *I = malloc((size_t)(8 * n) * sizeof *I), *J = malloc((size_t)(8 * n) * sizeof *J);
    for (int64_t e = 0; e < 8 * n; e++) {
        I[e] = e / 8;
        J[e] = (e / 8 + 1 + e % 8) % n;
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, n, n, 0, 8 * n, I, J, NULL, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    return A;
}

/* A tape and a loader keep memory while they are there: batches after the first few find all that they want.
 */
static void training(void **state)
{
    enum { N = 40000, D = 32, BATCH = 4000 };
    FtB_Context ctx;
    FtB_Block X;
    FtB_Loader l;
    FtB_Tape tape;
    FtB_Layer layer;
    int64_t *seeds = malloc(N * sizeof *seeds), nbatches = 0;
    int32_t *labels = calloc(N, sizeof *labels);
    int before_last = 0;
    (void)state;
    assert_ok(FtB_set_allocator(counting_malloc, realloc, free));
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Context_set_threads(ctx, 1));
    FtB_Matrix A = ring(N);
    assert_ok(FtB_Block_new(&X, N, D, FTB_FP32));
    for (int64_t t = 0; t < N; t++)
        seeds[t] = t;
    assert_ok(FtB_Layer_new(&layer, "sage", D, 8, NULL));
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(
        FtB_Loader_new(&l, A, X, labels, seeds, N, FTB_LOADER(.fanout = {4}, .batch = BATCH, .seed = 1)));
    for (FtB_Batch b; (b = FtB_Loader_next(l)) != NULL; nbatches++) {
        assert_ok(FtB_Tape_reset(tape));
        before_last = nbatches == 4 ? large : before_last;
        FtB_Var x = FtB_sage(layer, FtB_Batch_hop(b, 0), FtB_input(tape, FtB_Batch_features(b)));
        assert_ok(FtB_backward(FtB_cross_entropy(x, FtB_Batch_labels(b), NULL)));
    }
    assert_ok(FtB_Loader_status(l));
    assert_int_equal(nbatches, N / BATCH);
    print_message("%d large allocations, of the last five of ten batches %d\n", large, large - before_last);
    assert_true(before_last > 0 && large <= before_last + 1); /* a batch may be larger than all before */
    FtB_Loader_free(&l);
    FtB_Tape_free(&tape);
    assert_int_equal(atomic_load(&ctx->spare_bytes), 0);
    FtB_Layer_free(&layer);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    assert_int_equal(held(ctx), 0);
    FtB_Context_free(&ctx);
    assert_ok(FtB_set_allocator(NULL, NULL, NULL));
    free(seeds);
    free(labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_again),
        cmocka_unit_test(best_of_all),
        cmocka_unit_test(only_while_wanted),
        cmocka_unit_test(asked_for),
        cmocka_unit_test(forked),
        cmocka_unit_test(gives_way),
        cmocka_unit_test(rounds),
        cmocka_unit_test(failing_allocation),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(threads),
        cmocka_unit_test(training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
