/* Dense files: round trips of every dtype, files as numpy and others write them, what is wrong with damaged
 * ones. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static double at(FtB_Block X, int64_t i, int64_t j)
{
    return ftb_get_real(block_values(X), X->type, i * X->ld + j);
}

static FtB_Block read_block(const char *name, const FtB_Block_read_options *options)
{
    FtB_Block X;
    assert_ok(FtB_Block_read(&X, temp_path(name), options));
    return X;
}

static void assert_shape(FtB_Block X, int64_t nrows, int64_t ncols, FtB_Type type)
{
    if (X->nrows != nrows || X->ncols != ncols || X->type != type)
        fail_msg("%lld x %lld of %s; expected %lld x %lld of %s", (long long)X->nrows, (long long)X->ncols,
                 FtB_Type_name(X->type), (long long)nrows, (long long)ncols, FtB_Type_name(type));
}

/* Values equal, or both NaN. */
static void assert_same_values(FtB_Block X, FtB_Block Y)
{
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t j = 0; j < X->ncols; j++) {
            const double x = at(X, i, j), y = at(Y, i, j);
            if (x != y && !(isnan(x) && isnan(y)))
                fail_msg("(%lld, %lld): %g and %g", (long long)i, (long long)j, x, y);
        }
}

/* ---- round trips */

static FtB_Type stored_type(FtB_Type type, FtB_Format format)
{
    if (format == FTB_NPY)
        return type == FTB_BF16 ? FTB_FP32 : type;
    if (format == FTB_MTX && !ftb_type_float(type))
        return FTB_INT64;
    return FTB_FP64;
}

static void round_trips(void **state)
{
    (void)state;
    static const char *const names[] = {"rt.npy", "rt.mtx", "rt.tsv", "rt.csv"};
    static const FtB_Format formats[] = {FTB_NPY, FTB_MTX, FTB_TSV, FTB_CSV};
    rng r = rng_new();
    for (int t = 0; t < 400; t++) {
        const FtB_Type type = rng_type(&r);
        const int f = t % 4;
        int64_t m = rng_below(&r, 60), n = rng_below(&r, 40), ld = n + rng_below(&r, 3);
        m += f > 1 && m == 0; /* a table without lines has no columns */
        n += f > 1 && n == 0;
        ld = ld < n ? n : ld;
        char *data = calloc((size_t)(m * ld + 1), 8);
        if (t % 3 == 0 && f == 0)
            rng_any_values(&r, data, type, m * ld);
        else
            rng_values(&r, data, type, m * ld);
        FtB_Context_set_threads(NULL, 1 + t % 3);
        FtB_Block X, Y;
        FtB_Format found;
        assert_ok(FtB_Block_wrap(&X, data, m, n, ld, type));
        assert_ok(FtB_Block_write(X, temp_path(names[f]), FTB_FORMAT_AUTO, 0));
        Y = read_block(names[f], FTB_BLOCK_READ_OPTIONS(.found = &found));
        assert_shape(Y, m, n, stored_type(type, formats[f]));
        if (f != 3 || n > 1) /* one column is no sign of a comma */
            assert_int_equal(found, formats[f]);
        assert_same_values(X, Y);
        FtB_Block_free(&Y);
        Y = read_block(names[f], FTB_BLOCK_READ_OPTIONS(.type = type));
        assert_shape(Y, m, n, type);
        assert_same_values(X, Y);
        FtB_Block_free(&Y);
        FtB_Block_free(&X);
        free(data);
    }
    FtB_Context_set_threads(NULL, 0);
}

