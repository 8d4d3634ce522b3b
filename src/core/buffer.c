/* Buffers: counted memory that objects share, with a copy on the host, on a device, or on both (buffer.h). */
#include "core/backend.h"
#include "core/watch.h"

/* Memory of a device that a buffer has left, which somebody may have the address of. */
typedef struct leaving {
    struct leaving *next;
    const ftb_backend *where;
    void *device;
    int64_t bytes, turn; /* turn: of the last time that it was asked for */
} leaving;

static _Thread_local char thread; /* whose address is this thread's */
static pthread_mutex_t listing =
    PTHREAD_MUTEX_INITIALIZER; /* of the three lists; within it others are only tried for */
static ftb_buffer *there;      /* all with memory of ours on a device */
static ftb_use *uses;          /* that have begun */
static leaving *leavings;
static atomic_llong turns;

static ftb_buffer *make_buffer(FtB_Context ctx, void *data, int64_t bytes, bool owned, bool writable)
{
    ftb_buffer *b = ftb_new0(ctx, 1, sizeof *b);
    if (!b)
        return NULL;
    pthread_mutex_init(&b->lock, NULL); /* which cannot fail with default attributes on Linux */
    b->ctx = ctx ? ctx : ftb_context();
    b->host = data;
    b->bytes = bytes;
    b->owned = owned;
    b->writable = writable;
    atomic_init(&b->refs, 1);
    atomic_init(&b->version, 0);
    atomic_init(&b->valid, FTB_VALID_HOST);
    atomic_init(&b->lent, !owned);
    atomic_init(&b->reader, NULL);
    return b;
}

ftb_buffer *ftb_buffer_adopt(FtB_Context ctx, void *data)
{
    if (!data)
        return NULL;
    ftb_buffer *b = make_buffer(ctx, data, ftb_size_of(data), true, true);
    if (!b)
        ftb_delete(data);
    return b;
}

ftb_buffer *ftb_buffer_new(FtB_Context ctx, int64_t count, size_t size)
{
    return ftb_buffer_adopt(ctx, ftb_new0(ctx, count, size));
}

ftb_buffer *ftb_buffer_wrap(FtB_Context ctx, const void *data, int64_t bytes, bool writable)
{
    return make_buffer(ctx, (void *)(uintptr_t)data, bytes, false, writable);
}

ftb_buffer *ftb_buffer_wrap_device(FtB_Context ctx, const ftb_backend *where, void *device, int64_t bytes)
{
    ftb_buffer *b = ftb_buffer_adopt(ctx, ftb_new(ctx, bytes, 1));
    if (b) {
        b->foreign = true;
        b->where = where;
        b->device = device;
        atomic_store(&b->valid, FTB_VALID_DEVICE);
    }
    return b;
}

ftb_buffer *ftb_buffer_retain(ftb_buffer *b)
{
    if (b)
        atomic_fetch_add(&b->refs, 1);
    return b;
}

void ftb_buffer_describe(ftb_buffer *b, const ftb_content *of)
{
    if (b && b->content.kind == FTB_KIND_NONE && atomic_load(&b->refs) == 1)
        b->content = *of;
}

/* ---- release */

static void put_in_list(ftb_buffer *b)
{
    pthread_mutex_lock(&listing);
    b->before = NULL;
    b->next = there;
    if (there)
        there->before = b;
    there = b;
    pthread_mutex_unlock(&listing);
}

static void take_out_of_list(ftb_buffer *b)
{
    pthread_mutex_lock(&listing);
    if (b->next)
        b->next->before = b->before;
    if (b->before)
        b->before->next = b->next;
    else
        there = b->next;
    pthread_mutex_unlock(&listing);
}

/* What this thread asks for from now on is done after what has written b's copy there. */
static GrB_Info after_writing(const ftb_buffer *b)
{
    const ftb_memory *const memory = b->where->memory;
    return memory->after ? memory->after(b->where, b->stamp) : GrB_SUCCESS;
}

