/* The planner's rule for sparse x sparse products: pure functions over plain structs. */
#ifndef FTB_PLAN_SPGEMM_H
#define FTB_PLAN_SPGEMM_H

#include "plan/choice.h"
#include "plan/gpu_spgemm_plan.h"
#include "plan/machine.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FTB_HOT_CHOICES 5    /* 512, 1024, ... hot columns */
#define FTB_HOT_PRODUCTS 1e8 /* below, ranking columns costs more than bits save */

/* What hot columns hold densely. */
typedef enum ftb_hot_form {
    FTB_HOT_COUNTS,  /* bits, which are counted */
    FTB_HOT_FACTORS, /* half bytes: small whole factors, of which products are summed */
    FTB_HOT_LOOKUP   /* half bytes: codes, by which messages are looked up and summed */
} ftb_hot_form;

/* What is known about the operands. Bytes are of one item. */
typedef struct ftb_spgemm_facts {
    int64_t nrows, ncols, ninner, avals, bvals;
    int64_t all_rows[2];  /* of operands that list nrows and ninner rows: there are so many in all; else 0 */
    double products;      /* exactly, without triangle */
    int64_t longest_row;  /* most products of one row, in the form that would be run full */
    double entries_bound; /* computed: sum over rows of min(products, ncols) */
    double entries_estimate; /* by sampled rows; < 0: not estimated */
    double kept_bound;       /* delivered: what triangle, mask, top-k and filters over vertices leave */
    double kept_estimate;    /* likewise */
    double kept_error;       /* relative standard error of kept_estimate */
    double message_cost;     /* nanoseconds of a message that is a program */
    double finish_cost;      /* of epilogue and filters, for a computed entry */
    double finish_row_cost;  /* and for a row */
    double passing;          /* share of computed entries that filters over weights let pass: 1, or a guess */
    double rows_wanted;      /* rows that are computed */
    int64_t top_k;           /* 0: all */
    int64_t width;           /* of h */
    bool counted;            /* only statistics are wanted, and cells give them */
    bool self;               /* one operand times its transpose */
    bool symmetric;          /* and (j, i) follows from (i, j) */
    bool masked;             /* a mask that is not complemented */
    bool slot_only;          /* the mask is not applied afterwards, or the message reads it */
    bool half_wanted;        /* only one triangle is wanted */
    bool dual;               /* cells of a mirrored triangle hold (i, j) and (j, i) */
    bool stats_only;         /* chunks carry statistics of rows in place of rows */
    int64_t cell_bytes;      /* of an accumulator, with its mark and its count or winner */
    int64_t value_bytes;     /* of an entry of the result */
    int64_t index_bytes;
    int64_t winner_bytes;   /* of an entry's winning k; 0: not wanted */
    int64_t retained_bytes; /* of an entry of a triangle from which full rows are made */
    int64_t prepared_bytes; /* operands' values as the kernel reads them */
    int64_t starts_bytes;   /* for a triangle: where each left entry's columns start */
    int64_t worker_bytes;   /* of one thread: batches of messages, epilogue and filter */
    int64_t heap_bytes;     /* of one thread, if the triangle's entries are offered to both ends; 0: never */
    int64_t sink_bytes;     /* the least that the sink takes, and what else is held with it */
    int64_t held_bytes;     /* counted in the context when this was planned */
    int64_t memory_left;    /* bytes that the plan may use */
    int threads;
    ftb_hot_form hot_form;
    double hot_line; /* LOOKUP: nanoseconds per left entry and 512 columns whose codes are in L2 */
    bool hot_dual;   /* LOOKUP: results (i, j) and (j, i) differ */
    double hot_share[FTB_HOT_CHOICES];   /* products in the 512 << c most frequent columns; 0: not known */
    double hot_entries[FTB_HOT_CHOICES]; /* entries in them */
    double cold_share[FTB_HOT_CHOICES];  /* products of two other columns, of one operand with itself */
    const char *wraps;  /* which whole numbers may leave their 64 bits: messages, sums, ...; NULL: none */
    bool widened;       /* values are read as FP64, since they might */
    const char *kernel; /* pair, times, table, program */
    ftb_gpu_spgemm_facts gpu;
} ftb_spgemm_facts;

typedef enum ftb_accumulator {
    FTB_ACC_AUTO,
    FTB_ACC_DENSE,
    FTB_ACC_LIST,
    FTB_ACC_HASH,
    FTB_ACC_SLOT
} ftb_accumulator;

