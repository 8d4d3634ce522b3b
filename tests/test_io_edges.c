/* Edge lists: layouts, ids, values, and errors at their place. */
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

static void delimiters(void **state)
{
    (void)state;
    const char *csv = "1,10,2\n2,20,3\n";
    expect_read("1,10,2\n2,20,3\n", NULL, csv, FTB_INT64);
    expect_read("1;10;2\n2;20;3", NULL, csv, FTB_INT64);
    expect_read("1\t10\t2\r\n2\t20\t3\r\n", NULL, csv, FTB_INT64);
    expect_read("  1 10  2 \n2\t20 3\n", NULL, csv, FTB_INT64);
    expect_read("1|10|2\n2|20|3\n", FTB_READ_OPTIONS(.delimiter = '|'), csv, FTB_INT64);
    expect_read("\xef\xbb\xbf# comment\n%% another, \"quoted\n\n1 , 10,2\n \n2, 20 , 3\n", NULL, csv,
                FTB_INT64);
    expect_read("1 10\n2 20\n", NULL, "1,10\n2,20\n", FTB_BOOL);
    expect_read("a b,c d\n", NULL, "a b,c d\n", FTB_BOOL);
    expect_read_error(GrB_INVALID_VALUE, "delimiter is 'x'", "1x2\n", FTB_READ_OPTIONS(.delimiter = 'x'));
}

/* What is guessed from the first lines, and said. */
static void guessed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        char delimiter;
        bool header;
        int row, col, value;
        const char *columns;
    } cases[] = {
        {"1;2;3\n4;5;6\n", ';', false, 1, 2, 3, NULL},
        {"a;1,5;2\nb;2,5;3\n", ';', false, 1, 2, 3, NULL}, /* two semicolons, a comma */
        {"a;1,5\nb;2,5\n", ';', false, 1, 2, 0, NULL},     /* commas between digits */
        {"x;y,1\nz,2\n", ',', false, 1, 2, 0, NULL},       /* lines have one comma, not one semicolon */
        {"x,y;1\nz;2\n", ';', false, 1, 2, 0, NULL},
        {"x;y,u;v,1\nz;w,q;r,2\n", ',', false, 1, 2, 3, NULL}, /* a tie: ids with semicolons */
        {"7 8 2\n9 8 3\n", ' ', false, 1, 2, 3, NULL},
        {"a b c,5\nb c d,7\n", ',', false, 1, 2, 0, NULL},
        {"\"x\ny\",a,1\nz,b,2\n", ',', false, 1, 2, 3, NULL}, /* a line end within quotes comes first */
        {"\"x;y;\n\";a;1\nz;b;2\n", ';', false, 1, 2, 3, NULL},
        {"\"x,\"\"y\"\",\n\",a,1\nz,b,2\n", ',', false, 1, 2, 3, NULL},
        {"5\" nail,6\" nail,1\nz,b,2\n", ',', false, 1, 2, 3, NULL},
        {"\"who\",\"what\nexactly\",\"n\"\nz,b,2\n", ',', true, 1, 2, 3, NULL},
        {"a\tb;c,d\t1\n", '\t', false, 1, 2, 3, NULL},
        {"t,u,i\n9,ann,x\n", ',', true, 2, 3, 0, "u,i"},
        {"t,u,i\n9,ann,x\n", ',', true, 3, 1, 0, "3,1"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        FtB_Edge_layout l = {0};
        write_string("edges", cases[c].text);
        assert_ok(FtB_Matrix_read(&A, &rows, &cols, temp_path("edges"),
                                  FTB_READ_OPTIONS(.layout = &l, .columns = cases[c].columns)));
        if (l.delimiter != cases[c].delimiter || l.header != cases[c].header || l.row != cases[c].row ||
            l.col != cases[c].col || l.value != cases[c].value || l.adjacency)
            fail_msg("case %zu: '%c', header %d, %d, %d, %d", c, l.delimiter, l.header, l.row, l.col,
                     l.value);
        release();
    }
    write_string("edges", "1 2 3,5\n4 5 6,5\n"); /* blanks, and decimals that must not become ids */
    assert_fails(FTB_FORMAT, "1:5: the value '3,5' is not a number; decimals have a point",
                 FtB_Matrix_read(&A, &rows, &cols, temp_path("edges"), NULL));
    write_string("edges", "1;2;3,5\n");
    assert_fails(FTB_FORMAT, "1:5: the value '3,5' is not a number; decimals have a point",
                 FtB_Matrix_read(&A, &rows, &cols, temp_path("edges"), NULL));
}

