/* Rows of blocks on a GPU that does not exist, beside the host: copied, picked and spread, dropped, means
 * over heads. Every bit is the host's, and nothing beside the rows is touched. */
#include "support/beside.h"
#include "support/check.h"

#include "cpu/block/gather_run.h"
#include "cpu/nn/copy_run.h"
#include "cpu/nn/dropout_run.h"
#include "cpu/nn/mean_heads_run.h"
#include "gpu/gpu_verbs.h"

#include <stdio.h>
#include <stdlib.h>

static const FtB_Type reals[] = {FTB_FP32, FTB_FP64};

/* A block in memory: where it begins and how far rows are apart, in values. */
typedef struct where {
    int64_t first, ld, count;
} where;

/* Side by side; apart; apart at multiples of 16 bytes; not beginning at one. */
static where place(rng *r, int64_t nrows, int64_t ncols)
{
    const int64_t kind = rng_below(r, 5), around = 4 * ((ncols + 3) / 4);
    const int64_t ld = kind == 0 ? ncols : kind == 1 ? around + 4 : kind == 2 ? around : ncols + 1 + kind;
    const int64_t first = kind == 3 ? 1 : 4 * rng_below(r, 2);
    return (where){first, ld, first + nrows * ld};
}

/* Of blocks, and of threads side by side. */
static int64_t some_rows(rng *r)
{
    static const int64_t list[] = {0, 1, 2, 3, 31, 64, 65, 257, 700};
    return list[rng_below(r, sizeof list / sizeof *list)];
}
static int64_t some_columns(rng *r)
{
    static const int64_t list[] = {0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 64, 128, 131, 1025, 2050};
    return list[rng_below(r, sizeof list / sizeof *list)];
}

/* ---- copy */

static void copy_one(rng *r)
{
    const FtB_Type type = reals[rng_below(r, 2)];
    const int64_t nrows = some_rows(r), ncols = nrows > 100 ? some_columns(r) % 40 : some_columns(r);
    const int64_t what = rng_below(r, 4); /* put, one row, add, fill */
    const double value = rng_below(r, 2) ? 0.1 : 0;
    const where from = place(r, what == 1 ? 1 : nrows, ncols), to = place(r, nrows, ncols);
    beside x = beside_new(r, type, from.count, beside_odd), y = beside_new(r, type, to.count, beside_odd);
    const int ran = fake_gpu_launches();
    for (int there = 0; there < 2; there++) {
        const ftb_copy_product p = {.ctx = ftb_context(),
                                    .type = type,
                                    .nrows = nrows,
                                    .ncols = ncols,
                                    .x = what < 3 ? beside_at(&x, there, from.first) : NULL,
                                    .ldx = what == 1 ? 0 : from.ld,
                                    .value = value,
                                    .y = beside_at(&y, there, to.first),
                                    .ldy = to.ld,
                                    .add = what == 2};
        assert_ok(there ? ftb_gpu_copy(&p) : ftb_copy_run(&p));
    }
    char text[100];
    snprintf(text, sizeof text, "copy %lld, %lld x %lld", (long long)what, (long long)nrows,
             (long long)ncols);
    beside_free(&x);
    beside_same(&y, text);
    assert_int_equal(fake_gpu_launches() - ran, nrows * ncols > 0);
}

/* Of any type; the host's beside one value after the other. */
static void turn_one(rng *r)
{
    const FtB_Type type = rng_type(r);
    const size_t size = FtB_Type_size(type);
    const int64_t nrows = some_rows(r), ncols = nrows > 100 ? some_columns(r) % 40 : some_columns(r) % 300;
    const where from = place(r, ncols, nrows), to = place(r, nrows, ncols);
    beside x = beside_new(r, type, from.count, rng_any_values),
           y = beside_new(r, type, to.count, rng_any_values);
    const int ran = fake_gpu_launches();
    for (int there = 0; there < 2; there++) {
        const ftb_copy_product p = {.ctx = ftb_context(),
                                    .type = type,
                                    .nrows = nrows,
                                    .ncols = ncols,
                                    .x = beside_at(&x, there, from.first),
                                    .ldx = from.ld,
                                    .y = beside_at(&y, there, to.first),
                                    .ldy = to.ld,
                                    .turned = true};
        assert_ok(there ? ftb_gpu_copy(&p) : ftb_copy_run(&p));
    }
    for (int64_t t = 0; t < nrows * ncols; t++)
        assert_memory_equal(beside_at(&y, false, to.first + t / ncols * to.ld + t % ncols),
                            beside_at(&x, false, from.first + t % ncols * from.ld + t / ncols), size);
    beside_free(&x);
    beside_same(&y, "turned");
    assert_int_equal(fake_gpu_launches() - ran, nrows * ncols > 0);
}

static void copies(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(300); n++)
        n % 4 == 3 ? turn_one(&r) : copy_one(&r);
}

/* ---- gather and scatter */

static void any(rng *r, void *values, FtB_Type type, int64_t count)
{
    if (ftb_type_float(type))
        beside_odd(r, values, type, count);
    else
        rng_any_values(r, values, type, count);
}

