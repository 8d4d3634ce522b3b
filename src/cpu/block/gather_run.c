/* Picking and spreading rows (gather_run.h).
 *
 * Rows lie anywhere, so both are bound by the latency of memory until the rows that come next are prefetched.
 * A scatter over threads first deals the positions t, in their order, to buckets of destination rows; a
 * bucket belongs to one thread, so that every row sees its positions in ascending order whatever the threads
 * are. */
#include "cpu/block/gather_run.h"

#include "cpu/block/apply_run.h"
#include "cpu/reduce.h"

#include <omp.h>

#define AHEAD 12             /* rows between a prefetch and its use: some 100 ns at 16 to 64 bytes a row */
#define PREFETCHED 512       /* bytes of a row; longer ones are left to the machine */
#define CHUNK 1024           /* positions that a thread takes at a time, and that are accumulated together */
#define SLOTS (4 * CHUNK)    /* of a set of rows */
#define BUCKETS_PER_THREAD 8 /* so that one with many positions does not hold up the rest */

typedef struct row_set { /* rows of a batch, by open addressing */
    _Alignas(FTB_LINE) int64_t row[SLOTS];
    int64_t stamp[SLOTS], now;
} row_set;

/* Where rows are. */
typedef struct moves {
    const char *x;
    char *y;
    size_t xstep, ystep; /* bytes from a row to the next */
    size_t xrow, yrow;   /* bytes of a row */
    FtB_Type xtype, ytype;
    int64_t ncols;
} moves;

static moves moves_of(const void *x, FtB_Type xtype, int64_t ldx, void *y, FtB_Type ytype, int64_t ldy,
                      int64_t ncols)
{
    size_t xsize = FtB_Type_size(xtype), ysize = FtB_Type_size(ytype);
    return (moves){.x = x,
                   .y = y,
                   .xstep = (size_t)ldx * xsize,
                   .ystep = (size_t)ldy * ysize,
                   .xrow = (size_t)ncols * xsize,
                   .yrow = (size_t)ncols * ysize,
                   .xtype = xtype,
                   .ytype = ytype,
                   .ncols = ncols};
}

static int threads_for(FtB_Context ctx, int64_t count, int64_t ncols)
{
    return ftb_threads_for(ctx, count * ftb_max(ncols, 1));
}

int64_t ftb_rows_beyond(FtB_Context ctx, const int64_t *rows, int64_t count, int64_t ncols, int64_t bound)
{
    int64_t bad = count;
#pragma omp parallel for num_threads(threads_for(ctx, count, ncols)) schedule(static) reduction(min : bad)
    for (int64_t t = 0; t < count; t++)
        if (rows[t] < 0 || rows[t] >= bound)
            bad = ftb_min(bad, t);
    return bad;
}

static inline const char *x_row(const moves *m, int64_t i) { return m->x + (size_t)i * m->xstep; }
static inline char *y_row(const moves *m, int64_t i) { return m->y + (size_t)i * m->ystep; }

static inline void prefetch_row(const char *row, size_t bytes)
{
    for (size_t b = 0; b < bytes && b < PREFETCHED; b += 64)
        __builtin_prefetch(row + b);
}

/* Sizes that a register or two holds are copied without a call. */
static inline void copy_row(char *to, const char *from, size_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 16)
        memcpy(to, from, 16);
    else if (bytes == 32)
        memcpy(to, from, 32);
    else if (bytes == 64)
        memcpy(to, from, 64);
    else
        memcpy(to, from, bytes);
}

static inline void put_row(const moves *m, char *to, const char *from)
{
    if (m->xtype == m->ytype)
        copy_row(to, from, m->xrow);
    else
        ftb_cast(to, m->ytype, from, m->xtype, m->ncols);
}

