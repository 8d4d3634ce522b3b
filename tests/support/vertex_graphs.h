/* Graphs that tests of vertex programs share, and a look at what a run tells. */
#ifndef TESTS_VERTEX_GRAPHS_H
#define TESTS_VERTEX_GRAPHS_H

#include "featblas_vertex.h"

enum { LARGE = 3000, EDGES = 120000 };

FtB_Matrix large_graph(void); /* LARGE vertices, EDGES entries of (-1, 1), parallel ones among them; FP64 */
FtB_Matrix path(int64_t n);   /* 0 -> 1 -> ... -> n - 1, without values */

/* Whether `explain`, which had this file, told of a run done at once; closes it. */
bool was_whole(FILE *told);

#endif
