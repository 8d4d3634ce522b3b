/* Names of the kernels of sparse x block, in what was compiled of their sources. */
#ifndef TESTS_SPMM_NAMES_H
#define TESTS_SPMM_NAMES_H

#include <stdbool.h>

/* Every variant of a source's table, by the name that the host has for it; false: it is another source. */
bool assert_has_spmm_kernels(const char *source, const char *image);

#endif
