/* FTB_MEASURE: what is tried, and that what was forced stays; outputs are untouched while
 * it looks, the plan says that it was measured, and it is good for the call: the same bits of sums and dot
 * products, the same result within rounding of attention, whose plan gives its own bits again. */
#include "support/check.h"

#include "core/core.h"
#include "ops/plan_object.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define ROWS 150
#define COLS 200
#define FEATURES 48

typedef struct operands {
    FtB_Matrix A, S, T;
    FtB_Block Q, K, C, D;
} operands;

static FtB_Block block(rng *r, int64_t nrows, int64_t ncols, int64_t heads)
{
    FtB_Block whole, X;
    assert_ok(FtB_Block_new(&whole, nrows, ncols, FTB_FP32));
    for (int64_t t = 0; t < nrows * ncols; t++)
        ((float *)block_values(whole))[t] = (float)rng_unit(r);
    assert_ok(FtB_Block_heads(&X, whole, heads));
    FtB_Block_free(&whole);
    return X;
}

static operands make(rng *r, int64_t heads)
{
    operands o = {.A = rng_matrix(r, FTB_FP32, ROWS, COLS, 1, 0.2)};
    assert_ok(FtB_Matrix_new(&o.S, FTB_FP32, ROWS, COLS, heads));
    assert_ok(FtB_Matrix_new(&o.T, FTB_FP32, ROWS, COLS, heads));
    o.Q = block(r, ROWS, FEATURES, heads);
    o.K = block(r, COLS, FEATURES, heads);
    o.C = block(r, ROWS, FEATURES, heads);
    o.D = block(r, ROWS, FEATURES, heads);
    return o;
}

static void clear(operands *o)
{
    FtB_Matrix_free(&o->A);
    FtB_Matrix_free(&o->S);
    FtB_Matrix_free(&o->T);
    FtB_Block_free(&o->Q);
    FtB_Block_free(&o->K);
    FtB_Block_free(&o->C);
    FtB_Block_free(&o->D);
}

/* ---- what is tried */

#define MOST_TRIALS 512

typedef struct trials {
    ftb_choice ran[MOST_TRIALS];
    int count, fails; /* the trial that fails, from 1 */
} trials;

static GrB_Info record(trials *t, ftb_choice choice)
{
    assert_true(t->count < MOST_TRIALS);
    t->ran[t->count++] = choice;
    return t->count == t->fails ? FTB_CANCELLED : GrB_SUCCESS;
}

static GrB_Info record_spmm(void *run, const ftb_any_plan *plan, double *seconds)
{
    (void)seconds;
    return record(run, ftb_spmm_chosen(&plan->spmm));
}

static GrB_Info record_sddmm(void *run, const ftb_any_plan *plan, double *seconds)
{
    (void)seconds;
    return record(run, ftb_sddmm_chosen(&plan->sddmm));
}

static GrB_Info measure_spmm(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, ftb_trial trial, trials *t,
                             FtB_Context ctx)
{
    ftb_any_plan any = {.spmm = *plan};
    GrB_Info info = ftb_plan_measure(&any, FTB_PLAN_SPMM, &(ftb_any_facts){.spmm = *facts}, trial, t, ctx);
    *plan = any.spmm;
    return info;
}

static GrB_Info measure_attention(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, trials *t)
{
    ftb_any_plan any = {.sddmm = *plan};
    GrB_Info info = ftb_plan_measure(&any, FTB_PLAN_ATTENTION, &(ftb_any_facts){.sddmm = *facts},
                                     record_sddmm, t, ftb_context());
    *plan = any.sddmm;
    return info;
}

static ftb_spmm_facts weighted(void)
{
    ftb_spmm_facts f = {.nrows = 100000,
                        .ncols = 100000,
                        .nvals = 48000000,
                        .listed = 100000,
                        .entries = 48000000,
                        .features = 128,
                        .value_bytes = 4,
                        .stored_bytes = 4,
                        .edge_bytes = 32,
                        .lanes = 16,
                        .threads = 2,
                        .memory_left = INT64_C(1) << 40,
                        .tuned = true,
                        .partitioned = true,
                        .kernel = "some"};
    f.degrees.rows[8] = f.nrows;
    f.degrees.entries[8] = f.nvals;
    return f;
}

