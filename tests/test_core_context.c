/* Contexts: threads, progress, cancellation, lifetime, forks, and independent objects in two threads. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include "core/core.h"
#include "core/words.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void settings(void **state)
{
    (void)state;
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_true(ftb_threads(ctx) >= 1);
    assert_ok(FtB_Context_set_threads(ctx, 3));
    assert_int_equal(ftb_threads(ctx), 3);
    assert_fails(GrB_INVALID_VALUE, "threads is -1", FtB_Context_set_threads(ctx, -1));
    assert_int_equal(ftb_threads(ctx), 3);
    assert_fails(GrB_INVALID_VALUE, "-5 bytes", FtB_Context_set_memory_limit(ctx, -5));
    assert_int_equal(ftb_memory_left(ctx), INT64_MAX);
    assert_int_equal(ftb_precision(ctx), FTB_PRECISION_FP32);
    assert_ok(FtB_Context_set_matmul_precision(ctx, FTB_PRECISION_BF16));
    assert_int_equal(ftb_precision(ctx), FTB_PRECISION_BF16);
    assert_fails(GrB_INVALID_VALUE, "precision is 4; expected one of FTB_PRECISION_",
                 FtB_Context_set_matmul_precision(ctx, (FtB_Precision)4));
    assert_ok(FtB_Context_set_deterministic(ctx, true));
    assert_int_equal(ftb_precision(ctx), FTB_PRECISION_FP32);
    assert_ok(FtB_Context_set_deterministic(ctx, false));
    assert_int_equal(ftb_precision(ctx), FTB_PRECISION_BF16);
    assert_ok(FtB_Context_set_seed(ctx, 7));
    assert_int_equal(ctx->seed, 7);
    assert_ok(FtB_Context_set_tmpdir(ctx, "/var/tmp"));
    assert_string_equal(ctx->tmpdir, "/var/tmp");
    assert_ok(FtB_Context_set_tmpdir(ctx, NULL));
    assert_null(ctx->tmpdir);
    assert_ok(FtB_Context_set_tmpdir(ctx, "/tmp"));
    assert_fails(GrB_NULL_POINTER, "ctx is NULL", FtB_Context_new(NULL));
    FtB_Context_free(&ctx);
}

/* Messages of limits have sizes as people and --memory-limit write them. */
static void sizes_in_messages(void **state)
{
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {{0, "0 bytes"},
                 {1023, "1023 bytes"},
                 {1024, "1K"},
                 {1025, "2K"},
                 {10239 * 1024.0, "10239K"},
                 {57 * 1048576.0, "57M"},
                 {57 * 1048576.0 + 1, "58369K"},
                 {157 * 1048576.0 + 1, "158M"},
                 {1536 * 1048576.0, "1536M"},
                 {0x1p41, "2T"},
                 {0x1p63, "8192P"}};
    char buffer[FTB_WORDS];
    FtB_Context ctx;
    FtB_Block X;
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        assert_string_equal(ftb_bytes_text(buffer, cases[c].bytes), cases[c].text);
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Context_set_memory_limit(ctx, 57 << 20));
    assert_fails(FTB_LIMIT, "memory limit: 81921K more would make 81921K",
                 FtB_Block_new(&X, 80 << 10, 1 << 7, FTB_FP64));
    assert_non_null(strstr(FtB_error(), ", the context's limit is 57M"));
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

static void objects_belong_to_the_engaged_context(void **state)
{
    (void)state;
    FtB_Context ctx, outside = ftb_context();
    FtB_Matrix A, B;
    int64_t now;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    assert_ptr_equal(ftb_context(), ctx);
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 10, 10, 1));
    assert_ok(FtB_Context_engage(NULL));
    assert_ptr_equal(ftb_context(), outside);
    assert_ptr_equal(A->ctx, ctx);
    assert_ok(FtB_Context_memory(ctx, &now, NULL));
    assert_true(now > 80);
    assert_ok(FtB_Matrix_dup(&B, A));
    assert_ptr_equal(B->ctx, outside);
    /* Freed while engaged: the default takes over; A keeps the context alive. */
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Context_free(&ctx));
    assert_ptr_equal(ftb_context(), outside);
    assert_int_equal(A->pattern->nvals, 0);
    FtB_Matrix_free(&A);
    assert_int_equal(B->pattern->rowptr[10], 0);
    FtB_Matrix_free(&B);
}

static int calls;

static bool count_calls(double done, double total, const char *what, void *arg)
{
    calls++;
    assert_true(done >= 0 && total == 10);
    assert_string_equal(what, "things");
    return *(bool *)arg;
}

static void progress_is_rare_and_can_cancel(void **state)
{
    (void)state;
    FtB_Context ctx;
    bool go_on = true;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_progress(ctx, count_calls, &go_on));
    calls = 0;
    for (int t = 0; t < 10; t++)
        assert_ok(ftb_progress(ctx, t, 10, "things"));
    assert_true(calls >= 1); /* the first at once */
    go_on = false;
    assert_ok(FtB_Context_progress(ctx, count_calls, &go_on));
    assert_fails(FTB_CANCELLED, "cancelled", ftb_progress(ctx, 5, 10, "things"));
    assert_true(ftb_cancelled(ctx));
    ftb_cancel_clear(ctx);
    assert_false(ftb_cancelled(ctx));
    assert_ok(FtB_Context_progress(ctx, NULL, NULL));
    assert_ok(ftb_progress(ctx, 5, 10, "things"));
    FtB_Context_free(&ctx);
}

