/* Nanoseconds of a program by its operations, as batches of a thousand items took them on an AVX2 core with
 * others at work beside it. Right within a factor of two, not more. */
#include "expr/cost.h"
#include "expr/program.h"

#define NANOSECONDS_CODE 15    /* to begin an instruction of the program */
#define NANOSECONDS_SIMPLE 0.6 /* add, compare, select, cast */
#define NANOSECONDS_DIVIDE 1.5 /* and roots */
#define NANOSECONDS_FUNCTION 5 /* exp, log and what is made of them */
#define NANOSECONDS_POWER 14
#define NANOSECONDS_LGAMMA 18
#define NANOSECONDS_TAIL 250 /* hypergeom_sf: nine log-gammas, and its terms: 180 to 440 */

static double operator_cost(ftb_operator op)
{
    switch (op) {
    case FTB_OP_DIV:
    case FTB_OP_SQRT:
    case FTB_OP_IDIV:
        return NANOSECONDS_DIVIDE;
    case FTB_OP_LEAKY_RELU:
        return NANOSECONDS_SIMPLE;
    case FTB_OP_POW:
        return NANOSECONDS_POWER;
    case FTB_OP_LGAMMA:
        return NANOSECONDS_LGAMMA;
    case FTB_OP_HYPERGEOM_SF:
        return NANOSECONDS_TAIL;
    default:
        return ftb_operators[op].rule == FTB_RULE_REAL ? NANOSECONDS_FUNCTION : NANOSECONDS_SIMPLE;
    }
}

ftb_cost ftb_program_cost(const ftb_program *p)
{
    ftb_cost cost = {0, NANOSECONDS_CODE * p->ncodes};
    for (int c = 0; c < p->ncodes; c++) {
        const ftb_code *code = &p->codes[c];
        bool op = code->kind == FTB_CODE_ELEMENT || code->kind == FTB_CODE_FEATURE;
        int64_t depth = code->kind == FTB_CODE_MATMUL || code->op == FTB_OP_DOT
                            ? p->values[p->args[code->first]].width
                            : 1;
        cost.item += (op ? operator_cost(code->op) : NANOSECONDS_SIMPLE) *
                     (double)(p->values[code->out].width * depth);
    }
    return cost;
}
