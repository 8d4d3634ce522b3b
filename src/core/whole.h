/* The whole that a hop of a sample is of: the graph that its entries were picked of, and which vertices of it
 * its rows and columns are. All hops of a sample share it. */
#ifndef FTB_WHOLE_H
#define FTB_WHOLE_H

#include "core/core.h"

typedef struct ftb_whole {
    atomic_llong refs;
    FtB_Matrix graph; /* a handle of our own */
    bool corrected;   /* values of hops are over their chances: they stand for what was not picked, too */
    ftb_buffer
        *vertices; /* int64_t, by local number, of rows and columns alike: at least as many as columns */
} ftb_whole;

/* Adopts one reference of `vertices` (also on failure); NULL on failure. */
ftb_whole *ftb_whole_new(FtB_Context ctx, FtB_Matrix graph, ftb_buffer *vertices);
ftb_whole *ftb_whole_retain(ftb_whole *w);
void ftb_whole_release(ftb_whole *w); /* NULL is allowed */

#endif
