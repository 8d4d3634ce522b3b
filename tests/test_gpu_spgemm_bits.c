/* Counts whose most frequent columns are bits, and statistics of what rows are in the end, on a GPU that does
 * not exist (support/fake_cuda): whole calls give the host's bits, plans say what was chosen, nothing but
 * statistics comes home where only these are wanted, and what cannot be had is done without. Where there is
 * no emulator the host does all of it. */
#include "support/check.h"

#include "core/core.h"
#include "gpu/memory.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/fakes.h"
#include "support/gpu_spgemm.h"
#include "support/real_gpu.h"

#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 640 };

static int copies_home(void)
{
    static int (*calls)(const char *);
    fake_find("fake_cuda", "fake_cuda_calls", &calls);
    return calls("cuMemcpyDtoHAsync");
}

static const char *explained(FtB_Plan plan)
{
    static char text[4096];
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_ok(FtB_Plan_explain(plan, file));
    fclose(file);
    return text;
}

/* R projected with so many columns as bits ("": the rule's choice); *launches: of it. */
static FtB_Matrix project(FtB_Matrix R, FtB_Project_options o, const char *hot, int *launches)
{
    const int64_t n = o.onto == FTB_ROWS ? R->pattern->nrows : R->pattern->ncols;
    FtB_Matrix C;
    double chosen;
    assert_ok(FtB_Matrix_new(&C, FTB_INT64, n, n, 1));
    assert_ok(FtB_project_plan(&o.plan, C, R, "plus : 1", &o, FTB_ESTIMATE));
    if (*hot)
        assert_ok(FtB_Plan_set(o.plan, "hot", hot));
    assert_ok(FtB_Plan_get(o.plan, "gpu_hot", &chosen));
    if (fake_gpu_emulates() && ftb_device(ftb_context()))
        assert_true(chosen == atoi(hot));
    const int before = fake_gpu_launches();
    assert_ok(FtB_project(C, R, "plus : 1", &o));
    *launches = fake_gpu_launches() - before;
    assert_ok(ftb_buffer_ask(C->values, FTB_READ));
    FtB_Plan_free(&o.plan);
    return C;
}

/* In one tile and in some, in one chunk and in many, of whole rows, a triangle, the largest, and some
 * columns: bits take a launch more. */
static void bits(void **state)
{
    static const gpu_size *const sizes[] = {&as_it_is, &of_tiles, &of_chunks};
    static const int64_t some[] = {0, 3, 6, 311, 600, 639};
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < 9; n++) {
        FtB_Matrix R = gpu_matrix(&r, FTB_FP32, 18, COLUMNS, NONE);
        FtB_Project_options o = *FTB_PROJECT_OPTIONS(.triangle = n % 3 == 1, .self_loops = n % 2 == 1,
                                                     .sources = some, .nsources = 6);
        if (n % 4 == 2)
            o.top_k = 5;
        if (n % 4 == 3) {
            o.targets = some;
            o.ntargets = 5;
        }
        int plain, hot, host;
        gpu_place("cpu");
        FtB_Matrix H = project(R, o, "", &host);
        gpu_place("gpu");
        gpu_use(sizes[n % 3]);
        FtB_Matrix C = project(R, o, "0", &plain), D = project(R, o, "512", &hot);
        gpu_use(&as_it_is);
        assert_same(C, H);
        assert_same(D, H);
        if (fake_gpu_emulates() && !real_gpu())
            assert_int_equal(hot, plain + 1);
        FtB_Matrix_free(&C);
        FtB_Matrix_free(&D);
        FtB_Matrix_free(&H);
        FtB_Matrix_free(&R);
    }
}

