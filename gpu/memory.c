/* Memory of a GPU: pieces are kept when they are freed, by size, since the driver's own allocation takes long
 * and waits for all work; copies go through pinned memory in two halves, one filled while the other is on its
 * way.
 *
 * put() has read the host's memory when it returns, get() has written it. */
#include "gpu/memory.h"

#include "gpu/cusparse/cusparse_product.h"
#include "gpu/record.h"
#include "gpu/sample/row_keeper.h"
#include "gpu/spmm_form.h"

#include <assert.h>

#define LEAST 512 /* bytes: the driver's own grain */

/* ---- pieces */

/* Sizes are eight to each power of two; *class is theirs. */
static size_t round_up(int64_t bytes, int *class)
{
    int64_t step = LEAST;
    int power = 0;
    while (step * 16 <= bytes) {
        step *= 2;
        power++;
    }
    const int64_t steps = ftb_max(1, (bytes + step - 1) / step); /* at most 16 */
    *class = power * 16 + (int)steps;
    return (size_t)(steps * step);
}

static size_t bytes_of(int class)
{
    const int power = (class - 1) / 16;
    return (size_t)(class - 16 * power) * LEAST << power;
}

static GrB_Info trim(ftb_gpu_device *d)
{
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < FTB_GPU_CLASSES; n++)
        while (d->spare[n]) {
            struct ftb_gpu_spare *gone = d->spare[n];
            FTB_GPU_CALL(d, cuMemFree_v2, gone->device);
            d->spare[n] = gone->next;
            ftb_raw_delete(gone);
        }
done:
    return info;
}

bool ftb_gpu_make_room(ftb_gpu_device *d)
{
    bool any = !ftb_gpu_records(d) && ftb_gpu_cusparse_drop(d);
    for (int n = 0; n < FTB_GPU_CLASSES; n++)
        any = any || d->spare[n];
    return any && !ftb_gpu_records(d) && trim(d) == GrB_SUCCESS;
}

GrB_Info ftb_gpu_trim(const ftb_backend *b)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    GrB_Info info = ftb_gpu_enter(d);
    return info == GrB_SUCCESS ? ftb_gpu_leave(d, trim(d)) : info;
}

struct ftb_gpu_spare *ftb_gpu_spare_take(ftb_gpu_device *d, int class)
{
    const int here = ftb_gpu_lane_here(d);
    struct ftb_gpu_spare **at = &d->spare[class];
    while (*at && (*at)->lane != here && (*at)->epoch >= d->lane[here].seen)
        at = &(*at)->next;
    struct ftb_gpu_spare *const taken = *at;
    if (taken)
        *at = taken->next;
    return taken;
}

void ftb_gpu_spare_put(ftb_gpu_device *d, struct ftb_gpu_spare *s, int lane)
{
    s->lane = lane;
    s->epoch = atomic_load(&d->lane[s->lane].epoch);
    s->next = d->spare[s->class];
    d->spare[s->class] = s;
}

static GrB_Info take(ftb_gpu_device *d, unsigned long long *device, int64_t bytes)
{
    int class;
    const size_t room = round_up(bytes, &class);
    GrB_Info info = GrB_SUCCESS;
    if (ftb_gpu_records(d))
        return ftb_gpu_record_take(d, device, class, room);
    struct ftb_gpu_spare *s = ftb_gpu_spare_take(d, class);
    if (s) {
        *device = s->device;
        ftb_raw_delete(s);
        return GrB_SUCCESS;
    }
    const unsigned error = d->driver->call.cuMemAlloc_v2(device, room);
    if (!error)
        return GrB_SUCCESS;
    if (error == FTB_CUDA_OUT_OF_MEMORY && ftb_gpu_make_room(d) &&
        d->driver->call.cuMemAlloc_v2(device, room) == 0)
        return GrB_SUCCESS;
    info = ftb_gpu_failed(d, "cuMemAlloc_v2", error);
    if (error == FTB_CUDA_OUT_OF_MEMORY)
        info = ftb_wrap_error(info, "%lld bytes: ", (long long)bytes);
    return info;
}

static GrB_Info take_for(ftb_gpu_device *d, unsigned long long *device, int64_t bytes)
{
    GrB_Info info = ftb_gpu_enter(d);
    return info == GrB_SUCCESS ? ftb_gpu_leave(d, take(d, device, bytes)) : info;
}

