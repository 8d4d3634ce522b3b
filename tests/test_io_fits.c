/* A type that was asked for holds every value of a file, or the file is refused and the value named: every
 * dtype of the table, from every format that has values, matrices and blocks. */
#include "support/check.h"

#include "core/core.h"
#include "support/temporary.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double values[] = {0,
                                -1,
                                1.5,
                                0.1,
                                127,
                                128,
                                -128,
                                -129,
                                255,
                                256,
                                300,
                                32767,
                                32768,
                                -32769,
                                65535,
                                65536,
                                65519,
                                65520,
                                7e4,
                                2147483647.0,
                                2147483648.0,
                                -2147483649.0,
                                4294967295.0,
                                4294967296.0,
                                9007199254740992.0,
                                9.3e18,
                                -9.3e18,
                                1.9e19,
                                3.4e38,
                                3.5e38,
                                -1e300};

/* The same said in another way: by what lies between the ends of each type. */
static bool fits(FtB_Type type, double v)
{
    static const struct {
        double low, high; /* both are held */
        bool whole;
    } ends[] = {[FTB_BOOL] = {-INFINITY, INFINITY, false},
                [FTB_INT8] = {INT8_MIN, INT8_MAX, true},
                [FTB_INT16] = {INT16_MIN, INT16_MAX, true},
                [FTB_INT32] = {INT32_MIN, INT32_MAX, true},
                [FTB_INT64] = {-9223372036854775808.0, 9223372036854774784.0, true},
                [FTB_UINT8] = {0, UINT8_MAX, true},
                [FTB_UINT16] = {0, UINT16_MAX, true},
                [FTB_UINT32] = {0, UINT32_MAX, true},
                [FTB_UINT64] = {0, 18446744073709549568.0, true},
                [FTB_FP32] = {-FLT_MAX, FLT_MAX, false},
                [FTB_FP64] = {-INFINITY, INFINITY, false},
                [FTB_FP16] = {-65519, 65519, false},
                [FTB_BF16] = {-3.39e38, 3.39e38, false}};
    return v >= ends[type].low && v <= ends[type].high && !(ends[type].whole && v != rint(v));
}

static void write_text(const char *path, const char *format, double a, double b)
{
    FILE *f = fopen(temp_path(path), "w");
    assert_non_null(f);
    assert_true(fprintf(f, format, a, b) > 0);
    assert_int_equal(fclose(f), 0);
}

/* The second of two values is v; refused, the message says so. */
static void check(GrB_Info info, const char *path, FtB_Type type, double v)
{
    const bool spelt = path[0] == 'x' && strstr(FtB_error(), "is not an integer"); /* 1.5, 9.3e+18 */
    if (fits(type, v) && !(info == FTB_FORMAT && spelt && (type == FTB_BOOL || fabs(v) > 1e17))) {
        if (info != GrB_SUCCESS)
            fail_msg("%s as %s, %.17g: %s", path, FtB_Type_name(type), v, FtB_error());
    } else if (info != FTB_FORMAT || !strstr(FtB_error(), path) ||
               (!spelt &&
                (!strstr(FtB_error(), "cannot hold") || !strstr(FtB_error(), FtB_Type_name(type))))) {
        fail_msg("%s as %s, %.17g: %d, %s", path, FtB_Type_name(type), v, (int)info, FtB_error());
    }
}

static void read_matrix(const char *path, double v)
{
    for (FtB_Type type = FTB_BOOL; ftb_type_valid(type); type++) {
        FtB_Matrix A = NULL;
        const FtB_Read_options o = {.size = sizeof o, .type = type};
        const GrB_Info info = FtB_Matrix_read(&A, NULL, NULL, temp_path(path), &o);
        check(info, path, type, v);
        if (info == GrB_SUCCESS && type != FTB_BOOL)
            assert_true(fabs(ftb_get_real(matrix_values(A), type, A->pattern->nvals - 1) - v) <=
                        fabs(v) / 128 + 1e-7);
        FtB_Matrix_free(&A);
    }
}

