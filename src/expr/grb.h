/* GraphBLAS's built-in operators, monoids and semirings as text. */
#ifndef FTB_GRB_H
#define FTB_GRB_H

#include "expr/expr.h"

#define FTB_GRB_TEXT 192 /* longest text that these write */

/* "plus : a * b" for a built-in semiring, over a, b, i, j and k; *domain: what its inputs are cast to first.
 * GrB_DOMAIN_MISMATCH for others; `name` names the argument. */
GrB_Info ftb_semiring_from_grb(char *text, FtB_Type *domain, GrB_Semiring semiring, const char *name);
/* "x + y" for a built-in binary operator, over x and y. */
GrB_Info ftb_op_from_grb(char *text, FtB_Type *domain, GrB_BinaryOp op, const char *name);

#endif
