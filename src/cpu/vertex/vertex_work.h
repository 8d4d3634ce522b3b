/* A superstep of a vertex program on the host: texts over vertices and edges, on plain memory.
 *
 * A text is a message (expr/message.h) whose feeds are told by what they stand for, since what they point at
 * changes from superstep to superstep: rows of the state are read on the side ROW, by the vertex (of a
 * message: who receives it); what was sent on COL; an edge's value on EDGE. Behind the messages, EDGE is what
 * a vertex received, and COL are the values that a batch of vertices is about to get. */
#ifndef FTB_VERTEX_WORK_H
#define FTB_VERTEX_WORK_H

#include "cpu/reduce.h"
#include "expr/message.h"

typedef enum ftb_vertex_kind {
    FTB_VERTEX_FIXED,   /* as it is: numbers, indices, degrees */
    FTB_VERTEX_STATE,   /* a block of the state: `index` among the run's */
    FTB_VERTEX_MESSAGE, /* what was sent */
    FTB_VERTEX_EDGE,
    FTB_VERTEX_RECEIVED,
    FTB_VERTEX_NEW, /* of the batch: `index` among the fields that change */
    FTB_VERTEX_CHANGED
} ftb_vertex_kind;

typedef struct ftb_vertex_text {
    ftb_message m;
    struct {
        ftb_vertex_kind kind;
        int index;
    } of[FTB_MAX_FEEDS];  /* each feed */
    ftb_program *program; /* NULL: a C function */
    FtB_Type type;        /* of its values */
    int64_t width;
} ftb_vertex_text;

/* The first texts; behind them one for each field that changes, then `active`, `settled`, `priority`, and the
 * sums of `until`. */
enum { FTB_VERTEX_SEND, FTB_VERTEX_COMBINE, FTB_VERTEX_APPLY };

typedef struct ftb_vertex_field { /* that changes */
    int state;                    /* which of the state's blocks */
    FtB_Type type;
    int64_t ncols, ld;
} ftb_vertex_field;

/* `settled` where it compares a field of one column with a number: it is looked at edge by edge then. A
 * vertex is settled if its value is in least .. most (low .. high, of reals), or, with `beyond`, if it is
 * not. */
typedef struct ftb_vertex_test {
    bool there;
    int state;
    FtB_Type type; /* INT32, INT64, FP32 or FP64 */
    int64_t ld;
    bool beyond;
    int64_t least, most;
    double low, high;
} ftb_vertex_test;

/* Messages of one value that loops know, without their text: what was sent, and that and the edge's value. */
typedef enum ftb_vertex_plain {
    FTB_PLAIN_NONE,
    FTB_PLAIN_COPY,
    FTB_PLAIN_ADD,
    FTB_PLAIN_SUB,
    FTB_PLAIN_MUL
} ftb_vertex_plain;

/* Edges of fewer than one in so many vertices are few: they are pushed in any case, and nothing is as long as
 * the graph then. */
#define FTB_VERTEX_FEW 64

typedef struct ftb_vertex_worker ftb_vertex_worker; /* one thread's */

/* What a run knows of its texts. */
typedef struct ftb_vertex_work {
    FtB_Context ctx;
    int64_t n, senders; /* who may receive, and who may send: of a run the same */
    int nthreads;
    int ntexts;
    ftb_vertex_text *texts;
    int nfields;
    ftb_vertex_field *fields;
    int active; /* which text; -1: what changed */
    bool always;
    bool reads_changed;     /* some text */
    int settled;            /* which text; -1: nobody is */
    int priority;           /* which text; -1: all are alike */
    double delta;           /* the width of its buckets */
    const uint64_t *takers; /* bits of those that are not, of who knows them; NULL: the text says */
    ftb_vertex_test test;
    int first_sum, nsums;
    ftb_vertex_plain plain;
    bool first;        /* a receiver's first message decides */
    bool numbers;      /* and what is received is the first sender's number, as INT64 */
    void **states;     /* the first value of each block of the state, NULL where there are no values */
    const void *edges; /* A's values */
    ftb_monoid monoid;
    FtB_Type reduced; /* of what is received */
    int64_t width;
    ftb_segment reduce;
    int64_t room; /* vertices or edges of a batch */
    ftb_vertex_worker *workers;
} ftb_vertex_work;

