/* Messages on the edges of a pattern: a semiring's text together with everything that it reads there.
 *
 * An edge e = (i, j) of an m x n pattern is its entry e, in CSR order: i is its row, j its column. A message
 * reads rows of dense arrays ("feeds") by i, by j or by e. Sparse x block, block x block' under a mask, their
 * gradients (on the pattern or on its transpose, with `at` for the edges) and attention scores are all
 * messages; what differs is where the results go: into the rows (reduced), or to the edges.
 *
 * With heads H > 1 a feed holds H x width values in a row, or 1 x width for all heads; the text is about one
 * head, and the result has H x its width. H is that of all operands of the call, whether the text reads them
 * or not. */
#ifndef FTB_MESSAGE_H
#define FTB_MESSAGE_H

#include "expr/expr.h"

/* By what a feed is indexed; also bits of sets. */
typedef enum ftb_side {
    FTB_SIDE_NONE = 0, /* the same for all: scalars, blocks of one row, whole blocks right of @ */
    FTB_SIDE_ROW = 1,
    FTB_SIDE_COL = 2,
    FTB_SIDE_EDGE = 4
} ftb_side;

typedef struct ftb_feed {
    char name[FTB_NAME_LENGTH]; /* "src", "dst", "edge", "norm[i]", "w[e]", "i", "dk", "scale" */
    ftb_side side;
    FtB_Type type;         /* as stored */
    const void *data;      /* row r is at data + r * ld values; NULL: an index (i, j, k, e) or a degree */
    int64_t nrows, ld;     /* rows that may be read */
    int64_t heads;         /* 1, or the message's */
    int64_t width;         /* values per head */
    const int64_t *at;     /* row r is at at[r] instead; NULL: the same */
    const int64_t *degree; /* degrees: row pointers to subtract, r + 1 less r; NULL otherwise */
    bool constant;         /* a bound scalar or literal: takes the precision of what it meets */
    FtB_Block whole;       /* right of @, its shape; not owned. data and ld are those of its rows */
    int64_t offset;        /* of data in the owner's memory, bytes */
    ftb_buffer *owner;     /* of data, retained; NULL: the caller's, which outlives the message */
    const char *argument;  /* of the call, that it is; NULL: messages say its name */
} ftb_feed;

/* A block's rows as a feed, or the whole of it, right of @; it does not own them and has no name yet.
 * (message.c) */
ftb_feed ftb_block_feed(FtB_Block X, int64_t heads, ftb_side side);
ftb_feed ftb_whole_feed(FtB_Block X);

#define FTB_MAX_FEEDS 64

typedef struct ftb_message {
    FtB_Context ctx;
    ftb_reducer reducer;
    ftb_expr *expr;                /* over the feeds' names; block[index] became a name; NULL: function */
    FtB_Message_function function; /* or a C function over src, dst, edge */
    FtB_Message_gradient gradient; /* of function; NULL: there is none */
    int gradient_of;    /* 0: the message is function's; 1, 2, 3: what gradient gives for src, dst, edge */
    bool gradient_mean; /* the gradient is that of a mean: it is divided by di */
    const void *theta;
    int64_t function_width; /* of the message, gradient or not */
    int64_t heads;
    int nfeeds;
    ftb_feed feeds[FTB_MAX_FEEDS];
    bool wide;       /* integer results are summed or multiplied: as `integers_wide` of ftb_program_new */
    int nbound;      /* the first feeds: those of ftb_message_new */
    char known[256]; /* names that were offered, for messages */
} ftb_message;

/* The message of a semiring: its text, with norm[i] and its like made names of their own, and the bound
 * scalars and blocks as feeds. The caller then adds src, dst, edge, ... with ftb_message_block and _values,
 * and ends with ftb_message_indices. rename: what a, b (GraphBLAS's operands) and bound names stand for,
 * pairs, NULL-ended, e.g.
 * {"a", "edge", "b", "src", NULL}; NULL for none. A block bound as "dst" or "src" that the text names without
 * an index becomes the feed of that name. On failure m is as cleared. (message.c) */
GrB_Info ftb_message_new(ftb_message *m, FtB_Context ctx, FtB_Semiring s, const char *const *rename);
/* The message becomes its reducer over the values of each head: what GraphBLAS's semirings (s->domain is not
 * 0) mean in block x block'. To be called right after ftb_message_new. GrB_DOMAIN_MISMATCH for min, max and
 * times, which no expression reduces features by, and for products that are, or count, features' indices. */
GrB_Info ftb_message_over_features(ftb_message *m);
/* The feeds that a text may name beside its bindings; of a name that the text does not use only the heads
 * count. Errors name the feed: heads and widths that do not fit, block with too few rows. */
GrB_Info ftb_message_block(ftb_message *m, const char *name, ftb_side side, FtB_Block X, int64_t heads);
GrB_Info ftb_message_values(ftb_message *m, const char *name, FtB_Matrix A, const int64_t *at);
/* i, j, k (= j), e, di, dj, dk (= dj) of the pattern p that is walked; `transposed`: its rows are the j of
 * the text, so that feeds bound by i and j change sides (those that the caller added stay where they are).
 * at: entry x of p is entry at[x] of the text's; NULL: the same. Checks that every name is known and every
 * indexed block has rows enough. p outlives the message. */
GrB_Info ftb_message_indices(ftb_message *m, ftb_pattern *p, bool transposed, const int64_t *at);
/* Of rows (FTB_SIDE_ROW) or columns that are numbered (core/hypersparse.h): all that is read by them, but for
 * operands, is read by number, of which there are `all`. After ftb_message_indices. */
GrB_Info ftb_message_number(ftb_message *m, ftb_side side, const int64_t *numbers, int64_t all,
                            const char *what);
/* Heads of a further operand of the call, which no text can read. Before ftb_message_indices. */
GrB_Info ftb_message_heads(ftb_message *m, const char *name, int64_t heads);
/* Asks for what the feeds are over on the host, for reading: before anything runs over them there, unless the
 * operands were asked for. */
GrB_Info ftb_message_ask(const ftb_message *m);
/* What the call has for an operand that was added is its argument of that name, which stays there. */
void ftb_message_argument(ftb_message *m, const char *name, const char *argument);
void ftb_message_clear(ftb_message *m);
const ftb_feed *ftb_message_find(const ftb_message *m, const char *name); /* NULL if not used */
bool ftb_message_reads(const ftb_message *m, const char *name);           /* whether the text names it */

/* What the message gives: compute type of a message and of the reduced values, values per head. */
typedef struct ftb_message_type {
    FtB_Type message, reduced;
    int64_t width;
} ftb_message_type;
GrB_Info ftb_message_compile(ftb_message_type *type, ftb_program **program, const ftb_message *m);
/* The program of any expression over a message's feeds, in their order. Of blocks right of @ it has the
 * shapes: their values are those of the feeds of the message that it is run over. */
GrB_Info ftb_message_program(ftb_program **program, const ftb_message *m, const ftb_expr *expr);

/* A feed over the rows of a block of the message's heads, which it frees, also on failure. */
GrB_Info ftb_message_adopt(ftb_message *m, const char *name, ftb_side side, FtB_Block X);
/* What ftb_message_compile says of the types. */
GrB_Info ftb_message_types(ftb_message_type *type, const ftb_message *m);

#endif
