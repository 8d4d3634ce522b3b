/* Duplicates in files, by every rule, of every type that a file can hold: what they become is exact, in the
 * type of the file or, where that is too narrow, in one of 64 bits; where those are too few it is an error.
 */
#include "support/check.h"
#include "support/compare.h"
#include "support/npz.h"
#include "support/temporary.h"

#include "core/core.h"

#include <math.h>
#include <stdlib.h>

#define ENTRIES 300 /* more than 8 bits count */

/* ENTRIES entries at (1, 2), one at (0, 1), as large as the type has them, or as small. */
typedef struct twins {
    FtB_Type type;
    int64_t I[ENTRIES + 1], J[ENTRIES + 1];
    char X[8 * (ENTRIES + 1)];
} twins;

static double most(FtB_Type type)
{
    static const double values[] = {
        [FTB_BOOL] = 1,        [FTB_INT8] = 127,     [FTB_INT16] = 32767,   [FTB_INT32] = 2147483647,
        [FTB_INT64] = 0x1p62,  [FTB_UINT8] = 255,    [FTB_UINT16] = 65535,  [FTB_UINT32] = 4294967295,
        [FTB_UINT64] = 0x1p63, [FTB_FP32] = 0x1p127, [FTB_FP64] = 0x1p1000, [FTB_FP16] = 32768,
        [FTB_BF16] = 0x1p127};
    return values[type];
}

static void fill(twins *t, FtB_Type type, int count, double value)
{
    t->type = type;
    for (int e = 0; e <= count; e++) {
        t->I[e] = e < count;
        t->J[e] = e < count ? 2 : 1;
        ftb_cast(t->X + (size_t)e * FtB_Type_size(type), type, &value, FTB_FP64, 1);
    }
}

/* What the rule makes of `count` equal values, and the type that it takes; false: none does. */
static bool expected(const twins *t, FtB_Dup rule, int count, double value, FtB_Type *type, double *merged)
{
    const bool real = ftb_type_float(t->type), is_unsigned = t->type >= FTB_UINT8 && t->type <= FTB_UINT64;
    const double low = t->type == FTB_BOOL || is_unsigned ? 0 : -most(t->type) - !real;
    *merged = rule == FTB_DUP_SUM ? value * count : rule == FTB_DUP_COUNT ? count : value;
    *type = t->type;
    if (rule == FTB_DUP_SUM && t->type == FTB_BOOL)
        *merged = value;
    if (t->type == FTB_FP64 || (rule != FTB_DUP_SUM && rule != FTB_DUP_COUNT))
        return true;
    if (rule == FTB_DUP_COUNT && real) /* 300 has 7 bits behind the first, of which the last two are 0 */
        return true;
    if (t->type == FTB_INT64 || t->type == FTB_UINT64)
        return rule == FTB_DUP_COUNT || (*merged >= -0x1p63 && *merged < (is_unsigned ? 0x1p64 : 0x1p63));
    if (*merged > (real ? 2 * most(t->type) * (1 - 0x1p-12) : most(t->type)) ||
        *merged < low * (real ? 2 * (1 - 0x1p-12) : 1))
        *type = real ? FTB_FP64 : is_unsigned && rule == FTB_DUP_SUM ? FTB_UINT64 : FTB_INT64;
    return true;
}

enum { RAW, CSR, COO, FORMATS };
static const char *const names[FORMATS] = {"twins.csr", "twins.npz", "coo.npz"};

static void write_coo(const twins *t, int count)
{
    static const char *const types[] = {
        [FTB_BOOL] = "|b1",   [FTB_INT8] = "|i1",  [FTB_INT16] = "<i2",  [FTB_INT32] = "<i4",
        [FTB_INT64] = "<i8",  [FTB_UINT8] = "|u1", [FTB_UINT16] = "<u2", [FTB_UINT32] = "<u4",
        [FTB_UINT64] = "<u8", [FTB_FP32] = "<f4",  [FTB_FP64] = "<f8",   [FTB_FP16] = "<f2"};
    const int64_t shape[] = {3, 4};
    char index[96], data[96];
    snprintf(index, sizeof index, HEAD("<i8", "(%d,)"), count + 1);
    snprintf(data, sizeof data, HEAD("%s", "(%d,)"), types[t->type], count + 1);
    const size_t n = (size_t)count + 1;
    const member members[] = {{"row.npy", index, t->I, 8 * n, 1},
                              {"col.npy", index, t->J, 8 * n, 1},
                              {"format.npy", HEAD("|S3", "()"), "coo", 3, 1},
                              {"shape.npy", HEAD("<i8", "(2,)"), shape, sizeof shape, 1},
                              {"data.npy", data, t->X, FtB_Type_size(t->type) * n, 1}};
    make_npz("coo.npz", members, 5, false);
}

