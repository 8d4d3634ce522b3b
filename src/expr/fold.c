/* Constant folding: one code over constants, evaluated by the forms that kernels are made of, so that a value
 * has the bits that it would have had in the loop. */
#include "expr/program.h"

#define ARGUMENT(name, type, n)                                                                              \
    type name;                                                                                               \
    memcpy(&name, v[n], sizeof name)
#define LOOP1(name, type, result, form)                                                                      \
    static void name(void *out, const void *const *v)                                                        \
    {                                                                                                        \
        typedef type T;                                                                                      \
        ARGUMENT(x, T, 0);                                                                                   \
        const result z = (result)(form);                                                                     \
        memcpy(out, &z, sizeof z);                                                                           \
    }
#define LOOP2(name, type, result, form)                                                                      \
    static void name(void *out, const void *const *v)                                                        \
    {                                                                                                        \
        typedef type T;                                                                                      \
        ARGUMENT(x, T, 0);                                                                                   \
        ARGUMENT(y, T, 1);                                                                                   \
        const result z = (result)(form);                                                                     \
        memcpy(out, &z, sizeof z);                                                                           \
    }
#define SELECT(name, type)                                                                                   \
    static void name(void *out, const void *const *v)                                                        \
    {                                                                                                        \
        ARGUMENT(c, uint8_t, 0);                                                                             \
        memcpy(out, v[c ? 1 : 2], sizeof(type));                                                             \
    }
/* Operators over the values of an item are not folded. */
#define FEATURE_DOT                                                                                          \
    {                                                                                                        \
        NULL                                                                                                 \
    }
#define FEATURE_SUM                                                                                          \
    {                                                                                                        \
        NULL                                                                                                 \
    }
#define FEATURE_MEAN                                                                                         \
    {                                                                                                        \
        NULL                                                                                                 \
    }
#define FEATURE_HYPERGEOM_SF                                                                                 \
    {                                                                                                        \
        NULL                                                                                                 \
    }
#include "expr/operator_cells.h"

typedef void (*evaluate)(void *out, const void *const *v);

static const struct {
    evaluate op[FTB_NOPERATORS][FTB_NCLASSES], cast[FTB_NCLASSES][FTB_NCLASSES], copy[FTB_NCLASSES],
        select[FTB_NCLASSES];
} table = {
    .op =
        {
#include "operators.def"
        },
    .cast = FTB_CASTS,
    .copy = FTB_COPIES,
    .select = FTB_SELECTS,
};

void ftb_fold(uint64_t *cell, const ftb_code *code, FtB_Type type, FtB_Type in, const void *const *values)
{
    *cell = 0;
    switch (code->kind) {
    case FTB_CODE_ELEMENT:
        table.op[code->op][ftb_class(in)](cell, values);
        break;
    case FTB_CODE_CAST:
        table.cast[ftb_class(type)][ftb_class(in)](cell, values);
        break;
    case FTB_CODE_SELECT:
        table.select[ftb_class(type)](cell, values);
        break;
    default:
        table.copy[ftb_class(type)](cell, values);
    }
}
