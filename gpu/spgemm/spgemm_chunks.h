/* A sparse x sparse product on a GPU: what its operands are there (spgemm.c), frequent columns as bits
 * (spgemm_hot.c), and its chunks of rows (spgemm_chunks.c). */
#ifndef FTB_GPU_SPGEMM_CHUNKS_H
#define FTB_GPU_SPGEMM_CHUNKS_H

#include "gpu/kernels/spgemm_rows.h"
#include "gpu/launch.h"
#include "gpu/memory.h"
#include "gpu/spgemm/spgemm_text.h"
#include "plan/gpu_spgemm_plan.h"
#include "verbs/spgemm_product.h"

#define FTB_GPU_SPGEMM_LARGE "gpu/kernels/spgemm_large.cu" /* of rows that blocks hash */

#define FTB_GPU_SPGEMM_BITS "gpu/kernels/spgemm_bits.cu" /* of counts whose frequent columns are bits */

/* Of a row: entries that it may have, and how it is gathered (spgemm_chunks.c). */
typedef struct ftb_gpu_spgemm_row {
    int room;
    unsigned units : 28, bin : 4;
} ftb_gpu_spgemm_row;

typedef struct ftb_gpu_spgemm {
    const ftb_spgemm_product *product;
    ftb_gpu_device *d;
    ftb_gpu_spgemm_plan plan;
    const ftb_spgemm_plan *host; /* of whose memory chunks that come home are */
    FtB_Sink sink;
    ftb_gpu_text text;         /* of its message, or what becomes of the sums */
    int texts;                 /* which: FTB_SPGEMM_TEXT_ROWS, _FINISH */
    const char *type;          /* of values, as kernels' names have it */
    char name[24];             /* of the message's kernels */
    int64_t cell, hash_cell;   /* bytes of an accumulator's cell, dense and hashed */
    int64_t entry_cell, value; /* of an entry's cell, and of its value */
    ftb_spgemm_arguments rows; /* what is the same for all chunks */
    ftb_spgemm_arguments hot;  /* the same where columns are bits */
    ftb_gpu_spgemm_row *row;   /* of each row */
    ftb_spgemm_finish_arguments finish;
    int64_t piece;       /* entries of a mask's row that a unit has, at most */
    bool counted;        /* rows' statistics are wanted, in place of rows, and counts are */
    bool tallied;        /* the same of what rows are in the end */
    bool delivered;      /* the sink may have something */
    double done;         /* products of rows that it has */
    ftb_gpu_rooms rooms; /* what is this product's alone */
} ftb_gpu_spgemm_run;

/* Makes bits where the plan has some; what could not be had is not there, and the plan says so. */
GrB_Info ftb_gpu_spgemm_hot(ftb_gpu_spgemm_run *run);
/* Entries that a row may have. */
int64_t ftb_gpu_spgemm_row_room(const ftb_spgemm_product *product, int64_t row);
/* Shared memory of a block for hashes of a kind (plan/gpu_spgemm_plan.h). */
int64_t ftb_gpu_spgemm_hash_bytes(const ftb_gpu_spgemm_run *run, int kind);
/* Computes all rows, and hands them over. */
GrB_Info ftb_gpu_spgemm_chunks(ftb_gpu_spgemm_run *run);

#endif