/* Lines with other numbers of fields than the first. */
static void varying(void **state)
{
    (void)state;
    static const char *const texts[] = {"1,2\n1,2,3\n",
                                        "1,2,3\n1,2,3,4\n",
                                        "1,2,3\n1,2\n",
                                        "1 2 3\n1 2 3 4\n",
                                        "1\t2\t3\n1\t2\t3\t\n",
                                        "a,b,c\n1,2,3,4\n",
                                        "1;2;3\n1;2;\"3;4\n5\";6\n",
                                        "x,y\n\n7,8\n7,8,9\n"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        expect_read_error(FTB_FORMAT, "; lists of a row and its columns are read with options.adjacency",
                          texts[t], NULL);
        expect_read_error(FTB_FORMAT, "as in the first line, found ", texts[t],
                          FTB_READ_OPTIONS(.columns = "1,2"));
    }
    expect_read_error(FTB_FORMAT, ":2:1: too few fields between commas: 1", "a,\"b\" c\n1\n",
                      FTB_READ_OPTIONS(.header = 1, .columns = "1,2"));
    expect_read("a,b,c,d\n1,2,3,4\n", NULL, "1,2,3\n", FTB_INT64);
    expect_read("1 2 3  \n1 3 4\n", NULL, "1,2,3\n1,3,4\n", FTB_INT64); /* blanks at the end are no field */
}

static void columns(void **state)
{
    (void)state;
    const char *list = "user,item,stars,when\nann,7,4.0,99\nbob,8,3.5,98\n";
    expect_read(list, NULL, "ann,7,4\nbob,8,3.5\n", FTB_FP64);
    expect_read(list, FTB_READ_OPTIONS(.columns = "item,user"), "7,ann\n8,bob\n", FTB_BOOL);
    expect_read(list, FTB_READ_OPTIONS(.columns = "item,user,when"), "7,ann,99\n8,bob,98\n", FTB_INT64);
    expect_read(list, FTB_READ_OPTIONS(.columns = "4,user,3"), "98,bob,3.5\n99,ann,4\n", FTB_FP64);
    expect_read(list, FTB_READ_OPTIONS(.columns = "2,1", .header = -1), "item,user\n7,ann\n8,bob\n",
                FTB_BOOL);
    expect_read(list, FTB_READ_OPTIONS(.type = FTB_FP32), "ann,7,4\nbob,8,3.5\n", FTB_FP32);
    expect_read("user,item,stars\nann,7,4\nbob,8,-3\n", FTB_READ_OPTIONS(.type = FTB_INT8),
                "ann,7,4\nbob,8,-3\n", FTB_INT8);
    expect_read("\"the \"\"user\"\"\",item\nann,7\n", FTB_READ_OPTIONS(.columns = "the \"user\",item"),
                "ann,7\n", FTB_BOOL);
    expect_read_error(GrB_INVALID_VALUE, "no column 'movie'; the first line has user, item, stars, when",
                      list, FTB_READ_OPTIONS(.columns = "user,movie"));
    expect_read_error(GrB_INVALID_VALUE, "options.header says that the first line has none", list,
                      FTB_READ_OPTIONS(.columns = "user,item", .header = -1));
    expect_read_error(GrB_INVALID_VALUE, "expected row,column[,value]", list,
                      FTB_READ_OPTIONS(.columns = "1,2,3,4"));
    expect_read_error(GrB_INVALID_VALUE, "expected row,column[,value]", list,
                      FTB_READ_OPTIONS(.columns = "1,,3"));
    expect_read_error(GrB_INVALID_VALUE, "two different columns", list, FTB_READ_OPTIONS(.columns = "1"));
    expect_read_error(GrB_INVALID_VALUE, "two different columns", list,
                      FTB_READ_OPTIONS(.columns = "1,user"));
    expect_read_error(GrB_INVALID_VALUE, "count from 1", list, FTB_READ_OPTIONS(.columns = "0,1"));
    expect_read_error(FTB_FORMAT, ":1:1: expected at least 9 fields between commas, found 4", list,
                      FTB_READ_OPTIONS(.columns = "1,9"));
}