/* What can be made again gives way. */
static GrB_Info alloc(const ftb_backend *b, FtB_Context ctx, void **device, int64_t bytes)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    unsigned long long at = 0;
    (void)ctx;
    GrB_Info info = take_for(d, &at, bytes);
    if (info == FTB_NO_DEVICE && !d->lost && ftb_gpu_forms_drop(d))
        info = take_for(d, &at, bytes);
    if (info == FTB_NO_DEVICE && !d->lost && !ftb_gpu_records(d) && ftb_gpu_kept_drop(d))
        info = take_for(d, &at, bytes);
    if (info == GrB_SUCCESS)
        *device = (void *)(uintptr_t)at;
    return info;
}

/* Keeps a piece for the next who asks; false: there is no room for the note. The lock is held. */
static bool keep(ftb_gpu_device *d, void *device, int class, int lane)
{
    struct ftb_gpu_spare *s = ftb_raw_new(sizeof *s);
    if (!s)
        return false;
    *s = (struct ftb_gpu_spare){.device = (unsigned long long)(uintptr_t)device, .class = class};
    ftb_gpu_spare_put(d, s, lane);
    return true;
}

void ftb_gpu_give(ftb_gpu_device *d, void *device, int64_t bytes, int lane)
{
    int class;
    round_up(bytes, &class);
    if (!keep(d, device, class, lane))
        d->driver->call.cuMemFree_v2((unsigned long long)(uintptr_t)device);
}

/* Of a lost GPU nothing is freed: the driver has done so. */
static void release(const ftb_backend *b, void *device, int64_t bytes)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    int class;
    round_up(bytes, &class);
    if (ftb_forked()) /* the parent's, and its lock may be held for good */
        return;
    pthread_mutex_lock(&d->lock);
    const bool done = (ftb_gpu_records(d) && ftb_gpu_record_give(d, (unsigned long long)(uintptr_t)device)) ||
                      keep(d, device, class, ftb_gpu_lane_here(d));
    pthread_mutex_unlock(&d->lock);
    if (!done && ftb_gpu_enter(d) == GrB_SUCCESS) {
        d->driver->call.cuMemFree_v2((unsigned long long)(uintptr_t)device);
        ftb_gpu_leave(d, GrB_SUCCESS);
    }
}

static int64_t size(const ftb_backend *b) { return ftb_gpu_of(b)->gpu->memory; }

GrB_Info ftb_gpu_free_memory(ftb_gpu_device *d, int64_t *bytes)
{
    const int64_t planned = ftb_gpu_planned(d).memory;
    size_t unused = 0, total = 0;
    int64_t kept = 0;
    GrB_Info info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS)
        return info;
    FTB_GPU_CALL(d, cuMemGetInfo_v2, &unused, &total);
    for (int n = 1; n < FTB_GPU_CLASSES; n++)
        for (const struct ftb_gpu_spare *s = d->spare[n]; s; s = s->next)
            kept += (int64_t)bytes_of(n);
    *bytes = (int64_t)unused + kept;
    if (planned > 0 && planned < (int64_t)total)
        *bytes = ftb_max(0, *bytes - ((int64_t)total - planned));
done:
    return ftb_gpu_leave(d, info);
}

/* ---- copies */

/* After a failure stages may be used for what no event tells of: that is waited for, if any was begun. */
static GrB_Info settled(ftb_gpu_device *d, struct CUstream_st *stream, GrB_Info info)
{
    if (info != GrB_SUCCESS && stream && !d->lost)
        d->driver->call.cuStreamSynchronize(stream);
    return info;
}

/* Of a lane, through whose stages it goes: for a context, or `aside` and whoever for. */
typedef struct copying {
    ftb_gpu_device *d;
    ftb_gpu_lane *lane;
    FtB_Context ctx;
    bool aside;
} copying;

/* Where it goes on, after others may have sent work elsewhere. */
static GrB_Info go_on(const copying *c, struct CUstream_st **stream)
{
    const GrB_Info info = c->aside ? GrB_SUCCESS : ftb_gpu_go_on_for(c->d, c->ctx);
    *stream = c->aside ? c->d->aside : ftb_gpu_turn(c->d);
    return info;
}

/* Between the two the stages of this thread's lane are its own, and the lock is held. */
static GrB_Info begin_copy(copying *c, const char *what)
{
    ftb_gpu_device *d = c->d;
    c->lane = &d->lane[ftb_gpu_lane_here(d)];
    GrB_Info info = ftb_gpu_unrecorded(d, what);
    if (info != GrB_SUCCESS || ftb_forked()) /* then the locks may be held for good */
        return info != GrB_SUCCESS ? info : ftb_gpu_enter(d);
    pthread_mutex_lock(&c->lane->copying);
    info = c->aside ? ftb_gpu_enter(d) : ftb_gpu_enter_for(d, c->ctx);
    if (info != GrB_SUCCESS)
        pthread_mutex_unlock(&c->lane->copying);
    return info;
}

