/* Sparse x block by cuSPARSE on a GPU that does not exist, and by a cuSPARSE that does not exist either: the
 * library that is missing, lacks functions or fails; products where a plan asks for them, whose bits are
 * those of sums from the last entry to the first, as that library makes them; what is kept for the next
 * product; and FTB_MEASURE, which compares ways by the device's clock. A real one, where it is, has every
 * function. */
#include "support/check.h"

#include "core/backend.h"
#include "core/core.h"
#include "gpu/cusparse/cusparse.h"
#include "gpu/cusparse/cusparse_spmm.h"
#include "gpu/memory.h"
#include "ops/plan_object.h"
#include "plan/wisdom.h"
#include "support/by_cusparse.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int (*pieces)(void);
static ftb_cusparse opened;

static int start(void **state)
{
    fake_find("fake_cuda", "fake_cuda_live", &pieces);
    return by_cusparse_start(state);
}

/* ---- the library */

/* Opens one, of which there is nothing because of `why`. */
static void none(const char *library, const char *why)
{
    ftb_cusparse_open(&opened, library);
    if (opened.found.version != 0 || !strstr(opened.found.why, why))
        fail_msg("%s: version %d, \"%s\"; expected \"...%s...\"", library, opened.found.version,
                 opened.found.why, why);
}

static void missing(void **state)
{
    (void)state;
    none("", "FEATBLAS_CUSPARSE is empty, so that no cuSPARSE is looked for");
    none("/nowhere/libcusparse.so", "cuSPARSE cannot be opened: /nowhere/libcusparse.so");
    none("libm.so.6", "libm.so.6 has no function cusparseGetProperty");
    setenv("FAKE_CUSPARSE_VERSION", "11080", 1);
    none(fake_path("fake_cusparse"), "cuSPARSE is 11.8; 12.0 or later is needed");
    unsetenv("FAKE_CUSPARSE_VERSION");
    setenv("FAKE_CUSPARSE_FAILS", "cusparseGetProperty=7", 1);
    none(fake_path("fake_cusparse"), "cuSPARSE does not say of which version it is");
    unsetenv("FAKE_CUSPARSE_FAILS");
    ftb_cusparse_open(&opened, fake_path("fake_cusparse"));
    assert_int_equal(opened.found.version, 12040);
    assert_string_equal(opened.found.why, "");
}

static void real(void **state)
{
    const char *library = getenv("FEATBLAS_TEST_CUSPARSE");
    (void)state;
    if (!library || !*library) {
        printf("skipped: cuSPARSE is not there\n");
        return;
    }
    ftb_cusparse_open(&opened, library);
    assert_string_equal(opened.found.why, "");
    assert_true(opened.found.version >= 12000);
}

/* ---- products */

typedef struct product {
    FtB_Matrix A;
    FtB_Block X, C;
    FtB_Semiring s;
    FtB_Plan plan;
    FtB_Descriptor desc;
    bool weighted, add;
} product;

static void begin(product *p, rng *r, bool weighted, bool add, int64_t width, int64_t gap)
{
    *p = (product){.weighted = weighted, .add = add};
    p->A = rng_matrix(r, FTB_FP32, ROWS, COLS, 1, 0.2);
    p->X = by_cusparse_block(r, COLS, width, gap);
    p->C = by_cusparse_block(r, ROWS, width, gap);
    assert_ok(FtB_Semiring_new(&p->s, weighted ? "plus : edge * src" : "plus : src"));
}

static FtB_Arg accum_of(const product *p) { return p->add ? FTB_ARG("x + y") : FtB_Arg_none(); }

static void plan(product *p, FtB_Effort effort)
{
    FtB_Descriptor_free(&p->desc);
    FtB_Plan_free(&p->plan);
    assert_ok(FtB_mxm_plan(&p->plan, p->C, NULL, accum_of(p), p->s, p->A, p->X, NULL, effort));
}

