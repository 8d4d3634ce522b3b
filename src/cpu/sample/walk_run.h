/* Walks, step by step: what is done for all of them before and after entries are picked of the rows that they
 * are at (the verb `sample`). */
#ifndef FTB_WALK_RUN_H
#define FTB_WALK_RUN_H

#include "core/core.h"

/* Some walks, each with its place among them. Arrays have room for `count`. */
typedef struct ftb_walkers {
    FtB_Context ctx;
    const ftb_pattern *p;
    const int64_t *starts; /* walk w is number (first + w) % each of starts[(first + w) / each] */
    int64_t first, count, each;
    bool placed;               /* a walk's number is first + w: walks of equal starts differ */
    double restart, back, out; /* 1 / p and 1 / q of node2vec: 1, 1 without */
    uint64_t *key, *again;     /* of a step's first try, and of the others */
    int64_t *at, *before;      /* vertices; -1: ended, and none */
    int64_t *next;
    int64_t *rows; /* those that are to be picked of, and whose they are: npending */
    int32_t *who;
    int64_t npending;
} ftb_walkers;

/* Keys of all walks, under the seed of the step. */
void ftb_walk_keys(const ftb_walkers *w, uint64_t seed);
/* All walks are at their starts. */
void ftb_walk_begin(ftb_walkers *w);
/* A step begins: some go back to their starts, the others wait for a pick. */
void ftb_walk_ask(ftb_walkers *w, uint64_t stream);
/* Of every row that was asked for none or one was picked. Those whose pick is refused wait for another: then
 * they have their keys of try `next` in w->again. `first`: the picks were of the step's first try. */
void ftb_walk_take(ftb_walkers *w, const int64_t *rowptr, const void *columns, uint64_t stream, int64_t next);
/* The step is done: where all walks are goes to out[w * ld]. */
void ftb_walk_put(ftb_walkers *w, int64_t *out, int64_t ld);

#endif
