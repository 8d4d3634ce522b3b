/* Matrix Market files: what is read, what is refused and where, and what is written. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BANNER "%%MatrixMarket matrix coordinate "

static FtB_Matrix read_text(const char *text, const FtB_Read_options *options)
{
    FtB_Matrix A;
    FtB_Labels rows, cols;
    write_string("m.mtx", text);
    assert_ok(FtB_Matrix_read(&A, &rows, &cols, temp_path("m.mtx"), options));
    assert_null(rows);
    assert_null(cols);
    return A;
}

static void expect_shape(FtB_Matrix A, int64_t nrows, int64_t ncols, int64_t nvals, int64_t width,
                         FtB_Type type)
{
    int64_t m, n, count, w;
    FtB_Type t;
    assert_ok(FtB_Matrix_shape(A, &m, &n, &count, &w, &t));
    assert_int_equal(m, nrows);
    assert_int_equal(n, ncols);
    assert_int_equal(count, nvals);
    assert_int_equal(w, width);
    assert_int_equal(t, type);
}

static void kinds(void **state)
{
    (void)state;
    FtB_Matrix A =
        read_text(BANNER "real general\n% a comment\n\n  %another\n3 4 3\n1 1 1.5\n3 4 -2e3\n2 2 7\n", NULL);
    expect_shape(A, 3, 4, 3, 1, FTB_FP64);
    assert_true(value_at(A, 0, 0, 0, 0) == 1.5 && value_at(A, 2, 3, 0, 0) == -2000 &&
                value_at(A, 1, 1, 0, 0) == 7);
    FtB_Matrix_free(&A);

    A = read_text(BANNER "integer symmetric\r\n3 3 3\r\n1 1 5\r\n3\t1\t-7  \r\n\r\n  3 2 8\r\n", NULL);
    expect_shape(A, 3, 3, 5, 1, FTB_INT64);
    assert_true(value_at(A, 0, 2, 0, 0) == -7 && value_at(A, 2, 0, 0, 0) == -7 &&
                value_at(A, 1, 2, 0, 0) == 8);
    FtB_Matrix_free(&A);

    A = read_text(BANNER "real skew-symmetric\n3 3 2\n2 1 4\n3 1 nan\n", NULL);
    expect_shape(A, 3, 3, 4, 1, FTB_FP64);
    assert_true(value_at(A, 1, 0, 0, 0) == 4 && value_at(A, 0, 1, 0, 0) == -4 &&
                isnan(value_at(A, 0, 2, 0, 0)));
    FtB_Matrix_free(&A);

    A = read_text(BANNER "integer skew-symmetric\n2 2 1\n2 1 4", NULL); /* no newline at the end */
    assert_true(value_at(A, 0, 1, 0, 0) == -4);
    FtB_Matrix_free(&A);

    A = read_text("%%matrixmarket MATRIX Coordinate Pattern Symmetric\n3 3 2\n2 1\n2 2\n", NULL);
    expect_shape(A, 3, 3, 3, 0, FTB_BOOL);
    FtB_Matrix_free(&A);

    A = read_text("\xef\xbb\xbf" BANNER "pattern general\n2 2 2\n1 1\n2 1\n",
                  NULL); /* as some editors save it */
    expect_shape(A, 2, 2, 2, 0, FTB_BOOL);
    FtB_Matrix_free(&A);

    A = read_text(BANNER "double hermitian\n2 2 1\n2 1 0.1D1\n", NULL);
    expect_shape(A, 2, 2, 2, 1, FTB_FP64);
    FtB_Matrix_free(&A);

    A = read_text(BANNER "real general\n0 0 0\n", NULL);
    expect_shape(A, 0, 0, 0, 1, FTB_FP64);
    FtB_Matrix_free(&A);

    A = read_text(BANNER "integer general\n1 3000000000 1\n1 3000000000 -9223372036854775808\n", NULL);
    expect_shape(A, 1, 3000000000, 1, 1, FTB_INT64);
    FtB_Matrix_free(&A);
}