static void follow(product *p)
{
    assert_ok(FtB_Descriptor_new(&p->desc));
    assert_ok(FtB_Descriptor_set(p->desc, FTB_PLAN, p->plan));
}

static void end(product *p)
{
    FtB_Descriptor_free(&p->desc);
    FtB_Plan_free(&p->plan);
    FtB_Semiring_free(&p->s);
    FtB_Block_free(&p->C);
    FtB_Block_free(&p->X);
    FtB_Matrix_free(&p->A);
}

/* What it is to be, by the slow library's order, or else within a bound. */
static void multiply(const void *product_of, bool backwards)
{
    const product *p = product_of;
    const ftb_pattern *of = p->A->pattern;
    const int64_t count = ROWS * p->C->ld;
    float *before = malloc((size_t)count * sizeof *before);
    assert_non_null(before);
    const float *c = block_values(p->C), *x = block_values(p->X), *w = matrix_values(p->A);
    memcpy(before, c, (size_t)((ROWS - 1) * p->C->ld + p->C->ncols) * sizeof *before);
    assert_ok(FtB_mxm(p->C, NULL, accum_of(p), p->s, p->A, p->X, p->desc));
    c = block_values(p->C);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t f = 0; f < p->C->ncols; f++) {
            const float old = p->add ? before[i * p->C->ld + f] : 0, got = c[i * p->C->ld + f];
            float sum = 0;
            double exact = old, size = fabs((double)old);
            for (int64_t e = of->rowptr[i + 1] - 1; e >= of->rowptr[i]; e--) {
                const float z = (p->weighted ? w[e] : 1) * x[ftb_col(of, e) * p->X->ld + f];
                sum += z;
                exact += (double)z;
                size += fabs((double)z);
            }
            sum += old;
            if (!(fabs((double)got - exact) <= 1e-6 * size) || (backwards && !(got >= sum && got <= sum)))
                fail_msg("(%d, %d) is %.9g, not %.9g (%.9g backwards)", (int)i, (int)f, (double)got, exact,
                         (double)sum);
        }
    free(before);
}

/* A product that cuSPARSE made, or did not. */
static void is_by(const product *p, bool cusparse) { by_cusparse_is(multiply, p, cusparse); }

/* Where a plan asks for it, whatever the form; again without another descriptor or workspace, for operands
 * that are elsewhere, too. */
static void forced(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    for (int k = 0; k < 8; k++) {
        product p;
        begin(&p, &r, k & 1, k & 2, k & 4 ? 5 : 8, k & 4 ? 3 : 0);
        is_by(&p, false); /* nobody has asked for it */
        plan(&p, FTB_ESTIMATE);
        assert_true(planned_figure(p.plan, "cusparse") < 1);
        assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
        assert_plan_says(p.plan, "cuSPARSE's csr_alg3 <- asked for");
        assert_true(planned_figure(p.plan, "cusparse") > 0);
        follow(&p);
        is_by(&p, true);
        const int there = by_cusparse.live(), ready = by_cusparse.prepared();
        is_by(&p, true);
        FtB_Block X = by_cusparse_block(&r, COLS, p.X->ncols, k & 4 ? 3 : 0),
                  C = by_cusparse_block(&r, ROWS, p.X->ncols, k & 4 ? 3 : 0);
        const FtB_Block old[] = {p.X, p.C}; /* which keep their memory there */
        p.X = X;
        p.C = C;
        float *w = matrix_values(p.A);
        for (int64_t e = 0; e < p.A->pattern->nvals; e++)
            w[e] = -w[e] / 2;
        assert_ok(FtB_Matrix_changed(p.A));
        is_by(&p, true);
        assert_int_equal(by_cusparse.live(), there);
        assert_int_equal(by_cusparse.prepared(), ready);
        for (int n = 0; n < 2; n++)
            FtB_Block_free(&(FtB_Block){old[n]});
        end(&p);
    }
}

