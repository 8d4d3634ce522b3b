/* The two steps of a hop on a GPU: entries of rows picked, and numbers for their vertices. */
#ifndef FTB_GPU_DEVICE_PICKS_H
#define FTB_GPU_DEVICE_PICKS_H

#include "gpu/sample/device_lists.h"
#include "verbs/sample_product.h"

/* Of rows of p, as ftb_sample_product has them. On the device are `rows`, `values` and `to` (nrows + 1),
 * which is there for the sums. */
typedef struct ftb_gpu_picking {
    ftb_pattern *p;
    FtB_Selector selector;
    bool replace;
    int64_t k, nrows;
    double threshold;
    uint64_t seed, stream;
    const uint64_t *seeds, *streams; /* the host's: of `ntrees` trees; NULL: seed, and stream */
    int64_t ntrees;
    const long long *rows;
    const int *trees; /* of rows, where there are seeds */
    const void *values;
    FtB_Type type;
    const unsigned long long *slots; /* FTB_SAMPLE_WEIGHTED: of p's entries (ftb_alias_slot) */
    long long *to;
    /* out, of _counts: */
    int64_t picks, most; /* in all, of a row, or more */
    ftb_sample_keys keys;
    ftb_sample_weighted weighted;
} ftb_gpu_picking;

/* What kernels count. */
typedef struct ftb_gpu_counters {
    long long most;
    unsigned long long nlongs, nrest, found;
    int bad, unused;
} ftb_gpu_counters;

/* Whether there are kernels for it: of a pattern, of a selector and its k. */
bool ftb_gpu_picking_fits(const ftb_pattern *p, FtB_Selector selector, bool replace, int64_t k);
/* How many each row has; waits for their sum. FTB_NO_DEVICE, too, where values are no probabilities, or rows
 * have no table: the host says which. What it takes of the GPU's memory _entries needs. */
GrB_Info ftb_gpu_pick_counts(ftb_gpu_rooms *rooms, ftb_gpu_picking *picking);
GrB_Info ftb_gpu_pick_entries(ftb_gpu_rooms *rooms, ftb_gpu_picking *picking, long long *entries,
                              int *columns);

/* The steps of what picks by keys: room for keys of all entries of k->rows, of which there are *entries,
 * which is waited for, and none counted so far; `to` becomes where each row's picks begin; and these are
 * written. */
GrB_Info ftb_gpu_key_room(ftb_gpu_rooms *rooms, ftb_sample_keys *k, int64_t *entries);
GrB_Info ftb_gpu_key_counts(ftb_gpu_rooms *rooms, ftb_sample_keys *k);
GrB_Info ftb_gpu_key_picks(const ftb_gpu_rooms *rooms, ftb_sample_keys *k);

/* Keys of trees, mixed with `with` unless 0, there; NULL where there are none. */
GrB_Info ftb_gpu_tree_seeds(ftb_gpu_rooms *rooms, const unsigned long long **at,
                            const ftb_gpu_picking *picking, uint64_t with);

/* As ftb_relabel_product. On the device are `known`, `trees`, `row_trees`, `to`, `columns` and `entries`. */
typedef struct ftb_gpu_numbering {
    int64_t bound, nknown, nrows, npicks, most;
    const long long *known, *to;
    const int *trees, *row_trees; /* NULL: there is one */
    int64_t ntrees;
    const int *columns;
    const long long *entries; /* NULL: there are none */
    /* out, of _find: */
    int64_t nfresh;
    ftb_number_arguments arguments;
} ftb_gpu_numbering;

/* New vertices; waits for how many. */
GrB_Info ftb_gpu_number_find(ftb_gpu_rooms *rooms, ftb_gpu_numbering *numbering);
/* A list of vertices and, where there are trees, one of theirs. */
typedef struct ftb_gpu_vertices {
    long long *at;
    int *trees;
} ftb_gpu_vertices;
/* Known and new ones to `all`, and rows in their order. */
GrB_Info ftb_gpu_number_give(ftb_gpu_rooms *rooms, ftb_gpu_numbering *numbering, ftb_gpu_vertices all,
                             int *local, long long *entries);

/* A table for so many vertices of which none is there yet. */
GrB_Info ftb_gpu_table(ftb_gpu_rooms *rooms, ftb_sample_table *table, int64_t vertices);

#endif