static void options(void **state)
{
    (void)state;
    FtB_Format found = FTB_FORMAT_AUTO;
    const char *twice = BANNER "integer general\n2 2 3\n1 1 5\n1 1 7\n2 2 1\n";
    FtB_Matrix A = read_text(twice, FTB_READ_OPTIONS(.found = &found));
    assert_int_equal(found, FTB_MTX);
    expect_shape(A, 2, 2, 2, 1, FTB_INT64);
    assert_true(value_at(A, 0, 0, 0, 0) == 12);
    FtB_Matrix_free(&A);
    A = read_text(twice, FTB_READ_OPTIONS(.duplicates = FTB_DUP_COUNT, .type = FTB_FP32));
    expect_shape(A, 2, 2, 2, 1, FTB_FP32);
    assert_true(value_at(A, 0, 0, 0, 0) == 2 && value_at(A, 1, 1, 0, 0) == 1);
    FtB_Matrix_free(&A);
    A = read_text(twice, FTB_READ_OPTIONS(.duplicates = FTB_DUP_KEEP));
    expect_shape(A, 2, 2, 3, 1, FTB_INT64);
    FtB_Matrix_free(&A);
    A = read_text(BANNER "integer general\n1 1 1\n1 1 18446744073709551615\n",
                  FTB_READ_OPTIONS(.type = FTB_UINT64));
    assert_true(value_at(A, 0, 0, 0, 0) == 18446744073709551615.0);
    FtB_Matrix_free(&A);
    write_string("m.mtx", twice);
    const FtB_Read_options *strict = FTB_READ_OPTIONS(.duplicates = FTB_DUP_ERROR);
    assert_fails(FTB_FORMAT, "m.mtx:4: the same row and column as in line 3; duplicates are refused",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("m.mtx"), strict));
    assert_null(A);
    write_string("m.mtx", BANNER "pattern symmetric\n3 3 3\n2 1\n3 3\n% mirrored:\n1 2\n");
    assert_fails(FTB_FORMAT, "m.mtx:6: the same row and column as in line 3",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("m.mtx"), strict));
    const FtB_Read_options no_size = {.format = FTB_MTX};
    assert_fails(GrB_INVALID_VALUE, "FTB_READ_OPTIONS",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("m.mtx"), &no_size));
    assert_fails(GrB_INVALID_VALUE, "type is 99",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("m.mtx"), FTB_READ_OPTIONS(.type = (FtB_Type)99)));
    assert_fails(GrB_NULL_POINTER, "path", FtB_Matrix_read(&A, NULL, NULL, NULL, NULL));
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"%%MatrixMarket vector coordinate real general\n", ":1:16: object 'vector'"},
        {"%%MatrixMarket matrix array real general\n2 2\n", ":1:23: format 'array'"},
        {BANNER "complex general\n1 1 1\n", ":1:34: field 'complex'"},
        {BANNER "real diagonal\n1 1 1\n", ":1:39: symmetry 'diagonal'"},
        {BANNER "pattern skew-symmetric\n1 1 0\n", "cannot be skew-symmetric"},
        {BANNER "real\n1 1 1\n", "symmetry ''"},
        {BANNER "real general\n", "ends early, in the header"},
        {BANNER "real general\n% no sizes\n\n", "ends early, in the header"},
        {BANNER "real general\n2 x 1\n", ":2:3: expected the number of columns"},
        {BANNER "real general\n2 2\n", ":2:4: expected the number of entries"},
        {BANNER "real general\n-2 2 1\n", ":2:1: expected the number of rows"},
        {BANNER "real general\n9223372036854775807 2 1\n",
         ":2:1: the number of rows, 9223372036854775807, is beyond"},
        {BANNER "real general\n2 2 99999999999999999999\n", ":2:5: the number of entries, 9999"},
        {BANNER "real general\n2 2 1 1\n", ":2:7: expected the end of the line"},
        {BANNER "real symmetric\n2 3 1\n", "2 x 3"},
        {BANNER "real general\n2 2 1000000\n1 1 1\n", "1000000 entries cannot be in a file of"},
        {BANNER "real general\n39 39 1\n17 40 1\n", ":3:4: column 40 is outside 1..39"},
        {BANNER "real general\n39 39 1\n 0 4 1\n", ":3:2: row 0 is outside 1..39"},
        {BANNER "real general\n3 3 1\n99999999999999999999 4 1\n",
         ":3:1: row 99999999999999999999 is outside"},
        {BANNER "real general\n3 3 1\nx 4 1\n", ":3:1: expected a row number"},
        {BANNER "real general\n3 3 1\n1\n", "expected a blank after the row number"},
        {BANNER "real general\n3 3 1\n1 -1 1\n", ":3:3: expected a column number"},
        {BANNER "real general\n3 3 1\n1 1\n", ":3:4: expected a value, a real number"},
        {BANNER "real general\n3 3 1\n1 1 zero\n", ":3:5: expected a value, a real number"},
        {BANNER "integer general\n3 3 1\n1 1 1.5\n", ":3:6: expected the end of the line"},
        {BANNER "integer general\n3 3 1\n1 1 9223372036854775808\n", "integer of 64 bits"},
        {BANNER "pattern general\n3 3 1\n1 1 1\n", ":3:5: expected the end of the line"},
        {BANNER "real general\n3 3 1\n1 1 1 1\n", ":3:7: expected the end of the line"},
        {BANNER "real general\n3 3 1\n\n\n1 1 1\n% ok\n2 2 1\n", ":7: more entries by here than the 1"},
        {BANNER "real general\n3 3 3\n1 1 1\n2 2 1\n", "ends after 2 of the 3 entries"},
        {BANNER "real skew-symmetric\n3 3 1\n1 1 1\n", ":3:1: a skew-symmetric matrix has no entries on"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        FtB_Matrix A = NULL;
        write_string("m.mtx", cases[c].text);
        assert_fails(FTB_FORMAT, cases[c].message, FtB_Matrix_read(&A, NULL, NULL, temp_path("m.mtx"), NULL));
        assert_non_null(strstr(FtB_error(), "/m.mtx:"));
        assert_null(A);
    }
    FtB_Matrix A;
    assert_fails(FTB_IO, "No such file", FtB_Matrix_read(&A, NULL, NULL, temp_path("absent"), NULL));
    assert_fails(FTB_IO, "Is a directory", FtB_Matrix_read(&A, NULL, NULL, temp_path(""), NULL));
    write_string("m.mtx", "");
    assert_fails(FTB_FORMAT, "is empty", FtB_Matrix_read(&A, NULL, NULL, temp_path("m.mtx"), NULL));
    const char nul[] = BANNER "real general\n3 3 1\n1 1\0 1\n";
    write_bytes("m.mtx", nul, sizeof nul - 1);
    assert_fails(FTB_FORMAT, ":3:4:", FtB_Matrix_read(&A, NULL, NULL, temp_path("m.mtx"), NULL));
}

