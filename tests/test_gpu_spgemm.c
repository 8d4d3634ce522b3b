/* Sparse x sparse products on a GPU that does not exist (support/fake_cuda), whose kernels the emulator runs:
 * the library's own calls give the host's bits, for every kind of message that kernels know, whatever is kept
 * of a row, in one chunk and in many, in tiles and in hashes; sums are those of slow loops. What the GPU
 * lacks is done on the host. Where there is no emulator the host does all of it. */
#include "support/check.h"

#include "core/core.h"
#include "gpu/memory.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/fakes.h"
#include "support/gpu_spgemm.h"
#include "support/real_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- projections */

static const projection projections[] = {
    {"plus : 1", FTB_FP32, NONE, FTB_INT64, 1, true, NULL, NULL},
    {"any : 1", FTB_FP32, NONE, FTB_INT64, 1, true, NULL, NULL},
    {"any : 2.5", FTB_FP64, NONE, FTB_FP64, 1, true, NULL, NULL},
    {"any : 1 > 0", FTB_FP32, NONE, FTB_BOOL, 1, true, NULL, NULL},
    {"plus : a * b", FTB_FP32, REALS, FTB_FP32, 1, true, NULL, NULL},
    {"plus : a * b", FTB_FP64, REALS, FTB_FP64, 1, true, NULL, NULL},
    {"plus : a * b", FTB_FP16, REALS, FTB_FP32, 1, true, NULL, NULL},
    {"plus : a * b", FTB_BF16, REALS, FTB_FP32, 1, true, NULL, NULL},
    {"plus : a * b", FTB_FP32, RATINGS, FTB_FP32, 1, true, NULL, NULL},
    {"plus : a * b", FTB_INT32, RATINGS, FTB_INT64, 1, true, NULL, NULL},
    {"plus : a / (a + 2 * b)", FTB_FP32, RATINGS, FTB_FP32, 1, true, NULL, NULL},
    {"plus : a / (a + 2 * b)", FTB_FP64, RATINGS, FTB_FP64, 1, true, NULL, NULL},
    {"plus : a / 3 + b", FTB_UINT8, RATINGS, FTB_FP64, 1, true, NULL, NULL},
    {"plus : [1, a, b, a * b, a * a, b * b]", FTB_FP32, RATINGS, FTB_FP32, 6, true, NULL, NULL},
    {"plus : [1, a, b, a * b, a * a, b * b]", FTB_INT16, RATINGS, FTB_INT64, 6, true, NULL, NULL},
    {"plus : [a, -b]", FTB_FP32, RATINGS, FTB_FP32, 2, true, NULL, NULL},
    {"plus : [a - b, a / 3, b]", FTB_FP64, RATINGS, FTB_FP64, 3, true, NULL, NULL},
    {"plus : [a - b, a / 3, b, a, a / 7]", FTB_FP32, RATINGS, FTB_FP32, 5, true, NULL, NULL},
    {"min : a + b", FTB_FP32, REALS, FTB_FP32, 1, false, NULL, NULL},
    {"mean : a * b", FTB_FP32, REALS, FTB_FP32, 1, false, NULL, NULL},
    {"plus : a * b + i", FTB_FP32, REALS, FTB_FP32, 1, false, NULL, NULL},
};
enum { PROJECTIONS = sizeof projections / sizeof *projections };

static int64_t lists[2][40];

/* What is kept, by number. */
static FtB_Project_options options_of(int n, const projection *p)
{
    FtB_Project_options o = *FTB_PROJECT_OPTIONS(.self_loops = n % 3 == 1);
    o.onto = n % 4 == 1 ? FTB_ROWS : FTB_COLS;
    o.triangle = n % 5 == 2;
    if (p->width == 1 && n % 2 == 1) {
        o.top_k = n % 3 ? 3 : 1;
        o.use_min_weight = n % 6 == 5;
        o.min_weight = 0.5;
    }
    if (n % 7 == 3) {
        o.min_degree = 2;
        o.max_degree = 12;
    }
    if (n % 7 == 4) {
        o.sources = lists[0];
        o.targets = lists[1];
        o.nsources = 5;
        o.ntargets = 9;
    }
    return o;
}