static void read_block(const char *path, double v)
{
    for (FtB_Type type = FTB_BOOL; ftb_type_valid(type); type++) {
        FtB_Block X = NULL;
        const FtB_Block_read_options o = {.size = sizeof o, .type = type};
        check(FtB_Block_read(&X, temp_path(path), &o), path, type, v);
        FtB_Block_free(&X);
    }
}

static void every_format(void **state)
{
    (void)state;
    static const char *const matrices[] = {"m.mtx", "m.npz", "m.csr"}, *const blocks[] = {"x.npy", "x.csv",
                                                                                          "x.mtx"};
    const int64_t I[] = {0, 1}, J[] = {1, 0};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        const double v = values[k], two[] = {1, v};
        FtB_Matrix A;
        FtB_Block X;
        assert_ok(FtB_Matrix_build(&A, FTB_FP64, 2, 2, 1, 2, I, J, two, FTB_DUP_SUM, NULL));
        assert_ok(FtB_Block_wrap_const(&X, two, 2, 1, 1, FTB_FP64));
        for (size_t f = 0; f < 3; f++) {
            assert_ok(FtB_Matrix_write(A, temp_path(matrices[f]), FTB_FORMAT_AUTO, NULL, NULL, 17));
            read_matrix(matrices[f], v);
            if (f == 0) /* a sparse file, as a block */
                read_block(matrices[f], v);
            assert_ok(FtB_Block_write(X, temp_path(blocks[f]), FTB_FORMAT_AUTO, 17));
            read_block(blocks[f], v);
        }
        write_text("e.tsv", "0\t1\t%.17g\n1\t0\t%.17g\n", 1, v);
        read_matrix("e.tsv", v);
        write_text("d.tsv", "0\t1\t%.17g\n1\t0\t%.17g\n0\t2\t1\n", 1, v); /* rows do not ascend */
        read_matrix("d.tsv", v);
        FtB_Matrix_free(&A);
        FtB_Block_free(&X);
    }
}

/* Whole numbers of 64 bits are looked at as such. */
static void integers(void **state)
{
    (void)state;
    FtB_Matrix A = NULL;
    FtB_Read_options o = {.size = sizeof o, .type = FTB_UINT64};
    write_text("i.tsv", "0\t1\t9007199254740993\n1\t0\t-1\n", 0, 0);
    assert_fails(FTB_FORMAT, "i.tsv:2:5: the value is -1, which uint64 cannot hold",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("i.tsv"), &o));
    o.type = FTB_INT64;
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, temp_path("i.tsv"), &o));
    assert_true(((const int64_t *)matrix_values(A))[0] == INT64_C(9007199254740993));
    FtB_Matrix_free(&A);
    o.type = FTB_INT8;
    write_text("i.tsv", "0\t1\t300\n", 0, 0);
    assert_fails(FTB_FORMAT, "i.tsv:1:5: the value is 300, which int8 cannot hold",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("i.tsv"), &o));
    assert_null(strstr(FtB_error(), "header")); /* it is no name of a column */
    write_text("i.mtx",
               "%%%%MatrixMarket matrix coordinate integer general\n%% a comment\n3 3 3\n1 1 5\n\n2  2 -129 "
               "\n3 3 1\n",
               0, 0);
    assert_fails(FTB_FORMAT, "i.mtx:6:6: the value is -129, which int8 cannot hold",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("i.mtx"), &o));
    write_text("s.mtx", "%%%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 -128\n", 0, 0);
    assert_fails(FTB_FORMAT,
                 "s.mtx:3:5: the value is -128, and its negative across the diagonal, which int8 cannot hold",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("s.mtx"), &o));
    o.type = FTB_UINT64; /* which has no negative */
    assert_fails(FTB_FORMAT, "s.mtx:3:5: ", FtB_Matrix_read(&A, NULL, NULL, temp_path("s.mtx"), &o));
    write_text("u.mtx", "%%%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n", 0, 0);
    assert_fails(FTB_FORMAT,
                 "u.mtx:3:5: the value is 7, and its negative across the diagonal, which uint64 cannot hold",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("u.mtx"), &o));
    o.type = FTB_INT8;
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, temp_path("u.mtx"), &o));
    assert_int_equal(((const int8_t *)matrix_values(A))[0], -7);
    FtB_Matrix_free(&A);
}