static void stamp(ftb_buffer *b)
{
    if (b->where->memory->stamp)
        b->stamp = b->where->memory->stamp(b->where);
}

static unsigned lane_here(const ftb_backend *where)
{
    return where->memory->stamp ? 1u << (where->memory->stamp(where) & 1) : 1;
}

/* The same of all that others have done with the copy, which may still be read. */
static GrB_Info after_all(ftb_buffer *b)
{
    const unsigned here = lane_here(b->where);
    if (!(b->lanes & ~here))
        return GrB_SUCCESS;
    const GrB_Info info = b->where->memory->after(b->where, FTB_ALL_SO_FAR);
    if (info == GrB_SUCCESS)
        b->lanes = here;
    return info;
}

static void forget_device(ftb_buffer *b)
{
    b->where = NULL;
    b->device = NULL;
    b->lanes = 0;
}

/* Nobody else has the copy's address, but for work that is in the device's order. */
static void drop_device(ftb_buffer *b)
{
    if (b->where) {
        ftb_trace_gone(b);
        (void)after_all(b); /* of a lost one nothing is done */
    }
    if (b->where && !b->foreign) {
        take_out_of_list(b);
        b->where->memory->free(b->where, b->device, b->bytes);
    }
    forget_device(b);
}

void ftb_buffer_release(ftb_buffer *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) > 1)
        return;
    drop_device(b);
    if (b->owned)
        ftb_delete(b->host);
    pthread_mutex_destroy(&b->lock);
    ftb_delete(b);
}

void *ftb_buffer_take(ftb_buffer *b)
{
    b->owned = false;
    return b->host;
}

bool ftb_buffer_write(ftb_buffer *b)
{
    int both = FTB_VALID_HOST | FTB_VALID_DEVICE;
    atomic_fetch_add(&b->version, 1);
    atomic_compare_exchange_strong(&b->valid, &both, FTB_VALID_HOST);
    return b->writable;
}

int64_t ftb_buffer_version(const ftb_buffer *b) { return atomic_load(&b->version); }

/* ---- uses */

/* A turn from which on what was asked for may be in use, by threads other than `but`. `listing` is held. */
static int64_t in_use_since(const void *but)
{
    int64_t since = INT64_MAX;
    for (const ftb_use *u = uses; u; u = u->next)
        if (u->thread != but)
            since = ftb_min(since, u->since);
    return since;
}

void ftb_use_begin(ftb_use *use)
{
    pthread_mutex_lock(&listing);
    *use = (ftb_use){.next = uses, .thread = &thread, .since = atomic_fetch_add(&turns, 1) + 1};
    uses = use;
    pthread_mutex_unlock(&listing);
}

/* Of those that nobody has the address of any more one, taken out; NULL: there is none. */
static leaving *take_leaving(void)
{
    pthread_mutex_lock(&listing);
    const int64_t since = in_use_since(NULL);
    leaving **at = &leavings;
    while (*at && (*at)->turn >= since)
        at = &(*at)->next;
    leaving *const gone = *at;
    if (gone)
        *at = gone->next;
    pthread_mutex_unlock(&listing);
    return gone;
}

static void free_leavings(void)
{
    for (leaving *gone = take_leaving(); gone; gone = take_leaving()) {
        if (gone->where->memory->after)
            (void)gone->where->memory->after(gone->where, FTB_ALL_SO_FAR);
        gone->where->memory->free(gone->where, gone->device, gone->bytes);
        ftb_raw_delete(gone);
    }
}

void ftb_use_end(ftb_use *use)
{
    ftb_use **at = &uses;
    pthread_mutex_lock(&listing);
    while (*at != use)
        at = &(*at)->next;
    *at = use->next;
    const bool any = leavings;
    pthread_mutex_unlock(&listing);
    if (any)
        free_leavings();
}

/* drop_device, of a copy that other threads may be using: its memory stays until they have done so. b is
 * locked, so that nobody asks for it meanwhile. */