static ftb_sddmm_facts attending(void)
{
    ftb_sddmm_facts f = {.nrows = 100000,
                         .ncols = 100000,
                         .nvals = 48000000,
                         .source_bytes = 1024,
                         .row_bytes = 1024,
                         .entry_bytes = 4,
                         .piece_bytes = 128,
                         .piece = 1,
                         .memory_left = INT64_C(1) << 40,
                         .heads = 8,
                         .features = 256,
                         .value_features = 128,
                         .value_bytes = 4,
                         .lanes = 16,
                         .threads = 2,
                         .attention = true,
                         .can_stage = true,
                         .kernel = "some"};
    f.degrees.rows[8] = f.nrows;
    f.degrees.entries[8] = f.nvals;
    return f;
}

static bool same(const ftb_choice *a, const ftb_choice *b)
{
    return a->family == b->family && a->segment == b->segment && a->tile == b->tile && a->parts == b->parts &&
           a->ordered == b->ordered;
}

static bool tried(const trials *t, int family)
{
    for (int n = 0; n < t->count; n++)
        if (t->ran[n].family == family)
            return true;
    return false;
}

/* Every choice twice in a row (once where nothing is built and it is far from the best), and never again in
 * turn; what was found is one of them. */
static void assert_orderly(const trials *t, const ftb_choice *found)
{
    bool is_one = false;
    for (int n = 0, runs; n < t->count; n += runs) {
        runs = n + 1 < t->count && same(&t->ran[n], &t->ran[n + 1]) ? 2 : 1;
        if (!(runs == 2 || (runs == 1 && n > 0 && t->ran[n].segment == 0)))
            fail_msg("run %d of %d: %d times family %d segment %d tile %d parts %d", n, t->count, runs,
                     t->ran[n].family, (int)t->ran[n].segment, (int)t->ran[n].tile, (int)t->ran[n].parts);
        is_one = is_one || same(&t->ran[n], found);
    }
    assert_true(is_one);
}

static bool tried_other_parts(const trials *t)
{
    for (int a = 0; a < t->count; a++)
        for (int b = 0; b < t->count; b++)
            if (t->ran[a].segment == t->ran[b].segment && t->ran[a].tile == t->ran[b].tile &&
                (t->ran[a].parts == 2 * t->ran[b].parts || 2 * t->ran[a].parts + 1 == t->ran[b].parts))
                return true;
    return false;
}

static void of_sparse_and_block(void **state)
{
    (void)state;
    const ftb_spmm_facts f = weighted();
    static const char *const by_hand[][2] = {
        {"threads", "1"}, {"kernel", "partitioned"}, {"segment", "640"},  {"tile", "32"},
        {"parts", "6"},   {"ordered", "1"},          {"kernel", "direct"}};
    for (int h = 0; h < 7; h++) {
        ftb_spmm_plan plan = {0};
        trials t = {0};
        assert_null(ftb_spmm_plan_set(&plan, by_hand[h][0], by_hand[h][1]));
        const unsigned forced = plan.asked.forced;
        ftb_rule_spmm(&plan, &f, ftb_machine_here());
        assert_ok(measure_spmm(&plan, &f, record_spmm, &t, ftb_context()));
        const ftb_choice found = ftb_spmm_chosen(&plan);
        assert_orderly(&t, &found);
        assert_true(plan.origin == FTB_ORIGIN_TRIAL && (plan.asked.forced & forced) == forced);
        assert_true(plan.threads == (h == 0 ? 1 : 2));
        assert_true(tried(&t, FTB_SPMM_DIRECT) == (h != 1));
        assert_true(tried(&t, FTB_SPMM_PARTITIONED) == (h != 6));
        assert_true(h != 1 || tried_other_parts(&t));
        for (int n = 0; n < t.count; n++) {
            const bool parted = t.ran[n].family == FTB_SPMM_PARTITIONED;
            assert_true(h != 2 || !parted || t.ran[n].segment == 640);
            assert_true(h != 3 || t.ran[n].tile == 32);
            assert_true(h != 4 || !parted || t.ran[n].parts == 6);
            assert_true(h != 5 || !parted || t.ran[n].ordered);
        }
    }
}

