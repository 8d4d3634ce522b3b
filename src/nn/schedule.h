/* When each value and gradient of a record is needed, and which piece of memory holds it.
 *
 * Time runs forward over the nodes (node k at time k), then backward (its gradient at time 2 count - k). A
 * value lives from its node's time to the last operation that reads it, a gradient from the first consumer
 * that writes it to its own node's gradient. Values whose lives do not meet share a slot. */
#ifndef FTB_NN_SCHEDULE_H
#define FTB_NN_SCHEDULE_H

#include "nn/nn.h"
#include "ops/replay.h"

typedef struct ftb_slot {
    int64_t bytes;      /* that schedules ask for */
    ftb_buffer *buffer; /* NULL until a run needs it, or when it became too small */
    int64_t held;       /* bytes of buffer */
} ftb_slot;

/* What of a node has a slot of its own. */
typedef enum ftb_part { FTB_PART_VALUE, FTB_PART_GRAD, FTB_PART_EXTRA, FTB_PARTS } ftb_part;

struct ftb_schedule {
    struct ftb_schedule *next;
    int64_t target;
    bool training;
    int64_t count;              /* nodes of the tape when it was made */
    bool *needed;               /* by the target, per node */
    int32_t (*slot)[FTB_PARTS]; /* per node: its slot, -1: none (constants, leaves, views, not needed) */
    int64_t bytes;              /* most bytes of slots that live at one time */
    uint64_t *seeds;            /* of a run, per node; NULL until one may be replayed */
    ftb_replay replay;          /* of runs */
};

/* The schedule of a target, made if there is none. Borrowed. */
GrB_Info ftb_schedule_of(ftb_schedule **s, FtB_Tape tape, int64_t target, bool training);
/* Gives the nodes of s their blocks and matrices in the slots. */
GrB_Info ftb_schedule_bind(FtB_Tape tape, ftb_schedule *s);
/* Forgets schedules and takes their memory from the nodes (slots stay). */
void ftb_schedules_drop(FtB_Tape tape);
/* Forgets what runs of all schedules were recorded: what they read or write is elsewhere. */
void ftb_schedules_renew(FtB_Tape tape);
void ftb_slots_release(FtB_Tape tape);
/* Whether the gradient of n reads its input k. */
bool ftb_node_reads(const ftb_nn_node *n, int k);
/* Whether a further input of n has the memory of the first. */
bool ftb_node_twice(const ftb_nn_node *n);

#endif