/* Other algorithms only where bits may differ, and all of them right. */
static void algorithms(void **state)
{
    static const char *const names[] = {"default", "csr_alg1", "csr_alg2", "csr_alg3"};
    rng r = rng_new();
    product p;
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    begin(&p, &r, true, true, 8, 0);
    for (int relaxed = 0; relaxed < 2; relaxed++)
        for (int a = 0; a < 4; a++) {
            char words[80];
            assert_ok(FtB_Context_set_relaxed(NULL, relaxed));
            plan(&p, FTB_ESTIMATE);
            assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
            assert_ok(FtB_Plan_set(p.plan, "algorithm", names[a]));
            snprintf(words, sizeof words, "cuSPARSE's %s <- asked for", names[relaxed ? a : 3]);
            assert_plan_says(p.plan, words);
            assert_plan_says(p.plan,
                             relaxed && a < 3 ? "may differ from run to run" : "the same at every run");
            assert_true(p.plan->plan.spmm.gpu.algorithm == (ftb_gpu_sparse_algorithm)(relaxed ? a : 3));
            follow(&p);
            is_by(&p, true);
        }
    assert_ok(FtB_Context_set_relaxed(NULL, false));
    assert_fails(GrB_INVALID_VALUE, "expected default, csr_alg1, csr_alg2 or csr_alg3",
                 FtB_Plan_set(p.plan, "algorithm", "csr_alg4"));
    end(&p);
}

/* What it does not make it is not asked for. */
static void others(void **state)
{
    static const char *const texts[] = {"mean : src", "max : src", "plus : src * 2 + edge"};
    rng r = rng_new();
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        product p;
        const int before = by_cusparse.made();
        begin(&p, &r, false, false, 8, 0);
        FtB_Semiring_free(&p.s);
        assert_ok(FtB_Semiring_new(&p.s, texts[k]));
        plan(&p, FTB_ESTIMATE);
        assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
        assert_true(planned_figure(p.plan, "cusparse") < 1);
        follow(&p);
        assert_ok(FtB_mxm(p.C, NULL, NULL, p.s, p.A, p.X, p.desc));
        assert_int_equal(by_cusparse.made(), before);
        end(&p);
    }
}

/* A call that fails: the host does it; what may be half done is told. */
static void fails(void **state)
{
    static const char *const calls[] = {"cusparseSetStream", "cusparseCreateCsr", "cusparseCreateDnMat",
                                        "cusparseSpMM_bufferSize", "cusparseSpMM"};
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++)
        for (int add = 0; add < 2; add++) {
            char text[60];
            product p;
            begin(&p, &r, false, add, 8, 0);
            plan(&p, FTB_ESTIMATE);
            assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
            follow(&p);
            const int before = by_cusparse.live(), ran = by_cusparse.made();
            snprintf(text, sizeof text, "%s=6", calls[n]);
            setenv("FAKE_CUSPARSE_FAILS", text, 1);
            snprintf(text, sizeof text, "gpu:0: %s fails with status 6", calls[n]);
            if (add && n + 1 == sizeof calls / sizeof *calls)
                assert_fails(GrB_PANIC, text, FtB_mxm(p.C, NULL, accum_of(&p), p.s, p.A, p.X, p.desc));
            else
                multiply(&p, false);
            assert_int_equal(by_cusparse.live(), before);
            snprintf(text, sizeof text, "%s=10", calls[n]); /* not supported: our kernel's */
            setenv("FAKE_CUSPARSE_FAILS", text, 1);
            const int launched = fake_gpu_launches();
            multiply(&p, false);
            assert_true(fake_gpu_launches() > launched);
            assert_int_equal(by_cusparse.made(), ran);
            assert_int_equal(by_cusparse.live(), before);
            unsetenv("FAKE_CUSPARSE_FAILS");
            is_by(&p, true);
            end(&p);
        }
}