static void of_entries(void **state)
{
    (void)state;
    const ftb_sddmm_facts f = attending();
    static const char *const by_hand[][2] = {
        {"threads", "1"}, {"kernel", "segments"}, {"segment", "640"}, {"tile", "2"}, {"kernel", "staged"}};
    for (int h = 0; h < 5; h++) {
        ftb_sddmm_plan plan = {0};
        trials t = {0};
        assert_null(ftb_sddmm_plan_set(&plan, &f, by_hand[h][0], by_hand[h][1]));
        const unsigned forced = plan.asked.forced;
        ftb_rule_sddmm(&plan, &f, ftb_machine_here());
        assert_ok(measure_attention(&plan, &f, &t));
        const ftb_choice found = ftb_sddmm_chosen(&plan);
        assert_orderly(&t, &found);
        assert_true(plan.origin == FTB_ORIGIN_TRIAL && (plan.asked.forced & forced) == forced);
        assert_true(tried(&t, FTB_SDDMM_ROWS) == (h != 1 && h != 4));
        assert_true(tried(&t, FTB_SDDMM_SEGMENTS) == (h != 4));
        assert_true(tried(&t, FTB_SDDMM_STAGED) == (h != 1));
        for (int n = 0; n < t.count; n++) {
            const bool segments = t.ran[n].family == FTB_SDDMM_SEGMENTS;
            assert_true(h != 2 || !segments || t.ran[n].segment == 640);
            assert_true(h != 3 || !segments || t.ran[n].tile == 2 * f.piece_bytes);
        }
    }
}

/* A number is found that is far from the rule's, over a slope that rises by steps. */
static GrB_Info sleep_by_segment(void *run, const ftb_any_plan *plan, double *seconds)
{
    const int64_t segment = plan->spmm.segment;
    const double steps = segment ? fabs(log2((double)segment / 16384)) : 40;
    const struct timespec t = {.tv_nsec = (long)(2e6 * (1 + steps))};
    nanosleep(&t, NULL);
    return record_spmm(run, plan, seconds);
}

static void finds_the_far(void **state)
{
    (void)state;
    const ftb_spmm_facts f = weighted();
    ftb_spmm_plan plan = {0};
    trials t = {0};
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_null(ftb_spmm_plan_set(&plan, "tile", "32"));
    ftb_rule_spmm(&plan, &f, ftb_machine_standard());
    assert_true(plan.segment > 0 && plan.segment < 12000);
    ftb_spmm_plan again = plan;
    assert_ok(measure_spmm(&plan, &f, sleep_by_segment, &t, ctx));
    assert_true(plan.segment > 11000 && plan.segment < 24000);
    /* Within the seconds that are allowed: what is running then is ended, no other begun. */
    t.count = 0;
    assert_ok(FtB_Context_set_measure_seconds(ctx, 1e-9));
    assert_ok(measure_spmm(&again, &f, sleep_by_segment, &t, ctx));
    assert_int_equal(t.count, 2);
    assert_int_equal(FtB_Context_set_measure_seconds(ctx, 0), GrB_INVALID_VALUE);
    assert_int_equal(FtB_Context_set_measure_seconds(ctx, NAN), GrB_INVALID_VALUE);
    assert_ok(FtB_Context_free(&ctx));
}

/* A trial that fails ends the search, and the plan is as it was. */
static void failing_trials(void **state)
{
    (void)state;
    const ftb_spmm_facts f = weighted();
    ftb_spmm_plan first = {0};
    ftb_rule_spmm(&first, &f, ftb_machine_here());
    for (int n = 1; n <= 3; n++) {
        ftb_spmm_plan plan = first;
        trials t = {.fails = n};
        assert_int_equal(measure_spmm(&plan, &f, record_spmm, &t, ftb_context()), FTB_CANCELLED);
        assert_int_equal(t.count, n);
        assert_memory_equal(&plan, &first, sizeof plan);
    }
}

