/* Edges on their way through Graphicionado. Source u is of stream u mod streams, destination v as well. Every
 * source stream sends an edge a cycle, in the order of its sources and their entries; an edge waits in the
 * queue of its destination's stream, which takes one a cycle, in order, but not while an update of the same
 * destination is under way. Queues have no end. */
#include "vertex/pipeline_walk.h"

typedef struct ftb_pipeline_cursor {
    int64_t i, end;  /* sources that are left */
    int64_t e, last; /* entries of the one at hand */
    int64_t sent;
} cursor;

GrB_Info ftb_pipeline_walk_new(ftb_pipeline_walk *w, FtB_Context ctx, const ftb_pipeline_machine *machine,
                               const ftb_pipeline_program *program, const ftb_pattern *p)
{
    *w = (ftb_pipeline_walk){.ctx = ctx, .machine = machine, .program = program, .p = p};
    w->ready = ftb_new0(ctx, p->nrows, sizeof *w->ready);
    w->sources = ftb_new(ctx, p->nrows, sizeof *w->sources);
    w->free = ftb_new0(ctx, machine->streams, sizeof *w->free);
    w->received = ftb_new(ctx, machine->streams, sizeof *w->received);
    w->at = ftb_new(ctx, machine->streams, sizeof *w->at);
    return w->ready && w->sources && w->free && w->received && w->at ? GrB_SUCCESS : ftb_nomem();
}

void ftb_pipeline_walk_free(ftb_pipeline_walk *w)
{
    ftb_delete(w->ready);
    ftb_delete(w->sources);
    ftb_delete(w->free);
    ftb_delete(w->received);
    ftb_delete(w->at);
    *w = (ftb_pipeline_walk){.ctx = NULL};
}

/* The first entry of a row that lies at or behind column j. */
static int64_t entry_at(const ftb_pattern *p, int64_t row, int64_t j)
{
    int64_t low = p->rowptr[row], high = p->rowptr[row + 1];
    if (j <= 0)
        return low;
    if (j >= p->ncols)
        return high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (ftb_col(p, middle) < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- what is read */

/* New bursts that bytes from .. end - 1 of an array touch, of which it was read up to burst *last. */
static int64_t touch(int64_t *last, int64_t from, int64_t end, int64_t burst)
{
    if (from == end)
        return 0;
    const int64_t low = ftb_max(from / burst, *last + 1), high = (end - 1) / burst;
    *last = ftb_max(*last, high);
    return ftb_max(0, high - low + 1);
}

/* Bursts of properties, pointers and edges. Edges of a slice are stored by source; those of a source that
 * does not follow the last one begin with a burst. */
static int64_t bursts_read(const ftb_pipeline_walk *w, const int64_t *list, int64_t count, int64_t first,
                           int64_t end)
{
    const ftb_pipeline_machine *m = w->machine;
    const int64_t edge = m->edge_bytes + (w->program->weighted ? m->weight_bytes : 0),
                  property = m->value_bytes * w->program->values;
    int64_t bursts = 0, read[3] = {-1, -1, -1}, at = 0, before = -1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t u = list ? list[i] : i,
                      bytes = (entry_at(w->p, u, end) - entry_at(w->p, u, first)) * edge;
        if (u != before + 1)
            at = (at + m->burst - 1) / m->burst * m->burst;
        bursts += touch(&read[0], u * property, (u + 1) * property, m->burst) +
                  touch(&read[1], u * m->pointer_bytes, (u + 1) * m->pointer_bytes, m->burst) +
                  touch(&read[2], at, at + bytes, m->burst);
        at += bytes;
        before = u;
    }
    return bursts;
}

/* ---- what is sent */

/* Sources of each stream, one stream behind the other; returns the most that one has. */
static int64_t share_out(ftb_pipeline_walk *w, const int64_t *list, int64_t count)
{
    const int64_t streams = w->machine->streams;
    int64_t most = 0, at = 0;
    for (int64_t s = 0; s < streams; s++)
        w->at[s] = (cursor){.i = 0};
    for (int64_t i = 0; i < count; i++)
        w->at[(list ? list[i] : i) % streams].end++;
    for (int64_t s = 0; s < streams; s++) {
        const int64_t here = w->at[s].end;
        most = ftb_max(most, here);
        w->at[s].i = w->at[s].end = at;
        at += here;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t u = list ? list[i] : i;
        w->sources[w->at[u % streams].end++] = u;
    }
    return most;
}

/* Whether a source stream has another edge into the slice, w->at[s].e. */
static bool next_edge(ftb_pipeline_walk *w, cursor *c, int64_t first, int64_t end)
{
    while (c->e == c->last) {
        if (c->i == c->end)
            return false;
        const int64_t u = w->sources[c->i++];
        c->e = entry_at(w->p, u, first);
        c->last = entry_at(w->p, u, end);
    }
    return true;
}

/* An edge that reaches its destination's stream at `arrival`: returns how long an update under way holds it.
 */
static int64_t update(ftb_pipeline_walk *w, int64_t v, int64_t arrival, int64_t beat)
{
    const int64_t d = v % w->machine->streams, turn = ftb_max(arrival, w->free[d]),
                  start = ftb_max(turn, w->ready[v]);
    w->free[d] = start + beat;
    w->ready[v] = start + w->machine->update + beat - 1;
    w->received[d]++;
    return start - turn;
}

ftb_pipeline_counts ftb_pipeline_count(ftb_pipeline_walk *w, const int64_t *list, int64_t count,
                                       int64_t first, int64_t end)
{
    const int64_t streams = w->machine->streams, beat = ftb_pipeline_beat(w->machine, w->program);
    ftb_pipeline_counts c = {.active = count,
                             .active_most = share_out(w, list, count),
                             .bursts = bursts_read(w, list, count, first, end),
                             .vertices = end - first};
    int64_t done = w->clock;
    memset(w->received, 0, (size_t)streams * sizeof *w->received);
    for (int64_t arrival = w->clock, more = 1; more; arrival += beat) {
        more = 0;
        for (int64_t s = 0; s < streams; s++)
            if (next_edge(w, &w->at[s], first, end)) {
                c.stalls += update(w, ftb_col(w->p, w->at[s].e++), arrival, beat);
                w->at[s].sent++;
                more = 1;
            }
    }
    for (int64_t s = 0; s < streams; s++) {
        c.edges += w->at[s].sent;
        c.edges_most = ftb_max(c.edges_most, w->at[s].sent);
        c.received_most = ftb_max(c.received_most, w->received[s]);
        done = ftb_max(done, w->free[s]);
    }
    c.finish = done - w->clock;
    w->clock = done + w->machine->update + beat;
    return c;
}
