/* The planner's rule for products over the entries of a pattern (block x block' under a mask, and attention):
 * pure functions over plain structs. */
#ifndef FTB_PLAN_SDDMM_H
#define FTB_PLAN_SDDMM_H

#include "plan/machine.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FTB_DEGREE_CLASSES 48

/* What is known about the operands. */
typedef struct ftb_sddmm_facts {
    int64_t nrows, ncols, nvals;
    double rows[FTB_DEGREE_CLASSES]; /* rows with 2^c to 2^(c+1) - 1 entries */
    int64_t source_bytes;            /* of what an entry reads of its source's row */
    int64_t row_bytes;               /* of what a visit reads and writes for its row */
    int64_t entry_bytes;             /* of an entry's result */
    int64_t piece_bytes;             /* of source_bytes; a tile is a multiple. 0: rows are not cut */
    int64_t memory_left;             /* bytes that the plan may use */
} ftb_sddmm_facts;

typedef struct ftb_sddmm_plan {
    int64_t segment; /* sources that are packed together (core/partition.h); 0: row after row, as they lie */
    int64_t tile;    /* bytes of a source's row that are packed at a time; with segment 0 all */
    double visits;   /* estimated pairs (row, segment) */
    double seconds;  /* predicted, one thread */
    double direct;   /* predicted without segments */
} ftb_sddmm_plan;

void ftb_rule_sddmm(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const ftb_machine_facts *machine);
/* Fills facts->rows from row pointers. */
void ftb_sddmm_degrees(ftb_sddmm_facts *facts, const int64_t *rowptr, int64_t nrows);
/* What was decided, and why, as lines for people. (explain_sddmm.c) */
void ftb_explain_sddmm(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts,
                       const ftb_machine_facts *machine, FILE *file);

#endif