/* Memory that is kept from superstep to superstep; what it holds is not, where it grows. */
typedef struct ftb_vertex_room {
    void *at;
    int64_t bytes;
} ftb_vertex_room;
/* NULL: there is none, with its message. */
void *ftb_vertex_need(FtB_Context ctx, ftb_vertex_room *room, int64_t count, size_t size);

/* Vertices, in ascending order. */
typedef struct ftb_vertex_list {
    const int64_t *list; /* NULL: 0, 1, ... */
    int64_t count;
} ftb_vertex_list;

/* Edges, by who sends or by who receives: those of a pattern's rows, and behind them those of a second one's.
 */
typedef struct ftb_vertex_edges {
    const ftb_pattern *rows[2]; /* NULL: there is no such */
    const int64_t *from[2];     /* each pattern's: which of A's an entry is; NULL: the same */
} ftb_vertex_edges;

static inline int ftb_vertex_bits_of(int64_t below) /* that numbers below it take */
{
    return below > 1 ? 64 - __builtin_clzll((uint64_t)below - 1) : 1;
}

/* What was sent, and what of it was received. */
typedef struct ftb_vertex_mail {
    const void *sent; /* a row for each of the senders, or by vertex */
    FtB_Type type;    /* as it is stored */
    int64_t ld;
    bool by_vertex;
    ftb_vertex_list receivers;
    void *received; /* rows of work->width, a receiver's each, or by vertex */
    int64_t ldr;
    bool received_by_vertex;
    int64_t edges; /* messages */
    ftb_vertex_room rooms[10];
    uint64_t *marks;      /* a bit for each vertex, 0 between supersteps; NULL: not wanted yet */
    ftb_vertex_room open; /* bits of vertices that are not settled */
} ftb_vertex_mail;

/* Threads' workers, for texts and fields that are known by now. */
GrB_Info ftb_vertex_workers_new(ftb_vertex_work *w);
void ftb_vertex_workers_delete(ftb_vertex_work *w);

/* Feeds get the places of the superstep: work->states, ->edges, and the mail's. */
void ftb_vertex_point(const ftb_vertex_work *w, ftb_vertex_text *text, const ftb_vertex_mail *mail);

/* out: a text's values of some vertices, over their own state, side by side, in the text's type: what they
 * send, or how urgent it is. (vertex_send.c) */
void ftb_vertex_send(const ftb_vertex_work *w, int text, const ftb_vertex_list *senders, void *out);

/* Messages of some senders, of `edges` edges together, reduced: in the order of the senders, and of patterns,
 * for each receiver, whichever of the two it is. Fills receivers and received. (vertex_push.c, vertex_pull.c)
 */
GrB_Info ftb_vertex_push(const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                         const ftb_vertex_list *senders, int64_t edges, ftb_vertex_mail *mail);
bool ftb_vertex_may_push(int64_t n, int64_t edges);
GrB_Info ftb_vertex_pull(const ftb_vertex_work *w, const ftb_vertex_edges *by_receiver,
                         const ftb_vertex_list *senders, ftb_vertex_mail *mail);
/* The same where the first message decides, found from the senders or from the receivers; `sent` is known
 * only where it is a field of the state. (vertex_first.c) */
GrB_Info ftb_vertex_first_push(const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                               const ftb_vertex_list *senders, int64_t edges, ftb_vertex_mail *mail);
GrB_Info ftb_vertex_first_pull(const ftb_vertex_work *w, const ftb_vertex_edges *by_receiver,
                               const ftb_vertex_list *senders, ftb_vertex_mail *mail);
/* The same of plain messages, of reducers and types that the loops know; `sent`: the type of what was, and of
 * edges' values the type is what is reduced. (vertex_plain.c) */
ftb_vertex_plain ftb_vertex_plain_of(const ftb_expr *text, const char *sent); /* `sent`: its name there */
bool ftb_vertex_plain_knows(ftb_monoid monoid, FtB_Type reduced);
GrB_Info ftb_vertex_plain_push(const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                               const ftb_vertex_list *senders, int64_t edges, FtB_Type sent,
                               ftb_vertex_mail *mail);
