/* Scores of a pattern's entries: what block x block' and attention share. */
#ifndef FTB_OPS_SDDMM_H
#define FTB_OPS_SDDMM_H

#include "ops/blocks.h"
#include "ops/score.h"
#include "plan/sddmm.h"

/* V(e,:) = message for the entries of p: by a kernel that knows the form, else by the program. V: nvals x
 * (heads * type->width) of type->message. (sddmm_run.c) */
GrB_Info ftb_sddmm_run(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p);
/* The same over the values of a result that all go, if that leaves them as they are on failure: by a kernel
 * that reads nothing there, is not cancelled, and starts when all memory is at hand. False: it cannot. */
bool ftb_sddmm_over(GrB_Info *info, void *V, const ftb_message *m, const ftb_message_type *type,
                    ftb_pattern *p);

/* For tests: plans of this segment and tile (pieces; 0: whole rows) where there is a choice. Segment 0: rows
 * as they lie, -1: as the rule says. Between calls only. */
void ftb_sddmm_force(int64_t segment, int64_t tile);
/* The plan for operands as described, or as forced. */
ftb_sddmm_plan ftb_sddmm_plan_of(const ftb_sddmm_facts *facts);

#endif