static GrB_Info end_copy(const copying *c, GrB_Info info)
{
    ftb_gpu_leave(c->d, info);
    pthread_mutex_unlock(&c->lane->copying);
    return info;
}

static GrB_Info send(const copying *c, unsigned long long to, const char *from, int64_t bytes)
{
    ftb_gpu_device *d = c->d;
    struct CUstream_st *stream = NULL;
    GrB_Info info = GrB_SUCCESS;
    for (int64_t done = 0; done < bytes; done += FTB_GPU_STAGE) {
        const int n = c->lane->next++ % FTB_GPU_STAGES;
        const size_t part = (size_t)ftb_min(FTB_GPU_STAGE, bytes - done);
        FTB_CHECK(ftb_gpu_wait_for(d, c->lane->stage[n].done));
        memcpy(c->lane->stage[n].host, from + done, part);
        FTB_CHECK(go_on(c, &stream));
        FTB_GPU_CALL(d, cuMemcpyHtoDAsync_v2, to + (unsigned long long)done, c->lane->stage[n].host, part,
                     stream);
        FTB_GPU_CALL(d, cuEventRecord, c->lane->stage[n].done, stream);
    }
done:
    return settled(d, stream, info);
}

/* What is still to be sent from a stage goes before what is fetched into it, in whatever stream. */
static GrB_Info fetch(const copying *c, char *to, unsigned long long from, int64_t bytes)
{
    ftb_gpu_device *d = c->d;
    struct CUstream_st *stream = NULL;
    GrB_Info info = GrB_SUCCESS;
    for (int64_t asked = 0; asked - FTB_GPU_STAGE < bytes; asked += FTB_GPU_STAGE) {
        const int n = c->lane->next++ % FTB_GPU_STAGES, before = (n + 1) % FTB_GPU_STAGES;
        const int64_t ready = asked - FTB_GPU_STAGE;
        if (asked < bytes) {
            FTB_CHECK(go_on(c, &stream));
            FTB_GPU_CALL(d, cuStreamWaitEvent, stream, c->lane->stage[n].done, 0);
            FTB_GPU_CALL(d, cuMemcpyDtoHAsync_v2, c->lane->stage[n].host, from + (unsigned long long)asked,
                         (size_t)ftb_min(FTB_GPU_STAGE, bytes - asked), stream);
            FTB_GPU_CALL(d, cuEventRecord, c->lane->stage[n].done, stream);
        }
        if (ready >= 0) {
            FTB_CHECK(ftb_gpu_wait_for(d, c->lane->stage[before].done));
            memcpy(to + ready, c->lane->stage[before].host, (size_t)ftb_min(FTB_GPU_STAGE, bytes - ready));
        }
    }
done:
    return settled(d, stream, info);
}

static GrB_Info put(const ftb_backend *b, FtB_Context ctx, void *device, const void *host, int64_t bytes)
{
    copying c = {.d = ftb_gpu_of(b), .ctx = ctx};
    GrB_Info info = begin_copy(&c, "a copy from the host");
    return info == GrB_SUCCESS ? end_copy(&c, send(&c, (unsigned long long)(uintptr_t)device, host, bytes))
                               : info;
}

static GrB_Info get(const ftb_backend *b, FtB_Context ctx, void *host, const void *device, int64_t bytes)
{
    copying c = {.d = ftb_gpu_of(b), .ctx = ctx};
    GrB_Info info = begin_copy(&c, "a copy to the host");
    return info == GrB_SUCCESS ? end_copy(&c, fetch(&c, host, (unsigned long long)(uintptr_t)device, bytes))
                               : info;
}

static GrB_Info finish(const ftb_backend *b, FtB_Context ctx)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    GrB_Info info = ftb_gpu_unrecorded(d, "waiting");
    (void)ctx;
    if (info == GrB_SUCCESS)
        info = ftb_gpu_enter(d);
    return info == GrB_SUCCESS ? ftb_gpu_leave(d, ftb_gpu_wait_for_all(d)) : info;
}

/* Of what is the driver's it says whose; pinned memory of the host can be read there, too. */
static GrB_Info holds(const ftb_backend *b, const void *device)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    const int here = (int)(d->gpu - d->driver->gpu);
    int ordinal = -1;
    GrB_Info info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS)
        return info;
    const unsigned error = d->driver->call.cuPointerGetAttribute(&ordinal, FTB_CUDA_ORDINAL,
                                                                 (unsigned long long)(uintptr_t)device);
    if (error)
        info = ftb_gpu_failed(d, "cuPointerGetAttribute", error);
    if (error && !d->lost)
        info = ftb_fail(GrB_INVALID_VALUE, "%p is no memory of a GPU; expected some of '%s'", device,
                        d->gpu->label);
    else if (!error && ordinal != here)
        info = ftb_fail(GrB_INVALID_VALUE, "%p is memory of 'gpu:%d'; expected some of '%s'", device, ordinal,
                        d->gpu->label);
    return ftb_gpu_leave(d, info);
}

