/* Breadth-first search from up to 64 sources at once: what columns of a vertex were reached, and which have
 * just been, are bits of a word. Programs that say that are known by their texts (vertex/forms.c). */
#ifndef FTB_VERTEX_BITS_H
#define FTB_VERTEX_BITS_H

#include "cpu/kernels/column_bits.h"
#include "cpu/vertex/vertex_work.h"

typedef struct ftb_vertex_bits {
    bool there;   /* the program is such */
    int level;    /* of work->fields: of INT32, INT64 or FP64; < 0 where nobody was yet */
    int parent;   /* INT64; -1: not wanted */
    uint64_t all; /* a bit for each column */
    /* Made of the state, and good until somebody else changes it. A word for each vertex: */
    bool made;
    int64_t version;                   /* of the levels' memory */
    uint64_t *reached, *fresh, *found; /* ever; in the last superstep; in this one, 0 in between */
    /* NULL: the state is written superstep by superstep; else by ftb_vertex_bits_settle. */
    ftb_bits_number *log;
    int64_t logged; /* supersteps */
    int64_t first;  /* the level of the vertices that sent when the log began */
    bool blank;     /* the state says nothing yet */
} ftb_vertex_bits;

/* Words of the state as it is (of vertices that may receive, where by_receiver is not NULL), in which
 * `senders` are active in superstep `round`. *fits: whether bits say all that there is to say; a level above
 * those so far, which might send later, does not. */
GrB_Info ftb_vertex_bits_make(bool *fits, ftb_vertex_bits *b, const ftb_vertex_work *w,
                              const ftb_vertex_edges *by_receiver, const ftb_vertex_list *senders,
                              int64_t round);
/* Who is found, ascending, as receivers, a list in the mail's room FTB_VERTEX_BITS_FOUND; parents are
 * written, and no more can fail then. */
enum { FTB_VERTEX_BITS_FOUND = 0 };
GrB_Info ftb_vertex_bits_push(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                              const ftb_vertex_list *senders, int64_t edges, ftb_vertex_mail *mail);
GrB_Info ftb_vertex_bits_pull(ftb_vertex_bits *b, const ftb_vertex_work *w,
                              const ftb_vertex_edges *by_receiver, const ftb_vertex_list *senders,
                              ftb_vertex_mail *mail);
/* Their levels become `round`, or the log has it, and they are who was reached last, in place of `senders`.
 */
void ftb_vertex_bits_apply(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_list *senders,
                           int64_t round, const ftb_vertex_list *found);
void ftb_vertex_bits_clear(ftb_vertex_bits *b);

/* ---- rows that are written once (vertex_bits_log.c) */

/* Words of a search in which nobody is reached but column c's vertex sources[c], and a log; the state is not
 * read. */
GrB_Info ftb_vertex_bits_blank(ftb_vertex_bits *b, const ftb_vertex_work *w, const int64_t *sources);
/* A log for words that are made, in superstep `round`, if there is room for one. Parents are found along the
 * rows of receivers when it is settled. */
void ftb_vertex_bits_log(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_list *senders,
                         int64_t round);
/* Whether rows are long enough for that. */
bool ftb_vertex_bits_worth(const ftb_vertex_bits *b, const ftb_vertex_work *w);
/* Whether it has no room for another superstep. */
static inline bool ftb_vertex_bits_full(const ftb_vertex_bits *b)
{
    return b->log && b->logged + 2 == FTB_BITS_NUMBERS;
}
/* Writes the state, from which on it is written superstep by superstep; `by`: the rows of receivers, or,
 * where no parents are wanted, any. */
void ftb_vertex_bits_settle(ftb_vertex_bits *b, const ftb_vertex_work *w, const ftb_vertex_edges *by);

#endif
