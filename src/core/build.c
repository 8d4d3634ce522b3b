/* A matrix from tuples in any order, at memory speed.
 *
 * Read row and column as one number, K = row * 2^colbits + column. Its high bits say which bucket a tuple
 * goes to, chosen so that a bucket fits the L2 cache; the low `shift` bits are the tuple's key in there.
 *
 *   count    each part of the input counts its tuples per bucket (and checks the indices)
 *   scatter  copies key and value (or, if that is long, the tuple's number) to the tuple's bucket
 *   finish   each bucket is sorted by key, stably, its duplicates merged, and written to where it would
 *            start if there were no duplicates
 *   close    gaps that merged duplicates left are closed
 *
 * Buckets and the order in them depend on the input alone, so results do not depend on the threads. */
#include "core/core.h"

#include <omp.h>

#define BUCKET_ENTRIES 8192             /* wanted: its words and their scratch take 128 KB */
#define MAX_BUCKET_BITS 11              /* more write streams than that thrash the TLB */
#define SMALL_BUCKET (INT64_C(1) << 17) /* entries; scratch for buckets up to this is per thread */
#define CARRY_BYTES 16                  /* longer values are fetched once, by the tuple's number */
#define SERIAL 4096                     /* tuples; below, threads cost more than they bring */

typedef struct builder {
    FtB_Context ctx;
    FtB_Type type;
    int64_t nrows, ncols, width, nvals;
    const int64_t *I, *J;
    const char *X; /* NULL where values do not matter */
    FtB_Dup dup;
    int64_t *perm;

    size_t entry; /* bytes of an entry's values */
    int threads, colbits, shift;
    int64_t nbuckets;
    bool carry;        /* values travel with the keys */
    bool wide_key;     /* keys are uint64_t, else uint32_t */
    int64_t *next;     /* threads x nbuckets: counts, then where the part's next tuple goes */
    int64_t *base;     /* nbuckets + 1: where buckets start */
    int64_t *kept;     /* nbuckets: entries after merging */
    void *key;         /* nvals */
    char *values;      /* nvals x entry, if carried */
    int64_t *from;     /* nvals: tuple numbers, where needed */
    uint64_t *scratch; /* threads x 2 x small */
    int64_t small;     /* entries of the largest bucket that uses the threads' scratch */
    uint64_t *big;     /* 2 x the largest bucket, if that is not small */
    int64_t largest;
    atomic_bool multi; /* rule keep: there are parallel edges */

    int64_t *rowptr; /* the result */
    void *colidx, *out;
} builder;

static int bits_for(int64_t n) { return n > 1 ? 64 - __builtin_clzll((uint64_t)n - 1) : 0; }

static uint64_t low_bits(uint64_t x, int bits) { return bits < 64 ? x & ((UINT64_C(1) << bits) - 1) : x; }

static int64_t part_start(const builder *b, int part)
{
    return (int64_t)((double)b->nvals * part / b->threads);
}

static int64_t part_end(const builder *b, int part)
{
    return part + 1 < b->threads ? part_start(b, part + 1) : b->nvals;
}

static inline int64_t bucket_of(const builder *b, int64_t i, int64_t j)
{
    return b->shift >= b->colbits ? i >> (b->shift - b->colbits)
                                  : i << (b->colbits - b->shift) | j >> b->shift;
}

static inline uint64_t key_of(const builder *b, int64_t i, int64_t j)
{
    return b->shift >= b->colbits ? low_bits((uint64_t)i, b->shift - b->colbits) << b->colbits | (uint64_t)j
                                  : low_bits((uint64_t)j, b->shift);
}

static inline int64_t row_of(const builder *b, int64_t bucket, uint64_t key)
{
    return b->shift >= b->colbits ? bucket << (b->shift - b->colbits) | (int64_t)(key >> b->colbits)
                                  : bucket >> (b->colbits - b->shift);
}

static inline int64_t col_of(const builder *b, int64_t bucket, uint64_t key)
{
    return b->shift >= b->colbits
               ? (int64_t)low_bits(key, b->colbits)
               : (int64_t)(low_bits((uint64_t)bucket, b->colbits - b->shift) << b->shift | key);
}

static inline uint64_t get_key(const builder *b, int64_t at)
{
    return b->wide_key ? ((const uint64_t *)b->key)[at] : ((const uint32_t *)b->key)[at];
}