/* ---- calls */

static void of_two_blocks(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int heads = 1; heads <= 4; heads += 3) {
        operands o = make(&r, heads);
        FtB_Plan plan, again;
        FtB_Descriptor desc;
        assert_ok(FtB_mxm_plan(&plan, o.S, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, FTB_DESC_RST1, FTB_MEASURE));
        assert_true(o.S->pattern->nvals == 0);
        assert_plan_says(plan, "measured");
        assert_true(planned_figure(plan, "seconds") > 0);
        assert_ok(planned_descriptor(&desc, FTB_DESC_RST1, plan));
        assert_ok(FtB_mxm(o.S, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, desc));
        assert_ok(FtB_mxm(o.T, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, FTB_DESC_RST1));
        assert_memory_equal(matrix_values(o.S), matrix_values(o.T),
                            (size_t)(o.A->pattern->nvals * heads) * sizeof(float));
        assert_ok(FtB_Plan_set(plan, "segment", "17"));
        assert_ok(FtB_mxm_plan(&again, o.S, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, desc, FTB_MEASURE));
        assert_true(planned_figure(again, "segment") == 17 || planned_figure(again, "segment") == 0);
        FtB_Plan_free(&again);
        assert_ok(FtB_mxm_plan(&again, o.S, o.A, NULL, "plus : tanh(sum(src) * edge)", o.Q, o.K,
                               FTB_DESC_RST1, FTB_MEASURE)); /* nothing to choose */
        FtB_Plan_free(&again);
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
        clear(&o);
    }
}

/* Renaming and cells are chosen, unless they were forced. */
static void of_two_sparse(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 150, 200, 1, 0.2), B = rng_matrix(&r, FTB_FP32, 200, 170, 1, 0.2);
    static const char *const forced[][2] = {{"threads", "2"},
                                            {"relabel", "0"},
                                            {"relabel", "1"},
                                            {"accumulator", "dense"},
                                            {"accumulator", "hash"}};
    for (int f = 0; f < 5; f++) {
        FtB_Matrix C, D;
        FtB_Plan plan, found;
        FtB_Descriptor desc;
        assert_ok(FtB_Matrix_new(&C, FTB_FP32, 150, 170, 1));
        assert_ok(FtB_Matrix_new(&D, FTB_FP32, 150, 170, 1));
        assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, FTB_PLUS_TIMES, A, B, NULL, FTB_ESTIMATE));
        assert_ok(FtB_Plan_set(plan, forced[f][0], forced[f][1]));
        assert_ok(planned_descriptor(&desc, NULL, plan));
        assert_ok(FtB_mxm_plan(&found, C, NULL, NULL, FTB_PLUS_TIMES, A, B, desc, FTB_MEASURE));
        assert_true(C->pattern->nvals == 0);
        assert_true(f == 0 || f > 2 || planned_figure(found, "relabel") == planned_figure(plan, "relabel"));
        if (f > 2)
            assert_plan_says(found, forced[f][1]);
        FtB_Descriptor_free(&desc);
        assert_ok(planned_descriptor(&desc, NULL, found));
        assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_TIMES, A, B, desc));
        assert_ok(FtB_mxm(D, NULL, NULL, FTB_PLUS_TIMES, A, B, NULL));
        assert_same(C, D);
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
        FtB_Plan_free(&found);
        FtB_Matrix_free(&C);
        FtB_Matrix_free(&D);
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

static void attend(const operands *o, FtB_Block C, const char *text, FtB_Plan plan)
{
    FtB_Descriptor desc;
    assert_ok(planned_descriptor(&desc, NULL, plan));
    assert_ok(FtB_attention(C, o->A, NULL, text, o->Q, o->K, o->K, NULL, desc));
    FtB_Descriptor_free(&desc);
}

