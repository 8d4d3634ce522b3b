/* Texts of a vertex program, thread by thread (vertex_work.h). */
#include "cpu/vertex/vertex_work.h"

#include "cpu/interpreter.h"
#include "cpu/message_call.h"
#include "cpu/message_load.h"

#define BATCH_VALUES 2048 /* of one feed or result: as of other messages (message_run.c) */

void *ftb_vertex_need(FtB_Context ctx, ftb_vertex_room *room, int64_t count, size_t size)
{
    int64_t bytes;
    if (__builtin_mul_overflow(count, (int64_t)size, &bytes))
        bytes = INT64_MAX; /* refused by the allocator, with its message */
    if (room->at && bytes <= room->bytes)
        return room->at;
    const int64_t more = bytes < INT64_MAX / 4 ? bytes + bytes / 4 : bytes;
    ftb_delete(room->at);
    room->bytes = more;
    room->at = ftb_new(ctx, more, 1);
    if (!room->at && more > bytes) { /* under a limit, no more than is wanted */
        room->bytes = bytes;
        room->at = ftb_new(ctx, bytes, 1);
    }
    if (!room->at)
        room->bytes = 0;
    return room->at;
}

/* ---- workers */

static void delete_worker(const ftb_vertex_work *w, ftb_vertex_worker *k)
{
    for (int t = 0; k->run && t < w->ntexts; t++) {
        ftb_loader_delete(k->run[t].loader);
        ftb_interpreter_delete(k->run[t].machine);
        ftb_caller_delete(k->run[t].caller);
    }
    for (int f = 0; k->fresh && f < w->nfields; f++)
        ftb_delete(k->fresh[f]);
    void *arrays[] = {k->run, k->values, k->fresh, k->changed, k->row, k->col, k->entry, k->segments};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        ftb_delete(arrays[a]);
}

void ftb_vertex_workers_delete(ftb_vertex_work *w)
{
    for (int t = 0; w->workers && t < w->nthreads; t++)
        delete_worker(w, &w->workers[t]);
    ftb_delete(w->workers);
    w->workers = NULL;
}

static GrB_Info fill_run(const ftb_vertex_work *w, ftb_vertex_worker *k, int t)
{
    ftb_vertex_text *text = &k->run[t].text;
    *text = w->texts[t];
    GrB_Info info = ftb_loader_new(&k->run[t].loader, &text->m, text->program, w->room);
    if (info == GrB_SUCCESS && text->program)
        info = ftb_interpreter_new(&k->run[t].machine, w->ctx, text->program);
    else if (info == GrB_SUCCESS)
        info = ftb_caller_new(&k->run[t].caller, &text->m);
    return info;
}

static GrB_Info fill_worker(const ftb_vertex_work *w, ftb_vertex_worker *k)
{
    int64_t widest = w->width;
    for (int t = 0; t < w->ntexts; t++)
        widest = ftb_max(widest, w->texts[t].width);
    k->run = ftb_new0(w->ctx, w->ntexts, sizeof *k->run);
    k->fresh = ftb_new0(w->ctx, w->nfields, sizeof *k->fresh);
    k->values = ftb_new(w->ctx, w->room * widest, 8);
    k->changed = ftb_new(w->ctx, w->room, 1);
    k->row = ftb_new(w->ctx, w->room, sizeof *k->row);
    k->col = ftb_new(w->ctx, w->room, sizeof *k->col);
    k->entry = ftb_new(w->ctx, w->room, sizeof *k->entry);
    k->segments = ftb_new(w->ctx, w->room, sizeof *k->segments);
    if (!k->run || !k->fresh || !k->values || !k->changed || !k->row || !k->col || !k->entry || !k->segments)
        return ftb_nomem();
    GrB_Info info = GrB_SUCCESS;
    for (int f = 0; f < w->nfields && info == GrB_SUCCESS; f++) {
        k->fresh[f] = ftb_new(w->ctx, w->room * w->fields[f].ncols, 8);
        info = k->fresh[f] ? GrB_SUCCESS : ftb_nomem();
    }
    for (int t = 0; t < w->ntexts && info == GrB_SUCCESS; t++)
        info = fill_run(w, k, t);
    return info;
}

