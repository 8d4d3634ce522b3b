/* Rounds of votes: who takes the label that most of its neighbours have. */
#ifndef FTB_COMMUNITIES_RUN_H
#define FTB_COMMUNITIES_RUN_H

#include "core/core.h"

/* A round: next(v) = the label that most neighbours of v have in `labels`, of several the least; its own
 * where it has none. */
typedef struct ftb_communities {
    FtB_Context ctx;
    ftb_pattern *p, *t; /* n x n, n < 2^31: neighbours are the columns of row v; and of t's, with a vote of
                           its own; NULL: of p's alone */
    const int32_t *labels;
    int32_t *next;
    int64_t changed; /* out: vertices whose label is another one */
    void *room;      /* between rounds, of ftb_communities_new */
} ftb_communities;
/* Room for rounds; ftb_communities_delete must follow, also on failure. */
GrB_Info ftb_communities_new(ftb_communities *w);
void ftb_communities_delete(ftb_communities *w);
GrB_Info ftb_communities_run(ftb_communities *w);

#endif
