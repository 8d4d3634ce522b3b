/* Recognises GraphBLAS's built-in objects by their handles, and says in text what they compute.
 *
 * One row below per multiplicative operator; a semiring's row is a monoid, an operator and a type. The
 * meaning stays GraphBLAS's: inputs are cast to the domain first, integers have its width, division of
 * integers cuts off, and BOOL has no arithmetic (plus is or, times is and). What a sum or product of
 * integers overflows to is left to the cast of the result: it is the same modulo 2^width. */
#include "expr/grb.h"

/* How the result of a message gets back to the domain's width. */
typedef enum kind {
    KEEP,   /* already a value of the domain */
    RING,   /* + - *: may leave an integer domain; sums and products of such agree modulo 2^width */
    TRUTH,  /* BOOL, to be read as a value of the domain */
    BITS,   /* of integers only */
    COMPARE /* a truth: the result is BOOL */
} kind;

/* clang-format off */
/* id, over x and y, its form for BOOL, kind */
#define OPERATORS(X)                                                                                         \
    X(FIRST, "x", "x", KEEP)                                                                                 \
    X(SECOND, "y", "y", KEEP)                                                                                \
    X(PAIR, "1", "true", KEEP)                                                                               \
    X(ANY, "x", "x", KEEP)                                                                                   \
    X(MIN, "min(x, y)", "x && y", KEEP)                                                                      \
    X(MAX, "max(x, y)", "x || y", KEEP)                                                                      \
    X(PLUS, "x + y", "x || y", RING)                                                                         \
    X(MINUS, "x - y", "x != y", RING)                                                                        \
    X(RMINUS, "y - x", "x != y", RING)                                                                       \
    X(TIMES, "x * y", "x && y", RING)                                                                        \
    X(DIV, "x / y", "x", KEEP)                                                                               \
    X(RDIV, "y / x", "y", KEEP)                                                                              \
    X(ISEQ, "x == y", "x == y", TRUTH)                                                                       \
    X(ISNE, "x != y", "x != y", TRUTH)                                                                       \
    X(ISGT, "x > y", "x > y", TRUTH)                                                                         \
    X(ISLT, "x < y", "x < y", TRUTH)                                                                         \
    X(ISGE, "x >= y", "x >= y", TRUTH)                                                                       \
    X(ISLE, "x <= y", "x <= y", TRUTH)                                                                       \
    X(LOR, "x || y", "x || y", TRUTH)                                                                        \
    X(LAND, "x && y", "x && y", TRUTH)                                                                       \
    X(LXOR, "bool(x) != bool(y)", "x != y", TRUTH)                                                           \
    X(EQ, "x == y", "x == y", COMPARE)                                                                          \
    X(NE, "x != y", "x != y", COMPARE)                                                                          \
    X(GT, "x > y", "x > y", COMPARE)                                                                            \
    X(LT, "x < y", "x < y", COMPARE)                                                                            \
    X(GE, "x >= y", "x >= y", COMPARE)                                                                          \
    X(LE, "x <= y", "x <= y", COMPARE)                                                                          \
    X(BOR, "bitor(x, y)", "", BITS)                                                                          \
    X(BAND, "bitand(x, y)", "", BITS)                                                                        \
    X(BXOR, "bitxor(x, y)", "", BITS)                                                                        \
    X(BXNOR, "-1 - bitxor(x, y)", "", BITS)                                                                  \
    X(LXNOR, "", "x == y", COMPARE)
/* clang-format on */

enum {
#define ENUM(id, text, truth, kind) OP_##id,
    OPERATORS(ENUM)
#undef ENUM
};
static const struct {
    const char *text, *truth;
    kind kind; /* of the result */
} operators[] = {
#define ROW(id, text, truth, kind) {text, truth, kind},
    OPERATORS(ROW)
#undef ROW
};

/* clang-format off */
#define INTEGERS(X, ...)                                                                                     \
    X(INT8, __VA_ARGS__) X(INT16, __VA_ARGS__) X(INT32, __VA_ARGS__) X(INT64, __VA_ARGS__)                   \
    X(UINT8, __VA_ARGS__) X(UINT16, __VA_ARGS__) X(UINT32, __VA_ARGS__) X(UINT64, __VA_ARGS__)
