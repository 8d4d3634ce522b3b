/* Products by definition, and the semirings that the tests draw from. */
#include "oracle/ref_handles.h"

#include "support/check.h"

#include "oracle/ref_mxm.h"

#include <stdlib.h>

/* ---- messages */

static ref_number a_of(const ref_pair *p, int64_t f) { return p->a[p->width_a > 1 ? f : 0]; }
static ref_number b_of(const ref_pair *p, int64_t f) { return p->b[p->width_b > 1 ? f : 0]; }

#define MESSAGE(name, value)                                                                                 \
    static void name(ref_number *z, const ref_pair *p, int64_t width)                                        \
    {                                                                                                        \
        (void)p;                                                                                             \
        for (int64_t f = 0; f < width; f++)                                                                  \
            z[f] = value;                                                                                    \
    }
MESSAGE(product, ref_multiply(a_of(p, f), b_of(p, f)))
MESSAGE(sum, ref_add(a_of(p, f), b_of(p, f)))
MESSAGE(difference, ref_subtract(a_of(p, f), b_of(p, f)))
MESSAGE(one, ref_integer(1))
MESSAGE(left, a_of(p, f))
MESSAGE(right, b_of(p, f))
MESSAGE(least, ref_least(a_of(p, f), b_of(p, f)))
MESSAGE(greatest, ref_greatest(a_of(p, f), b_of(p, f)))
MESSAGE(share, ref_divide(a_of(p, f), ref_add(ref_multiply(b_of(p, f), b_of(p, f)), ref_integer(2))))
MESSAGE(quarter, ref_divide(ref_subtract(a_of(p, f), b_of(p, f)), ref_integer(4)))
MESSAGE(one_or_two, ref_integer(ref_less(b_of(p, f), a_of(p, f)) ? 2 : 1))
MESSAGE(is_greater, ref_integer(ref_less(b_of(p, f), a_of(p, f))))
MESSAGE(is_at_most, ref_integer(!ref_less(b_of(p, f), a_of(p, f))))
MESSAGE(is_other, ref_integer(ref_less(a_of(p, f), b_of(p, f)) || ref_less(b_of(p, f), a_of(p, f))))
MESSAGE(both, ref_integer(ref_true(a_of(p, f)) && ref_true(b_of(p, f))))
MESSAGE(either, ref_integer(ref_true(a_of(p, f)) || ref_true(b_of(p, f))))
MESSAGE(places, ref_integer(3 * p->i + 5 * p->j - 7 * p->k))
MESSAGE(degrees, ref_integer(p->di + 100 * p->dj - 10 * p->dk))
MESSAGE(inner, ref_integer(p->k))
MESSAGE(harmonic, ref_divide(ref_multiply(a_of(p, f), b_of(p, f)),
                             ref_add(ref_add(a_of(p, f), b_of(p, f)), ref_integer(20))))
MESSAGE(with_mask, ref_multiply(ref_add(a_of(p, f), b_of(p, f)), p->m))
#undef MESSAGE

static void six(ref_number *z, const ref_pair *p, int64_t width)
{
    ref_number a = *p->a, b = *p->b;
    const ref_number values[6] = {ref_integer(1),    a, b, ref_multiply(a, b), ref_multiply(a, a),
                                  ref_multiply(b, b)};
    for (int64_t f = 0; f < width; f++) /* one dtype for all: real if one is */
        z[f] = a.real || b.real ? ref_real(ref_double(values[f])) : values[f];
}

/* Vectors of the first `width` of these: real if a, b or the quotient is. */
static void vector(ref_number *z, const ref_pair *p, int64_t width, bool quotient)
{
    ref_number a = *p->a, b = *p->b;
    ref_number q = ref_divide(a, ref_add(ref_multiply(b, b), ref_integer(2)));
    const ref_number values[6] = {quotient ? q : ref_multiply(a, b), b, ref_integer(1), a, a, b};
    for (int64_t f = 0; f < width; f++)
        z[f] = a.real || (width > 1 && b.real) || quotient ? ref_real(ref_double(values[f])) : values[f];
}
static void exact_vector(ref_number *z, const ref_pair *p, int64_t width) { vector(z, p, width, false); }
static void rounded_vector(ref_number *z, const ref_pair *p, int64_t width) { vector(z, p, width, true); }

