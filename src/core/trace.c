/* Traces: what a thread asks of a device meanwhile (buffer.h). */
#include "core/backend.h"

static _Thread_local ftb_trace *tracing; /* NULL: nobody wants to know */

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

void ftb_trace_asked(ftb_buffer *b, void *at, const ftb_backend *where, ftb_access access)
{
    if (!tracing)
        return;
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
    tracing->asked[tracing->count++] = (ftb_asked){.buffer = b, .at = at, .access = access};
}

void ftb_trace_written(const ftb_buffer *b)
{
    ftb_asked *asked = tracing ? traced(b) : NULL;
    if (asked)
        asked->written = true;
}

void ftb_trace_gone(const ftb_buffer *b)
{
    ftb_asked *asked = tracing ? traced(b) : NULL;
    if (!asked)
        return;
    const ftb_asked *end = tracing->asked + tracing->count--;
    memmove(asked, asked + 1, (size_t)(end - asked - 1) * sizeof *asked);
}
