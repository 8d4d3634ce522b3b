/* Counted memory. Each allocation is laid out as
 *
 *     raw ... | padding | header | data, 64-byte aligned
 *
 * and the header in front of the data remembers the raw pointer, the context and the bytes counted.
 * Growing goes through the allocator's realloc, so that the C library moves the pages of a large array
 * (mremap) instead of copying it: a sink's result grows without a second copy ever existing. */
#include "core/spare.h"
#include "core/words.h"

#include <stdlib.h>
#include <sys/mman.h>

#define ALIGNMENT FTB_LINE
#define HUGE_PAGE (UINT64_C(1) << 21)
#define SMALL_PAGE ((uintptr_t)4096)
#define CLEARED (INT64_C(1) << 16) /* bytes of a step */

typedef struct header {
    void *raw;
    FtB_Context ctx;
    int64_t bytes; /* asked of the allocator, and counted */
    int64_t size;  /* of the data */
} header;

#define OVERHEAD ((int64_t)sizeof(header) + ALIGNMENT)

static void *(*hook_malloc)(size_t);
static void *(*hook_realloc)(void *, size_t);
static void (*hook_free)(void *);

static _Thread_local GrB_Info failure = GrB_OUT_OF_MEMORY; /* of this thread's last failed allocation */

GrB_Info FtB_set_allocator(void *(*m)(size_t), void *(*r)(void *, size_t), void (*f)(void *))
{
    if ((!m || !r || !f) && (m || r || f))
        return ftb_fail(GrB_NULL_POINTER, "FtB_set_allocator: expected three functions, or three NULLs");
    hook_malloc = m;
    hook_realloc = r;
    hook_free = f;
    return GrB_SUCCESS;
}

void *ftb_raw_new(size_t bytes) { return hook_malloc ? hook_malloc(bytes) : malloc(bytes); }

void ftb_raw_delete(void *p)
{
    if (!p)
        return;
    if (hook_free)
        hook_free(p);
    else
        free(p);
}

static void *raw_zeroed(size_t bytes)
{
    if (!hook_malloc)
        return calloc(bytes, 1); /* fresh pages come zeroed: not written twice */
    void *raw = hook_malloc(bytes);
    if (raw)
        memset(raw, 0, bytes);
    return raw;
}

/* Asks for huge pages where whole ones fit: scattered writes to large arrays otherwise spend their time
 * on page faults and TLB misses (building from 20 M random tuples: 0.7 s with small pages, 0.5 s with huge
 * ones). */
static void advise(void *raw, int64_t bytes)
{
#ifdef MADV_HUGEPAGE
    /* All pages of the block, not just the huge ones within: advice on a part would split the mapping, and
     * a split mapping cannot be grown by mremap, so that realloc would copy it. */
    uintptr_t first = (uintptr_t)raw & ~(SMALL_PAGE - 1);
    uintptr_t last = ((uintptr_t)raw + (uintptr_t)bytes + SMALL_PAGE - 1) & ~(SMALL_PAGE - 1);
    if (!hook_malloc && bytes >= 2 * (int64_t)HUGE_PAGE)
        madvise((void *)first, last - first, MADV_HUGEPAGE);
#else
    (void)raw, (void)bytes;
#endif
}

GrB_Info ftb_nomem(void) { return failure; }

static void out_of_memory(int64_t bytes)
{
    char size[FTB_WORDS];
    failure = ftb_fail(GrB_OUT_OF_MEMORY, "out of memory: %s could not be allocated",
                       ftb_bytes_text(size, (double)bytes));
}

bool ftb_count(FtB_Context ctx, int64_t bytes)
{
    if (!ctx)
        ctx = ftb_context();
    ftb_spare_room(ctx, bytes);
    int64_t now = atomic_fetch_add(&ctx->now, bytes) + bytes;
    /* What is kept gives way, but in a fork, where nobody may touch it: there it does not count. */
    if (ctx->limit > 0 && now > ctx->limit &&
        (!ftb_forked() || now - atomic_load(&ctx->spare_bytes) > ctx->limit)) {
        atomic_fetch_sub(&ctx->now, bytes);
        char more[FTB_WORDS], sum[FTB_WORDS], limit[FTB_WORDS];
        failure = ftb_fail(FTB_LIMIT, "memory limit: %s more would make %s, the context's limit is %s",
                           ftb_bytes_text(more, (double)bytes), ftb_bytes_text(sum, (double)now),
                           ftb_bytes_text(limit, (double)ctx->limit));
        return false;
    }
    int64_t peak = atomic_load(&ctx->peak);
    while (now > peak && !atomic_compare_exchange_weak(&ctx->peak, &peak, now))
        ;
    return true;
}

void ftb_uncount(FtB_Context ctx, int64_t bytes)
{
    atomic_fetch_sub(&(ctx ? ctx : ftb_context())->now, bytes);
}

