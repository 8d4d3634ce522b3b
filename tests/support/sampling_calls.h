/* Calls of sampling, as test_threads.c makes them: of a matrix and rows that are large enough for threads to
 * pay. */
#ifndef TESTS_SAMPLING_CALLS_H
#define TESTS_SAMPLING_CALLS_H

#include "featblas.h"

void sampling_picks(FtB_Matrix A);
void sampling_hops(FtB_Matrix A, FtB_Block X, const int64_t *rows, int64_t count);
void sampling_walks(FtB_Matrix A, const int64_t *rows, int64_t count);
void sampling_subgraphs(FtB_Matrix A, const int64_t *rows, int64_t count);

#endif
