/* Dense arrays with presence flags: the oracles' matrices, numbers and write rule. */
#include "oracle/ref_handles.h"

#include "support/check.h"

#include "oracle/ref_dense.h"

#include <math.h>
#include <stdlib.h>

#include "core/core.h"
#include "support/compare.h"

/* ---- numbers */

ref_number ref_integer(int64_t x) { return (ref_number){false, x, 0}; }
ref_number ref_real(double x) { return (ref_number){true, 0, x}; }
double ref_double(ref_number x) { return x.real ? x.number : (double)x.integer; }
bool ref_true(ref_number x) { return x.real ? x.number != 0 : x.integer != 0; }

static ref_number wrap(ref_number x, int bits, bool is_signed)
{
    __int128 size = (__int128)1 << bits, low = x.integer % size;
    if (low < 0)
        low += size;
    if (is_signed && low >= size / 2)
        low -= size;
    return (ref_number){false, low, 0};
}

static ref_number saturate(double x, int bits, bool is_signed)
{
    __int128 size = (__int128)1 << bits;
    __int128 least = is_signed ? -size / 2 : 0, most = is_signed ? size / 2 - 1 : size - 1;
    ref_number result = {false, 0, 0};
    if (isnan(x))
        return result;
    result.integer = x <= (double)least ? least : x >= (double)most ? most : (__int128)x;
    return result;
}

ref_number ref_cast(ref_number x, FtB_Type type)
{
    int bits = 8 * (int)FtB_Type_size(type);
    bool is_signed = type >= FTB_INT8 && type <= FTB_INT64;
    if (type == FTB_BOOL)
        return ref_integer(ref_true(x));
    if (type == FTB_FP64)
        return ref_real(ref_double(x));
    if (type == FTB_FP32)
        return ref_real(x.real ? (float)x.number : (float)x.integer);
    if (type == FTB_FP16 || type == FTB_BF16) { /* the one conversion taken from the library */
        double value = ref_double(x);
        uint16_t stored;
        ftb_cast(&stored, type, &value, FTB_FP64, 1);
        return ref_real(ftb_get_real(&stored, type, 0));
    }
    return x.real ? saturate(x.number, bits, is_signed) : wrap(x, bits, is_signed);
}

/* Sums and products wrap, as the library's do: UINT64 products leave even 128 bits. */
ref_number ref_add(ref_number x, ref_number y)
{
    if (x.real || y.real)
        return ref_real(ref_double(x) + ref_double(y));
    return (ref_number){false, (__int128)((unsigned __int128)x.integer + (unsigned __int128)y.integer), 0};
}

ref_number ref_subtract(ref_number x, ref_number y)
{
    if (x.real || y.real)
        return ref_real(ref_double(x) - ref_double(y));
    return (ref_number){false, (__int128)((unsigned __int128)x.integer - (unsigned __int128)y.integer), 0};
}

ref_number ref_multiply(ref_number x, ref_number y)
{
    if (x.real || y.real)
        return ref_real(ref_double(x) * ref_double(y));
    return (ref_number){false, (__int128)((unsigned __int128)x.integer * (unsigned __int128)y.integer), 0};
}

ref_number ref_divide(ref_number x, ref_number y) { return ref_real(ref_double(x) / ref_double(y)); }

bool ref_less(ref_number x, ref_number y)
{
    if (x.real || y.real)
        return ref_double(x) < ref_double(y);
    return x.integer < y.integer;
}

static ref_number common(ref_number x, bool real) { return real ? ref_real(ref_double(x)) : x; }

ref_number ref_least(ref_number x, ref_number y)
{
    bool real = x.real || y.real;
    if (real && isnan(ref_double(x)))
        return common(y, real);
    return common(ref_less(y, x) ? y : x, real);
}

ref_number ref_greatest(ref_number x, ref_number y)
{
    bool real = x.real || y.real;
    if (real && isnan(ref_double(x)))
        return common(y, real);
    return common(ref_less(x, y) ? y : x, real);
}

/* ---- matrices */

static int64_t wide(int64_t width) { return width > 0 ? width : 1; }

static void *zeros(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    assert_non_null(p);
    return p;
}

ref_matrix *ref_new(FtB_Type type, int64_t nrows, int64_t ncols, int64_t width)
{
    ref_matrix *R = zeros(1, sizeof *R);
    *R = (ref_matrix){type,
                      nrows,
                      ncols,
                      width,
                      zeros(nrows * ncols, sizeof *R->present),
                      zeros(nrows * ncols * wide(width), sizeof *R->values)};
    return R;
}