/* Rows that rise, come in any order, or come again and again. */
static int64_t *some_list(rng *r, int64_t count, int64_t nrows)
{
    const int64_t kind = rng_below(r, 3), few = 1 + rng_below(r, nrows);
    int64_t *rows = malloc((size_t)(count + 1) * sizeof *rows);
    for (int64_t t = 0; t < count; t++)
        rows[t] = kind == 0 && count <= nrows ? t + (nrows - count) : rng_below(r, kind == 1 ? nrows : few);
    return rows;
}

static void gather_one(rng *r)
{
    const FtB_Type type = rng_type(r);
    const int64_t count = some_rows(r), nrows = 1 + rng_below(r, 300),
                  ncols = count > 100 ? some_columns(r) % 40 : some_columns(r) % 300;
    const where from = place(r, nrows, ncols), to = place(r, count, ncols);
    int64_t *rows = some_list(r, count, nrows);
    beside x = beside_new(r, type, from.count, any), y = beside_new(r, type, to.count, any);
    const int ran = fake_gpu_launches();
    for (int there = 0; there < 2; there++) {
        const ftb_gather_product p = {.ctx = ftb_context(),
                                      .rows = rows,
                                      .count = count,
                                      .ncols = ncols,
                                      .x = beside_at(&x, there, from.first),
                                      .y = beside_at(&y, there, to.first),
                                      .ldx = from.ld,
                                      .ldy = to.ld,
                                      .xtype = type,
                                      .ytype = type};
        assert_ok(there ? ftb_gpu_gather(&p) : ftb_gather_run(&p));
    }
    char text[100];
    snprintf(text, sizeof text, "gather %lld x %lld of %s", (long long)count, (long long)ncols,
             FtB_Type_name(type));
    beside_free(&x);
    beside_same(&y, text);
    assert_int_equal(fake_gpu_launches() - ran, count * ncols > 0);
    free(rows);
}

static void scatter_one(rng *r)
{
    const bool add = rng_below(r, 2);
    const FtB_Type type = add ? reals[rng_below(r, 2)] : rng_type(r);
    const int64_t count = some_rows(r), nrows = 1 + rng_below(r, 1000),
                  ncols = count > 100 || nrows > 300 ? some_columns(r) % 40 : some_columns(r) % 300;
    const where from = place(r, count, ncols), to = place(r, nrows, ncols);
    int64_t *rows = some_list(r, count, nrows);
    beside x = beside_new(r, type, from.count, any), y = beside_new(r, type, to.count, any);
    const int ran = fake_gpu_launches();
    for (int there = 0; there < 2; there++) {
        const ftb_scatter_product p = {.ctx = ftb_context(),
                                       .rows = rows,
                                       .count = count,
                                       .ncols = ncols,
                                       .nrows = nrows,
                                       .x = beside_at(&x, there, from.first),
                                       .y = beside_at(&y, there, to.first),
                                       .ldx = from.ld,
                                       .ldy = to.ld,
                                       .xtype = type,
                                       .ytype = type,
                                       .how = add ? FTB_SCATTER_FOLD : FTB_SCATTER_REPLACE,
                                       .monoid = FTB_PLUS};
        assert_true(ftb_gpu_scatter_fits(&p));
        assert_ok(there ? ftb_gpu_scatter(&p) : ftb_scatter_run(&p));
    }
    char text[100];
    snprintf(text, sizeof text, "scatter %lld x %lld of %s", (long long)count, (long long)ncols,
             FtB_Type_name(type));
    beside_free(&x);
    beside_same(&y, text);
    assert_int_equal(fake_gpu_launches() - ran, count * ncols > 0);
    free(rows);
}

static void gathers(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(200); n++)
        gather_one(&r);
}

static void scatters(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(300); n++)
        scatter_one(&r);
}

/* By the library's own calls: what the GPU adds, and what the host does for it. */
static void calls(void **state)
{
    enum { ROWS = 50, COLUMNS = 12, COUNT = 80, FEW = 10 };
    static const FtB_Type types[] = {FTB_FP32, FTB_FP64, FTB_INT64, FTB_FP16};
    rng r = rng_new();
    (void)state;
    for (int n = 0; n < 4; n++) {
        FtB_Block X, Y[2], P, Q;
        int64_t *rows = some_list(&r, COUNT, ROWS), home[2];
        assert_ok(FtB_Block_new(&X, ROWS, COLUMNS, types[n]));
        assert_ok(FtB_Block_new(&P, COUNT, COLUMNS, types[n]));
        assert_ok(FtB_Block_new(&Q, FEW, COLUMNS, types[n]));
        rng_values(&r, block_values(X), types[n], ROWS * COLUMNS);
        assert_ok(FtB_Block_changed(X));
        for (int there = 0; there < 2; there++) {
            assert_ok(FtB_Context_set_device(NULL, there ? "gpu" : NULL));
            assert_ok(FtB_Block_new(&Y[there], ROWS, COLUMNS, types[n]));
            const int ran = fake_gpu_launches();
            assert_ok(FtB_gather(P, X, rows, COUNT));
            assert_ok(FtB_Context_moved(NULL, &home[0], NULL));
            assert_ok(FtB_scatter(Y[there], FTB_ARG("x + y"), P, rows, COUNT));
            assert_ok(FtB_Context_moved(NULL, &home[1], NULL));
            assert_true(home[0] == home[1] || !there || !fake_gpu_emulates() || n > 1);
            assert_ok(FtB_gather(Q, X, rows, FEW));
            assert_ok(FtB_scatter(Y[there], NULL, Q, rows, FEW));
            block_values(Y[there]);
            if (fake_gpu_emulates())
                assert_true(there ? fake_gpu_launches() - ran >= (n > 1 ? 3 : 4)
                                  : fake_gpu_launches() == ran);
        }
        assert_memory_equal(block_values(Y[0]), block_values(Y[1]), ROWS * COLUMNS * FtB_Type_size(types[n]));
        FtB_Block_free(&X);
        FtB_Block_free(&P);
        FtB_Block_free(&Q);
        FtB_Block_free(&Y[0]);
        FtB_Block_free(&Y[1]);
        free(rows);
    }
}

