/* Runs programs on batches of items. */
#ifndef FTB_INTERPRETER_H
#define FTB_INTERPRETER_H

#include "expr/message.h"

typedef struct ftb_interpreter ftb_interpreter; /* registers for running one program in one thread */

GrB_Info ftb_interpreter_new(ftb_interpreter **m, FtB_Context ctx, const ftb_program *p);
int64_t ftb_interpreter_bytes(const ftb_program *p); /* that ftb_interpreter_new asks for */
void ftb_interpreter_delete(ftb_interpreter *m);

/* Blocks right of @ of a message's program, packed, from where its feeds are: made once for all machines that
 * run it over that message, and given to each of them. NULL where there are none. */
typedef struct ftb_panels ftb_panels;
GrB_Info ftb_panels_new(ftb_panels **panels, const ftb_message *message, const ftb_program *p);
void ftb_panels_delete(ftb_panels *panels);
void ftb_interpreter_give(ftb_interpreter *m, const ftb_panels *panels); /* which outlive it */

/* out[t] = program(operands at t) for t < count <= FTB_BATCH; out: width values of the result type per
 * item. i, j, k are the int64 index operands by name like all others. */
void ftb_interpreter_run(ftb_interpreter *m, int64_t count, const ftb_operand *operands, void *out);

#endif
