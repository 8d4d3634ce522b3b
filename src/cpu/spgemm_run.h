/* Sparse x sparse products, from a product and its plan to delivered rows:
 *
 *     arrays (spgemm_arrays.c) ids, values, starts: the form in which a plan runs
 *     hot (spgemm_hot.c)       columns by frequency; the hottest as bits or half bytes
 *     rows (spgemm_rows.c)     one row: accumulate, emit in ascending columns
 *     batch (spgemm_batch.c)   the same for messages that are programs
 *     finish (spgemm_finish.c) per row, before storing: epilogue, filter, top-k
 *     run (spgemm_run.c)       threads over chunks of rows, chunks in order to a sink
 *     topk (spgemm_topk.c)     the k largest per row of a symmetric product from its triangle
 *     mirror (spgemm_mirror.c) full rows of a symmetric product from its triangle */
#ifndef FTB_SPGEMM_RUN_H
#define FTB_SPGEMM_RUN_H

#include "core/arena.h"
#include "core/mask.h"
#include "core/sink.h"
#include "cpu/kernels/spgemm_kernels.h"
#include "expr/range.h"
#include "plan/spgemm_plan.h"

/* Per-vertex figures that expressions may use; NULL where not known. */
typedef struct ftb_vertices {
    int64_t *degree;
    double *sum, *square;
} ftb_vertices;

#define FTB_MOST_CODES 64 /* distinct values of an operand that are tabulated */

enum { /* names of messages */
       FTB_NAME_A,
       FTB_NAME_B,
       FTB_NAME_M,
       FTB_NAME_I,
       FTB_NAME_J,
       FTB_NAME_K,
       FTB_NAME_DI,
       FTB_NAME_DJ,
       FTB_NAME_DK,
       FTB_NAME_SI,
       FTB_NAME_SJ,
       FTB_NAME_SK,
       FTB_NAME_NROWS,
       FTB_NAME_NCOLS,
       FTB_MESSAGE_NAMES
};
#define FTB_BOUND_ROOM 24 /* bindings that one product takes */

/* A message that is a program, or a C function. */
typedef struct ftb_sparse_message {
    ftb_program *program; /* NULL: function */
    const struct FtB_Semiring_opaque *semiring;
    int count; /* names */
    ftb_name names[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM];
    ftb_operand fixed[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM]; /* the uniform ones */
    int index[FTB_MESSAGE_NAMES]; /* place of each name in names[], -1: not known here */
    bool used[FTB_MESSAGE_NAMES];
    int64_t awidth, bwidth; /* values per entry, at least 1 */
    FtB_Type atype, btype;  /* compute types */
} ftb_sparse_message;

enum { /* names of epilogues and filters */
       FTB_ROW_H,
       FTB_ROW_H0,
       FTB_ROW_H7 = FTB_ROW_H0 + 7,
       FTB_ROW_I,
       FTB_ROW_J,
       FTB_ROW_DI,
       FTB_ROW_DJ,
       FTB_ROW_SI,
       FTB_ROW_SJ,
       FTB_ROW_QI,
       FTB_ROW_QJ,
       FTB_ROW_NROWS,
       FTB_ROW_NCOLS,
       FTB_ROW_W,
       FTB_ROW_NAMES
};

/* What happens to a row before it is stored. */
typedef struct ftb_finish {
    bool drop_diagonal, upper_only;
    const uint8_t *keep;           /* columns to keep; NULL: all */
    ftb_program *epilogue, *where; /* NULL: h, all */
    bool use_min;
    double min_weight;
    int64_t top_k;
    bool use_top_k;
    bool two_sided;             /* top-k: the triangle serves both of its ends (spgemm_topk.c) */
    FtB_Type wrap;              /* integers of a GraphBLAS semiring wrap to this type first; 0: no */
    FtB_Type in_type, out_type; /* compute types */
    int64_t in_width, out_width;
    const ftb_vertices *rows, *cols;
    int64_t nrows, ncols;        /* as expressions see them */
    bool used[2][FTB_ROW_NAMES]; /* by epilogue, by where */
} ftb_finish;

