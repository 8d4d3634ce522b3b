/* Active vertices that wait for their turn: those of the lowest bucket of priorities send next. */
#ifndef FTB_VERTEX_WAITING_H
#define FTB_VERTEX_WAITING_H

#include "cpu/graph/bins.h"
#include "cpu/vertex/vertex_work.h"

typedef struct ftb_vertex_waiting {
    int64_t *bucket; /* of each vertex: its bucket's number, from 1 on; 0: it does not wait */
    int64_t count;   /* vertices that wait */
    int64_t entries; /* of bins, at most: a vertex whose bucket changed has two */
    ftb_bins bins;
    ftb_vertex_room values, scratch;
} ftb_vertex_waiting;

/* Nobody waits. NULL: there is no memory, with its message. */
ftb_vertex_waiting *ftb_vertex_waiting_new(const ftb_vertex_work *w);
void ftb_vertex_waiting_delete(ftb_vertex_waiting *q); /* NULL is allowed */

/* Memory for what `add` does with as many vertices. */
GrB_Info ftb_vertex_waiting_reserve(ftb_vertex_waiting *q, const ftb_vertex_work *w, int64_t count);
/* Of some vertices, whose state may have changed, those that are active (flags; NULL: all), and those that
 * wait already, wait in the bucket of their priority as it is now. Cannot fail behind `reserve`. */
void ftb_vertex_waiting_add(ftb_vertex_waiting *q, const ftb_vertex_work *w, const ftb_vertex_list *who,
                            const uint8_t *flags);
/* Takes the lowest bucket out: its vertices, ascending, into `room`. On failure all wait as before. */
GrB_Info ftb_vertex_waiting_take(ftb_vertex_waiting *q, const ftb_vertex_work *w, ftb_vertex_room *room,
                                 int64_t *count);

#endif
