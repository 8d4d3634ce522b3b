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
static inline simt_dim simt_line(unsigned count)
{
    const simt_dim line = {count, 1, 1};
    return line;
}

/* What can be wrong with a launch. */
typedef enum simt_kind {
    SIMT_LAUNCH,    /* no such kernel, or a grid that no device takes; nothing ran */
    SIMT_BARRIER,   /* threads of a block at different __syncthreads, which wait for each other */
    SIMT_DEADLOCK,  /* no thread can go on */
    SIMT_ENDLESS,   /* more steps than options allow: threads that wait in a loop, for instance */
    SIMT_MASK,      /* a warp operation whose mask is not that of the lanes that take part */
    SIMT_SHUFFLE,   /* a shuffle from a lane that does not take part */
    SIMT_ALIGNMENT, /* an address that is no multiple of what is read or written there */
    SIMT_BOUNDS,    /* an access outside the memory that the kernel was given, or outside an array */
    SIMT_RACE,      /* two accesses of the same bytes, one of them a write, which nothing orders */
    SIMT_UNWRITTEN, /* shared memory is read where the block has written nothing */
    SIMT_COPY,      /* bytes of an asynchronous copy that nobody has waited for */
    SIMT_NKINDS
} simt_kind;

typedef struct simt_fault {
    simt_kind kind;
    char text[320];
    uintptr_t code; /* in the program's file, for addr2line; 0: the text says where */
} simt_fault;

enum { SIMT_TEXTS = 8 };

typedef struct simt_report {
    uint64_t seed;                /* of the launch, to have it again */
    int64_t faults;               /* 0: nothing was found */
    int64_t of_kind[SIMT_NKINDS]; /* that many of each */
    int nfirst;                   /* the first ones have texts */
    simt_fault first[SIMT_TEXTS];
    int64_t switches; /* from one thread to another */
    int64_t accesses; /* of memory that threads share */
    /* With `count`: instructions of warps, the 32-byte sectors that they touch, and passes over shared
     * memory's banks. */
    int64_t global_requests, global_sectors, shared_requests, shared_passes;
} simt_report;

/* Zeros are the usual values. */
typedef struct simt_options {
    uint64_t seed; /* of the order of everything that CUDA does not order */
    int resident; /* blocks that run side by side: 0 and 1, one after the other. A persistent kernel needs its
                     grid */
    int64_t steps; /* after which a launch is endless; 0: 100 million */
    int count;     /* not 0: requests are counted */
} simt_options;

/* Memory that kernels may reach from here on; of what overlaps it, nothing else is. The name is for messages.
 * Removed by where it starts. */
void simt_memory_add(void *start, size_t bytes, const char *name);
void simt_memory_remove(void *start);
#define SIMT_MEMORY_ADD(array) simt_memory_add((array), sizeof(array), #array)

/* A kernel that a source registered with FTB_KERNEL(name); NULL: no source did. */
typedef struct simt_kernel simt_kernel;
const simt_kernel *simt_kernel_find(const char *name);
const char *simt_kernel_name(const simt_kernel *kernel);
/* Bytes of each of its parameters, and 0 behind the last. */
const size_t *simt_kernel_sizes(const simt_kernel *kernel);

/* Runs a kernel with arguments as cuLaunchKernel takes them: one address for each parameter. Returns the
 * number of faults; `options` and `report` may be NULL. */
int64_t simt_launch(const simt_kernel *kernel, simt_dim grid, simt_dim block, size_t shared, void **arguments,
                    const simt_options *options, simt_report *report);

const char *simt_kind_name(simt_kind kind);
/* The seed, and the faults that have texts, a line each; with the line of the source where addr2line is
 * there. */
void simt_print(const simt_report *report, FILE *to);

#ifdef __cplusplus
}
#endif

#endif
