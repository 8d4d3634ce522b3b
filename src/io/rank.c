/* Integer ids to their ranks. Ids that are dense enough, which they mostly are, go through a bit per
 * possible id; others through a hash table and a sort of the distinct ones. */
#include "core/number.h"
#include "io/intern.h"

static GrB_Info integer_labels(FtB_Labels *labels, FtB_Context ctx, const int64_t *distinct, int64_t count)
{
    int64_t *offset = ftb_new(ctx, count + 1, sizeof *offset);
    char text[FTB_NUMBER_ROOM], *bytes = NULL;
    if (!offset)
        return ftb_nomem();
    offset[0] = 0;
    for (int64_t at = 0; at < count; at++)
        offset[at + 1] = offset[at] + (ftb_format_integer(text, distinct[at]) - text) + 1;
    bytes = ftb_new(ctx, offset[count], 1);
    for (int64_t at = 0; bytes && at < count; at++)
        *ftb_format_integer(bytes + offset[at], distinct[at]) = '\0';
    return ftb_labels_make(labels, ctx, count, offset, bytes); /* owns both, also if one is NULL */
}

/* ---- dense ids */

static GrB_Info rank_dense(FtB_Context ctx, int64_t *ids, int64_t count, int64_t low, int64_t range,
                           int64_t *distinct, FtB_Labels *labels)
{
    int64_t nwords = range / 64 + 1, n = 0;
    uint64_t *bits = ftb_new0(ctx, nwords, sizeof *bits);
    int64_t *before = ftb_new(ctx, nwords, sizeof *before),
            *values = NULL; /* before: set bits in lower words */
    GrB_Info info = bits && before ? GrB_SUCCESS : ftb_nomem();
    if (info != GrB_SUCCESS)
        goto done;
    for (int64_t e = 0; e < count; e++)
        bits[(ids[e] - low) >> 6] |= (uint64_t)1 << ((ids[e] - low) & 63);
    for (int64_t w = 0; w < nwords; w++) {
        before[w] = n;
        n += __builtin_popcountll(bits[w]);
    }
    if (labels) {
        int64_t at = 0;
        values = ftb_new(ctx, n, sizeof *values);
        if (!values) {
            info = ftb_nomem();
            goto done;
        }
        for (int64_t w = 0; w < nwords; w++)
            for (uint64_t rest = bits[w]; rest; rest &= rest - 1)
                values[at++] = low + 64 * w + __builtin_ctzll(rest);
        FTB_CHECK(integer_labels(labels, ctx, values, n));
    }
#pragma omp parallel for schedule(static) num_threads(ftb_threads(ctx)) if (count > 65536)
    for (int64_t e = 0; e < count; e++) {
        int64_t v = ids[e] - low;
        ids[e] = before[v >> 6] + __builtin_popcountll(bits[v >> 6] & (((uint64_t)1 << (v & 63)) - 1));
    }
    *distinct = n;
done:
    ftb_delete(bits);
    ftb_delete(before);
    ftb_delete(values);
    return info;
}

/* ---- scattered ids */

static uint64_t hash_integer(int64_t v)
{
    unsigned __int128 product = (unsigned __int128)((uint64_t)v ^ 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

typedef struct integer_table {
    int64_t *slot; /* number + 1, 0: free */
    int64_t nslots;
    int64_t *value; /* by number */
    int64_t count;
} integer_table;

static int64_t *find(const integer_table *t, int64_t v)
{
    int64_t mask = t->nslots - 1, s = (int64_t)(hash_integer(v) & (uint64_t)mask);
    while (t->slot[s] && t->value[t->slot[s] - 1] != v)
        s = (s + 1) & mask;
    return &t->slot[s];
}

static GrB_Info grow(integer_table *t, FtB_Context ctx)
{
    int64_t nslots = ftb_max(2 * t->nslots, 4096), *slot = ftb_new0(ctx, nslots, sizeof *slot);
    if (!slot || !ftb_resize(ctx, (void **)&t->value, nslots / 2, sizeof *t->value)) {
        ftb_delete(slot);
        return ftb_nomem();
    }
    ftb_delete(t->slot);
    t->slot = slot;
    t->nslots = nslots;
    for (int64_t n = 0; n < t->count; n++)
        *find(t, t->value[n]) = n + 1;
    return GrB_SUCCESS;
}

static GrB_Info sort_values(int64_t *value, int64_t count, FtB_Context ctx)
{
    uint64_t *key = (uint64_t *)value, *scratch = ftb_new(ctx, count, sizeof *scratch);
    if (!scratch)
        return ftb_nomem();
    for (int64_t n = 0; n < count; n++)
        key[n] ^= (uint64_t)1 << 63; /* signed order */
    const uint64_t *sorted = ftb_sort(key, scratch, count, 0, 64);
    for (int64_t n = 0; n < count; n++)
        key[n] = sorted[n] ^ (uint64_t)1 << 63;
    ftb_delete(scratch);
    return GrB_SUCCESS;
}

static GrB_Info rank_scattered(FtB_Context ctx, int64_t *ids, int64_t count, int64_t *distinct,
                               FtB_Labels *labels)
{
    integer_table t = {0};
    GrB_Info info;
    FTB_CHECK(grow(&t, ctx));
    for (int64_t e = 0; e < count; e++) {
        int64_t *slot = find(&t, ids[e]);
        if (*slot)
            continue;
        if (t.count == t.nslots / 2) {
            FTB_CHECK(grow(&t, ctx));
            slot = find(&t, ids[e]);
        }
        t.value[t.count] = ids[e];
        *slot = ++t.count;
    }
    FTB_CHECK(sort_values(t.value, t.count, ctx));
    memset(t.slot, 0, (size_t)t.nslots * sizeof *t.slot); /* again, numbered by rank */
    for (int64_t n = 0; n < t.count; n++)
        *find(&t, t.value[n]) = n + 1;
    if (labels)
        FTB_CHECK(integer_labels(labels, ctx, t.value, t.count));
#pragma omp parallel for schedule(static) num_threads(ftb_threads(ctx)) if (count > 65536)
    for (int64_t e = 0; e < count; e++)
        ids[e] = *find(&t, ids[e]) - 1;
    *distinct = t.count;
done:
    ftb_delete(t.slot);
    ftb_delete(t.value);
    return info;
}

GrB_Info ftb_rank_integers(FtB_Context ctx, int64_t *ids, int64_t count, int64_t *distinct,
                           FtB_Labels *labels)
{
    int64_t low = INT64_MAX, high = INT64_MIN, range;
    for (int64_t e = 0; e < count; e++) {
        low = ftb_min(low, ids[e]);
        high = ftb_max(high, ids[e]);
    }
    *distinct = 0;
    if (count > 0 && !__builtin_sub_overflow(high, low, &range) && range / 16 <= count + 65536)
        return rank_dense(ctx, ids, count, low, range, distinct, labels);
    return rank_scattered(ctx, ids, count, distinct, labels);
}
