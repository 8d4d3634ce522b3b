/* Memory, streams and events of GPUs that do not exist (fake_cuda.h). Device memory is at addresses that
 * nobody can read while no work of the device runs. Work on a stream is done late: when somebody waits, or
 * now and then, stream by stream in an order of FAKE_CUDA_SEED. A copy to the device reads pageable memory at
 * once and pinned memory late; one to pageable memory is done when the call returns. Misuse is written down.
 *
 * Time passes in a stream by 1 ms a launch or another library's work, and by 1 s where the environment's
 * FAKE_CUDA_SLOW, "one,another", has a part of the kernel's name; by what that library says
 * (fake_cuda_takes). */
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

typedef struct piece { /* device memory, or pinned memory of the host */
    struct piece *next;
    char *start;
    size_t bytes, room;
    int device; /* -1: pinned */
} piece;

typedef struct task {
    struct task *next;
    struct CUevent_st *event; /* recorded, or waited for; NULL: a copy or a launch */
    int waits;                /* for which of its records; 0: it is recorded */
    struct fake_launch *launch;
    void (*work)(const void *); /* another library's */
    void *argument;
    struct CUgraphExec_st *graph;
    char *to;
    const char *from;
    char *kept; /* what a copy from pageable memory has read, in place of `from` */
    size_t bytes;
} task;

struct CUstream_st {
    struct CUstream_st *next;
    int device;
    task *first, **last;
    struct fake_graph *graph; /* that it captures into; NULL: it does not */
    double milliseconds;      /* that have passed */
};
struct CUevent_st {
    struct CUstream_st *stream; /* in which its task is not done yet; NULL: it is */
    int device;
    int recorded, done;  /* how often */
    double milliseconds; /* when it was done last */
};

static piece *pieces;
static struct CUstream_st *streams;
static int live, pending, launches;
static uint64_t state;
static double taken; /* by the work that is being done */

