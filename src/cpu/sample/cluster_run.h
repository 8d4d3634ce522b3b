/* Graphs for partitions, and clusters of partitions. */
#ifndef FTB_CLUSTER_RUN_H
#define FTB_CLUSTER_RUN_H

#include "core/core.h"

/* The edges of a graph without directions: those of A + A' without its diagonal, in numbers of 4 or 8 bytes.
 */
typedef struct ftb_mutual {
    FtB_Context ctx;
    const ftb_pattern *p, *t; /* and its transpose */
    int bytes;
    int64_t *order, *place; /* vertex order[r] has row r, vertex j is column place[j]; NULL: r and j */
    int64_t nvals;          /* out, as what follows, which ftb_mutual_delete releases with order and place */
    void *rowptr, *column;
    void *weight; /* entries of p that an edge is of; NULL: of all as many */
} ftb_mutual;
GrB_Info ftb_mutual_run(ftb_mutual *m);
void ftb_mutual_delete(ftb_mutual *m);

/* The first label that is not one of 0 to nparts - 1; n: there is none. */
int64_t ftb_labels_beyond(const int32_t *labels, int64_t n, int64_t nparts);
/* Entries of p whose ends have different labels. */
int64_t ftb_labels_cut(FtB_Context ctx, const ftb_pattern *p, const int32_t *labels);
/* Vertices by label, in each ascending: those of label c are list[begin[c] .. begin[c + 1] - 1]; begin has
 * nparts + 1 places. */
void ftb_labels_list(int64_t *begin, int64_t *list, const int32_t *labels, int64_t n, int64_t nparts);

#endif
