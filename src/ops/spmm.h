/* Sparse x block: messages reduced into rows. */
#ifndef FTB_OPS_SPMM_H
#define FTB_OPS_SPMM_H

#include "cpu/spmm_run.h"
#include "expr/message.h"
#include "ops/backends.h"

/* A message reduced into the rows of a pattern, the best way there is: rewritten, then by a kernel or by
 * ftb_message_reduce, then finished (mean, and what was moved behind the reduction). */
typedef struct ftb_spmm_request {
    const ftb_message *message;
    ftb_pattern *p;
    const int64_t *rows; /* only these, ascending; NULL: all */
    int64_t nlisted;
    bool arg;   /* winning entries are wanted, too: min and max */
    void *into; /* memory for the result, if it comes in this type; NULL: none */
    FtB_Type into_type;
    int64_t ldinto;
    FtB_Block block;             /* whose memory `into` is, and which a device may write; not asked for yet */
    FtB_Block winners;           /* with `arg`: which the same device writes, too */
    bool fill;                   /* rows without entries are wanted, too: see result.filled */
    bool add;                    /* a device adds to it, all others compute aside */
    const ftb_backend *device;   /* may write the block, or add to it; NULL: the host does */
    const ftb_spmm_plan *forced; /* a plan whose choices are used; NULL: none */
    const ftb_spmm_facts *expected; /* what it was made for */
    bool plan_only;                 /* nothing is computed but facts and plan */
    bool measure;                   /* with plan_only: the plan is found by trial, on scratch memory */
} ftb_spmm_request;

typedef struct ftb_spmm_result {
    void *values; /* p->nrows x ncols of `type`, ld apart: new, or request.into */
    void *owned;  /* values, if new: ftb_delete() it */
    FtB_Type type;
    int64_t ncols, ld; /* heads x width */
    bool filled;       /* rows without entries hold the reducer's identity: nothing is left to do behind it */
    bool there;        /* into, on the device: rows without entries are 0, nothing is left to do */
    int64_t *arg;      /* p->nrows x ncols, to be ftb_delete()d: winning entry of p, -1 for none */
    ftb_spmm_facts facts;
    ftb_spmm_plan plan;
    bool fits; /* the device may do it */
} ftb_spmm_result;
/* Rows without entries hold anything; so do rows that are not listed, in new memory. On failure nothing is
 * left to delete; `into` is written only by what cannot fail. (spmm_message.c) */
GrB_Info ftb_spmm_message(ftb_spmm_result *result, const ftb_spmm_request *request);
/* The plan for a block without columns, of which nothing is computed; no message is asked for.
 * (spmm_plans.c) */
GrB_Info ftb_spmm_nothing(ftb_spmm_result *result, const ftb_spmm_request *request, FtB_Context ctx);
/* What plans depend on. product: of a kernel, without its memory; NULL: there is none, and the program makes
 * so many features of `reduced`. (spmm_plans.c) */
ftb_spmm_facts ftb_spmm_facts_of(const ftb_spmm_request *request, const ftb_spmm_product *product,
                                 FtB_Context ctx, int64_t features, FtB_Type reduced);
/* Seconds of a plain sum of so many features over the entries of p, planned for one thread of a machine, with
 * any memory and as if nothing was built yet: for choices that must not depend on these. (spmm_plans.c) */
double ftb_spmm_predict(ftb_pattern *p, int64_t features, FtB_Type type, const ftb_machine_facts *machine);
/* Values of a vector of the kernels that take so many features. (spmm_plans.c) */
int ftb_spmm_lanes_of(FtB_Type type, int64_t features);
/* Type and columns of the result, without computing it. (spmm_plans.c) */
GrB_Info ftb_spmm_shape(const ftb_message *m, FtB_Type *type, int64_t *ncols);

#endif
