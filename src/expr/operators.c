/* The table of operators, as data (semirings/operators.def). */
#include "expr/tree.h"

#include <ctype.h>
#include <math.h>

const ftb_operator_row ftb_operators[FTB_NOPERATORS] = {
#define FTB_OPERATOR(id, spelling, arity, fallback, rule, commutes, rises, integer, real, dx, dy, summary)   \
    {spelling, arity, fallback, FTB_RULE_##rule, commutes, rises, dx, dy, summary},
#include "operators.def"
#undef FTB_OPERATOR
};

ftb_operator ftb_operator_find(const char *name, int64_t length)
{
    for (ftb_operator op = 0; op < FTB_NOPERATORS; op++) {
        const char *spelling = ftb_operators[op].spelling;
        if (isalpha((unsigned char)spelling[0]) && ftb_operators[op].rule != FTB_RULE_FORM &&
            strlen(spelling) == (size_t)length && memcmp(spelling, name, (size_t)length) == 0)
            return op;
    }
    return FTB_NOPERATORS;
}
