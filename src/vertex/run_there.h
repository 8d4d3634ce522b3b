/* Supersteps on a device: which it takes, and how they are made of verbs. */
#ifndef FTB_RUN_THERE_H
#define FTB_RUN_THERE_H

#include "ops/backends.h"
#include "vertex/run.h"

/* What comes home of a superstep, 8 bytes each; behind it sums of batches. */
enum {
    FTB_THERE_APPLIED, /* how many, and a number that nobody wants */
    FTB_THERE_NEXT = 2,
    FTB_THERE_NEXT_EDGES,
    FTB_THERE_COUNTS
};

/* A text with what it is pointed at on the device. What it owns beside the run's own text is freed with it.
 */
typedef struct ftb_there_text {
    ftb_expr *expr;
    ftb_program *program;
    FtB_Type type;
    int64_t width;
} ftb_there_text;

typedef struct ftb_vertex_there {
    const ftb_backend *who;
    const char *why;               /* the run's supersteps are not for it; NULL: they are */
    bool knows_active;             /* `on` says who is active, and the run's list does not */
    int64_t edges;                 /* of those */
    FtB_Block outdegree, indegree; /* INT64; NULL: nobody reads it */
    FtB_Block weights;             /* INT64: edges that a vertex sends along; NULL: all always are active */
    FtB_Block on, next;            /* flags: who is active, and who will be */
    /* Of the one direction or of both, by the patterns of the run's receivers: who has entries that bring
     * messages, who received some, and what. `any`: in one of them, `nhas` of all. */
    FtB_Block has[2], got[2], received[2], has_any, got_any;
    FtB_Block sent, filled, settled, active; /* filled: what was received in all; NULL: received[0] says it */
    FtB_Block applies, changed;
    FtB_Block fresh[FTB_VERTEX_FIELDS];
    FtB_Block terms[FTB_VERTEX_SUMS]; /* of each vertex: what is summed, FP64 */
    FtB_Block tally;                  /* one row: FTB_THERE_COUNTS, and behind them sums of batches */
    int64_t nhas, batches;
    ftb_there_text masked, fill, settles, activates; /* expr NULL: there is none, or it is the run's own */
    ftb_message any;                                 /* or : src, over `on` */
    FtB_Semiring or_src;
    uint64_t silent, identity; /* what stands for the message of who is not active; for none at all */
} ftb_vertex_there;

/* What a device would have of a run, once it is asked; whether it takes supersteps is `why`. NULL on failure.
 * (run_there_new.c) */
GrB_Info ftb_vertex_there_new(ftb_vertex_there **there, FtB_Run run, const ftb_backend *who);
void ftb_vertex_there_delete(ftb_vertex_there *there);
/* Does the superstep at hand; all that can fail is done before a field is written. *applied: how many did. */
GrB_Info ftb_vertex_there_step(FtB_Run run, int64_t *applied);
/* Those that are active become the run's list. */
GrB_Info ftb_vertex_there_leave(FtB_Run run);
/* The state comes home for those who have its address. */
GrB_Info ftb_vertex_there_home(FtB_Run run);

/* A text's feeds, over what is on the device: the blocks are those that the run has, and nothing is retained.
 * Messages, of those who are not active what changes nothing; whether there are messages; and what was
 * received, joined, and of those who received nothing the identity. (run_there_new.c) */
void ftb_there_point(ftb_message *m, const struct FtB_Run_opaque *run, const ftb_vertex_text *text);
/* Of one of the receivers' patterns; masked: not all are active. */
void ftb_there_point_message(ftb_message *m, const struct FtB_Run_opaque *run, int which, bool masked);
void ftb_there_point_any(ftb_message *m, const struct FtB_Run_opaque *run);
void ftb_there_point_fill(ftb_message *m, const struct FtB_Run_opaque *run);

#endif
