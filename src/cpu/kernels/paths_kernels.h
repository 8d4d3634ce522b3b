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

#endif