static void dot(ref_number *z, const ref_pair *p, int64_t width)
{
    int64_t features = p->width_a > p->width_b ? p->width_a : p->width_b;
    z[0] = ref_integer(0);
    for (int64_t f = 0; f < features; f++)
        z[0] = ref_add(z[0], ref_multiply(a_of(p, f), b_of(p, f)));
    for (int64_t f = 1; f < width; f++)
        z[f] = z[0];
}

/* ---- the table */

static const ref_semiring texts[] = {
    {"plus : a * b", NULL, 0, REF_PLUS, 0, false, false, false, product},
    {"plus : 1", NULL, 0, REF_PLUS, 1, false, false, false, one},
    {"any : 1", NULL, 0, REF_ANY, 1, false, false, false, one},
    {"plus : a", NULL, 0, REF_PLUS, 0, false, true, false, left},
    {"min : a + b", NULL, 0, REF_MIN, 0, false, false, false, sum},
    {"max : min(a, b)", NULL, 0, REF_MAX, 0, false, false, false, least},
    {"min : max(a, b)", NULL, 0, REF_MIN, 0, false, false, false, greatest},
    {"max : a - b", NULL, 0, REF_MAX, 0, false, false, false, difference},
    {"plus : a / (b * b + 2)", NULL, 0, REF_PLUS, 0, true, false, false, share},
    {"plus : (a - b) / 4", NULL, 0, REF_PLUS, 0, false, false, false, quarter},
    {"times : a > b ? 2 : 1", NULL, 0, REF_TIMES, 0, false, false, false, one_or_two},
    {"mean : a - b", NULL, 0, REF_MEAN, 0, true, false, false, difference},
    {"or : a > b", NULL, 0, REF_OR, 0, false, false, false, is_greater},
    {"and : a <= b", NULL, 0, REF_AND, 0, false, false, false, is_at_most},
    {"xor : a != b", NULL, 0, REF_XOR, 0, false, false, false, is_other},
    {"plus : a > b", NULL, 0, REF_PLUS, 0, false, false, false, is_greater},
    {"plus : 3 * i + 5 * j - 7 * k", NULL, 0, REF_PLUS, 1, false, false, false, places},
    {"max : di + 100 * dj - 10 * dk", NULL, 0, REF_MAX, 1, false, false, false, degrees},
    {"min : k", NULL, 0, REF_MIN, 1, false, false, false, inner},
    {"plus : [1, a, b, a * b, a * a, b * b]", NULL, 0, REF_PLUS, 6, false, true, false, six},
    {"plus : dot(a, b)", NULL, 0, REF_PLUS, 1, false, false, false, dot},
    {"plus : (a + b) * m", NULL, 0, REF_PLUS, 0, false, true, true, with_mask},
    {"plus : [a * b, b]", NULL, 0, REF_PLUS, 2, false, true, false, exact_vector},
    {"plus : [a * b, b, 1, a]", NULL, 0, REF_PLUS, 4, false, true, false, exact_vector},
    {"plus : [a / (b * b + 2), b]", NULL, 0, REF_PLUS, 2, true, true, false, rounded_vector},
    {"plus : [a / (b * b + 2), b, 1]", NULL, 0, REF_PLUS, 3, true, true, false, rounded_vector},
    {"plus : [a / (b * b + 2), b, 1, a, a, b]", NULL, 0, REF_PLUS, 6, true, true, false, rounded_vector},
    {"plus : a * b / (a + b + 20)", NULL, 0, REF_PLUS, 0, true, false, false, harmonic},
};
#define TEXTS ((int)(sizeof texts / sizeof *texts))