/* A file long enough for several pieces and batches; errors are found at their line. */
static void long_files(void **state)
{
    (void)state;
    enum { N = 400000 };
    char *text = malloc((size_t)N * 32), *p = text, *plain;
    FtB_Matrix A, B;
    p += sprintf(p, "%s%d 2000 %d\n", BANNER "real general\n", N, N);
    for (int e = 0; e < N; e++)
        p += sprintf(p, "%d %d %d.5\n%s", e + 1, 1 + e % 2000, e % 100, e % 1000 ? "" : "% a comment\n\n");
    write_bytes("long.mtx", text, (size_t)(p - text));
    for (int threads = 1; threads <= 3; threads++) {
        FtB_Context_set_threads(NULL, threads);
        assert_ok(FtB_Matrix_read(&A, NULL, NULL, temp_path("long.mtx"), NULL));
        expect_shape(A, N, 2000, N, 1, FTB_FP64);
        const int64_t *rowptr;
        const int32_t *colidx;
        const double *values;
        FtB_Matrix_csr(A, &rowptr, (const void **)&colidx, (const void **)&values);
        for (int64_t e = 0; e < N; e++)
            if (rowptr[e] != e || colidx[e] != e % 2000 || values[e] != (double)(e % 100) + 0.5)
                fail_msg("entry %lld", (long long)e);
        write_gzip("long.mtx.gz", text, (size_t)(p - text));
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("long.mtx.gz"), NULL));
        assert_same(A, B);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
        char *place = strstr(text, "\n300001 1 "); /* the comment lines push it down */
        place[1] = 'x';
        write_bytes("bad.mtx", text, (size_t)(p - text));
        place[1] = '3';
        int line = 1;
        for (const char *q = text; q <= place; q++)
            line += *q == '\n';
        char where[80];
        snprintf(where, sizeof where, ":%d:1: expected a row number", line);
        assert_fails(FTB_FORMAT, where, FtB_Matrix_read(&A, NULL, NULL, temp_path("bad.mtx"), NULL));
        memcpy(place, "\n200001 1 ", 10);
        write_bytes("bad.mtx", text, (size_t)(p - text));
        memcpy(place, "\n300001 1 ", 10);
        snprintf(where, sizeof where, ":%d: the same row and column as in line 200403; ", line);
        assert_fails(FTB_FORMAT, where,
                     FtB_Matrix_read(&A, NULL, NULL, temp_path("bad.mtx"),
                                     FTB_READ_OPTIONS(.duplicates = FTB_DUP_ERROR)));
    }
    FtB_Context_set_threads(NULL, 0);
    size_t size;
    plain = read_bytes("long.mtx.gz", &size); /* cut short: an error, wherever */
    write_bytes("cut.mtx.gz", plain, size / 2);
    assert_fails(FTB_FORMAT, "ends early, in its gzip data",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("cut.mtx.gz"), NULL));
    free(plain);
    free(text);
}

