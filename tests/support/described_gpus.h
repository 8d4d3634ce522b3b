/* GPUs that nobody here has, by descriptions in tests/cases/gpus, which `featblas plan --machine` reads, too.
 */
#ifndef TESTS_DESCRIBED_GPUS_H
#define TESTS_DESCRIBED_GPUS_H

#include "plan/machine.h"

enum { GPU_A100, GPU_H100, GPU_H200, GPU_SMALL, GPU_OLD, GPUS };
/* The last says nothing of its shared memory. */
extern const char *const described_gpus[GPUS]; /* their files' names, without the ending */
/* A host's description, before what follows of a GPU. */
#define DESCRIBED_HOST "cores = 4\nl1 = 32K\nl2 = 1M\nmemory = 64G\n"

/* Whether a description can be read; the machine stays as it was if not. */
bool described_read(ftb_machine_facts *m, const char *text);
ftb_machine_facts described_machine(int n);
ftb_gpu_facts described_gpu(int n);

#endif
