/* The kinds of plans, one row each: by it a plan is made, set, asked, explained, tried and remembered. */
#ifndef FTB_PLAN_KINDS_H
#define FTB_PLAN_KINDS_H

#include "plan/mxv_plan.h"
#include "plan/sddmm_plan.h"
#include "plan/spgemm_plan.h"
#include "plan/spmm_plan.h"

typedef enum ftb_plan_kind {
    FTB_PLAN_SPGEMM,
    FTB_PLAN_SPMM,
    FTB_PLAN_SDDMM,
    FTB_PLAN_ATTENTION,
    FTB_PLAN_GPU_SPMM,  /* of trials and wisdom alone: an object's plan has it beside the host's */
    FTB_PLAN_GPU_SDDMM, /* the same */
    FTB_PLAN_MXV,
    FTB_PLAN_KINDS
} ftb_plan_kind;

/* Of a kind: what is known of a product, and what was decided. */
typedef union ftb_any_facts {
    ftb_spgemm_facts spgemm;
    ftb_spmm_facts spmm;
    ftb_sddmm_facts sddmm; /* attention's, too */
    ftb_mxv_facts mxv;
} ftb_any_facts;
typedef union ftb_any_plan {
    ftb_spgemm_plan spgemm;
    ftb_spmm_plan spmm;
    ftb_sddmm_plan sddmm;
    ftb_mxv_plan mxv;
} ftb_any_plan;

/* A way in which an operation can be done, of those that trials compare; behind the last, one without name.
 */
typedef struct ftb_way {
    const char *name;
    int32_t family; /* of a choice */
    bool segments;  /* a choice has some */
    bool parts;     /* and parts of the rows, which may be ordered */
} ftb_way;

/* The numbers that trials vary, of a way with segments. */
typedef enum ftb_choice_number { FTB_SEGMENT, FTB_TILE, FTB_PARTS, FTB_CHOICE_NUMBERS } ftb_choice_number;

#define FTB_CASE_FACTS 12

/* What a plan depends on beside the machine, for wisdom. */
typedef struct ftb_plan_case {
    const char *kernel;
    int64_t fact[FTB_CASE_FACTS]; /* in the order of the row's names; 0 behind the last */
    const ftb_degrees *degrees;   /* NULL: none */
} ftb_plan_case;

typedef struct ftb_plan_row {
    const char *name;                       /* of the product, for people */
    const char *op;                         /* in wisdom */
    const char *figures;                    /* that get knows */
    const char *case_names[FTB_CASE_FACTS]; /* in wisdom */
    ftb_way ways[8];
    /* False: no plan fits the memory that is left. */
    bool (*rule)(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine);
    /* NULL if well, else what would have been. */
    const char *(*set)(ftb_any_plan *plan, const ftb_any_facts *facts, const char *key, const char *value);
    bool (*get)(const ftb_any_plan *plan, const ftb_any_facts *facts, const char *key, double *value);
    void (*explain)(const ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine,
                    FILE *file);
    /* Whether a plan that was made for one product does for the other; values may change. */
    bool (*same)(const ftb_any_facts *made, const ftb_any_facts *here);
    /* "1000 x 1000, 5000 entries, ...": what `same` compares, for people; `here`: "with" for the first comma.
     */
    void (*describe)(char *text, size_t size, const ftb_any_facts *facts, bool here);
    /* Wisdom and trials. */
    ftb_plan_case (*describe_case)(const ftb_any_facts *facts);
    ftb_choice (*chosen)(const ftb_any_plan *plan);
    bool (*choose)(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine,
                   const ftb_choice *choice, ftb_origin origin);
    unsigned (*forced)(const ftb_any_plan *plan); /* of what trials vary: bits that were set by hand */
    int64_t (*most)(const ftb_any_facts *facts, ftb_choice_number number); /* 0: not varied */
} ftb_plan_row;
extern const ftb_plan_row ftb_plan_rows[FTB_PLAN_KINDS];

#endif