static GrB_Info leave_device(ftb_buffer *b)
{
    const int64_t turn = atomic_load(&b->turn);
    pthread_mutex_lock(&listing);
    const bool in_use = !b->foreign && turn >= in_use_since(&thread);
    pthread_mutex_unlock(&listing);
    if (!in_use) {
        drop_device(b);
        return GrB_SUCCESS;
    }
    leaving *const l = ftb_raw_new(sizeof *l);
    if (!l)
        return ftb_nomem();
    *l = (leaving){.where = b->where, .device = b->device, .bytes = b->bytes, .turn = turn};
    ftb_trace_gone(b);
    take_out_of_list(b);
    forget_device(b);
    pthread_mutex_lock(&listing);
    l->next = leavings;
    leavings = l;
    pthread_mutex_unlock(&listing);
    free_leavings();
    return GrB_SUCCESS;
}

/* ---- room on a device */

static bool may_give_way(const ftb_buffer *b, const ftb_backend *where, int64_t since)
{
    return b->where == where && (atomic_load(&b->valid) & FTB_VALID_HOST) && atomic_load(&b->turn) < since;
}

/* Of those that may give up their copy the one that was not asked for the longest, of those that were asked
 * for after `turn`. `listing` is held. */
static ftb_buffer *longest_unused(const ftb_backend *where, int64_t turn, int64_t since)
{
    ftb_buffer *found = NULL;
    for (ftb_buffer *b = there; b; b = b->next)
        if (atomic_load(&b->turn) > turn && may_give_way(b, where, since) &&
            (!found || atomic_load(&b->turn) < atomic_load(&found->turn)))
            found = b;
    return found;
}

/* What is being released has no references left, and goes by itself. */
static bool retain_living(ftb_buffer *b)
{
    long long refs = atomic_load(&b->refs);
    while (refs > 0 && !atomic_compare_exchange_weak(&b->refs, &refs, refs + 1))
        ;
    return refs > 0;
}

/* The first of them that nobody is moving, retained and locked. */
static ftb_buffer *hold_unused(const ftb_backend *where)
{
    ftb_buffer *found;
    pthread_mutex_lock(&listing);
    const int64_t since = in_use_since(NULL);
    int64_t turn = INT64_MIN;
    while ((found = longest_unused(where, turn, since))) {
        turn = atomic_load(&found->turn);
        if (pthread_mutex_trylock(&found->lock) != 0)
            continue;
        if (may_give_way(found, where, since) && retain_living(found)) /* still */
            break;
        pthread_mutex_unlock(&found->lock);
    }
    pthread_mutex_unlock(&listing);
    return found;
}

/* Work that is being recorded has addresses that a replay is to find again. */
bool ftb_device_give_way(const ftb_backend *where)
{
    ftb_buffer *b = ftb_tracing() ? NULL : hold_unused(where);
    int both = FTB_VALID_HOST | FTB_VALID_DEVICE;
    if (!b)
        return false;
    atomic_compare_exchange_strong(&b->valid, &both, FTB_VALID_HOST);
    drop_device(b);
    pthread_mutex_unlock(&b->lock);
    ftb_buffer_release(b);
    return true;
}

GrB_Info ftb_device_room(void **device, const ftb_backend *where, FtB_Context ctx, int64_t bytes)
{
    GrB_Info info;
    do
        info = where->memory->alloc(where, ctx, device, bytes);
    while (info == FTB_NO_DEVICE && ftb_device_give_way(where));
    return info;
}

/* ---- asking; the lock is held */

/* Both copies are valid, and the host's address may be known outside. */
static void note(ftb_buffer *b)
{
    if (atomic_load(&b->lent) && b->valid == (FTB_VALID_HOST | FTB_VALID_DEVICE))
        b->sum = ftb_watch_sum(b->host, 1, (size_t)b->bytes, 0);
}

/* Whether who has the host's address wrote there, and did not say so: the device's copy is not what it seems.
 */
static bool missed(const ftb_buffer *b)
{
    return atomic_load(&b->lent) && b->valid == (FTB_VALID_HOST | FTB_VALID_DEVICE) &&
           b->sum != ftb_watch_sum(b->host, 1, (size_t)b->bytes, 0);
}

