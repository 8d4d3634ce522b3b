/* npz and raw CSR files: round trips, files as scipy writes them, and damaged ones. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/npz.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void round_trips(void **state)
{
    (void)state;
    rng r = rng_new();
    static const char *const names[] = {"rt.npz", "rt.csr"};
    for (int t = 0; t < 400; t++) {
        FtB_Type type = rng_type(&r);
        bool npz = t % 2 == 0;
        int64_t nrows = rng_below(&r, 100), ncols = 1 + rng_below(&r, 100),
                width = npz ? rng_below(&r, 2) : rng_below(&r, 4);
        if (t % 50 < 2)
            ncols = INT64_C(3000000000);
        FtB_Context_set_threads(NULL, 1 + t % 3);
        FtB_Matrix A, B;
        if (ncols < 1000) {
            A = rng_matrix(&r, type, nrows, ncols, width, rng_unit(&r) * 0.6);
        } else {
            int64_t I[] = {0, 1, 1}, J[] = {5, 2999999999, 7};
            nrows = 2;
            A = NULL;
            char values[3 * 3 * 8];
            rng_values(&r, values, type, 9);
            assert_ok(FtB_Matrix_build(&A, type, nrows, ncols, width, 3, I, J, values, FTB_DUP_SUM, NULL));
        }
        assert_ok(FtB_Matrix_write(A, temp_path(names[!npz]), FTB_FORMAT_AUTO, NULL, NULL, 0));
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path(names[!npz]), NULL));
        FtB_Type read;
        int64_t found;
        assert_ok(FtB_Matrix_shape(B, NULL, NULL, NULL, &found, &read));
        if (npz && width == 0) {
            assert_int_equal(read, FTB_BOOL);
            assert_int_equal(found, 1);
            for (int64_t i = 0; ncols < 1000 && i < nrows; i++)
                for (int64_t j = 0; j < ncols; j++)
                    assert_true(value_at(A, i, j, 0, -1) == value_at(B, i, j, 0, -1));
        } else if (npz && type == FTB_BF16) {
            assert_int_equal(read, FTB_FP32);
        } else {
            assert_same(A, B);
        }
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
    }
    FtB_Context_set_threads(NULL, 0);
}

/* Parallel edges survive a raw CSR file, or are merged, as the reader is told. */
static void parallel_edges(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 1}, J[] = {1, 1, 0};
    const double X[] = {1, 2, 3};
    FtB_Matrix A, B;
    int64_t nvals;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 2, 2, 1, 3, I, J, X, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Matrix_write(A, temp_path("multi.csr"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("multi.csr"),
                              FTB_READ_OPTIONS(.duplicates = FTB_DUP_KEEP)));
    assert_same(A, B);
    FtB_Matrix_free(&B);
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("multi.csr"), NULL));
    assert_ok(FtB_Matrix_shape(B, NULL, NULL, &nvals, NULL, NULL));
    assert_int_equal(nvals, 2);
    assert_true(value_at(B, 0, 1, 0, 0) == 3);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* ---- files as numpy makes them */

/* [ . 2 . ]
 * [ 1 . 3 ] */
static void expect_small(const char *name, FtB_Type type)
{
    FtB_Matrix A;
    int64_t m, n, nvals;
    FtB_Type found;
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, temp_path(name), NULL));
    assert_valid(A, false);
    assert_ok(FtB_Matrix_shape(A, &m, &n, &nvals, NULL, &found));
    assert_true(m == 2 && n == 3 && nvals == 3);
    assert_int_equal(found, type);
    assert_true(value_at(A, 0, 1, 0, 0) == 2 && value_at(A, 1, 0, 0, 0) == 1 && value_at(A, 1, 2, 0, 0) == 3);
    FtB_Matrix_free(&A);
}

