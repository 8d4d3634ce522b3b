/* Expressions made of another one. */
#ifndef FTB_GUARD_H
#define FTB_GUARD_H

#include "expr/expr.h"

/* "when ? e : otherwise", of two names. */
GrB_Info ftb_expr_guard(ftb_expr **made, const ftb_expr *e, const char *when, const char *otherwise);
/* "e != 0". */
GrB_Info ftb_expr_truth(ftb_expr **made, const ftb_expr *e);

#endif