static void cancel_default(int signal_number)
{
    (void)signal_number;
    FtB_Context_cancel(NULL);
}

static void cancel_from_a_signal_handler(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = cancel_default}, old;
    sigaction(SIGUSR1, &action, &old);
    assert_ok(ftb_progress(NULL, 0, 0, "things"));
    raise(SIGUSR1);
    assert_fails(FTB_CANCELLED, "cancelled", ftb_progress(NULL, 0, 0, "things"));
    ftb_cancel_clear(NULL);
    sigaction(SIGUSR1, &old, NULL);
}

static void a_child_is_single_threaded(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A, T;
    int64_t n = 20000, *I = malloc(sizeof *I * (size_t)n), *J = malloc(sizeof *J * (size_t)n);
    for (int64_t t = 0; t < n; t++) {
        I[t] = rng_below(&r, 300);
        J[t] = rng_below(&r, 300);
    }
    assert_ok(FtB_Context_set_threads(NULL, 2));
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 300, 300, 0, n, I, J, NULL, FTB_DUP_SUM,
                               NULL)); /* threads exist now */
    FtB_Matrix_free(&A);
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* a hang ends in a signal */
        bool good =
            ftb_forked() && ftb_threads(NULL) == 1 &&
            FtB_Matrix_build(&A, FTB_BOOL, 300, 300, 0, n, I, J, NULL, FTB_DUP_SUM, NULL) == GrB_SUCCESS &&
            ftb_matrix_transpose(&T, A) == GrB_SUCCESS;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_false(ftb_forked());
    assert_ok(FtB_Context_set_threads(NULL, 0));
    free(I);
    free(J);
}

#define THREADS 4

typedef struct job {
    int number;
    FtB_Matrix shared;
    bool good;
} job;

/* A thread with a context and objects of its own, and a matrix that all read. */
static void *work(void *arg)
{
    job *j = arg;
    FtB_Context ctx;
    int64_t I[] = {2, 0, j->number}, J[] = {1, 1, j->number}, now;
    double X[] = {1, 2, 3};
    bool good = FtB_Context_new(&ctx) == GrB_SUCCESS && FtB_Context_engage(ctx) == GrB_SUCCESS;
    FtB_Matrix T = NULL, A = NULL, S = NULL;
    for (int round = 0; round < 50 && good; round++) {
        good = FtB_Matrix_build(&A, FTB_FP64, 5, 5, 1, 3, I, J, X, FTB_DUP_SUM, NULL) == GrB_SUCCESS &&
               ftb_matrix_transpose(&T, j->shared) == GrB_SUCCESS &&
               FtB_Matrix_dup(&S, j->shared) == GrB_SUCCESS &&
               FtB_Matrix_build(NULL, FTB_FP64, 5, 5, 1, 3, I, J, X, FTB_DUP_SUM, NULL) == GrB_NULL_POINTER &&
               strstr(FtB_error(), "A is NULL") && T->pattern->nrows == j->shared->pattern->ncols;
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&T);
        FtB_Matrix_free(&S);
    }
    good = good && FtB_Context_memory(ctx, &now, NULL) == GrB_SUCCESS && now == 0;
    j->good = good;
    FtB_Context_free(&ctx);
    return NULL;
}

static void independent_threads(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 40, 30, 1, 0.3);
    pthread_t threads[THREADS];
    job jobs[THREADS];
    for (int t = 0; t < THREADS; t++) {
        jobs[t] = (job){.number = t, .shared = A};
        assert_int_equal(pthread_create(&threads[t], NULL, work, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        assert_true(jobs[t].good);
    }
    FtB_Matrix_free(&A);
}

/* A thread that ends with a context engaged lets go of it. */
static void *engage_only(void *arg)
{
    FtB_Context_engage(arg);
    return NULL;
}

static void threads_let_go(void **state)
{
    (void)state;
    FtB_Context ctx;
    pthread_t thread;
    assert_ok(FtB_Context_new(&ctx));
    pthread_create(&thread, NULL, engage_only, ctx);
    pthread_join(thread, NULL);
    assert_int_equal(ctx->refs, 1);
    FtB_Context_free(&ctx);
}

static GrB_Info make_context(void *arg)
{
    (void)arg;
    FtB_Context ctx;
    GrB_Info info = FtB_Context_new(&ctx);
    if (info == GrB_SUCCESS)
        info = FtB_Context_set_tmpdir(ctx, "/tmp");
    FtB_Context_free(&ctx);
    return info;
}

static void failing_allocation(void **state)
{
    (void)state;
    fail_every_allocation(make_context, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),
        cmocka_unit_test(sizes_in_messages),
        cmocka_unit_test(objects_belong_to_the_engaged_context),
        cmocka_unit_test(progress_is_rare_and_can_cancel),
        cmocka_unit_test(cancel_from_a_signal_handler),
        cmocka_unit_test(a_child_is_single_threaded),
        cmocka_unit_test(independent_threads),
        cmocka_unit_test(threads_let_go),
        cmocka_unit_test(failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
