/* What the files of the fake driver share (fake_cuda.c). */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "gpu/driver.h"

#include "fake_fails.h"

#define DECLARE(name, arguments) unsigned name arguments;
FTB_CUDA_CALLS(DECLARE)
#undef DECLARE

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_IMAGE = 200,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_FAILED = 719,
    UNKNOWN = 999
};

enum { DEVICES = 1000 }; /* the handle of the first: handles are no ordinals */

/* What a call fails with before it does anything, and OK else. `ready`: after cuInit only. */
unsigned fake_begin(const char *call);
unsigned fake_begin_ready(const char *call);

/* From now on every call fails with it. */
void fake_stick(unsigned error);

/* Kernels (fake_kernels.c; fake_none.c where there is no emulator). A launch keeps its parameters' values;
 * NULL: nothing can be launched so. */
struct fake_launch *fake_launch_new(const struct CUfunc_st *function, const unsigned grid[3],
                                    const unsigned block[3], unsigned shared, void **parameters);
const char *fake_launch_name(const struct fake_launch *launch);
void fake_launch_run(const struct fake_launch *launch);
void fake_launch_delete(struct fake_launch *launch);
void fake_memory_told(void *start, size_t bytes); /* kernels may reach it; 0: not any more */
size_t fake_memory_used(int device);              /* bytes (fake_memory.c) */
/* Before and after a kernel runs: it may read memory of the host that is registered (fake_mapped.c). */
void fake_mapped_open(int device);
void fake_mapped_close(int device);

/* For libraries that do not exist either, and find these by dlsym (fake_cublas.c): whether a context is
 * current; whether bytes are in one piece of its device's memory; work that a stream does in its turn, when
 * all of that memory can be reached, with a copy of so many bytes; how long that takes, said while it is
 * done; misuse. */
int fake_cuda_current(void);
int fake_cuda_holds(const void *at, size_t bytes);
void fake_cuda_append(struct CUstream_st *stream, void (*work)(const void *), const void *argument,
                      size_t bytes);
void fake_cuda_takes(double milliseconds);
void fake_cuda_wrong(const char *call, const char *what);

/* Calls that need a context are between these, of which the second returns its argument (fake_contexts.c);
 * `waits`: the call must not be where its thread captures. With OK, the lock is held. */
unsigned fake_enter(const char *call, int waits);
unsigned fake_leave(unsigned error);
int fake_device(void); /* of the thread's context */
struct CUctx_st *fake_context(int device);
void fake_streams_get_on(void);                           /* now and then a stream does (fake_memory.c) */
unsigned fake_misuse(const char *call, const char *what); /* written down; INVALID_VALUE */

/* Graphs (fake_graphs.c). Of the stream, what it captures into; NULL: it does not. A stream does a graph
 * late, in its turn. */
struct fake_graph **fake_stream_graph(struct CUstream_st *stream); /* NULL: there is no such stream */
void fake_stream_do(struct CUstream_st *stream, struct CUgraphExec_st *graph);
void fake_graph_add(struct fake_graph *graph, struct fake_launch *launch, void (*work)(const void *),
                    void *argument); /* a launch, or another library's work; both are the graph's then */
int fake_graph_run(struct CUgraphExec_st *graph); /* how many launches it has */
int fake_captures(void); /* whether this thread does; what it forbids invalidates that */
void fake_capture_spoil(void);

/* For tests, which find these by dlsym. */
int fake_cuda_inits(void);             /* calls of cuInit so far */
int fake_cuda_live(void);              /* pieces of device memory that are allocated */
int fake_cuda_mapped(void);            /* pieces of the host's memory that are registered */
int fake_cuda_pending(void);           /* copies and launches that are not done yet */
int fake_cuda_asked(const char *part); /* launches, so far, of kernels whose names have this */
int fake_cuda_launches(void);          /* kernels that ran so far */
int fake_cuda_graphs(void);            /* that can be launched */
int fake_cuda_calls(const char *call); /* so far, by its name without _v2, of those that need a context */
int fake_cuda_emulates(void);          /* whether any can */
const char *fake_cuda_misuse(void);    /* what was done that must not be, the first of it; NULL: nothing */
unsigned cuStreamDestroy_v2(struct CUstream_st *stream);
void fake_cuda_calm(void); /* forgets an error that sticks */

#endif
