/* Sinks: what they collect and count, whatever the chunks and threads. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "io/io.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Sends the rows of A in chunks of random length, leaving out empty rows now and then; its own way through
 * the arrays, so that it checks FtB_Matrix_write too. */
static GrB_Info send(FtB_Sink sink, FtB_Matrix A, bool announce, bool symmetric, rng *r)
{
    int64_t m, n, nvals, width;
    FtB_Type type;
    const int64_t *rowptr;
    const void *colidx, *values;
    FtB_Matrix_shape(A, &m, &n, &nvals, &width, &type);
    FtB_Matrix_csr(A, &rowptr, &colidx, &values);
    ftb_sink_shape shape = {.ctx = ftb_context(),
                            .nrows = m,
                            .ncols = n,
                            .nvals = announce ? nvals : -1,
                            .type = type,
                            .width = width,
                            .symmetric = symmetric};
    GrB_Info info = ftb_sink_begin(sink, &shape);
    int64_t *local = malloc((size_t)(m + 1) * sizeof *local);
    for (int64_t i = 0; i < m && info == GrB_SUCCESS;) {
        int64_t count = 1 + rng_below(r, rng_below(r, 2) ? 5 : m);
        count = ftb_min(count, m - i);
        if (rng_below(r, 2) == 0 && rowptr[i + count] == rowptr[i]) {
            i += count; /* nothing there: need not be sent */
            continue;
        }
        for (int64_t k = 0; k <= count; k++)
            local[k] = rowptr[i + k] - rowptr[i];
        FtB_Rows rows = {.row0 = i,
                         .nrows = count,
                         .ncols = n,
                         .rowptr = local,
                         .colidx = (const char *)colidx + (size_t)rowptr[i] * ftb_col_size(n),
                         .values =
                             values ? (const char *)values + (size_t)(rowptr[i] * width) * FtB_Type_size(type)
                                    : NULL,
                         .type = type,
                         .width = width};
        info = ftb_sink_rows(sink, &rows);
        i += count;
    }
    free(local);
    if (info == GrB_SUCCESS)
        info = ftb_sink_end(sink);
    return info;
}

static FtB_Matrix some_matrix(rng *r, int64_t width)
{
    static const FtB_Type types[] = {FTB_BOOL, FTB_INT64, FTB_UINT64, FTB_FP32, FTB_FP64};
    return rng_matrix(r, types[rng_below(r, 5)], 1 + rng_below(r, 60), 1 + rng_below(r, 60), width,
                      rng_unit(r) * 0.5);
}

static void collects_a_matrix(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 300; t++) {
        FtB_Context_set_threads(NULL, 1 + t % 3);
        FtB_Matrix A = some_matrix(&r, rng_below(&r, 4)), B = NULL;
        FtB_Sink sink;
        assert_ok(ftb_sink_matrix(&sink, ftb_context(), &B, 0));
        assert_ok(send(sink, A, t % 2, false, &r));
        assert_same(A, B);
        FtB_Stats s;
        int64_t nvals;
        assert_ok(FtB_Sink_get_stats(sink, &s));
        assert_ok(FtB_Matrix_shape(A, NULL, NULL, &nvals, NULL, NULL));
        assert_int_equal(s.nvals, nvals);
        FtB_Sink_free(&sink);
        FtB_Sink_free(&sink);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
    }
    FtB_Context_set_threads(NULL, 0);
}

static void casts_to_the_wanted_type(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 50; t++) {
        FtB_Matrix A = rng_matrix(&r, FTB_INT64, 20, 30, 1, 0.2), B = NULL;
        FtB_Sink sink;
        assert_ok(ftb_sink_matrix(&sink, ftb_context(), &B, FTB_FP32));
        assert_ok(send(sink, A, false, false, &r));
        FtB_Type type;
        assert_ok(FtB_Matrix_shape(B, NULL, NULL, NULL, NULL, &type));
        assert_int_equal(type, FTB_FP32);
        for (int64_t i = 0; i < 20; i++)
            for (int64_t j = 0; j < 30; j++)
                assert_true(value_at(A, i, j, 0, -99) == value_at(B, i, j, 0, -99));
        FtB_Sink_free(&sink);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
    }
}