static void headers(void **state)
{
    (void)state;
    expect_read("a,b,c\n1,2,3\n", NULL, "1,2,3\n", FTB_INT64); /* no number where a value is due */
    expect_read("1,2,3\n4,5,6\n", NULL, "1,2,3\n4,5,6\n", FTB_INT64);
    expect_read("a,b\n1,2\n", NULL, "1,2\n", FTB_BOOL); /* integers only from the second line on */
    expect_read("a,b\nc,2\n", NULL, "c,2\n", FTB_BOOL);
    expect_read("a,b\nc,d\n", NULL, "a,b\nc,d\n", FTB_BOOL); /* cannot be known */
    expect_read("a,b\nc,d\n", FTB_READ_OPTIONS(.header = 1), "c,d\n", FTB_BOOL);
    expect_read_error(FTB_FORMAT, "1:5: the value 'c' is not a number", "a,b,c\n1,2,3\n",
                      FTB_READ_OPTIONS(.header = -1));
    /* A first line of data must not vanish: what is no name is a value that is wrong. */
    static const char *const wrong[] = {"",  "0x10",   "1.5.2", "-",  "NA", "n/a",  "Null", "#N/A",
                                        "?", "5 star", "+x",    "1e", ".",  "None", "12h",  "3,5"};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        char text[64];
        snprintf(text, sizeof text, "a;x;%s\nb;y;2\n", wrong[w]);
        expect_read_error(FTB_FORMAT, "if the line names the columns, options.header says so", text, NULL);
        expect_read(text, FTB_READ_OPTIONS(.header = 1), "b,y,2\n", FTB_INT64);
    }
    expect_read_error(FTB_FORMAT, ":1:5: the value 'many' is not a number; if the line", "1,2,many\n3,4,5\n",
                      NULL);
    expect_read_error(FTB_FORMAT, ":2:5: the value '3;5' is not a number", "a,b,1\na,c,3;5\n", NULL);
    expect_read_error(FTB_FORMAT, ":2:5: the value '3,5' is not a number; decimals have a point",
                      "a;b;1\na;c;3,5\n", NULL);
    expect_read("1,b,many\n3,4,5\n", NULL, "3,4,5\n", FTB_INT64);
    expect_read_error(FTB_FORMAT, "no lines of data after the first line, which is taken for a header",
                      "a,b,c\n", NULL);
    expect_read_error(FTB_FORMAT, "no lines of data", "# only\n% comments\n\n", NULL);
}

static void quoted(void **state)
{
    (void)state;
    expect_read("who,what,n\n\"a \"\"q\"\", x\",7,\"1\"\n b ,\"8\n9\",2\n5\" nail,c,3\n", NULL,
                "\"a \"\"q\"\", x\",7,1\nb,\"8\n9\",2\n\"5\"\" nail\",c,3\n", FTB_INT64);
    expect_read("\"x\"\ty\"\n", NULL, "\"\"\"x\"\"\",\"y\"\"\"\n",
                FTB_BOOL); /* tabs: quotes are characters */
    expect_read_error(FTB_FORMAT, ":2:3: this quote is never closed", "1,2\n3,\"4\n5,6\n", NULL);
    expect_read_error(FTB_FORMAT, ":2:4: expected the delimiter after the closing quote",
                      "1,2\n\"3\"x,4\n5,6\n", NULL);
}

