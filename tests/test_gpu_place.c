/* Who runs a graph times a block where a GPU that does not exist is engaged: by its plan's `place`, the
 * device, the host, or the less of what both are predicted to take, for GPUs that are described in text; what
 * plans say of it, and that calls do it. */
#include "support/check.h"

#include "core/core.h"
#include "gpu/context.h"
#include "ops/plan_object.h"
#include "plan/machine.h"
#include "support/fake_gpu.h"
#include "support/planned.h"
#include "support/rng.h"

#include <stdio.h>
#include <stdlib.h>

#define HOST "cores = 2\nl1 = 32K\nl2 = 1M\nl3 = 32M\nmemory = 16G\n"

typedef struct described {
    const char *name, *text;
} described;
static const described gpus[] = {
    {"A100",
     HOST "gpu_multiprocessors = 108\ngpu_clock = 1.41\ngpu_l2 = 40M\ngpu_memory = 80G\ngpu_shared = 163K\n"
          "gpu_memory_rate = 2039\n"},
    {"H100",
     HOST "gpu_multiprocessors = 132\ngpu_clock = 1.755\ngpu_l2 = 50M\ngpu_memory = 80G\ngpu_shared = 227K\n"
          "gpu_memory_rate = 3350\n"},
    {"H200",
     HOST "gpu_multiprocessors = 132\ngpu_clock = 1.755\ngpu_l2 = 50M\ngpu_memory = 141G\ngpu_shared = 227K\n"
          "gpu_memory_rate = 4800\n"},
    {"small",
     HOST "gpu_multiprocessors = 2\ngpu_clock = 0.01\ngpu_l2 = 1M\ngpu_memory = 2G\ngpu_shared = 48K\n"
          "gpu_memory_rate = 1\n"}};

static double device_rate(void) { return ftb_device(ftb_context())->memory->rate; }

static void use(const described *of)
{
    static ftb_machine_facts facts;
    const char *wrong;
    int line;
    FILE *file = fmemopen((void *)(uintptr_t)of->text, strlen(of->text), "r");
    assert_non_null(file);
    facts = (ftb_machine_facts){.cores = 0};
    if (!ftb_machine_read(&facts, file, &line, &wrong))
        fail_msg("%s:%d: %s", of->name, line, wrong);
    fclose(file);
    ftb_machine_force(&facts);
}

typedef struct product {
    FtB_Matrix A;
    FtB_Block X, C;
    FtB_Plan plan;
    FtB_Descriptor desc;
} product;

static void begin_of(product *p, rng *r, int64_t nrows, int64_t ncols, double density, int64_t width)
{
    *p = (product){.A = rng_matrix(r, FTB_FP32, nrows, ncols, 0, density)};
    assert_ok(FtB_Block_new(&p->X, ncols, width, FTB_FP32));
    rng_reals(r, block_values(p->X), FTB_FP32, ncols * width);
    FtB_Block_changed(p->X);
    assert_ok(FtB_Block_new(&p->C, nrows, width, FTB_FP32));
}

static void begin(product *p, rng *r, int64_t n, double density, int64_t width)
{
    begin_of(p, r, n, n, density, width);
}

static void plan(product *p, const char *place)
{
    FtB_Descriptor_free(&p->desc);
    FtB_Plan_free(&p->plan);
    assert_ok(FtB_mxm_plan(&p->plan, p->C, NULL, NULL, FTB_PLUS_SRC, p->A, p->X, NULL, FTB_ESTIMATE));
    if (place)
        assert_ok(FtB_Plan_set(p->plan, "place", place));
    assert_ok(FtB_Descriptor_new(&p->desc));
    assert_ok(FtB_Descriptor_set(p->desc, FTB_PLAN, p->plan));
}

static void end(product *p)
{
    FtB_Descriptor_free(&p->desc);
    FtB_Plan_free(&p->plan);
    FtB_Block_free(&p->C);
    FtB_Block_free(&p->X);
    FtB_Matrix_free(&p->A);
}

/* Whether the plan says that the device runs it, and it does. */
static void runs(const product *p, bool there)
{
    const int before = fake_gpu_launches();
    assert_true((planned_figure(p->plan, "on_host") < 1) == there);
    assert_plan_says(p->plan, there ? "gpu:0 runs it" : "gpu:0 could run it, the host does it");
    assert_ok(FtB_mxm(p->C, NULL, NULL, FTB_PLUS_SRC, p->A, p->X, p->desc));
    const float *c = block_values(p->C), *x = block_values(p->X);
    assert_true((fake_gpu_launches() > before) == there);
    const ftb_pattern *of = p->A->pattern;
    for (int64_t i = 0; i < p->C->nrows; i += 7) {
        double sum = 0, size = 0;
        for (int64_t e = of->rowptr[i]; e < of->rowptr[i + 1]; e++) {
            const double value = (double)x[ftb_col(of, e) * p->X->ld];
            sum += value;
            size += value < 0 ? -value : value;
        }
        const double off = (double)c[i * p->C->ld] - sum;
        assert_true(off <= 1e-6 * size && -off <= 1e-6 * size);
    }
}

