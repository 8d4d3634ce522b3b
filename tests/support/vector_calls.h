/* Calls of sparse vectors, as test_threads.c makes them: large enough for threads to pay. */
#ifndef TESTS_VECTOR_CALLS_H
#define TESTS_VECTOR_CALLS_H

#include "featblas.h"

void vector_objects(void);
void vector_products(FtB_Matrix A); /* n x n */
void vector_parts(FtB_Matrix A);
void vector_elementwise(FtB_Matrix A);

#endif