GrB_Info ftb_vertex_plain_pull(const ftb_vertex_work *w, const ftb_vertex_edges *by_receiver,
                               const ftb_vertex_list *senders, FtB_Type sent, ftb_vertex_mail *mail);
/* Who is settled: *open gets the bits of all others, in memory of the mail's, NULL where there is no such
 * text. (vertex_settled.c) */
GrB_Info ftb_vertex_open(const uint64_t **open, const ftb_vertex_work *w, ftb_vertex_mail *mail);
/* Takes the settled out of a list of vertices; of each that stays, values of `with` and `also` (NULL: there
 * are none) move along. Returns how many stay. */
int64_t ftb_vertex_keep_open(const ftb_vertex_work *w, int64_t *list, int64_t *with, int64_t *also,
                             int64_t count);
/* Edges of some senders. (vertex_push.c) */
int64_t ftb_vertex_count(const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                         const ftb_vertex_list *senders);

/* Rows of a (with entries in p) and b (in q), both by vertex, n of them: into a what both received, the
 * identity where neither has. b, q NULL: only a. (vertex_apply.c) */
void ftb_vertex_join(const ftb_vertex_work *w, void *a, int64_t lda, const ftb_pattern *p, const void *b,
                     int64_t ldb, const ftb_pattern *q);
/* Receivers of a whole graph: rows with entries in p or q. list: room for n. */
int64_t ftb_vertex_receivers(const ftb_vertex_work *w, int64_t *list, const ftb_pattern *p,
                             const ftb_pattern *q);
/* What some receivers have, for all vertices: the identity for the others. */
GrB_Info ftb_vertex_spread(const ftb_vertex_work *w, ftb_vertex_mail *mail);

/* Vertices apply; their new state is written. `next` (room for as many as apply) gets those that are active,
 * *count how many; sums (work->nsums) those of `until`. Allocates before anything is written.
 * (vertex_apply.c) */
typedef struct ftb_vertex_applying {
    ftb_vertex_list who;
    bool all; /* all vertices apply, and are active: they need no list in `next` */
    int64_t *next, count;
    double *sums;
    ftb_vertex_room flags, parts;
} ftb_vertex_applying;
GrB_Info ftb_vertex_apply(const ftb_vertex_work *w, const ftb_vertex_mail *mail, ftb_vertex_applying *a);

/* ---- what its files share (vertex_work.c) */

struct ftb_vertex_worker {
    _Alignas(FTB_LINE) struct {
        ftb_vertex_text text; /* a copy, whose feeds are pointed at what this thread reads; it owns nothing */
        struct ftb_loader *loader;
        struct ftb_interpreter *machine;
        struct ftb_caller *caller; /* of a C function */
    } * run;                       /* each text */
    void *values;                  /* a batch of one text's values */
    void **fresh;                  /* of each field that changes, a batch of new values */
    uint8_t *changed;
    int64_t *row, *col, *entry; /* of a batch of messages */
    struct ftb_vertex_segment *segments;
    int64_t count, nsegments;
};

struct ftb_places;
/* out = the text's values at `count` places. */
void ftb_vertex_evaluate(const ftb_vertex_worker *k, int text, int64_t count, const struct ftb_places *places,
                         void *out);
/* Points the worker's text, after which it may be evaluated, until what it reads is somewhere else. */
void ftb_vertex_ready(const ftb_vertex_work *w, ftb_vertex_worker *k, int text, const ftb_vertex_mail *mail);

/* Messages, one after another: those of a receiver follow each other. */
typedef struct ftb_vertex_segment {
    char *to;
    int64_t count;
    bool fresh;
} ftb_vertex_segment;
void ftb_vertex_flush(const ftb_vertex_work *w, ftb_vertex_worker *k);
static inline void ftb_vertex_put(const ftb_vertex_work *w, ftb_vertex_worker *k, char *to, bool fresh,
                                  int64_t receiver, int64_t sent, int64_t entry)
{
    if (k->count == w->room)
        ftb_vertex_flush(w, k);
    if (k->nsegments == 0 || k->segments[k->nsegments - 1].to != to)
        k->segments[k->nsegments++] = (ftb_vertex_segment){to, 0, fresh};
    k->segments[k->nsegments - 1].count++;
    k->row[k->count] = receiver;
    k->col[k->count] = sent;
    k->entry[k->count++] = entry;
}

#endif
