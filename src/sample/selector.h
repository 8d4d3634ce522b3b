/* What both calls of sampling share: which entries of rows are picked, and picking them. */
#ifndef FTB_SELECTOR_H
#define FTB_SELECTOR_H

#include "verbs/sample_product.h"

typedef struct ftb_selector {
    FtB_Context ctx;
    FtB_Matrix A;
    FtB_Op key;                 /* ours; NULL: none */
    struct ftb_map *map;        /* compiled of it */
    const char *text;           /* the key's, where tables may be kept for it; NULL: not */
    ftb_buffer *tables;         /* retained, or ours; NULL: there are none */
    int64_t *excluded;          /* ours */
    ftb_sample_product product; /* its rows and results are filled in for each pick */
} ftb_selector;

/* As callers ask for it. */
typedef struct ftb_selector_options {
    FtB_Arg key;
    FtB_Selector selector;
    bool replace;
    double threshold;
    int iterations;
    uint64_t seed;
    FtB_Ids times, until, exclude;
    bool reverses;
    int64_t nuntil;       /* numbers that `until` is to have, */
    const char *until_of; /* of what */
} ftb_selector_options;

/* Checks, and compiles the key. On failure, too, ftb_selector_end must follow. */
GrB_Info ftb_selector_begin(ftb_selector *s, FtB_Context ctx, FtB_Matrix A,
                            const ftb_selector_options *options);
/* What of it is about which entries are there. (filter.c) */
GrB_Info ftb_filter_begin(ftb_selector *s, const ftb_selector_options *options);
void ftb_selector_end(ftb_selector *s);
/* Tables that pay by now are made, and s->tables has them. */
GrB_Info ftb_selector_tables(ftb_selector *s);
/* What all samplers of a graph are given. `name` is what the caller calls the list: "starts". */
GrB_Info ftb_check_square(FtB_Matrix A);
GrB_Info ftb_check_vertices(FtB_Context ctx, const int64_t *at, int64_t count, int64_t n, const char *name);
/* Rows that are asked for, NULL: all of A's. */
GrB_Info ftb_selector_rows(const int64_t **rows, int64_t *nrows, FtB_Arg arg, FtB_Matrix A);
/* Whether k may be a number of picks; `name` is what the caller calls it. */
GrB_Info ftb_selector_check(const ftb_selector *s, int64_t k, const char *name);

/* Picks of rows, in arrays of ftb_new(). */
typedef struct ftb_picks {
    int64_t *rowptr, *entries;
    void *columns;
    double *scale; /* what the entries' values are to be multiplied by; NULL: nothing is */
} ftb_picks;
/* Picks of rows[0 .. nrows - 1]; rows NULL: 0 .. nrows - 1. Tables that pay by then are made first. */
GrB_Info ftb_pick(ftb_picks *picks, ftb_selector *s, const int64_t *rows, int64_t nrows, int64_t k);
void ftb_picks_delete(ftb_picks *picks);
/* Puts the rows of the layer of the hop before, with its entries' places and scales (NULL: none), in front of
 * those that were picked and numbered. */
typedef struct ftb_hop_before {
    FtB_Matrix layer;
    const int64_t *entries;
    const double *scale;
} ftb_hop_before;
GrB_Info ftb_picks_join(FtB_Context ctx, ftb_picks *picks, int32_t **local, int64_t *nrows,
                        const ftb_hop_before *before);

/* Values of a matrix of picks: A's, as A has them (NULL where A has none); an entry -1, of which there may be
 * where there are `ones`, has those. With `scale` they are multiplied, in FP64 where A's are of it, else in
 * FP32, and ones where A has none. */
typedef struct ftb_pick_list {
    const int64_t *entries;
    const double *scale; /* NULL: nothing is multiplied */
    int64_t count;
    bool ones;
} ftb_pick_list;
typedef struct ftb_picked_values {
    ftb_buffer *values;
    FtB_Type type;
    int64_t width;
} ftb_picked_values;
GrB_Info ftb_pick_values(ftb_picked_values *to, const ftb_selector *s, const ftb_pick_list *list);

#endif
