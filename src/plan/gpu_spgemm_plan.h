/* The planner's rule for sparse x sparse products on a GPU. No GPU was there to measure on: what it counts
 * with that is no figure of the GPU's rests on no measurement (rule_gpu_spgemm.c). */
#ifndef FTB_PLAN_GPU_SPGEMM_H
#define FTB_PLAN_GPU_SPGEMM_H

#include "plan/machine.h"

/* Entries of rows that hashes are made for: one a warp, and from some on one a block. */
enum { FTB_GPU_SPGEMM_HASHES = 4, FTB_GPU_SPGEMM_OF_WARPS = 2 };
static const int64_t ftb_gpu_spgemm_hash[FTB_GPU_SPGEMM_HASHES] = {32, 256, 1024, 4096};
/* Columns whose entries are bits: 1,024 to a line, which a warp has, and at most so many. */
enum { FTB_GPU_SPGEMM_LINE = 1024, FTB_GPU_SPGEMM_HOTS = 4, FTB_GPU_SPGEMM_MOST_HOT = 8192 };

typedef struct ftb_gpu_spgemm_facts {
    ftb_gpu_facts gpu; /* of no multiprocessors: none runs it */
    int64_t ninner, ncols, avals, bvals;
    double rows, products;
    double entries;      /* that may come: sum over rows of min(products, ncols) */
    int64_t longest_row; /* entries that the longest row may have */
    int64_t cell_bytes;  /* of a dense accumulator */
    int64_t
        hash_bytes[FTB_GPU_SPGEMM_HASHES]; /* of a block's hashes of each kind, four where a warp has one */
    int64_t entry_bytes;                   /* of a chunk, in the GPU's memory */
    bool counts; /* whole numbers, which warps add to side by side; else each has its columns */
    double hot_share[FTB_GPU_SPGEMM_HOTS]; /* counts: products in the 1024 << c most frequent columns; 0: not
                                              known */
    int64_t hot;                           /* columns as bits that were asked for; < 0: the rule's choice */
} ftb_gpu_spgemm_facts;

typedef struct ftb_gpu_spgemm_plan {
    int64_t tile;          /* columns of a row that are gathered together */
    int warps;             /* of a block, which gathers them */
    int lanes;             /* counts: lanes that take a row of B together */
    int hashes;            /* kinds of hashes that are used, the smallest first; longer rows are dense */
    int64_t hot;           /* counts: most frequent columns whose entries are bits in dense rows; 0: none */
    int64_t chunk_entries; /* room of a chunk, of which there are two */
    double seconds;        /* predicted, of the sums */
    double plain_seconds;  /* the same without bits */
} ftb_gpu_spgemm_plan;

void ftb_rule_gpu_spgemm(ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *facts);
void ftb_explain_gpu_spgemm(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *facts, FILE *file);

#endif
