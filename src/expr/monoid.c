/* Monoids and reducers, by name and by type (semirings/monoids.def). */
#include "expr/grb.h"
#include "expr/scalar.h"

#include <math.h>

typedef enum value_kind { ZERO, ONE, LEAST, MOST } value_kind;
typedef enum domain { WRAP, ORDER, LOGIC } domain;

static const struct {
    const char *name;
    value_kind identity;
    domain domain;
    bool idempotent;
} rows[FTB_NMONOIDS] = {
#define FTB_MONOID(id, name, identity, idempotent, rule, combine, summary)                                   \
    [FTB_##id] = {name, identity, rule, idempotent},
#include "monoids.def"
#undef FTB_MONOID
};

static const struct {
    const char *name;
    ftb_reducer reducer;
} finished[] = {
    {"mean", {FTB_PLUS, true, false}},
    {"argmin", {FTB_MIN, false, true}},
    {"argmax", {FTB_MAX, false, true}},
};

static bool equals(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

GrB_Info ftb_reducer_parse(ftb_reducer *r, const char *name, size_t length)
{
    for (ftb_monoid m = 0; m < FTB_NMONOIDS; m++)
        if (equals(rows[m].name, name, length)) {
            *r = (ftb_reducer){.monoid = m};
            return GrB_SUCCESS;
        }
    for (size_t f = 0; f < sizeof finished / sizeof *finished; f++)
        if (equals(finished[f].name, name, length)) {
            *r = finished[f].reducer;
            return GrB_SUCCESS;
        }
    return ftb_fail(GrB_INVALID_VALUE,
                    "unknown reducer '%.*s'; known: plus, times, min, max, any, or, and, xor, xnor, mean, "
                    "argmin, argmax",
                    (int)ftb_min(length, 40U), name);
}

const char *ftb_monoid_name(ftb_monoid m) { return rows[m].name; }
bool ftb_monoid_idempotent(ftb_monoid m) { return rows[m].idempotent; }

FtB_Type ftb_monoid_type(ftb_monoid m, FtB_Type t)
{
    if (rows[m].domain == LOGIC)
        return FTB_BOOL;
    return rows[m].domain == WRAP && t == FTB_BOOL ? FTB_INT64 : t;
}

static void set_integer(FtB_Type t, int64_t integer, void *value)
{
    if (t == FTB_BOOL)
        *(uint8_t *)value = (uint8_t)integer;
    else
        *(int64_t *)value = integer;
}

static void set_real(FtB_Type t, double real, void *value)
{
    if (t == FTB_FP32)
        *(float *)value = (float)real;
    else
        *(double *)value = real;
}

void ftb_monoid_identity(ftb_monoid m, FtB_Type t, void *value)
{
    const value_kind kind = rows[m].identity;
    bool real = t == FTB_FP32 || t == FTB_FP64;
    int64_t least = t == FTB_INT64 ? INT64_MIN : 0;
    int64_t most = t == FTB_INT64 ? INT64_MAX : t == FTB_BOOL ? 1 : -1; /* -1: all bits of a UINT64 */
    if (real)
        set_real(t, kind == LEAST ? -HUGE_VAL : kind == MOST ? HUGE_VAL : kind == ONE, value);
    else
        set_integer(t, kind == LEAST ? least : kind == MOST ? most : kind == ONE, value);
}

GrB_Info ftb_arg_monoid(ftb_monoid *m, FtB_Type *type, FtB_Arg arg, const char *name)
{
    *type = (FtB_Type)0;
    if (arg.kind == FTB_KIND_GRB_MONOID)
        return ftb_monoid_from_grb(m, type, (GrB_Monoid)(uintptr_t)arg.handle);
    if (arg.kind != FTB_KIND_TEXT)
        return ftb_fail(arg.kind == FTB_KIND_NONE ? GrB_NULL_POINTER : GrB_INVALID_VALUE,
                        "%s: expected the name of a monoid, such as \"plus\", or a GrB_Monoid", name);
    ftb_reducer reducer;
    const char *text = arg.handle;
    GrB_Info info = ftb_reducer_parse(&reducer, text, strlen(text));
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "%s: ", name);
    if (reducer.mean || reducer.arg)
        return ftb_fail(GrB_INVALID_VALUE, "%s: '%s' is a reducer of products, not a monoid", name, text);
    *m = reducer.monoid;
    return GrB_SUCCESS;
}