/* Choices that can be set by hand: bits of ftb_spgemm_plan.forced and chosen. */
enum {
    FTB_SET_RELABEL = 1,
    FTB_SET_ID16 = 2,
    FTB_SET_TRIANGLE = 4,
    FTB_SET_MIRROR = 8,
    FTB_SET_ACCUMULATOR = 16,
    FTB_SET_CHUNK_ROWS = 32,
    FTB_SET_THREADS = 64,
    FTB_SET_CHUNK = 128,
    FTB_SET_HOT = 256,
    FTB_SET_CROSS = 512,
};

/* What was decided. */
typedef struct ftb_spgemm_plan {
    bool relabel;                /* rename columns by falling degree */
    bool id16;                   /* 16-bit ids */
    int64_t hot;                 /* most frequent columns held densely, a multiple of 512; 0: none */
    int64_t hot_from;            /* rows with at least so many products use them */
    bool cross;                  /* pairs of a hot and another column are done once, ahead of the rows */
    bool triangle;               /* compute j >= i only */
    bool mirror;                 /* retain the triangle, then emit full rows */
    ftb_accumulator accumulator; /* AUTO: by the row's products */
    int64_t dense_from;          /* AUTO: rows with at least so many products scan a dense accumulator */
    bool hash_rest;              /* AUTO: shorter rows use hash (else list) */
    int64_t chunk_bytes;         /* room for the rows of one chunk */
    int64_t chunk_rows;          /* at most so many rows a chunk; 0: no bound */
    int64_t chunk_products;      /* about so many products a chunk */
    int threads;
    int64_t bytes;       /* most bytes held beside the operands */
    int64_t least_limit; /* smallest memory_left that would do */
    double seconds;      /* predicted */
    unsigned forced;     /* bit per key that is not the rule's to choose */
    unsigned chosen;     /* those of them that wisdom or a trial chose: what is set by hand overrules them */
    ftb_origin origin;   /* of accumulator and relabel; MODEL after every rule */
    ftb_gpu_spgemm_plan gpu;
} ftb_spgemm_plan;

/* Hot columns that were asked for by hand, of whoever runs it; -1: none were. */
static inline int64_t ftb_spgemm_hot_asked(const ftb_spgemm_plan *plan)
{
    return plan->forced & ~plan->chosen & FTB_SET_HOT ? plan->hot : -1;
}

#define FTB_CHUNKS_IN_FLIGHT(threads) ((threads) > 1 ? (threads) + 1 : 1) /* one being handed over */

/* What a plan asks for, for the rule and for those who allocate (spgemm_memory.c). */
bool ftb_spgemm_uses_dense(const ftb_spgemm_plan *plan, int64_t longest_row);
bool ftb_spgemm_uses_hash(const ftb_spgemm_plan *plan);
int64_t ftb_spgemm_buckets(int64_t entries);                            /* of a hash, for a row of so many */
int64_t ftb_spgemm_chunk_rows(const ftb_spgemm_plan *plan);             /* most rows of a chunk */
static inline int64_t ftb_spgemm_entry_bytes(const ftb_spgemm_facts *f) /* of a chunk */
{
    return f->index_bytes + f->value_bytes + f->winner_bytes;
}
int64_t ftb_spgemm_hot_bytes(const ftb_spgemm_facts *facts, int64_t hot, bool cross);
int64_t ftb_spgemm_thread_bytes(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *facts);
/* Most bytes beside operands, result and sink, but for a mirrored triangle's entries. */
int64_t ftb_spgemm_bytes(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *facts);

/* Fills plan; fields that were forced stay. false: memory_left < least_limit. */
bool ftb_rule_spgemm(ftb_spgemm_plan *plan, const ftb_spgemm_facts *facts, const ftb_machine_facts *machine);
void ftb_explain_spgemm(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *facts,
                        const ftb_machine_facts *machine, FILE *file);
/* Sets a field by name. NULL if well, else what would have been. */
const char *ftb_spgemm_plan_set(ftb_spgemm_plan *plan, const char *key, const char *value);
bool ftb_spgemm_plan_get(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *facts, const char *key,
                         double *value);
/* What trials vary: families of choices are sums of these. */
enum {
    FTB_SPGEMM_RENAMED = 1, /* relabel */
    FTB_SPGEMM_HASH = 2     /* accumulator = hash; else auto */
};
/* As ftb_spmm_chosen and ftb_spmm_choose. (choice.c) */
ftb_choice ftb_spgemm_chosen(const ftb_spgemm_plan *plan);
bool ftb_spgemm_choose(ftb_spgemm_plan *plan, const ftb_spgemm_facts *facts, const ftb_machine_facts *machine,
                       const ftb_choice *choice, ftb_origin origin);
const char *ftb_accumulator_name(ftb_accumulator accumulator);

#endif