/* Which object it is whose values cannot be had. */
static GrB_Info say_alone(const ftb_buffer *b, GrB_Info info)
{
    const ftb_content *const c = &b->content;
    const char *const type = FtB_Type_name(c->type), *const where = b->where->name;
    if (c->kind == FTB_KIND_BLOCK)
        return ftb_wrap_error(info, "a block of %lld x %lld %s is on '%s' alone: ", (long long)c->nrows,
                              (long long)c->ncols, type, where);
    if (c->kind == FTB_KIND_MATRIX)
        return ftb_wrap_error(info,
                              "a matrix of %lld x %lld has its values (%lld entries of %lld %s) on '%s' "
                              "alone: ",
                              (long long)c->nrows, (long long)c->ncols, (long long)c->nvals,
                              (long long)c->width, type, where);
    return ftb_wrap_error(info, "%lld bytes are on '%s' alone: ", (long long)b->bytes, where);
}

static GrB_Info bring_home(ftb_buffer *b, ftb_access access)
{
    if (!(b->valid & FTB_VALID_HOST)) {
        if (!b->host) {
            if (!(b->host = ftb_new(b->ctx, b->bytes, 1)))
                return ftb_nomem();
            b->owned = true;
        }
        if (access != FTB_WRITE) {
            GrB_Info info = after_writing(b);
            if (info == GrB_SUCCESS)
                info = b->where->memory->get(b->where, b->ctx, b->host, b->device, b->bytes);
            if (info != GrB_SUCCESS)
                return say_alone(b, info);
            ftb_moved(b->ctx, FTB_TO_HOST, b->bytes);
        }
        b->valid |= FTB_VALID_HOST;
        note(b);
    }
    if (access == FTB_READ)
        return GrB_SUCCESS;
    b->valid = FTB_VALID_HOST;
    return b->where ? b->where->memory->wait(b->where, b->ctx) : GrB_SUCCESS; /* for what still reads it */
}

static GrB_Info send(ftb_buffer *b, const ftb_backend *where, ftb_access access)
{
    GrB_Info info = GrB_SUCCESS;
    if (b->where == where && access != FTB_WRITE && missed(b))
        return ftb_watch_missed("an operand");
    if (b->foreign && b->where != where)
        return ftb_fail(FTB_NO_DEVICE, "an operand is memory of '%s', where '%s' cannot reach it",
                        b->where->name, where->name);
    if (b->where != where) {
        void *device = NULL;
        FTB_CHECK(bring_home(b, FTB_READ));
        FTB_CHECK(ftb_device_room(&device, where, b->ctx, b->bytes));
        info = b->where ? leave_device(b) : GrB_SUCCESS;
        if (info != GrB_SUCCESS) {
            where->memory->free(where, device, b->bytes);
            return info;
        }
        b->valid = FTB_VALID_HOST;
        b->where = where;
        b->device = device;
        put_in_list(b);
        stamp(b);
    }
    atomic_store(&b->turn, atomic_fetch_add(&turns, 1) + 1);
    FTB_CHECK(access == FTB_READ ? after_writing(b) : after_all(b));
    b->lanes |= lane_here(where);
    if (!(b->valid & FTB_VALID_DEVICE) && access != FTB_WRITE) {
        FTB_CHECK(where->memory->put(where, b->ctx, b->device, b->host, b->bytes));
        ftb_moved(b->ctx, FTB_TO_DEVICE, b->bytes);
        stamp(b);
        b->valid |= FTB_VALID_DEVICE;
        note(b);
    }
done:
    return info;
}

GrB_Info ftb_buffer_ask(ftb_buffer *b, ftb_access access)
{
    if (!b)
        return GrB_SUCCESS;
    const ftb_backend *reader = access == FTB_READ ? NULL : atomic_load(&b->reader);
    const int valid = atomic_load(&b->valid);
    if (reader)
        (void)reader->memory->wait(reader, b->ctx); /* one that is lost reads nothing */
    if (valid == FTB_VALID_HOST || (access == FTB_READ && (valid & FTB_VALID_HOST)))
        return GrB_SUCCESS;
    pthread_mutex_lock(&b->lock);
    GrB_Info info = bring_home(b, access);
    pthread_mutex_unlock(&b->lock);
    return info;
}