/* Larger than pieces and rounds; lines of all lengths; the shortest digits read back to the same bits. */
static void large(void **state)
{
    (void)state;
    rng r = rng_new();
    const int64_t m = 30011, n = 17;
    FtB_Block X, Y;
    assert_ok(FtB_Block_new(&X, m, n, FTB_FP32));
    for (int64_t k = 0; k < m * n; k++)
        ((float *)block_values(X))[k] =
            (float)((rng_unit(&r) - 0.5) * pow(10, (double)rng_below(&r, 20) - 10));
    static const char *const names[] = {"large.npy", "large.mtx", "large.tsv", "large.csv"};
    for (int f = 0; f < 4; f++) {
        assert_ok(FtB_Block_write(X, temp_path(names[f]), FTB_FORMAT_AUTO, 0));
        for (int threads = 1; threads < 4; threads++) {
            FtB_Context_set_threads(NULL, threads);
            Y = read_block(names[f], FTB_BLOCK_READ_OPTIONS(.type = FTB_FP32, .finite = true));
            assert_shape(Y, m, n, FTB_FP32);
            assert_memory_equal(block_values(X), block_values(Y), (size_t)(m * n) * sizeof(float));
            FtB_Block_free(&Y);
        }
        FtB_Context_set_threads(NULL, 0);
        size_t size;
        char *bytes = read_bytes(names[f], &size);
        write_gzip("large.gz", bytes, size);
        free(bytes);
        Y = read_block("large.gz", FTB_BLOCK_READ_OPTIONS(.type = FTB_FP32));
        assert_shape(Y, m, n, FTB_FP32);
        assert_memory_equal(block_values(X), block_values(Y), (size_t)(m * n) * sizeof(float));
        FtB_Block_free(&Y);
    }
    FtB_Block_free(&X);
}

/* ---- as others write them */

static void write_npy(const char *name, const char *dict, const void *data, size_t bytes, int version)
{
    char file[1024] = "\x93NUMPY";
    const size_t text = strlen(dict) + 1, head = version > 1 ? 12 : 10;
    assert_true(head + text + bytes < sizeof file);
    file[6] = (char)version;
    file[8] = (char)text;
    memcpy(file + head, dict, text - 1);
    file[head + text - 1] = '\n';
    if (bytes > 0)
        memcpy(file + head + text, data, bytes);
    write_bytes(name, file, head + text + bytes);
}

#define DICT(dtype, fortran, shape)                                                                          \
    "{'descr': '" dtype "', 'fortran_order': " fortran ", 'shape': " shape ", }"