void ref_free(ref_matrix *R)
{
    if (!R)
        return;
    free(R->present);
    free(R->values);
    free(R);
}

static ref_number stored(const void *values, FtB_Type type, int64_t at)
{
    if (ftb_type_float(type))
        return ref_real(ftb_get_real(values, type, at));
    int64_t x = ftb_get_integer(values, type, at);
    return (ref_number){false, type == FTB_UINT64 ? (__int128)(uint64_t)x : (__int128)x, 0};
}

ref_matrix *ref_read(FtB_Matrix A, bool transpose)
{
    int64_t nrows, ncols, width;
    FtB_Type type;
    const int64_t *rowptr;
    const void *colidx, *values;
    assert_ok(FtB_Matrix_shape(A, &nrows, &ncols, NULL, &width, &type));
    assert_ok(FtB_Matrix_csr(A, &rowptr, &colidx, &values));
    ref_matrix *R = transpose ? ref_new(type, ncols, nrows, width) : ref_new(type, nrows, ncols, width);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            int64_t j = ((const int32_t *)colidx)[e];
            ref_number *to = transpose ? ref_value(R, j, i) : ref_value(R, i, j);
            *(transpose ? ref_at(R, j, i) : ref_at(R, i, j)) = true;
            for (int64_t f = 0; f < wide(width); f++)
                to[f] = width ? stored(values, type, e * width + f) : ref_integer(1);
        }
    return R;
}

/* Stores a number as `type`. */
static void put(void *values, FtB_Type type, int64_t at, ref_number x)
{
    char *to = (char *)values + (size_t)at * FtB_Type_size(type);
    x = ref_cast(x, type);
    uint64_t bits = (uint64_t)x.integer;
    float single = (float)x.number;
    if (type == FTB_FP64)
        memcpy(to, &x.number, 8);
    else if (type == FTB_FP32)
        memcpy(to, &single, 4);
    else if (x.real)
        ftb_cast(to, type, &x.number, FTB_FP64, 1);
    else
        memcpy(to, &bits, FtB_Type_size(type)); /* little-endian: the low bytes */
}