/* Entry (i, j) of a product in double; of widths beyond 1 and of what is not here NAN. */
static double slow(const projection *p, FtB_Matrix R, bool rows, int64_t i, int64_t j, double *size)
{
    const int64_t n = rows ? R->pattern->ncols : R->pattern->nrows;
    const bool times = strcmp(p->weight, "plus : a * b") == 0, ones = strcmp(p->weight, "plus : 1") == 0;
    double sum = 0;
    *size = 0;
    for (int64_t k = 0; k < n; k++) {
        const double a = rows ? value_at(R, i, k, 0, NAN) : value_at(R, k, i, 0, NAN),
                     b = rows ? value_at(R, j, k, 0, NAN) : value_at(R, k, j, 0, NAN);
        if (isnan(a) || isnan(b))
            continue;
        sum += ones ? 1 : a * b;
        *size += ones ? 1 : fabs(a * b);
    }
    return times || ones ? sum : NAN;
}

static void check_sums(const projection *p, FtB_Matrix R, bool rows, FtB_Matrix C)
{
    for (int64_t i = 0; i < C->pattern->nrows; i++)
        for (int64_t e = C->pattern->rowptr[i]; e < C->pattern->rowptr[i + 1]; e++) {
            double size;
            const int64_t j = ftb_col(C->pattern, e);
            const double wanted = slow(p, R, rows, i, j, &size),
                         got = ftb_get_real(ftb_values(C), C->type, e);
            if (!isnan(wanted) && !(fabs(got - wanted) <= 1e-6 * size))
                fail_msg("%s: (%lld, %lld) is %.9g, not %.9g", p->weight, (long long)i, (long long)j, got,
                         wanted);
        }
}

static void projects_as(rng *r, const projection *p, int n, const gpu_size *g, int64_t nrows, int64_t ncols)
{
    FtB_Matrix R = gpu_matrix(r, p->type, nrows, ncols, p->kind);
    const FtB_Project_options o = options_of(n, p);
    for (int which = 0; which < 2; which++)
        for (int k = 0; k < 40; k++)
            lists[which][k] = (k * 7 + which) % ftb_min(nrows, ncols);
    /* few messages are not tabulated */
    const bool surely = p->kind != RATINGS || (ftb_min(nrows, ncols) >= 30 && !o.sources && !o.max_degree);
    FtB_Matrix C = gpu_projects_as_host(p, R, &o, g, surely);
    check_sums(p, R, o.onto == FTB_ROWS, C);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&R);
}

/* All messages, with whatever options, on GPUs that make few and many chunks and tiles. */
static void messages(void **state)
{
    static const gpu_size *const sizes[] = {&as_it_is, &of_tiles, &of_chunks, &tiny};
    rng r = rng_new();
    (void)state;
    for (int k = 0; k < PROJECTIONS; k++)
        for (int n = 0; n < 2; n++)
            projects_as(&r, &projections[k], 3 * k + n, sizes[(k + n) % 4], 40 + 3 * n, n ? 34 : 31);
}

/* Every way to keep entries, of counts and of reals. */
static void options(void **state)
{
    static const gpu_size *const sizes[] = {&as_it_is, &tiny};
    static const int some[] = {0, 4, 10};
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < 28; n++)
        projects_as(&r, &projections[some[n % 3]], n, sizes[n / 3 % 2], 30, 34);
}

/* Rows of many columns, which are hashed where they are short; and of few. */
static void shapes(void **state)
{
    static const int64_t list[][2] = {{1, 1}, {1, 70}, {300, 1}, {9, 100}, {200, 9}};
    static const int some[] = {0, 4, 5, 10, 13};
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++)
        for (int k = 0; k < 5; k++)
            projects_as(&r, &projections[some[k]], k == 3 ? 0 : 2, n % 2 ? &of_tiles : &as_it_is, list[n][0],
                        list[n][1]);
}

/* ---- two operands */

/* Rows that are hashed, in tables of both sizes, and some that are not. */
static void hashed(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int64_t degree = 3; degree < 700; degree *= 3) {
        const bool few = degree > 100; /* rows, which are long */
        FtB_Matrix A = gpu_scattered(&r, FTB_FP32, few ? 4 : 60, 30, few ? 8 : 5),
                   B = gpu_scattered(&r, FTB_FP32, 30, 30000, degree),
                   D = gpu_scattered(&r, FTB_FP64, 30, 30000, degree);
        gpu_multiplies_as_host("plus : a * b", FTB_FP32, A, B, FtB_Arg_none(), true);
        gpu_multiplies_as_host("plus : a * b", FTB_FP64, A, D, FtB_Arg_none(), true);
        gpu_multiplies_as_host("plus : 1", FTB_INT64, A, B, FtB_Arg_none(), true);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
        FtB_Matrix_free(&D);
    }
}

