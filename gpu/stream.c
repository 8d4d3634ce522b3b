/* Whose stream work goes to (context.h). All work of a GPU has one order, that of calls: where it goes to
 * another stream than before, that waits for an event recorded behind all of the last. Contexts with streams
 * of their own do not overlap, then, but memory and objects need no stream that they belong to. */
#include "gpu/record.h"

#include <stdint.h>

/* Handles that stand for a default stream: the legacy one waits for others and is waited for, and which one a
 * thread's is depends on who asks. */
#define LEGACY 1     /* CU_STREAM_LEGACY */
#define PER_THREAD 2 /* CU_STREAM_PER_THREAD */

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

GrB_Info ftb_gpu_enter_for(ftb_gpu_device *d, FtB_Context ctx)
{
    GrB_Info info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS)
        return info;
    if (!ftb_gpu_records(d))
        info = turn_to(d, stream_of(d, ctx));
    return info == GrB_SUCCESS ? info : ftb_gpu_leave(d, info);
}

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
