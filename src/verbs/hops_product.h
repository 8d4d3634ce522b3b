/* Neighbourhoods of seeds, all hops at once: what a device may compute that has `hops` (verbs/verbs.h), where
 * vertices are merged, and picked of at every hop after they were found. */
#ifndef FTB_HOPS_PRODUCT_H
#define FTB_HOPS_PRODUCT_H

#include "core/core.h"

typedef struct ftb_hop {
    int64_t k; /* picks of a row, < 0: all */
    uint64_t seed, stream;
    const uint64_t *seeds, *streams; /* of trees; NULL: there is one, or they have `stream` */
    /* out: */
    int64_t nrows, nfresh, picks;
    ftb_buffer *rowptr, *columns; /* int64_t, int32_t: local numbers; on the host, too */
    ftb_buffer *values;           /* NULL: there are none */
    int64_t *entries;             /* the host's, ftb_new()ed; NULL: not wanted */
} ftb_hop;

/* How a device does it. */
typedef enum ftb_hops_way {
    FTB_HOPS_PLANNED,
    FTB_HOPS_LEVELS, /* hop by hop */
    FTB_HOPS_QUEUE   /* all of them in one kernel; where that cannot be, as planned */
} ftb_hops_way;

enum { FTB_HOPS_MOST = 16, FTB_HOPS_TEXT = 200 };

/* As hop after hop of ftb_sample_product and ftb_relabel_product. On failure nothing is left. */
typedef struct ftb_hops_product {
    FtB_Context ctx;
    ftb_pattern *p; /* square */
    const int64_t *seeds;
    int64_t nseeds;
    const int32_t *trees; /* of the seeds: vertices of two trees are never the same; NULL: there is one */
    int64_t ntrees;
    int nhops;
    ftb_hop *hop; /* nhops */
    FtB_Selector selector;
    bool replace;
    double threshold;
    ftb_buffer *key; /* values of p's entries that are the key; NULL: there is none */
    FtB_Type key_type;
    ftb_buffer *tables; /* WEIGHTED: slots of p's entries (ftb_alias_slot) */
    ftb_buffer *values; /* those that layers get, `value_bytes` an entry; NULL: none */
    int64_t value_bytes;
    bool edges; /* entries are wanted */
    ftb_hops_way way;
    int64_t *vertices;     /* out: nvertices, ftb_new()ed, */
    int32_t *vertex_trees; /* and their trees, where there are such */
    int64_t nvertices;
    char text[FTB_HOPS_TEXT]; /* out: how it was done, for people */
} ftb_hops_product;

#endif