static inline void set_key(const builder *b, int64_t at, uint64_t key)
{
    if (b->wide_key)
        ((uint64_t *)b->key)[at] = key;
    else
        ((uint32_t *)b->key)[at] = (uint32_t)key;
}

static void choose_buckets(builder *b)
{
    b->colbits = bits_for(b->ncols);
    int total = bits_for(b->nrows) + b->colbits;
    int wanted = ftb_min(bits_for(b->nvals / BUCKET_ENTRIES), MAX_BUCKET_BITS);
    b->shift = ftb_min(total - ftb_min(wanted, total), 62); /* keys have to fit 64 bits */
    b->nbuckets = bucket_of(b, ftb_max(b->nrows, 1) - 1, ftb_max(b->ncols, 1) - 1) + 1;
    b->wide_key = b->shift > 32 || b->nvals > UINT32_MAX;
    b->carry = b->X && b->entry <= CARRY_BYTES;
    b->threads = b->nvals > SERIAL ? ftb_threads(b->ctx) : 1;
}

/* Counts one part's tuples per bucket. Returns its first tuple with an index out of range, or nvals. */
static int64_t count_part(const builder *b, int part)
{
    int64_t *count = b->next + part * b->nbuckets, last = part_end(b, part);
    for (int64_t t = part_start(b, part); t < last; t++) {
        if ((uint64_t)b->I[t] >= (uint64_t)b->nrows || (uint64_t)b->J[t] >= (uint64_t)b->ncols)
            return t;
        count[bucket_of(b, b->I[t], b->J[t])]++;
    }
    return b->nvals;
}

static GrB_Info count_tuples(builder *b)
{
    int64_t bad = b->nvals;
#pragma omp parallel for schedule(static, 1) num_threads(b->threads) reduction(min : bad)
    for (int part = 0; part < b->threads; part++) {
        int64_t first = count_part(b, part);
        bad = ftb_min(bad, first);
    }
    if (bad < b->nvals)
        return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS,
                        "tuple %lld is (%lld, %lld); expected a position in %lld x %lld", (long long)bad,
                        (long long)b->I[bad], (long long)b->J[bad], (long long)b->nrows, (long long)b->ncols);
    int64_t at = 0;
    for (int64_t bucket = 0; bucket < b->nbuckets; bucket++) {
        b->base[bucket] = at;
        for (int part = 0; part < b->threads; part++) {
            int64_t *count = &b->next[part * b->nbuckets + bucket], here = *count;
            *count = at;
            at += here;
        }
        b->largest = ftb_max(b->largest, at - b->base[bucket]);
    }
    b->base[b->nbuckets] = at;
    return GrB_SUCCESS;
}

static void scatter_part(const builder *b, int part)
{
    int64_t *next = b->next + part * b->nbuckets, last = part_end(b, part);
    for (int64_t t = part_start(b, part); t < last; t++) {
        int64_t i = b->I[t], j = b->J[t], to = next[bucket_of(b, i, j)]++;
        set_key(b, to, key_of(b, i, j));
        if (b->carry && b->entry == 8)
            memcpy(b->values + to * 8, b->X + t * 8, 8);
        else if (b->carry && b->entry == 4)
            memcpy(b->values + to * 4, b->X + t * 4, 4);
        else if (b->carry)
            memcpy(b->values + (size_t)to * b->entry, b->X + (size_t)t * b->entry, b->entry);
        if (b->from)
            b->from[to] = t;
    }
}

/* One bucket in order: word t is (key's high bits, position in the bucket). */
typedef struct ordered {
    const builder *b;
    int64_t bucket, base, count;
    int idxbits;
    bool whole;            /* words hold all of the key */
    const uint64_t *words; /* count */
} ordered;

static inline uint64_t ordered_key(const ordered *o, int64_t t)
{
    return o->whole ? o->words[t] >> o->idxbits
                    : get_key(o->b, o->base + (int64_t)low_bits(o->words[t], o->idxbits));
}

/* Sorts a bucket's words. Keys too long to share a word with a position are sorted in rounds, low bits
 * first. */