/* A product: what is computed, and the plan for it. Once planned, it stays as it is. */
typedef struct ftb_product {
    FtB_Context ctx;
    ftb_spgemm p;
    ftb_spgemm_facts facts;
    ftb_spgemm_plan plan;
    ftb_sparse_message message;
    ftb_reducer reducer;
    FtB_Semiring semiring;     /* owned */
    FtB_Type sum_type;         /* the reducer's type = compute type of h */
    int64_t width;             /* of h */
    bool constant;             /* idempotent reducer of a constant: h is the constant */
    char constant_value[8];    /* in sum_type */
    bool counted;              /* the sink takes statistics of rows in place of rows */
    int64_t reserve;           /* bytes that will be held beside the plan's: the least of the sink's */
    bool named;                /* a weight, not a text: FP64 where whole numbers may wrap */
    FtB_Sink winners;          /* also gets the winning k of every entry; borrowed; NULL: not wanted */
    ftb_pattern *left, *right; /* retained; transposed where asked */
    FtB_Matrix A, B;           /* borrowed */
    const int64_t *left_from;  /* left entry -> entry of A; NULL: the same */
    const int64_t *right_from; /* right entry -> entry of B; NULL: the same */
    bool self;                 /* B is A, one of them transposed: C = C' if the message is symmetric */
    int swap[8];               /* component of h that (j, i) has where (i, j) has the index; when symmetric */
    const void *dual_table;    /* table of [f(a,b), f(b,a)]: a triangle gives both halves; NULL: none */
    int64_t dual_row;
    struct { /* what hot columns sum: unit * left[code a] * right[code b], or table[left][right] */
        double unit;
        uint8_t left[FTB_MOST_CODES],
            right[FTB_MOST_CODES]; /* right: 1 .. FTB_NIBBLE, and left if unit > 0 */
        float (*table)[16];        /* [left][right], -0.0 at right = 0; or NULL */
        float (*back)[16];         /* of messages (b, a), when that makes a difference; else table */
    } factors;
    ftb_packed packed;           /* of a table whose cells are UINT64 */
    bool text_times;             /* the message reads a * b */
    FtB_Matrix mask;             /* not complemented, else NULL; borrowed */
    ftb_mask admits;             /* with a mask: which of its entries do */
    const int64_t *row_products; /* of each output row, in full */
    const uint8_t *keep_rows;    /* rows to compute; NULL: all */
    ftb_vertices rows, cols, inner;
    ftb_finish finish;
    ftb_range h[FTB_ROW_H7 + 1]; /* of all of h, of h0, h1, ...; of whole numbers */
    ftb_arena arena;             /* freed with the product */
} ftb_product;

/* A product in the form in which one plan runs it: all that the plan asks for, freed as a whole. */
typedef struct ftb_spgemm_form {
    const ftb_product *product;
    ftb_spgemm_plan plan;
    ftb_spgemm p;                /* the product's, with this plan's ids, values, starts and table */
    const int64_t *row_products; /* of each output row; triangle: half */
    bool dual;                   /* cells hold (i, j) and (j, i): product->dual_table */
    uint32_t *order, *rank; /* when relabelled: columns by falling number of entries; hot ones by column */
    /* when plan.hot > 0 */
    ftb_spgemm cold;      /* p without the hot columns */
    uint64_t *bits;       /* of the right operand's first plan.hot ids, see cpu/kernels/spgemm_bits.h */
    const uint8_t *entry; /* factors.left of each left entry */
    /* Of a cold and a hot id: counts [hot][cold], or sums [line of cold][hot][FTB_CROSS_TILE]; or NULL. */
    const void *cross;
    const void *cross_back; /* of a hot and a cold id: the same, unless table and back differ */
    int64_t cross_row;      /* of counts, from one hot id to the next */
    /* With sums: those of two hot ids, in units, or cells; of a triangle, from the diagonal on. */
    const void *square;
    ftb_arena arena;
} ftb_spgemm_form;

/* One thread's state. */
typedef struct ftb_worker {
    const ftb_spgemm_form *form;
    int number;           /* of the thread */
    ftb_row_stats *stats; /* of the row being made, when rows are only counted */
    ftb_row dense, hash;  /* dense serves DENSE, LIST and SLOT */
    int64_t buckets;
    ftb_spgemm_kernel kernel[FTB_NLOCATE];
    uint32_t *cells;  /* of the row being emitted, in column order */
    uint64_t *sort;   /* 2 x longest row */
    uint64_t *words;  /* 2 bitmaps over ids */
    void *h;          /* raw row, before finish */
    int64_t *winners; /* where the row's winning k go; NULL: not wanted */
    struct ftb_message_batch *batch;
    struct ftb_finisher *finisher;
} ftb_worker;

/* Rows of one chunk. */
typedef struct ftb_chunk {
    int64_t row0, nrows, room, nvals; /* entries */
    int64_t *rowptr;
    void *cols, *values;  /* index type of the product; out_type x out_width */
    int64_t *winners;     /* of the entries, or NULL */
    ftb_row_stats *stats; /* of each row, when rows are only counted; then nvals is 0 */
} ftb_chunk;

/* -- form: spgemm_arrays.c, spgemm_hot.c */
void ftb_row_products(const ftb_spgemm *p, int64_t *counts); /* of each row of p */
GrB_Info ftb_product_hot_facts(ftb_product *product);        /* which share of products hot columns hold */
GrB_Info ftb_product_compact(ftb_product *product);
GrB_Info ftb_spgemm_form_new(ftb_spgemm_form **form, const ftb_product *product, const ftb_spgemm_plan *plan);
void ftb_spgemm_form_delete(ftb_spgemm_form *form);
void ftb_spgemm_form_unhalve(ftb_spgemm_form *form); /* back to full rows, after a triangle was prepared */
GrB_Info ftb_spgemm_form_name_columns(ftb_spgemm_form *form); /* order and rank */
GrB_Info ftb_spgemm_form_hot(ftb_spgemm_form *form);          /* the hot columns' matrix, cross and cold */
/* Adds to the sums of hot ids from `first` on (a multiple of FTB_BITS_LINE, as `columns`) what the left
 * entries x0 .. x1 - 1 meet there: units without `lookup`, else cells. */
