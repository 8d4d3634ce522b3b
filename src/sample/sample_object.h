/* What FtB_sample makes. */
#ifndef FTB_SAMPLE_OBJECT_H
#define FTB_SAMPLE_OBJECT_H

#include "verbs/sample_product.h"

#define FTB_MAGIC_SAMPLE 0x46544277

enum { FTB_SAMPLE_PLAN = 200 };

struct FtB_Sample_opaque {
    uint32_t magic;
    FtB_Context ctx;
    int nhops;
    bool once;     /* as the options had it */
    bool disjoint; /* trees are those of the seeds; else of the batches, where they are stacked */
    int64_t stack; /* seeds of a batch; 0: it is one */
    int64_t nvertices, nseeds;
    int64_t *vertices;
    ftb_buffer *held;           /* vertices, once they are all there: layers know them, too (core/whole.h) */
    int32_t *trees;             /* NULL: one */
    int64_t *found;             /* nhops + 1: new vertices */
    int64_t *picked;            /* nhops: entries */
    FtB_Matrix *layer;          /* nhops */
    int64_t **edges;            /* nhops; of each layer's entries, NULL where they are not kept */
    FtB_Matrix induced;         /* NULL: it was not wanted */
    int64_t *induced_edges;     /* its entries; NULL where they are not kept */
    char plan[FTB_SAMPLE_PLAN]; /* how a device drew it, or why not; "": there is none */
    int64_t work; /* rows, entries and places of tables that were looked at: follows the picks */
};

/* A sample of so many hops, none of which is there yet, and of these vertices (NULL: they are filled in
 * later). On failure *sample is to be freed, too. */
GrB_Info ftb_sample_new(FtB_Sample *sample, FtB_Context ctx, const int64_t *vertices, int64_t count,
                        int nhops);
/* Of its trees, keys and second halves of counters, one for each seed; s->trees are there. */
typedef struct ftb_tree_draws {
    uint64_t seed;
    int64_t batch;
    int hop;
} ftb_tree_draws;
void ftb_sample_seed_trees(uint64_t *seeds, uint64_t *streams, FtB_Sample s, const ftb_tree_draws *of);
/* The list of vertices that were numbered, and of their trees, becomes the sample's. */
void ftb_sample_take(FtB_Sample s, const ftb_relabel_product *p);
/* Layers learn what they were picked of; vertices are all there. */
GrB_Info ftb_sample_name_whole(FtB_Sample s, FtB_Matrix graph, bool corrected);

#endif