static ordered sort_bucket(const builder *b, int64_t bucket, uint64_t *scratch, int64_t room)
{
    ordered o = {.b = b, .bucket = bucket, .base = b->base[bucket]};
    o.count = b->base[bucket + 1] - o.base;
    o.idxbits = bits_for(o.count);
    int per_round = 64 - o.idxbits;
    o.whole = b->shift <= per_round;
    uint64_t *words = scratch, *other = scratch + room;
    for (int64_t t = 0; t < o.count; t++)
        words[t] = (uint64_t)t;
    for (int low = 0; low == 0 || low < b->shift; low += per_round) {
        int taken = ftb_min(per_round, b->shift - low);
        bool sorted = true;
        for (int64_t t = 0; t < o.count; t++) {
            uint64_t at = low_bits(words[t], o.idxbits);
            uint64_t part = low_bits(get_key(b, o.base + (int64_t)at) >> low, taken);
            words[t] = (o.idxbits < 64 ? part << o.idxbits : 0) | at;
            sorted = sorted && (t == 0 || words[t - 1] >> o.idxbits <= part);
        }
        uint64_t *result = sorted ? words : ftb_sort(words, other, o.count, o.idxbits, o.idxbits + taken);
        other = result == words ? other : words;
        words = result;
    }
    o.words = words;
    return o;
}

static void add_to_row(const builder *b, int64_t row, int64_t entries)
{
    /* Rows may be shared by buckets; integer sums do not show the order. */
    __atomic_fetch_add(&b->rowptr[row + 1], entries, __ATOMIC_RELAXED);
}

/* Writes values of the entry at `to` from the words first .. last - 1 of a bucket. */
static void write_values(const ordered *o, int64_t to, int64_t first, int64_t last, const char *values)
{
    const builder *b = o->b;
    char *out = (char *)b->out + (size_t)to * b->entry;
    uint64_t mask = low_bits(UINT64_MAX, o->idxbits);
    if (last - first > 1 || b->dup == FTB_DUP_COUNT)
        ftb_merge_duplicates(out, b->type, b->width, b->dup, values, o->words + first, mask, last - first);
    else
        memcpy(out, values + (size_t)(o->words[first] & mask) * b->entry, b->entry);
}

/* As write_values, where values are fetched from the input: the words become tuple numbers first. */
static void fetch_values(const ordered *o, int64_t to, int64_t first, int64_t last)
{
    const builder *b = o->b;
    uint64_t *words = (uint64_t *)(uintptr_t)o->words;
    for (int64_t t = first; t < last; t++)
        words[t] = (uint64_t)b->from[o->base + (int64_t)low_bits(words[t], o->idxbits)];
    char *out = (char *)b->out + (size_t)to * b->entry;
    if (last - first > 1 || b->dup == FTB_DUP_COUNT)
        ftb_merge_duplicates(out, b->type, b->width, b->dup, b->X, o->words + first, UINT64_MAX,
                             last - first);
    else
        memcpy(out, b->X + words[first] * b->entry, b->entry);
}

/* Sorts, merges and writes one bucket; returns how many entries are left. */
static int64_t finish_bucket(builder *b, int64_t bucket, uint64_t *scratch, int64_t room)
{
    ordered o = sort_bucket(b, bucket, scratch, room);
    const char *values = b->values ? b->values + (size_t)o.base * b->entry : NULL;
    bool wide = ftb_col_size(b->ncols) == 8;
    int64_t to = o.base, row = -1, row_start = o.base;
    uint64_t previous = 0;
    for (int64_t first = 0, last; first < o.count; first = last) {
        uint64_t key = ordered_key(&o, first);
        if (first > 0 && key == previous)
            atomic_store_explicit(&b->multi, true, memory_order_relaxed);
        previous = key;
        for (last = first + 1; last < o.count && b->dup != FTB_DUP_KEEP && ordered_key(&o, last) == key;)
            last++;
        if (row_of(b, bucket, key) != row) {
            if (row >= 0)
                add_to_row(b, row, to - row_start);
            row = row_of(b, bucket, key);
            row_start = to;
        }
        if (wide)
            ((int64_t *)b->colidx)[to] = col_of(b, bucket, key);
        else
            ((int32_t *)b->colidx)[to] = (int32_t)col_of(b, bucket, key);
        if (b->perm) /* the key is needed no more: its place takes the entry's number in the bucket */
            for (int64_t t = first; t < last; t++)
                set_key(b, o.base + (int64_t)low_bits(o.words[t], o.idxbits), (uint64_t)(to - o.base));
        if (b->out && (b->carry || !b->X))
            write_values(&o, to, first, last, values);
        else if (b->out)
            fetch_values(&o, to, first, last);
        to++;
    }
    if (row >= 0)
        add_to_row(b, row, to - row_start);
    return to - o.base;
}

