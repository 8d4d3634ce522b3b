/* Tables to draw entries of a matrix's rows with, by weight (Walker's alias method), kept with the matrix
 * that they were made of: for one text of weights, while the values are the same. */
#ifndef FTB_DRAW_TABLES_H
#define FTB_DRAW_TABLES_H

#include "core/watch.h"

/* Entry t of a row of n: a draw that falls on t, one of n alike, gives t where its fraction of 32 bits is
 * less than `below`, else the row's entry `other`. `below` is 0 where the weight is, and only there; nothing
 * is such an entry's other. The first entry of a row that has no such table has -1 for the other. */
typedef struct ftb_alias_slot {
    uint32_t below;
    int32_t other;
} ftb_alias_slot;

/* By row, slots for all entries; or of all columns, the sums of the squares of their entries' weights, each
 * with those before it, in FP64. */
enum { FTB_TABLES_ROWS, FTB_TABLES_COLUMNS, FTB_TABLES_KINDS };

typedef struct ftb_draw_tables {
    char *text;
    ftb_watch values; /* that it is of */
    int64_t looked;   /* entries whose weights were evaluated without it */
    ftb_buffer *made; /* NULL: it was not so far */
} ftb_draw_tables;
void ftb_draw_tables_delete(ftb_draw_tables *a); /* NULL is allowed (matrix.c) */

#endif