static void forced(void **state)
{
    rng r = rng_new();
    product p;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    use(&gpus[1]);
    begin(&p, &r, 60, 0.1, 8);
    plan(&p, NULL);
    assert_plan_says(p.plan, "s there, ");
    runs(&p, true);
    plan(&p, "host");
    assert_plan_says(p.plan, "s on the host; the host was asked for");
    runs(&p, false);
    plan(&p, "device");
    runs(&p, true);
    assert_fails(GrB_INVALID_VALUE, "place = 'moon'; expected device, host or cost",
                 FtB_Plan_set(p.plan, "place", "moon"));
    end(&p);
    ftb_machine_force(NULL);
}

/* The figures that plans compare, without a run: what is moved counts; small products are the host's. */
static void compared(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++) {
        const bool small = g + 1 == sizeof gpus / sizeof *gpus;
        product few, many;
        use(&gpus[g]);
        begin(&few, &r, 30, 0.1, 4);
        plan(&few, "cost");
        assert_true(planned_figure(few.plan, "on_host") > 0); /* a launch takes longer */
        assert_plan_says(few.plan, "the less of the two");
        begin(&many, &r, 1500, 0.3, 128);
        plan(&many, "cost");
        const double there = planned_figure(many.plan, "gpu_seconds"),
                     here = planned_figure(many.plan, "seconds");
        const double sent = 1500 * 128 * sizeof(float) / device_rate();
        if ((planned_figure(many.plan, "on_host") > 0) != (here < there + sent) ||
            (here < there + sent) != small)
            fail_msg("%s: %g there, %g to send, %g here", gpus[g].name, there, sent, here);
        end(&few);
        end(&many);
    }
    ftb_machine_force(NULL);
}

/* A product that the device does in less, but for sending the block: where that is there already it is the
 * device's. */
static void sent(void **state)
{
    rng r = rng_new();
    product p;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    use(&gpus[1]);
    begin_of(&p, &r, 50, 20000, 0.002, 128);
    plan(&p, "cost");
    const double there = planned_figure(p.plan, "gpu_seconds"), here = planned_figure(p.plan, "seconds");
    const double move = 20000 * 128 * sizeof(float) / device_rate();
    if (!(there < here && here < there + move))
        fail_msg("%g there, %g to send, %g here", there, move, here);
    runs(&p, false);
    assert_ok(FtB_Block_to_device(p.X));
    plan(&p, "cost");
    assert_true(!p.plan->stays); /* it is in both places */
    runs(&p, true);
    end(&p);
    ftb_machine_force(NULL);
}

/* What the device alone has stays there, whatever it costs; with both it is compared without what need not
 * move. */
static void stays(void **state)
{
    rng r = rng_new();
    product p;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    use(&gpus[1]);
    begin(&p, &r, 30, 0.1, 4);
    plan(&p, "cost");
    assert_true(planned_figure(p.plan, "moved_bytes") < 1);
    runs(&p, false);
    assert_ok(FtB_Block_to_device(p.X));
    plan(&p, "cost");
    assert_true(!p.plan->stays && planned_figure(p.plan, "on_host") > 0); /* in both places */
    FtB_Block Y;
    assert_ok(FtB_Block_new(&Y, 30, 4, FTB_FP32));
    plan(&p, "device");
    assert_ok(FtB_mxm(Y, NULL, NULL, FTB_PLUS_SRC, p.A, p.X, p.desc)); /* there alone */
    FtB_Block_free(&p.X);
    p.X = Y;
    plan(&p, "cost");
    assert_plan_says(p.plan, "operands that are there alone stay there");
    assert_true(planned_figure(p.plan, "on_host") < 1 && planned_figure(p.plan, "moved_bytes") < 1);
    runs(&p, true);
    end(&p);
    ftb_machine_force(NULL);
}

/* Of other kinds nothing is compared. */
static void others(void **state)
{
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 20, 20, 1, 0.2), S;
    FtB_Plan other;
    (void)state;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 20, 20, 1));
    assert_ok(FtB_mxm_plan(&other, S, NULL, NULL, FTB_PLUS_TIMES, A, A, NULL, FTB_ESTIMATE));
    assert_fails(GrB_INVALID_VALUE, "place = 'cost'; expected a plan of sparse x block",
                 FtB_Plan_set(other, "place", "cost"));
    FtB_Plan_free(&other);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(forced, fake_gpu_clean),
        cmocka_unit_test_teardown(compared, fake_gpu_clean), cmocka_unit_test_teardown(sent, fake_gpu_clean),
        cmocka_unit_test_teardown(stays, fake_gpu_clean), cmocka_unit_test_teardown(others, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
