/* Supersteps of searches by bits. Where nobody sees the state in between, it is written in the end, from a
 * log of who was reached when (cpu/vertex/vertex_bits_log.c). */
#include "ops/backends.h"
#include "vertex/run.h"

static const ftb_buffer *levels_of(const struct FtB_Run_opaque *r)
{
    return r->states[r->work.fields[r->bits.level].state].block->owner;
}

void ftb_vertex_look_at_bits(FtB_Run r)
{
    if (r->bits.made && ftb_buffer_version(levels_of(r)) != r->bits.version)
        ftb_vertex_bits_clear(&r->bits);
}

static bool receivers_made(const struct FtB_Run_opaque *r)
{
    return r->program->direction == FTB_IN || ftb_pattern_transposed(r->A->pattern, r->reads_edges);
}

/* Whether a log says all that there is to say. Parents are looked for along the rows of receivers. */
static bool may_log(const struct FtB_Run_opaque *r)
{
    return r->closed && !ftb_device(r->ctx) && ftb_vertex_bits_worth(&r->bits, &r->work) &&
           (r->bits.parent < 0 || receivers_made(r));
}

static GrB_Info make_bits(bool *fits, FtB_Run r)
{
    const ftb_vertex_list senders = ftb_vertex_senders(r);
    GrB_Info info = receivers_made(r) ? ftb_vertex_want_edges(r, false) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = ftb_vertex_bits_make(fits, &r->bits, &r->work, r->by_receiver_there ? &r->by_receiver : NULL,
                                    &senders, r->round);
    if (info == GrB_SUCCESS && *fits && may_log(r))
        ftb_vertex_bits_log(&r->bits, &r->work, &senders, r->round);
    if (info == GrB_SUCCESS)
        r->bits.version = ftb_buffer_version(levels_of(r));
    return info;
}

GrB_Info ftb_vertex_choose_loop(ftb_vertex_loop *how, FtB_Run r, FtB_Way way)
{
    bool fits = r->bits.there && way != FTB_WAY_ALL;
    *how = way == FTB_WAY_ALL ? FTB_LOOP_TEXT
           : r->work.first    ? FTB_LOOP_FIRST
           : r->work.plain    ? FTB_LOOP_PLAIN
                              : FTB_LOOP_TEXT;
    if (fits && !r->bits.made) {
        GrB_Info info = make_bits(&fits, r);
        if (info != GrB_SUCCESS)
            return info;
    }
    if (fits)
        *how = FTB_LOOP_BITS;
    else if (r->bits.there) {
        ftb_vertex_settle_bits(r);
        ftb_vertex_bits_clear(&r->bits);
        r->bits.there = false;
    }
    return GrB_SUCCESS;
}

GrB_Info ftb_vertex_search(FtB_Run r, FtB_Way way, int64_t edges)
{
    const ftb_vertex_list senders = ftb_vertex_senders(r);
    GrB_Info info = way == FTB_WAY_PUSH
                        ? ftb_vertex_bits_push(&r->bits, &r->work, &r->by_sender, &senders, edges, &r->mail)
                        : ftb_vertex_bits_pull(&r->bits, &r->work, &r->by_receiver, &senders, &r->mail);
    if (info != GrB_SUCCESS)
        return info;
    ftb_vertex_bits_apply(&r->bits, &r->work, &senders, r->round, &r->mail.receivers);
    if (ftb_vertex_bits_full(&r->bits))
        ftb_vertex_settle_bits(r);
    r->bits.version = ftb_buffer_version(levels_of(r));
    r->applying.who = r->mail.receivers;
    ftb_vertex_room *found = &r->mail.rooms[FTB_VERTEX_BITS_FOUND];
    const ftb_vertex_room swap = r->active_room;
    r->active_room = *found;
    *found = swap;
    r->active = r->active_room.at;
    r->nactive = r->mail.receivers.count;
    r->all = r->nactive == r->n;
    return GrB_SUCCESS;
}

void ftb_vertex_settle_bits(FtB_Run r)
{
    if (r->bits.log && (r->bits.blank || r->bits.logged > 0))
        ftb_vertex_bits_settle(&r->bits, &r->work, r->by_receiver_there ? &r->by_receiver : &r->by_sender);
}

bool ftb_vertex_begin_blank(FtB_Run r, const int64_t *sources)
{
    if (!r->bits.there || r->options.way >= FTB_WAY_ALL || !may_log(r) ||
        ftb_vertex_want_edges(r, r->bits.parent < 0) != GrB_SUCCESS || ftb_vertex_ask(r) != GrB_SUCCESS ||
        ftb_vertex_bits_blank(&r->bits, &r->work, sources) != GrB_SUCCESS)
        return false;
    r->bits.version = ftb_buffer_version(levels_of(r));
    return true;
}