static void as_scipy_writes(void **state)
{
    (void)state;
    const int64_t shape[] = {2, 3};
    const int32_t indptr[] = {0, 1, 3}, indices[] = {1, 0, 2}, unsorted[] = {1, 2, 0};
    const double data[] = {2, 1, 3}, data_unsorted[] = {2, 3, 1};
    const uint8_t csc_data[] = {1, 2, 3};
    const int64_t csc_indptr[] = {0, 1, 2, 3}, csc_indices[] = {1, 0, 1}, row[] = {1, 0, 1},
                  col[] = {2, 1, 0};
    const float coo_data[] = {3, 2, 1};
    const unsigned char big_shape[16] = {[7] = 2, [15] = 3}, big_indptr[12] = {[7] = 1, [11] = 3},
                        big_indices[12] = {[3] = 1, [11] = 2}, big_data[12] = {[3] = 2, [7] = 1, [11] = 3};
    member csr[] = {{"indices.npy", HEAD("<i4", "(3,)"), indices, sizeof indices, 1},
                    {"indptr.npy", HEAD("<i4", "(3,)"), indptr, sizeof indptr, 1},
                    {"format.npy", HEAD("|S3", "()"), "csr", 3, 1},
                    {"shape.npy", HEAD("<i8", "(2,)"), shape, sizeof shape, 1},
                    {"data.npy", HEAD("<f8", "(3,)"), data, sizeof data, 2},
                    {"_is_array.npy", HEAD("|b1", "()"), "\0", 1, 1}};
    for (int deflated = 0; deflated < 2; deflated++) {
        make_npz("csr.npz", csr, 6, deflated);
        expect_small("csr.npz", FTB_FP64);
    }
    csr[0].data = unsorted;
    csr[4].data = data_unsorted;
    make_npz("unsorted.npz", csr, 5, false);
    expect_small("unsorted.npz", FTB_FP64);
    const member csc[] = {{"indices.npy", HEAD("<i8", "(3,)"), csc_indices, sizeof csc_indices, 1},
                          {"indptr.npy", HEAD("<i8", "(4,)"), csc_indptr, sizeof csc_indptr, 1},
                          {"format.npy", HEAD("<U3", "()"), "c\0\0\0s\0\0\0c\0\0\0", 12, 3},
                          {"shape.npy", HEAD("<i8", "(2L,)"), shape, sizeof shape, 1},
                          {"data.npy", HEAD("|u1", "(3,)"), csc_data, sizeof csc_data, 1}};
    make_npz("csc.npz", csc, 5, true);
    expect_small("csc.npz", FTB_UINT8);
    const member coo[] = {{"row.npy", HEAD("<i8", "(3,)"), row, sizeof row, 1},
                          {"col.npy", HEAD("<i8", "(3,)"), col, sizeof col, 1},
                          {"format.npy", HEAD("|S3", "()"), "coo", 3, 1},
                          {"shape.npy", HEAD("<i8", "(2,)"), shape, sizeof shape, 1},
                          {"data.npy", HEAD("<f4", "(3,)"), coo_data, sizeof coo_data, 1}};
    make_npz("coo.npz", coo, 5, true);
    expect_small("coo.npz", FTB_FP32);
    const member big[] = {{"indices.npy", HEAD(">i4", "(3,)"), big_indices, 12, 1},
                          {"indptr.npy", HEAD(">i4", "(3,)"), big_indptr, 12, 1},
                          {"format.npy", HEAD("|S3", "()"), "csr", 3, 1},
                          {"shape.npy", HEAD(">i8", "(2,)"), big_shape, 16, 1},
                          {"data.npy", HEAD(">u4", "(3,)"), big_data, 12, 1}};
    make_npz("big.npz", big, 5, false);
    expect_small("big.npz", FTB_UINT32);
}