static uint64_t draw(void) /* xorshift64* */
{
    if (!state)
        state = (uint64_t)fake_number("FAKE_CUDA_SEED", 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* The piece in which all of these bytes are; NULL: there is none. */
static piece *find(const void *at, size_t bytes)
{
    const char *start = at;
    for (piece *p = pieces; p; p = p->next)
        if (start >= p->start && start + bytes <= p->start + p->bytes)
            return p;
    return NULL;
}

/* ---- streams; the lock is held */

static void open_memory(const void *at, size_t bytes, int protection)
{
    const piece *p = bytes > 0 ? find(at, bytes) : NULL;
    if (p && p->device >= 0)
        mprotect(p->start, p->room, protection);
}

static void open_all(int device, int protection)
{
    for (const piece *p = pieces; p; p = p->next)
        if (p->device == device)
            mprotect(p->start, p->room, protection);
    if (protection == PROT_NONE)
        fake_mapped_close(device);
    else
        fake_mapped_open(device);
}

/* Whether a stream cannot get on by itself. */
static int is_held(const struct CUstream_st *s)
{
    return s->first && s->first->waits && s->first->event->done < s->first->waits;
}

static int is_slow(const char *kernel)
{
    const char *slow = getenv("FAKE_CUDA_SLOW");
    char part[64];
    while (slow && *slow) {
        const size_t length = strcspn(slow, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, slow);
        if (length > 0 && strstr(kernel, part))
            return 1;
        slow += length + (slow[length] == ',');
    }
    return 0;
}

/* What the first task waits for is done before it. */
static void do_task(struct CUstream_st *s)
{
    task *t = s->first;
    while (is_held(s))
        do_task(t->event->stream);
    s->first = t->next;
    if (!s->first)
        s->last = &s->first;
    if (t->event && !t->waits) {
        t->event->stream = NULL;
        t->event->done = t->event->recorded;
        t->event->milliseconds = s->milliseconds;
    } else if (t->event) {
        ; /* waited */
    } else if (t->launch) {
        open_all(s->device, PROT_READ | PROT_WRITE);
        fake_launch_run(t->launch);
        s->milliseconds += is_slow(fake_launch_name(t->launch)) ? 1000 : 1;
        fake_launch_delete(t->launch);
        launches++;
        open_all(s->device, PROT_NONE);
        pending--;
    } else if (t->work) {
        open_all(s->device, PROT_READ | PROT_WRITE);
        taken = 1;
        t->work(t->argument);
        s->milliseconds += taken;
        open_all(s->device, PROT_NONE);
        pending--;
    } else if (t->graph) {
        open_all(s->device, PROT_READ | PROT_WRITE);
        launches += fake_graph_run(t->graph);
        open_all(s->device, PROT_NONE);
        pending--;
    } else {
        const char *from = t->kept ? t->kept : t->from;
        open_memory(t->to, t->bytes, PROT_READ | PROT_WRITE);
        open_memory(from, t->bytes, PROT_READ | PROT_WRITE);
        memcpy(t->to, from, t->bytes);
        open_memory(t->to, t->bytes, PROT_NONE);
        open_memory(from, t->bytes, PROT_NONE);
        pending--;
    }
    free(t->kept);
    free(t->argument);
    free(t);
}

static void drain(struct CUstream_st *s)
{
    while (s->first)
        do_task(s);
}

static void drain_all(void)
{
    for (struct CUstream_st *s = streams; s; s = s->next)
        drain(s);
}

/* Now and then a stream gets on. */
void fake_streams_get_on(void)
{
    for (struct CUstream_st *s = streams; s; s = s->next)
        while (s->first && !is_held(s) && draw() % 8 == 0)
            do_task(s);
}

static void append(struct CUstream_st *s, task *t)
{
    *s->last = t;
    s->last = &t->next;
}

static int known(const struct CUstream_st *stream)
{
    const struct CUstream_st *s = streams;
    while (s && s != stream)
        s = s->next;
    return s != NULL;
}

/* Of another device's context, or gone, it is not to be used; what captures takes launches alone here. */
static int usable(const char *call, const struct CUstream_st *stream)
{
    if (known(stream) && stream->device == fake_device() && !stream->graph)
        return 1;
    fake_misuse(call, !known(stream)  ? "no stream, or one that was destroyed"
                      : stream->graph ? "a stream that captures"
                                      : "a stream of another device");
    return 0;
}

static task *new_task(void)
{
    task *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    return t;
}

/* ---- memory */

size_t fake_memory_used(int device)
{
    size_t bytes = 0;
    for (const piece *p = pieces; p; p = p->next)
        bytes += p->device == device ? p->bytes : 0;
    return bytes;
}

static unsigned add_piece(void **start, size_t bytes, int device, int protection)
{
    const size_t room = (bytes / PAGE + 2) * PAGE; /* a page behind it that nobody has */
    piece *p = malloc(sizeof *p);
    char *at = mmap(NULL, room, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!p || at == MAP_FAILED)
        abort();
    mprotect(at + room - PAGE, PAGE, PROT_NONE);
    *p = (piece){pieces, at, bytes, room - PAGE, device};
    pieces = p;
    live += device >= 0;
    *start = at;
    return OK;
}

static unsigned remove_piece(const char *call, const void *start, int device)
{
    piece **at = &pieces;
    while (*at && (*at)->start != start)
        at = &(*at)->next;
    if (!*at || ((*at)->device < 0) != (device < 0)) {
        fake_misuse(call, "not what was allocated, or freed twice");
        return INVALID_VALUE;
    }
    drain_all(); /* as cuMemFree waits */
    piece *gone = *at;
    *at = gone->next;
    live -= device >= 0;
    if (device >= 0)
        fake_memory_told(gone->start, 0);
    munmap(gone->start, gone->room + PAGE);
    free(gone);
    return OK;
}

unsigned cuMemAlloc_v2(unsigned long long *device, size_t bytes)
{
    const unsigned error = fake_enter("cuMemAlloc", 0);
    void *start = NULL;
    if (error)
        return error;
    const int here = fake_device();
    if (bytes == 0)
        return fake_leave(INVALID_VALUE);
    if (fake_memory_used(here) + bytes > (size_t)fake_number("FAKE_CUDA_MEMORY", 1 << 30))
        return fake_leave(OUT_OF_MEMORY);
    const unsigned made = add_piece(&start, bytes, here, PROT_READ | PROT_WRITE);
    memset(start, 0xcb, bytes);
    fake_memory_told(start, bytes);
    mprotect(start, (bytes / PAGE + 1) * PAGE, PROT_NONE);
    *device = (unsigned long long)(uintptr_t)start;
    return fake_leave(made);
}

unsigned cuMemFree_v2(unsigned long long device)
{
    const unsigned error = fake_enter("cuMemFree", 1);
    return error ? error : fake_leave(remove_piece("cuMemFree", (void *)(uintptr_t)device, 0));
}

unsigned cuPointerGetAttribute(void *value, unsigned attribute, unsigned long long address)
{
    const unsigned error = fake_enter("cuPointerGetAttribute", 0);
    if (error)
        return error;
    const piece *p = find((const void *)(uintptr_t)address, 1);
    if (!p || attribute != FTB_CUDA_ORDINAL)
        return fake_leave(INVALID_VALUE);
    *(int *)value = p->device < 0 ? fake_device() : p->device;
    return fake_leave(OK);
}

unsigned cuMemHostAlloc(void **host, size_t bytes, unsigned flags)
{
    const unsigned error = fake_enter("cuMemHostAlloc", 1);
    (void)flags;
    return error ? error : fake_leave(add_piece(host, bytes, -1, PROT_READ | PROT_WRITE));
}

unsigned cuMemFreeHost(void *host)
{
    const unsigned error = fake_enter("cuMemFreeHost", 1);
    return error ? error : fake_leave(remove_piece("cuMemFreeHost", host, -1));
}

/* ---- copies */

static unsigned copy(const char *call, char *to, const char *from, size_t bytes, int out,
                     struct CUstream_st *stream)
{
    const piece *there = find(out ? from : to, bytes), *pinned = find(out ? to : from, bytes);
    if (!usable(call, stream))
        return INVALID_HANDLE;
    if (!there || there->device != stream->device) {
        fake_misuse(call, "not in one piece of this device's memory");
        return INVALID_VALUE;
    }
    task *t = new_task();
    *t = (task){.to = to, .from = from, .bytes = bytes};
    if (!pinned && !out) {
        t->kept = malloc(bytes + 1);
        if (!t->kept)
            abort();
        memcpy(t->kept, from, bytes);
    }
    append(stream, t);
    pending++;
    if (!pinned && out)
        drain(stream);
    return OK;
}

unsigned cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                              struct CUstream_st *stream)
{
    const unsigned error = fake_enter("cuMemcpyHtoDAsync", 0);
    return error ? error
                 : fake_leave(copy("cuMemcpyHtoDAsync", (char *)(uintptr_t)to, from, bytes, 0, stream));
}

unsigned cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, struct CUstream_st *stream)
{
    const unsigned error = fake_enter("cuMemcpyDtoHAsync", 0);
    return error ? error
                 : fake_leave(copy("cuMemcpyDtoHAsync", to, (const char *)(uintptr_t)from, bytes, 1, stream));
}