static void write_all(const twins *t, int count)
{
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, t->type, 3, 4, 1, count + 1, t->I, t->J, t->X, FTB_DUP_KEEP, NULL));
    for (int format = RAW; format <= CSR; format++)
        assert_ok(FtB_Matrix_write(A, temp_path(names[format]), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    if (t->type != FTB_BF16)
        write_coo(t, count);
}

static void check(const char *name, const twins *t, FtB_Dup rule, int count, double value)
{
    FtB_Matrix A;
    FtB_Type type, found;
    double merged;
    const bool fits = expected(t, rule, count, value, &type, &merged);
    const GrB_Info info =
        FtB_Matrix_read(&A, NULL, NULL, temp_path(name), FTB_READ_OPTIONS(.duplicates = rule));
    if (!fits) {
        if (info != FTB_FORMAT || A || !strstr(FtB_error(), name) ||
            !strstr(FtB_error(), "of the entries at (1, 2) is beyond"))
            fail_msg("%s, %s, rule %d: %d, %s", name, FtB_Type_name(t->type), (int)rule, (int)info,
                     FtB_error());
        return;
    }
    assert_ok(info);
    assert_ok(FtB_Matrix_shape(A, NULL, NULL, NULL, NULL, &found));
    const double got = value_at(A, 1, 2, 0, -1), other = rule == FTB_DUP_COUNT ? 1 : value;
    if (found != type || got != merged || value_at(A, 0, 1, 0, -1) != other)
        fail_msg("%s, %s, rule %d: %s %.17g; expected %s %.17g", name, FtB_Type_name(t->type), (int)rule,
                 FtB_Type_name(found), got, FtB_Type_name(type), merged);
    FtB_Matrix_free(&A);
}

static void every_type_rule_and_format(void **state)
{
    static twins t;
    (void)state;
    for (int type = FTB_BOOL; type <= FTB_BF16; type++)
        for (int count = 1; count <= ENTRIES; count += count == 1   ? 1
                                                       : count == 2 ? 253
                                                                    : 45) /* 1, 2, 255, 300 */
            for (int sign = 0; sign < 3; sign++) {
                const bool is_signed =
                    ftb_type_float((FtB_Type)type) || (type >= FTB_INT8 && type <= FTB_INT64);
                const double value = sign == 2           ? 1
                                     : is_signed && sign ? -most((FtB_Type)type)
                                                         : most((FtB_Type)type);
                fill(&t, (FtB_Type)type, count, value);
                write_all(&t, count);
                for (int rule = FTB_DUP_SUM; rule <= FTB_DUP_COUNT; rule++)
                    for (int format = RAW; format < FORMATS; format++)
                        if (type != FTB_BF16 || format == RAW) /* npz has no such type */
                            check(names[format], &t, (FtB_Dup)rule, count, value);
            }
}

/* A sum of both signs stays, however far its parts go. */
static void only_sums_count(void **state)
{
    const int64_t I[] = {1, 1, 1, 1}, J[] = {2, 2, 2, 2};
    const int8_t X[] = {127, 127, -128, -127};
    FtB_Matrix A;
    FtB_Type type;
    (void)state;
    assert_ok(FtB_Matrix_build(&A, FTB_INT8, 3, 4, 1, 4, I, J, X, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Matrix_write(A, temp_path("sum.csr"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_read(&A, NULL, NULL, temp_path("sum.csr"), NULL));
    assert_ok(FtB_Matrix_shape(A, NULL, NULL, NULL, NULL, &type));
    assert_true(type == FTB_INT8 && value_at(A, 1, 2, 0, 0) == -1);
    FtB_Matrix_free(&A);
}

static void refuse(const char *text, FtB_Type type, FtB_Dup rule, const char *message)
{
    FtB_Matrix A;
    write_string("text", text);
    assert_fails(FTB_FORMAT, message,
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("text"),
                                 FTB_READ_OPTIONS(.type = type, .duplicates = rule)));
    assert_non_null(strstr(FtB_error(), "text: "));
    assert_null(A);
}

#define MTX "%%MatrixMarket matrix coordinate integer general\n3 4 3\n"

/* Texts have 64 bits to begin with, unless less is asked for. */
static void texts(void **state)
{
    (void)state;
    refuse(MTX "1 1 1\n2 3 9223372036854775807\n2 3 1\n", 0, FTB_DUP_SUM,
           "the sum of the entries at (1, 2) is beyond int64");
    refuse("1,1,1\n2,3,-9223372036854775807\n2,3,-2\n", 0, FTB_DUP_SUM,
           "the sum of the entries at (1, 1) is beyond int64");
    refuse(MTX "1 1 1\n2 3 100\n2 3 100\n", FTB_INT8, FTB_DUP_SUM,
           "the sum of the entries at (1, 2) is beyond int8");
    refuse("1,1,1\n2,3,9\n2,3,8\n", FTB_BOOL, FTB_DUP_COUNT,
           "the number of the entries at (1, 1) is beyond bool");
}

static void of_an_asked_type(void **state)
{
    static twins t;
    FtB_Matrix A;
    (void)state;
    fill(&t, FTB_INT16, 2, 100);
    write_all(&t, 2);
    for (int format = RAW; format < FORMATS; format++) {
        assert_fails(
            FTB_FORMAT, "(1, 2) is beyond int8",
            FtB_Matrix_read(&A, NULL, NULL, temp_path(names[format]), FTB_READ_OPTIONS(.type = FTB_INT8)));
        assert_non_null(strstr(FtB_error(), names[format]));
        assert_fails(GrB_INVALID_VALUE, "duplicates are refused",
                     FtB_Matrix_read(&A, NULL, NULL, temp_path(names[format]),
                                     FTB_READ_OPTIONS(.duplicates = FTB_DUP_ERROR)));
        assert_non_null(strstr(FtB_error(), names[format]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_type_rule_and_format),
                                       cmocka_unit_test(only_sums_count), cmocka_unit_test(texts),
                                       cmocka_unit_test(of_an_asked_type)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
