/* Records launches and replays them (record.h).
 *
 * Pieces of memory that kernels were told of stay the recording's when their verbs have given them back: a
 * replay writes there again. In the order of calls that is as good as taking and giving. */
#include "gpu/record.h"

#include "gpu/memory.h"

#define NON_BLOCKING 1 /* CU_STREAM_NON_BLOCKING */
#define RELAXED 2      /* CU_STREAM_CAPTURE_MODE_RELAXED: memory may be allocated meanwhile, by any thread */

struct ftb_recording {
    ftb_gpu_device *d;
    struct CUgraphExec_st *graph;
    struct ftb_gpu_spare *pieces;
    void *numbers;
    int64_t bytes; /* of numbers */
    bool failed;   /* not all could be written down */
};

static _Thread_local struct ftb_recording *mine; /* that this thread makes */

bool ftb_gpu_records(const ftb_gpu_device *d) { return mine && mine->d == d; }

struct CUstream_st *ftb_gpu_stream(const ftb_gpu_device *d)
{
    return ftb_gpu_records(d) ? d->recorder : ftb_gpu_turn(d);
}

GrB_Info ftb_gpu_unrecorded(const ftb_gpu_device *d, const char *what)
{
    if (!ftb_gpu_records(d))
        return GrB_SUCCESS;
    mine->failed = true;
    return ftb_fail(FTB_NO_DEVICE, "%s: %s cannot be recorded", d->gpu->label, what);
}

/* ---- memory */

/* A new piece; of a device that has no more memory, nothing is freed for it now. */
static struct ftb_gpu_spare *new_piece(ftb_gpu_device *d, int class, size_t room)
{
    unsigned long long device;
    struct ftb_gpu_spare *p = ftb_raw_new(sizeof *p);
    if (p && d->driver->call.cuMemAlloc_v2(&device, room) == 0) {
        *p = (struct ftb_gpu_spare){.device = device, .class = class};
        return p;
    }
    ftb_raw_delete(p);
    return NULL;
}

GrB_Info ftb_gpu_record_take(ftb_gpu_device *d, unsigned long long *device, int class, size_t room)
{
    struct ftb_gpu_spare *p = mine->pieces;
    while (p && (p->out || p->class != class))
        p = p->next;
    if (!p) {
        p = ftb_gpu_spare_take(d, class);
        if (!p)
            p = new_piece(d, class, room);
        if (!p)
            return ftb_gpu_unrecorded(d, "a product for which there is no memory");
        p->next = mine->pieces;
        mine->pieces = p;
    }
    p->out = true;
    *device = p->device;
    return GrB_SUCCESS;
}

bool ftb_gpu_record_give(ftb_gpu_device *d, unsigned long long device)
{
    struct ftb_gpu_spare *p = mine->pieces;
    while (p && !(p->out && p->device == device))
        p = p->next;
    if (p)
        p->out = false;
    else
        (void)ftb_gpu_unrecorded(d, "memory that is given back");
    return p != NULL;
}

/* What verbs still have is theirs. The lock is held. */
static void give_pieces(struct ftb_recording *r)
{
    while (r->pieces) {
        struct ftb_gpu_spare *p = r->pieces;
        r->pieces = p->next;
        if (p->out)
            ftb_raw_delete(p);
        else
            ftb_gpu_spare_put(r->d, p, ftb_gpu_lane_here(r->d));
    }
}

static void discard(struct ftb_recording *r)
{
    if (r->numbers)
        r->d->row.memory->free(&r->d->row, r->numbers, r->bytes);
    ftb_raw_delete(r);
}

/* ---- recording */

static GrB_Info begin(const ftb_backend *b, FtB_Context ctx, int64_t bytes, void **numbers)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    struct ftb_recording *r = mine ? NULL : ftb_raw_new(sizeof *r);
    if (!r)
        return mine ? ftb_fail(FTB_NO_DEVICE, "%s: this thread records already", d->gpu->label) : ftb_nomem();
    *r = (struct ftb_recording){.d = d, .bytes = bytes};
    GrB_Info info = bytes > 0 ? ftb_device_room(&r->numbers, b, ctx, bytes) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS) {
        discard(r);
        return info;
    }
    if (d->recording)
        info = ftb_fail(GrB_NO_VALUE, "%s: another thread records", d->gpu->label);
    if (info == GrB_SUCCESS && !d->recorder)
        FTB_GPU_CALL(d, cuStreamCreate, &d->recorder, NON_BLOCKING);
    if (info == GrB_SUCCESS)
        FTB_GPU_CALL(d, cuStreamBeginCapture_v2, d->recorder, RELAXED);
done:
    if (info == GrB_SUCCESS) {
        mine = r;
        d->recording = true;
        *numbers = r->numbers;
    }
    ftb_gpu_leave(d, info);
    if (info != GrB_SUCCESS)
        discard(r);
    return info;
}

static bool any_out(const struct ftb_recording *r)
{
    const struct ftb_gpu_spare *p = r->pieces;
    while (p && !p->out)
        p = p->next;
    return p != NULL;
}

/* A driver that is lost has ended its graphs itself. */
static GrB_Info end(const ftb_backend *b, bool keep, struct ftb_recording **made)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    struct ftb_recording *r = mine;
    struct CUgraph_st *graph = NULL;
    GrB_Info info = ftb_gpu_enter(d);
    const bool entered = info == GrB_SUCCESS;
    mine = NULL;
    *made = NULL;
    if (!entered) {
        pthread_mutex_lock(&d->lock);
        goto done;
    }
    FTB_GPU_CALL(d, cuStreamEndCapture, d->recorder, &graph);
    keep = keep && !r->failed && !any_out(r);
    if (keep)
        FTB_GPU_CALL_IN_ROOM(d, cuGraphInstantiateWithFlags, &r->graph, graph, 0);
done:
    d->recording = false;
    if (graph)
        d->driver->call.cuGraphDestroy(graph);
    if (!r->graph)
        give_pieces(r);
    if (entered)
        ftb_gpu_leave(d, info);
    else
        pthread_mutex_unlock(&d->lock);
    if (r->graph)
        *made = r;
    else
        discard(r);
    return info;
}

/* ---- replays */

static GrB_Info run(const ftb_backend *b, FtB_Context ctx, struct ftb_recording *r, const void *numbers)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    GrB_Info info = ftb_gpu_unrecorded(d, "what was recorded before");
    if (info == GrB_SUCCESS && r->bytes > 0)
        info = b->memory->put(b, ctx, r->numbers, numbers, r->bytes);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_enter_for(d, ctx);
    if (info != GrB_SUCCESS)
        return info;
    FTB_GPU_CALL(d, cuGraphLaunch, r->graph, ftb_gpu_turn(d));
done:
    return ftb_gpu_leave(d, info);
}

/* The driver does not say what becomes of a graph that is ended while it runs. */
static void drop(const ftb_backend *b, struct ftb_recording *r)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    if (ftb_forked()) /* the parent's, and its lock may be held for good */
        return;
    const bool entered = ftb_gpu_enter(d) == GrB_SUCCESS;
    if (entered) {
        (void)ftb_gpu_wait_for_all(d);
        d->driver->call.cuGraphExecDestroy(r->graph);
    } else {
        pthread_mutex_lock(&d->lock);
    }
    give_pieces(r);
    if (entered)
        ftb_gpu_leave(d, GrB_SUCCESS);
    else
        pthread_mutex_unlock(&d->lock);
    discard(r);
}

const ftb_replays ftb_gpu_replays = {.begin = begin, .end = end, .run = run, .drop = drop};