#define TYPES(X, ...) INTEGERS(X, __VA_ARGS__) X(FP32, __VA_ARGS__) X(FP64, __VA_ARGS__)
/* clang-format on */

/* ---- monoids */

typedef struct monoid_row {
    const GrB_Monoid *handle;
    FtB_Type type;
    ftb_monoid monoid;
} monoid_row;

/* clang-format off */
#define MONOID(type, id) {&GrB_##id##_MONOID_##type, FTB_##type, FTB_##id},
#define GXB_MONOID(type, id) {&GxB_##id##_##type##_MONOID, FTB_##type, FTB_##id},
static const monoid_row monoids[] = {
    TYPES(MONOID, PLUS) TYPES(MONOID, TIMES) TYPES(MONOID, MIN) TYPES(MONOID, MAX)
    {&GrB_LOR_MONOID_BOOL, FTB_BOOL, FTB_OR},
    {&GrB_LAND_MONOID_BOOL, FTB_BOOL, FTB_AND},
    {&GrB_LXOR_MONOID_BOOL, FTB_BOOL, FTB_XOR},
    {&GrB_LXNOR_MONOID_BOOL, FTB_BOOL, FTB_XNOR},
#ifdef GxB_IMPLEMENTATION
    TYPES(GXB_MONOID, PLUS) TYPES(GXB_MONOID, TIMES) TYPES(GXB_MONOID, MIN) TYPES(GXB_MONOID, MAX)
    TYPES(GXB_MONOID, ANY) GXB_MONOID(BOOL, ANY)
    {&GxB_LOR_BOOL_MONOID, FTB_BOOL, FTB_OR},
    {&GxB_LAND_BOOL_MONOID, FTB_BOOL, FTB_AND},
    {&GxB_LXOR_BOOL_MONOID, FTB_BOOL, FTB_XOR},
    {&GxB_LXNOR_BOOL_MONOID, FTB_BOOL, FTB_XNOR},
    {&GxB_EQ_BOOL_MONOID, FTB_BOOL, FTB_XNOR},
#endif
};
/* clang-format on */

GrB_Info ftb_monoid_from_grb(ftb_monoid *m, FtB_Type *type, GrB_Monoid monoid)
{
    for (size_t r = 0; r < sizeof monoids / sizeof *monoids; r++)
        if (*monoids[r].handle == monoid) {
            *m = monoids[r].monoid;
            *type = monoids[r].type;
            return GrB_SUCCESS;
        }
    return ftb_fail(GrB_DOMAIN_MISMATCH, "this GrB_Monoid is none of the built-in ones that are known here "
                                         "(docs/semirings.md lists them)");
}

/* ---- binary operators */

typedef struct op_row {
    const GrB_BinaryOp *handle;
    FtB_Type type;
    int op;
} op_row;

/* clang-format off */
#define OP(type, id) {&GrB_##id##_##type, FTB_##type, OP_##id},
#define ONEB_OP(type, id) {&GrB_ONEB_##type, FTB_##type, OP_##id},
#define GXB_OP(type, id) {&GxB_##id##_##type, FTB_##type, OP_##id},
#define ALL(X, id) TYPES(X, id) X(BOOL, id)
static const op_row binary[] = {
    ALL(OP, FIRST) ALL(OP, SECOND) ALL(ONEB_OP, PAIR) ALL(OP, MIN) ALL(OP, MAX)
    ALL(OP, PLUS) ALL(OP, MINUS) ALL(OP, TIMES) ALL(OP, DIV)
    ALL(OP, EQ) ALL(OP, NE) ALL(OP, GT) ALL(OP, LT) ALL(OP, GE) ALL(OP, LE)
    INTEGERS(OP, BOR) INTEGERS(OP, BAND) INTEGERS(OP, BXOR) INTEGERS(OP, BXNOR)
    {&GrB_LOR, FTB_BOOL, OP_LOR},
    {&GrB_LAND, FTB_BOOL, OP_LAND},
    {&GrB_LXOR, FTB_BOOL, OP_LXOR},
    {&GrB_LXNOR, FTB_BOOL, OP_LXNOR},
#ifdef GxB_IMPLEMENTATION
    ALL(GXB_OP, PAIR) ALL(GXB_OP, ANY) ALL(GXB_OP, RMINUS) ALL(GXB_OP, RDIV)
    ALL(GXB_OP, ISEQ) ALL(GXB_OP, ISNE) ALL(GXB_OP, ISGT) ALL(GXB_OP, ISLT) ALL(GXB_OP, ISGE)
    ALL(GXB_OP, ISLE) ALL(GXB_OP, LOR) ALL(GXB_OP, LAND) ALL(GXB_OP, LXOR)
#endif
};
/* clang-format on */

