/* What the host and the kernels of sampling agree on. Read by C, nvcc and NVRTC.
 *
 *     picks    (sample_picks.cu)    how many of each row; which, uniformly
 *     keys     (sample_keys.cu)     the same where every entry of a row has a say
 *     weighted (sample_weighted.cu) by weight, through tables
 *     order    (sample_order.cu)    numbers sorted
 *     numbers  (sample_numbers.cu)  numbers for what was picked, rows in their order
 *     queue    (sample_queue.cu)    all hops in one kernel, and what is made of its tasks */
#ifndef FTB_SAMPLE_STEPS_H
#define FTB_SAMPLE_STEPS_H

enum {
    FTB_SAMPLE_BLOCK = 128, /* threads of most of these kernels */
    FTB_SAMPLE_LANES = 32,  /* picks of a row that lanes of one warp make side by side, at most */
    FTB_SAMPLE_MOST = 1024, /* that a block makes; and entries of a row that lanes bring into order */
    FTB_ORDER_TILE = 512,   /* numbers that a warp counts and moves */
    FTB_ORDER_DIGITS = 256,
    FTB_LEAST_BLOCK = 128, /* a warp has a row of keys up to */
    FTB_LEAST_LONG = 2048, /* so many; a block of */
    FTB_LEAST_LONG_BLOCK = 256,
    FTB_WEIGHTED_ROUNDS = 16,  /* of draws that lanes make for a row; what goes on then a block of */
    FTB_WEIGHTED_BLOCK = 256,  /* has, with */
    FTB_WEIGHTED_TABLE = 2048, /* places for what it draws: over FTB_SAMPLE_MOST and its threads together */
    FTB_QUEUE_BLOCK = 128,
    FTB_QUEUE_HOPS = 16, /* at most */
};

/* ---- picks */

/* Rows of a pattern, and what is picked of them. Row r is rows[r]; NULL: r. */
typedef struct ftb_sample_rows {
    const long long *rowptr;
    const int *colidx;
    const long long *rows;
    long long nrows;
    unsigned long long seed, stream;
    const int *trees;                          /* of each row, whose draws are then of */
    const unsigned long long *seeds, *streams; /* these, by tree; NULL: seed, and stream */
    long long k;                               /* < 0: all */
    int replace;
    long long *to;      /* nrows + 1: where each row's picks begin; before they are summed, how many */
    long long *entries; /* NULL: not wanted */
    int *columns;
    long long *most; /* the most that a row has */
} ftb_sample_rows;

/* X(lanes): sample_uniform_<lanes>, for k of up to as many. */
#define FTB_SAMPLE_UNIFORM_KERNELS(X) X(8) X(16) X(32)

/* ---- keys */

/* Key number from[r] + t is that of entry t of row r: those with the least are picked, of equal ones the
 * first; none that is all ones. */
typedef struct ftb_sample_keys {
    ftb_sample_rows rows;
    long long *from;                 /* nrows + 1 */
    const void *values;              /* of the pattern's entries */
    int type;                        /* how they are stored: FTB_STORED_... */
    const unsigned long long *slots; /* or their slots, below */
    double threshold;
    unsigned long long *keys;
    long long limit;            /* picks of a row at most; < 0: all that have keys */
    int *bad;                   /* becomes 1 where a value is no probability */
    long long *longs;           /* rows that a block takes, and */
    unsigned long long *nlongs; /* how many */
} ftb_sample_keys;

/* X(name, C's name of the selector): sample_keys_<name>. */
#define FTB_SAMPLE_KEY_KERNELS(X)                                                                            \
    X(topk, TOPK) X(threshold, THRESHOLD) X(bernoulli, BERNOULLI) X(labor, LABOR) X(weighted, WEIGHTED)

/* ---- by weight */

/* Of the pattern's entries, the slots of their rows' tables (src/core/draw_tables.h): the lower half says
 * from which fraction on the entry in the upper one is meant. */
typedef struct ftb_sample_weighted {
    ftb_sample_rows rows; /* its `to` becomes how many each has, and is summed before they are put */
    const unsigned long long *slots;
    const long long
        *room;        /* nrows + 1: where each row's places begin, of which there are as many as may be */
    int *places;      /* of picks in their rows, ascending */
    long long *longs; /* rows that go on by blocks; NULL: all are, from the first draw on */
    unsigned long long *nlongs;
    long long *rest, *rest_vertices; /* rows whose draws were not enough */
    int *rest_trees;                 /* theirs, where there are trees */
    unsigned long long *nrest;
    int *bad; /* becomes 1 where a row has no table */
} ftb_sample_weighted;

/* X(lanes): sample_weighted_<lanes>, for k of up to as many. */
#define FTB_SAMPLE_WEIGHTED_KERNELS(X) X(8) X(16) X(32)