GrB_Info ftb_device_error(GrB_Info info, const char *name)
{
    return info == FTB_NO_DEVICE && name ? ftb_wrap_error(info, "%s: ", name) : info;
}

GrB_Info ftb_buffer_ask_as(ftb_buffer *b, ftb_access access, const char *name)
{
    return ftb_device_error(ftb_buffer_ask(b, access), name);
}

GrB_Info ftb_buffer_ask_at(ftb_buffer *b, const ftb_backend *where, ftb_access access, void **data)
{
    pthread_mutex_lock(&b->lock);
    GrB_Info info = send(b, where, access);
    if (info == GrB_SUCCESS)
        *data = b->device;
    pthread_mutex_unlock(&b->lock);
    if (info == GrB_SUCCESS)
        ftb_trace_asked(b, *data, where, access);
    return info;
}

/* The device's copy is the only valid one; with `home` lent memory is brought up to date. */
static GrB_Info written(ftb_buffer *b, bool home)
{
    const ftb_memory *memory = b->where->memory;
    ftb_trace_written(b);
    pthread_mutex_lock(&b->lock);
    atomic_fetch_add(&b->version, 1);
    stamp(b);
    b->valid = FTB_VALID_DEVICE;
    GrB_Info info = memory->spoil && b->host && b->owned ? memory->wait(b->where, b->ctx) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && memory->spoil && b->host && b->owned)
        memory->spoil(b->host, b->bytes); /* so that who reads it without asking finds out */
    if (info == GrB_SUCCESS && home && atomic_load(&b->lent))
        info = bring_home(b, FTB_READ);
    pthread_mutex_unlock(&b->lock);
    return info;
}

GrB_Info ftb_buffer_written(ftb_buffer *b) { return written(b, true); }

GrB_Info ftb_buffer_written_there(ftb_buffer *b) { return written(b, false); }

GrB_Info ftb_buffer_home(ftb_buffer *b)
{
    pthread_mutex_lock(&b->lock);
    GrB_Info info = bring_home(b, FTB_READ);
    if (info == GrB_SUCCESS && !b->foreign) {
        b->valid = FTB_VALID_HOST;
        info = b->where ? leave_device(b) : GrB_SUCCESS;
    }
    pthread_mutex_unlock(&b->lock);
    return info;
}

void ftb_buffer_leave(ftb_buffer *b)
{
    pthread_mutex_lock(&b->lock);
    if (b->valid & FTB_VALID_DEVICE && b->owned && !atomic_load(&b->lent)) {
        ftb_delete(b->host);
        b->host = NULL;
        b->valid = FTB_VALID_DEVICE;
    }
    pthread_mutex_unlock(&b->lock);
}

void ftb_buffer_read_by(ftb_buffer *b, const ftb_backend *where) { atomic_store(&b->reader, where); }

GrB_Info ftb_buffer_changed(ftb_buffer *b)
{
    if (!b)
        return GrB_SUCCESS;
    GrB_Info info = b->foreign ? GrB_SUCCESS : ftb_buffer_ask(b, FTB_READ);
    if (info != GrB_SUCCESS)
        return info;
    (void)ftb_buffer_write(b);
    if (b->foreign)
        atomic_store(&b->valid, FTB_VALID_DEVICE);
    return GrB_SUCCESS;
}

GrB_Info ftb_buffer_lend(ftb_buffer *b)
{
    GrB_Info info = ftb_buffer_ask(b, FTB_READ);
    pthread_mutex_lock(&b->lock);
    const bool first = !atomic_exchange(&b->lent, true);
    if (first)
        note(b);
    pthread_mutex_unlock(&b->lock);
    return info;
}