static void npz_refused(void **state)
{
    (void)state;
    const int64_t shape[] = {2, 3};
    const int32_t indptr[] = {0, 1, 3}, falling[] = {0, 4, 3}, late[] = {1, 1, 3}, indices[] = {1, 0, 2},
                  outside[] = {1, 3, 2}, negative[] = {1, -1, 2};
    const double data[] = {2, 1, 3};
    const member good[] = {{"indices.npy", HEAD("<i4", "(3,)"), indices, sizeof indices, 1},
                           {"indptr.npy", HEAD("<i4", "(3,)"), indptr, sizeof indptr, 1},
                           {"format.npy", HEAD("|S3", "()"), "csr", 3, 1},
                           {"shape.npy", HEAD("<i8", "(2,)"), shape, sizeof shape, 1},
                           {"data.npy", HEAD("<f8", "(3,)"), data, sizeof data, 1}};
    const struct {
        int at;
        member bad;
        const char *message;
    } cases[] = {
        {0, {"indices.npy", HEAD("<i4", "(3,)"), outside, 12, 1}, "entry 1 has column 3; expected 0 to 2"},
        {0, {"indices.npy", HEAD("<i4", "(3,)"), negative, 12, 1}, "entry 1 has column -1"},
        {0, {"indices.npy", HEAD("<i4", "(2,)"), indices, 8, 1}, "data.npy: has 3 items; expected 2"},
        {0, {"indices.npy", HEAD("<i4", "(4,)"), indices, 12, 1}, "do not fit"},
        {0, {"indices.npy", HEAD("<i4", "(3,)"), indices, 11, 1}, "do not fit"},
        {0, {"indices.npy", HEAD("<i4", "(1,3)"), indices, 12, 1}, "do not fit"},
        {0, {"indices.npy", HEAD("<f4", "(3,)"), indices, 12, 1}, "expected integers"},
        {0, {"other.npy", HEAD("<i4", "(3,)"), indices, 12, 1}, "has no member indices.npy"},
        {0, {"indices.npy", "{'shape': (3,)}", indices, 12, 1}, "dtype"},
        {0, {"indices.npy", "{'descr': '<i4'}", indices, 12, 1}, "shape"},
        {0, {"indices.npy", HEAD("<i4", "(99999999999999999999,)"), indices, 12, 1}, "shape"},
        {0, {"indices.npy", HEAD("<i4", "(1,2,3)"), indices, 12, 1}, "shape"},
        {0, {"indices.npy", HEAD("<i4", "(4611686018427387904,)"), indices, 12, 1}, "do not fit"},
        {0,
         {"indices.npy", HEAD("<i4", "(2,)"), indices, 12, 1},
         "indices.npy: 4 bytes follow its last value"},
        {2, {"format.npy", HEAD("|S3", "()"), "csr?", 4, 1}, "format.npy: 1 bytes follow its last value"},
        {4, {"data.npy", HEAD("<f8", "(2,)"), data, 24, 1}, "data.npy: 8 bytes follow its last value"},
        {1, {"indptr.npy", HEAD("<i4", "(3,)"), falling, 12, 1}, "fall from 4 to 3 at row 1"},
        {1, {"indptr.npy", HEAD("<i4", "(3,)"), late, 12, 1}, "go from 1 to 3; expected 0 to 3"},
        {1, {"indptr.npy", HEAD("<i4", "(2,)"), indptr, 8, 1}, "has 2 items; expected 3"},
        {2, {"format.npy", HEAD("|S3", "()"), "bsr", 3, 1}, "format 'bsr'"},
        {2, {"format.npy", HEAD("|S4", "()"), "csrx", 4, 1}, "three letters"},
        {2, {"format.npy", HEAD("<i4", "()"), "csr", 4, 1}, "three letters"},
        {2, {"fmt.npy", HEAD("|S3", "()"), "csr", 3, 1}, "no member format.npy"},
        {3, {"shape.npy", HEAD("<i8", "(1,)"), shape, 8, 1}, "two dimensions"},
        {3, {"shape.npy", HEAD("|b1", "(2,)"), shape, 2, 1}, "expected integers"},
        {4, {"data.npy", HEAD("<c16", "(3,)"), shape, 16, 1}, "do not fit"},
        {4, {"data.npy", HEAD("|O8", "(3,)"), data, 24, 1}, "dtype O8"},
        {4, {"data.npy", HEAD("<f8", "(3,)"), data, 24, 9}, "no .npy array"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        member all[5];
        FtB_Matrix A;
        memcpy(all, good, sizeof all);
        all[cases[c].at] = cases[c].bad;
        make_npz("bad.npz", all, 5, c % 2);
        assert_fails(FTB_FORMAT, cases[c].message,
                     FtB_Matrix_read(&A, NULL, NULL, temp_path("bad.npz"), NULL));
        assert_non_null(strstr(FtB_error(), "bad.npz: "));
        assert_null(A);
    }
}

/* Bytes behind a zip's end are passed over, as numpy does, which looks for the end in the last 64 KiB and 22
 * bytes. */
static void npz_with_a_tail(void **state)
{
    static const size_t tails[] = {1, 512, 65536, 100000};
    const double X[] = {2, 1, 3};
    FtB_Matrix A;
    size_t size;
    (void)state;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 2, 3, 1, 3, (const int64_t[]){0, 1, 1},
                               (const int64_t[]){1, 0, 2}, X, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Matrix_write(A, temp_path("good.npz"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    char *bytes = read_bytes("good.npz", &size);
    for (int t = 0; t < 4; t++)
        for (int zeros = 0; zeros < 2; zeros++) {
            char *longer = malloc(size + tails[t]);
            memcpy(longer, bytes, size);
            memset(longer + size, zeros ? 0 : 'x', tails[t]);
            write_bytes("tail.npz", longer, size + tails[t]);
            free(longer);
            if (t < 3)
                expect_small("tail.npz", FTB_FP64);
            else
                assert_fails(FTB_FORMAT, "is no npz file: Not a zip archive",
                             FtB_Matrix_read(&A, NULL, NULL, temp_path("tail.npz"), NULL));
        }
    free(bytes);
}

static void npz_damaged(void **state)
{
    (void)state;
    const double X[] = {2, 1, 3};
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 2, 3, 1, 3, (const int64_t[]){0, 1, 1},
                               (const int64_t[]){1, 0, 2}, X, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Matrix_write(A, temp_path("good.npz"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    size_t size;
    char *bytes = read_bytes("good.npz", &size);
    write_bytes("cut.npz", bytes, size - 30);
    assert_fails(FTB_FORMAT, "is no npz file", FtB_Matrix_read(&A, NULL, NULL, temp_path("cut.npz"), NULL));
    char *value = memmem(bytes, size, &X[2], sizeof X[2]);
    value[6] ^= 1; /* the checksum tells */
    write_bytes("crc.npz", bytes, size);
    assert_fails(FTB_FORMAT, "data.npy: CRC error",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("crc.npz"), NULL));
    free(bytes);
}

static void csr_refused(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 10, 10, 1, 0.5), B;
    size_t size;
    assert_ok(FtB_Matrix_write(A, temp_path("good.csr"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    char *bytes = read_bytes("good.csr", &size);
    const struct {
        size_t at, count;
        const char *to, *message;
    } cases[] = {{7, 1, "\r", ""}, /* not even recognised: read as text */
                 {8, 4, "\x01\x02\x03\x04", "other byte order"},
                 {8, 4, "????", "no raw CSR file"},
                 {12, 1, "\2", "version 2"},
                 {13, 1, "\x63", "head is damaged"},
                 {14, 1, "\5", "head is damaged"},
                 {23, 1, "\x80", "head is damaged"},
                 {23, 1, "\x7f", "do not agree"},
                 {39, 1, "\x7f", "do not agree"},
                 {32, 1, "\xff", "do not agree"},
                 {40, 1, "\2", "its head announces"},
                 {47, 1, "\x7f", "do not agree"},
                 {48, 1, "\7", "do not agree"},
                 {56, 1, "\0", "do not agree"},
                 {63, 1, "\x70", "do not agree"},
                 {64, 1, "\1", "row pointers"},
                 {72, 1, "\x7f", "row pointers fall"},
                 {152, 1, "\x7f", "has column"},
                 {155, 1, "\x80", "has column -"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char *bad = malloc(size);
        memcpy(bad, bytes, size);
        memcpy(bad + cases[c].at, cases[c].to, cases[c].count);
        write_bytes("bad.csr", bad, size);
        assert_fails(FTB_FORMAT, cases[c].message,
                     FtB_Matrix_read(&B, NULL, NULL, temp_path("bad.csr"), NULL));
        assert_null(B);
        free(bad);
    }
    write_bytes("cut.csr", bytes, size - 1);
    assert_fails(FTB_FORMAT, "its head announces",
                 FtB_Matrix_read(&B, NULL, NULL, temp_path("cut.csr"), NULL));
    write_gzip("cut.csr", bytes, size - 1);
    assert_fails(FTB_FORMAT, "ends early, in the values",
                 FtB_Matrix_read(&B, NULL, NULL, temp_path("cut.csr"), NULL));
    write_gzip("cut.csr", bytes, size);
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("cut.csr"), NULL));
    assert_same(A, B);
    free(bytes);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* Standard input cannot be sought in. */
static void from_a_pipe(void **state)
{
    (void)state;
    rng r = rng_new();
    static const char *const names[] = {"p.npz", "p.csr", "p.mtx"};
    for (int t = 0; t < 3; t++) {
        FtB_Matrix A = rng_matrix(&r, FTB_FP64, 60, 60, 1, 0.3), B;
        assert_ok(FtB_Matrix_write(A, temp_path(names[t]), FTB_FORMAT_AUTO, NULL, NULL, 0));
        size_t size;
        char *bytes = read_bytes(names[t], &size);
        int ends[2], saved = dup(STDIN_FILENO);
        assert_int_equal(pipe(ends), 0);
        assert_true(size < 65536); /* it fits the pipe */
        assert_int_equal(write(ends[1], bytes, size), size);
        close(ends[1]);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        GrB_Info info = FtB_Matrix_read(&B, NULL, NULL, "-", NULL);
        dup2(saved, STDIN_FILENO);
        close(saved);
        assert_int_equal(info, GrB_SUCCESS);
        assert_same(A, B);
        free(bytes);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
    }
}

static GrB_Info read_it(void *arg)
{
    FtB_Matrix A;
    GrB_Info info = FtB_Matrix_read(&A, NULL, NULL, temp_path(arg), FTB_READ_OPTIONS(.type = FTB_FP64));
    FtB_Matrix_free(&A);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 20, 20, 1, 0.5);
    assert_ok(FtB_Matrix_write(A, temp_path("f.csr"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    assert_ok(FtB_Matrix_write(A, temp_path("f.npz"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    static const char *const names[] = {"f.csr", "f.npz", "unsorted.npz", "csc.npz", "coo.npz"};
    char name[32];
    for (int t = 0; t < 5; t++) {
        strcpy(name, names[t]);
        fail_every_allocation(read_it, NULL, name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trips),        cmocka_unit_test(parallel_edges),
                                       cmocka_unit_test(as_scipy_writes),    cmocka_unit_test(npz_refused),
                                       cmocka_unit_test(npz_with_a_tail),    cmocka_unit_test(npz_damaged),
                                       cmocka_unit_test(csr_refused),        cmocka_unit_test(from_a_pipe),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
