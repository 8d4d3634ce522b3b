/* Whose stream work goes to (context.h). All work of a GPU has one order, that of calls: where it goes to
 * another stream than before, that waits for an event recorded behind all of the last. Contexts with streams
 * of their own do not overlap, then, but memory and objects need no stream that they belong to.
 *
 * But for what a thread does beside, in a second lane: its stream waits for the first lane's when that
 * begins, and from then on a lane waits for the other where it comes to something that the other has written
 * since. That is told by epochs: what is written, and memory that is freed, is stamped with its lane's; when
 * a lane waits for the other, it has seen all epochs up to there, and another one begins. */
#include "gpu/record.h"

#include <stdint.h>

/* Handles that stand for a default stream: the legacy one waits for others and is waited for, and which one a
 * thread's is depends on who asks. */
#define LEGACY 1       /* CU_STREAM_LEGACY */
#define PER_THREAD 2   /* CU_STREAM_PER_THREAD */
#define NON_BLOCKING 1 /* CU_STREAM_NON_BLOCKING */

/* Of a context that works on another device it is none of this one's. */
static struct CUstream_st *stream_of(const ftb_gpu_device *d, FtB_Context ctx)
{
    if (!ctx)
        ctx = ftb_context();
    return ctx->stream && ctx->device == &d->row ? ctx->stream : d->own;
}

static GrB_Info turn_to(ftb_gpu_device *d, struct CUstream_st *stream)
{
    GrB_Info info = GrB_SUCCESS;
    if (stream == d->turn)
        return info;
    FTB_GPU_CALL(d, cuEventRecord, d->handed, d->turn);
    FTB_GPU_CALL(d, cuStreamWaitEvent, stream, d->handed, 0);
    d->turn = stream;
done:
    return info;
}

/* ---- lanes */

static _Thread_local const ftb_gpu_device *beside; /* that this thread's work goes beside on */

int ftb_gpu_lane_here(const ftb_gpu_device *d) { return beside == d; }

static struct CUstream_st *stream_in(const ftb_gpu_device *d, int lane) { return lane ? d->beside : d->turn; }

struct CUstream_st *ftb_gpu_turn(const ftb_gpu_device *d) { return stream_in(d, ftb_gpu_lane_here(d)); }

/* What comes here waits for all that went to the other lane. */
static GrB_Info cross(ftb_gpu_device *d)
{
    const int here = ftb_gpu_lane_here(d);
    ftb_gpu_lane *const other = &d->lane[!here];
    GrB_Info info = GrB_SUCCESS;
    if (other->any) {
        FTB_GPU_CALL(d, cuEventRecord, other->last, stream_in(d, !here));
        FTB_GPU_CALL(d, cuStreamWaitEvent, stream_in(d, here), other->last, 0);
        other->any = false;
    }
    d->lane[here].seen = atomic_fetch_add(&other->epoch, 1) + 1;
done:
    return info;
}

uint64_t ftb_gpu_stamp(const ftb_backend *b)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    const int here = ftb_gpu_lane_here(d);
    return (uint64_t)atomic_load(&d->lane[here].epoch) << 1 | (uint64_t)here;
}

GrB_Info ftb_gpu_after(const ftb_backend *b, uint64_t stamp)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    const int here = ftb_gpu_lane_here(d);
    const bool all = stamp == FTB_ALL_SO_FAR;
    if (ftb_forked() || (!all && (int)(stamp & 1) == here))
        return GrB_SUCCESS;
    GrB_Info info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS)
        return info;
    if (all || stamp >> 1 >= d->lane[here].seen)
        info = cross(d);
    return ftb_gpu_leave(d, info);
}

/* What went to the context's stream, by the caller's own hand too, comes before. */
GrB_Info ftb_gpu_beside_begin(const ftb_backend *b, FtB_Context ctx)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    GrB_Info info = ftb_gpu_enter_for(d, ctx);
    if (info != GrB_SUCCESS)
        return info;
    if (d->beside_taken)
        return ftb_gpu_leave(d, ftb_fail(GrB_NO_VALUE, "%s: another thread works beside", d->gpu->label));
    if (!d->beside)
        FTB_GPU_CALL(d, cuStreamCreate, &d->beside, NON_BLOCKING);
    info = ftb_gpu_lane_begin(d, &d->lane[1]);
    beside = d;
    if (info == GrB_SUCCESS)
        info = cross(d);
    if (info != GrB_SUCCESS)
        beside = NULL;
    d->beside_taken = info == GrB_SUCCESS;