/* X(type) for the types that GraphBLAS's arithmetic semirings have. */
#define TYPES(X, ...)                                                                                        \
    X(INT8, __VA_ARGS__)                                                                                     \
    X(INT16, __VA_ARGS__)                                                                                    \
    X(INT32, __VA_ARGS__)                                                                                    \
    X(INT64, __VA_ARGS__)                                                                                    \
    X(UINT8, __VA_ARGS__)                                                                                    \
    X(UINT16, __VA_ARGS__)                                                                                   \
    X(UINT32, __VA_ARGS__)                                                                                   \
    X(UINT64, __VA_ARGS__)                                                                                   \
    X(FP32, __VA_ARGS__)                                                                                     \
    X(FP64, __VA_ARGS__)
/* X(monoid, operator, message) */
#define ARITHMETIC(X)                                                                                        \
    TYPES(X, PLUS, TIMES, product)                                                                           \
    TYPES(X, PLUS, MIN, least)                                                                               \
    TYPES(X, MIN, PLUS, sum)                                                                                 \
    TYPES(X, MIN, TIMES, product)                                                                            \
    TYPES(X, MIN, FIRST, left)                                                                               \
    TYPES(X, MIN, SECOND, right)                                                                             \
    TYPES(X, MIN, MAX, greatest)                                                                             \
    TYPES(X, MAX, PLUS, sum)                                                                                 \
    TYPES(X, MAX, TIMES, product)                                                                            \
    TYPES(X, MAX, FIRST, left)                                                                               \
    TYPES(X, MAX, SECOND, right)                                                                             \
    TYPES(X, MAX, MIN, least)
#define COUNT(type, add, multiply, f) +1
enum { BUILT_IN = 4 ARITHMETIC(COUNT) };