static void products(void **state)
{
    rng r = rng_new();
    (void)state;
    FtB_Matrix A = gpu_matrix(&r, FTB_FP32, 30, 45, REALS), B = gpu_matrix(&r, FTB_FP32, 45, 60, REALS),
               D = gpu_matrix(&r, FTB_FP64, 45, 60, REALS), P = gpu_matrix(&r, FTB_INT16, 45, 60, NONE),
               T = gpu_matrix(&r, FTB_FP32, 45, 30, REALS), Q = gpu_matrix(&r, FTB_INT16, 45, 60, RATINGS),
               S = gpu_matrix(&r, FTB_FP32, 20, 60, REALS);
    gpu_use(&of_tiles);
    gpu_multiplies_as_host("plus : a * b", FTB_FP32, A, B, FtB_Arg_none(), true);
    gpu_multiplies_as_host("plus : a * b", FTB_FP64, A, D, FtB_Arg_none(), true);
    gpu_multiplies_as_host("plus : a * b", FTB_FP32, A, Q, FtB_Arg_none(), true);
    gpu_multiplies_as_host("plus : b * a", FTB_FP32, T, B, FTB_ARG(FTB_DESC_T0), true);
    gpu_multiplies_as_host("plus : a * b", FTB_FP32, B, S, FTB_ARG(FTB_DESC_T1), true);
    gpu_multiplies_as_host("plus : 1", FTB_INT64, A, P, FtB_Arg_none(), true);
    gpu_multiplies_as_host("max : a - b", FTB_FP32, A, B, FtB_Arg_none(), false);
    gpu_use(&as_it_is);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&D);
    FtB_Matrix_free(&P);
    FtB_Matrix_free(&T);
    FtB_Matrix_free(&Q);
    FtB_Matrix_free(&S);
}

