/* Large arrays that were freed and are about to be wanted again.
 *
 * Memory that is fresh is cleared page by page before it is there. Who makes arrays of much the same sizes
 * again and again, batch after batch, says so: from `begin` to `end` freed arrays of 1 MB and more stay with
 * their context. They stay counted, but take no room from anybody: before memory is asked for that would go
 * beyond the context's limit, or a quarter beyond the most that was in use, so much of them is given back,
 * the longest freed first, and so are all where the system has no more. What few rounds did not want goes as
 * well. */
#ifndef FTB_SPARE_H
#define FTB_SPARE_H

#include "core/core.h"

typedef struct ftb_spare ftb_spare;

/* Calls are counted; after the last `end` nothing is kept. (FtB_Context_set_reuse is a caller's own.) */
void ftb_spare_begin(FtB_Context ctx);
void ftb_spare_end(FtB_Context ctx);
/* A batch, or what is like one, begins. */
void ftb_spare_round(FtB_Context ctx);

/* ---- for who counts memory (alloc.c) */

/* Gives back what is in the way of so many bytes more. */
void ftb_spare_room(FtB_Context ctx, int64_t bytes);
/* What to ask the allocator for, that arrays of sizes not far from this may use it after. */
int64_t ftb_spare_bytes(FtB_Context ctx, int64_t bytes);
/* An allocation of *bytes or somewhat more, then in *bytes, counted; NULL: there is none. */
void *ftb_spare_take(FtB_Context ctx, int64_t *bytes);
/* Whether it is kept; else it is for the caller to free. */
bool ftb_spare_put(FtB_Context ctx, void *raw, int64_t bytes);
/* Gives back so many bytes, if there are as many. Returns whether there were any. */
bool ftb_spare_give(FtB_Context ctx, int64_t bytes);

#endif