#define BUS_RATE 20e9 /* of PCIe's fourth generation, through pinned memory; rests on no measurement */

/* Seconds of the device between two events. */
static GrB_Info lap(const ftb_backend *b, FtB_Context ctx, double *seconds)
{
    ftb_gpu_device *d = ftb_gpu_of(b);
    float milliseconds = 0;
    GrB_Info info = ftb_gpu_unrecorded(d, "a measurement");
    if (info == GrB_SUCCESS)
        info = ftb_gpu_enter_for(d, ctx);
    if (info != GrB_SUCCESS)
        return info;
    for (int n = 0; n < 2; n++)
        if (!d->lap[n])
            FTB_GPU_CALL(d, cuEventCreate, &d->lap[n], 0);
    FTB_GPU_CALL(d, cuEventRecord, d->lap[seconds != NULL], ftb_gpu_turn(d));
    if (seconds) {
        FTB_CHECK(ftb_gpu_wait_for(d, d->lap[1]));
        FTB_GPU_CALL(d, cuEventElapsedTime, &milliseconds, d->lap[0], d->lap[1]);
        *seconds = 1e-3 * (double)milliseconds;
    }
done:
    return ftb_gpu_leave(d, info);
}

const ftb_memory ftb_gpu_memory = {.size = size,
                                   .rate = BUS_RATE,
                                   .alloc = alloc,
                                   .free = release,
                                   .put = put,
                                   .get = get,
                                   .wait = finish,
                                   .set_stream = ftb_gpu_set_stream,
                                   .holds = holds,
                                   .lap = lap,
                                   .beside_begin = ftb_gpu_beside_begin,
                                   .beside_end = ftb_gpu_beside_end,
                                   .stamp = ftb_gpu_stamp,
                                   .after = ftb_gpu_after,
                                   .replays = &ftb_gpu_replays};

/* ---- for verbs */

GrB_Info ftb_gpu_room(void **to, ftb_gpu_rooms *rooms, int64_t bytes)
{
    void *at = NULL;
    if (bytes == 0)
        return GrB_SUCCESS;
    assert(rooms->count < FTB_GPU_ROOMS);
    GrB_Info info = ftb_device_room(&at, &rooms->d->row, rooms->ctx, bytes);
    if (info != GrB_SUCCESS)
        return info;
    rooms->room[rooms->count].at = *to = at;
    rooms->room[rooms->count++].bytes = bytes;
    return info;
}

GrB_Info ftb_gpu_send(const void **to, ftb_gpu_rooms *rooms, const void *host, int64_t bytes)
{
    void *at = NULL;
    GrB_Info info = ftb_gpu_room(&at, rooms, bytes);
    if (info != GrB_SUCCESS || bytes == 0)
        return info;
    *to = at;
    return put(&rooms->d->row, rooms->ctx, at, host, bytes);
}

void ftb_gpu_rooms_free_after(ftb_gpu_rooms *rooms, int count)
{
    while (rooms->count > count) {
        rooms->count--;
        release(&rooms->d->row, rooms->room[rooms->count].at, rooms->room[rooms->count].bytes);
    }
}

void ftb_gpu_rooms_free(ftb_gpu_rooms *rooms) { ftb_gpu_rooms_free_after(rooms, 0); }

GrB_Info ftb_gpu_mark(ftb_gpu_device *d, int n)
{
    GrB_Info info = ftb_gpu_unrecorded(d, "a copy to the host");
    if (info == GrB_SUCCESS)
        info = ftb_gpu_enter(d);
    if (info != GrB_SUCCESS)
        return info;
    FTB_GPU_CALL(d, cuEventRecord, d->lane[ftb_gpu_lane_here(d)].mark[n], ftb_gpu_turn(d));
done:
    return ftb_gpu_leave(d, info);
}

GrB_Info ftb_gpu_fetch_aside(ftb_gpu_device *d, int n, void *host, const void *device, int64_t bytes)
{
    copying c = {.d = d, .aside = true};
    GrB_Info info = begin_copy(&c, "a copy to the host");
    if (info != GrB_SUCCESS)
        return info;
    FTB_GPU_CALL(d, cuStreamWaitEvent, d->aside, c.lane->mark[n], 0);
    info = fetch(&c, host, (unsigned long long)(uintptr_t)device, bytes);
done:
    return end_copy(&c, info);
}