/* Counts that 16 bits do not hold, beside those that they just do. */
static void large_counts(void **state)
{
    enum { LEFT = 65535 + 4465, ROWS = 3, COLS = 40 };
    static const int64_t left[ROWS] = {65535, LEFT, 65536};
    int64_t *I = malloc((LEFT * ROWS) * sizeof *I), *J = malloc((LEFT * ROWS) * sizeof *J), n = 0;
    FtB_Matrix A, B, C;
    (void)state;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < left[i]; k++, n++) {
            I[n] = i;
            J[n] = k;
        }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, LEFT, 0, n, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (n = 0; n < LEFT; n++) {
        I[n] = n;
        J[n] = n < 69000 ? 7 : 33 + n % 7;
    }
    assert_ok(FtB_Matrix_build(&B, FTB_FP32, LEFT, COLS, 0, n, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (int cols = 0; cols < 2; cols++) {
        gpu_use(cols ? &of_tiles : &as_it_is);
        assert_ok(FtB_Matrix_new(&C, FTB_INT64, ROWS, COLS, 1));
        const int before = fake_gpu_launches();
        assert_ok(FtB_mxm(C, NULL, NULL, "plus : 1", A, B, NULL));
        assert_ok(ftb_buffer_ask(C->values, FTB_READ));
        assert_true(fake_gpu_launches() > before || !fake_gpu_emulates());
        for (int i = 0; i < ROWS; i++) {
            double sum = 0;
            assert_true(value_at(C, i, 7, 0, 0) == (double)ftb_min(left[i], 69000));
            for (int j = 0; j < COLS; j++)
                sum += value_at(C, i, j, 0, 0);
            assert_true(sum == (double)left[i]);
        }
        FtB_Matrix_free(&C);
    }
    gpu_use(&as_it_is);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    free(I);
    free(J);
}

/* A mask lets through what it has, or what is not 0 of it: of rows with few entries, and with many. */
static void masks(void **state)
{
    static const FtB_Type types[] = {FTB_BOOL, FTB_INT16, FTB_FP32, FTB_FP64};
    static const FtB_Arg none = {0};
    rng r = rng_new();
    (void)state;
    FtB_Matrix A = gpu_matrix(&r, FTB_FP32, 24, 45, REALS), B = gpu_matrix(&r, FTB_FP32, 45, 700, REALS);
    for (int n = 0; n < 12; n++) {
        const FtB_Type type = types[n % 4];
        const char *const text = n % 3 ? "plus : a * b" : "plus : 1";
        const FtB_Type out = n % 3 ? FTB_FP32 : FTB_INT64;
        FtB_Matrix M = rng_matrix(&r, type, 24, 700, n % 5 != 0, n % 2 ? 0.6 : 0.03), C[2];
        FtB_Semiring s;
        FtB_Stats stats[2];
        const FtB_Arg how = n % 2 ? FTB_ARG(FTB_DESC_S) : n % 4 ? FTB_ARG(FTB_DESC_C) : none;
        const int before = fake_gpu_launches();
        assert_ok(FtB_Semiring_new(&s, text));
        for (int gpu = 0; gpu < 2; gpu++) {
            FtB_Sink sink;
            gpu_place(gpu ? "gpu" : "cpu");
            gpu_use(gpu && n % 4 == 1 ? &tiny : &as_it_is);
            assert_ok(FtB_Matrix_new(&C[gpu], out, 24, 700, 1));
            assert_ok(FtB_mxm(C[gpu], M, NULL, s, A, B, how));
            assert_ok(ftb_buffer_ask(C[gpu]->values, FTB_READ));
            if (how.handle == FTB_DESC_C)
                continue;
            assert_ok(FtB_Sink_stats(&sink));
            assert_ok(FtB_mxm(sink, M, NULL, s, A, B, how));
            assert_ok(FtB_Sink_get_stats(sink, &stats[gpu]));
            FtB_Sink_free(&sink);
        }
        gpu_use(&as_it_is);
        assert_true(fake_gpu_launches() > before || !fake_gpu_emulates());
        assert_same(C[0], C[1]);
        if (how.handle != FTB_DESC_C)
            assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
        FtB_Semiring_free(&s);
        FtB_Matrix_free(&M);
        FtB_Matrix_free(&C[0]);
        FtB_Matrix_free(&C[1]);
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* ---- sinks */

/* Statistics, which are made there for counts, and of rows that come home else. */
static void statistics(void **state)
{
    static const gpu_size *const sizes[] = {&as_it_is, &tiny};
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < 9; n++) {
        const projection *p = &projections[n % 2 ? 4 : 0];
        FtB_Matrix R = gpu_matrix(&r, p->type, 20, 40, p->kind);
        FtB_Stats stats[2];
        for (int gpu = 0; gpu < 2; gpu++) {
            FtB_Sink sink;
            gpu_place(gpu ? "gpu" : "cpu");
            gpu_use(gpu ? sizes[n / 2 % 2] : &as_it_is);
            assert_ok(FtB_Sink_stats(&sink));
            assert_ok(FtB_project(sink, R, p->weight,
                                  FTB_PROJECT_OPTIONS(.triangle = n / 3 == 1, .self_loops = n / 3 == 2)));
            assert_ok(FtB_Sink_get_stats(sink, &stats[gpu]));
            FtB_Sink_free(&sink);
        }
        gpu_use(&as_it_is);
        assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
        FtB_Matrix_free(&R);
    }
}

typedef struct seen {
    int64_t calls, rows, entries;
} seen;

static GrB_Info take(const FtB_Rows *rows, void *arg)
{
    seen *s = arg;
    assert_int_equal(rows->row0, s->rows);
    s->calls++;
    s->rows += rows->nrows;
    s->entries += rows->rowptr[rows->nrows];
    return GrB_SUCCESS;
}

/* A result that the GPU's memory does not hold comes in pieces; what is at home stays in the limit. */
static void streams(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates() || real_gpu()) { /* which has more memory than a test fills */
        printf("skipped: a GPU that holds little\n");
        return;
    }
    FtB_Matrix R = gpu_matrix(&r, FTB_FP32, 60, 400, NONE);
    seen host = {0}, there = {0};
    FtB_Sink sink;
    int64_t used;
    gpu_place("cpu");
    assert_ok(FtB_Sink_callback(&sink, take, &host));
    assert_ok(FtB_project(sink, R, "plus : 1", NULL));
    FtB_Sink_free(&sink);
    gpu_place("gpu");
    assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
    setenv("FAKE_CUDA_MEMORY", "700000", 1);
    assert_true(host.entries * 12 > 700000);
    assert_ok(FtB_Context_memory(NULL, &used, NULL));
    assert_ok(FtB_Context_set_memory_limit(NULL, used + (1 << 20)));
    const int before = fake_gpu_launches();
    assert_ok(FtB_Sink_callback(&sink, take, &there));
    assert_ok(FtB_project(sink, R, "plus : 1", NULL));
    FtB_Sink_free(&sink);
    assert_ok(FtB_Context_set_memory_limit(NULL, 0));
    unsetenv("FAKE_CUDA_MEMORY");
    assert_true(fake_gpu_launches() - before > 12); /* of some chunks */
    assert_int_equal(there.entries, host.entries);
    assert_int_equal(there.rows, host.rows);
    assert_true(there.calls > 3);
    FtB_Matrix_free(&R);
}

/* ---- failures */

/* Any call of the driver's fails: before rows were delivered the host does it, after that it is an error, and
 * the result is as it was. */
static void failures(void **state)
{
    static const char *const calls[] = {"cuLaunchKernel",     "cuMemAlloc",         "cuMemcpyHtoDAsync",
                                        "cuMemcpyDtoHAsync",  "cuEventRecord",      "cuStreamWaitEvent",
                                        "cuEventSynchronize", "cuModuleGetFunction"};
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    const FtB_Project_options o = *FTB_PROJECT_OPTIONS(.top_k = 4);
    FtB_Matrix R = gpu_matrix(&r, FTB_FP32, 20, 30, REALS), C, H = gpu_project(&projections[4], R, &o, "cpu");
    int broken = 0;
    gpu_use(&of_chunks);
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++)
        for (int at = 1, left = 0; !left && at < 60; at += 1 + at / 8) {
            char text[16];
            snprintf(text, sizeof text, "%d", at);
            assert_ok(FtB_Matrix_new(&C, FTB_FP32, 30, 30, 1));
            setenv("FAKE_CUDA_FAILS", calls[n], 1);
            setenv("FAKE_CUDA_AT", text, 1);
            const GrB_Info info = FtB_project(C, R, "plus : a * b", &o);
            left = getenv("FAKE_CUDA_AT") != NULL;
            unsetenv("FAKE_CUDA_FAILS");
            unsetenv("FAKE_CUDA_AT");
            if (info == GrB_SUCCESS) {
                assert_ok(ftb_buffer_ask(C->values, FTB_READ));
                assert_same(C, H);
            } else {
                assert_int_equal(info, GrB_PANIC);
                assert_non_null(strstr(FtB_error(), "half of a product was done: gpu:0: "));
                assert_int_equal(C->pattern->nvals, 0);
                broken++;
            }
            FtB_Matrix_free(&C);
        }
    gpu_use(&as_it_is);
    assert_true(broken > 0);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&H);
}

