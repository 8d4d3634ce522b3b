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

#include "cpu/kernels/spgemm_kernels.h"

/* A product in the form in which one plan runs it: all that the plan asks for, freed as a whole. */
typedef struct ftb_spgemm_form {
    const ftb_spgemm_product *product;
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
GrB_Info ftb_product_hot_facts(ftb_spgemm_product *product); /* which share of products hot columns hold */
GrB_Info ftb_product_compact(ftb_spgemm_product *product);
/* Of left's entries those whose column is a row that `right` lists (ops/spgemm/spgemm_listed.c). both:
 * left's, of numbered columns (core/hypersparse.h), or NULL. places[e]: where in the list, -1: nowhere;
 * rowptr, zeroed: row pointers of those that are somewhere. */
GrB_Info ftb_join_find(const ftb_pattern *left, const ftb_pattern *both, const ftb_pattern *right,
                       int64_t *places, int64_t *rowptr);
/* Their columns, which are places, and which entry of A each is; before: left's own way there, or NULL. */
void ftb_join_keep(void *colidx, bool wide, int64_t *from, const int64_t *places, const int64_t *before,
                   int64_t nvals);
GrB_Info ftb_spgemm_form_new(ftb_spgemm_form **form, const ftb_spgemm_product *product,
                             const ftb_spgemm_plan *plan);
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
bool ftb_product_plain_counts(const ftb_spgemm_product *product); /* whose statistics need no entries */
/* Statistics of row i where they can be had without emitting it; false: emit it. */
bool ftb_worker_count_row(ftb_worker *w, int64_t i, ftb_row_stats *stats);

/* -- batch */
int64_t ftb_batch_bytes(const ftb_spgemm_product *product); /* that ftb_batch_new asks for */
GrB_Info ftb_batch_new(struct ftb_message_batch **b, const ftb_spgemm_form *form);
void ftb_batch_delete(struct ftb_message_batch *b);
void ftb_batch_row(struct ftb_message_batch *b, int64_t i, ftb_spgemm_locate locate, ftb_row *row);

/* -- finish */
GrB_Info ftb_finish_compile(ftb_finish *finish, ftb_spgemm_product *product, const char *epilogue,
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
/* In the form that the plan asks for. */
GrB_Info ftb_spgemm_run(const ftb_spgemm_product *product, const ftb_spgemm_plan *plan, FtB_Sink sink);
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
int64_t ftb_mirror_entry_bytes(const ftb_spgemm_product *product); /* retained for an entry of the triangle */
/* -- topk. Whether the triangle alone gives every row's k largest: decided before planning. */
bool ftb_topk_two_sided(const ftb_spgemm_product *product, const char *epilogue, const char *where);
int64_t ftb_topk_bytes(const ftb_spgemm_product *product); /* heaps of one thread */
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
