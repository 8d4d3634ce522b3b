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
 * Far more rows than tuples are listed (hypersparse.h), and those alone are built. Buckets and the order in
 * them depend on the input alone, so results do not depend on the threads. */
#include "core/duplicates.h"
#include "core/hypersparse.h"

#include <omp.h>

#define BUCKET_ENTRIES 8192             /* wanted: its words and their scratch take 128 KB */
#define MAX_BUCKET_BITS 11              /* more write streams than that thrash the TLB */
#define SMALL_BUCKET (INT64_C(1) << 17) /* entries; scratch for buckets up to this is per thread */
#define CARRY_BYTES 16                  /* longer values are fetched once, by the tuple's number */
#define SERIAL 4096                     /* tuples; below, threads cost more than they bring */

/* How a number K is cut into bucket and key, and put together again, without branches. With
 * d = shift - colbits: for d >= 0 buckets hold whole rows; for d < 0 rows span buckets. */
typedef struct split {
    int row_up, row_down, col_down; /* bucket = i << row_up >> row_down | j >> col_down */
    int key_up;                     /* key = (i & row_mask) << key_up | (j & col_mask) */
    uint64_t row_mask, col_mask;
} split;

typedef struct builder {
    FtB_Context ctx;
    FtB_Type type;
    int64_t nrows, ncols, width, nvals;
    int64_t all_rows;    /* nrows before rows are listed */
    ftb_buffer *numbers; /* of listed rows; else NULL */
    int64_t *ranks;      /* nvals: I, in that list */
    const int64_t *I, *J;
    const char *X; /* NULL where values do not matter */
    FtB_Dup dup;
    int64_t *perm;

    size_t entry; /* bytes of an entry's values */
    int threads, colbits, shift;
    split split;
    int64_t nbuckets;
    bool carry;                         /* values travel with the keys */
    size_t key_size, number_at, stride; /* records: key, value (if carried), tuple number (if needed) */
    char *records;                      /* nvals */
    int64_t *next;                      /* threads x nbuckets: counts, then the part's next record */
    int64_t *base;                      /* nbuckets + 1: where buckets start */
    int64_t *kept;                      /* nbuckets: entries after merging */
    uint64_t *scratch;                  /* threads x 2 x small */
    int64_t small;                      /* entries of the largest bucket that uses the threads' scratch */
    uint64_t *big;                      /* 2 x the largest bucket, if that is not small */
    int64_t largest;
    atomic_bool multi; /* rule keep: there are parallel edges */
    ftb_clash *clash;  /* or NULL: sums and counts may wrap */

    int64_t *rowptr; /* the result */
    void *colidx, *out;
} builder;

static int bits_for(int64_t n) { return n > 1 ? 64 - __builtin_clzll((uint64_t)n - 1) : 0; }

static uint64_t ones(int bits) { return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX; }

static int64_t part_start(const builder *b, int part)
{
    return part < b->threads ? (int64_t)((double)b->nvals * part / b->threads) : b->nvals;
}

static inline int64_t bucket_of(split s, int64_t i, int64_t j)
{
    return i << s.row_up >> s.row_down | j >> s.col_down;
}

static inline uint64_t key_of(split s, int64_t i, int64_t j)
{
    return ((uint64_t)i & s.row_mask) << s.key_up | ((uint64_t)j & s.col_mask);
}

/* Row and column of key 0 of a bucket; a key adds (key >> key_up) rows and its low colbits columns. */
static int64_t first_row(const builder *b, int64_t bucket)
{
    return b->shift >= b->colbits ? bucket << b->split.row_down : bucket >> b->split.row_up;
}

static int64_t first_col(const builder *b, int64_t bucket)
{
    return b->shift >= b->colbits ? 0 : (int64_t)((uint64_t)bucket & ones(b->split.row_up)) << b->shift;
}