static void numpy(void **state)
{
    (void)state;
    const float rows[] = {1, 2, 3, 4, 5, 6};
    const double columns[] = {1, 4, 2, 5, 3, 6};
    const unsigned char big[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}, bools[] = {0, 1, 7};
    const uint16_t half[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
    const struct {
        const char *dict;
        const void *data;
        size_t bytes;
        FtB_Type type;
    } arrays[] = {{DICT("<f4", "False", "(2, 3)"), rows, sizeof rows, FTB_FP32},
                  {DICT("<f8", "True", "(2, 3)"), columns, sizeof columns, FTB_FP64},
                  {DICT(">i2", "False", "(2L, 3L)"), big, sizeof big, FTB_INT16},
                  {DICT("<f2", "False", "(2, 3)"), half, sizeof half, FTB_FP16}};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        for (int version = 1; version < 4; version++) {
            write_npy("a.npy", arrays[a].dict, arrays[a].data, arrays[a].bytes, version);
            FtB_Block X = read_block("a.npy", NULL),
                      Y = read_block("a.npy", FTB_BLOCK_READ_OPTIONS(.type = FTB_FP32));
            assert_shape(X, 2, 3, arrays[a].type);
            assert_shape(Y, 2, 3, FTB_FP32);
            for (int64_t k = 0; k < 6; k++)
                assert_true(at(X, k / 3, k % 3) == (double)(k + 1) && at(Y, k / 3, k % 3) == (double)(k + 1));
            FtB_Block_free(&X);
            FtB_Block_free(&Y);
        }
    write_npy("v.npy", DICT("|b1", "True", "(3,)"), bools, 3, 1);
    FtB_Block X = read_block("v.npy", NULL);
    assert_shape(X, 3, 1, FTB_BOOL);
    assert_true(at(X, 0, 0) == 0 && at(X, 1, 0) == 1 && at(X, 2, 0) == 1);
    FtB_Block_free(&X);
    write_npy("s.npy", DICT("<f4", "False", "()"), rows, 4, 1);
    X = read_block("s.npy", NULL);
    assert_shape(X, 1, 1, FTB_FP32);
    FtB_Block_free(&X);
}

static void texts(void **state)
{
    (void)state;
    /* What each is read to: rows x columns, and its first column's sum. */
    static const struct {
        const char *text;
        int64_t nrows, ncols;
        double sum;
        int header;
    } rows[] = {
        {"1,2\n3,4\n", 2, 2, 4, 0},
        {"1,2\r\n3,4", 2, 2, 4, 0},
        {"\xef\xbb\xbf# c\n\n%d\n 1 , 2\n\n3 ,4 \n", 2, 2, 4, 0},
        {"x,y z,\"w\"\n1,2,3\n", 1, 3, 1, 0},
        {"1\t2\n-3\t4e1\n", 2, 2, -2, 0},
        {"1 2   3\n  4\t5 6 \n", 2, 3, 5, 0},
        {"1;2\n3;4\n5;6\n", 3, 2, 9, 0},
        {"7\n8\n", 2, 1, 15, 0},
        {"7\n8\n", 1, 1, 8, 1},
        {"a,b\n", 0, 2, 0, 0},
        {"1 2 3\n", 1, 3, 1, -1},
        {"%%MatrixMarket matrix array real general\n% c\n2 3\n1\n2\n% d\n\n3\n4\n5\n6\n", 2, 3, 3, 0},
        {"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n", 2, 2, 3, 0},
        {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", 3, 3, 3, 0},
        {"%%MatrixMarket matrix array real skew-symmetric\n0 0\n", 0, 0, 0, 0},
        {"%%MatrixMarket matrix array real general\n0 3\n", 0, 3, 0, 0},
        {"%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 5\n2 3 7\n", 2, 3, 5, 0},
        {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", 2, 2, 2, 0},
    };
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        double sum = 0;
        write_string("t.txt", rows[t].text);
        FtB_Block X = read_block("t.txt", FTB_BLOCK_READ_OPTIONS(.type = FTB_FP64, .header = rows[t].header));
        assert_shape(X, rows[t].nrows, rows[t].ncols, FTB_FP64);
        for (int64_t i = 0; i < X->nrows && X->ncols > 0; i++)
            sum += at(X, i, 0);
        if (sum != rows[t].sum)
            fail_msg("text %zu: %g; expected %g", t, sum, rows[t].sum);
        FtB_Block_free(&X);
    }
    FtB_Block X;
    write_string("t.mtx", "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n");
    X = read_block("t.mtx", NULL);
    const double whole[] = {0, -1, -2, 1, 0, -3, 2, 3, 0};
    assert_shape(X, 3, 3, FTB_INT64);
    for (int64_t k = 0; k < 9; k++)
        assert_true(at(X, k / 3, k % 3) == whole[k]);
    FtB_Block_free(&X);
    write_string("m.csv", "1,,3\n,nan,-inf\n"); /* a missing number is NaN */
    X = read_block("m.csv", NULL);
    assert_shape(X, 2, 3, FTB_FP64);
    assert_true(isnan(at(X, 0, 1)) && isnan(at(X, 1, 0)) && isnan(at(X, 1, 1)) && at(X, 1, 2) < -1e300);
    FtB_Block_free(&X);
    write_string("i.csv", "9223372036854775807,-9223372036854775808\n");
    X = read_block("i.csv", FTB_BLOCK_READ_OPTIONS(.type = FTB_INT64));
    assert_true(((int64_t *)block_values(X))[0] == INT64_MAX && ((int64_t *)block_values(X))[1] == INT64_MIN);
    FtB_Block_free(&X);
}

/* A first line of data with a wrong field is an error, and no header. */
static void wrong_first_lines(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "1,2,0x10\n1,2,3\n", "1,2,abc\n1,2,3\n", "NA,NA\n2,3\n", "1;2,5\n3;4\n",
        "x,1\n2,3\n",        "1 2 3,5\n1 2 3\n", "+-1,?\n1,2\n", "-\n7\n"};
    FtB_Block X;
    for (size_t t = 0; t < sizeof wrong / sizeof *wrong; t++) {
        write_string("t.txt", wrong[t]);
        assert_fails(FTB_FORMAT, "t.txt:1:", FtB_Block_read(&X, temp_path("t.txt"), NULL));
        FtB_Block_free(&X);
        X = read_block("t.txt", FTB_BLOCK_READ_OPTIONS(.header = 1));
        FtB_Block_free(&X);
    }
}

/* ---- what is refused */

static void damaged_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        bool finite;
        FtB_Type type;
    } rows[] = {
        {"", "is empty", false, 0},
        {"# only\n\n", "has no numbers", false, 0},
        {"1,2\n3\n", ":2:2: expected 2 numbers, as in the lines before", false, 0},
        {"1,2\n\n3,4,5\n", ":3:4: expected the end of the line, after 2 numbers", false, 0},
        {"1,2\n3,x4\n", ":2:3: 'x4' is not a number", false, 0},
        {"1,2\n3,4x\n", ":2:3: '4x' is not a number", false, 0},
        {"1,2\n\"3\",4\n", ":2:1: '\"3\"' is not a number", false, 0},
        {"1 2\n3 nan\n", ":2:3: 'nan' is not a finite number", true, 0},
        {"1,2\n3,\n", ":2:3: expected a finite number", true, 0},
        {"1,2\n-inf,1\n", ":2:1: '-inf' is not a finite number", true, FTB_FP32},
        {"1,2\n3,1e39\n", ":2:3: fp32 cannot hold this number", true, FTB_FP32},
        {"1,2\n3,1.5\n", ":2:3: '1.5' is not an integer of 64 bits", false, FTB_INT32},
        {"1,2\n3,\n", ":2:3: expected an integer of 64 bits", false, FTB_INT32},
        {"1\n9223372036854775808\n", ":2:1: '9223372036854775808' is not an integer", false, FTB_INT64},
        {"1,2\na,b\n", ":2:1: 'a' is not a number", false, 0},
#define ARRAY "%%MatrixMarket matrix array real "
        {ARRAY "general\n2 2\n1\n2\n3\n", ":6: ends after 3 of the 4 values", false, 0},
        {ARRAY "general\n2 2\n1\n2\n3\n4\n5\n", ":7: more values by here than the 4", false, 0},
        {ARRAY "general\n2 2\n1 2\n3 4\n", ":3:3: expected the end of the line, after 1 numbers", false, 0},
        {ARRAY "general\n2 2\n1\ninf\n3\n4\n", ":4:1: 'inf' is not a finite number", true, 0},
        {ARRAY "general\n2\n1\n2\n", ":2:2: expected the number of columns", false, 0},
        {ARRAY "general\n2 2 2\n1\n2\n", ":2:5: expected the end of the line", false, 0},
        {ARRAY "symmetric\n2 3\n1\n2\n", "a symmetric matrix is square", false, 0},
        {ARRAY "general\n4000000000 4000000000\n1\n", "values cannot be", false, 0},
        {ARRAY "general\n1000 1000\n1\n", "1000000 values cannot be in a file of", false, 0},
        {"%%MatrixMarket matrix array pattern general\n1 1\n1\n", "field 'pattern' is not supported", false,
         0},
        {"%%MatrixMarket matrix coordinate real general\n% c\n3 3 3\n1 1 1\n\n% x\n  2\t2   -inf\n3 3 nan\n",
         ":7:9: expected a finite number", true, 0},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n", ":3:5: expected a finite", true,
         0},
    };
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        FtB_Block X = (FtB_Block)state;
        write_string("bad.txt", rows[t].text);
        assert_fails(FTB_FORMAT, rows[t].message,
                     FtB_Block_read(&X, temp_path("bad.txt"),
                                    FTB_BLOCK_READ_OPTIONS(.finite = rows[t].finite, .type = rows[t].type)));
        assert_null(X);
    }
}