void ftb_spgemm_form_hot_sums(const ftb_spgemm_form *form, const float (*lookup)[16], int64_t first,
                              int64_t columns, int64_t x0, int64_t x1, void *to);

/* -- rows */
GrB_Info ftb_worker_new(ftb_worker **w, const ftb_spgemm_form *form);
void ftb_worker_delete(ftb_worker *w);
/* Computes row i: ascending columns (index type) and h (sum_type x width); returns how many. */
int64_t ftb_worker_row(ftb_worker *w, int64_t i, void *cols, void *h);
bool ftb_product_plain_counts(const ftb_product *product); /* whose statistics need no entries */
/* Statistics of row i where they can be had without emitting it; false: emit it. */
bool ftb_worker_count_row(ftb_worker *w, int64_t i, ftb_row_stats *stats);

/* -- batch */
int64_t ftb_batch_bytes(const ftb_product *product); /* that ftb_batch_new asks for */
GrB_Info ftb_batch_new(struct ftb_message_batch **b, const ftb_spgemm_form *form);
void ftb_batch_delete(struct ftb_message_batch *b);
void ftb_batch_row(struct ftb_message_batch *b, int64_t i, ftb_spgemm_locate locate, ftb_row *row);

/* -- finish */
GrB_Info ftb_finish_compile(ftb_finish *finish, ftb_product *product, const char *epilogue,
                            const char *where);
/* What ftb_finisher_new asks for, where the longest row has so many entries. */
int64_t ftb_finisher_bytes(const ftb_finish *finish, int64_t longest);
GrB_Info ftb_finisher_new(struct ftb_finisher **f, const ftb_spgemm_form *form);
void ftb_finisher_delete(struct ftb_finisher *f);
/* Nanoseconds, about: of an entry, and of a row however short. */
void ftb_finish_cost(const ftb_finish *finish, double *entry, double *row);
/* n entries of row i: cols and h become cols and values in place; returns how many stay. `values` may be h.
 */
int64_t ftb_finish_row(struct ftb_finisher *f, int64_t i, int64_t n, void *cols, void *h, void *values);

/* -- run */
/* In the form that its plan asks for. */
GrB_Info ftb_product_run(const ftb_product *product, FtB_Sink sink);
/* Most entries that the rows of a chunk can have, and chunk boundaries by products. */
typedef struct ftb_spgemm_chunks {
    int64_t count;
    int64_t *row;   /* count + 1 */
    int64_t room;   /* entries of the fullest chunk, by bound */
    int64_t rows;   /* rows of the longest chunk */
    double *before; /* count + 1: products before each chunk */
} ftb_spgemm_chunks;
GrB_Info ftb_spgemm_chunks_make(ftb_spgemm_chunks *s, const ftb_spgemm_form *form,
                                const int64_t *row_products);
void ftb_spgemm_chunks_free(ftb_spgemm_chunks *s);
/* *delivered: rows may have reached the sink; before, the caller may start again with full rows. */
GrB_Info ftb_spgemm_form_run_mirror(const ftb_spgemm_form *form, const ftb_spgemm_chunks *s, FtB_Sink sink,
                                    bool *delivered);
int64_t ftb_mirror_entry_bytes(const ftb_product *product); /* retained for an entry of the triangle */
/* -- topk. Whether the triangle alone gives every row's k largest: decided before planning. */
bool ftb_topk_two_sided(const ftb_product *product, const char *epilogue, const char *where);
int64_t ftb_topk_bytes(const ftb_product *product); /* heaps of one thread */
GrB_Info ftb_spgemm_form_run_topk(const ftb_spgemm_form *form, const ftb_spgemm_chunks *s, FtB_Sink sink);

/* Runs chunks on threads and hands them to `deliver` in order, one at a time. `make` computes one row. */
typedef struct ftb_pipeline {
    const ftb_spgemm_form *form;
    const ftb_spgemm_chunks *schedule;
    int64_t (*make)(void *state, ftb_worker *w, int64_t i, void *cols, void *values); /* finished entries */
    GrB_Info (*chunk)(void *state, ftb_worker *w,
                      const ftb_chunk *chunk);                /* in parallel, any order; may be NULL */
    GrB_Info (*deliver)(void *state, const ftb_chunk *chunk); /* in order; may be NULL */
    void *state;
    FtB_Type type; /* of the values in chunks */
    int64_t width;
    bool counts; /* chunks carry statistics of rows in place of rows */
} ftb_pipeline;
GrB_Info ftb_pipeline_run(const ftb_pipeline *line);

static inline bool ftb_index_wide(const ftb_spgemm_form *form) { return form->p.ncols > FTB_INT32_LIMIT; }

#endif