GrB_Info ftb_gather_run(const ftb_gather_product *g)
{
    const moves m = moves_of(g->x, g->xtype, g->ldx, g->y, g->ytype, g->ldy, g->ncols);
    const int64_t *rows = g->rows, count = g->count;
#pragma omp parallel for num_threads(threads_for(g->ctx, count, g->ncols)) schedule(static)
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t end = ftb_min(count, first + CHUNK);
        for (int64_t t = first; t < end; t++) {
            if (t + AHEAD < count)
                prefetch_row(x_row(&m, rows[t + AHEAD]), m.xrow);
            put_row(&m, y_row(&m, t), x_row(&m, rows[t]));
        }
    }
    return GrB_SUCCESS;
}

/* ---- scattering */

typedef struct spread {
    const ftb_scatter_product *of;
    const int64_t *rows;
    int64_t count;
    moves m;
    int threads;
    int64_t batch; /* MAP: rows that are taken at a time */
    char *scratch;
    row_set *sets;
    size_t room;             /* bytes of scratch per thread */
    int64_t nbuckets, *cuts; /* bucket b: positions order[cuts[b]] to order[cuts[b + 1]] */
    int64_t *order;
} spread;

static GrB_Info prepare_map(spread *c)
{
    const ftb_scatter_product *s = c->of;
    c->batch = ftb_block_map_uses_i(s->map) ? 1 : ftb_max(1, ftb_min(CHUNK, FTB_BLOCK_PIECE / s->ncols));
    c->room = (size_t)(3 * c->batch * s->ncols) * 8;
    int64_t values =
        s->ncols > INT64_MAX / 64 / CHUNK / c->threads ? INT64_MAX : 3 * c->batch * s->ncols * c->threads;
    c->scratch = ftb_new(s->ctx, values, 8);
    c->sets = ftb_new0(s->ctx, c->threads, sizeof *c->sets);
    return c->scratch && c->sets ? GrB_SUCCESS : ftb_nomem();
}

/* Adds a row; false: it is there. */
static bool add_row(row_set *set, int64_t row)
{
    uint64_t slot = (uint64_t)row * UINT64_C(0x9e3779b97f4a7c15) >> 52; /* SLOTS == 2^12 */
    for (; set->stamp[slot] == set->now; slot = (slot + 1) % SLOTS)
        if (set->row[slot] == row)
            return false;
    set->stamp[slot] = set->now;
    set->row[slot] = row;
    return true;
}

/* Distinct rows of Y: rows[at[0]], ... at[count - 1]. */
static void accumulate(const spread *c, int thread, const int64_t *at, int64_t count)
{
    char *y = c->scratch + c->room * (size_t)thread, *x = y + c->room / 3, *out = x + c->room / 3;
    for (int64_t t = 0; t < count; t++) {
        memcpy(y + (size_t)t * c->m.yrow, y_row(&c->m, c->rows[at[t]]), c->m.yrow);
        memcpy(x + (size_t)t * c->m.xrow, x_row(&c->m, at[t]), c->m.xrow);
    }
    const ftb_block_piece piece = {c->rows[at[0]], count, 0, c->m.ncols};
    ftb_block_map_run(c->of->map, thread, &piece, y, x, out);
    ftb_cast(out, c->of->ytype, out, ftb_block_map_type(c->of->map), count * c->m.ncols);
    for (int64_t t = 0; t < count; t++)
        memcpy(y_row(&c->m, c->rows[at[t]]), out + (size_t)t * c->m.yrow, c->m.yrow);
}

/* Positions in order, in batches that end before a row comes again. */
static void accumulate_all(const spread *c, int thread, const int64_t *order, int64_t first, int64_t end)
{
    int64_t at[CHUNK], count = 0;
    row_set *set = &c->sets[thread];
    set->now++;
    for (int64_t s = first; s < end; s++) {
        int64_t t = order ? order[s] : s;
        if (s + AHEAD < end)
            prefetch_row(y_row(&c->m, c->rows[order ? order[s + AHEAD] : s + AHEAD]), c->m.yrow);
        if (count == c->batch || !add_row(set, c->rows[t])) {
            accumulate(c, thread, at, count);
            count = 0;
            set->now++;
            add_row(set, c->rows[t]);
        }
        at[count++] = t;
    }
    if (count > 0)
        accumulate(c, thread, at, count);
}

