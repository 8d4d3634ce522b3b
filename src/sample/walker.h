/* Walks for all calls that walk: FtB_walk, and samplers that are made of walks. */
#ifndef FTB_WALKER_H
#define FTB_WALKER_H

#include "cpu/sample/walk_run.h"
#include "sample/selector.h"

typedef struct ftb_walker {
    ftb_selector selector; /* of a step */
    FtB_Walk_options options;
    ftb_walkers walkers; /* a piece of all walks */
    void *memory;        /* theirs */
    ftb_picks picks;
} ftb_walker;

/* Walks of options->each for each start. */
typedef struct ftb_walk_list {
    const int64_t *starts;
    int64_t first, count; /* walks of all */
    int64_t length;
    bool placed;  /* a walk's number is its place: walks of equal starts differ */
    int64_t *out; /* count x (1 + length) */
} ftb_walk_list;

/* Checks options (NULL: the defaults), as callers of `call` give them. On failure, too, ftb_walker_end must
 * follow. */
GrB_Info ftb_walker_begin(ftb_walker *w, FtB_Context ctx, FtB_Matrix A, const FtB_Walk_options *options,
                          const char *call);
void ftb_walker_end(ftb_walker *w);
GrB_Info ftb_walker_run(ftb_walker *w, const ftb_walk_list *list);

#endif