static void choose_buckets(builder *b)
{
    b->colbits = bits_for(b->ncols);
    int total = bits_for(b->nrows) + b->colbits;
    int wanted = ftb_min(bits_for(b->nvals / BUCKET_ENTRIES), MAX_BUCKET_BITS);
    b->shift = ftb_min(total - ftb_min(wanted, total), 62); /* keys have to fit 64 bits */
    if (b->shift >= b->colbits)
        b->split = (split){.row_down = b->shift - b->colbits,
                           .col_down = 63,
                           .key_up = b->colbits,
                           .row_mask = ones(b->shift - b->colbits),
                           .col_mask = UINT64_MAX};
    else
        b->split = (split){
            .row_up = b->colbits - b->shift, .col_down = b->shift, .key_up = 63, .col_mask = ones(b->shift)};
    b->nbuckets = bucket_of(b->split, ftb_max(b->nrows, 1) - 1, ftb_max(b->ncols, 1) - 1) + 1;
    b->carry = b->X && b->entry <= CARRY_BYTES;
    bool numbers = b->perm || (b->X && !b->carry);
    b->key_size = b->shift > 32 || b->nvals > UINT32_MAX ? 8 : 4;
    b->number_at = b->key_size + (b->carry ? b->entry : 0);
    b->stride = b->number_at + (numbers ? sizeof(int64_t) : 0);
}

/* Counts one part's tuples per bucket. Returns its first tuple with an index out of range, or nvals. */
static int64_t count_part(const builder *b, int part)
{
    int64_t *count = b->next + part * b->nbuckets, last = part_start(b, part + 1);
    const int64_t *I = b->I, *J = b->J;
    uint64_t nrows = (uint64_t)b->nrows, ncols = (uint64_t)b->ncols;
    split s = b->split;
    for (int64_t t = part_start(b, part); t < last; t++) {
        if ((uint64_t)I[t] >= nrows || (uint64_t)J[t] >= ncols)
            return t;
        count[bucket_of(s, I[t], J[t])]++;
    }
    return b->nvals;
}

static GrB_Info out_of_bounds(const builder *b, int64_t tuple)
{
    return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "tuple %lld is (%lld, %lld); expected a position in %lld x %lld",
                    (long long)tuple, (long long)b->I[tuple], (long long)b->J[tuple], (long long)b->all_rows,
                    (long long)b->ncols);
}

