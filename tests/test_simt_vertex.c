/* Kernels of supersteps in the emulator: new values, flags and sums against slow loops, and the sectors of
 * memory that they touch: each value once. */
#include "support/simt_case.h"

#include "core/core.h"
#include "gpu/kernels/vertex_rows.h"

enum { WARP = 32 };

static unsigned blocks_of(int64_t rows, int lanes)
{
    const int64_t each = FTB_VERTEX_BLOCK >> lanes;
    return (unsigned)((rows + each - 1) / each);
}

static double launch(const char *name, unsigned blocks, void *arguments, uint64_t seed)
{
    simt_report report;
    case_launch(name, simt_line(blocks), FTB_VERTEX_BLOCK, (void *[]){arguments},
                &(simt_options){.seed = seed, .count = 1}, &report);
    return (double)report.global_sectors;
}

static const struct {
    const char *name;
    FtB_Type type;
} kinds[] = {{"vertex_renew_u8", FTB_UINT8},  {"vertex_renew_u16", FTB_INT16},
             {"vertex_renew_u32", FTB_INT32}, {"vertex_renew_u64", FTB_UINT64},
             {"vertex_renew_f32", FTB_FP32},  {"vertex_renew_f64", FTB_FP64}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Small whole numbers; of reals odd ones, too, and NaN of several bits. */
static void put_value(rng *r, char *to, FtB_Type type)
{
    const double value = ftb_type_float(type) ? (double)case_value(r, ODD) : (double)rng_below(r, 3);
    ftb_cast(to, type, &value, FTB_FP64, 1);
    if (value != value)
        to[0] = (char)rng_below(r, 2);
}

static bool is_other(const char *x, const char *y, FtB_Type type)
{
    return memcmp(x, y, FtB_Type_size(type)) != 0 &&
           !(ftb_type_float(type) && isnan(ftb_get_real(x, type, 0)) && isnan(ftb_get_real(y, type, 0)));
}

/* Lanes more and fewer than a row has values, too. */
static void renew_one(rng *r, int kind, int64_t nrows, int64_t ncols, int lanes, bool some, bool store)
{
    const FtB_Type type = kinds[kind].type;
    const size_t size = FtB_Type_size(type);
    const int64_t ld = ncols + rng_below(r, 2);
    char *fresh = case_memory(nrows * ncols, size, "fresh"), *state = case_memory(nrows * ld, size, "state"),
         *was = malloc(size * (size_t)(nrows * ld + 1));
    unsigned char *who = case_memory(nrows, 1, "who"), *changed = case_memory(nrows, 1, "changed");
    const bool more = rng_below(r, 2);
    for (int64_t k = 0; k < nrows * ld; k++)
        put_value(r, was + (size_t)k * size, type);
    memcpy(state, was, size * (size_t)(nrows * ld));
    for (int64_t i = 0; i < nrows; i++) {
        who[i] = (unsigned char)rng_below(r, 2);
        changed[i] = (unsigned char)(i % 3 == 0);
        for (int64_t f = 0; f < ncols; f++)
            if (rng_below(r, 4 * ncols))
                memcpy(fresh + (size_t)(i * ncols + f) * size, was + (size_t)(i * ld + f) * size, size);
            else
                put_value(r, fresh + (size_t)(i * ncols + f) * size, type);
    }
    ftb_vertex_renew_arguments a = {.nrows = nrows,
                                    .ncols = ncols,
                                    .ld = ld,
                                    .fresh = fresh,
                                    .state = state,
                                    .who = some ? who : NULL,
                                    .changed = changed,
                                    .lanes = lanes,
                                    .more = more,
                                    .store = store};
    (void)launch(kinds[kind].name, blocks_of(nrows, lanes), &a, (uint64_t)rng_below(r, 100));
    for (int64_t i = 0; i < nrows; i++) {
        bool other = more && i % 3 == 0;
        for (int64_t f = 0; f < ncols; f++) {
            const char *now = fresh + (size_t)(i * ncols + f) * size,
                       *old = was + (size_t)(i * ld + f) * size;
            const bool differs = is_other(now, old, type) && (!some || who[i]);
            assert_memory_equal(state + (size_t)(i * ld + f) * size, differs && store ? now : old, size);
            other = other || differs;
        }
        assert_int_equal(changed[i], other);
    }
    void *all[] = {fresh, state, who, changed};
    for (int k = 0; k < 4; k++)
        case_forget(all[k]);
    free(was);
}

static void renews(void **state)
{
    static const int64_t rows[] = {1, 31, 256, 300}, widths[] = {1, 3, 8, 40};
    rng r = rng_new();
    (void)state;
    for (int time = 0; time < case_times(); time++)
        for (int n = 0; n < 4; n++)
            for (int w = 0; w < 4; w++)
                for (int lanes = 0; lanes <= FTB_VERTEX_MOST_LANES; lanes += case_all() ? 1 : 5)
                    renew_one(&r, (int)rng_below(&r, KINDS), rows[n], widths[w], lanes, rng_below(&r, 2),
                              rng_below(&r, 2));
}

static void flags_one(rng *r, int64_t nrows, int64_t ncols, int lanes, bool zeros)
{
    unsigned char *x = case_memory(nrows * ncols, 1, "x"), *with = case_memory(nrows, 1, "with"),
                  *out = case_memory(nrows, 1, "out");
    long long *weights = case_memory(nrows, sizeof *weights, "weights"), count = 0, weight = 0;
    unsigned long long *counts = case_memory(2, sizeof *counts, "counts");
    counts[0] = counts[1] = 0;
    for (int64_t k = 0; k < nrows * ncols; k++)
        x[k] = (rng_below(r, 2 * ncols) == 0) != zeros;
    for (int64_t i = 0; i < nrows; i++) {
        with[i] = rng_below(r, 3) > 0;
        weights[i] = rng_below(r, INT64_C(1) << 40);
    }
    ftb_vertex_flags_arguments a = {.nrows = nrows,
                                    .ncols = ncols,
                                    .x = x,
                                    .with = with,
                                    .weights = weights,
                                    .out = out,
                                    .counts = counts,
                                    .lanes = lanes,
                                    .zeros = zeros};
    (void)launch("vertex_flags", blocks_of(nrows, lanes), &a, (uint64_t)rng_below(r, 100));
    for (int64_t i = 0; i < nrows; i++) {
        bool flag = false;
        for (int64_t f = 0; f < ncols; f++)
            flag = flag || (zeros ? x[i * ncols + f] == 0 : x[i * ncols + f] != 0);
        flag = flag && with[i];
        assert_int_equal(out[i], flag);
        count += flag;
        weight += flag ? weights[i] : 0;
    }
    assert_true((long long)counts[0] == count && (long long)counts[1] == weight);
    void *all[] = {x, with, out, weights, counts};
    for (int k = 0; k < 5; k++)
        case_forget(all[k]);
}

static void flags(void **state)
{
    static const int64_t rows[] = {1, 32, 257, 700}, widths[] = {1, 2, 33, 64};
    rng r = rng_new();
    (void)state;
    for (int time = 0; time < case_times(); time++)
        for (int n = 0; n < 4; n++)
            for (int w = 0; w < 4; w++)
                for (int lanes = 0; lanes <= FTB_VERTEX_MOST_LANES; lanes += case_all() ? 1 : 5)
                    flags_one(&r, rows[n], widths[w], lanes, rng_below(&r, 2));
}

/* In order, to the bit; every value is read once. */
static void sums(void **state)
{
    static const int64_t counts[] = {1, 31, 32, 33, 512, 2000, 4096}, each[] = {1, 32, 100, 512};
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < 7; n++)
        for (int e = 0; e < 4; e++) {
            const int64_t count = counts[n], batches = (count + each[e] - 1) / each[e];
            double *x = case_memory(count, sizeof *x, "x"), *all = case_memory(batches, sizeof *all, "sums");
            for (int64_t k = 0; k < count; k++)
                x[k] = 2 * rng_unit(&r) - 1;
            ftb_vertex_sums_arguments a = {.count = count, .each = each[e], .x = x, .sums = all};
            const double sectors = launch("vertex_sums", blocks_of(batches, 5), &a, (uint64_t)n);
            for (int64_t b = 0; b < batches; b++) {
                double sum = 0;
                for (int64_t k = b * each[e]; k < count && k < (b + 1) * each[e]; k++)
                    sum += x[k];
                assert_memory_equal(&all[b], &sum, sizeof sum);
            }
            if (each[e] % WARP == 0 && count % WARP == 0) /* 4 values in a sector, and a sum of each batch */
                assert_true(sectors == (double)(count / 4 + batches));
            case_forget(x);
            case_forget(all);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(renews), cmocka_unit_test(flags),
                                       cmocka_unit_test(sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