static void statistics(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 200; t++) {
        int64_t width = rng_below(&r, 3), m, n;
        FtB_Matrix A = some_matrix(&r, width);
        FtB_Stats first, again, expected = {.min = INFINITY, .max = -INFINITY};
        FtB_Sink sink;
        assert_ok(FtB_Sink_stats(&sink));
        assert_true(ftb_sink_counts(sink));
        FtB_Context_set_threads(NULL, 1);
        assert_ok(send(sink, A, true, false, &r));
        assert_ok(FtB_Sink_get_stats(sink, &first));
        FtB_Context_set_threads(NULL, 3);
        assert_ok(send(sink, A, false, false, &r)); /* may be used again */
        assert_ok(FtB_Sink_get_stats(sink, &again));
        assert_memory_equal(&first, &again, sizeof first);

        assert_ok(FtB_Matrix_shape(A, &m, &n, NULL, NULL, NULL));
        for (int64_t i = 0; i < m; i++) {
            int64_t entries = 0;
            for (int64_t j = 0; j < n; j++) {
                if (isnan(value_at(A, i, j, 0, NAN)))
                    continue;
                entries++;
                for (int64_t f = 0; f < ftb_max(width, 1); f++) {
                    double v = value_at(A, i, j, f, 0);
                    expected.sum += v;
                    expected.min = fmin(expected.min, v);
                    expected.max = fmax(expected.max, v);
                }
            }
            expected.nvals += entries;
            expected.nonempty_rows += entries > 0;
            expected.max_row = ftb_max(expected.max_row, entries);
        }
        assert_int_equal(first.nvals, expected.nvals);
        assert_int_equal(first.nonempty_rows, expected.nonempty_rows);
        assert_int_equal(first.max_row, expected.max_row);
        assert_true(first.sum == expected.sum); /* small integers: exact */
        assert_true(expected.nvals == 0 ? isnan(first.min) && isnan(first.max)
                                        : first.min == expected.min && first.max == expected.max);
        FtB_Sink_free(&sink);
        FtB_Matrix_free(&A);
    }
    FtB_Context_set_threads(NULL, 0);
}

/* Reals whose sum depends on the order: the same bits whatever the chunks and threads; and by way of
 * ftb_sink_count_rows. */
static void statistics_of_reals(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { M = 9000, PER_ROW = 37 };
    static int64_t rowptr[M + 1];
    static int32_t colidx[M * PER_ROW];
    static double values[M * PER_ROW];
    static ftb_row_stats rows[M];
    for (int64_t i = 0; i <= M; i++)
        rowptr[i] = i * PER_ROW;
    for (int64_t e = 0; e < M * PER_ROW; e++) {
        colidx[e] = (int32_t)(e % PER_ROW);
        values[e] = ldexp(rng_unit(&r) - 0.5, (int)rng_below(&r, 60));
    }
    FtB_Matrix A;
    FtB_Sink sink;
    FtB_Stats first, again;
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP64, M, PER_ROW, 1, rowptr, colidx, values));
    assert_ok(FtB_Sink_stats(&sink));
    for (int t = 0; t < 12; t++) {
        FtB_Context_set_threads(NULL, 1 + t % 4);
        assert_ok(send(sink, A, t % 2, false, &r));
        assert_ok(FtB_Sink_get_stats(sink, t == 0 ? &first : &again));
        if (t > 0)
            assert_memory_equal(&first, &again, sizeof first);
    }
    FtB_Context_set_threads(NULL, 0);
    for (int64_t i = 0; i < M; i++)
        ftb_row_stats_of(&rows[i], values + i * PER_ROW, FTB_FP64, PER_ROW, 1);
    ftb_sink_shape shape = {
        .ctx = ftb_context(), .nrows = M, .ncols = PER_ROW, .nvals = -1, .type = FTB_FP64, .width = 1};
    assert_ok(ftb_sink_begin(sink, &shape));
    assert_ok(ftb_sink_count_rows(sink, 0, 100, rows));
    assert_ok(ftb_sink_count_rows(sink, 100, M - 100, rows + 100));
    assert_ok(ftb_sink_end(sink));
    assert_ok(FtB_Sink_get_stats(sink, &again));
    assert_memory_equal(&first, &again, sizeof first);
    FtB_Sink_free(&sink);
    FtB_Matrix_free(&A);
}