static void of_attention(void **state)
{
    (void)state;
    rng r = rng_new();
    static const char *const texts[] = {"plus : dot(src, dst)", "plus : dot(src, dst) * edge"};
    for (int t = 0; t < 4; t++) {
        operands o = make(&r, t < 2 ? 3 : 1);
        const char *text = texts[t % 2];
        const size_t bytes = ROWS * FEATURES * sizeof(float);
        FtB_Plan plan;
        memset(block_values(o.C), 0, bytes);
        assert_ok(FtB_attention_plan(&plan, o.C, o.A, NULL, text, o.Q, o.K, o.K, NULL, NULL, FTB_MEASURE));
        for (int64_t v = 0; v < ROWS * FEATURES; v++)
            assert_true(((float *)block_values(o.C))[v] == 0);
        assert_plan_says(plan, "<- measured");
        attend(&o, o.C, text, plan);
        attend(&o, o.D, text, plan);
        assert_memory_equal(block_values(o.C), block_values(o.D), bytes);
        assert_ok(FtB_Plan_set(plan, "kernel", planned_figure(plan, "staged") > 0 ? "fused" : "staged"));
        attend(&o, o.D, text, plan);
        for (int64_t v = 0; v < ROWS * FEATURES; v++)
            assert_true(fabsf(((float *)block_values(o.C))[v] - ((float *)block_values(o.D))[v]) < 1e-5f);
        FtB_Plan_free(&plan);
        clear(&o);
    }
}

/* Values of one head for all cannot be summed in steps: what was asked for becomes what can be. */
static void impossible_steps(void **state)
{
    (void)state;
    rng r = rng_new();
    operands o = make(&r, 4);
    FtB_Block V = block(&r, COLS, FEATURES / 4, 1);
    FtB_Plan plan;
    assert_ok(FtB_attention_plan(&plan, o.C, o.A, NULL, FTB_PLUS_DOT, o.Q, o.K, V, NULL, NULL, FTB_MEASURE));
    assert_ok(FtB_Plan_set(plan, "kernel", "staged"));
    assert_true(planned_figure(plan, "staged") == 0);
    assert_plan_says(plan, "fused only");
    FtB_Plan_free(&plan);
    FtB_Block_free(&V);
    clear(&o);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix A = NULL, S = NULL;
    FtB_Block Q = NULL, C = NULL;
    FtB_Plan plan = NULL;
    const int64_t I[] = {0, 0, 2, 2}, J[] = {1, 2, 0, 1};
    const float x[] = {1, 2, 3, 4};
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 4, I, J, x, FTB_DUP_ERROR, NULL);
    if (info == GrB_SUCCESS && (info = FtB_Matrix_new(&S, FTB_FP32, 3, 3, 1)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&Q, 3, 3, FTB_BF16)) == GrB_SUCCESS)
        info = FtB_Block_new(&C, 3, 3, FTB_FP32);
    if (info == GrB_SUCCESS && arg)
        info = FtB_attention_plan(&plan, C, A, NULL, FTB_PLUS_DOT, Q, Q, Q, NULL, NULL, FTB_MEASURE);
    else if (info == GrB_SUCCESS)
        info = FtB_mxm_plan(&plan, S, A, NULL, FTB_PLUS_DOT, Q, Q, FTB_DESC_ST1, FTB_MEASURE);
    FtB_Plan_free(&plan);
    if (info == GrB_SUCCESS)
        info = FtB_mxm_plan(&plan, S, NULL, NULL, FTB_PLUS_TIMES, A, A, NULL, FTB_MEASURE);
    FtB_Wisdom_forget(NULL);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
    FtB_Block_free(&Q);
    FtB_Block_free(&C);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    FtB_Wisdom_forget(NULL);
    fail_every_allocation(call, NULL, NULL);
    fail_every_allocation(call, NULL, &(char){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_sparse_and_block), cmocka_unit_test(of_entries),
        cmocka_unit_test(failing_trials),      cmocka_unit_test(finds_the_far),
        cmocka_unit_test(of_two_blocks),       cmocka_unit_test(of_two_sparse),
        cmocka_unit_test(of_attention),        cmocka_unit_test(impossible_steps),
        cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
