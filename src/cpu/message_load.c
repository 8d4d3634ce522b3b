/* A feed is read where it is if its rows are consecutive, of the compute type and packed; if all items read
 * the same row, once; else rows are copied side by side, converted, and repeated for the heads that share
 * them. */
#include "cpu/message_load.h"

#include "cpu/message_call.h"

/* A vector that all items share is handed over once if it has so many values; a shorter one is repeated,
 * since instructions then run over all items in one loop. */
#define NARROW 48
#define AHEAD 8 /* rows, of which the first line is prefetched; the hardware finds the rest */

typedef struct source {
    const ftb_feed *feed;
    FtB_Type type;     /* that is computed in */
    bool used, loaded; /* loaded: once for all batches */
    char *buffer;
} source;

struct ftb_loader {
    FtB_Context ctx;
    const ftb_message *m;
    int64_t room;
    int nsources;
    source sources[FTB_MAX_FEEDS];
    ftb_operand operands[FTB_MAX_FEEDS];
};

static bool uses_feed(const ftb_message *m, const ftb_program *p, int f)
{
    return !m->feeds[f].whole && (!p || ftb_program_uses(p, f));
}

void ftb_loader_delete(ftb_loader *l)
{
    if (!l)
        return;
    for (int f = 0; f < l->nsources; f++)
        ftb_delete(l->sources[f].buffer);
    ftb_delete(l);
}

GrB_Info ftb_loader_new(ftb_loader **out, const ftb_message *m, const ftb_program *p, int64_t room)
{
    *out = NULL;
    ftb_loader *l = ftb_new0(m->ctx, 1, sizeof *l);
    if (!l)
        return ftb_nomem();
    l->ctx = m->ctx;
    l->m = m;
    l->room = room;
    l->nsources = m->nfeeds;
    for (int f = 0; f < m->nfeeds; f++) {
        source *s = &l->sources[f];
        s->feed = &m->feeds[f];
        s->type = p || ftb_caller_compares(s->feed) ? ftb_type_compute(s->feed->type) : FTB_FP32;
        s->used = uses_feed(m, p, f);
        if (!s->used)
            continue;
        s->buffer = ftb_new(l->ctx, room * m->heads, (size_t)s->feed->width * 8);
        if (!s->buffer) {
            ftb_loader_delete(l);
            return ftb_nomem();
        }
    }
    *out = l;
    return GrB_SUCCESS;
}

int64_t ftb_loader_values(const ftb_message *m, const ftb_program *p)
{
    int64_t most = p ? ftb_program_width(p) : m->function_width;
    for (int f = 0; f < m->nfeeds; f++)
        if (uses_feed(m, p, f))
            most = ftb_max(most, m->feeds[f].width);
    return most * m->heads;
}

/* i, j, k, e and degrees. */
static ftb_operand load_index(source *s, int64_t count, int64_t heads, const ftb_places *at)
{
    const ftb_feed *feed = s->feed;
    int64_t *to = (int64_t *)(void *)s->buffer;
    for (int64_t t = 0; t < (at->same ? 1 : count); t++) {
        int64_t r = at->index ? at->index[t] : at->first + t; /* of `same`, only the first is asked for */
        r = feed->at ? feed->at[r] : r;
        r = feed->degree ? feed->degree[r + 1] - feed->degree[r] : r;
        for (int64_t h = 0; h < heads; h++)
            to[t * heads + h] = r;
    }
    if (s->type == FTB_FP32)
        ftb_cast(to, FTB_FP32, to, FTB_INT64, (at->same ? 1 : count) * heads);
    return (ftb_operand){to, at->same ? 0 : 1};
}

/* Rows of `bytes`, each `repeats` times. A constant for short rows, so that nothing is called for each. */
static inline __attribute__((always_inline)) void gather_rows(const source *s, int64_t count, int64_t repeats,
                                                              size_t bytes, const ftb_places *at)
{
    const ftb_feed *feed = s->feed;
    size_t step = (size_t)feed->ld * FtB_Type_size(feed->type);
    char *restrict to = s->buffer;
    const char *restrict data = feed->data;
    const int64_t *restrict index = at->index, *restrict map = feed->at;
    for (int64_t t = 0; t < count; t++) {
        int64_t r = index ? index[t] : at->same ? at->first : at->first + t;
        const char *from = data + (size_t)(map ? map[r] : r) * step;
        if (bytes > 64 && index && !map && t + AHEAD < count)
            __builtin_prefetch(data + (size_t)index[t + AHEAD] * step);
        for (int64_t h = 0; h < repeats; h++, to += bytes)
            memcpy(to, from, bytes);
    }
}

static void gather(const source *s, int64_t count, int64_t repeats, size_t bytes, const ftb_places *at)
{
    switch (bytes) {
    case 4:
        gather_rows(s, count, repeats, 4, at);
        break;
    case 8:
        gather_rows(s, count, repeats, 8, at);
        break;
    case 16:
        gather_rows(s, count, repeats, 16, at);
        break;
    case 32:
        gather_rows(s, count, repeats, 32, at);
        break;
    case 64:
        gather_rows(s, count, repeats, 64, at);
        break;
    case 128:
        gather_rows(s, count, repeats, 128, at);
        break;
    default:
        gather_rows(s, count, repeats, bytes, at);
    }
}

static ftb_operand load(source *s, int64_t count, int64_t heads, const ftb_places *at)
{
    const ftb_feed *feed = s->feed;
    int64_t values = feed->heads * feed->width;
    size_t size = FtB_Type_size(feed->type);
    bool narrow = feed->width > 1 && feed->width < NARROW;
    bool once = at->same && feed->heads == 1 && !narrow, as_is = feed->type == s->type && !feed->at;
    if (!feed->data)
        return load_index(s, count, heads, at);
    if (as_is && once)
        return (ftb_operand){(const char *)feed->data + (size_t)(at->first * feed->ld) * size, 0};
    if (as_is && !at->index && !at->same && (heads == 1 || (feed->heads == heads && feed->ld == values)))
        return (ftb_operand){(const char *)feed->data + (size_t)(at->first * feed->ld) * size,
                             heads == 1 ? feed->ld : feed->width};
    int64_t repeats = once ? 1 : heads / feed->heads;
    gather(s, once ? 1 : count, repeats, (size_t)values * size, at);
    if (feed->type != s->type)
        ftb_cast(s->buffer, s->type, s->buffer, feed->type, (once ? 1 : count) * repeats * values);
    return (ftb_operand){s->buffer, once ? 0 : feed->width};
}

void ftb_loader_renew(ftb_loader *l)
{
    for (int f = 0; f < l->nsources; f++)
        l->sources[f].loaded = false;
}

const ftb_operand *ftb_loader_run(ftb_loader *l, int64_t count, const ftb_places places[FTB_SIDES])
{
    static const ftb_places none = {.same = true};
    for (int f = 0; f < l->nsources; f++) {
        source *s = &l->sources[f];
        bool fixed = s->feed->side == FTB_SIDE_NONE;
        if (!s->used || s->loaded)
            continue;
        l->operands[f] =
            load(s, fixed ? l->room : count, l->m->heads, fixed ? &none : &places[s->feed->side]);
        s->loaded = fixed;
    }
    return l->operands;
}