GrB_Info ftb_vertex_workers_new(ftb_vertex_work *w)
{
    int64_t values = ftb_max(w->width, 1);
    for (int t = 0; t < w->ntexts; t++)
        values = ftb_max(values, ftb_loader_values(&w->texts[t].m, w->texts[t].program));
    w->room = ftb_max(1, ftb_min(FTB_BATCH, BATCH_VALUES / values));
    w->workers = ftb_new0(w->ctx, w->nthreads, sizeof *w->workers);
    if (!w->workers)
        return ftb_nomem();
    GrB_Info info = GrB_SUCCESS;
    for (int t = 0; t < w->nthreads && info == GrB_SUCCESS; t++)
        info = fill_worker(w, &w->workers[t]);
    if (info != GrB_SUCCESS)
        ftb_vertex_workers_delete(w);
    return info;
}

/* ---- feeds */

void ftb_vertex_point(const ftb_vertex_work *w, ftb_vertex_text *text, const ftb_vertex_mail *mail)
{
    for (int f = 0; f < text->m.nfeeds; f++) {
        ftb_feed *feed = &text->m.feeds[f];
        if (text->of[f].kind == FTB_VERTEX_STATE)
            feed->data = w->states[text->of[f].index];
        else if (text->of[f].kind == FTB_VERTEX_EDGE)
            feed->data = w->edges;
        else if (text->of[f].kind == FTB_VERTEX_MESSAGE) {
            feed->data = mail->sent;
            feed->ld = mail->ld;
        } else if (text->of[f].kind == FTB_VERTEX_RECEIVED) {
            feed->data = mail->received;
            feed->ld = mail->ldr;
        }
    }
}

void ftb_vertex_ready(const ftb_vertex_work *w, ftb_vertex_worker *k, int t, const ftb_vertex_mail *mail)
{
    ftb_vertex_text *text = &k->run[t].text;
    ftb_vertex_point(w, text, mail);
    for (int f = 0; f < text->m.nfeeds; f++) {
        if (text->of[f].kind == FTB_VERTEX_NEW)
            text->m.feeds[f].data = k->fresh[text->of[f].index];
        else if (text->of[f].kind == FTB_VERTEX_CHANGED)
            text->m.feeds[f].data = k->changed;
    }
    ftb_loader_renew(k->run[t].loader);
}

void ftb_vertex_evaluate(const ftb_vertex_worker *k, int t, int64_t count, const struct ftb_places *places,
                         void *out)
{
    const ftb_operand *operands = ftb_loader_run(k->run[t].loader, count, places);
    if (k->run[t].machine)
        ftb_interpreter_run(k->run[t].machine, count, operands, out);
    else
        ftb_caller_run(k->run[t].caller, count, operands, out);
}

/* ---- messages */

void ftb_vertex_flush(const ftb_vertex_work *w, ftb_vertex_worker *k)
{
    const ftb_vertex_text *text = &k->run[FTB_VERTEX_COMBINE].text;
    const int64_t width = w->width;
    const size_t row = (size_t)width * FtB_Type_size(w->reduced);
    if (k->count == 0)
        return;
    const ftb_places places[FTB_SIDES] = {[FTB_SIDE_ROW] = {.index = k->row},
                                          [FTB_SIDE_COL] = {.index = k->col},
                                          [FTB_SIDE_EDGE] = {.index = k->entry}};
    ftb_vertex_evaluate(k, FTB_VERTEX_COMBINE, k->count, places, k->values);
    if (text->type != w->reduced)
        ftb_cast(k->values, w->reduced, k->values, text->type, k->count * width);
    const char *from = k->values;
    for (int64_t s = 0; s < k->nsegments; s++) {
        const ftb_vertex_segment *at = &k->segments[s];
        w->reduce(at->to, from, at->count, width, at->fresh);
        from += (size_t)at->count * row;
    }
    k->count = k->nsegments = 0;
}
