/* Which entries of a matrix stay, on the host: a byte per entry is decided first, then they are kept in one
 * more pass. */
#ifndef FTB_KEEP_RUN_H
#define FTB_KEEP_RUN_H

#include "core/mask.h"
#include "cpu/interpreter.h"

/* Entries and their values: `width` of `type` each. */
typedef struct ftb_entries {
    const ftb_pattern *p;
    const void *values;
    FtB_Type type;
    int64_t width;
} ftb_entries;

/* keep[e] = 1 where a mask's entry e admits, else 0; returns how many do. */
int64_t ftb_keep_admitted(FtB_Context ctx, uint8_t *keep, const ftb_mask *mask, int64_t nvals);
/* keep[e] = 1 for the k largest of each row, of width 0 or 1; else 0. */
GrB_Info ftb_keep_topk(FtB_Context ctx, uint8_t *keep, const ftb_entries *A, int64_t k);

/* The entries of p whose byte in keep is not 0, with their values of `entry` bytes (0: none). */
typedef struct ftb_kept {
    FtB_Context ctx;
    const ftb_pattern *p;
    const uint8_t *keep;
    const void *old_values;
    size_t entry;
    int64_t *rowptr; /* nrows + 1 */
    void *colidx, *values;
} ftb_kept;
/* Fills rowptr; returns how many are kept. */
int64_t ftb_keep_count(const ftb_kept *w);
/* Fills colidx and values. */
void ftb_keep_fill(const ftb_kept *w);

/* counts, at rowptr[1 .. nrows], become row pointers; returns the sum. */
int64_t ftb_rows_sum(int64_t *rowptr, int64_t nrows);
/* The row that entry `entry` is of, by bisection. */
int64_t ftb_row_at(const int64_t *rowptr, int64_t nrows, int64_t entry);

#endif