done:
    return ftb_gpu_leave(d, info);
}

void ftb_gpu_beside_end(const ftb_backend *b)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    beside = NULL;
    pthread_mutex_lock(&d->lock);
    d->beside_taken = false;
    pthread_mutex_unlock(&d->lock);
}

GrB_Info ftb_gpu_go_on_for(ftb_gpu_device *d, FtB_Context ctx)
{
    if (ftb_gpu_records(d))
        return GrB_SUCCESS;
    d->lane[ftb_gpu_lane_here(d)].any = true;
    return ftb_gpu_lane_here(d) ? GrB_SUCCESS : turn_to(d, stream_of(d, ctx));
}

GrB_Info ftb_gpu_enter_for(ftb_gpu_device *d, FtB_Context ctx)
{
    GrB_Info info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_gpu_go_on_for(d, ctx);
    return info == GrB_SUCCESS ? info : ftb_gpu_leave(d, info);
}

/* ---- waiting */

GrB_Info ftb_gpu_wait_for(ftb_gpu_device *d, struct CUevent_st *event)
{
    pthread_mutex_unlock(&d->lock);
    const unsigned error = d->driver->call.cuEventSynchronize(event);
    pthread_mutex_lock(&d->lock);
    return error ? ftb_gpu_failed(d, "cuEventSynchronize", error) : GrB_SUCCESS;
}

/* What went to other streams of the first lane is done before what went to its last, and a stream of the
 * caller's may be gone before the wait is over: events are waited for. Where another thread records one again
 * meanwhile, that is behind what is waited for here. */
GrB_Info ftb_gpu_wait_for_all(ftb_gpu_device *d)
{
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < FTB_GPU_LANES; n++) {
        struct CUstream_st *const stream = stream_in(d, n);
        if (!stream || !d->lane[n].last)
            continue;
        FTB_GPU_CALL(d, cuEventRecord, d->lane[n].last, stream);
        FTB_CHECK(ftb_gpu_wait_for(d, d->lane[n].last));
    }
done:
    return info;
}

/* ---- streams of the caller's */

/* The lock is held. */
static GrB_Info check(ftb_gpu_device *d, struct CUstream_st *stream)
{
    struct CUctx_st *of = NULL;
    const unsigned error = d->driver->call.cuStreamGetCtx(stream, &of);
    if (error) {
        GrB_Info info = ftb_gpu_failed(d, "cuStreamGetCtx", error);
        return ftb_wrap_error(d->lost ? info : GrB_INVALID_VALUE, "FtB_Context_set_stream: stream: ");
    }
    return of == d->context
               ? GrB_SUCCESS
               : ftb_fail(GrB_INVALID_VALUE,
                          "FtB_Context_set_stream: stream is of another device than '%s', or not "
                          "of its primary context",
                          d->gpu->label);
}

GrB_Info ftb_gpu_set_stream(const ftb_backend *b, FtB_Context ctx, void *stream)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    struct CUstream_st *const old = ctx->stream;
    if ((uintptr_t)stream == LEGACY || (uintptr_t)stream == PER_THREAD)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Context_set_stream: stream is %s; expected one that was made, such as by "
                        "cudaStreamCreateWithFlags, or NULL for the library's own",
                        (uintptr_t)stream == LEGACY ? "the legacy default stream" : "a thread's default");
    if (!stream)
        ctx->stream = NULL;
    if (stream == old)
        return GrB_SUCCESS;
    GrB_Info info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS)
        return info;
    if (stream)
        info = check(d, stream);
    if (info == GrB_SUCCESS && old && d->turn == old) /* who has it may end it after this */
        info = turn_to(d, d->own);
    if (info == GrB_SUCCESS)
        ctx->stream = stream;
    return ftb_gpu_leave(d, info);
}
