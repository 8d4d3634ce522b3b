/* Supersteps on a GPU that does not exist (support/fake_cuda): the verbs beside the host's, to the bit, and
 * programs whose texts are kernels there, beside the host. Where there is no emulator the host does all of
 * it.
 */
#include "support/beside.h"
#include "support/check.h"

#include "core/core.h"
#include "cpu/vertex/vertex_verbs.h"
#include "gpu/gpu_verbs.h"
#include "support/real_gpu.h"
#include "support/vertex_there.h"

static void few(rng *r, void *values, FtB_Type type, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        const double value = (double)(rng_below(r, 3) - (type != FTB_BOOL));
        ftb_cast((char *)values + (size_t)t * FtB_Type_size(type), type, &value, FTB_FP64, 1);
    }
}

static void renew_one(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int64_t gap)
{
    ftb_vertex_renew_product p = {.ctx = ftb_context(),
                                  .type = type,
                                  .nrows = nrows,
                                  .ncols = ncols,
                                  .ld = ncols + gap,
                                  .more = rng_below(r, 2),
                                  .store = rng_below(r, 2)};
    const bool some = rng_below(r, 2), tells = rng_below(r, 4) > 0;
    rng_fill fill = ftb_type_float(type) && rng_below(r, 2) ? beside_odd : few;
    beside fresh = beside_new(r, type, nrows * ncols, fill), at = beside_new(r, type, nrows * p.ld, fill),
           who = beside_new(r, FTB_BOOL, nrows, few), changed = beside_new(r, FTB_BOOL, nrows, few);
    for (int there = 0; there < 2; there++) {
        p.fresh = beside_at(&fresh, there, 0);
        p.state = beside_at(&at, there, 0);
        p.who = some ? beside_at(&who, there, 0) : NULL;
        p.changed = tells ? beside_at(&changed, there, 0) : NULL;
        assert_ok(there ? ftb_gpu_vertex_renew(&p) : ftb_vertex_renew_run(&p));
    }
    beside_same(&at, "the state");
    beside_same(&changed, "what changed");
    beside_free(&fresh);
    beside_free(&who);
}

static void renews(void **state)
{
    static const FtB_Type types[] = {FTB_BOOL, FTB_INT16, FTB_INT32, FTB_UINT64, FTB_FP32, FTB_FP64};
    static const int64_t widths[] = {1, 2, 3, 31, 32, 33, 70};
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(60); n++)
        renew_one(&r, types[n % 6], rng_below(&r, 600), widths[rng_below(&r, 7)], rng_below(&r, 3));
    assert_false(ftb_gpu_vertex_renew_fits(&(ftb_vertex_renew_product){.type = FTB_FP16}));
}

static void flags_one(rng *r, int64_t nrows, int64_t ncols)
{
    ftb_vertex_flags_product p = {
        .ctx = ftb_context(), .nrows = nrows, .ncols = ncols, .zeros = rng_below(r, 2)};
    const bool x = rng_below(r, 4) > 0, with = rng_below(r, 2), weights = rng_below(r, 2),
               place = rng_below(r, 2);
    beside values = beside_new(r, FTB_BOOL, nrows * ncols, few), some = beside_new(r, FTB_BOOL, nrows, few),
           weight = beside_new(r, FTB_INT64, nrows, rng_values), out = beside_new(r, FTB_BOOL, nrows, few),
           counts = beside_new(r, FTB_INT64, 2, rng_values);
    for (int there = 0; there < 2; there++) {
        p.x = x ? beside_at(&values, there, 0) : NULL;
        p.with = with ? beside_at(&some, there, 0) : NULL;
        p.weights = weights ? beside_at(&weight, there, 0) : NULL;
        p.out = beside_at(place && with ? &some : &out, there, 0);
        p.counts = beside_at(&counts, there, 0);
        assert_ok(there ? ftb_gpu_vertex_flags(&p) : ftb_vertex_flags_run(&p));
    }
    beside_same(&out, "flags");
    beside_same(&some, "flags in place");
    beside_same(&counts, "counts");
    beside_free(&values);
    beside_free(&weight);
}

static void flags(void **state)
{
    static const int64_t widths[] = {1, 2, 5, 32, 40, 64};
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(40); n++)
        flags_one(&r, rng_below(&r, 700), widths[rng_below(&r, 6)]);
}

static void sums(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(30); n++) {
        ftb_vertex_sums_product p = {
            .ctx = ftb_context(), .count = rng_below(&r, 3000), .each = 1 + rng_below(&r, 600)};
        beside x = beside_new(&r, FTB_FP64, p.count, rng_reals),
               all = beside_new(&r, FTB_FP64, (p.count + p.each - 1) / p.each, rng_reals);
        for (int there = 0; there < 2; there++) {
            p.x = beside_at(&x, there, 0);
            p.sums = beside_at(&all, there, 0);
            assert_ok(there ? ftb_gpu_vertex_sums(&p) : ftb_vertex_sums_run(&p));
        }
        beside_same(&all, "sums");
        beside_free(&x);
    }
}

/* Programs, each text of which is compiled there. */
static void programs(void **state)
{
    (void)state;
    const int ran = fake_gpu_launches();
    FtB_Matrix A = there_graph(60, 300, FTB_FP32);
    for (int p = 0; p < there_count;
         p += real_gpu() ? 1 : 4) /* the emulator's compiler takes a second a text */
        for (int way = FTB_WAY_AUTO; way <= FTB_WAY_PULL; way += FTB_WAY_PULL) {
            const int64_t did = there_compare(&there_programs[p], A, (FtB_Way)way, true, false);
            if (way == FTB_WAY_PULL && fake_gpu_emulates())
                assert_true((did > 0) != there_programs[p].host);
        }
    if (fake_gpu_emulates())
        assert_true(fake_gpu_launches() > ran);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(renews, beside_clean), cmocka_unit_test_teardown(flags, beside_clean),
        cmocka_unit_test_teardown(sums, beside_clean), cmocka_unit_test_teardown(programs, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
