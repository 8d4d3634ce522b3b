/* Edges of vertices in the lowest bucket are relaxed for many columns at once (paths_kernels.h):
 *
 *     dist(v, c) = min(dist(v, c), dist(u, c) + length)      for the entries (u, v) of the rows u
 *
 * An entry takes as long as it takes to fetch v's row, whether one distance falls or 64 do: groups of columns
 * of which none of u's fell are left out.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/paths_kernels.h"

#include "cpu/kernels/lanes.h"

#include <math.h>

enum { GROUPS = FTB_PATHS_COLUMNS / FTB_PATHS_GROUP };
_Static_assert(FTB_PATHS_GROUP == FTB_LANES, "a group is a register's lanes, or some registers'");

/* Distances fall to `sum` where that is less: bits say where. least: the least of what they are and shift, of
 * those that fell so far. */
#if defined(__AVX512F__) && FTB_REAL_SIZE == 4
FTB_INLINE uint64_t lower(real *to, const lanes *sum, const lanes *shift, lanes *least)
{
    const __m512 s = (__m512)sum->at[0], most = (__m512)least->at[0];
    const __mmask16 fell = _mm512_cmp_ps_mask(s, _mm512_loadu_ps(to), _CMP_LT_OQ);
    if (fell) {
        _mm512_mask_storeu_ps(to, fell, s);
        least->at[0] = (part)_mm512_mask_min_ps(most, fell, most, s + (__m512)shift->at[0]);
    }
    return fell;
}
FTB_INLINE double least_of(const lanes *x) { return (double)_mm512_reduce_min_ps((__m512)x->at[0]); }
#else
FTB_INLINE uint64_t lower(real *to, const lanes *sums, const lanes *shifts, lanes *leasts)
{
    real sum[FTB_LANES], shift[FTB_LANES], least[FTB_LANES];
    uint32_t fell = 0;
    memcpy(sum, sums, sizeof sum);
    for (int l = 0; l < FTB_LANES; l++)
        fell |= (uint32_t)(sum[l] < to[l]) << l;
    if (!fell)
        return 0;
    memcpy(shift, shifts, sizeof shift);
    memcpy(least, leasts, sizeof least);
    for (int l = 0; l < FTB_LANES; l++) {
        const bool falls = sum[l] < to[l];
        const real at = falls ? sum[l] + shift[l] : (real)INFINITY;
        to[l] = falls ? sum[l] : to[l];
        least[l] = at < least[l] ? at : least[l];
    }
    memcpy(leasts, least, sizeof least);
    return fell;
}
FTB_INLINE double least_of(const lanes *x)
{
    real at[FTB_LANES], least = (real)INFINITY;
    memcpy(at, x, sizeof at);
    for (int l = 0; l < FTB_LANES; l++)
        least = at[l] < least ? at[l] : least;
    return (double)least;
}
#endif

FTB_INLINE lanes add_length(const lanes *from, const ftb_paths *x, int64_t e, ftb_lengths lengths)
{
    if (lengths == FTB_LENGTHS_ONE)
        return lanes_add(*from, lanes_all(1));
    if (lengths == FTB_LENGTHS_SAME)
        return lanes_add(*from, lanes_all(((const real *)x->length)[e]));
    const double length = ((const double *)x->length)[e];
    real at[FTB_LANES];
    lanes sum;
    memcpy(at, from, sizeof at);
    for (int l = 0; l < FTB_LANES; l++)
        at[l] = (real)((double)at[l] + length);
    memcpy(&sum, at, sizeof sum);
    return sum;
}

#define AHEAD 8 /* entries whose rows are fetched */
#define SOON 4  /* vertices whose entries are */

FTB_INLINE void fetch_row(const ftb_paths_rows *r, int64_t v)
{
    const char *row = (const char *)((const real *)r->x.dist + v * r->ld);
    __builtin_prefetch(&r->due[v], 1);
    for (int at = 0; at < r->count * FTB_REAL_SIZE; at += 64)
        __builtin_prefetch(row + at, 1);
}

FTB_INLINE void fetch(const ftb_paths_rows *r, const ftb_bin_chunk *chunk, int64_t t)
{
    if (t + AHEAD < chunk->count) {
        fetch_row(r, chunk->at[t + AHEAD]);
        __builtin_prefetch(&r->x.rowptr[chunk->at[t + AHEAD]]);
    }
    if (t + SOON < chunk->count) {
        const int64_t e = r->x.rowptr[chunk->at[t + SOON]];
        __builtin_prefetch(&r->x.colidx[e]);
        if (r->x.lengths != FTB_LENGTHS_ONE)
            __builtin_prefetch((const char *)r->x.length +
                               e * (r->x.lengths == FTB_LENGTHS_WIDE ? 8 : FTB_REAL_SIZE));
    }
}