/* ---- streams and events */

unsigned cuStreamCreate(struct CUstream_st **stream, unsigned flags)
{
    const unsigned error = fake_enter("cuStreamCreate", 0);
    (void)flags;
    if (error)
        return error;
    struct CUstream_st *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->device = fake_device();
    s->last = &s->first;
    s->next = streams;
    streams = s;
    *stream = s;
    return fake_leave(OK);
}

/* Of one that is there: the driver does not say what else happens. */
unsigned cuStreamGetCtx(struct CUstream_st *stream, struct CUctx_st **context)
{
    const unsigned error = fake_enter("cuStreamGetCtx", 0);
    if (error)
        return error;
    if (!known(stream))
        return fake_leave(INVALID_HANDLE);
    *context = fake_context(stream->device);
    return fake_leave(OK);
}

/* What was asked for is done first, as the driver sees to that. The library destroys none: callers do. */
unsigned cuStreamDestroy_v2(struct CUstream_st *stream)
{
    struct CUstream_st **at = &streams;
    const unsigned error = fake_enter("cuStreamDestroy", 1);
    if (error)
        return error;
    while (*at && *at != stream)
        at = &(*at)->next;
    if (!*at)
        return fake_leave(INVALID_HANDLE);
    drain(stream);
    *at = stream->next;
    free(stream);
    return fake_leave(OK);
}

unsigned cuStreamSynchronize(struct CUstream_st *stream)
{
    const unsigned error = fake_enter("cuStreamSynchronize", 1);
    if (error)
        return error;
    if (!usable("cuStreamSynchronize", stream))
        return fake_leave(INVALID_HANDLE);
    drain(stream);
    return fake_leave(OK);
}

unsigned cuEventCreate(struct CUevent_st **event, unsigned flags)
{
    const unsigned error = fake_enter("cuEventCreate", 0);
    (void)flags;
    if (error)
        return error;
    *event = calloc(1, sizeof **event);
    if (!*event)
        abort();
    (*event)->device = fake_device();
    return fake_leave(OK);
}

