/* Buffers: counted memory that objects share, with a copy on the host, on a device, or on both (buffer.h). */
#include "core/backend.h"
#include "core/watch.h"

static pthread_mutex_t moving = PTHREAD_MUTEX_INITIALIZER; /* held while a copy is made or moved */
static _Thread_local ftb_trace *tracing;                   /* NULL: nobody wants to know */
static pthread_mutex_t listing =
    PTHREAD_MUTEX_INITIALIZER; /* of the two lists; no other is taken within it */
static ftb_buffer *there;      /* all with memory of ours on a device */
static ftb_use *uses;          /* that have begun */
static atomic_llong turns;

static ftb_buffer *make_buffer(FtB_Context ctx, void *data, int64_t bytes, bool owned, bool writable)
{
    ftb_buffer *b = ftb_new0(ctx, 1, sizeof *b);
    if (!b)
        return NULL;
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

/* ---- traces */

void ftb_trace_begin(ftb_trace *t, const ftb_backend *where)
{
    *t = (ftb_trace){.where = where};
    tracing = t;
}

void ftb_trace_end(void)
{
    for (int64_t n = 0; n < tracing->count; n++)
        ftb_buffer_retain(tracing->asked[n].buffer);
    tracing = NULL;
}

bool ftb_tracing(void) { return tracing != NULL; }

void ftb_trace_clear(ftb_trace *t)
{
    for (int64_t n = 0; n < t->count; n++)
        ftb_buffer_release(t->asked[n].buffer);
    ftb_raw_delete(t->asked);
    *t = (ftb_trace){.where = NULL};
}

static ftb_asked *traced(const ftb_buffer *b)
{
    for (int64_t n = 0; n < tracing->count; n++)
        if (tracing->asked[n].buffer == b)
            return &tracing->asked[n];
    return NULL;
}

static void trace_asked(ftb_buffer *b, const ftb_backend *where, ftb_access access)
{
    if (where != tracing->where)
        tracing->failed = true;
    if (tracing->failed || traced(b))
        return;
    if (tracing->count == tracing->room) {
        const int64_t room = 2 * tracing->room + 64;
        ftb_asked *more = ftb_raw_new((size_t)room * sizeof *more);
        if (!more) {
            tracing->failed = true;
            return;
        }
        if (tracing->count > 0)
            memcpy(more, tracing->asked, (size_t)tracing->count * sizeof *more);
        ftb_raw_delete(tracing->asked);
        tracing->asked = more;
        tracing->room = room;
    }
    tracing->asked[tracing->count++] = (ftb_asked){.buffer = b, .at = b->device, .access = access};
}

static void trace_written(const ftb_buffer *b)
{
    ftb_asked *asked = traced(b);
    if (asked)
        asked->written = true;
}

static void trace_gone(const ftb_buffer *b)
{
    ftb_asked *asked = traced(b);
    if (!asked)
        return;
    const ftb_asked *end = tracing->asked + tracing->count--;
    memmove(asked, asked + 1, (size_t)(end - asked - 1) * sizeof *asked);
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

static void drop_device(ftb_buffer *b)
{
    if (b->where && tracing)
        trace_gone(b);
    if (b->where && !b->foreign) {
        take_out_of_list(b);
        b->where->memory->free(b->where, b->device, b->bytes);
    }
    b->where = NULL;
    b->device = NULL;
}

void ftb_buffer_release(ftb_buffer *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) > 1)
        return;
    drop_device(b);
    if (b->owned)
        ftb_delete(b->host);
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

/* ---- room on a device */

void ftb_use_begin(ftb_use *use)
{
    pthread_mutex_lock(&listing);
    *use = (ftb_use){.next = uses, .since = atomic_fetch_add(&turns, 1) + 1};
    uses = use;
    pthread_mutex_unlock(&listing);
}

void ftb_use_end(ftb_use *use)
{
    ftb_use **at = &uses;
    pthread_mutex_lock(&listing);
    while (*at != use)
        at = &(*at)->next;
    *at = use->next;
    pthread_mutex_unlock(&listing);
}

/* Of those that may give up their copy the one that was not asked for the longest, retained. What is being
 * released has no references left, and goes by itself. */
static ftb_buffer *longest_unused(const ftb_backend *where)
{
    ftb_buffer *found = NULL;
    pthread_mutex_lock(&listing);
    int64_t since = INT64_MAX; /* from here on things are in use */
    for (const ftb_use *u = uses; u; u = u->next)
        since = ftb_min(since, u->since);
    for (ftb_buffer *b = there; b; b = b->next)
        if (b->where == where && (atomic_load(&b->valid) & FTB_VALID_HOST) && b->turn < since &&
            (!found || b->turn < found->turn) && atomic_load(&b->refs) > 0)
            found = b;
    long long refs = found ? atomic_load(&found->refs) : 0;
    while (refs > 0 && !atomic_compare_exchange_weak(&found->refs, &refs, refs + 1))
        ;
    pthread_mutex_unlock(&listing);
    return refs > 0 ? found : NULL;
}

/* Work that is being recorded has addresses that a replay is to find again. The lock is held. */
static bool give_way(const ftb_backend *where)
{
    ftb_buffer *b = tracing ? NULL : longest_unused(where);
    int both = FTB_VALID_HOST | FTB_VALID_DEVICE;
    if (!b)
        return false;
    atomic_compare_exchange_strong(&b->valid, &both, FTB_VALID_HOST);
    drop_device(b);
    ftb_buffer_release(b);
    return true;
}

bool ftb_device_give_way(const ftb_backend *where)
{
    pthread_mutex_lock(&moving);
    const bool gave = give_way(where);
    pthread_mutex_unlock(&moving);
    return gave;
}

/* The lock is held. */
static GrB_Info room(void **device, const ftb_backend *where, FtB_Context ctx, int64_t bytes)
{
    GrB_Info info;
    do
        info = where->memory->alloc(where, ctx, device, bytes);
    while (info == FTB_NO_DEVICE && give_way(where));
    return info;
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
            GrB_Info info = b->where->memory->get(b->where, b->ctx, b->host, b->device, b->bytes);
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
        FTB_CHECK(room(&device, where, b->ctx, b->bytes));
        drop_device(b);
        b->valid = FTB_VALID_HOST;
        b->where = where;
        b->device = device;
        put_in_list(b);
    }
    b->turn = atomic_fetch_add(&turns, 1) + 1;
    if (!(b->valid & FTB_VALID_DEVICE) && access != FTB_WRITE) {
        FTB_CHECK(where->memory->put(where, b->ctx, b->device, b->host, b->bytes));
        ftb_moved(b->ctx, FTB_TO_DEVICE, b->bytes);
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
    pthread_mutex_lock(&moving);
    GrB_Info info = bring_home(b, access);
    pthread_mutex_unlock(&moving);
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
    pthread_mutex_lock(&moving);
    GrB_Info info = send(b, where, access);
    if (info == GrB_SUCCESS)
        *data = b->device;
    pthread_mutex_unlock(&moving);
    if (info == GrB_SUCCESS && tracing)
        trace_asked(b, where, access);
    return info;
}

GrB_Info ftb_buffer_written(ftb_buffer *b)
{
    const ftb_memory *memory = b->where->memory;
    if (tracing)
        trace_written(b);
    pthread_mutex_lock(&moving);
    atomic_fetch_add(&b->version, 1);
    b->valid = FTB_VALID_DEVICE;
    GrB_Info info = memory->spoil && b->host && b->owned ? memory->wait(b->where, b->ctx) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && memory->spoil && b->host && b->owned)
        memory->spoil(b->host, b->bytes); /* so that who reads it without asking finds out */
    if (info == GrB_SUCCESS && atomic_load(&b->lent))
        info = bring_home(b, FTB_READ);
    pthread_mutex_unlock(&moving);
    return info;
}

GrB_Info ftb_buffer_home(ftb_buffer *b)
{
    pthread_mutex_lock(&moving);
    GrB_Info info = bring_home(b, FTB_READ);
    if (info == GrB_SUCCESS && !b->foreign) {
        b->valid = FTB_VALID_HOST;
        drop_device(b);
    }
    pthread_mutex_unlock(&moving);
    return info;
}

void ftb_buffer_leave(ftb_buffer *b)
{
    pthread_mutex_lock(&moving);
    if (b->valid & FTB_VALID_DEVICE && b->owned && !atomic_load(&b->lent)) {
        ftb_delete(b->host);
        b->host = NULL;
        b->valid = FTB_VALID_DEVICE;
    }
    pthread_mutex_unlock(&moving);
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
    pthread_mutex_lock(&moving);
    const bool first = !atomic_exchange(&b->lent, true);
    if (first)
        note(b);
    pthread_mutex_unlock(&moving);
    return info;
}
