/* Rows of a block that stays on the host, gathered by a device: it keeps copies of some, and reads the others
 * in the host's memory, where they are, when it needs them. */
#ifndef FTB_KEPT_ROWS_H
#define FTB_KEPT_ROWS_H

#include "core/core.h"
#include "plan/gpu_features_plan.h"

struct ftb_kept_rows; /* the device's */

/* Rows of `buffer`, whose host's copy is valid and lent, and stays so. */
typedef struct ftb_rows_of {
    FtB_Context ctx;
    ftb_buffer *buffer;
    int64_t offset;                 /* bytes, of row 0 in it */
    int64_t nrows, row_bytes, step; /* step: bytes from one row to the next */
} ftb_rows_of;

typedef struct ftb_row_keeper {
    /* What the device's rule makes of facts, of which it fills in `free`. */
    GrB_Info (*plan)(ftb_gpu_features_plan *plan, const struct ftb_backend *b, ftb_gpu_features_facts *facts);
    /* kept: numbers of the rows to be kept, nkept of them, the most wanted first: where there is no room for
     * all, the first of them are. FTB_NO_DEVICE: the device cannot read that memory. */
    GrB_Info (*open)(struct ftb_kept_rows **made, const struct ftb_backend *b, const ftb_rows_of *of,
                     const int64_t *kept, int64_t nkept);
    /* y(t,:) = row rows[t], y being the device's, without gaps. The rows' memory is read later: the device is
     * waited for before it is written (buffer.h). */
    GrB_Info (*gather)(struct ftb_kept_rows *k, const int64_t *rows, int64_t count, void *y);
    /* How many are kept, and how many of those gathered so far were. Waits. */
    GrB_Info (*count)(struct ftb_kept_rows *k, int64_t *nkept, int64_t *hits);
    void (*close)(struct ftb_kept_rows *k); /* NULL is allowed */
} ftb_row_keeper;

#endif