static GrB_Info count_calls(const FtB_Rows *rows, void *arg)
{
    int64_t *calls = arg;
    calls[0]++;
    calls[1] += rows->rowptr[rows->nrows];
    return calls[0] == calls[2] ? FTB_CANCELLED : GrB_SUCCESS;
}

static void callbacks(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 50, 50, 1, 0.3);
    int64_t calls[3] = {0}, nvals;
    FtB_Sink sink;
    assert_ok(FtB_Matrix_shape(A, NULL, NULL, &nvals, NULL, NULL));
    assert_ok(FtB_Sink_callback(&sink, count_calls, calls));
    assert_ok(send(sink, A, false, false, &r));
    assert_int_equal(calls[1], nvals);
    calls[0] = calls[1] = 0;
    calls[2] = 1;
    assert_fails(FTB_CANCELLED, "callback returned", send(sink, A, false, false, &r));
    FtB_Sink_free(&sink);
    assert_fails(GrB_NULL_POINTER, "f is NULL", FtB_Sink_callback(&sink, NULL, NULL));
    FtB_Matrix_free(&A);
}

static void misuse(void **state)
{
    (void)state;
    FtB_Sink sink, none = NULL;
    int64_t rowptr[] = {0, 1};
    int32_t colidx[] = {0};
    double values[] = {1};
    FtB_Rows rows = {.nrows = 1,
                     .ncols = 4,
                     .rowptr = rowptr,
                     .colidx = colidx,
                     .values = values,
                     .type = FTB_FP64,
                     .width = 1};
    ftb_sink_shape shape = {
        .ctx = ftb_context(), .nrows = 3, .ncols = 4, .nvals = 2, .type = FTB_FP64, .width = 1};
    assert_ok(FtB_Sink_stats(&sink));
    assert_fails(GrB_INVALID_VALUE, "outside an operation", ftb_sink_rows(sink, &rows));
    assert_fails(GrB_INVALID_VALUE, "not in an operation", ftb_sink_end(sink));
    assert_ok(ftb_sink_begin(sink, &shape));
    assert_fails(GrB_INVALID_VALUE, "in use", ftb_sink_begin(sink, &shape));
    rows.row0 = 1;
    assert_ok(ftb_sink_rows(sink, &rows));
    assert_fails(GrB_INVALID_VALUE, "out of order", ftb_sink_rows(sink, &rows));
    rows.row0 = 3;
    assert_fails(GrB_INVALID_VALUE, "out of order", ftb_sink_rows(sink, &rows));
    rows.row0 = 2;
    rows.type = FTB_FP32;
    assert_fails(GrB_INVALID_VALUE, "fp32 x 1; fp64 x 1 were announced", ftb_sink_rows(sink, &rows));
    assert_fails(GrB_INVALID_VALUE, "1 entries; 2 were announced", ftb_sink_end(sink));
    shape.nvals = 0;
    rows.type = FTB_FP64;
    assert_ok(ftb_sink_begin(sink, &shape));
    assert_fails(GrB_INVALID_VALUE, "more than the 0 entries", ftb_sink_rows(sink, &rows));
    ftb_sink_abort(sink);
    assert_fails(GrB_INVALID_VALUE, "digits is 18", FtB_Sink_set_precision(sink, 18));
    assert_fails(GrB_INVALID_VALUE, "base is -1", FtB_Sink_set_base(sink, -1));
    assert_fails(GrB_NULL_POINTER, "sink is NULL", FtB_Sink_set_precision(none, 3));
    assert_fails(GrB_NULL_POINTER, "stats is NULL", FtB_Sink_get_stats(sink, NULL));
    FtB_Sink_free(&sink);
    assert_fails(GrB_INVALID_VALUE, "'x.dat'", FtB_Sink_file(&sink, "x.dat", FTB_FORMAT_AUTO, NULL));
    assert_null(sink);
    assert_fails(GrB_INVALID_VALUE, "no FtB_Format", FtB_Sink_file(&sink, "x", (FtB_Format)99, NULL));
}