static void ids(void **state)
{
    (void)state;
    expect_read("10,-5\n9,7\n10,7\n", NULL, "9,7\n10,-5\n10,7\n", FTB_BOOL); /* ascending */
    expect_read("10,x\n9,7\nten,7\n", NULL, "10,x\n9,7\nten,7\n", FTB_BOOL); /* first appearance */
    expect_read("07,1\n7,1\n", NULL, "07,1\n7,1\n", FTB_BOOL);               /* not the same id */
    expect_read("99999999999999999999,1\n7,1\n", NULL, "99999999999999999999,1\n7,1\n", FTB_BOOL);
    expect_read("9223372036854775807,1\n-9223372036854775808,1\n0,1\n", NULL,
                "-9223372036854775808,1\n0,1\n9223372036854775807,1\n", FTB_BOOL);
    expect_read("4.0,1\n4,1\n", NULL, "4.0,1\n4,1\n", FTB_BOOL);
}

static void values(void **state)
{
    (void)state;
    expect_read("1,2,9007199254740993\n", NULL, "1,2,9007199254740993\n", FTB_INT64);
    expect_read("1,2,3\n1,3,4.0\n", NULL, "1,2,3\n1,3,4\n", FTB_FP64);
    expect_read("1,2,3\n1,3,1e2\n2,2,-inf\n", NULL, "1,2,3\n1,3,100\n2,2,-inf\n", FTB_FP64);
    const char *twice = "1,2,3\n1,2,5\n2,2,1\n";
    expect_read(twice, NULL, "1,2,8\n2,2,1\n", FTB_INT64);
    expect_read(twice, FTB_READ_OPTIONS(.duplicates = FTB_DUP_MAX), "1,2,5\n2,2,1\n", FTB_INT64);
    expect_read(twice, FTB_READ_OPTIONS(.duplicates = FTB_DUP_FIRST), "1,2,3\n2,2,1\n", FTB_INT64);
    expect_read(twice, FTB_READ_OPTIONS(.duplicates = FTB_DUP_COUNT), "1,2,2\n2,2,1\n", FTB_INT64);
    expect_read(twice, FTB_READ_OPTIONS(.duplicates = FTB_DUP_KEEP), "1,2,3\n1,2,5\n2,2,1\n", FTB_INT64);
    expect_read("a,b\na,b\nc,b\n", NULL, "a,b\nc,b\n", FTB_BOOL);
    expect_read("a,b\na,b\nc,b\n", FTB_READ_OPTIONS(.duplicates = FTB_DUP_COUNT), "a,b,2\nc,b,1\n",
                FTB_INT64);
    expect_read_error(FTB_FORMAT, "list:2: the same row and column as in line 1; duplicates are refused",
                      twice, FTB_READ_OPTIONS(.duplicates = FTB_DUP_ERROR));
    expect_read_error(FTB_FORMAT, "list:8: the same row and column as in line 3",
                      "# about it\na,b\n\"x\ny\",1\n\n1,\"2\n\"\n\"x\ny\",1\n",
                      FTB_READ_OPTIONS(.duplicates = FTB_DUP_ERROR, .header = 1));
    expect_read_error(FTB_FORMAT, ":3:5: the value is empty", "1,2,3\n1,3,4\n1,4,\n", NULL);
}

static void refused(void **state)
{
    (void)state;
    expect_read_error(FTB_FORMAT, ":1:1: expected at least 2 fields between blanks, found 1", "alone\n",
                      NULL);
    expect_read_error(FTB_FORMAT, ":2:1: expected 3 fields between commas, as in the first line, found 2",
                      "1,2,3\n4,5\n", NULL);
    expect_read_error(FTB_FORMAT, ":3:5: the value 'x' is not a number", "1 2 3\n\n1 2 x\n",
                      FTB_READ_OPTIONS(.delimiter = ' '));
    expect_read_error(FTB_FORMAT, ":2:3: the column id is empty", "1,2,3\n4,,5\n", NULL);
    expect_read_error(FTB_FORMAT, ":2:1: the row id is empty", "1,2,3\n,4,5\n", NULL);
    expect_read_error(FTB_FORMAT, ":3:1: comment lines are read before the data only",
                      "1 2 3\n1 3 4\n# # later\n", NULL);
    const char nul[] = "a,b\na\0c,d\n";
    write_bytes("edges", nul, sizeof nul - 1);
    assert_fails(FTB_FORMAT, ":2:2: a NUL byte", FtB_Matrix_read(&A, &rows, &cols, temp_path("edges"), NULL));
}