/* Columns of v fell: it waits for them, too. */
FTB_INLINE bool note(const ftb_paths_rows *r, ftb_bins *bins, int64_t v, uint64_t fell, const lanes *least,
                     int64_t bucket)
{
    ftb_paths_due *due = &r->due[v];
    const int64_t at = ftb_max(bucket, ftb_paths_bucket(&r->x, least_of(least)));
    due->columns |= fell;
    if (at >= due->bucket)
        return true;
    due->bucket = at;
    return ftb_bins_push(bins, at, v);
}

typedef struct sender { /* u, as its edges need it: groups of which columns fell */
    int count, first[GROUPS];
    lanes from[GROUPS], shift[GROUPS];
} sender;

FTB_INLINE sender sender_of(const ftb_paths_rows *r, int64_t u, uint64_t fell, int groups)
{
    sender s = {.count = 0};
    for (int g = 0; g < groups; g++) {
        const int first = ftb_paths_group(r, g);
        if (!(fell >> first & ((1U << FTB_PATHS_GROUP) - 1)))
            continue;
        s.from[s.count] = lanes_load((const real *)r->x.dist + u * r->ld + first);
        s.shift[s.count] = lanes_load((const real *)r->shift + first);
        s.first[s.count++] = first;
    }
    return s;
}

/* Columns of the row `to` that fall by entry e. */
FTB_INLINE uint64_t lower_row(const ftb_paths_rows *r, real *to, const sender *s, int64_t e, int count,
                              ftb_lengths lengths, lanes *least)
{
    uint64_t fell = 0;
    for (int g = 0; g < count; g++) {
        const lanes sum = add_length(&s->from[g], &r->x, e, lengths);
        fell |= lower(to + s->first[g], &sum, &s->shift[g], least) << s->first[g];
    }
    return fell;
}

FTB_INLINE bool walk_row(ftb_paths_rows *r, ftb_bins *bins, int64_t u, int64_t bucket, ftb_lengths lengths,
                         int groups)
{
    const int64_t begin = r->x.rowptr[u], end = r->x.rowptr[u + 1], nvals = r->x.rowptr[r->x.n];
    const uint64_t due = r->due[u].columns;
    const sender s = sender_of(r, u, due, groups);
    r->due[u] = (ftb_paths_due){0, FTB_NO_BUCKET};
    r->group_work += (end - begin) * s.count;
    r->column_work += (end - begin) * __builtin_popcountll(due);
    for (int64_t e = begin; e < end; e++) {
        const int64_t v = r->x.colidx[e];
        real *to = (real *)r->x.dist + v * r->ld;
        lanes least = lanes_all((real)INFINITY);
        if (e + AHEAD < nvals)
            fetch_row(r, r->x.colidx[e + AHEAD]);
        const uint64_t fell = s.count == groups ? lower_row(r, to, &s, e, groups, lengths, &least)
                                                : lower_row(r, to, &s, e, s.count, lengths, &least);
        if (fell && !note(r, bins, v, fell, &least, bucket))
            return false;
    }
    return true;
}

FTB_INLINE bool walk(ftb_paths_rows *r, ftb_bins *bins, const ftb_bin_chunk *chunk, int64_t bucket,
                     ftb_lengths lengths, int groups)
{
    for (int64_t t = 0; t < chunk->count; t++) {
        fetch(r, chunk, t);
        if (r->due[chunk->at[t]].bucket == bucket &&
            !walk_row(r, bins, chunk->at[t], bucket, lengths, groups))
            return false;
    }
    return true;
}

FTB_INLINE bool walk_groups(ftb_paths_rows *r, ftb_bins *bins, const ftb_bin_chunk *chunk, int64_t bucket,
                            ftb_lengths lengths)
{
    return r->groups == 1   ? walk(r, bins, chunk, bucket, lengths, 1)
           : r->groups == 2 ? walk(r, bins, chunk, bucket, lengths, 2)
                            : walk(r, bins, chunk, bucket, lengths, 4);
}

bool FTB_REAL_CELL(ftb_paths_rows_walk)(ftb_paths_rows *r, ftb_bins *bins, const ftb_bin_chunk *chunk,
                                        int64_t bucket)
{
    switch (r->x.lengths) {
    case FTB_LENGTHS_ONE:
        return walk_groups(r, bins, chunk, bucket, FTB_LENGTHS_ONE);
    case FTB_LENGTHS_SAME:
        return walk_groups(r, bins, chunk, bucket, FTB_LENGTHS_SAME);
    default:
        return walk_groups(r, bins, chunk, bucket, FTB_LENGTHS_WIDE);
    }
}