/* Every format, with and without a count, to a file and to a pipe that comes back through FtB_Matrix_read. */
static void files_of_every_format(void **state)
{
    (void)state;
    rng r = rng_new();
    static const FtB_Format formats[] = {FTB_MTX, FTB_NPZ, FTB_CSR};
    static const FtB_Type types[] = {FTB_INT64, FTB_FP64};
    int files = count_files();
    for (int t = 0; t < 120; t++) {
        FtB_Context_set_threads(NULL, 1 + t % 3);
        FtB_Format format = formats[t % 3];
        FtB_Matrix A = rng_matrix(&r, types[rng_below(&r, 2)], 1 + rng_below(&r, 200), 1 + rng_below(&r, 200),
                                  1, rng_unit(&r) * 0.3),
                   B;
        FtB_Sink sink;
        bool pipe = t % 2;
        assert_ok(FtB_Sink_file(&sink, pipe ? "-" : temp_path("sink"), format, NULL));
        if (pipe)
            redirect_stdout("sink");
        GrB_Info info = send(sink, A, (t / 6) % 2, false, &r);
        if (pipe)
            restore_stdout();
        assert_int_equal(info, GrB_SUCCESS);
        assert_fails(GrB_INVALID_VALUE, "single-use", send(sink, A, true, false, &r));
        FtB_Sink_free(&sink);
        assert_int_equal(count_files(), files + 1);
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("sink"), NULL));
        assert_same(A, B);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
        remove(temp_path("sink"));
    }
    FtB_Context_set_threads(NULL, 0);
}

static void unfinished_files_vanish(void **state)
{
    (void)state;
    static const FtB_Format formats[] = {FTB_MTX, FTB_TSV, FTB_CSV, FTB_NPZ, FTB_CSR};
    int files = count_files();
    for (int t = 0; t < 5; t++) {
        FtB_Sink sink;
        ftb_sink_shape shape = {
            .ctx = ftb_context(), .nrows = 3, .ncols = 4, .nvals = 2, .type = FTB_FP64, .width = 1};
        assert_ok(FtB_Sink_file(&sink, temp_path("never"), formats[t], NULL));
        assert_ok(ftb_sink_begin(sink, &shape));
        assert_int_equal(count_files(), files + 1);
        if (t % 2)
            assert_fails(GrB_INVALID_VALUE, "announced", ftb_sink_end(sink));
        FtB_Sink_free(&sink);
        assert_int_equal(count_files(), files);
    }
}

/* No room on the way: an error, and no file. */
static void full_disks(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 300, 300, 1, 0.3);
    int files = count_files();
    struct rlimit old, low;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (int format = FTB_MTX; format <= FTB_CSR; format++)
        for (rlim_t bytes = 0; bytes < 200000; bytes += 50000) {
            FtB_Sink sink;
            low = old;
            low.rlim_cur = bytes;
            assert_ok(FtB_Sink_file(&sink, temp_path("full"), (FtB_Format)format, NULL));
            setrlimit(RLIMIT_FSIZE, &low);
            GrB_Info info = send(sink, A, bytes % 100000 == 0, false, &r);
            setrlimit(RLIMIT_FSIZE, &old);
            FtB_Sink_free(&sink);
            assert_int_equal(info, FTB_IO);
            assert_non_null(strstr(FtB_error(), "full: cannot write: File too large"));
            assert_int_equal(count_files(), files);
        }
    signal(SIGXFSZ, handler);
    FtB_Matrix_free(&A);
}