static void scatter(const spread *c, int thread, const int64_t *order, int64_t first, int64_t end)
{
    if (c->of->how == FTB_SCATTER_MAP) {
        accumulate_all(c, thread, order, first, end);
        return;
    }
    for (int64_t s = first; s < end; s++) {
        int64_t t = order ? order[s] : s;
        if (s + AHEAD < end) {
            int64_t next = order ? order[s + AHEAD] : s + AHEAD;
            prefetch_row(y_row(&c->m, c->rows[next]), c->m.yrow);
            if (order)
                prefetch_row(x_row(&c->m, next), c->m.xrow);
        }
        if (c->of->how == FTB_SCATTER_FOLD)
            ftb_monoid_apply(c->of->monoid, c->of->ytype, y_row(&c->m, c->rows[t]), x_row(&c->m, t),
                             c->m.ncols);
        else
            put_row(&c->m, y_row(&c->m, c->rows[t]), x_row(&c->m, t));
    }
}

/* Buckets of equal ranges of Y's rows, each with its positions in ascending order. */
static GrB_Info deal(spread *c)
{
    int64_t buckets = ftb_min(c->of->nrows, (int64_t)c->threads * BUCKETS_PER_THREAD), slices = c->threads;
    int64_t range = (c->of->nrows + buckets - 1) / buckets,
            *next = ftb_new0(c->of->ctx, buckets * slices + 1, 8);
    c->nbuckets = buckets;
    c->cuts = ftb_new(c->of->ctx, buckets + 1, sizeof *c->cuts);
    c->order = ftb_new(c->of->ctx, c->count, sizeof *c->order);
    if (!next || !c->cuts || !c->order) {
        ftb_delete(next);
        return ftb_nomem();
    }
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int64_t s = 0; s < slices; s++)
        for (int64_t t = c->count * s / slices; t < c->count * (s + 1) / slices; t++)
            next[c->rows[t] / range * slices + s]++;
    int64_t sum = 0;
    for (int64_t b = 0; b < buckets * slices; b++) {
        int64_t size = next[b];
        if (b % slices == 0)
            c->cuts[b / slices] = sum;
        next[b] = sum;
        sum += size;
    }
    c->cuts[buckets] = sum;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int64_t s = 0; s < slices; s++)
        for (int64_t t = c->count * s / slices; t < c->count * (s + 1) / slices; t++)
            c->order[next[c->rows[t] / range * slices + s]++] = t;
    ftb_delete(next);
    return GrB_SUCCESS;
}

GrB_Info ftb_scatter_run(const ftb_scatter_product *s)
{
    spread c = {.of = s,
                .rows = s->rows,
                .count = s->count,
                .m = moves_of(s->x, s->xtype, s->ldx, s->y, s->ytype, s->ldy, s->ncols)};
    GrB_Info info = GrB_SUCCESS;
    c.threads = s->map ? ftb_block_map_threads(s->map) : threads_for(s->ctx, s->count, s->ncols);
    if (s->how == FTB_SCATTER_MAP)
        FTB_CHECK(prepare_map(&c));
    if (c.threads > 1)
        FTB_CHECK(deal(&c));
    FTB_CHECK(ftb_check_cancelled(s->ctx));
    if (c.threads == 1) {
        scatter(&c, 0, NULL, 0, s->count);
    } else {
#pragma omp parallel for num_threads(c.threads) schedule(dynamic)
        for (int64_t b = 0; b < c.nbuckets; b++)
            scatter(&c, omp_get_thread_num(), c.order, c.cuts[b], c.cuts[b + 1]);
    }
done:
    ftb_delete(c.scratch);
    ftb_delete(c.sets);
    ftb_delete(c.cuts);
    ftb_delete(c.order);
    return info;
}