/* Lists the rows, of which the tuples' places in the list are the rows from here on. */
static GrB_Info list_rows(builder *b)
{
    for (int64_t t = 0; t < b->nvals; t++)
        if ((uint64_t)b->I[t] >= (uint64_t)b->nrows || (uint64_t)b->J[t] >= (uint64_t)b->ncols)
            return out_of_bounds(b, t);
    GrB_Info info = ftb_rows_list(&b->numbers, &b->ranks, b->ctx, b->I, b->nvals);
    if (info != GrB_SUCCESS)
        return info;
    b->nrows = b->numbers->bytes / (int64_t)sizeof(int64_t);
    b->I = b->ranks;
    return GrB_SUCCESS;
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
        return out_of_bounds(b, bad);
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

/* key_size and carried (bytes of the value, 0: none) are constants where this is inlined. */
static inline __attribute__((always_inline)) void scatter(const builder *b, int part, size_t key_size,
                                                          size_t carried, bool numbers)
{
    int64_t *next = b->next + part * b->nbuckets, last = part_start(b, part + 1);
    const int64_t *I = b->I, *J = b->J;
    const char *X = b->X;
    char *records = b->records;
    size_t stride = key_size + carried + (numbers ? sizeof(int64_t) : 0);
    split s = b->split;
    for (int64_t t = part_start(b, part); t < last; t++) {
        char *to = records + (size_t)next[bucket_of(s, I[t], J[t])]++ * stride;
        uint64_t key = key_of(s, I[t], J[t]);
        uint32_t narrow = (uint32_t)key;
        memcpy(to, key_size == 8 ? (const void *)&key : &narrow, key_size);
        if (carried)
            memcpy(to + key_size, X + (size_t)t * carried, carried);
        if (numbers)
            memcpy(to + key_size + carried, &t, sizeof t);
    }
}

static void scatter_part(const builder *b, int part)
{
    size_t carried = b->carry ? b->entry : 0;
    bool numbers = b->stride > b->number_at;
    if (b->key_size == 4 && carried == 4 && !numbers)
        scatter(b, part, 4, 4, false);
    else if (b->key_size == 4 && carried == 8 && !numbers)
        scatter(b, part, 4, 8, false);
    else if (b->key_size == 4 && carried == 0 && !numbers)
        scatter(b, part, 4, 0, false);
    else
        scatter(b, part, b->key_size, carried, numbers);
}

static inline uint64_t record_key(const char *record, size_t key_size)
{
    uint64_t key = 0;
    uint32_t narrow;
    if (key_size == 8) {
        memcpy(&key, record, 8);
        return key;
    }
    memcpy(&narrow, record, 4);
    return narrow;
}

static inline int64_t record_number(const builder *b, const char *record)
{
    int64_t t;
    memcpy(&t, record + b->number_at, sizeof t);
    return t;
}

/* One bucket in order: word t is (key's high bits, position in the bucket). */
typedef struct ordered {
    int64_t bucket, count;
    char *records;   /* the bucket's */
    uint64_t *words; /* count */
    int idxbits;
    bool whole; /* words hold all of the key */
} ordered;

static inline size_t ordered_idx(const ordered *o, int64_t t) { return o->words[t] & ones(o->idxbits); }

static inline uint64_t ordered_key(const builder *b, const ordered *o, int64_t t)
{
    return o->whole ? o->words[t] >> o->idxbits
                    : record_key(o->records + ordered_idx(o, t) * b->stride, b->key_size);
}

/* Sorts by the key's bits low .. low + taken - 1; words hold the positions in the order so far. */
static uint64_t *sort_round(const builder *b, const ordered *o, uint64_t *words, uint64_t *other, int low,
                            int taken)
{
    /* Copies: words could alias the fields, as far as the compiler knows. */
    const char *records = o->records;
    size_t stride = b->stride, key_size = b->key_size;
    int idxbits = o->idxbits;
    uint64_t previous = 0, mask = ones(taken), positions = ones(idxbits);
    bool sorted = true;
    for (int64_t t = 0, count = o->count; t < count; t++) {
        uint64_t at = words[t] & positions;
        uint64_t key = record_key(records + at * stride, key_size) >> low & mask;
        words[t] = key << idxbits | at;
        sorted &= previous <= key;
        previous = key;
    }
    return sorted ? words : ftb_sort(words, other, o->count, idxbits, idxbits + taken);
}

/* Keys too long to share a word with a position are sorted in rounds, low bits first. */
static ordered sort_bucket(const builder *b, int64_t bucket, uint64_t *scratch, int64_t room)
{
    ordered o = {.bucket = bucket, .count = b->base[bucket + 1] - b->base[bucket]};
    o.records = b->records + (size_t)b->base[bucket] * b->stride;
    o.idxbits = bits_for(o.count);
    int per_round = ftb_min(63, 64 - o.idxbits);
    o.whole = b->shift <= per_round;
    o.words = scratch;
    for (int64_t t = 0; t < o.count; t++)
        o.words[t] = (uint64_t)t;
    for (int low = 0; low == 0 || low < b->shift; low += per_round) {
        uint64_t *other = o.words == scratch ? scratch + room : scratch;
        o.words = sort_round(b, &o, o.words, other, low, ftb_min(per_round, b->shift - low));
    }
    return o;
}

static void add_to_row(const builder *b, int64_t row, int64_t entries)
{
    /* Rows may be shared by buckets; integer sums do not show the order. */
    __atomic_fetch_add(&b->rowptr[row + 1], entries, __ATOMIC_RELAXED);
}

/* The entry of the words first .. last - 1, where that is not just a copy of one value. Returns whether it is
 * of the type. */
static bool merge_values(const builder *b, const ordered *o, char *out, int64_t first, int64_t last)
{
    const char *base = o->records + b->key_size;
    size_t stride = b->stride;
    uint64_t mask = ones(o->idxbits);
    if (!b->carry && b->X) { /* the words' positions become tuple numbers */
        for (int64_t t = first; t < last; t++)
            o->words[t] = (uint64_t)record_number(b, o->records + ordered_idx(o, t) * b->stride);
        base = b->X;
        stride = b->entry;
        mask = UINT64_MAX;
    }
    return ftb_merge_entries(out, b->type, b->width, b->dup, base, stride, o->words + first, mask,
                             last - first);
}

static void number_entry(const builder *b, const ordered *o, int64_t first, int64_t last, uint64_t entry)
{
    uint32_t narrow = (uint32_t)entry;
    for (int64_t t = first; t < last; t++) /* the key is needed no more: its place takes the entry's number */
        memcpy(o->records + ordered_idx(o, t) * b->stride, b->key_size == 8 ? (const void *)&entry : &narrow,
               b->key_size);
}

/* Sorts, merges and writes one bucket; returns how many entries are left, or, where the duplicates at key k
 * are refused, -1 - k. `entry` is a constant where this is inlined, or b->entry. */
static inline __attribute__((always_inline)) int64_t finish(builder *b, int64_t bucket, uint64_t *scratch,
                                                            int64_t room, size_t entry)
{
    ordered o = sort_bucket(b, bucket, scratch, room);
    bool wide = ftb_col_size(b->ncols) == 8, keep = b->dup == FTB_DUP_KEEP;
    bool single = b->X && b->dup != FTB_DUP_COUNT, carry = b->carry;
    int64_t row0 = first_row(b, bucket), col0 = first_col(b, bucket), base = b->base[bucket];
    int64_t to = base, row = -1, row_start = base, count = o.count;
    int32_t *narrow_cols = b->colidx;
    int64_t *wide_cols = b->colidx;
    char *out = b->out;
    uint64_t col_mask = ones(ftb_min(b->colbits, b->shift));
    int key_up = b->split.key_up;
    uint64_t key = count ? ordered_key(b, &o, 0) : 0, next = 0;
    for (int64_t first = 0, last; first < count; first = last, key = next) {
        for (last = first + 1; last < count; last++) {
            next = ordered_key(b, &o, last);
            if (next != key || keep)
                break;
        }
        if (last > first + 1 && b->dup == FTB_DUP_ERROR)
            return -1 - (int64_t)key;
        if (keep && last < count && next == key)
            atomic_store_explicit(&b->multi, true, memory_order_relaxed);
        if (row0 + (int64_t)(key >> key_up) != row) {
            if (row >= 0)
                add_to_row(b, row, to - row_start);
            row = row0 + (int64_t)(key >> key_up);
            row_start = to;
        }
        int64_t col = col0 | (int64_t)(key & col_mask);
        if (wide)
            wide_cols[to] = col;
        else
            narrow_cols[to] = (int32_t)col;
        if (b->perm)
            number_entry(b, &o, first, last, (uint64_t)(to - base));
        if (entry && single && last == first + 1) {
            const char *record = o.records + ordered_idx(&o, first) * b->stride;
            memcpy(out + (size_t)to * entry,
                   carry ? record + b->key_size : b->X + (size_t)record_number(b, record) * entry, entry);
        } else if (entry && !merge_values(b, &o, out + (size_t)to * entry, first, last) && b->clash) {
            return -1 - (int64_t)key;
        }
        to++;
    }
    if (row >= 0)
        add_to_row(b, row, to - row_start);
    return to - base;
}

static int64_t finish_bucket(builder *b, int64_t bucket, uint64_t *scratch, int64_t room)
{
    switch (b->entry) {
    case 4:
        return finish(b, bucket, scratch, room, 4);
    case 8:
        return finish(b, bucket, scratch, room, 8);
    default:
        return finish(b, bucket, scratch, room, b->entry);
    }
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

/* Names two tuples at the position of a key, or the position. */
static GrB_Info duplicate_error(const builder *b, int64_t bucket, uint64_t key)
{
    const int64_t row = first_row(b, bucket) + (int64_t)(key >> b->split.key_up);
    int64_t t, first = -1, i = b->numbers ? ((const int64_t *)ftb_buffer_data(b->numbers))[row] : row;
    int64_t j = first_col(b, bucket) | (int64_t)(key & ones(ftb_min(b->colbits, b->shift)));
    if (b->dup != FTB_DUP_ERROR) {
        b->clash->beyond = true;
        return ftb_fail(GrB_INVALID_VALUE, "the %s of the entries at (%lld, %lld) is beyond %s",
                        b->dup == FTB_DUP_COUNT ? "number" : "sum", (long long)i, (long long)j,
                        FtB_Type_name(b->type));
    }
    for (t = 0; t < b->nvals; t++)
        if (b->I[t] == row && b->J[t] == j) {
            if (first >= 0)
                break;
            first = t;
        }
    if (b->clash)
        *b->clash = (ftb_clash){.refused = true, .first = first, .last = t};
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
        for (int64_t at = b->base[bucket]; at < b->base[bucket + 1]; at++) {
            const char *record = b->records + (size_t)at * b->stride;
            b->perm[record_number(b, record)] = b->kept[bucket] + (int64_t)record_key(record, b->key_size);
        }
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
    return (b->records = ftb_new(b->ctx, b->nvals, b->stride)) &&
           (b->scratch = ftb_new(b->ctx, b->threads * 2 * b->small, sizeof(uint64_t))) &&
           (b->largest <= b->small || (b->big = ftb_new(b->ctx, 2 * b->largest, sizeof(uint64_t)))) &&
           (b->rowptr = ftb_new0(b->ctx, b->nrows + 1, sizeof(int64_t))) &&
           (b->colidx = ftb_new(b->ctx, b->nvals, ftb_col_size(b->ncols))) &&
           (!b->width || (b->out = ftb_new(b->ctx, b->nvals, b->entry)));
}

static GrB_Info build(builder *b)
{
    b->all_rows = b->nrows;
    b->threads = b->nvals > SERIAL ? ftb_threads(b->ctx) : 1;
    GrB_Info info = ftb_listed_fits(b->nrows, b->nvals) ? list_rows(b) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return info;
    choose_buckets(b);
    if (!allocate_counts(b))
        return ftb_nomem();
    info = count_tuples(b);
    if (info != GrB_SUCCESS)
        return info;
    if (!allocate_tuples(b))
        return ftb_nomem();
#pragma omp parallel for schedule(static, 1) num_threads(b->threads)
    for (int part = 0; part < b->threads; part++)
        scatter_part(b, part);
    finish_buckets(b);
    int64_t nvals = 0;
    for (int64_t bucket = 0; bucket < b->nbuckets; bucket++) {
        if (b->kept[bucket] < 0)
            return duplicate_error(b, bucket, (uint64_t)(-1 - b->kept[bucket]));
        nvals += b->kept[bucket];
    }
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
    if (b->numbers)
        pattern = ftb_pattern_whole(ftb_pattern_number(pattern, b->all_rows, ftb_buffer_retain(b->numbers)));
    return ftb_matrix_make(A, b->ctx, b->type, b->width, pattern, values);
}

/* Builds, and frees what is not the matrix's. */
static GrB_Info run(FtB_Matrix *A, builder *b)
{
    GrB_Info info = build(b);
    if (info == GrB_SUCCESS && (info = make(A, b)) == GrB_SUCCESS && b->perm)
        write_perm(b);
    void *const arrays[] = {b->next, b->base,  b->kept,   b->records, b->scratch,
                            b->big,  b->ranks, b->rowptr, b->colidx,  b->out};
    for (size_t t = 0; t < sizeof arrays / sizeof *arrays; t++)
        ftb_delete(arrays[t]);
    ftb_buffer_release(b->numbers);
    return info;
}

GrB_Info ftb_pattern_build(ftb_pattern **p, FtB_Context ctx, int64_t nrows, int64_t ncols, int64_t nvals,
                           const int64_t *I, const int64_t *J, int64_t *perm)
{
    builder b = {
        .ctx = ctx, .type = FTB_BOOL, .nrows = nrows, .ncols = ncols, .nvals = nvals, .I = I, .J = J};
    FtB_Matrix A = NULL;
    b.dup = FTB_DUP_KEEP;
    b.perm = nvals > 0 ? perm : NULL;
    GrB_Info info = run(&A, &b);
    *p = A ? ftb_pattern_retain(A->pattern) : NULL;
    FtB_Matrix_free(&A);
    return info;
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
    return ftb_build_strictly(A, type, nrows, ncols, width, nvals, I, J, X, dup, perm, NULL);
}

GrB_Info ftb_build_strictly(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                            int64_t nvals, const int64_t *I, const int64_t *J, const void *X, FtB_Dup dup,
                            int64_t *perm, ftb_clash *clash)
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
                 .clash = clash,
                 .entry = (size_t)width * FtB_Type_size(type)};
    GrB_Info info = check_arguments(&b, X);
    return info == GrB_SUCCESS ? run(A, &b) : info;
}