/* Long lists, in which ids and values change their kind on the way, against a slow reading. */
static void long_lists(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { N = 120000, IDS = 500 };
    char *text = malloc((size_t)N * 64);
    static double sum[IDS][IDS];
    for (int kind = 0; kind < 6; kind++) {
        char *p = text;
        int change = kind < 3 ? N : (int)rng_below(&r, N), quotes = kind % 3 == 2;
        memset(sum, 0, sizeof sum);
        p += sprintf(p, "from,to,value\n");
        for (int e = 0; e < N; e++) {
            int i = (int)rng_below(&r, IDS), j = (int)rng_below(&r, IDS), v = (int)rng_below(&r, 100);
            if (e == change) { /* one id that is none of the others */
                p += sprintf(p, "odd,\"new,\nline\",0.5\n");
                continue;
            }
            p += quotes ? sprintf(p, "\"%d\",%d,\"%d\"\n", i, j, v) : sprintf(p, "%d,%d,%d\n", i, j, v);
            sum[i][j] += v;
        }
        write_bytes("long", text, (size_t)(p - text));
        for (int threads = 1; threads <= 3; threads++) {
            FtB_Context_set_threads(NULL, threads);
            assert_ok(FtB_Matrix_read(&A, &rows, &cols, temp_path("long"), NULL));
            int64_t m, n, nvals;
            FtB_Type type;
            assert_ok(FtB_Matrix_shape(A, &m, &n, &nvals, NULL, &type));
            assert_int_equal(type, change < N ? FTB_FP64 : FTB_INT64);
            assert_int_equal(m, IDS + (change < N));
            assert_int_equal(n, IDS + (change < N));
            const int64_t *rowptr;
            const int32_t *colidx;
            const void *x;
            FtB_Matrix_csr(A, &rowptr, (const void **)&colidx, &x);
            for (int64_t i = 0; i < m; i++)
                for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
                    const char *from = FtB_Labels_get(rows, i), *to = FtB_Labels_get(cols, colidx[e]);
                    double v = type == FTB_FP64 ? ((const double *)x)[e] : (double)((const int64_t *)x)[e];
                    if (strcmp(from, "odd") == 0)
                        assert_true(v == 0.5 && strcmp(to, "new,\nline") == 0);
                    else if (sum[atoi(from)][atoi(to)] != v)
                        fail_msg("%s,%s: %g", from, to, v);
                }
            if (change == N)
                for (int64_t i = 1; i < m; i++)
                    assert_true(atoi(FtB_Labels_get(rows, i - 1)) < atoi(FtB_Labels_get(rows, i)));
            release();
        }
    }
    FtB_Context_set_threads(NULL, 0);
    free(text);
}

/* Integer ids too far apart for a bit each. */
static void scattered_ids(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { N = 20000 };
    char *text = malloc((size_t)N * 64), *p = text;
    for (int e = 0; e < N; e++)
        p += sprintf(p, "%lld %d\n", (long long)(rng_bits(&r) >> rng_below(&r, 20)) / (e % 2 ? 1 : -1), e);
    write_bytes("scattered", text, (size_t)(p - text));
    free(text);
    assert_ok(FtB_Matrix_read(&A, &rows, &cols, temp_path("scattered"), NULL));
    int64_t m, nvals;
    assert_ok(FtB_Matrix_shape(A, &m, NULL, &nvals, NULL, NULL));
    assert_int_equal(nvals, N);
    for (int64_t i = 1; i < m; i++)
        assert_true(atoll(FtB_Labels_get(rows, i - 1)) < atoll(FtB_Labels_get(rows, i)));
    release();
}