static ref_semiring built_in(int which)
{
    int at = 0;
#define PICK(type, add, multiply, f)                                                                         \
    if (which == at++)                                                                                       \
        return (ref_semiring){NULL,       REF_HANDLE(GrB_##add##_##multiply##_SEMIRING_##type),              \
                              FTB_##type, REF_##add,                                                         \
                              0,          false,                                                             \
                              false,      false,                                                             \
                              f};
    ARITHMETIC(PICK)
    const ref_semiring truths[4] = {
        {NULL, REF_HANDLE(GrB_LOR_LAND_SEMIRING_BOOL), FTB_BOOL, REF_OR, 0, false, false, false, both},
        {NULL, REF_HANDLE(GrB_LAND_LOR_SEMIRING_BOOL), FTB_BOOL, REF_AND, 0, false, false, false, either},
        {NULL, REF_HANDLE(GrB_LXOR_LAND_SEMIRING_BOOL), FTB_BOOL, REF_XOR, 0, false, false, false, both},
        {NULL, REF_HANDLE(GrB_LXNOR_LOR_SEMIRING_BOOL), FTB_BOOL, REF_XNOR, 0, false, false, false, either}};
    return truths[which - at];
}

int ref_texts(void) { return TEXTS; }
int ref_semirings(void) { return REF_HANDLE(GrB_LOR_LAND_SEMIRING_BOOL) ? TEXTS + BUILT_IN : TEXTS; }
ref_semiring ref_semiring_of(int which) { return which < TEXTS ? texts[which] : built_in(which - TEXTS); }
FtB_Arg ref_semiring_arg(const ref_semiring *s) { return s->text ? FTB_ARG(s->text) : FTB_ARG(s->grb); }

int64_t ref_semiring_width(const ref_semiring *s, int64_t width_a, int64_t width_b)
{
    int64_t widest = width_a > width_b ? width_a : width_b;
    return s->width ? s->width : widest > 0 ? widest : 1;
}

/* ---- three loops */

static ref_number reduce(ref_reducer reducer, ref_number x, ref_number y)
{
    switch (reducer) {
    case REF_TIMES:
        return ref_multiply(x, y);
    case REF_MIN:
        return ref_least(x, y);
    case REF_MAX:
        return ref_greatest(x, y);
    case REF_ANY:
        return x;
    case REF_OR:
        return ref_integer(ref_true(x) || ref_true(y));
    case REF_AND:
        return ref_integer(ref_true(x) && ref_true(y));
    case REF_XOR:
        return ref_integer(ref_true(x) != ref_true(y));
    case REF_XNOR:
        return ref_integer(ref_true(x) == ref_true(y));
    default:
        return ref_add(x, y);
    }
}

static int64_t row_degree(const ref_matrix *A, int64_t i)
{
    int64_t count = 0;
    for (int64_t j = 0; j < A->ncols; j++)
        count += *ref_at(A, i, j);
    return count;
}

static int64_t column_degree(const ref_matrix *A, int64_t j)
{
    int64_t count = 0;
    for (int64_t i = 0; i < A->nrows; i++)
        count += *ref_at(A, i, j);
    return count;
}

/* `to` gets the values of A(i, j) as the semiring sees them. */
static void operand(ref_number *to, const ref_semiring *s, const ref_matrix *A, int64_t i, int64_t j)
{
    for (int64_t f = 0; f < (A->width > 0 ? A->width : 1); f++)
        to[f] = s->domain ? ref_cast(ref_value(A, i, j)[f], s->domain) : ref_value(A, i, j)[f];
}

static void entry(const ref_semiring *s, const ref_matrix *A, const ref_matrix *B, ref_pair *p,
                  const int64_t *inner_degrees, ref_matrix *T, ref_matrix *winner)
{
    ref_number a[REF_WIDEST], b[REF_WIDEST], z[REF_WIDEST], *total = ref_value(T, p->i, p->j);
    int64_t count = 0;
    p->a = a;
    p->b = b;
    for (p->k = 0; p->k < A->ncols; p->k++) {
        if (!*ref_at(A, p->i, p->k) || !*ref_at(B, p->k, p->j))
            continue;
        p->dk = inner_degrees[p->k];
        operand(a, s, A, p->i, p->k);
        operand(b, s, B, p->k, p->j);
        s->message(z, p, T->width);
        bool better = count == 0 || (s->reducer == REF_MIN ? ref_less(*z, *total) : ref_less(*total, *z));
        if (winner && better)
            *ref_value(winner, p->i, p->j) = ref_integer(p->k);
        for (int64_t f = 0; f < T->width; f++) {
            ref_number value = s->domain ? ref_cast(z[f], s->domain) : z[f];
            total[f] = count ? reduce(s->reducer, total[f], value) : value;
            if (s->domain)
                total[f] = ref_cast(total[f], s->domain);
        }
        count++;
    }
    for (int64_t f = 0; count && f < T->width && s->reducer == REF_MEAN; f++)
        total[f] = ref_divide(total[f], ref_integer(count));
    *ref_at(T, p->i, p->j) = count > 0;
    if (winner)
        *ref_at(winner, p->i, p->j) = count > 0;
}

ref_matrix *ref_mxm(const ref_semiring *s, const ref_matrix *A, const ref_matrix *B, const ref_matrix *M,
                    ref_matrix *winner)
{
    ref_matrix *T = ref_new(A->type, A->nrows, B->ncols, ref_semiring_width(s, A->width, B->width));
    int64_t *inner_degrees = calloc((size_t)B->nrows + 1, sizeof *inner_degrees);
    assert_non_null(inner_degrees);
    for (int64_t k = 0; k < B->nrows; k++)
        inner_degrees[k] = row_degree(B, k);
    for (int64_t i = 0; i < A->nrows; i++)
        for (int64_t j = 0; j < B->ncols; j++) {
            ref_pair p = {.width_a = A->width > 0 ? A->width : 1,
                          .width_b = B->width > 0 ? B->width : 1,
                          .i = i,
                          .j = j,
                          .di = row_degree(A, i),
                          .dj = column_degree(B, j),
                          .m = M && *ref_at(M, i, j) ? *ref_value(M, i, j) : ref_integer(1)};
            entry(s, A, B, &p, inner_degrees, T, winner);
        }
    free(inner_degrees);
    return T;
}
