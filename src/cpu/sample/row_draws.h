/* Entries of a row drawn until enough of them are picked. */
#ifndef FTB_ROW_DRAWS_H
#define FTB_ROW_DRAWS_H

#include "cpu/sample/sample_run.h"

/* A thread's scratch memory, which grows where it must. */
typedef struct ftb_row_draws {
    const ftb_sample_product *s;
    uint64_t *scratch;
    bool failed; /* it did not: what was picked since is of no use */
} ftb_row_draws;

/* Draws 0 .. count - 1 of a row that were made before: place[d * FTB_PICK_ROWS] and fraction. */
typedef struct ftb_drawn {
    int64_t count;
    const uint32_t *place, *fraction;
} ftb_drawn;

/* The row's table, of its weights, which become scratch memory: finite ones, none below 0. false: all are 0.
 */
bool ftb_alias_make(ftb_alias_slot *slots, double *weight, int64_t degree);
/* Picks of row r, ascending, into `place`, which has room for as many as there may be: by its table, NULL:
 * all alike. Returns how many. The row has less than 2^31 entries. */
int64_t ftb_draw_row(ftb_row_draws *w, int64_t r, const ftb_alias_slot *slots, ftb_drawn drawn,
                     int64_t *place);

/* Places of the k least keys that are not NaN, of which there are as many, ascending. (sample_keys.c) */
void ftb_least_keys(int64_t *place, const double *key, int64_t degree, int64_t k);

#endif
