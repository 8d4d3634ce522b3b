/* Runs of vertex programs, as test_threads.c makes them: of a graph that is large enough for threads to pay.
 */
#ifndef TESTS_VERTEX_CALLS_H
#define TESTS_VERTEX_CALLS_H

#include "featblas_vertex.h"

void vertex_runs(FtB_Matrix A);
void vertex_programs(FtB_Matrix A); /* values are not negative */
void shape_programs(FtB_Matrix A);
void rating_programs(FtB_Matrix R);

#endif
