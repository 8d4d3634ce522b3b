/* A plan as an object: what the rule decided, and for which product. */
#ifndef FTB_OPS_PLAN_H
#define FTB_OPS_PLAN_H

#include "core/backend.h"
#include "expr/message.h"
#include "plan/kinds.h"

/* Where a device that is engaged and has the product leaves it. */
typedef enum ftb_placing {
    FTB_ON_DEVICE, /* as every call without a plan does */
    FTB_ON_HOST,
    FTB_BY_COST /* where it is predicted to take less, with what must be moved; operands that are on the
                   device alone stay there */
} ftb_placing;

struct FtB_Plan_opaque {
    uint32_t magic;
    FtB_Context ctx;
    ftb_plan_kind kind;
    ftb_machine_facts machine; /* that it was made for */
    ftb_any_facts facts;
    ftb_any_plan plan;
    const ftb_backend *device;  /* that was engaged; NULL: none */
    bool by_device;             /* it has the product, else the host does it */
    ftb_placing placing;        /* "place" */
    bool stays;                 /* an operand is on the device alone */
    int64_t to_device, to_host; /* bytes of operands that are not there */
};

#define FTB_PLAN_BYTES ((int64_t)sizeof(struct FtB_Plan_opaque) + 128) /* counted for one */
GrB_Info ftb_plan_new(FtB_Plan *plan, FtB_Context ctx, ftb_plan_kind kind, const ftb_any_facts *facts,
                      const ftb_any_plan *choices);
/* Says whether the device, if one is engaged, runs the product, and counts what moves first: of these
 * buffers, each once, those of which another copy is valid. NULLs are passed over. */
void ftb_plan_place(FtB_Plan plan, bool by_device, ftb_buffer *const *reads, int count);
/* The same of what a message reads, and of one buffer more. */
void ftb_plan_place_message(FtB_Plan plan, bool by_device, const ftb_message *m, ftb_buffer *more);
/* Whether a call that follows the plan is the host's although a device has the product. */
bool ftb_plan_on_host(FtB_Plan plan);
/* Whether the plan is of this kind, else a message. */
GrB_Info ftb_plan_check_kind(FtB_Plan plan, ftb_plan_kind kind);
/* Whether a plan of this kind that was made for one product does for another, else a message. */
GrB_Info ftb_plan_check_same(ftb_plan_kind kind, const ftb_any_facts *made, const ftb_any_facts *here);
/* The choices for a product as described: by the plan (refused if it was made for another one), or, if that
 * is NULL, by what `wise` knows of the machine and of the case (NULL: nothing), else by the rule. */
GrB_Info ftb_plan_choose(ftb_any_plan *choices, ftb_plan_kind kind, const ftb_any_facts *facts, FtB_Plan plan,
                         FtB_Context wise);
#define FTB_NEVER 1e9 /* seconds, of what cannot be done on a device: there is no room, say */
/* FTB_MEASURE: times *plan and other ways and numbers by trial(run, plan), which writes where nobody looks,
 * and puts the fastest in its place. What was forced already stays; where nothing was, ctx remembers it. A
 * trial may put seconds of its own in place of those that passed, which is what *seconds < 0 stands for.
 * (measure.c) */
typedef GrB_Info (*ftb_trial)(void *run, const ftb_any_plan *plan, double *seconds);
GrB_Info ftb_plan_measure(ftb_any_plan *plan, ftb_plan_kind kind, const ftb_any_facts *facts, ftb_trial trial,
                          void *run, FtB_Context ctx);
/* FtB_mxm_plan of sparse x block. (spmm.c) */
GrB_Info ftb_spmm_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                            FtB_Arg B, FtB_Arg desc, FtB_Effort effort);
/* The same of block x block'. (sddmm.c) */
GrB_Info ftb_sddmm_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                             FtB_Arg B, FtB_Arg desc, FtB_Effort effort);

#endif
