/* The planner's rule for products over the entries of a pattern (block x block' under a mask, and attention):
 * pure functions over plain structs. */
#ifndef FTB_PLAN_SDDMM_H
#define FTB_PLAN_SDDMM_H

#include "core/degrees.h"
#include "plan/choice.h"
#include "plan/gpu_sddmm_plan.h"
#include "plan/machine.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What is known about the operands. */
typedef struct ftb_sddmm_facts {
    int64_t nrows, ncols, nvals;
    int64_t all_rows; /* of the matrix, if it lists these; else 0 */
    ftb_degrees degrees;
    int64_t source_bytes;    /* of what an entry reads of its source's row */
    int64_t row_bytes;       /* of what a visit reads and writes for its row */
    int64_t entry_bytes;     /* of an entry's result */
    int64_t piece_bytes;     /* of source_bytes; a tile is a multiple. 0: rows are not cut */
    int64_t piece;           /* what a piece is for people: so many features, or heads */
    int64_t memory_left;     /* bytes that the plan may use */
    int64_t heads, features; /* of a source, all heads */
    int threads;
    bool attention; /* else block x block' */
    bool one_piece; /* kernels are best at one piece at a time */
    bool program;   /* no kernel knows the message of block x block': it runs in batches */
    /* attention */
    bool standard;           /* planned as for ftb_machine_standard */
    bool can_stage;          /* may be done in three steps, with a value kept per entry and head */
    int64_t value_features;  /* of `features`, those that are summed */
    int64_t value_bytes;     /* of a value that is computed with */
    int64_t lanes;           /* values of a vector */
    const char *kernel;      /* the name of what runs */
    ftb_gpu_sddmm_facts gpu; /* block x block', where one runs it */
} ftb_sddmm_facts;

typedef enum ftb_sddmm_family {
    FTB_SDDMM_AUTO,
    FTB_SDDMM_ROWS,
    FTB_SDDMM_SEGMENTS,
    FTB_SDDMM_FUSED,   /* attention: rows or segments */
    FTB_SDDMM_STAGED,  /* attention: in three steps */
    FTB_SDDMM_CUSPARSE /* block x block', a GPU's; of plans only asked for */
} ftb_sddmm_family;

/* Choices that can be set by hand: bits of ftb_sddmm_asked.forced. */
enum {
    FTB_SDDMM_SET_KERNEL = 1,
    FTB_SDDMM_SET_SEGMENT = 2,
    FTB_SDDMM_SET_TILE = 4,
    FTB_SDDMM_SET_THREADS = 8
};

/* Choices by hand, which outlast plans that have no use for them. */
typedef struct ftb_sddmm_asked {
    unsigned forced; /* bit per key that was set; the other fields mean nothing */
    unsigned chosen; /* those of them that wisdom or a trial set, not a hand */
    ftb_sddmm_family family;
    int64_t segment, tile;
    int threads;
} ftb_sddmm_asked;

typedef struct ftb_sddmm_plan {
    int64_t segment; /* sources that are packed together (core/partition.h); 0: row after row, as they lie */
    int64_t tile;    /* bytes of a source's row that are packed at a time; with segment 0 all */
    bool staged;     /* attention: in three steps, each with a plan of its own */
    int threads;
    double visits;          /* estimated pairs (row, segment) */
    double gathered;        /* predicted seconds of reading sources, within segments */
    double seconds;         /* predicted, one thread */
    double direct;          /* predicted of moving bytes without segments */
    double visited;         /* the same as planned */
    double fused, in_steps; /* attention: what was compared */
    ftb_gpu_sddmm_plan gpu; /* block x block', if one runs it */
    ftb_choice there;       /* of the GPU's plan, by trial; family 0: none */
    ftb_sddmm_asked asked;
    ftb_origin origin; /* MODEL after every rule */
} ftb_sddmm_plan;

/* Fills plan; what was asked for is done where it can work. machine: but for facts->standard. */
void ftb_rule_sddmm(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const ftb_machine_facts *machine);
/* Seconds of attention on one thread: fused, as the plan says, and in three steps. (rule_attention.c) */
double ftb_attention_fused_seconds(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts,
                                   const ftb_costs *costs);
double ftb_attention_staged_seconds(const ftb_sddmm_facts *facts, const ftb_machine_facts *machine);
/* Whether the weights of all entries and heads take no more than the operands, the result and the pattern:
 * steps are for the rule to choose then. A bound that memory limits do not move, since bits depend on the
 * choice. */
bool ftb_attention_weights_fit(const ftb_sddmm_facts *facts);
/* What a plan does: ROWS, SEGMENTS or STAGED. */
static inline ftb_sddmm_family ftb_sddmm_family_of(const ftb_sddmm_plan *plan)
{
    return plan->staged ? FTB_SDDMM_STAGED : plan->segment ? FTB_SDDMM_SEGMENTS : FTB_SDDMM_ROWS;
}
/* What was decided, and why, as lines for people. (explain_sddmm.c) */
void ftb_explain_sddmm(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts,
                       const ftb_machine_facts *machine, FILE *file);
/* A plan's choice; and the plan that the rule makes of one, but for what was forced already. False: it cannot
 * be, or not in the memory that is left, and the plan stays as it was. (choice.c) */
ftb_choice ftb_sddmm_chosen(const ftb_sddmm_plan *plan);
bool ftb_sddmm_choose(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const ftb_machine_facts *machine,
                      const ftb_choice *choice, ftb_origin origin);
/* Sets a field by name. NULL if well, else what would have been. (sddmm_keys.c) */
const char *ftb_sddmm_plan_set(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const char *key,
                               const char *value);
bool ftb_sddmm_plan_get(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const char *key,
                        double *value);

#endif
