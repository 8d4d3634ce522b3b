/* Shortest paths from some vertices, bucket by bucket: edges of vertices that are in the lowest. */
#ifndef FTB_CPU_PATHS_KERNELS_H
#define FTB_CPU_PATHS_KERNELS_H

#include "core/isa.h"
#include "cpu/graph/bins.h"

typedef enum ftb_lengths { FTB_LENGTHS_ONE, FTB_LENGTHS_SAME, FTB_LENGTHS_WIDE } ftb_lengths;

/* One column on its way. */
typedef struct ftb_paths {
    int64_t n;
    const int64_t *rowptr;
    const int32_t *colidx;
    const void *length; /* by entry: of dist's type, or FP64 and added in FP64 */
    ftb_lengths lengths;
    bool wide;            /* dist is FP64 */
    void *dist;           /* of each vertex the bits of a real, which several threads may lower */
    double base, inverse; /* of a distance: its bucket is (distance - base) * inverse */
    int64_t passed;       /* the bucket at hand; -1: none was */
} ftb_paths;

/* Rows of several columns, which are walked together: a vertex waits in the lowest bucket of those of its
 * distances that fell since it was walked. Columns that begin at different places are moved towards each
 * other by a shift, which is added where a bucket is looked for, and nowhere else. */
enum { FTB_PATHS_GROUP = 16, FTB_PATHS_COLUMNS = 64 /* as many as a word has bits */ };
typedef struct ftb_paths_due { /* a vertex': */
    uint64_t columns;          /* which fell */
    int64_t bucket;            /* FTB_NO_BUCKET: it does not wait */
} ftb_paths_due;

typedef struct ftb_paths_rows {
    ftb_paths x; /* dist: rows of `count` columns, ld apart; at least FTB_PATHS_GROUP of them */
    int64_t ld;
    int count, groups; /* 1, 2 or 4 */
    ftb_paths_due *due;
    const void *shift; /* of each column, of dist's type */
    /* Entries that were walked, each as often as groups, and as columns, had fallen. */
    int64_t group_work, column_work;
} ftb_paths_rows;

/* The first column of a group: the last ones may have columns of those before, too. */
static inline int ftb_paths_group(const ftb_paths_rows *r, int group)
{
    const int first = group * FTB_PATHS_GROUP, last = r->count - FTB_PATHS_GROUP;
    return first < last ? first : last;
}

/* Distances as reals, beside those who see their bits. */
typedef float ftb_few_distance __attribute__((may_alias));
typedef double ftb_distance __attribute__((may_alias));

static inline int64_t ftb_paths_bucket(const ftb_paths *x, double distance)
{
    const double at = (distance - x->base) * x->inverse;
    return at < 9e15 ? (int64_t)at : INT64_C(9000000000000000); /* all that are so far have one bucket */
}

/* Relaxes the edges of a chunk's vertices, if that is their bucket still; who gets nearer comes into bins.
 * `after`: the chunk that is likely to be next; NULL: none. `shared`: others do the same to dist, beside.
 * False: no memory. */
FTB_CELLS(bool, ftb_paths_walk_f32,
          (const ftb_paths *x, ftb_bins *bins, const ftb_bin_chunk *chunk, const ftb_bin_chunk *after,
           int64_t bucket, bool shared))
FTB_CELLS(bool, ftb_paths_walk_f64,
          (const ftb_paths *x, ftb_bins *bins, const ftb_bin_chunk *chunk, const ftb_bin_chunk *after,
           int64_t bucket, bool shared))

/* The same for rows: vertices that wait in this bucket. */
FTB_CELLS(bool, ftb_paths_rows_walk_f32,
          (ftb_paths_rows * r, ftb_bins *bins, const ftb_bin_chunk *chunk, int64_t bucket))
FTB_CELLS(bool, ftb_paths_rows_walk_f64,
          (ftb_paths_rows * r, ftb_bins *bins, const ftb_bin_chunk *chunk, int64_t bucket))

#endif