static void damaged_npy(void **state)
{
    (void)state;
    const double data[] = {1, NAN, 3};
    static const struct {
        const char *dict, *message;
        size_t bytes;
        bool finite;
    } rows[] = {
        {DICT("<f8", "False", "(3,)"), "3 x 1 values take 24 bytes, and 16 follow the header", 16, false},
        {DICT("<f8", "False", "(2,)"), "2 x 1 values take 16 bytes, and 24 follow the header", 24, false},
        {DICT("<f8", "False", "(3,)"), "row 1, column 0 is nan", 24, true},
        {DICT("<f8", "True", "(1, 3)"), "row 0, column 1 is nan", 24, true},
        {DICT("<f8", "False", "(1, 1, 3)"), "at most two dimensions", 24, false},
        {DICT("<f8", "False", "(-3,)"), "at most two dimensions", 24, false},
        {DICT("<f8", "False", "(4000000000, 4000000000)"), "cannot be addressed", 24, false},
        {DICT("|O", "False", "(3,)"), "dtype is not one of", 24, false},
        {DICT("<c8", "False", "(3,)"), "dtype complex64 are not supported", 24, false},
        {DICT("<U2", "False", "(3,)"), "dtype U4 are not supported", 24, false},
        {"{}", "dtype is not one of", 24, false},
    };
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        FtB_Block X;
        write_npy("bad.npy", rows[t].dict, data, rows[t].bytes, 1);
        assert_fails(
            FTB_FORMAT, rows[t].message,
            FtB_Block_read(&X, temp_path("bad.npy"), FTB_BLOCK_READ_OPTIONS(.finite = rows[t].finite)));
        assert_null(X);
    }
    FtB_Block X; /* what a pipe only claims to have is not allocated */
    char file[200] = "\x93NUMPY\1";
    file[8] = 100;
    snprintf(file + 10, 101, "%-99s\n", DICT("<f8", "False", "(90000000000, 7)"));
    write_gzip("bad.npy", file, 150);
    assert_fails(FTB_FORMAT, "ends early, in the values", FtB_Block_read(&X, temp_path("bad.npy"), NULL));
    write_npy("seed.npy", DICT("<f8", "False", "(2,)"), data, 24, 1);
    size_t size;
    char *bytes = read_bytes("seed.npy", &size);
    write_gzip("bad.npy", bytes, size);
    free(bytes);
    assert_fails(FTB_FORMAT, "goes on after its 2 x 1 values",
                 FtB_Block_read(&X, temp_path("bad.npy"), NULL));
}