/* The bytes of v as `type`, and v as that type has it; false: it does not. */
static bool as(FtB_Type type, long double *v, void *word)
{
    const double wide = (double)*v;
    const float narrow = (float)*v;
    if (type == FTB_UINT64 && *v >= 0 && *v < 0x1p64L)
        memcpy(word, &(uint64_t){(uint64_t)*v}, 8);
    else if (type == FTB_INT64 && *v >= -0x1p63L && *v < 0x1p63L)
        memcpy(word, &(int64_t){(int64_t)*v}, 8);
    else if (type == FTB_INT16 && *v >= -32768 && *v <= 32767)
        memcpy(word, &(int16_t){(int16_t)*v}, 2);
    else if (type == FTB_FP64)
        memcpy(word, &wide, 8);
    else if (type == FTB_FP32)
        memcpy(word, &narrow, 4);
    else
        return false;
    *v = type == FTB_FP64 ? (long double)wide : type == FTB_FP32 ? (long double)narrow : *v;
    return true;
}

static bool within(FtB_Type type, long double v)
{
    static const long double end[] = {
        [FTB_FP32] = 0x1.ffffffp127L, [FTB_FP64] = INFINITY, [FTB_FP16] = 65520, [FTB_BF16] = 0x1.ffp127L};
    const bool is_signed = type <= FTB_INT64;
    const long double high =
        ftb_type_float(type) ? end[type] : ldexpl(1, 8 * (int)FtB_Type_size(type) - is_signed);
    return v < high && (ftb_type_float(type) ? v > -high : v >= (is_signed ? -high : 0));
}

/* Every pair of types, around every power of two, beside arithmetic that all of them fit in. */
static void bounds(void **state)
{
    (void)state;
    static const FtB_Type from[] = {FTB_INT64, FTB_UINT64, FTB_FP64, FTB_FP32, FTB_INT16};
    for (size_t f = 0; f < sizeof from / sizeof *from; f++)
        for (FtB_Type to = FTB_INT8; ftb_type_valid(to); to++)
            for (int k = 0; k < 65 * 6; k++) {
                uint64_t word = 0;
                long double v = ldexpl(k % 2 ? 1 : -1, k / 6) + k / 2 % 3 - 1;
                if (as(from[f], &v, &word) && (ftb_find_unfit(to, &word, from[f], 1) < 0) != within(to, v))
                    fail_msg("%s as %s: %.21Lg", FtB_Type_name(from[f]), FtB_Type_name(to), v);
            }
}

/* The first of many that does not fit, wherever it is. */
static void places(void **state)
{
    (void)state;
    double x[3000] = {0};
    for (int64_t at = 0; at < 3000; at += 37) {
        x[at] = 300;
        x[2999] = 0.5;
        assert_int_equal(ftb_find_unfit(FTB_INT8, x, FTB_FP64, 3000), at);
        x[at] = 1;
    }
}

/* What is no number, or no finite one, is nobody's to refuse here. */
static void not_finite(void **state)
{
    (void)state;
    const double two[] = {INFINITY, NAN};
    FtB_Block X, Y;
    const FtB_Block_read_options o = {.size = sizeof o, .type = FTB_FP16},
                                 whole = {.size = sizeof o, .type = FTB_INT8};
    assert_ok(FtB_Block_wrap_const(&X, two, 1, 2, 2, FTB_FP64));
    assert_ok(FtB_Block_write(X, temp_path("n.npy"), FTB_FORMAT_AUTO, 0));
    assert_ok(FtB_Block_read(&Y, temp_path("n.npy"), &o));
    assert_true(isinf(ftb_get_real(block_values(Y), FTB_FP16, 0)) &&
                isnan(ftb_get_real(block_values(Y), FTB_FP16, 1)));
    FtB_Block_free(&Y);
    assert_fails(FTB_FORMAT, "n.npy: value 0, from 0, is inf, which int8 cannot hold",
                 FtB_Block_read(&Y, temp_path("n.npy"), &whole));
    FtB_Block_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_format), cmocka_unit_test(integers),
                                       cmocka_unit_test(bounds), cmocka_unit_test(places),
                                       cmocka_unit_test(not_finite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
