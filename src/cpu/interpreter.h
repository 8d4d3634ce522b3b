/* Runs programs on batches of items. */
#ifndef FTB_INTERPRETER_H
#define FTB_INTERPRETER_H

#include "expr/expr.h"

typedef struct ftb_interpreter ftb_interpreter; /* registers for running one program in one thread */

GrB_Info ftb_interpreter_new(ftb_interpreter **m, FtB_Context ctx, const ftb_program *p);
int64_t ftb_interpreter_bytes(const ftb_program *p); /* that ftb_interpreter_new asks for */
void ftb_interpreter_delete(ftb_interpreter *m);
/* out[t] = program(operands at t) for t < count <= FTB_BATCH; out: width values of the result type per
 * item. i, j, k are the int64 index operands by name like all others. */
void ftb_interpreter_run(ftb_interpreter *m, int64_t count, const ftb_operand *operands, void *out);

#endif