/* ---- dropout */

static void drop_one(rng *r)
{
    static const double list[] = {0, 0.25, 0.5, 0.9, 1 - 0x1p-16};
    const FtB_Type type = reals[rng_below(r, 2)];
    const int64_t nrows = some_rows(r), ncols = nrows > 100 ? some_columns(r) % 40 : some_columns(r);
    const uint64_t seed = rng_bits(r);
    const double probability = list[rng_below(r, sizeof list / sizeof *list)];
    const bool in_place = rng_below(r, 3) == 0, add = rng_below(r, 2);
    const where to = place(r, nrows, ncols), from = in_place ? to : place(r, nrows, ncols);
    beside x = beside_new(r, type, from.count, beside_odd), y = beside_new(r, type, to.count, beside_odd);
    const int ran = fake_gpu_launches();
    for (int there = 0; there < 2; there++) {
        const ftb_dropout_product p = {.ctx = ftb_context(),
                                       .type = type,
                                       .nrows = nrows,
                                       .ncols = ncols,
                                       .x = beside_at(in_place ? &y : &x, there, from.first),
                                       .ldx = from.ld,
                                       .y = beside_at(&y, there, to.first),
                                       .ldy = to.ld,
                                       .seed = seed,
                                       .probability = probability,
                                       .add = add};
        assert_ok(there ? ftb_gpu_dropout(&p) : ftb_dropout_run(&p));
    }
    char text[100];
    snprintf(text, sizeof text, "dropout %lld x %lld", (long long)nrows, (long long)ncols);
    beside_free(&x);
    beside_same(&y, text);
    assert_int_equal(fake_gpu_launches() - ran, nrows * ncols > 0);
}

static void drops(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(150); n++)
        drop_one(&r);
}

/* ---- means over heads */

static void mean_one(rng *r)
{
    const FtB_Type type = reals[rng_below(r, 2)];
    const int64_t nrows = some_rows(r), heads = 1 + rng_below(r, 9),
                  width = nrows > 100 ? some_columns(r) % 20 : some_columns(r);
    const bool gradient = rng_below(r, 2), add = gradient && rng_below(r, 2);
    const where wide = place(r, nrows, heads * width), narrow = place(r, nrows, width),
                from = gradient ? narrow : wide, to = gradient ? wide : narrow;
    beside x = beside_new(r, type, from.count, beside_odd), y = beside_new(r, type, to.count, beside_odd);
    const int ran = fake_gpu_launches();
    for (int there = 0; there < 2; there++) {
        const ftb_mean_heads_product p = {.ctx = ftb_context(),
                                          .type = type,
                                          .nrows = nrows,
                                          .heads = heads,
                                          .width = width,
                                          .x = beside_at(&x, there, from.first),
                                          .ldx = from.ld,
                                          .y = beside_at(&y, there, to.first),
                                          .ldy = to.ld,
                                          .add = add};
        if (gradient)
            assert_ok(there ? ftb_gpu_mean_heads_grad(&p) : ftb_mean_heads_grad_run(&p));
        else
            assert_ok(there ? ftb_gpu_mean_heads(&p) : ftb_mean_heads_run(&p));
    }
    char text[100];
    snprintf(text, sizeof text, "mean_heads%s %lld x %lld x %lld", gradient ? "_grad" : "", (long long)nrows,
             (long long)heads, (long long)width);
    beside_free(&x);
    beside_same(&y, text);
    assert_int_equal(fake_gpu_launches() - ran, nrows * width > 0);
}

static void means(void **state)
{
    rng r = rng_new();
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(200); n++)
        mean_one(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(copies, beside_clean),   cmocka_unit_test_teardown(gathers, beside_clean),
        cmocka_unit_test_teardown(scatters, beside_clean), cmocka_unit_test_teardown(calls, beside_clean),
        cmocka_unit_test_teardown(drops, beside_clean),    cmocka_unit_test_teardown(means, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
