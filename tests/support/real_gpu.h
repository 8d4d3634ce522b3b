/* Tests of a GPU on a real one: where FEATBLAS_TEST_GPU=real is in the environment, the driver is the
 * machine's own and not the one that does not exist (support/fake_cuda). Calls can be made to fail all the
 * same, and launches and pieces of memory are counted: the driver's table of functions has others in place of
 * some. */
#ifndef TESTS_REAL_GPU_H
#define TESTS_REAL_GPU_H

#include <stdbool.h>

bool real_gpu(void);       /* whether tests run there; without a GPU they fail then */
void real_gpu_begin(void); /* before the first use of it */
/* The function in the place of one of support/fake_cuda/fake_cuda.h's for tests; false: there is none. */
bool real_gpu_find(const char *function, void *to);

#endif