static GrB_Info call(void *arg)
{
    const int64_t I[] = {0, 0, 2, 2, 3}, J[] = {1, 2, 0, 1, 1};
    const float x[] = {1, 2, 3, 4, 5};
    FtB_Matrix R = NULL, C = NULL;
    GrB_Info info = FtB_Matrix_build(&R, FTB_FP32, 4, 3, 1, 5, I, J, x, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&C, FTB_FP32, 3, 3, 1);
    if (info == GrB_SUCCESS)
        info = FtB_project(C, R, (const char *)arg, FTB_PROJECT_OPTIONS(.top_k = 1));
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
    return info;
}

static void allocations(void **state)
{
    char count[] = "plus : 1", dot[] = "plus : a * b";
    (void)state;
    fail_every_allocation(call, NULL, count);
    fail_every_allocation(call, NULL, dot);
}

static GrB_Info refuse(const FtB_Rows *rows, void *arg)
{
    (void)arg;
    return rows->row0 + rows->nrows > 4 ? GrB_INVALID_INDEX : GrB_SUCCESS;
}

/* What the sink says ends it. */
static void refused(void **state)
{
    rng r = rng_new();
    (void)state;
    FtB_Matrix R = gpu_matrix(&r, FTB_FP32, 20, 30, NONE);
    FtB_Sink sink;
    gpu_use(&tiny);
    assert_ok(FtB_Sink_callback(&sink, refuse, NULL));
    assert_int_equal(FtB_project(sink, R, "plus : 1", NULL), GrB_INVALID_INDEX);
    FtB_Sink_free(&sink);
    gpu_use(&as_it_is);
    FtB_Matrix_free(&R);
}

int main(void)
{
    setenv("FAKE_NVRTC_TEXTS", "0", 1); /* texts are another test's */
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(messages, beside_clean),
                                       cmocka_unit_test_teardown(options, beside_clean),
                                       cmocka_unit_test_teardown(shapes, beside_clean),
                                       cmocka_unit_test_teardown(products, beside_clean),
                                       cmocka_unit_test_teardown(hashed, beside_clean),
                                       cmocka_unit_test_teardown(masks, beside_clean),
                                       cmocka_unit_test_teardown(large_counts, beside_clean),
                                       cmocka_unit_test_teardown(statistics, beside_clean),
                                       cmocka_unit_test_teardown(streams, beside_clean),
                                       cmocka_unit_test_teardown(failures, beside_clean),
                                       cmocka_unit_test_teardown(allocations, beside_clean),
                                       cmocka_unit_test_teardown(refused, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
