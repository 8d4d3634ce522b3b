/* The table of backends, one row each, and where operands of their verbs are. */
#include "ops/backends.h"

#include "core/watch.h"
#include "gpu/device.h"

#include <stdio.h>

#define MOST 8 /* rows, with those of tests */

/* Its memory needs no asking, and its verbs are called by their names. */
static const ftb_backend host = {.name = "cpu", .about = "the processor's cores"};

static const ftb_backend *rows[MOST] = {&host};

const ftb_backend *ftb_backend_at(int n) { return n >= 0 && n < MOST ? rows[n] : NULL; }

void ftb_backend_add(const ftb_backend *b)
{
    for (int n = 0; n < MOST; n++)
        if (!rows[n]) {
            rows[n] = b;
            return;
        }
}

void ftb_backend_remove(const ftb_backend *b)
{
    int kept = 0;
    for (int n = 0; n < MOST; n++)
        if (rows[n] && rows[n] != b)
            rows[kept++] = rows[n];
    while (kept < MOST)
        rows[kept++] = NULL;
}

/* ---- operands */

/* The host writes into a copy that is valid, so that a verb that fails has lost nothing. */
static ftb_access access_of(const ftb_backend *who, const ftb_place *place)
{
    if (!place->write)
        return FTB_READ;
    return place->whole && who && (!place->X || ftb_block_whole(place->X)) ? FTB_WRITE : FTB_UPDATE;
}

static ftb_buffer *buffer_of(const ftb_place *place)
{
    return place->X ? place->X->owner : place->feed ? place->feed->owner : place->values;
}

static const char *name_of(const ftb_place *place)
{
    const ftb_feed *feed = place->feed;
    return place->name || !feed ? place->name : feed->argument ? feed->argument : feed->name;
}

static GrB_Info ask(const ftb_backend *who, const ftb_place *place)
{
    ftb_buffer *b = buffer_of(place);
    const ftb_access access = access_of(who, place);
    void *at = NULL;
    GrB_Info info = GrB_SUCCESS;
    if (b)
        info = who ? ftb_buffer_ask_at(b, who, access, &at) : ftb_buffer_ask(b, access);
    if (info != GrB_SUCCESS)
        return ftb_device_error(info, name_of(place));
    if (place->feed && !b)
        return info;
    if (b && !who)
        at = b->host;
    if (at && (place->X || place->feed))
        at = (char *)at + (place->X ? place->X->offset : place->feed->offset);
    if (place->feed)
        place->feed->data = at;
    if (place->write)
        *place->write = at;
    else if (place->read)
        *place->read = at;
    return info;
}

GrB_Info ftb_places_ask(const ftb_backend *who, const ftb_place *places, int count)
{
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < count && info == GrB_SUCCESS; n++)
        info = ask(who, &places[n]);
    return info;
}

GrB_Info ftb_places_written(const ftb_backend *who, const ftb_place *places, int count)
{
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < count && info == GrB_SUCCESS; n++) {
        ftb_buffer *b = buffer_of(&places[n]);
        if (!b || !places[n].write)
            continue;
        if (who)
            info = ftb_device_error(places[n].stays ? ftb_buffer_written_there(b) : ftb_buffer_written(b),
                                    name_of(&places[n]));
        else
            (void)ftb_buffer_write(b);
    }
    return info;
}

bool ftb_device_failed(GrB_Info info) { return info == FTB_NO_DEVICE && !ftb_tracing(); }

static bool uses(const ftb_message *m, const ftb_program *program, int f)
{
    return program ? ftb_program_uses(program, f) : !m->expr || ftb_expr_uses(m->expr, m->feeds[f].name);
}

bool ftb_feeds_fit(const ftb_message *m, const ftb_program *program)
{
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        const bool ours = feed->data && !feed->owner && feed->side != FTB_SIDE_NONE;
        if (ours && uses(m, program, f))
            return false;
    }
    return !m->function;
}

void ftb_places_feeds(ftb_place places[FTB_MAX_FEEDS], ftb_message *m, const ftb_program *program)
{
    for (int f = 0; f < m->nfeeds; f++) {
        ftb_feed *feed = &m->feeds[f];
        places[f] = (ftb_place){0};
        if (feed->constant && feed->owner) {
            feed->data = feed->owner->host;
            feed->owner = NULL;
        }
        if (!uses(m, program, f))
            feed->data = feed->owner ? NULL : feed->data;
        else
            places[f].feed = feed;
    }
    for (int f = m->nfeeds; f < FTB_MAX_FEEDS; f++)
        places[f] = (ftb_place){0};
}

/* ---- for callers */

/* A stream is of the device that was. */
static GrB_Info place(FtB_Context ctx, const ftb_backend *device)
{
    if (ctx->stream)
        (void)ctx->device->memory->set_stream(ctx->device, ctx, NULL);
    ctx->device = device;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_device(FtB_Context ctx, const char *device)
{
    char names[128] = "";
    size_t used = 0;
    if (!ctx)
        ctx = ftb_context();
    for (int n = 0; ftb_backend_at(n); n++) {
        const ftb_backend *b = ftb_backend_at(n);
        if (!device || strcmp(device, b->name) == 0)
            return place(ctx, b->memory ? b : NULL);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", n ? ", " : "", b->name);
    }
    const char *why;
    const ftb_gpu *gpu = ftb_gpu_named(device, &why);
    if (gpu)
        return place(ctx, ftb_gpu_backend(gpu));
    return ftb_fail(FTB_NO_DEVICE, "device: there is no '%.64s' here; expected %s%s%s", device, names,
                    why ? "; no GPU: " : "", why ? why : "");
}

GrB_Info FtB_Context_set_stream(FtB_Context ctx, void *stream)
{
    if (!ctx)
        ctx = ftb_context();
    const ftb_backend *b = ctx->device;
    if (b && b->memory->set_stream)
        return b->memory->set_stream(b, ctx, stream);
    return stream ? ftb_fail(FTB_NO_DEVICE,
                             "FtB_Context_set_stream: the context works on '%s', which has no streams; "
                             "expected FtB_Context_set_device with a GPU before",
                             b ? b->name : host.name)
                  : GrB_SUCCESS;
}

/* GPUs that the driver finds come behind the rows. */
static const ftb_gpu *gpu_at(const ftb_driver *d, int n)
{
    for (int row = 0; ftb_backend_at(row); row++)
        n--;
    return n < d->count ? &d->gpu[n] : NULL;
}

GrB_Info FtB_Device_describe(int n, const char **name, const char **about, int64_t *memory)
{
    const ftb_backend *b = ftb_backend_at(n);
    const ftb_driver *driver = b || n < 0 ? NULL : ftb_driver_here();
    const ftb_gpu *gpu = driver ? gpu_at(driver, n) : NULL;
    if (!b && !gpu)
        return ftb_fail(GrB_NO_VALUE, "FtB_Device_describe: there is no device %d%s%s", n,
                        driver && !driver->count ? "; no GPU: " : "", driver ? driver->why : "");
    if (name)
        *name = b ? b->name : gpu->label;
    if (about)
        *about = b ? b->about : gpu->about;
    if (memory)
        *memory = !b ? gpu->memory : b->memory ? b->memory->size(b) : 0;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_moved(FtB_Context ctx, int64_t *to_host, int64_t *to_device)
{
    if (!ctx)
        ctx = ftb_context();
    if (to_host)
        *to_host = atomic_load(&ctx->moved[FTB_TO_HOST]);
    if (to_device)
        *to_device = atomic_load(&ctx->moved[FTB_TO_DEVICE]);
    return GrB_SUCCESS;
}
