/* Messages that are C functions: called item after item, as are the gradients that come with them. */
#ifndef FTB_MESSAGE_CALL_H
#define FTB_MESSAGE_CALL_H

#include "expr/message.h"

typedef struct ftb_caller ftb_caller; /* one thread's */

GrB_Info ftb_caller_new(ftb_caller **c, const ftb_message *m);
void ftb_caller_delete(ftb_caller *c); /* NULL is allowed */
/* out[t] = the function at item t, or the gradient of what m->gradient_of says; operands in the order of m's
 * feeds, FP32 but for the whole numbers that ftb_caller_compares. */
void ftb_caller_run(ftb_caller *c, int64_t items, const ftb_operand *operands, float *out);
/* Whether a feed is one of the entries' numbers by which min and max know their winners. */
bool ftb_caller_compares(const ftb_feed *feed);
#endif