static void finish_buckets(builder *b)
{
    for (int64_t bucket = 0; bucket < b->nbuckets && b->big; bucket++)
        if (b->base[bucket + 1] - b->base[bucket] > b->small)
            b->kept[bucket] = finish_bucket(b, bucket, b->big, b->largest);
#pragma omp parallel for schedule(dynamic, 4) num_threads(b->threads)
    for (int64_t bucket = 0; bucket < b->nbuckets; bucket++)
        if (b->base[bucket + 1] - b->base[bucket] <= b->small)
            b->kept[bucket] =
                finish_bucket(b, bucket, b->scratch + omp_get_thread_num() * 2 * b->small, b->small);
}

/* Names the first position, in the order of rows, that two tuples share. */
static GrB_Info duplicate_error(const builder *b)
{
    int64_t bucket = 0, t = 1, first = -1;
    while (b->kept[bucket] == b->base[bucket + 1] - b->base[bucket])
        bucket++;
    bool small = b->base[bucket + 1] - b->base[bucket] <= b->small;
    ordered o = sort_bucket(b, bucket, small ? b->scratch : b->big, small ? b->small : b->largest);
    while (ordered_key(&o, t) != ordered_key(&o, t - 1))
        t++;
    int64_t i = row_of(b, bucket, ordered_key(&o, t)), j = col_of(b, bucket, ordered_key(&o, t));
    for (t = 0; t < b->nvals; t++)
        if (b->I[t] == i && b->J[t] == j) {
            if (first >= 0)
                break;
            first = t;
        }
    return ftb_fail(GrB_INVALID_VALUE,
                    "tuples %lld and %lld are both at (%lld, %lld); duplicates are refused", (long long)first,
                    (long long)t, (long long)i, (long long)j);
}

/* Moves buckets down over the gaps that merging left; base becomes where buckets now start. */
static void close_gaps(builder *b)
{
    size_t col = ftb_col_size(b->ncols);
    int64_t at = 0;
    for (int64_t bucket = 0; bucket < b->nbuckets; bucket++) {
        int64_t old = b->base[bucket], count = b->kept[bucket];
        if (at != old) {
            memmove((char *)b->colidx + (size_t)at * col, (char *)b->colidx + (size_t)old * col,
                    (size_t)count * col);
            if (b->out)
                memmove((char *)b->out + (size_t)at * b->entry, (char *)b->out + (size_t)old * b->entry,
                        (size_t)count * b->entry);
        }
        b->kept[bucket] = at; /* from now on: the bucket's new start */
        at += count;
    }
    for (int64_t i = 0; i < b->nrows; i++)
        b->rowptr[i + 1] += b->rowptr[i];
}

static void write_perm(const builder *b)
{
#pragma omp parallel for schedule(dynamic, 4) num_threads(b->threads)
    for (int64_t bucket = 0; bucket < b->nbuckets; bucket++)
        for (int64_t at = b->base[bucket]; at < b->base[bucket + 1]; at++)
            b->perm[b->from[at]] = b->kept[bucket] + (int64_t)get_key(b, at);
}

static bool allocate_counts(builder *b)
{
    int64_t counts;
    if (__builtin_mul_overflow(b->nbuckets, b->threads, &counts))
        counts = INT64_MAX;
    return (b->next = ftb_new0(b->ctx, counts, sizeof(int64_t))) &&
           (b->base = ftb_new(b->ctx, b->nbuckets + 1, sizeof(int64_t))) &&
           (b->kept = ftb_new(b->ctx, b->nbuckets, sizeof(int64_t)));
}

static bool allocate_tuples(builder *b)
{
    b->small = ftb_min(b->largest, SMALL_BUCKET);
    bool numbers = b->perm || (b->X && !b->carry);
    return (b->key = ftb_new(b->ctx, b->nvals, b->wide_key ? 8 : 4)) &&
           (!b->carry || (b->values = ftb_new(b->ctx, b->nvals, b->entry))) &&
           (!numbers || (b->from = ftb_new(b->ctx, b->nvals, sizeof(int64_t)))) &&
           (b->scratch = ftb_new(b->ctx, b->threads * 2 * b->small, sizeof(uint64_t))) &&
           (b->largest <= b->small || (b->big = ftb_new(b->ctx, 2 * b->largest, sizeof(uint64_t)))) &&
           (b->rowptr = ftb_new0(b->ctx, b->nrows + 1, sizeof(int64_t))) &&
           (b->colidx = ftb_new(b->ctx, b->nvals, ftb_col_size(b->ncols))) &&
           (!b->width || (b->out = ftb_new(b->ctx, b->nvals, b->entry)));
}