static void arguments(void **state)
{
    (void)state;
    FtB_Block X, Y;
    FtB_Matrix A;
    assert_ok(FtB_Block_new(&X, 2, 3, FTB_FP64));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_read(NULL, "x", NULL));
    assert_fails(GrB_NULL_POINTER, "path is NULL", FtB_Block_read(&Y, NULL, NULL));
    assert_fails(FTB_IO, "cannot read", FtB_Block_read(&Y, temp_path("absent"), NULL));
    assert_fails(FTB_IO, "cannot read", FtB_Block_read(&Y, temp_path("."), NULL));
    assert_fails(GrB_INVALID_VALUE, "FTB_BLOCK_READ_OPTIONS",
                 FtB_Block_read(&Y, temp_path("x"), &(FtB_Block_read_options){0}));
    assert_fails(GrB_INVALID_VALUE, "no FtB_Type",
                 FtB_Block_read(&Y, temp_path("x"), FTB_BLOCK_READ_OPTIONS(.type = (FtB_Type)99)));
    assert_fails(GrB_INVALID_VALUE, "no FtB_Format",
                 FtB_Block_read(&Y, temp_path("x"), FTB_BLOCK_READ_OPTIONS(.format = (FtB_Format)99)));
    assert_fails(GrB_INVALID_VALUE, "delimiter",
                 FtB_Block_read(&Y, temp_path("x"), FTB_BLOCK_READ_OPTIONS(.delimiter = '\n')));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_write(NULL, "x", FTB_NPY, 0));
    assert_fails(GrB_NULL_POINTER, "path is NULL", FtB_Block_write(X, NULL, FTB_NPY, 0));
    assert_fails(GrB_INVALID_VALUE, "does not say its format", FtB_Block_write(X, temp_path("x.y"), 0, 0));
    assert_fails(GrB_INVALID_VALUE, "blocks are not written as npz; expected .mtx, ",
                 FtB_Block_write(X, temp_path("x.npz"), 0, 0));
    assert_fails(GrB_INVALID_VALUE, "18 digits", FtB_Block_write(X, temp_path("x.npy"), 0, 18));
    assert_fails(FTB_IO, "cannot write", FtB_Block_write(X, temp_path("no/x.npy"), 0, 0));
    assert_ok(FtB_Block_write(X, temp_path("x.npy"), 0, 0));
    assert_fails(FTB_FORMAT, "FtB_Block_read reads",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("x.npy"), NULL));
    assert_ok(FtB_Matrix_new(&A, FTB_FP64, 2, 2, 1));
    assert_fails(GrB_INVALID_VALUE, "matrices are not written as npy; expected",
                 FtB_Matrix_write(A, temp_path("y.npy"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    const int64_t I[] = {0, 1}, J[] = {1, 0};
    const float values[] = {1, NAN, 3, 4};
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 2, 2, 2, 2, I, J, values, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Matrix_write(A, temp_path("wide.csr"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    assert_fails(GrB_INVALID_VALUE, "2 values per entry", FtB_Block_read(&Y, temp_path("wide.csr"), NULL));
    FtB_Matrix_free(&A);
    assert_fails(FTB_FORMAT, "entry (0, 1) is nan; expected a finite number",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("wide.csr"), FTB_READ_OPTIONS(.finite = true)));
    assert_null(A);
    FtB_Block_free(&X);
}

/* ---- memory, files */

static GrB_Info read_call(void *arg)
{
    FtB_Block X;
    GrB_Info info = FtB_Block_read(&X, temp_path(arg), FTB_BLOCK_READ_OPTIONS(.type = FTB_FP32));
    FtB_Block_free(&X);
    return info;
}

static FtB_Block written;

static GrB_Info write_call(void *arg) { return FtB_Block_write(written, temp_path(arg), FTB_FORMAT_AUTO, 0); }

static void no_file(void *arg)
{
    size_t size;
    char *bytes = read_bytes(arg, &size);
    if (bytes)
        fail_msg("%s appeared though it was not written", (const char *)arg);
}

static void failing_allocations(void **state)
{
    (void)state;
    static char names[][12] = {"oom.npy", "oom.mtx", "oom.tsv", "oom.csv"};
    assert_ok(FtB_Block_new(&written, 40, 7, FTB_BF16));
    for (int f = 0; f < 4; f++) {
        remove(temp_path(names[f]));
        fail_every_allocation(write_call, no_file, names[f]);
        fail_every_allocation(read_call, NULL, names[f]);
    }
    static char sparse[] = "oom-sparse.mtx", fortran[] = "oom-f.npy";
    write_string(sparse, "%%MatrixMarket matrix coordinate pattern symmetric\n9 9 3\n1 1\n2 1\n9 4\n");
    fail_every_allocation(read_call, NULL, sparse);
    const double data[6] = {0};
    write_npy(fortran, DICT("<f8", "True", "(2, 3)"), data, sizeof data, 1);
    fail_every_allocation(read_call, NULL, fortran);
    FtB_Block_free(&written);
}

static void limits(void **state)
{
    (void)state;
    FtB_Block X, Y;
    int64_t now;
    assert_ok(FtB_Block_new(&X, 20000, 10, FTB_FP64));
    assert_ok(FtB_Block_write(X, temp_path("limit.npy"), FTB_FORMAT_AUTO, 0));
    assert_ok(FtB_Block_write(X, temp_path("limit.csv"), FTB_FORMAT_AUTO, 0));
    assert_ok(FtB_Block_free(&X));
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    FtB_Context_set_memory_limit(NULL, now + 1000000);
    assert_fails(FTB_LIMIT, "limit", FtB_Block_read(&Y, temp_path("limit.npy"), NULL));
    assert_fails(FTB_LIMIT, "limit", FtB_Block_read(&Y, temp_path("limit.csv"), NULL));
    FtB_Context_set_memory_limit(NULL, now + 1700000); /* exactly what it holds, and little else */
    assert_ok(FtB_Block_read(&Y, temp_path("limit.npy"), NULL));
    assert_ok(FtB_Block_free(&Y));
    FtB_Context_set_memory_limit(NULL, 0);
    int64_t after;
    assert_ok(FtB_Context_memory(NULL, &after, NULL));
    assert_int_equal(now, after);
}

/* Digits, whole files only, standard output. */
static void writing(void **state)
{
    (void)state;
    const double values[] = {1.0 / 3, 2, -0.5, 1e300};
    FtB_Block X;
    size_t size;
    assert_ok(FtB_Block_wrap_const(&X, values, 2, 2, 2, FTB_FP64));
    const int files = count_files();
    assert_ok(FtB_Block_write(X, temp_path("w.csv"), FTB_FORMAT_AUTO, 3));
    char *text = read_bytes("w.csv", &size);
    assert_string_equal(text, "0.333,2\n-0.5,1e+300\n");
    free(text);
    assert_ok(FtB_Block_write(X, temp_path("w.mtx"), FTB_FORMAT_AUTO, 1));
    text = read_bytes("w.mtx", &size);
    assert_string_equal(text, "%%MatrixMarket matrix array real general\n2 2\n0.3\n-0.5\n2\n1e+300\n");
    free(text);
    redirect_stdout("w.out");
    assert_ok(FtB_Block_write(X, "-", FTB_FORMAT_AUTO, 2));
    restore_stdout();
    text = read_bytes("w.out", &size);
    assert_string_equal(text, "0.33\t2\n-0.5\t1e+300\n");
    free(text);
    assert_int_equal(count_files(), files + 3);
    FtB_Block_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(large),
        cmocka_unit_test(numpy),
        cmocka_unit_test(texts),
        cmocka_unit_test(wrong_first_lines),
        cmocka_unit_test(damaged_texts),
        cmocka_unit_test(damaged_npy),
        cmocka_unit_test(arguments),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(limits),
        cmocka_unit_test(writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