unsigned cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream)
{
    const unsigned error = fake_enter("cuEventRecord", 0);
    if (error)
        return error;
    if (!usable("cuEventRecord", stream))
        return fake_leave(INVALID_HANDLE);
    if (event->stream) /* recorded again: that one does not count any more */
        drain(event->stream);
    task *t = new_task();
    t->event = event;
    event->stream = stream;
    event->recorded++;
    append(stream, t);
    return fake_leave(OK);
}

unsigned cuStreamWaitEvent(struct CUstream_st *stream, struct CUevent_st *event, unsigned flags)
{
    const unsigned error = fake_enter("cuStreamWaitEvent", 0);
    if (error)
        return error;
    if (!usable("cuStreamWaitEvent", stream))
        return fake_leave(INVALID_HANDLE);
    if (flags || stream->device != event->device) {
        fake_misuse("cuStreamWaitEvent", "flags, or another device's event");
        return fake_leave(INVALID_VALUE);
    }
    if (event->stream && event->stream != stream) { /* in the same it is before, or done */
        task *t = new_task();
        t->event = event;
        t->waits = event->recorded;
        append(stream, t);
    }
    return fake_leave(OK);
}

unsigned cuEventSynchronize(struct CUevent_st *event)
{
    const unsigned error = fake_enter("cuEventSynchronize", 1);
    if (error)
        return error;
    while (event->stream)
        do_task(event->stream);
    return fake_leave(OK);
}

unsigned cuEventElapsedTime(float *milliseconds, struct CUevent_st *from, struct CUevent_st *to)
{
    const unsigned error = fake_enter("cuEventElapsedTime", 0);
    if (error)
        return error;
    if (from->stream || to->stream || !from->recorded || !to->recorded || from->device != to->device) {
        fake_misuse("cuEventElapsedTime", "of events that are not done");
        return fake_leave(INVALID_HANDLE);
    }
    *milliseconds = (float)(to->milliseconds - from->milliseconds);
    return fake_leave(OK);
}

/* ---- launches */

unsigned cuLaunchKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        struct CUstream_st *stream, void **parameters, void **extra)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    const unsigned error = fake_enter("cuLaunchKernel", 0);
    if (error)
        return error;
    if (!(known(stream) && stream->graph) && !usable("cuLaunchKernel", stream))
        return fake_leave(INVALID_HANDLE);
    if (!function || !parameters || extra) {
        fake_misuse("cuLaunchKernel", "no function or no parameters");
        return fake_leave(INVALID_VALUE);
    }
    struct fake_launch *launch = fake_launch_new(function, grid, block, shared, parameters);
    if (!launch)
        return fake_leave(INVALID_VALUE);
    if (stream->graph) {
        fake_graph_add(stream->graph, launch, NULL, NULL);
        return fake_leave(OK);
    }
    task *t = new_task();
    t->launch = launch;
    append(stream, t);
    pending++;
    return fake_leave(OK);
}

struct fake_graph **fake_stream_graph(struct CUstream_st *stream)
{
    return known(stream) ? &stream->graph : NULL;
}

void fake_stream_do(struct CUstream_st *stream, struct CUgraphExec_st *graph)
{
    task *t = new_task();
    t->graph = graph;
    append(stream, t);
    pending++;
}

/* ---- for other libraries */

int fake_cuda_holds(const void *at, size_t bytes)
{
    if (fake_enter("fake_cuda_holds", 0) != OK)
        return 0;
    const piece *p = find(at, bytes);
    const int held = p && p->device == fake_device();
    fake_leave(OK);
    return held;
}

void fake_cuda_append(struct CUstream_st *stream, void (*work)(const void *), const void *argument,
                      size_t bytes)
{
    if (fake_enter("fake_cuda_append", 0) != OK)
        return;
    void *kept = malloc(bytes);
    if (!kept)
        abort();
    memcpy(kept, argument, bytes);
    if (known(stream) && stream->graph) {
        fake_graph_add(stream->graph, NULL, work, kept);
    } else if (usable("fake_cuda_append", stream)) {
        task *t = new_task();
        t->work = work;
        t->argument = kept;
        append(stream, t);
        pending++;
    } else {
        free(kept);
    }
    fake_leave(OK);
}

void fake_cuda_takes(double milliseconds) { taken = milliseconds; }

/* ---- for tests */

int fake_cuda_live(void) { return live; }
int fake_cuda_pending(void) { return pending; }
int fake_cuda_launches(void) { return launches; }