FtB_Matrix ref_build(const ref_matrix *R)
{
    int64_t room = R->nrows * R->ncols, count = 0;
    int64_t *I = zeros(room, sizeof *I), *J = zeros(room, sizeof *J);
    void *X = zeros(room * wide(R->width), 8);
    for (int64_t i = 0; i < R->nrows; i++)
        for (int64_t j = 0; j < R->ncols; j++) {
            if (!*ref_at(R, i, j))
                continue;
            I[count] = i;
            J[count] = j;
            for (int64_t f = 0; f < R->width; f++)
                put(X, R->type, count * R->width + f, ref_value(R, i, j)[f]);
            count++;
        }
    FtB_Matrix A;
    assert_ok(
        FtB_Matrix_build(&A, R->type, R->nrows, R->ncols, R->width, count, I, J, X, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

static void check_value(FtB_Matrix A, int64_t e, ref_number expected, double tolerance, const char *what)
{
    ref_number found = stored(matrix_values(A), A->type, e);
    double x = ref_double(found), y = ref_double(expected);
    bool same = found.real ? x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance * fmax(1, fabs(y))
                           : found.integer == expected.integer;
    if (!same)
        fail_msg("%s: value %lld is %.17g, expected %.17g", what, (long long)e, x, y);
}

void ref_check(FtB_Matrix A, const ref_matrix *R, double tolerance, const char *what)
{
    const ftb_pattern *p = A->pattern;
    if (p->nrows != R->nrows || p->ncols != R->ncols || A->width != R->width || A->type != R->type)
        fail_msg("%s: %lld x %lld of width %lld and dtype %s, expected %lld x %lld, %lld, %s", what,
                 (long long)p->nrows, (long long)p->ncols, (long long)A->width, FtB_Type_name(A->type),
                 (long long)R->nrows, (long long)R->ncols, (long long)R->width, FtB_Type_name(R->type));
    assert_valid(A, false);
    for (int64_t i = 0; i < R->nrows; i++) {
        int64_t e = p->rowptr[i];
        for (int64_t j = 0; j < R->ncols; j++) {
            bool here = e < p->rowptr[i + 1] && ftb_col(p, e) == j;
            if (here != *ref_at(R, i, j))
                fail_msg("%s: (%lld, %lld) is %s", what, (long long)i, (long long)j,
                         here ? "there" : "missing");
            for (int64_t f = 0; here && f < R->width; f++)
                check_value(A, e * R->width + f, ref_cast(ref_value(R, i, j)[f], R->type), tolerance, what);
            e += here;
        }
    }
}

/* ---- descriptors and operators */

ref_flags ref_flags_of(int which)
{
    ref_flags flags = {which & 1, which & 2, which & 4, which & 8, which & 16, NULL, NULL};
#define MATCH(name, r, s, c, t0, t1)                                                                         \
    if (which == (r) + 2 * (s) + 4 * (c) + 8 * (t0) + 16 * (t1)) {                                           \
        flags.descriptor = FTB_DESC_##name;                                                                  \
        flags.grb = REF_HANDLE(GrB_DESC_##name);                                                             \
    }
    FTB_DESCRIPTORS(MATCH)
#undef MATCH
    return flags;
}

static ref_number first(ref_number x, ref_number y) { return y.real ? x : x; }
static ref_number second(ref_number x, ref_number y) { return x.real ? y : y; }
static ref_number less(ref_number x, ref_number y) { return ref_integer(ref_less(x, y)); }
static ref_number either(ref_number x, ref_number y) { return ref_integer(ref_true(x) || ref_true(y)); }
static ref_number twice(ref_number x, ref_number y) { return ref_add(ref_multiply(x, ref_integer(2)), y); }
static ref_number halves(ref_number x, ref_number y) { return ref_divide(ref_add(x, y), ref_integer(2)); }

enum { TEXTS = 4, OPS = 10 };

int ref_ops(void) { return REF_HANDLE(GrB_LOR) ? OPS : TEXTS; }

const ref_op *ref_op_of(int which)
{
    static ref_op ops[OPS];
    ops[0] = (ref_op){"x + y", NULL, 0, ref_add};
    ops[1] = (ref_op){"x * 2 + y", NULL, 0, twice};
    ops[2] = (ref_op){"max(x, y)", NULL, 0, ref_greatest};
    ops[3] = (ref_op){"(x + y) / 2", NULL, 0, halves};
    ops[4] = (ref_op){NULL, REF_HANDLE(GrB_PLUS_FP64), FTB_FP64, ref_add};
    ops[5] = (ref_op){NULL, REF_HANDLE(GrB_MIN_INT32), FTB_INT32, ref_least};
    ops[6] = (ref_op){NULL, REF_HANDLE(GrB_FIRST_INT8), FTB_INT8, first};
    ops[7] = (ref_op){NULL, REF_HANDLE(GrB_SECOND_FP32), FTB_FP32, second};
    ops[8] = (ref_op){NULL, REF_HANDLE(GrB_LT_INT64), FTB_INT64, less};
    ops[9] = (ref_op){NULL, REF_HANDLE(GrB_LOR), FTB_BOOL, either};
    return &ops[which];
}

FtB_Arg ref_op_arg(const ref_op *op)
{
    if (!op)
        return FTB_ARG(NULL);
    return op->text ? FTB_ARG(op->text) : FTB_ARG(op->grb);
}

ref_number ref_op_apply(const ref_op *op, ref_number x, ref_number y)
{
    if (!op->domain)
        return op->f(x, y);
    return ref_cast(op->f(ref_cast(x, op->domain), ref_cast(y, op->domain)), op->domain);
}

/* ---- the write rule */

bool ref_mask(const ref_matrix *M, const ref_flags *flags, int64_t i, int64_t j)
{
    bool yes = true;
    if (M)
        yes = *ref_at(M, i, j) && (flags->structural || M->width == 0 || ref_true(*ref_value(M, i, j)));
    return yes != flags->complement;
}

ref_matrix *ref_write(const ref_matrix *C, const ref_matrix *M, const ref_flags *flags, const ref_op *accum,
                      const ref_matrix *T)
{
    ref_matrix *R = ref_new(C->type, C->nrows, C->ncols, T->width);
    for (int64_t i = 0; i < C->nrows; i++)
        for (int64_t j = 0; j < C->ncols; j++) {
            bool c = *ref_at(C, i, j), t = *ref_at(T, i, j);
            bool admitted = ref_mask(M, flags, i, j);
            bool from_t = admitted && t, from_c = c && (admitted ? accum != NULL : !flags->replace);
            *ref_at(R, i, j) = from_t || from_c;
            for (int64_t f = 0; f < wide(T->width) && (from_t || from_c); f++) {
                ref_number x = ref_value(C, i, j)[f < wide(C->width) ? f : 0], y = ref_value(T, i, j)[f];
                ref_number z = from_t && from_c ? ref_op_apply(accum, x, y) : from_t ? y : x;
                ref_value(R, i, j)[f] = ref_cast(z, C->type);
            }
        }
    return R;
}
