/* Says in text what GraphBLAS's built-in objects compute; core/graphblas knows them by their handles.
 *
 * One row below per operator; a semiring is a monoid, an operator and a type. The meaning stays GraphBLAS's:
 * inputs are cast to the domain first, integers have its width, division of integers cuts off, and BOOL has
 * no arithmetic (plus is or, times is and). What a sum or product of integers overflows to is left to the
 * cast of the result: it is the same modulo 2^width. */
#include "expr/grb.h"
#include "core/graphblas/bridge.h"

/* How the result of a message gets back to the domain's width. */
typedef enum kind {
    KEEP,    /* already a value of the domain */
    RING,    /* + - *: may leave an integer domain; sums and products of such agree modulo 2^width */
    TRUTH,   /* BOOL, to be read as a value of the domain */
    BITS,    /* of integers only */
    COMPARE, /* a truth: the result is BOOL */
    INDEX    /* of a semiring only: text over i, j and k (the inner index) */
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
    X(LXNOR, "", "x == y", COMPARE)                                                                          \
    X(FIRSTI, "i", "", INDEX)                                                                                \
    X(FIRSTI1, "i + 1", "", INDEX)                                                                           \
    X(FIRSTJ, "k", "", INDEX)                                                                                \
    X(FIRSTJ1, "k + 1", "", INDEX)                                                                           \
    X(SECONDI, "k", "", INDEX)                                                                               \
    X(SECONDI1, "k + 1", "", INDEX)                                                                          \
    X(SECONDJ, "j", "", INDEX)                                                                               \
    X(SECONDJ1, "j + 1", "", INDEX)
/* clang-format on */

static const struct {
    const char *text, *truth;
    kind kind; /* of the result */
} operators[] = {
#define ROW(id, text, truth, kind) [FTB_GRB_##id] = {text, truth, kind},
    OPERATORS(ROW)
#undef ROW
};

/* The monoid of an operator, one of those that have one. */
static ftb_monoid monoid_of(int op)
{
    static const ftb_monoid monoids[] = {
        [FTB_GRB_PLUS] = FTB_PLUS, [FTB_GRB_TIMES] = FTB_TIMES, [FTB_GRB_MIN] = FTB_MIN,
        [FTB_GRB_MAX] = FTB_MAX,   [FTB_GRB_ANY] = FTB_ANY,     [FTB_GRB_LOR] = FTB_OR,
        [FTB_GRB_LAND] = FTB_AND,  [FTB_GRB_LXOR] = FTB_XOR,    [FTB_GRB_LXNOR] = FTB_XNOR,
        [FTB_GRB_EQ] = FTB_XNOR};
    return monoids[op];
}

/* The row of a handle. `name` names the argument, `what` its kind. */
static GrB_Info find(const ftb_grb_row **row, FtB_Kind of, const void *handle, const char *name,
                     const char *what)
{
    const ftb_grb_table *table;
    GrB_Info info = ftb_grb_table_of(&table, of);
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "%s%s%s: ", name, *name ? " is a " : "", what);
    int64_t at = ftb_grb_find(table, handle);
    if (at < 0)
        return ftb_fail(GrB_DOMAIN_MISMATCH,
                        "%s%sthis %s is none of the built-in ones that are known here (docs/semirings.md "
                        "lists them)",
                        name, *name ? ": " : "", what);
    *row = &table->rows[at];
    return GrB_SUCCESS;
}

GrB_Info ftb_monoid_from_grb(ftb_monoid *m, FtB_Type *type, GrB_Monoid monoid)
{
    const ftb_grb_row *row = NULL;
    GrB_Info info = find(&row, FTB_KIND_GRB_MONOID, monoid, "", "GrB_Monoid");
    if (info != GrB_SUCCESS)
        return info;
    *m = monoid_of(row->add);
    *type = (FtB_Type)row->type;
    return GrB_SUCCESS;
}

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
    } else if (integer && (op == FTB_GRB_DIV || op == FTB_GRB_RDIV)) {
        put_division(w, type, op == FTB_GRB_DIV ? x : y, op == FTB_GRB_DIV ? y : x);
    } else if (back == TRUTH || (integer && (back == BITS || (back == RING && exact)))) {
        put(w, FtB_Type_name(type));
        put(w, "(");
        put_named(w, operators[op].text, x, y);
        put(w, ")");
    } else {
        put_named(w, operators[op].text, x, y);
    }
}

static void put_semiring(writer *w, const ftb_grb_row *row)
{
    ftb_monoid monoid = monoid_of(row->add);
    FtB_Type type = (FtB_Type)row->type;
    bool ring = monoid == FTB_PLUS || monoid == FTB_TIMES;
    bool unsigned_type = type >= FTB_UINT8 && type <= FTB_UINT64;
    put(w, ftb_monoid_name(monoid));
    put(w, " : ");
    if (operators[row->multiply].kind == INDEX)
        put(w, operators[row->multiply].text);
    else
        put_operator(w, row->multiply, type, !ring || unsigned_type, "a", "b");
}

GrB_Info ftb_semiring_from_grb(char *text, FtB_Type *domain, GrB_Semiring semiring, const char *name)
{
    const ftb_grb_row *row = NULL;
    GrB_Info info = find(&row, FTB_KIND_GRB_SEMIRING, semiring, name, "GrB_Semiring");
    if (info != GrB_SUCCESS)
        return info;
    writer w = {text, 0};
    *domain = (FtB_Type)row->type;
    put_semiring(&w, row);
    return GrB_SUCCESS;
}

GrB_Info ftb_op_from_grb(char *text, FtB_Type *domain, GrB_BinaryOp op, const char *name)
{
    const ftb_grb_row *row = NULL;
    GrB_Info info = find(&row, FTB_KIND_GRB_BINARY, op, name, "GrB_BinaryOp");
    if (info != GrB_SUCCESS)
        return info;
    writer w = {text, 0};
    *domain = (FtB_Type)row->type;
    put_operator(&w, row->multiply, *domain, true, "x", "y");
    return GrB_SUCCESS;
}