/* ---- semirings */

typedef struct semiring_row {
    const GrB_Semiring *handle;
    FtB_Type type;
    ftb_monoid monoid;
    int op;
} semiring_row;

/* clang-format off */
#define SEMIRING(type, add, multiply)                                                                        \
    {&GrB_##add##_##multiply##_SEMIRING_##type, FTB_##type, FTB_##add, OP_##multiply},
#define GXB_ROW(type, add, monoid, multiply)                                                                 \
    {&GxB_##add##_##multiply##_##type, FTB_##type, monoid, OP_##multiply},
#define GXB_TYPES(multiply)                                                                                  \
    TYPES(GXB_ROW, MIN, FTB_MIN, multiply) TYPES(GXB_ROW, MAX, FTB_MAX, multiply)                            \
    TYPES(GXB_ROW, PLUS, FTB_PLUS, multiply) TYPES(GXB_ROW, TIMES, FTB_TIMES, multiply)                      \
    TYPES(GXB_ROW, ANY, FTB_ANY, multiply)
#define GXB_TRUTHS(multiply)                                                                                 \
    TYPES(GXB_ROW, LOR, FTB_OR, multiply) TYPES(GXB_ROW, LAND, FTB_AND, multiply)                            \
    TYPES(GXB_ROW, LXOR, FTB_XOR, multiply) TYPES(GXB_ROW, EQ, FTB_XNOR, multiply)                           \
    TYPES(GXB_ROW, ANY, FTB_ANY, multiply)
#define GXB_BOOL(multiply)                                                                                   \
    GXB_ROW(BOOL, LOR, FTB_OR, multiply) GXB_ROW(BOOL, LAND, FTB_AND, multiply)                              \
    GXB_ROW(BOOL, LXOR, FTB_XOR, multiply) GXB_ROW(BOOL, EQ, FTB_XNOR, multiply)                             \
    GXB_ROW(BOOL, ANY, FTB_ANY, multiply)
static const semiring_row semirings[] = {
    TYPES(SEMIRING, PLUS, TIMES) TYPES(SEMIRING, PLUS, MIN)
    TYPES(SEMIRING, MIN, PLUS) TYPES(SEMIRING, MIN, TIMES) TYPES(SEMIRING, MIN, MAX)
    TYPES(SEMIRING, MIN, FIRST) TYPES(SEMIRING, MIN, SECOND)
    TYPES(SEMIRING, MAX, PLUS) TYPES(SEMIRING, MAX, TIMES) TYPES(SEMIRING, MAX, MIN)
    TYPES(SEMIRING, MAX, FIRST) TYPES(SEMIRING, MAX, SECOND)
    {&GrB_LOR_LAND_SEMIRING_BOOL, FTB_BOOL, FTB_OR, OP_LAND},
    {&GrB_LAND_LOR_SEMIRING_BOOL, FTB_BOOL, FTB_AND, OP_LOR},
    {&GrB_LXOR_LAND_SEMIRING_BOOL, FTB_BOOL, FTB_XOR, OP_LAND},
    {&GrB_LXNOR_LOR_SEMIRING_BOOL, FTB_BOOL, FTB_XNOR, OP_LOR},
#ifdef GxB_IMPLEMENTATION
    GXB_TYPES(FIRST) GXB_TYPES(SECOND) GXB_TYPES(PAIR) GXB_TYPES(MIN) GXB_TYPES(MAX)
    GXB_TYPES(PLUS) GXB_TYPES(MINUS) GXB_TYPES(RMINUS) GXB_TYPES(TIMES) GXB_TYPES(DIV) GXB_TYPES(RDIV)
    GXB_TYPES(ISEQ) GXB_TYPES(ISNE) GXB_TYPES(ISGT) GXB_TYPES(ISLT) GXB_TYPES(ISGE) GXB_TYPES(ISLE)
    GXB_TYPES(LOR) GXB_TYPES(LAND) GXB_TYPES(LXOR)
    GXB_TRUTHS(EQ) GXB_TRUTHS(NE) GXB_TRUTHS(GT) GXB_TRUTHS(LT) GXB_TRUTHS(GE) GXB_TRUTHS(LE)
    GXB_BOOL(FIRST) GXB_BOOL(SECOND) GXB_BOOL(PAIR) GXB_BOOL(LOR) GXB_BOOL(LAND) GXB_BOOL(LXOR)
    GXB_BOOL(EQ) GXB_BOOL(GT) GXB_BOOL(LT) GXB_BOOL(GE) GXB_BOOL(LE)
#endif
};

#ifdef GxB_IMPLEMENTATION
/* Those whose product is an index: the text over i, j, k (the inner index). */
static const struct {
    const GrB_Semiring *handle;
    ftb_monoid monoid;
    FtB_Type type;
    const char *text;
} positional[] = {
#define INDEX_ROW(add, multiply, type, text) {&GxB_##add##_##multiply##_##type, FTB_##add, FTB_##type, text},
#define INDEX_TYPES(add, multiply, text)                                                                     \
    INDEX_ROW(add, multiply, INT32, text) INDEX_ROW(add, multiply, INT64, text)
#define INDEX(multiply, text)                                                                                \
    INDEX_TYPES(MIN, multiply, text) INDEX_TYPES(MAX, multiply, text) INDEX_TYPES(PLUS, multiply, text)      \
    INDEX_TYPES(TIMES, multiply, text) INDEX_TYPES(ANY, multiply, text)
    INDEX(FIRSTI, "i") INDEX(FIRSTI1, "i + 1") INDEX(FIRSTJ, "k") INDEX(FIRSTJ1, "k + 1")
    INDEX(SECONDI, "k") INDEX(SECONDI1, "k + 1") INDEX(SECONDJ, "j") INDEX(SECONDJ1, "j + 1")
};
#endif
/* clang-format on */

/* ---- text */

static const char *least_of(FtB_Type type)
{
    return type == FTB_INT8    ? "-128"
           : type == FTB_INT16 ? "-32768"
           : type == FTB_INT32 ? "-2147483648"
           : type == FTB_INT64 ? "(-9223372036854775807 - 1)"
                               : "0";
}

static const char *most_of(FtB_Type type)
{
    return type == FTB_INT8     ? "127"
           : type == FTB_INT16  ? "32767"
           : type == FTB_INT32  ? "2147483647"
           : type == FTB_INT64  ? "9223372036854775807"
           : type == FTB_UINT8  ? "255"
           : type == FTB_UINT16 ? "65535"
           : type == FTB_UINT32 ? "4294967295"
                                : "18446744073709551615";
}

typedef struct writer {
    char *text;
    size_t used;
} writer;

static void put(writer *w, const char *text)
{
    int bytes = snprintf(w->text + w->used, FTB_GRB_TEXT - w->used, "%s", text);
    w->used = ftb_min(w->used + (size_t)bytes, (size_t)FTB_GRB_TEXT - 1);
}

/* Writes an operator's text with x and y under other names. */
static void put_named(writer *w, const char *text, const char *x, const char *y)
{
    for (; *text; text++) {
        bool word = text[1] >= 'a' && text[1] <= 'z'; /* the x of max( is inside a word only at its end */
        bool inside = w->used > 0 && w->text[w->used - 1] >= 'a' && w->text[w->used - 1] <= 'z';
        if ((*text == 'x' || *text == 'y') && !word && !inside)
            put(w, *text == 'x' ? x : y);
        else
            put(w, (const char[]){*text, '\0'});
    }
}

/* GraphBLAS's integer division: x / 0 is 0, or the domain's end on x's side. */
static void put_division(writer *w, FtB_Type type, const char *x, const char *y)
{
    const char *const parts[] = {FtB_Type_name(type),
                                 "(",
                                 y,
                                 " == 0 ? (",
                                 x,
                                 " == 0 ? 0 : ",
                                 x,
                                 " > 0 ? ",
                                 most_of(type),
                                 " : ",
                                 least_of(type),
                                 ") : idiv(",
                                 x,
                                 ", ",
                                 y,
                                 "))"};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        put(w, parts[p]);
}

/* An operator of a domain over names x and y. exact: the result must be a value of the domain, where
 * agreeing modulo 2^width is not enough. */
static void put_operator(writer *w, int op, FtB_Type type, bool exact, const char *x, const char *y)
{
    const kind back = operators[op].kind;
    bool integer = ftb_type_integer(type);
    if (type == FTB_BOOL) {
        put_named(w, operators[op].truth, x, y);
    } else if (integer && (op == OP_DIV || op == OP_RDIV)) {
        put_division(w, type, op == OP_DIV ? x : y, op == OP_DIV ? y : x);
    } else if (back == TRUTH || (integer && (back == BITS || (back == RING && exact)))) {
        put(w, FtB_Type_name(type));
        put(w, "(");
        put_named(w, operators[op].text, x, y);
        put(w, ")");
    } else {
        put_named(w, operators[op].text, x, y);
    }
}

static void put_semiring(writer *w, ftb_monoid monoid, FtB_Type type, int op)
{
    bool ring = monoid == FTB_PLUS || monoid == FTB_TIMES;
    bool unsigned_type = type >= FTB_UINT8 && type <= FTB_UINT64;
    put(w, ftb_monoid_name(monoid));
    put(w, " : ");
    put_operator(w, op, type, !ring || unsigned_type, "a", "b");
}

static GrB_Info unknown(const char *name, const char *what)
{
    return ftb_fail(
        GrB_DOMAIN_MISMATCH,
        "%s: this %s is none of the built-in ones that are known here (docs/semirings.md lists them)", name,
        what);
}

GrB_Info ftb_semiring_from_grb(char *text, FtB_Type *domain, GrB_Semiring semiring, const char *name)
{
    writer w = {text, 0};
    for (size_t r = 0; r < sizeof semirings / sizeof *semirings; r++)
        if (*semirings[r].handle == semiring) {
            *domain = semirings[r].type;
            put_semiring(&w, semirings[r].monoid, semirings[r].type, semirings[r].op);
            return GrB_SUCCESS;
        }
#ifdef GxB_IMPLEMENTATION
    for (size_t r = 0; r < sizeof positional / sizeof *positional; r++)
        if (*positional[r].handle == semiring) {
            *domain = positional[r].type;
            put(&w, ftb_monoid_name(positional[r].monoid));
            put(&w, " : ");
            put(&w, positional[r].text);
            return GrB_SUCCESS;
        }
#endif
    return unknown(name, "GrB_Semiring");
}

GrB_Semiring ftb_grb_semiring(int64_t at)
{
    const int64_t count = (int64_t)(sizeof semirings / sizeof *semirings);
    if (at < count)
        return *semirings[at].handle;
#ifdef GxB_IMPLEMENTATION
    if (at - count < (int64_t)(sizeof positional / sizeof *positional))
        return *positional[at - count].handle;
#endif
    return NULL;
}

GrB_Info ftb_op_from_grb(char *text, FtB_Type *domain, GrB_BinaryOp op, const char *name)
{
    writer w = {text, 0};
    for (size_t r = 0; r < sizeof binary / sizeof *binary; r++)
        if (*binary[r].handle == op) {
            *domain = binary[r].type;
            put_operator(&w, binary[r].op, binary[r].type, true, "x", "y");
            return GrB_SUCCESS;
        }
    return unknown(name, "GrB_BinaryOp");
}
