/* Row kernels of sparse x sparse products: one output row is gathered in an accumulator, then emitted
 * in ascending columns.
 *
 *     C(i, j) = reduce over k of message(A(i,k), B(k,j))
 *
 * Columns of B are renamed to *ids* (16 or 32 bits; by falling degree when relabelled, so that hot cells
 * share cache lines). Gustavson's method; accumulators as in Nagasaka et al., "Performance optimization,
 * modeling and analysis of sparse matrix-matrix products on multi-core and many-core processors",
 * Parallel Computing 2019. */
#ifndef FTB_CPU_SPGEMM_H
#define FTB_CPU_SPGEMM_H

#include "core/isa.h"
#include "verbs/spgemm_product.h"

/* Where the cell of an id is. */
typedef enum ftb_spgemm_locate {
    FTB_LOCATE_DENSE, /* acc[id]; the row is found again by scanning acc */
    FTB_LOCATE_LIST,  /* acc[id]; first touches are listed */
    FTB_LOCATE_HASH,  /* open addressing; first touches are listed */
    FTB_LOCATE_SLOT,  /* acc[slot[id]]: only the mask's columns; slot 0 is a bin for the others */
    FTB_NLOCATE
} ftb_spgemm_locate;

/* One thread's accumulator. Cells rest at "empty": 0 for counts and packed sums, -0.0 for floats (a sum of
 * messages, which starts from +0.0, never gives it); PROGRAM cells are marked instead. */
typedef struct ftb_row {
    void *acc;
    uint32_t *list; /* cells first touched, in order; one place more than cells */
    int64_t count;
    uint32_t *key;  /* HASH: id + 1 of each bucket, 0 if free */
    int hash_shift; /* 32 - log2(buckets), 0..31 */
    uint32_t *slot; /* SLOT: id -> 1 + place in the mask's row */
    uint8_t *mark;  /* PROGRAM: cell holds a value */
    int64_t *arg;   /* arg products: winning k of each cell, else NULL */
} ftb_row;

/* The bucket of an id; a new id gets a free one. ids are below 2^32 - 1. */
static inline uint32_t ftb_bucket_of(ftb_row *row, uint32_t id)
{
    uint32_t *key = row->key;
    uint32_t mask = UINT32_MAX >> row->hash_shift;
    uint32_t at = (id * UINT32_C(2654435769)) >> row->hash_shift;
    while (key[at] != id + 1) {
        if (key[at] == 0) {
            key[at] = id + 1;
            row->list[row->count++] = at;
            break;
        }
        at = (at + 1) & mask;
    }
    return at;
}

/* The registry: X(name, message, cell, cell_width). Each row is compiled for every way to locate a cell
 * and both sizes of ids. */
#define FTB_SPGEMM_KERNELS(X)                                                                                \
    X(pair_u32, FTB_MESSAGE_PAIR, FTB_UINT32, 1)                                                             \
    X(times_f32, FTB_MESSAGE_TIMES, FTB_FP32, 1)                                                             \
    X(times_f64, FTB_MESSAGE_TIMES, FTB_FP64, 1)                                                             \
    X(table_f32, FTB_MESSAGE_TABLE, FTB_FP32, 1)                                                             \
    X(table_f64, FTB_MESSAGE_TABLE, FTB_FP64, 1)                                                             \
    X(table_f32x2, FTB_MESSAGE_TABLE, FTB_FP32, 2)                                                           \
    X(table_f32x4, FTB_MESSAGE_TABLE, FTB_FP32, 4)                                                           \
    X(table_f32x8, FTB_MESSAGE_TABLE, FTB_FP32, 8)                                                           \
    X(table_f64x2, FTB_MESSAGE_TABLE, FTB_FP64, 2)                                                           \
    X(table_f64x4, FTB_MESSAGE_TABLE, FTB_FP64, 4)                                                           \
    X(table_f64x8, FTB_MESSAGE_TABLE, FTB_FP64, 8)                                                           \
    X(table_u64, FTB_MESSAGE_TABLE, FTB_UINT64, 1)                                                           \
    X(table_u64x2, FTB_MESSAGE_TABLE, FTB_UINT64, 2)

typedef void (*ftb_spgemm_kernel)(const ftb_spgemm *p, int64_t x0, int64_t x1, ftb_row *row);

/* The kernel that adds entries [x0, x1) of the left operand's row into an accumulator; NULL for a message
 * and cell that are not compiled. */
FTB_CELLS(ftb_spgemm_kernel, ftb_spgemm_pick, (const ftb_spgemm *p, ftb_spgemm_locate locate))
/* words[w] bit b = cell 64 w + b holds a value; acc must be readable to a multiple of 64 cells. */
FTB_CELLS(void, ftb_spgemm_presence, (const ftb_spgemm *p, const void *acc, int64_t ncells, uint64_t *words))

/* Columns and cells, of width 1, of the columns j0 .. j1 - 1 that hold a value, ascending; returns how many.
 * Counts come as int64_t, others as they are. Room for FTB_SWEEP_ROOM more entries is needed in both. */
#define FTB_SWEEP_ROOM 16
FTB_CELLS(int64_t, ftb_spgemm_sweep,
          (const ftb_spgemm *p, const void *acc, int64_t j0, int64_t j1, int32_t *cols, void *h))

/* The values of n cells: h[n][width], exact in `type`: FP32, FP64 or INT64. */
FTB_CELLS(void, ftb_spgemm_unpack,
          (const ftb_packed *packed, const uint64_t *acc, const uint32_t *cells, int64_t n, FtB_Type type,
           void *h))

/* What n counts hold, zeros left out: how many, their sum, least and largest. */
typedef struct ftb_spgemm_counts {
    int64_t nvals;
    uint64_t sum;
    uint32_t least, most;
} ftb_spgemm_counts;
FTB_CELLS(void, ftb_spgemm_count, (const uint32_t *acc, int64_t n, ftb_spgemm_counts *counts))

static inline int64_t ftb_spgemm_k(const ftb_spgemm *p, int64_t x)
{
    return p->awide ? ((const int64_t *)p->acol)[x] : ((const int32_t *)p->acol)[x];
}
static inline int64_t ftb_spgemm_first(const ftb_spgemm *p, int64_t x)
{
    return p->bstart ? p->bstart[x] + p->skip : p->brow[ftb_spgemm_k(p, x)];
}
static inline int64_t ftb_spgemm_last(const ftb_spgemm *p, int64_t x)
{
    return p->brow[ftb_spgemm_k(p, x) + 1];
}
static inline uint32_t ftb_spgemm_id(const ftb_spgemm *p, int64_t e)
{
    return p->id16 ? ((const uint16_t *)p->bid)[e] : ((const uint32_t *)p->bid)[e];
}

#endif