/* count * size, or -1 (message set) if that is negative or more than can be addressed. */
static int64_t data_size(int64_t count, size_t size)
{
    int64_t bytes;
    if (count < 0 || __builtin_mul_overflow(count, size, &bytes) || bytes > INT64_MAX - OVERHEAD) {
        failure = ftb_fail(GrB_OUT_OF_MEMORY, "out of memory: %lld items of %zu bytes cannot be addressed",
                           (long long)count, size);
        return -1;
    }
    return bytes;
}

static char *aligned(void *raw)
{
    uintptr_t first = (uintptr_t)raw + sizeof(header);
    return (char *)raw + (sizeof(header) + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT);
}

static header *header_of(void *p) { return (header *)((char *)p - sizeof(header)); }

static void *raw_new(int64_t bytes, bool zeroed)
{
    return zeroed ? raw_zeroed((size_t)bytes) : ftb_raw_new((size_t)bytes);
}

/* Memory that is fresh, and counted. */
static void *fresh(FtB_Context ctx, int64_t bytes, bool zeroed)
{
    if (!ftb_count(ctx, bytes))
        return NULL;
    void *raw = raw_new(bytes, zeroed);
    if (!raw && ftb_spare_give(ctx, INT64_MAX))
        raw = raw_new(bytes, zeroed);
    if (!raw) {
        ftb_uncount(ctx, bytes);
        out_of_memory(bytes);
        return NULL;
    }
    advise(raw, bytes);
    return raw;
}

/* Zeros in memory that is not fresh. */
static void clear(FtB_Context ctx, char *data, int64_t bytes)
{
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(ctx, bytes / 8))
    for (int64_t at = 0; at < bytes; at += CLEARED)
        memset(data + at, 0, (size_t)ftb_min(CLEARED, bytes - at));
}

static void *new_array(FtB_Context ctx, int64_t count, size_t size, bool zeroed)
{
    int64_t bytes = data_size(count, size);
    if (bytes < 0)
        return NULL;
    if (!ctx)
        ctx = ftb_context();
    int64_t total = bytes + OVERHEAD;
    void *raw = ftb_spare_take(ctx, &total);
    const bool used = raw != NULL;
    if (!used) {
        total = ftb_spare_bytes(ctx, total);
        if (!(raw = fresh(ctx, total, zeroed)))
            return NULL;
    }
    char *data = aligned(raw);
    if (used && zeroed)
        clear(ctx, data, bytes);
    *header_of(data) = (header){.raw = raw, .ctx = ftb_context_retain(ctx), .bytes = total, .size = bytes};
    return data;
}

void *ftb_new(FtB_Context ctx, int64_t count, size_t size) { return new_array(ctx, count, size, false); }

void *ftb_new0(FtB_Context ctx, int64_t count, size_t size) { return new_array(ctx, count, size, true); }

static void *raw_resized(void *raw, int64_t bytes)
{
    return hook_realloc ? hook_realloc(raw, (size_t)bytes) : realloc(raw, (size_t)bytes);
}

bool ftb_resize(FtB_Context ctx, void **p, int64_t count, size_t size)
{
    if (!*p)
        return (*p = ftb_new(ctx, count, size)) != NULL;
    int64_t bytes = data_size(count, size);
    if (bytes < 0)
        return false;
    header old = *header_of(*p);
    int64_t total = bytes + OVERHEAD, more = total - old.bytes;
    if (more > 0 && !ftb_count(old.ctx, more))
        return false;
    ptrdiff_t offset = (char *)*p - (char *)old.raw;
    void *raw = raw_resized(old.raw, total);
    if (!raw && ftb_spare_give(old.ctx, INT64_MAX))
        raw = raw_resized(old.raw, total);
    if (!raw) {
        if (more > 0)
            ftb_uncount(old.ctx, more);
        out_of_memory(total);
        return false;
    }
    if (more < 0)
        ftb_uncount(old.ctx, -more);
    else
        advise(raw, total);
    char *data = aligned(raw); /* the raw pointer's position within 64 bytes may have changed */
    if (data - (char *)raw != offset)
        memmove(data, (char *)raw + offset, (size_t)ftb_min(bytes, old.size));
    *header_of(data) = (header){.raw = raw, .ctx = old.ctx, .bytes = total, .size = bytes};
    *p = data;
    return true;
}

void ftb_delete(void *p)
{
    if (!p)
        return;
    header h = *header_of(p);
    if (!ftb_spare_put(h.ctx, h.raw, h.bytes)) {
        ftb_raw_delete(h.raw);
        ftb_uncount(h.ctx, h.bytes);
    }
    ftb_context_release(h.ctx);
}

char *ftb_strdup(FtB_Context ctx, const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = ftb_new(ctx, (int64_t)size, 1);
    return copy ? memcpy(copy, s, size) : NULL;
}

int64_t ftb_size_of(const void *p) { return header_of((void *)(uintptr_t)p)->size; }
