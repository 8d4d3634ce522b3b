/* What FtB_Semiring_bind and FtB_Op_bind share: lists of bound names. */
#ifndef FTB_BOUND_H
#define FTB_BOUND_H

#include "expr/expr.h"

/* A list with the old bindings and, over them, the new ones; each name must occur in the text of `e`
 * (NULL: of a C function, which reads dst).
 * `call` names the function in messages. */
GrB_Info ftb_bound_add(ftb_bound **list, int *count, FtB_Context ctx, const char *call, const ftb_expr *e,
                       int nold, const ftb_bound *old, const FtB_Binding *bindings, size_t nbindings);
void ftb_bound_free(ftb_bound *list, int count); /* NULL is allowed */

#endif