/* What the writers write comes back. */
static void round_trips(void **state)
{
    (void)state;
    rng r = rng_new();
    static const char *const names[] = {"plain", "with \"quotes\"", " blanks ",  "a,b",     "semi;colon",
                                        "#hash", "tab\there",       "line\nend", "ünïcode", "%",
                                        "\"",    "x\r\ny",          ""};
    enum { NAMES = sizeof names / sizeof *names };
    for (int t = 0; t < 100; t++) {
        FtB_Matrix M = rng_matrix(&r, FTB_FP64, NAMES, NAMES, 1, 0.1 + rng_unit(&r));
        FtB_Labels labels;
        FtB_Block V;
        void *data;
        int64_t nvals, found;
        assert_ok(FtB_Labels_new(&labels, NAMES, names));
        assert_ok(FtB_Matrix_shape(M, NULL, NULL, &nvals, NULL, NULL));
        assert_ok(FtB_Matrix_values(&V, M));
        assert_ok(FtB_Block_shape(V, NULL, NULL, NULL, NULL, &data));
        for (int64_t e = 0; e < nvals; e++)
            ((double *)data)[e] = rng_unit(&r) - 0.5;
        FtB_Block_free(&V);
        if (nvals > 0) {
            assert_ok(FtB_Matrix_write(M, temp_path("rt.csv"), FTB_FORMAT_AUTO, labels, labels, 0));
            assert_ok(FtB_Matrix_read(&A, &rows, &cols, temp_path("rt.csv"), FTB_READ_OPTIONS(.header = -1)));
            assert_ok(FtB_Matrix_shape(A, NULL, NULL, &found, NULL, NULL));
            assert_int_equal(found, nvals);
            for (int64_t i = 0; i < FtB_Labels_count(rows); i++)
                for (int64_t j = 0; j < FtB_Labels_count(cols); j++) {
                    double v = value_at(A, i, j, 0, 99);
                    int64_t k = 0, l = 0;
                    while (strcmp(names[k], FtB_Labels_get(rows, i)) != 0)
                        k++;
                    while (strcmp(names[l], FtB_Labels_get(cols, j)) != 0)
                        l++;
                    assert_true(v == value_at(M, k, l, 0, 99));
                }
            release();
        }
        FtB_Labels_free(&labels);
        FtB_Matrix_free(&M);
    }
}

static GrB_Info read_it(void *arg)
{
    GrB_Info info = FtB_Matrix_read(&A, &rows, &cols, temp_path(arg), NULL);
    release();
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    write_string("a", "1,2,3\n4,5,6\n-9223372036854775808,5,6\n");
    write_string("b", "1,2,3\n4,5,6\n\"x\"\"y\",z,6.5\n");
    FtB_Context_set_threads(NULL, 2);
    fail_every_allocation(read_it, NULL, "a");
    fail_every_allocation(read_it, NULL, "b");
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
    int64_t m, n, nvals;
    snprintf(path, sizeof path, "%s/ml-latest-small/ratings.csv", data);
    assert_ok(FtB_Matrix_read(&A, &rows, &cols, path, FTB_READ_OPTIONS(.columns = "userId,movieId,rating")));
    assert_ok(FtB_Matrix_shape(A, &m, &n, &nvals, NULL, NULL));
    assert_true(m == 610 && n == 9724 && nvals == 100836);
    assert_string_equal(FtB_Labels_get(cols, n - 1), "193609");
    release();
    snprintf(path, sizeof path, "%s/ml-latest-small/movies.csv", data);
    assert_ok(FtB_Matrix_read(&A, &rows, &cols, path, FTB_READ_OPTIONS(.columns = "movieId,title")));
    assert_string_equal(FtB_Labels_get(cols, 0), "Toy Story (1995)");
    release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(delimiters),
                                       cmocka_unit_test(guessed),
                                       cmocka_unit_test(varying),
                                       cmocka_unit_test(columns),
                                       cmocka_unit_test(headers),
                                       cmocka_unit_test(quoted),
                                       cmocka_unit_test(ids),
                                       cmocka_unit_test(values),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(long_lists),
                                       cmocka_unit_test(scattered_ids),
                                       cmocka_unit_test(round_trips),
                                       cmocka_unit_test(failing_allocations),
                                       cmocka_unit_test(known_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
