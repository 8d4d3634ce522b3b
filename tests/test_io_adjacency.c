/* Adjacency lists: "row column column ...". */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/lists.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>

static FtB_Matrix A;
static FtB_Labels rows, cols;

static void release(void)
{
    FtB_Matrix_free(&A);
    FtB_Labels_free(&rows);
    FtB_Labels_free(&cols);
}

static void layouts(void **state)
{
    (void)state;
    const char *csv = "ann,x\nann,y\nann,z\nbob,y\n";
    expect_read("ann x y z\nbob y\n", FTB_READ_OPTIONS(.adjacency = true), csv, FTB_BOOL);
    expect_read("ann\tx\ty\tz\r\nbob\ty\r\n", FTB_READ_OPTIONS(.adjacency = true), csv, FTB_BOOL);
    expect_read("ann,x,y,z\n\nbob,y", FTB_READ_OPTIONS(.adjacency = true), csv, FTB_BOOL);
    expect_read("ann;\"x\";y;z;;\nbob;y;;;\n", FTB_READ_OPTIONS(.adjacency = true), csv,
                FTB_BOOL); /* padded by a spreadsheet */
    expect_read("carl\nann,x,y,z\nbob,y\n", FTB_READ_OPTIONS(.adjacency = true), csv,
                FTB_BOOL); /* a row without columns */
    expect_read("# users\nuser|items\nann|x|y|z\nbob|y\n",
                FTB_READ_OPTIONS(.adjacency = true, .header = 1, .delimiter = '|'), csv, FTB_BOOL);
    expect_read("3 10 9\n1 9\n", FTB_READ_OPTIONS(.adjacency = true), "1,9\n3,9\n3,10\n", FTB_BOOL);
    expect_read("a,b,b\nc,b\na,b\n", FTB_READ_OPTIONS(.adjacency = true), "a,b\nc,b\n", FTB_BOOL);
    expect_read("a,b,b\nc,b\na,b\n", FTB_READ_OPTIONS(.adjacency = true, .duplicates = FTB_DUP_COUNT),
                "a,b,3\nc,b,1\n", FTB_INT64);
    FtB_Edge_layout l;
    FtB_Format found;
    write_string("lists", "a,b,c,d\ne,f\n");
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, temp_path("lists"),
                              FTB_READ_OPTIONS(.adjacency = true, .layout = &l, .found = &found)));
    assert_true(l.adjacency && !l.header && l.delimiter == ',' && l.row == 1 && l.col == 2 && l.value == 0);
    assert_int_equal(found, FTB_CSV);
    release();
    write_string("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n");
    l.delimiter = ',';
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, temp_path("m.mtx"), FTB_READ_OPTIONS(.layout = &l)));
    assert_int_equal(l.delimiter, 0);
    release();
}

static void refused(void **state)
{
    (void)state;
    expect_read_error(GrB_INVALID_VALUE, "options.adjacency and options.columns exclude each other", "1 2\n",
                      FTB_READ_OPTIONS(.adjacency = true, .columns = "1,2"));
    expect_read_error(FTB_FORMAT, "list: has no entries", "1\n2\n", FTB_READ_OPTIONS(.adjacency = true));
    expect_read_error(FTB_FORMAT, ":2:1: the row id is empty", "1,2\n,3,4\n",
                      FTB_READ_OPTIONS(.adjacency = true));
    expect_read_error(FTB_FORMAT, ":2:5: this quote is never closed", "1,2\n3,4,\"5\n6\n",
                      FTB_READ_OPTIONS(.adjacency = true));
    expect_read_error(FTB_FORMAT, "list:2: the same row and column as in line 1", "1,2,3\n1,4,3\n",
                      FTB_READ_OPTIONS(.adjacency = true, .duplicates = FTB_DUP_ERROR));
}

/* Lists of all lengths, some far longer than a batch, in which ids become texts on the way, against the same
 * entries as an edge list: the same matrix and the same labels. */
static void as_edges(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { ENTRIES = 300000 };
    char *lists = malloc(ENTRIES * 24), *edges = malloc(ENTRIES * 48);
    FtB_Matrix B;
    FtB_Labels rows_b, cols_b;
    for (int kind = 0; kind < 4; kind++) {
        char *p = lists, *q = edges, row[24], col[24];
        for (int e = 0; e < ENTRIES;) {
            const int length = (int)(rng_below(&r, 20) ? rng_below(&r, 30) + 1 : rng_below(&r, 100000) + 1);
            const int text = kind % 2 && e > ENTRIES / 2;
            sprintf(row, text ? "u%d" : "%d", (int)rng_below(&r, 1000));
            p += sprintf(p, "%s", row);
            for (int n = 0; n < length && e < ENTRIES; n++, e++) {
                sprintf(col, text && n % 2 ? "i %d" : "%d", (int)rng_below(&r, 10));
                p += sprintf(p, ",%s", col);
                q += sprintf(q, "%s,%s\n", row, col);
            }
            *p++ = '\n';
        }
        write_bytes("lists", lists, (size_t)(p - lists));
        write_bytes("edges", edges, (size_t)(q - edges));
        for (int threads = 1; threads <= 3; threads += 2) {
            FtB_Context_set_threads(NULL, threads);
            assert_ok(FtB_Matrix_read(&A, &rows, &cols, temp_path("lists"),
                                      FTB_READ_OPTIONS(.adjacency = true, .duplicates = FTB_DUP_COUNT)));
            assert_ok(FtB_Matrix_read(&B, &rows_b, &cols_b, temp_path("edges"),
                                      FTB_READ_OPTIONS(.header = -1, .duplicates = FTB_DUP_COUNT)));
            assert_same(A, B);
            assert_int_equal(FtB_Labels_count(rows), FtB_Labels_count(rows_b));
            for (int64_t i = 0; i < FtB_Labels_count(rows); i++)
                assert_string_equal(FtB_Labels_get(rows, i), FtB_Labels_get(rows_b, i));
            assert_int_equal(FtB_Labels_count(cols), FtB_Labels_count(cols_b));
            for (int64_t j = 0; j < FtB_Labels_count(cols); j++)
                assert_string_equal(FtB_Labels_get(cols, j), FtB_Labels_get(cols_b, j));
            FtB_Matrix_free(&B);
            FtB_Labels_free(&rows_b);
            FtB_Labels_free(&cols_b);
            release();
        }
    }
    FtB_Context_set_threads(NULL, 0);
    free(lists);
    free(edges);
}

static GrB_Info read_it(void *arg)
{
    GrB_Info info = FtB_Matrix_read(&A, &rows, &cols, temp_path(arg), FTB_READ_OPTIONS(.adjacency = true));
    release();
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    char text[4000], *p = text;
    p += sprintf(p, "0");
    for (int n = 0; n < 900; n++)
        p += sprintf(p, " %d", n % 7);
    sprintf(p, "\nx y z\n");
    write_string("a", text);
    FtB_Context_set_threads(NULL, 2);
    fail_every_allocation(read_it, NULL, "a");
    FtB_Context_set_threads(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts), cmocka_unit_test(refused),
                                       cmocka_unit_test(as_edges), cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