/* The driver's context cannot be had, once, wherever in a product: nothing of it is left. */
static void reentered(void **state)
{
    ftb_gpu_device *d = by_cusparse_device();
    rng r = rng_new();
    char text[16];
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    for (int n = 1, failed = 1; failed; n++) {
        product p;
        begin(&p, &r, true, false, 8, 0);
        plan(&p, FTB_ESTIMATE);
        assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
        follow(&p);
        snprintf(text, sizeof text, "%d", n);
        setenv("FAKE_CUDA_AT", text, 1);
        setenv("FAKE_CUDA_FAILS", "cuCtxPushCurrent", 1);
        const GrB_Info info = FtB_mxm(p.C, NULL, NULL, p.s, p.A, p.X, p.desc);
        assert_true(info == GrB_SUCCESS || info == FTB_NO_DEVICE);
        failed = !getenv("FAKE_CUDA_FAILS");
        unsetenv("FAKE_CUDA_AT");
        unsetenv("FAKE_CUDA_FAILS");
        multiply(&p, false);
        end(&p);
        assert_ok(ftb_gpu_enter(d));
        (void)ftb_gpu_cusparse_drop(d);
        ftb_gpu_leave(d, GrB_SUCCESS);
        assert_int_equal(by_cusparse.live(), 1);
        assert_ok(ftb_gpu_trim(&d->row));
        assert_int_equal(pieces(), 0);
        assert_true(n < 100);
    }
}

/* What is done beside has a workspace of its own. */
static void beside(void **state)
{
    const ftb_backend *b = &by_cusparse_device()->row;
    rng r = rng_new();
    product p;
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    begin(&p, &r, true, false, 8, 0);
    plan(&p, FTB_ESTIMATE);
    assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
    follow(&p);
    const int before = by_cusparse.prepared();
    for (int n = 0; n < 4; n++) {
        if (n % 2)
            assert_ok(b->memory->beside_begin(b, NULL));
        is_by(&p, true);
        if (n % 2)
            b->memory->beside_end(b);
        assert_int_equal(by_cusparse.prepared() - before, n > 0 ? 2 : 1);
    }
    end(&p);
}

/* So many products are kept, and given up where a call has no room. */
static void kept(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    for (int n = 0; n < KEPT + 4; n++) {
        product p;
        begin(&p, &r, n % 2, false, 4, 0);
        plan(&p, FTB_ESTIMATE);
        assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
        follow(&p);
        is_by(&p, true);
        is_by(&p, true);
        assert_true(by_cusparse.live() <= 1 + KEPT * OF_A_PRODUCT);
        if (n == KEPT + 3) {
            by_cusparse_gives_way();
            is_by(&p, true);
        }
        end(&p);
    }
}

/* It is in no graph: its workspace might be given up before that is launched. */
static void unrecorded(void **state)
{
    const ftb_backend *b = &by_cusparse_device()->row;
    struct ftb_recording *recording;
    rng r = rng_new();
    product p;
    void *numbers;
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    begin(&p, &r, false, false, 8, 0);
    plan(&p, FTB_ESTIMATE);
    assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
    follow(&p);
    is_by(&p, true);
    const int before = by_cusparse.made();
    assert_ok(b->memory->replays->begin(b, ftb_context(), 0, &numbers));
    (void)FtB_mxm(p.C, NULL, NULL, p.s, p.A, p.X, p.desc); /* by the host, if at all */
    assert_ok(b->memory->replays->end(b, true, &recording));
    assert_null(recording);
    assert_int_equal(by_cusparse.made(), before);
    is_by(&p, true);
    end(&p);
}

/* ---- measured */

static void assert_measured(product *p, const char *takes, const char *slow, const char *words)
{
    setenv("FAKE_CUSPARSE_TAKES", takes, 1);
    setenv("FAKE_CUDA_SLOW", slow, 1);
    plan(p, FTB_MEASURE);
    assert_plan_says(p->plan, words);
    unsetenv("FAKE_CUSPARSE_TAKES");
    unsetenv("FAKE_CUDA_SLOW");
}

/* By the device's clock, of the ways that may be used; the output stays as it was. What was found is used by
 * calls without a plan, and by nobody for whom it was not found. */
