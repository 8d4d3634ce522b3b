/* Feeds to operands: rows of a message's arrays, brought side by side for a batch of items. */
#ifndef FTB_MESSAGE_LOAD_H
#define FTB_MESSAGE_LOAD_H

#include "expr/message.h"

/* Which rows a batch reads on one side. */
typedef struct ftb_places {
    const int64_t *index; /* of each; NULL: first, first + 1, ... or, if `same`, first for all */
    int64_t first;
    bool same;
} ftb_places;
#define FTB_SIDES (FTB_SIDE_EDGE + 1)

/* One thread's. Items are (place, head) pairs, the heads of one place together. */
typedef struct ftb_loader ftb_loader;

/* For batches of up to `room` places. uses(f) of the program tells which feeds are loaded; NULL: a C function
 * reads them, all as FP32 but for what ftb_caller_compares. */
GrB_Info ftb_loader_new(ftb_loader **l, const ftb_message *m, const ftb_program *p, int64_t room);
void ftb_loader_delete(ftb_loader *l);
/* The operands of `count` places, in the order of the feeds; they stay valid until the next call, and only as
 * long as the feeds do. */
const ftb_operand *ftb_loader_run(ftb_loader *l, int64_t count, const ftb_places places[FTB_SIDES]);

/* What is the same for all places is read again, since it changed: of the feeds of the message, data and ld
 * may have. */
void ftb_loader_renew(ftb_loader *l);

/* Values that one place's feeds and result take together, at most (for the size of batches). */
int64_t ftb_loader_values(const ftb_message *m, const ftb_program *p);

#endif
