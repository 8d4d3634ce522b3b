/* Rounds of pieces: what readers of texts do around parsing. */
#include "io/input.h"

GrB_Info ftb_rounds_start(ftb_rounds *r, void **workers, size_t size)
{
    const ftb_tuples *t = &r->tuples;
    int64_t count = r->text.pieces, room = r->text.entries;
    r->cut = ftb_new(t->ctx, count + 1, sizeof *r->cut);
    r->pieces = ftb_new0(t->ctx, count, sizeof *r->pieces);
    *workers = ftb_new0(t->ctx, count, size);
    if (!r->cut || !r->pieces || !*workers)
        return ftb_nomem();
    for (ftb_piece *p = r->pieces; p < r->pieces + count; p++) {
        p->I = ftb_new(t->ctx, room, sizeof *p->I);
        p->J = ftb_new(t->ctx, room, sizeof *p->J);
        p->X = t->valued ? ftb_new(t->ctx, room, sizeof *p->X) : NULL;
        p->line = t->lined ? ftb_new(t->ctx, room, sizeof *p->line) : NULL;
        if (!p->I || !p->J || (t->valued && !p->X) || (t->lined && !p->line))
            return ftb_nomem();
    }
    return GrB_SUCCESS;
}

void ftb_rounds_stop(ftb_rounds *r)
{
    for (int p = 0; r->pieces && p < r->text.pieces; p++) {
        ftb_delete(r->pieces[p].I);
        ftb_delete(r->pieces[p].J);
        ftb_delete(r->pieces[p].X);
        ftb_delete(r->pieces[p].line);
    }
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
