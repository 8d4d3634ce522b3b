/* What a message that was compiled at run time is called with; also the beginning of its source. */
#ifndef FTB_JIT_CALL_H
#define FTB_JIT_CALL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct ftb_jit_call {
    int64_t first, last; /* places in rows */
    const int64_t *rows; /* NULL: rows first .. last - 1 */
    const int64_t *rowptr;
    const void *colidx;
    int64_t nvals;
    /* Of each feed: its values (row pointers of a degree), values from row to row, where its rows are. */
    const void *const *data;
    const int64_t *ld;
    const int64_t *const *at;
    void *out;
    int64_t ld_out;
    const void *identity; /* for rows without entries */
} ftb_jit_call;

#endif