/* A line that is longer than a batch: a comment, and blanks in an entry. */
static void long_lines(void **state)
{
    (void)state;
    size_t blanks = 3 << 20;
    char *text = malloc(2 * blanks + 1000), *p = text;
    FtB_Matrix A;
    p += sprintf(p, "%s%%", BANNER "pattern general\n");
    memset(p, 'c', blanks);
    p += blanks;
    p += sprintf(p, "\n2 2 3\n1 1\n1 ");
    memset(p, ' ', blanks);
    p += blanks;
    p += sprintf(p, "2\n2 2\n");
    write_bytes("wide.mtx", text, (size_t)(p - text));
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, temp_path("wide.mtx"), NULL));
    expect_shape(A, 2, 2, 3, 0, FTB_BOOL);
    FtB_Matrix_free(&A);
    free(text);
    size_t size = (size_t)20 << 20;
    text = malloc(size);
    memset(text, 'c', size);
    memcpy(text, BANNER "pattern general\n%", 50);
    write_bytes("wide.mtx", text, size);
    for (int threads = 1; threads < 100; threads *= 3) { /* whatever fits a batch */
        FtB_Context_set_threads(NULL, threads);
        assert_fails(FTB_FORMAT, ":2:1: a line",
                     FtB_Matrix_read(&A, NULL, NULL, temp_path("wide.mtx"), NULL));
        text[size - 1] = threads == 3 ? '\n' : 'c';
        write_bytes("wide.mtx", text, size);
    }
    FtB_Context_set_threads(NULL, 0);
    free(text);
}

static void round_trips(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 300; t++) {
        FtB_Type type = rng_type(&r);
        int64_t nrows = rng_below(&r, 50), ncols = 1 + rng_below(&r, 50), nvals, width = t % 4 != 0;
        FtB_Context_set_threads(NULL, 1 + t % 2);
        FtB_Matrix A = rng_matrix(&r, type, nrows, ncols, width, rng_unit(&r)), B;
        FtB_Block V;
        assert_ok(FtB_Matrix_shape(A, NULL, NULL, &nvals, NULL, NULL));
        if (width > 0) {
            void *data;
            assert_ok(FtB_Matrix_values(&V, A));
            assert_ok(FtB_Block_shape(V, NULL, NULL, NULL, NULL, &data));
            rng_any_values(&r, data, type, nvals);
            FtB_Block_free(&V);
        }
        assert_ok(FtB_Matrix_write(A, temp_path("rt.mtx"), FTB_FORMAT_AUTO, NULL, NULL, 0));
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("rt.mtx"), FTB_READ_OPTIONS(.type = type)));
        assert_close(A, B, 0);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
    }
    FtB_Context_set_threads(NULL, 0);
}