static void measured(void **state)
{
    rng r = rng_new();
    product p;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    begin(&p, &r, true, false, 8, 0);
    float before[ROWS * 8];
    memcpy(before, block_values(p.C), sizeof before);
    assert_measured(&p, "9,9,9,9", "", "direct 1.00 <- measured");
    follow(&p);
    is_by(&p, false);
    assert_ok(FtB_Wisdom_forget(NULL));
    assert_measured(&p, "1,1,1,7", "spmm_direct", "cuSPARSE's csr_alg3 <- measured; 0.007 s");
    follow(&p);
    is_by(&p, true);
    FtB_Descriptor_free(&p.desc);
    is_by(&p, true); /* from wisdom */
    plan(&p, FTB_ESTIMATE);
    assert_plan_says(p.plan, "cuSPARSE's csr_alg3 <- measured, from wisdom; 0.007 s");
    assert_ok(FtB_Plan_set(p.plan, "kernel", "direct")); /* by hand now */
    assert_true(planned_figure(p.plan, "cusparse") < 1);
    assert_ok(FtB_Context_set_deterministic(NULL, true));
    is_by(&p, false);
    plan(&p, FTB_MEASURE);
    assert_plan_says(p.plan, "direct 1.00 <- chosen");
    assert_ok(FtB_Context_set_deterministic(NULL, false));
    is_by(&p, true);

    by_cusparse_remembered(multiply, &p);
    assert_ok(FtB_Context_set_relaxed(NULL, true)); /* another case */
    is_by(&p, false);
    assert_measured(&p, "3,3,2,7", "spmm_direct", "cuSPARSE's csr_alg2 <- measured; 0.002 s");
    is_by(&p, true);
    assert_ok(FtB_Context_set_relaxed(NULL, false));
    assert_ok(FtB_Wisdom_forget(NULL));

    FtB_Block_free(&p.C);
    assert_ok(FtB_Block_new(&p.C, ROWS, 8, FTB_FP32));
    memcpy(block_values(p.C), before, sizeof before);
    FtB_Block_changed(p.C);
    assert_measured(&p, "1,1,1,1", "spmm_direct", "cuSPARSE");
    assert_memory_equal(block_values(p.C), before, sizeof before);
    assert_ok(FtB_Wisdom_forget(NULL));
    end(&p);
}

/* What a trial of a plan takes: less the nearer the threshold is to 48. */
static GrB_Info take(void *run, const ftb_any_plan *any, double *seconds)
{
    const ftb_gpu_spmm_plan *of = &any->spmm.gpu;
    int *trials = run;
    ++*trials;
    *seconds = of->sparse ? 2 : of->hybrid ? 0.5 + fabs(log2(of->threshold) - log2(48)) / 10 : 1;
    return GrB_SUCCESS;
}

/* Hybrid, and its threshold, are found by trial, from wherever the model begins. */
static void thresholds(void **state)
{
    ftb_any_facts facts = {.spmm = {.nrows = 100000,
                                    .ncols = 100000,
                                    .nvals = 48000000,
                                    .features = 128,
                                    .value_bytes = 4,
                                    .stored_bytes = 4,
                                    .gpu = {.gpu = {.multiprocessors = 132,
                                                    .l2 = 50 << 20,
                                                    .memory = INT64_C(80) << 30,
                                                    .shared = 227 << 10,
                                                    .clock = 1.7e9,
                                                    .memory_rate = 3e12},
                                            .at_once = 4,
                                            .staged = true,
                                            .device = 7,
                                            .density = {.known = true}}}};
    (void)state;
    for (int b = 0; b < FTB_GPU_USES; b++) {
        facts.spmm.gpu.density.columns[b] = 1e5;
        facts.spmm.gpu.density.entries[b] = 4e6;
        facts.spmm.gpu.density.blocks[b] = 16;
    }
    for (int hand = 0; hand < 2; hand++) {
        ftb_any_plan found = {.spmm.asked = {.forced = 0}};
        int trials = 0;
        if (hand)
            assert_null(ftb_spmm_plan_set(&found.spmm, "kernel", "direct"));
        ftb_plan_rows[FTB_PLAN_GPU_SPMM].rule(&found, &facts, ftb_machine_here());
        assert_ok(ftb_plan_measure(&found, FTB_PLAN_GPU_SPMM, &facts, take, &trials, ftb_context()));
        assert_true(found.spmm.gpu.hybrid == !hand && found.spmm.gpu.origin == FTB_ORIGIN_TRIAL);
        assert_true(hand || found.spmm.gpu.threshold == 48);
        assert_true(hand ? trials == 2 : trials > 10);
        assert_int_equal(ftb_wisdom_any(ftb_context()), !hand);
        assert_ok(FtB_Wisdom_forget(NULL));
    }
}

