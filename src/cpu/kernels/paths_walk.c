/* Edges of vertices in the lowest bucket are relaxed:
 *
 *     dist(v) = min(dist(v), dist(u) + length)      for the entries (u, v) of the rows u
 *
 * A row's entries lie together but rows anywhere, and few are long: what the next rows begin with is fetched
 * early, which makes the whole search 1.7 times as fast. Entries of a row are so many loads that wait for
 * nothing; lanes that gather them gained nothing.
 *
 * Meyer, Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/paths_kernels.h"

#include "cpu/kernels/lanes.h"

#ifdef FTB_REAL64
typedef uint64_t bits;
#else
typedef uint32_t bits;
#endif
typedef _Atomic bits cell;

FTB_INLINE real real_of(bits b)
{
    real x;
    memcpy(&x, &b, sizeof x);
    return x;
}

FTB_INLINE bits bits_of(real x)
{
    bits b;
    memcpy(&b, &x, sizeof b);
    return b;
}

FTB_INLINE real get(const cell *dist, int64_t v)
{
    return real_of(atomic_load_explicit(&dist[v], memory_order_relaxed));
}

/* Whether `sum` is less than what v has had; it has it then, or less. */
FTB_INLINE bool lower(cell *dist, int64_t v, real sum, bool shared)
{
    bits old = atomic_load_explicit(&dist[v], memory_order_relaxed);
    while (sum < real_of(old)) {
        if (!shared) {
            atomic_store_explicit(&dist[v], bits_of(sum), memory_order_relaxed);
            return true;
        }
        if (atomic_compare_exchange_weak_explicit(&dist[v], &old, bits_of(sum), memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    }
    return false;
}

FTB_INLINE bool walk_row(const ftb_paths *x, ftb_bins *bins, int64_t u, real du, ftb_lengths lengths,
                         bool shared)
{
    cell *dist = x->dist;
    const real *same = x->length;
    const double *wide = x->length;
    const int64_t end = x->rowptr[u + 1];
    for (int64_t e = x->rowptr[u]; e < end; e++) {
        const int32_t v = x->colidx[e];
        const real sum = lengths == FTB_LENGTHS_ONE    ? du + 1
                         : lengths == FTB_LENGTHS_SAME ? du + same[e]
                                                       : (real)((double)du + wide[e]);
        if (lower(dist, v, sum, shared) && !ftb_bins_push(bins, ftb_paths_bucket(x, (double)sum), v))
            return false;
    }
    return true;
}

#define SOON 4   /* vertices ahead, whose rows are fetched */
#define LATER 12 /* whose places are */

/* The vertex `ahead` of number t; -1: there is none. */
FTB_INLINE int64_t vertex_ahead(const ftb_bin_chunk *chunk, const ftb_bin_chunk *after, int64_t t)
{
    if (t < chunk->count)
        return chunk->at[t];
    return after && t - chunk->count < after->count ? after->at[t - chunk->count] : -1;
}

FTB_INLINE void fetch(const ftb_paths *x, int64_t soon, int64_t later, ftb_lengths lengths)
{
    if (later >= 0) {
        __builtin_prefetch(&x->rowptr[later]);
        __builtin_prefetch((const cell *)x->dist + later);
    }
    if (soon >= 0) {
        const int64_t e = x->rowptr[soon];
        __builtin_prefetch(&x->colidx[e]);
        if (lengths != FTB_LENGTHS_ONE)
            __builtin_prefetch((const char *)x->length +
                               e * (lengths == FTB_LENGTHS_WIDE ? 8 : FTB_REAL_SIZE));
    }
}

FTB_INLINE bool walk(const ftb_paths *given, ftb_bins *bins, const ftb_bin_chunk *chunk,
                     const ftb_bin_chunk *after, int64_t bucket, ftb_lengths lengths, bool shared)
{
    const ftb_paths own = *given, *x = &own; /* which no store can be of */
    for (int64_t t = 0; t < chunk->count; t++) {
        const int64_t u = chunk->at[t];
        const real du = get(x->dist, u);
        fetch(x, vertex_ahead(chunk, after, t + SOON), vertex_ahead(chunk, after, t + LATER), lengths);
        if (ftb_paths_bucket(x, (double)du) == bucket && !walk_row(x, bins, u, du, lengths, shared))
            return false;
    }
    return true;
}

bool FTB_REAL_CELL(ftb_paths_walk)(const ftb_paths *x, ftb_bins *bins, const ftb_bin_chunk *chunk,
                                   const ftb_bin_chunk *after, int64_t bucket, bool shared)
{
    switch (x->lengths) {
    case FTB_LENGTHS_ONE:
        return shared ? walk(x, bins, chunk, after, bucket, FTB_LENGTHS_ONE, true)
                      : walk(x, bins, chunk, after, bucket, FTB_LENGTHS_ONE, false);
    case FTB_LENGTHS_SAME:
        return shared ? walk(x, bins, chunk, after, bucket, FTB_LENGTHS_SAME, true)
                      : walk(x, bins, chunk, after, bucket, FTB_LENGTHS_SAME, false);
    default:
        return shared ? walk(x, bins, chunk, after, bucket, FTB_LENGTHS_WIDE, true)
                      : walk(x, bins, chunk, after, bucket, FTB_LENGTHS_WIDE, false);
    }
}