static GrB_Info build(builder *b)
{
    choose_buckets(b);
    if (!allocate_counts(b))
        return ftb_nomem();
    GrB_Info info = count_tuples(b);
    if (info != GrB_SUCCESS)
        return info;
    if (!allocate_tuples(b))
        return ftb_nomem();
#pragma omp parallel for schedule(static, 1) num_threads(b->threads)
    for (int part = 0; part < b->threads; part++)
        scatter_part(b, part);
    finish_buckets(b);
    int64_t nvals = 0;
    for (int64_t bucket = 0; bucket < b->nbuckets; bucket++)
        nvals += b->kept[bucket];
    if (nvals < b->nvals && b->dup == FTB_DUP_ERROR)
        return duplicate_error(b);
    close_gaps(b);
    if (nvals < b->nvals && (!ftb_resize(b->ctx, &b->colidx, nvals, ftb_col_size(b->ncols)) ||
                             (b->out && !ftb_resize(b->ctx, &b->out, nvals, b->entry))))
        return ftb_nomem();
    return GrB_SUCCESS;
}

/* Turns the finished arrays into a matrix. */
static GrB_Info make(FtB_Matrix *A, builder *b)
{
    ftb_buffer *rowptr = ftb_buffer_adopt(b->ctx, b->rowptr), *colidx = ftb_buffer_adopt(b->ctx, b->colidx);
    ftb_buffer *values = ftb_buffer_adopt(b->ctx, b->out);
    b->rowptr = NULL;
    b->colidx = b->out = NULL;
    ftb_pattern *pattern = ftb_pattern_new(b->ctx, b->nrows, b->ncols, rowptr, colidx);
    if (pattern)
        pattern->multi = b->multi;
    return ftb_matrix_make(A, b->ctx, b->type, b->width, pattern, values);
}

static GrB_Info check_arguments(const builder *b, const void *X)
{
    GrB_Info info = ftb_matrix_check_shape("FtB_Matrix_build", b->type, b->nrows, b->ncols, b->width);
    if (info != GrB_SUCCESS)
        return info;
    if (b->nvals < 0)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Matrix_build: nvals is %lld; expected 0 or more",
                        (long long)b->nvals);
    if ((int)b->dup < FTB_DUP_SUM || (int)b->dup > FTB_DUP_KEEP)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Matrix_build: dup is %d, which is not an FtB_Dup",
                        (int)b->dup);
    if (b->nvals > 0 && (!b->I || !b->J))
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_build: %s is NULL; expected %lld indices",
                        b->I ? "J" : "I", (long long)b->nvals);
    if (b->nvals > 0 && b->width > 0 && !X && b->dup != FTB_DUP_COUNT)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_build: X is NULL; expected %lld x %lld values",
                        (long long)b->nvals, (long long)b->width);
    return GrB_SUCCESS;
}

GrB_Info FtB_Matrix_build(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                          int64_t nvals, const int64_t *I, const int64_t *J, const void *X, FtB_Dup dup,
                          int64_t *perm)
{
    if (!A)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_build: A is NULL");
    *A = NULL;
    builder b = {.ctx = ftb_context(),
                 .type = type,
                 .nrows = nrows,
                 .ncols = ncols,
                 .width = width,
                 .nvals = nvals,
                 .I = I,
                 .J = J,
                 .X = width > 0 && dup != FTB_DUP_COUNT ? X : NULL,
                 .dup = dup,
                 .perm = nvals > 0 ? perm : NULL,
                 .entry = (size_t)width * FtB_Type_size(type)};
    GrB_Info info = check_arguments(&b, X);
    if (info == GrB_SUCCESS && (info = build(&b)) == GrB_SUCCESS && (info = make(A, &b)) == GrB_SUCCESS &&
        b.perm)
        write_perm(&b);
    ftb_delete(b.next);
    ftb_delete(b.base);
    ftb_delete(b.kept);
    ftb_delete(b.key);
    ftb_delete(b.values);
    ftb_delete(b.from);
    ftb_delete(b.scratch);
    ftb_delete(b.big);
    ftb_delete(b.rowptr);
    ftb_delete(b.colidx);
    ftb_delete(b.out);
    return info;
}