static void written_text(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 2}, J[] = {0, 2, 1};
    const double X[] = {1, 0.1, -1e300};
    const float W[] = {1, 0.1f, 2, 3, 4, 5};
    FtB_Matrix A;
    FtB_Labels rows, cols;
    char *text;
    assert_ok(FtB_Labels_new(&rows, 3, (const char *[]){"plain", "unused", "say \"a,b\"\t"}));
    assert_ok(FtB_Labels_new(&cols, 3, (const char *[]){"x", "#y\nz", ""}));
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 3, 3, 1, 3, I, J, X, FTB_DUP_SUM, NULL));
#define EXPECT(content, format, r, c, digits)                                                                \
    do {                                                                                                     \
        assert_ok(FtB_Matrix_write(A, temp_path("w"), format, r, c, digits));                                \
        text = read_bytes("w", NULL);                                                                        \
        assert_string_equal(text, content);                                                                  \
        free(text);                                                                                          \
    } while (0)
    EXPECT(BANNER "real general\n3 3 3\n1 1 1\n1 3 0.1\n3 2 -1e+300\n", FTB_MTX, NULL, NULL, 0);
    EXPECT(BANNER "real general\n3 3 3\n1 1 1\n1 3 0.1\n3 2 -1e+300\n", FTB_MTX, rows, cols, 3);
    EXPECT("0\t0\t1\n0\t2\t0.1\n2\t1\t-1e+300\n", FTB_TSV, NULL, NULL, 0);
    EXPECT("0,0,1\n0,2,0.1\n2,1,-1e+300\n", FTB_CSV, NULL, NULL, 0);
    EXPECT("plain\tx\t1\nplain\t\t0.1\nsay \"a,b\" \t#y z\t-1e+300\n", FTB_TSV, rows, cols, 0);
    EXPECT("plain,x,1\nplain,\"\",0.1\n\"say \"\"a,b\"\"\t\",\"#y\nz\",-1e+300\n", FTB_CSV, rows, cols, 0);
    EXPECT("plain,0,1\nplain,2,0.1\n\"say \"\"a,b\"\"\t\",1,-1e+300\n", FTB_CSV, rows, NULL, 0);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 3, 3, 2, 3, I, J, W, FTB_DUP_SUM, NULL));
    EXPECT("0\t0\t1\t0.1\n0\t2\t2\t3\n2\t1\t4\t5\n", FTB_TSV, NULL, NULL, 0);
    EXPECT("0\t0\t1\t0.100000001\n0\t2\t2\t3\n2\t1\t4\t5\n", FTB_TSV, NULL, NULL, 9);
    assert_fails(GrB_INVALID_VALUE, "one value", FtB_Matrix_write(A, temp_path("w"), FTB_MTX, NULL, NULL, 0));
    FtB_Labels few;
    assert_ok(FtB_Labels_new(&few, 2, (const char *[]){"a", "b"}));
    assert_fails(GrB_INVALID_VALUE, "2 labels for 3 rows",
                 FtB_Matrix_write(A, temp_path("w"), FTB_TSV, few, NULL, 0));
    assert_fails(GrB_INVALID_VALUE, "digits is 40",
                 FtB_Matrix_write(A, temp_path("w"), FTB_TSV, NULL, NULL, 40));
    FtB_Labels_free(&few);
    FtB_Labels_free(&rows);
    FtB_Labels_free(&cols);
    FtB_Matrix_free(&A);
}

static GrB_Info read_it(void *arg)
{
    FtB_Matrix A;
    GrB_Info info = FtB_Matrix_read(&A, NULL, NULL, temp_path(arg), NULL);
    FtB_Matrix_free(&A);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    const char *symmetric = BANNER "real symmetric\n3 3 3\n1 1 1.5\n3 2 -2e3\n2 1 7\n";
    write_string("a.mtx", symmetric);
    write_gzip("b.mtx", symmetric, strlen(symmetric));
    write_string("c.mtx", BANNER "pattern general\n3 4 3\n1 1\n2 4\n3 1\n");
    write_string("d.mtx", BANNER "pattern general\n3 4 3\n1 1\n3 4\n2 1\n");
    FtB_Context_set_threads(NULL, 2);
    for (const char *name = "a\0b\0c\0d\0"; *name; name += 2) {
        char file[8];
        snprintf(file, sizeof file, "%s.mtx", name);
        fail_every_allocation(read_it, NULL, file);
    }
    FtB_Context_set_threads(NULL, 0);
}

static void known_data(void **state)
{
    (void)state;
    const char *data = getenv("FEATBLAS_DATA");
    if (!data) {
        print_message("FEATBLAS_DATA is not set: skipped\n");
        skip();
    }
    char path[1024];
    FtB_Matrix A;
    snprintf(path, sizeof path, "%s/chesapeake.mtx", data);
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, path, NULL));
    expect_shape(A, 39, 39, 340, 0, FTB_BOOL);
    FtB_Matrix_free(&A);
    snprintf(path, sizeof path, "%s/cora/edges.mtx", data);
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, path, NULL));
    expect_shape(A, 2708, 2708, 2 * 5278, 0, FTB_BOOL);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds),        cmocka_unit_test(options),
                                       cmocka_unit_test(refused),      cmocka_unit_test(long_files),
                                       cmocka_unit_test(long_lines),   cmocka_unit_test(round_trips),
                                       cmocka_unit_test(written_text), cmocka_unit_test(failing_allocations),
                                       cmocka_unit_test(known_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
