/* Scores of a pattern's entries: what block x block' and attention share. */
#ifndef FTB_OPS_SDDMM_H
#define FTB_OPS_SDDMM_H

#include "cpu/sddmm_run.h"
#include "expr/score.h"
#include "ops/block/blocks.h"

/* V(e,:) = message for the entries of p: by a kernel that knows the form, else by the program. V: nvals x
 * (heads * type->width) of type->message. plan: how, or NULL. (sddmm_message.c) */
GrB_Info ftb_sddmm_message(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                           FtB_Plan plan);
/* Whether kernels for sums read the message's feeds as they lie. (sddmm_message.c) */
bool ftb_sddmm_is_sum(const ftb_message *m, const ftb_message_type *type);
/* *made: the plan that the above would use, or one found by trial on memory of our own; there: if it leaves
 * (below), with the device's. (sddmm_message.c) */
GrB_Info ftb_sddmm_make_plan(FtB_Plan *made, const ftb_message *m, const ftb_message_type *type,
                             ftb_pattern *p, FtB_Plan plan, FtB_Effort effort, bool there);
/* The same over the values of a result that all go, if that leaves them as they are on failure: by a kernel,
 * or a device, that reads nothing there, is not cancelled, and starts when all memory is at hand. False: it
 * cannot. */
bool ftb_sddmm_over(GrB_Info *info, ftb_buffer *V, const ftb_message *m, const ftb_message_type *type,
                    ftb_pattern *p, FtB_Plan plan);
/* Whether a device runs it then. */
bool ftb_sddmm_leaves(const ftb_message *m, const ftb_message_type *type);

#endif