/* Two operands, of which the right one's columns are counted; and without memory for bits. */
static void products(void **state)
{
    rng r = rng_new();
    (void)state;
    FtB_Matrix A = gpu_matrix(&r, FTB_FP32, 8, 45, NONE), B = gpu_matrix(&r, FTB_INT16, 45, COLUMNS, NONE), H,
               C;
    FtB_Semiring s;
    FtB_Descriptor desc;
    FtB_Plan plan;
    assert_ok(FtB_Semiring_new(&s, "plus : 1"));
    gpu_place("cpu");
    assert_ok(FtB_Matrix_new(&H, FTB_INT64, 8, COLUMNS, 1));
    assert_ok(FtB_mxm(H, NULL, NULL, s, A, B, NULL));
    gpu_place("gpu");
    for (int at = 0; at < 12; at++) {
        char text[16];
        snprintf(text, sizeof text, "%d", at);
        assert_ok(FtB_Matrix_new(&C, FTB_INT64, 8, COLUMNS, 1));
        assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, s, A, B, NULL, FTB_ESTIMATE));
        assert_ok(FtB_Plan_set(plan, "hot", "512"));
        if (fake_gpu_emulates()) {
            assert_non_null(
                strstr(explained(plan), "on the GPU       dense rows in 1 tile of 640 columns, by "));
            assert_null(strstr(explained(plan), "4 entries by hashing")); /* of 1024, 4096 */
            assert_non_null(strstr(explained(plan), "the 512 most frequent columns as bits; without, "));
        }
        assert_ok(FtB_Descriptor_new(&desc));
        assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
        if (at > 0 && fake_gpu_emulates() && !real_gpu()) {
            assert_ok(ftb_gpu_trim(ftb_device(ftb_context()))); /* what is kept needs no call */
            setenv("FAKE_CUDA_FAILS", "cuMemAlloc", 1);
            setenv("FAKE_CUDA_AT", text, 1);
        }
        assert_ok(FtB_mxm(C, NULL, NULL, s, A, B, desc));
        unsetenv("FAKE_CUDA_FAILS");
        unsetenv("FAKE_CUDA_AT");
        assert_ok(ftb_buffer_ask(C->values, FTB_READ));
        assert_same(C, H);
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
        FtB_Matrix_free(&C);
    }
    FtB_Semiring_free(&s);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&H);
}

/* ---- statistics */

/* Of counts, of what is left of them, and of reals: to the host's bits, and one copy comes home for a chunk,
 * however large the result is. */
static void statistics(void **state)
{
    static const struct {
        const char *weight;
        int kind, top_k;
        bool least;
    } list[] = {{"plus : 1", NONE, 0, false},     {"plus : 1", NONE, 3, false},
                {"plus : 1", NONE, 0, true},      {"plus : a * b", REALS, 0, false},
                {"plus : a * b", REALS, 4, true}, {"any : 1", NONE, 0, false}};
    rng r = rng_new();
    (void)state;
    for (size_t k = 0; k < 2 * sizeof list / sizeof *list; k++) {
        const size_t n = k / 2;
        FtB_Matrix R = gpu_matrix(&r, FTB_FP32, 20, 150, list[n].kind);
        const FtB_Project_options o =
            *FTB_PROJECT_OPTIONS(.top_k = list[n].top_k, .use_min_weight = list[n].least,
                                 .min_weight = list[n].kind == NONE ? 2 : 0.1, .triangle = n % 2);
        FtB_Stats stats[3];
        int home = 0;
        for (int time = 0; time < 3; time++) {
            FtB_Sink sink;
            gpu_place(time ? "gpu" : "cpu");
            gpu_use(time && k % 2 ? &of_chunks : &as_it_is);
            assert_ok(FtB_Sink_stats(&sink));
            home = copies_home();
            assert_ok(FtB_project(sink, R, list[n].weight, &o));
            home = copies_home() - home;
            assert_ok(FtB_Sink_get_stats(sink, &stats[time]));
            FtB_Sink_free(&sink);
        }
        gpu_use(&as_it_is);
        assert_true(stats[0].nvals > 30);
        assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
        assert_memory_equal(&stats[0], &stats[2], sizeof stats[0]);
        if (k % 2 == 0 && fake_gpu_emulates() && !real_gpu())
            assert_int_equal(home, 1);
        FtB_Matrix_free(&R);
    }
}

/* ---- failures */

static GrB_Info call(void *arg)
{
    const int64_t I[] = {0, 0, 2, 2, 3}, J[] = {1, 2, 0, 1, 600};
    FtB_Matrix R = NULL, C = NULL;
    FtB_Project_options o = *FTB_PROJECT_OPTIONS(.top_k = 1);
    GrB_Info info = FtB_Matrix_build(&R, FTB_FP32, 4, COLUMNS, 0, 5, I, J, NULL, FTB_DUP_ERROR, NULL);
    (void)arg;
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&C, FTB_INT64, COLUMNS, COLUMNS, 1);
    if (info == GrB_SUCCESS)
        info = FtB_project_plan(&o.plan, C, R, "plus : 1", &o, FTB_ESTIMATE);
    if (info == GrB_SUCCESS)
        info = FtB_Plan_set(o.plan, "hot", "512");
    if (info == GrB_SUCCESS)
        info = FtB_project(C, R, "plus : 1", &o);
    FtB_Plan_free(&o.plan);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    fail_every_allocation(call, NULL, NULL);
}

int main(void)
{
    setenv("FAKE_NVRTC_TEXTS", "0", 1); /* texts are another test's */
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(bits, beside_clean),
                                       cmocka_unit_test_teardown(products, beside_clean),
                                       cmocka_unit_test_teardown(statistics, beside_clean),
                                       cmocka_unit_test_teardown(allocations, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
