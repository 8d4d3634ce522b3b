/* What a program costs, for predictions. */
#ifndef FTB_EXPR_COST_H
#define FTB_EXPR_COST_H

#include "expr/expr.h"

/* Nanoseconds, about. */
typedef struct ftb_cost {
    double item;  /* in long batches */
    double batch; /* more, however short it is */
} ftb_cost;
ftb_cost ftb_program_cost(const ftb_program *p);

#endif
