/* Kernels of a GPU, run on the CPU: each thread of a block is a fiber, which runs in random order between the
 * places where CUDA orders threads, and what CUDA leaves undefined is a fault that the report of the launch
 * names. Nothing here ends the process: a launch that cannot go on is abandoned, and says so. docs/kernels.md
 * says what it sees, and what it cannot see. One launch at a time; others wait. */
#ifndef SIMT_H
#define SIMT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simt_dim {
    unsigned x, y, z;
} simt_dim;

/* What can be wrong with a launch. */
typedef enum simt_kind {
    SIMT_LAUNCH,   /* no such kernel, or a grid that no device takes; nothing ran */
    SIMT_BARRIER,  /* threads of a block at different __syncthreads, which wait for each other */
    SIMT_DEADLOCK, /* no thread can go on */
    SIMT_ENDLESS,  /* more steps than options allow: threads that wait in a loop, for instance */
    SIMT_MASK,     /* a warp operation whose mask is not that of the lanes that take part */
    SIMT_SHUFFLE,  /* a shuffle from a lane that does not take part */
    SIMT_NKINDS
} simt_kind;

typedef struct simt_fault {
    simt_kind kind;
    char text[256];
} simt_fault;

enum { SIMT_TEXTS = 8 };

typedef struct simt_report {
    uint64_t seed;                /* of the launch, to have it again */
    int64_t faults;               /* 0: nothing was found */
    int64_t of_kind[SIMT_NKINDS]; /* that many of each */
    int nfirst;                   /* the first ones have texts */
    simt_fault first[SIMT_TEXTS];
    int64_t switches; /* from one thread to another */
} simt_report;

/* Zeros are the usual values. */
typedef struct simt_options {
    uint64_t seed; /* of the order of everything that CUDA does not order */
    int resident; /* blocks that run side by side: 0 and 1, one after the other. A persistent kernel needs its
                     grid */
    int64_t steps; /* after which a launch is endless; 0: 100 million */
} simt_options;

/* A kernel that a source registered with FTB_KERNEL(name); NULL: no source did. */
typedef struct simt_kernel simt_kernel;
const simt_kernel *simt_kernel_find(const char *name);

/* Runs a kernel with arguments as cuLaunchKernel takes them: one address for each parameter. Returns the
 * number of faults; `options` and `report` may be NULL. */
int64_t simt_launch(const simt_kernel *kernel, simt_dim grid, simt_dim block, size_t shared, void **arguments,
                    const simt_options *options, simt_report *report);

const char *simt_kind_name(simt_kind kind);
/* The seed, and the faults that have texts, a line each. */
void simt_print(const simt_report *report, FILE *to);

#ifdef __cplusplus
}
#endif

#endif
