/* Bytes that a sparse x sparse product holds beside its operands and its result, array by array as they are
 * made: the form's in cpu/spgemm_arrays.c and spgemm_hot.c, a thread's in spgemm_rows.c, the chunks' and
 * their schedule in spgemm_run.c, heaps in spgemm_topk.c, a retained triangle's tables in spgemm_mirror.c. */
#include "plan/spgemm_plan.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ARRAYS 8192        /* what the allocator and small structures add, of a thread or of the form */
#define SPARE 80           /* entries that rows and lists have beyond their length */
#define DEGREES 65537      /* of a table for sorting columns by degree */
#define LINE_OF_COLUMNS 32 /* cold columns that are crossed together */

static int64_t longest_row(const ftb_spgemm_facts *f) { return MAX(MIN(f->longest_row, f->ncols), 1); }

bool ftb_spgemm_uses_dense(const ftb_spgemm_plan *plan, int64_t longest)
{
    if (plan->accumulator == FTB_ACC_HASH)
        return false;
    return plan->accumulator != FTB_ACC_AUTO || !plan->hash_rest || longest >= plan->dense_from;
}

bool ftb_spgemm_uses_hash(const ftb_spgemm_plan *plan)
{
    return plan->accumulator == FTB_ACC_HASH || (plan->accumulator == FTB_ACC_AUTO && plan->hash_rest);
}

int64_t ftb_spgemm_chunk_rows(const ftb_spgemm_plan *plan)
{
    int64_t rows = MAX(plan->chunk_bytes / 64, 1);
    return plan->chunk_rows > 0 ? MIN(rows, plan->chunk_rows) : rows;
}

int64_t ftb_spgemm_buckets(int64_t entries)
{
    int64_t buckets = 16;
    while (buckets < 2 * entries && buckets < INT64_C(1) << 31)
        buckets *= 2;
    return buckets;
}

int64_t ftb_spgemm_thread_bytes(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f)
{
    int64_t entries = longest_row(f) + SPARE, twice = f->dual && plan->mirror ? 2 : 1;
    int64_t cell = f->cell_bytes * twice;
    int64_t bytes = entries * (20 + 8 * MAX(f->width, 1) * twice) + f->worker_bytes + ARRAYS;
    if (plan->triangle)
        bytes += f->heap_bytes;
    if (ftb_spgemm_uses_dense(plan, f->longest_row))
        bytes += (f->ncols + SPARE) * (cell + 4 + 4 * f->masked) + f->ncols / 4;
    if (ftb_spgemm_uses_hash(plan))
        bytes += (ftb_spgemm_buckets(longest_row(f)) + SPARE) * (cell + 8);
    return bytes;
}

int64_t ftb_spgemm_hot_bytes(const ftb_spgemm_facts *f, int64_t hot, bool cross)
{
    if (hot == 0)
        return 0;
    int64_t lists = f->bvals * 4 + f->avals * 8 + 8 * f->ninner + (cross ? 4 * f->avals : 0);
    if (f->hot_form == FTB_HOT_COUNTS)
        return f->ninner * (hot / 8) + lists + (cross ? 2 * hot * f->ncols : 0);
    int64_t pair = f->hot_dual ? 8 : 4;
    return f->ninner * (hot / 2) + lists + f->bvals + 2 * f->avals /* codes and factors */ +
           (cross ? pair * hot * f->ncols + 4 * hot * hot : 0);
}

/* Rows of the cold part, and what is needed while pairs with hot columns are made. */
static int64_t hot_tables(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f)
{
    if (plan->hot == 0)
        return 0;
    int64_t rows = (8 + 8 * plan->threads) * f->nrows, line = LINE_OF_COLUMNS * plan->hot;
    return rows + (plan->cross ? 4 * line * (plan->threads + 2) + 8 * plan->hot : 0) + ARRAYS;
}

/* What the form holds, whatever the chunks. */
static int64_t form_bytes(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f)
{
    int64_t ids = plan->id16 ? 2 : plan->relabel ? 4 : 0;
    int64_t bytes = f->bvals * ids + f->prepared_bytes + ARRAYS;
    if (plan->relabel)
        bytes += 12 * f->ncols + 8 * DEGREES;
    if (plan->triangle)
        bytes += f->starts_bytes + 8 * f->nrows;
    if (plan->mirror)
        bytes += (32 + 12 * (int64_t)plan->threads) * f->nrows;
    return bytes + ftb_spgemm_hot_bytes(f, plan->hot, plan->cross) + hot_tables(plan, f);
}

/* Where chunks begin. Two of them together exceed one of the bounds. */
static int64_t schedule_bytes(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f)
{
    double entries = (double)MAX(plan->chunk_bytes / ftb_spgemm_entry_bytes(f), 1);
    double pairs = f->entries_bound / entries + f->products / (double)plan->chunk_products +
                   (double)f->nrows / (double)ftb_spgemm_chunk_rows(plan);
    double count = MIN(2 * pairs + 2, (double)f->nrows + 1);
    return (int64_t)(16 * count * (plan->mirror ? 2 : 1));
}

/* A chunk's room: its rows' statistics, or their entries. */
static int64_t slot_bytes(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f)
{
    int64_t longest = longest_row(f), entries = longest, rows = MIN(ftb_spgemm_chunk_rows(plan), f->nrows);
    if (!f->stats_only)
        entries = MAX(MIN(plan->chunk_bytes / ftb_spgemm_entry_bytes(f), (int64_t)f->entries_bound), longest);
    int64_t room = (entries + SPARE) * ftb_spgemm_entry_bytes(f);
    if (plan->mirror) /* of the triangle: one row over the other */
        room = MAX(room, (longest + SPARE) * (f->index_bytes + 8 * MAX(f->width, 1) * (f->dual ? 2 : 1)));
    if (plan->mirror) /* and the entries that other rows give */
        room += entries * (4 + f->retained_bytes) + 8 * rows;
    return room + rows * (f->stats_only || plan->mirror ? 40 : 8);
}

int64_t ftb_spgemm_bytes(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f)
{
    int64_t slots = FTB_CHUNKS_IN_FLIGHT(plan->threads);
    return plan->threads * ftb_spgemm_thread_bytes(plan, f) + form_bytes(plan, f) + schedule_bytes(plan, f) +
           slots * slot_bytes(plan, f);
}
