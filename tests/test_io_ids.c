/* Labels of files that have positions: tables beside them. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const endings[] = {"mtx", "npz", "csr"};

static void expect_file(const char *name, const char *text)
{
    char *content = read_bytes(name, NULL);
    if (!content || strcmp(content, text) != 0)
        fail_msg("%s: %s, expected %s", name, content ? content : "not there", text);
    free(content);
}

static FtB_Labels labels_of(int count)
{
    static const char *const strings[] = {"ann", "b,\"c\"\nd", "", " x ", "#7", "ünï", "tab\there"};
    FtB_Labels labels;
    assert_ok(FtB_Labels_new(&labels, count, strings));
    return labels;
}

static void tables(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Labels all = labels_of(7), few = labels_of(3);
    FtB_Matrix square = rng_matrix(&r, FTB_FP64, 7, 7, 1, 0.5), wide = rng_matrix(&r, FTB_FP64, 3, 7, 1, 0.5),
               B;
    for (int f = 0; f < 3; f++) {
        char name[32];
        const char *csv = f == 0 ? "position,id\n1,ann\n2,\"b,\"\"c\"\"\nd\"\n3,\"\"\n4,\" x "
                                   "\"\n5,\"#7\"\n6,ünï\n7,\"tab\there\"\n"
                                 : "position,id\n0,ann\n1,\"b,\"\"c\"\"\nd\"\n2,\"\"\n3,\" x "
                                   "\"\n4,\"#7\"\n5,ünï\n6,\"tab\there\"\n";
        const char *first = f == 0 ? "position,id\n1,ann\n2,\"b,\"\"c\"\"\nd\"\n3,\"\"\n"
                                   : "position,id\n0,ann\n1,\"b,\"\"c\"\"\nd\"\n2,\"\"\n";
        snprintf(name, sizeof name, "s.%s", endings[f]);
        assert_ok(FtB_Matrix_write(square, temp_path(name), FTB_FORMAT_AUTO, all, all, 0));
        expect_file("s.ids.csv", csv);
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path(name), NULL));
        assert_same(square, B);
        FtB_Matrix_free(&B);
        remove(temp_path("s.ids.csv"));
        assert_ok(FtB_Matrix_write(square, temp_path(name), FTB_FORMAT_AUTO, NULL, NULL, 0));
        assert_null(read_bytes("s.ids.csv", NULL));
        snprintf(name, sizeof name, "w.%s", endings[f]);
        assert_ok(FtB_Matrix_write(wide, temp_path(name), FTB_FORMAT_AUTO, few, all, 0));
        expect_file("w.rows.csv", first);
        expect_file("w.cols.csv", csv);
        assert_null(read_bytes("w.ids.csv", NULL));
        assert_ok(FtB_Matrix_write(wide, temp_path("noending"),
                                   f == 0   ? FTB_MTX
                                   : f == 1 ? FTB_NPZ
                                            : FTB_CSR,
                                   NULL, all, 0));
        expect_file("noending.cols.csv", csv);
        assert_null(read_bytes("noending.rows.csv", NULL));
        assert_fails(GrB_INVALID_VALUE, "there are 3 labels for 7 columns",
                     FtB_Matrix_write(wide, temp_path(name), FTB_FORMAT_AUTO, few, few, 0));
    }
    FtB_Matrix_free(&square);
    FtB_Matrix_free(&wide);
    FtB_Labels_free(&all);
    FtB_Labels_free(&few);
}

/* All files or none. */
static void all_or_none(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Labels all = labels_of(7), few = labels_of(3);
    FtB_Matrix wide = rng_matrix(&r, FTB_FP64, 3, 7, 1, 0.5);
    assert_int_equal(mkdir(temp_path("n.cols.csv"), 0777), 0);
    const int files = count_files();
    for (int f = 0; f < 3; f++) {
        char name[32];
        snprintf(name, sizeof name, "n.%s", endings[f]);
        assert_fails(FTB_IO, "n.cols.csv",
                     FtB_Matrix_write(wide, temp_path(name), FTB_FORMAT_AUTO, few, all, 0));
        assert_int_equal(count_files(), files);
    }
    rmdir(temp_path("n.cols.csv"));
    assert_ok(FtB_Matrix_write(wide, "/dev/null", FTB_NPZ, few, all, 0)); /* nothing is beside a device */
    FtB_Matrix_free(&wide);
    FtB_Labels_free(&all);
    FtB_Labels_free(&few);
}

/* Longer than a buffer. */
static void many(void **state)
{
    (void)state;
    enum { N = 60000 };
    char *text = malloc(N * 16), **strings = malloc(N * sizeof *strings);
    for (int v = 0; v < N; v++) {
        strings[v] = text + 16 * v;
        snprintf(strings[v], 16, "id-%d", 7 * v);
    }
    FtB_Labels labels, rows, cols;
    FtB_Matrix A, B;
    assert_ok(FtB_Labels_new(&labels, N, (const char *const *)strings));
    assert_ok(FtB_Matrix_new(&A, FTB_FP64, N, N, 1));
    assert_ok(FtB_Matrix_write(A, temp_path("many.npz"), FTB_FORMAT_AUTO, labels, labels, 0));
    assert_ok(FtB_Matrix_read(&B, &rows, &cols, temp_path("many.ids.csv"), NULL));
    assert_int_equal(FtB_Labels_count(cols), N);
    for (int v = 0; v < N; v++)
        assert_true(atoi(FtB_Labels_get(rows, v)) == v && strcmp(FtB_Labels_get(cols, v), strings[v]) == 0);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Labels_free(&labels);
    FtB_Labels_free(&rows);
    FtB_Labels_free(&cols);
    free(text);
    free(strings);
}

static GrB_Info write_it(void *arg)
{
    FtB_Labels labels = NULL;
    FtB_Matrix A = NULL;
    GrB_Info info = FtB_Labels_new(&labels, 2, (const char *const[]){"a", "b"});
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&A, FTB_FP64, 2, 2, 1);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_write(A, temp_path(arg), FTB_FORMAT_AUTO, labels, labels, 0);
    FtB_Matrix_free(&A);
    FtB_Labels_free(&labels);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    char name[32];
    for (int f = 0; f < 3; f++) {
        snprintf(name, sizeof name, "fail.%s", endings[f]);
        fail_every_allocation(write_it, NULL, name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(all_or_none),
                                       cmocka_unit_test(many), cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
