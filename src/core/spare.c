/* A list for each context, the last freed first, written where the freed memory begins (spare.h). */
#include "core/spare.h"

#if defined(__SANITIZE_ADDRESS__) /* a use after free is one here, too */
#include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#define LEAST (INT64_C(1) << 20) /* bytes: what is smaller the C library keeps itself */
#define PARTS 16                 /* sizes are multiples of their greatest power of two over this */
#define SPARE 4                  /* an array takes no more of others' room than one in so many bytes */
#define BESIDE 4                 /* and all of them no more than one in so many of the most in use */
#define ROUNDS 4                 /* that nobody wanted it: a batch has one of a loader and one of a tape */

struct ftb_spare {
    struct ftb_spare *next;
    int64_t bytes, round;
};

/* What is freed and made in a fork of the process is not kept: who held the lock is not there. */
static bool keeps(FtB_Context ctx, int64_t bytes)
{
    return bytes >= LEAST && atomic_load_explicit(&ctx->spare_users, memory_order_relaxed) > 0 &&
           !ftb_forked();
}

static void hide(ftb_spare *s) { ASAN_POISON_MEMORY_REGION(s + 1, (size_t)s->bytes - sizeof *s); }
static void show(ftb_spare *s) { ASAN_UNPOISON_MEMORY_REGION(s + 1, (size_t)s->bytes - sizeof *s); }

/* Takes *at out of the list; under the lock. */
static ftb_spare *take_out(FtB_Context ctx, ftb_spare **at)
{
    ftb_spare *s = *at;
    *at = s->next;
    atomic_fetch_sub(&ctx->spare_bytes, s->bytes);
    return s;
}

/* Frees a list that is nobody's. */
static void free_list(FtB_Context ctx, ftb_spare *list)
{
    while (list) {
        ftb_spare *s = list;
        list = s->next;
        show(s);
        ftb_uncount(ctx, s->bytes);
        ftb_raw_delete(s);
    }
}

/* ---- who wants it */

void ftb_spare_begin(FtB_Context ctx)
{
    if (ftb_forked()) {
        atomic_fetch_add(&ctx->spare_users, 1);
        return;
    }
    pthread_mutex_lock(&ctx->spare_lock);
    if (atomic_fetch_add(&ctx->spare_users, 1) == 0)
        atomic_store(&ctx->spare_most, 0);
    pthread_mutex_unlock(&ctx->spare_lock);
}

void ftb_spare_end(FtB_Context ctx)
{
    ftb_spare *all = NULL;
    if (ftb_forked()) {
        atomic_fetch_sub(&ctx->spare_users, 1);
        return;
    }
    pthread_mutex_lock(&ctx->spare_lock);
    if (atomic_fetch_sub(&ctx->spare_users, 1) == 1) {
        all = ctx->spares;
        ctx->spares = NULL;
        atomic_store(&ctx->spare_bytes, 0);
    }
    pthread_mutex_unlock(&ctx->spare_lock);
    free_list(ctx, all);
}

void ftb_spare_round(FtB_Context ctx)
{
    if (ftb_forked())
        return;
    pthread_mutex_lock(&ctx->spare_lock);
    const int64_t round = ++ctx->spare_round;
    ftb_spare **at = &ctx->spares, *old = NULL; /* the list descends by rounds */
    while (*at && (*at)->round + ROUNDS > round)
        at = &(*at)->next;
    while (*at) {
        ftb_spare *s = take_out(ctx, at);
        s->next = old;
        old = s;
    }
    pthread_mutex_unlock(&ctx->spare_lock);
    free_list(ctx, old);
}

/* ---- memory */

/* So many bytes are in use; returns the most that were. */
static int64_t note_used(FtB_Context ctx, int64_t used)
{
    int64_t most = atomic_load(&ctx->spare_most);
    while (used > most && !atomic_compare_exchange_weak(&ctx->spare_most, &most, used))
        continue;
    return ftb_max(used, most);
}

void ftb_spare_room(FtB_Context ctx, int64_t bytes)
{
    if (atomic_load_explicit(&ctx->spare_users, memory_order_relaxed) == 0)
        return;
    const int64_t now = atomic_load(&ctx->now), spare = atomic_load(&ctx->spare_bytes);
    const int64_t most = note_used(ctx, now - spare + bytes);
    if (spare == 0)
        return;
    const int64_t room = ctx->limit > 0 ? ftb_min(most + most / BESIDE, ctx->limit) : most + most / BESIDE;
    if (bytes > room - now)
        (void)ftb_spare_give(ctx, bytes - (room - now));
}

int64_t ftb_spare_bytes(FtB_Context ctx, int64_t bytes)
{
    if (!keeps(ctx, bytes) || bytes > INT64_MAX / 2)
        return bytes;
    const int64_t part = (INT64_C(1) << (63 - __builtin_clzll((uint64_t)bytes))) / PARTS;
    const int64_t more = (bytes + part - 1) / part * part;
    return more <= ftb_memory_left(ctx) ? more : bytes;
}

void *ftb_spare_take(FtB_Context ctx, int64_t *bytes)
{
    ftb_spare *found = NULL;
    if (!keeps(ctx, *bytes) || atomic_load_explicit(&ctx->spare_bytes, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&ctx->spare_lock);
    ftb_spare **best = NULL;
    for (ftb_spare **at = &ctx->spares; *at; at = &(*at)->next)
        if ((*at)->bytes >= *bytes && (*at)->bytes - *bytes <= (*at)->bytes / SPARE &&
            (!best || (*at)->bytes < (*best)->bytes))
            best = at;
    if (best)
        found = take_out(ctx, best);
    pthread_mutex_unlock(&ctx->spare_lock);
    if (found) {
        (void)note_used(ctx, atomic_load(&ctx->now) - atomic_load(&ctx->spare_bytes));
        *bytes = found->bytes;
        show(found);
    }
    return found;
}

bool ftb_spare_put(FtB_Context ctx, void *raw, int64_t bytes)
{
    if (!keeps(ctx, bytes))
        return false;
    ftb_spare *s = raw;
    *s = (ftb_spare){.bytes = bytes};
    hide(s);
    pthread_mutex_lock(&ctx->spare_lock);
    const bool kept = atomic_load(&ctx->spare_users) > 0;
    if (kept) {
        s->round = ctx->spare_round;
        s->next = ctx->spares;
        ctx->spares = s;
        atomic_fetch_add(&ctx->spare_bytes, bytes);
    }
    pthread_mutex_unlock(&ctx->spare_lock);
    if (!kept)
        show(s);
    return kept;
}

bool ftb_spare_give(FtB_Context ctx, int64_t bytes)
{
    ftb_spare *given = NULL;
    if (atomic_load_explicit(&ctx->spare_bytes, memory_order_relaxed) == 0 || ftb_forked())
        return false;
    pthread_mutex_lock(&ctx->spare_lock);
    while (bytes > 0 && ctx->spares) {
        ftb_spare **at = &ctx->spares;
        while ((*at)->next)
            at = &(*at)->next;
        ftb_spare *s = take_out(ctx, at);
        bytes -= s->bytes;
        s->next = given;
        given = s;
    }
    pthread_mutex_unlock(&ctx->spare_lock);
    const bool some = given != NULL;
    free_list(ctx, given);
    return some;
}