/* What draws were not enough for: keys of all entries of those rows, of which the k least are picked. */
typedef struct ftb_sample_rest {
    ftb_sample_weighted of;
    ftb_sample_keys keys; /* of rest_vertices; the seed is that of such draws */
} ftb_sample_rest;

/* ---- order */

/* Numbers by their digit of 8 bits from `shift` on, those that have the same in the order in which they come,
 * with a word that goes along. counts[d * ntiles + tile]. */
typedef struct ftb_order_arguments {
    const unsigned long long *from;
    const unsigned *with_from;
    unsigned long long *to;
    unsigned *with_to;
    long long n, ntiles;
    int shift;
    long long *counts;
} ftb_order_arguments;

/* ---- numbers */

/* Vertices by open addressing: a word is vertex << 32 | its number; all ones: nobody's. While a vertex has no
 * number that half is FTB_UNNUMBERED and a hop. Of vertices of trees a word is tree << shift | vertex, and
 * numbers are apart. */
typedef struct ftb_sample_table {
    unsigned long long *words;
    unsigned mask;     /* places - 1, a power of two less 1 */
    int shift;         /* vertices are below 2^shift */
    unsigned *numbers; /* by place; all ones: none so far. NULL: there are no trees */
} ftb_sample_table;
#define FTB_UNNUMBERED 0x80000000u

typedef struct ftb_number_arguments {
    ftb_sample_table table;
    const long long *known; /* NULL: there are none */
    const int *trees;       /* theirs, and of the rows; NULL, where the table has no numbers apart */
    const int *row_trees;
    long long nknown;
    const int *columns; /* of the picks */
    long long npicks;
    unsigned *places;          /* of each pick's vertex in the table */
    unsigned long long *keys;  /* new vertices, hop << 32 | vertex, or tree << shift | vertex, */
    unsigned *with;            /* and their places */
    unsigned long long *found; /* how many */
    long long nfresh;
    long long *vertices; /* nknown + nfresh, */
    int *vertex_trees;   /* and theirs, where there are trees */
    /* rows */
    const long long *to; /* nrows + 1 */
    long long nrows;
    int bits; /* numbers are below 2^bits */
    int *local;
    const long long *entries_from; /* NULL: there are none */
    int *local_to;
    long long *entries_to;
} ftb_number_arguments;

/* ---- queue */

typedef struct ftb_queue_hop {
    unsigned long long seed, stream;
    int k;
    int unused;
} ftb_queue_hop;

/* Each on lines of its own. */
typedef struct ftb_queue_counter {
    unsigned long long value;
    unsigned long long unused[15];
} ftb_queue_counter;
typedef struct ftb_queue_counters {
    ftb_queue_counter head;    /* tickets that were drawn */
    ftb_queue_counter tail;    /* slots that were given to tasks */
    ftb_queue_counter pending; /* tasks that are not done */
    ftb_queue_counter found;   /* new vertices */
    ftb_queue_counter stuck;   /* not 0: there was no room, or nothing went on: the result is none */
} ftb_queue_counters;

/* A task is place << 8 | hop: the picks of that hop of the vertex at that place of the table. All ones: a
 * slot whose task is not there yet. Task n's picks are from n * most on. */
typedef struct ftb_queue_arguments {
    const long long *rowptr;
    const int *colidx;
    ftb_sample_table table;
    unsigned *reached; /* of each place: bit h: its task of hop h was given out */
    const long long *seeds;
    long long nseeds;
    ftb_queue_hop hop[FTB_QUEUE_HOPS];
    int nhops, most; /* most: the largest k */
    int replace;
    int patience; /* looks at an empty slot before a warp takes it that nothing goes on */
    long long capacity;
    unsigned long long *tasks;
    unsigned *places; /* of picks, and where in the row they are */
    int *positions;
    ftb_queue_counters *counters;
    unsigned *found; /* places of new vertices, as they were found */
} ftb_queue_arguments;

/* Rows of all layers, one behind the other: layer h has known[h] from first[h] on. */
typedef struct ftb_queue_layers {
    long long first[FTB_QUEUE_HOPS + 1], known[FTB_QUEUE_HOPS];
    long long ntasks, nfresh;
    unsigned long long *keys; /* of new vertices: hop << 32 | vertex */
    unsigned long long *news; /* nhops: new vertices of each hop */
    const long long *vertices;
    int *task;         /* of each row; -1: that of an equal seed before it */
    long long *to;     /* where each row's picks begin; one more than there are rows */
    long long *totals; /* nhops + 1: to[first[h]] */
    long long *rowptr[FTB_QUEUE_HOPS], *entries[FTB_QUEUE_HOPS]; /* of the layers */
    int *columns[FTB_QUEUE_HOPS];
} ftb_queue_layers;

/* X(lanes): sample_queue_<lanes>, sample_queue_rows_<lanes>, for k of up to as many. */
#define FTB_SAMPLE_QUEUE_KERNELS(X) X(8) X(16) X(32)

#endif
