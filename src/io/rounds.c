/* Rounds of pieces: what readers of texts do around parsing. */
#include "io/input.h"

static void piece_clear(ftb_piece *p)
{
    ftb_delete(p->I);
    ftb_delete(p->J);
    ftb_delete(p->X);
    ftb_delete(p->line);
    *p = (ftb_piece){.I = NULL};
}

/* Arrays for `room` entries; what was in them is lost. */
static GrB_Info piece_room(ftb_piece *p, const ftb_tuples *t, int64_t room)
{
    piece_clear(p);
    p->room = room;
    p->I = ftb_new(t->ctx, room, sizeof *p->I);
    p->J = ftb_new(t->ctx, room, sizeof *p->J);
    p->X = t->valued ? ftb_new(t->ctx, room, sizeof *p->X) : NULL;
    p->line = t->lined ? ftb_new(t->ctx, room, sizeof *p->line) : NULL;
    return p->I && p->J && (!t->valued || p->X) && (!t->lined || p->line) ? GrB_SUCCESS : ftb_nomem();
}

GrB_Info ftb_rounds_start(ftb_rounds *r, void **workers, size_t size)
{
    const ftb_tuples *t = &r->tuples;
    int64_t count = r->text.pieces, room = r->text.entries;
    r->cut = ftb_new(t->ctx, count + 1, sizeof *r->cut);
    r->pieces = ftb_new0(t->ctx, count, sizeof *r->pieces);
    *workers = ftb_new0(t->ctx, count, size);
    if (!r->cut || !r->pieces || !*workers)
        return ftb_nomem();
    GrB_Info info = GrB_SUCCESS;
    for (int64_t p = 0; p < count && info == GrB_SUCCESS; p++)
        info = piece_room(&r->pieces[p], t, room);
    return info;
}

GrB_Info ftb_rounds_reserve(ftb_rounds *r, int64_t bytes)
{
    GrB_Info info = GrB_SUCCESS;
    for (int p = 0; p < r->text.pieces && info == GrB_SUCCESS; p++) {
        const int64_t room = (r->cut[p + 1] - r->cut[p]) / bytes + 1;
        if (room > r->pieces[p].room)
            info = piece_room(&r->pieces[p], &r->tuples, room);
    }
    return info;
}

void ftb_rounds_stop(ftb_rounds *r)
{
    for (int p = 0; r->pieces && p < r->text.pieces; p++)
        piece_clear(&r->pieces[p]);
    ftb_delete(r->pieces);
    ftb_delete(r->cut);
    ftb_text_close(&r->text);
    r->pieces = NULL;
    r->cut = NULL;
}

GrB_Info ftb_rounds_run(ftb_rounds *r, char *first, char *rest, char *end,
                        GrB_Info (*take)(void *state, char *first), void *state)
{
    ftb_text *t = &r->text;
    GrB_Info info = GrB_SUCCESS;
    r->lines = ftb_count_lines(first, rest);
    while (first < end && info == GrB_SUCCESS) {
        while (rest < end && info == GrB_SUCCESS) {
            char *stop = ftb_text_round(t, rest, end);
            ftb_text_cut(t, rest, stop, r->cut);
            info = take(state, first);
            rest = stop;
        }
        int64_t lines = r->lines;
        r->lines = 0;
        if (info == GrB_SUCCESS)
            info = ftb_text_next(t, lines, &first, &end);
        rest = first;
    }
    return info;
}

GrB_Info ftb_rounds_append(ftb_rounds *r)
{
    GrB_Info info = ftb_tuples_append(&r->tuples, r->text.pieces, r->pieces, r->text.line + r->lines);
    for (int p = 0; p < r->text.pieces; p++)
        r->lines += r->pieces[p].lines;
    return info;
}