/* The same when every file counts as large, and with entries enough for many blocks. */
static void large_files(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 1500, 1500, 1, 0.4), B;
    int files = count_files();
    struct rlimit old, low;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    ftb_file_large = 0;
    for (int t = 0; t < 6; t++) {
        static const FtB_Format formats[] = {FTB_MTX, FTB_NPZ, FTB_CSR};
        FtB_Sink sink;
        bool full = t >= 3; /* the last blocks do not fit */
        FtB_Context_set_threads(NULL, 1 + t % 2);
        assert_ok(FtB_Sink_file(&sink, temp_path("large"), formats[t % 3], NULL));
        low = old;
        low.rlim_cur = 4 << 20;
        if (full)
            setrlimit(RLIMIT_FSIZE, &low);
        GrB_Info info = send(sink, A, full, false, &r);
        setrlimit(RLIMIT_FSIZE, &old);
        FtB_Sink_free(&sink);
        assert_int_equal(info, full ? FTB_IO : GrB_SUCCESS);
        assert_int_equal(count_files(), files + !full);
        if (full)
            continue;
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("large"), NULL));
        assert_same(A, B);
        FtB_Matrix_free(&B);
        remove(temp_path("large"));
    }
    ftb_file_large = -1;
    FtB_Context_set_threads(NULL, 0);
    signal(SIGXFSZ, handler);
    FtB_Matrix_free(&A);
}

/* Matrix Market wants the lower triangle of a symmetric matrix; products have the upper one. */
static void symmetric_files(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_INT64, 40, 40, 1, 0.3), U, B;
    FtB_Sink sink;
    assert_ok(FtB_Matrix_new(&U, FTB_INT64, 40, 40, 1));
    assert_ok(FtB_select(U, NULL, NULL, "j >= i", A, NULL));
    assert_ok(FtB_Sink_file(&sink, temp_path("s.mtx"), FTB_FORMAT_AUTO, NULL));
    assert_ok(send(sink, U, false, true, &r));
    FtB_Sink_free(&sink);
    char *text = read_bytes("s.mtx", NULL);
    assert_non_null(strstr(text, " integer symmetric\n40 40 "));
    free(text);
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("s.mtx"), NULL));
    for (int64_t i = 0; i < 40; i++)
        for (int64_t j = 0; j < 40; j++)
            assert_true(value_at(B, i, j, 0, -99) == value_at(A, ftb_min(i, j), ftb_max(i, j), 0, -99));
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&U);
}

static GrB_Info all_sinks(void *arg)
{
    FtB_Matrix A = arg, B = NULL;
    rng r = {7};
    FtB_Sink sink = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Sink_stats(&sink));
    FTB_CHECK(send(sink, A, false, false, &r));
    FtB_Sink_free(&sink);
    FTB_CHECK(ftb_sink_matrix(&sink, ftb_context(), &B, FTB_FP32));
    FTB_CHECK(send(sink, A, false, false, &r));
    FtB_Sink_free(&sink);
    for (int format = FTB_MTX; format <= FTB_CSR; format++) {
        FTB_CHECK(FtB_Sink_file(&sink, temp_path("alloc"), (FtB_Format)format, NULL));
        FTB_CHECK(send(sink, A, false, false, &r));
        FtB_Sink_free(&sink);
    }
done:
    FtB_Sink_free(&sink);
    FtB_Matrix_free(&B);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 50, 50, 1, 0.3);
    int files = count_files();
    fail_every_allocation(all_sinks, NULL, A);
    ftb_file_large = 0;
    fail_every_allocation(all_sinks, NULL, A);
    ftb_file_large = -1;
    assert_true(count_files() <= files + 1);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(collects_a_matrix),
                                       cmocka_unit_test(casts_to_the_wanted_type),
                                       cmocka_unit_test(statistics),
                                       cmocka_unit_test(statistics_of_reals),
                                       cmocka_unit_test(callbacks),
                                       cmocka_unit_test(misuse),
                                       cmocka_unit_test(files_of_every_format),
                                       cmocka_unit_test(unfinished_files_vanish),
                                       cmocka_unit_test(full_disks),
                                       cmocka_unit_test(large_files),
                                       cmocka_unit_test(symmetric_files),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
