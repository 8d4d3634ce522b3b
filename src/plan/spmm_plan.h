/* The planner's rule for sparse x block: pure functions over plain structs. */
#ifndef FTB_PLAN_SPMM_H
#define FTB_PLAN_SPMM_H

#include "core/degrees.h"
#include "plan/choice.h"
#include "plan/gpu_spmm_plan.h"
#include "plan/machine.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* 2^17 entries and more make a row a hub, whose features the direct form's threads share. */
#define FTB_SPMM_HUB 17

/* Products that a plan made ahead counts on, if nothing is said. */
#define FTB_SPMM_USES 8

/* Slices add in the order of the entries. Where other kernels do not, slices are another sum, and are taken
 * only if asked for. */
typedef enum ftb_spmm_slices { FTB_NO_SLICES, FTB_SLICES_ASKED, FTB_SLICES } ftb_spmm_slices;

/* What is known about the operands. */
typedef struct ftb_spmm_facts {
    int64_t nrows, ncols, nvals; /* of the pattern that is walked */
    int64_t all_rows;            /* of the matrix, if it lists these; else 0 */
    int64_t listed;              /* rows wanted under a mask; nrows if all are */
    int64_t entries;             /* in the rows wanted */
    int64_t features;            /* of a row of the result */
    int64_t value_bytes;         /* of a value that is computed with */
    int64_t stored_bytes;        /* of a value of the block as it is stored */
    int64_t edge_bytes;          /* of an edge's values, all heads; 0: none */
    int64_t lanes;               /* values of a vector */
    int threads;
    int64_t memory_left; /* bytes that the plan may use */
    ftb_degrees degrees;
    int64_t cached_segment; /* of a partition that the pattern has already; 0: none */
    int64_t uses;           /* products that share the price of a partition; 0: FTB_SPMM_USES */
    bool tuned;             /* a kernel knows the message's form */
    bool vector;            /* and takes one feature, in lanes */
    bool ordered;           /* or in the order of the entries */
    bool partitioned;       /* and can be partitioned: narrow columns, all rows, rows countable in 32 bits */
    ftb_spmm_slices sliced; /* whether its rows can be sliced: all rows, messages as they are, few features */
    int64_t slices_bytes;   /* that slices take, and keep */
    bool slices_there;      /* they are made */
    const char *kernel;     /* its name; "program" otherwise */
    ftb_gpu_spmm_facts gpu; /* where one runs it */
} ftb_spmm_facts;

typedef enum ftb_spmm_family {
    FTB_SPMM_AUTO,
    FTB_SPMM_PROGRAM,
    FTB_SPMM_DIRECT,
    FTB_SPMM_PARTITIONED, /* the host's */
    FTB_SPMM_SLICED,      /* the host's */
    FTB_SPMM_HYBRID,      /* a GPU's; of plans only asked for */
    FTB_SPMM_TENSOR,      /* the same */
    FTB_SPMM_CUSPARSE     /* the same */
} ftb_spmm_family;

/* Choices that can be set by hand: bits of ftb_spmm_asked.forced. */
enum {
    FTB_SPMM_SET_KERNEL = 1,
    FTB_SPMM_SET_SEGMENT = 2,
    FTB_SPMM_SET_TILE = 4,
    FTB_SPMM_SET_THREADS = 8,
    FTB_SPMM_SET_ORDERED = 16,
    FTB_SPMM_SET_AHEAD = 32,
    FTB_SPMM_SET_PARTS = 64,
    FTB_SPMM_SET_USES = 128, /* says nothing of how */
    FTB_SPMM_SET_THRESHOLD = 256,
    FTB_SPMM_SET_BULK = 512,
    FTB_SPMM_SET_ALGORITHM = 1024
};

/* Choices by hand, which outlast plans that have no use for them. */
typedef struct ftb_spmm_asked {
    unsigned forced; /* bit per key that was set; the other fields mean nothing */
    unsigned chosen; /* those of them that wisdom or a trial set, not a hand */
    ftb_spmm_family family;
    int64_t segment, tile, parts, ahead, uses, threshold, threads;
    int64_t ordered, bulk; /* 0 or 1 */
    ftb_gpu_sparse_algorithm algorithm;
} ftb_spmm_asked;

/* What was decided. */
typedef struct ftb_spmm_plan {
    ftb_spmm_family family;
    int64_t segment; /* PARTITIONED: sources of a segment; SLICED: rows of a slice, at most; 0: neither */
    int64_t tile;    /* features of a tile, at most */
    int64_t ntiles;  /* tiles that the features are cut into */
    int64_t parts;   /* PARTITIONED: parts of the rows, at least; threads share out parts x ntiles */
    int64_t most;    /* PARTITIONED: rows of a part, at most: threads hold a tile for each; 0: any */
    bool ordered;  /* PARTITIONED: a part's edge values are copied into the order of visits, for all tiles */
    int64_t ahead; /* DIRECT, SLICED: entries that sources are fetched ahead; 0: not */
    int64_t uses;  /* products that it counts on */
    int threads;
    double direct_seconds, partitioned_seconds, sliced_seconds; /* predicted for one thread */
    double seconds;                                             /* predicted */
    int64_t bytes;           /* held beside operands and result while running */
    int64_t partition_bytes; /* held by the pattern from then on */
    ftb_gpu_spmm_plan gpu;   /* if one runs it */
    ftb_choice there;        /* of the GPU's plan, by trial; family 0: none */
    ftb_spmm_asked asked;
    ftb_origin origin; /* MODEL after every rule */
} ftb_spmm_plan;

/* Fills plan; what was asked for is done where it can work. */
void ftb_rule_spmm(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_machine_facts *machine);
void ftb_explain_spmm(const ftb_spmm_plan *plan, const ftb_spmm_facts *facts,
                      const ftb_machine_facts *machine, FILE *file);
/* A plan's choice; and the plan that the rule makes of one, but for what was forced already. False: it cannot
 * be, or not in the memory that is left, and the plan stays as it was. (choice.c) */
ftb_choice ftb_spmm_chosen(const ftb_spmm_plan *plan);
bool ftb_spmm_choose(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_machine_facts *machine,
                     const ftb_choice *choice, ftb_origin origin);
/* Sets a field by name. NULL if well, else what would have been. */
const char *ftb_spmm_plan_set(ftb_spmm_plan *plan, const char *key, const char *value);
bool ftb_spmm_plan_get(const ftb_spmm_plan *plan, const ftb_spmm_facts *facts, const char *key,
                       double *value);
const char *ftb_spmm_family_name(ftb_spmm_family family);

#endif