/* ---- without one; a process of its own, since a handle is asked for once */

static void refused(void)
{
    rng r = rng_new();
    product p;
    begin(&p, &r, false, false, 8, 0);
    setenv("FAKE_CUSPARSE_FAILS", "cusparseCreate=2", 1); /* no memory: later */
    assert_false(ftb_gpu_cusparse_ready(by_cusparse_device()));
    unsetenv("FAKE_CUSPARSE_FAILS");
    assert_true(ftb_gpu_cusparse_ready(by_cusparse_device()));
    end(&p);
}

static void refused_for_good(void)
{
    rng r = rng_new();
    product p;
    begin(&p, &r, false, false, 8, 0);
    setenv("FAKE_CUSPARSE_FAILS", "cusparseCreate=4", 1);
    assert_false(ftb_gpu_cusparse_ready(by_cusparse_device()));
    unsetenv("FAKE_CUSPARSE_FAILS");
    assert_false(ftb_gpu_cusparse_ready(by_cusparse_device()));
    plan(&p, FTB_ESTIMATE);
    assert_ok(FtB_Plan_set(p.plan, "kernel", "cusparse"));
    assert_true(planned_figure(p.plan, "cusparse") < 1);
    follow(&p);
    is_by(&p, false);
    end(&p);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"refused", refused}, {"refused_for_good", refused_for_good}};
static const char *self;
static void (*only)(void);

static void one(void **state)
{
    (void)state;
    only();
}

static void each(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char command[2048];
        snprintf(command, sizeof command, "'%s' %s >&2", self, cases[n].name);
        if (system(command) != 0)
            fail_msg("%s", command);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(missing, fake_gpu_clean),
                                       cmocka_unit_test_teardown(real, fake_gpu_clean),
                                       cmocka_unit_test_teardown(forced, fake_gpu_clean),
                                       cmocka_unit_test_teardown(algorithms, fake_gpu_clean),
                                       cmocka_unit_test_teardown(others, fake_gpu_clean),
                                       cmocka_unit_test_teardown(fails, fake_gpu_clean),
                                       cmocka_unit_test_teardown(reentered, fake_gpu_clean),
                                       cmocka_unit_test_teardown(beside, fake_gpu_clean),
                                       cmocka_unit_test_teardown(kept, fake_gpu_clean),
                                       cmocka_unit_test_teardown(unrecorded, fake_gpu_clean),
                                       cmocka_unit_test_teardown(measured, fake_gpu_clean),
                                       cmocka_unit_test_teardown(thresholds, fake_gpu_clean),
                                       cmocka_unit_test_teardown(each, fake_gpu_clean)};
    const struct CMUnitTest alone[] = {cmocka_unit_test_teardown(one, fake_gpu_clean)};
    self = argv[0];
    for (size_t n = 0; argc > 1 && n < sizeof cases / sizeof *cases; n++)
        if (strcmp(argv[1], cases[n].name) == 0)
            only = cases[n].run;
    return only ? cmocka_run_group_tests(alone, start, NULL) : cmocka_run_group_tests(tests, start, NULL);
}
