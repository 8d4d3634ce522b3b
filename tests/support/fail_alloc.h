/* Makes the n-th allocation of a call fail, for every n. */
#ifndef TESTS_FAIL_ALLOC_H
#define TESTS_FAIL_ALLOC_H

#include "featblas.h"

/* Runs call(arg) with the library's first allocation failing, then the second, and so on (with
 * FEATBLAS_CASES=25% every fourth) until a run in which none was left to fail; that run must succeed. A run
 * in which one failed must return GrB_OUT_OF_MEMORY with a message (or GrB_SUCCESS, if the library did
 * without), and must leave as many live allocations and counted bytes as before; then untouched(arg), if not
 * NULL, looks at the outputs.
 *
 * call releases on success what it made. Where an operation hangs caches on its inputs (a transpose on a
 * pattern), make the inputs inside call, else the caches count as leaks.
 *
 *     static GrB_Info call(void *arg)
 *     {
 *         struct inputs *in = arg;
 *         FtB_Matrix S;
 *         GrB_Info info = FtB_Matrix_like(&S, in->A, 1, FTB_FP32);
 *         FtB_Matrix_free(&S);
 *         return info;
 *     }
 *     ...
 *     fail_every_allocation(call, NULL, &in);
 */
void fail_every_allocation(GrB_Info (*call)(void *arg), void (*untouched)(void *arg), void *arg);

/* Allocations of the library that are live, from the first call of this function on. */
int64_t live_allocations(void);

/* Allocations of anyone that would make the program larger than so much fail from now on; under a sanitizer
 * those that are larger on their own. */
void limit_memory(int64_t megabytes);

#endif
