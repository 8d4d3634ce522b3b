/* Memory that is made piece by piece and freed as a whole. */
#ifndef FTB_OPS_ARENA_H
#define FTB_OPS_ARENA_H

#include "core/core.h"

typedef struct ftb_arena { /* begins as {.ctx = ...} */
    FtB_Context ctx;
    struct ftb_arena_piece *last;
} ftb_arena;

void *ftb_arena_new(ftb_arena *arena, int64_t count, size_t size);  /* as ftb_new */
void *ftb_arena_new0(ftb_arena *arena, int64_t count, size_t size); /* as ftb_new0 */
void ftb_arena_free(ftb_arena *arena);                              /* all pieces; it may be used again */

#endif
