/* What tests of tapes are made of. */
#ifndef TESTS_TAPES_H
#define TESTS_TAPES_H

#include "featblas_nn.h"

enum { SMALL_VERTICES = 7, SMALL_ENTRIES = 11 };

/* A graph of 7 vertices with an isolated one (5), which others hear, a self-loop and a hub; no values. NULL
 * where an allocation is made to fail. */
FtB_Matrix small_graph(void);
/* Values of fill_random (gradients.h). */
FtB_Block drawn_block(int64_t nrows, int64_t ncols, FtB_Type type, uint64_t seed);
FtB_Parameter drawn_parameter(const char *name, int64_t nrows, int64_t ncols, FtB_Type type, uint64_t seed);

#endif
