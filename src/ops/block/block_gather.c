/* Y(t,:) = X(rows[t],:) and Y(rows[t],:) = accum(Y(rows[t],:), X(t,:)): picking and spreading rows.
 *
 * Rows lie anywhere, so both are bound by the latency of memory until the rows that come next are prefetched.
 * A scatter over threads first deals the positions t, in their order, to buckets of destination rows; a
 * bucket belongs to one thread, so that every row sees its positions in ascending order whatever the threads
 * are. */
#include "ops/block/block_map.h"

#include "cpu/reduce.h"

#include "core/watch.h"
#include "core/words.h"
#include "expr/tree.h"
#include "ops/merge.h"

#include <omp.h>

/* The slots' macros are for callers: these are the functions. */
#undef FtB_gather
#undef FtB_scatter

#define AHEAD 12             /* rows between a prefetch and its use: some 100 ns at 16 to 64 bytes a row */
#define PREFETCHED 512       /* bytes of a row; longer ones are left to the machine */
#define CHUNK 1024           /* positions that a thread takes at a time, and that are accumulated together */
#define SLOTS (4 * CHUNK)    /* of a set of rows */
#define BUCKETS_PER_THREAD 8 /* so that one with many positions does not hold up the rest */

typedef struct row_set { /* rows of a batch, by open addressing */
    int64_t row[SLOTS];
    int64_t stamp[SLOTS], now;
} row_set;

typedef struct move_call {
    FtB_Context ctx; /* Y's */
    FtB_Block Y, X, copy;
    FtB_Op accum;
    const int64_t *rows;
    int64_t *own_rows;
    int64_t count, bound, ncols;
    int threads;
    char *xdata, *ydata;
    size_t xstep, ystep; /* bytes from a row to the next */
    size_t xrow, yrow;   /* bytes of a row */
    bool fold;           /* accum is a monoid on rows as they are */
    ftb_monoid monoid;
    ftb_block_map *map; /* any other accum */
    int64_t batch;      /* rows that it takes at a time */
    char *scratch;
    row_set *sets;
    size_t room;             /* bytes of scratch per thread */
    int64_t nbuckets, *cuts; /* bucket b: positions order[cuts[b]] to order[cuts[b + 1]] */
    int64_t *order;
} move_call;

/* ---- arguments */

static GrB_Info unwrap(move_call *c, FtB_Arg Y, FtB_Arg X)
{
    GrB_Info info = ftb_arg_block(&c->Y, Y, "Y", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_block(&c->X, X, "X", false);
    if (info != GrB_SUCCESS)
        return info;
    c->ctx = c->Y->ctx;
    c->ncols = c->X->ncols;
    c->xrow = (size_t)c->ncols * FtB_Type_size(c->X->type);
    c->yrow = (size_t)c->ncols * FtB_Type_size(c->Y->type);
    c->threads = ftb_threads_for(c->ctx, c->count * ftb_max(c->ncols, 1));
    if (!ftb_buffer_write(c->Y->owner))
        return ftb_fail(GrB_INVALID_VALUE, "Y wraps memory that must not be written");
    return GrB_SUCCESS;
}

static GrB_Info check_shape(const move_call *c, FtB_Block listed, const char *name)
{
    if (c->count < 0)
        return ftb_fail(GrB_INVALID_VALUE, "count is %lld; expected >= 0", (long long)c->count);
    if (c->count > 0 && !c->rows)
        return ftb_fail(GrB_NULL_POINTER, "rows is NULL; expected %lld indices", (long long)c->count);
    if (listed->nrows != c->count)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld; expected %lld rows, one for each index",
                        name, (long long)listed->nrows, (long long)listed->ncols, (long long)c->count);
    if (c->Y->ncols != c->X->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "Y has %lld columns and X %lld; expected equal numbers",
                        (long long)c->Y->ncols, (long long)c->X->ncols);
    return GrB_SUCCESS;
}

static GrB_Info check_rows(const move_call *c)
{
    int64_t bad = c->count;
#pragma omp parallel for num_threads(c->threads) schedule(static) reduction(min : bad)
    for (int64_t t = 0; t < c->count; t++)
        if (c->rows[t] < 0 || c->rows[t] >= c->bound)
            bad = ftb_min(bad, t);
    if (bad == c->count)
        return GrB_SUCCESS;
    char below[FTB_WORDS];
    return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "rows[%lld] is %lld; expected %s", (long long)bad,
                    (long long)c->rows[bad], ftb_below_text(below, c->bound));
}

/* X and rows are read while Y is written: what lies inside Y is copied. */
static GrB_Info unalias(move_call *c)
{
    size_t bytes = (size_t)c->count * sizeof *c->rows;
    if (ftb_block_overlaps(c->Y, c->rows, bytes)) {
        c->own_rows = ftb_new(c->ctx, c->count, sizeof *c->rows);
        if (!c->own_rows)
            return ftb_nomem();
        c->rows = memcpy(c->own_rows, c->rows, bytes);
    }
    if (ftb_block_alias(c->Y, c->X) != FTB_ALIAS_NONE) {
        GrB_Info info = ftb_block_copy(&c->copy, c->ctx, c->X);
        if (info != GrB_SUCCESS)
            return info;
        c->X = c->copy;
    }
    c->xdata = ftb_block_data(c->X);
    c->ydata = ftb_block_data(c->Y);
    c->xstep = (size_t)c->X->ld * FtB_Type_size(c->X->type);
    c->ystep = (size_t)c->Y->ld * FtB_Type_size(c->Y->type);
    return GrB_SUCCESS;
}

static GrB_Info finish(move_call *c, GrB_Info info)
{
    ftb_block_map_delete(c->map);
    ftb_delete(c->scratch);
    ftb_delete(c->sets);
    ftb_delete(c->cuts);
    ftb_delete(c->order);
    ftb_delete(c->own_rows);
    FtB_Block_free(&c->copy);
    FtB_Op_free(&c->accum);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c->ctx);
    return info;
}

/* ---- rows */

static inline char *x_row(const move_call *c, int64_t i) { return c->xdata + (size_t)i * c->xstep; }
static inline char *y_row(const move_call *c, int64_t i) { return c->ydata + (size_t)i * c->ystep; }

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

static inline void put_row(const move_call *c, char *to, const char *from)
{
    if (c->X->type == c->Y->type)
        copy_row(to, from, c->xrow);
    else
        ftb_cast(to, c->Y->type, from, c->X->type, c->ncols);
}

GrB_Info FtB_gather(FtB_Arg Y, FtB_Arg X, const int64_t *rows, int64_t count)
{
    move_call c = {.rows = rows, .count = count};
    GrB_Info info = unwrap(&c, Y, X);
    if (info != GrB_SUCCESS)
        goto done;
    c.bound = c.X->nrows;
    FTB_CHECK(check_shape(&c, c.Y, "Y"));
    FTB_CHECK(check_rows(&c));
    FTB_CHECK(unalias(&c));
    FTB_CHECK(ftb_check_cancelled(c.ctx));
#pragma omp parallel for num_threads(c.threads) schedule(static)
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t end = ftb_min(count, first + CHUNK);
        for (int64_t t = first; t < end; t++) {
            if (t + AHEAD < count)
                prefetch_row(x_row(&c, c.rows[t + AHEAD]), c.xrow);
            put_row(&c, y_row(&c, t), x_row(&c, c.rows[t]));
        }
    }
done:
    return finish(&c, info);
}

/* ---- accumulating */

/* Whether accum is x + y and its like, on values of one type that monoids work in. */
static bool is_monoid(ftb_monoid *m, const move_call *c)
{
    static const struct {
        ftb_operator op;
        ftb_monoid monoid;
    } known[] = {
        {FTB_OP_ADD, FTB_PLUS}, {FTB_OP_MUL, FTB_TIMES}, {FTB_OP_MIN, FTB_MIN}, {FTB_OP_MAX, FTB_MAX}};
    FtB_Type type = c->Y->type;
    const ftb_expr *e = c->accum->body;
    const ftb_node *root = &e->nodes[e->root];
    if (c->X->type != type || ftb_type_compute(type) != type || type == FTB_BOOL ||
        (c->accum->domain && c->accum->domain != type))
        return false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (root->op == known[k].op && ftb_tree_is_name(e, ftb_tree_arg(e, e->root, 0), "x") &&
            ftb_tree_is_name(e, ftb_tree_arg(e, e->root, 1), "y")) {
            *m = known[k].monoid;
            return true;
        }
    return false;
}

static GrB_Info prepare_accum(move_call *c)
{
    GrB_Info info = ftb_op_unalias(c->accum, c->ctx, c->Y);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_block_operand x = {NULL, c->Y->type, c->ncols, c->ncols, 1, false};
    const ftb_block_operand y = {NULL, c->X->type, c->ncols, c->ncols, 1, false};
    info = ftb_accum_error(ftb_block_map_new(&c->map, c->ctx, c->accum, &x, &y, c->threads));
    if (info == GrB_SUCCESS)
        info = ftb_block_map_check(c->map, c->Y->nrows);
    if (info != GrB_SUCCESS)
        return info;
    if (ftb_block_map_ncols(c->map) != c->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "accum: makes %lld values of rows of %lld",
                        (long long)ftb_block_map_ncols(c->map), (long long)c->ncols);
    if ((c->fold = is_monoid(&c->monoid, c)))
        return GrB_SUCCESS;
    c->batch =
        ftb_expr_uses(c->accum->body, "i") ? 1 : ftb_max(1, ftb_min(CHUNK, FTB_BLOCK_PIECE / c->ncols));
    c->room = (size_t)(3 * c->batch * c->ncols) * 8;
    int64_t values =
        c->ncols > INT64_MAX / 64 / CHUNK / c->threads ? INT64_MAX : 3 * c->batch * c->ncols * c->threads;
    c->scratch = ftb_new(c->ctx, values, 8);
    c->sets = ftb_new0(c->ctx, c->threads, sizeof *c->sets);
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
static void accumulate(const move_call *c, int thread, const int64_t *at, int64_t count)
{
    char *y = c->scratch + c->room * (size_t)thread, *x = y + c->room / 3, *out = x + c->room / 3;
    for (int64_t t = 0; t < count; t++) {
        memcpy(y + (size_t)t * c->yrow, y_row(c, c->rows[at[t]]), c->yrow);
        memcpy(x + (size_t)t * c->xrow, x_row(c, at[t]), c->xrow);
    }
    const ftb_block_piece piece = {c->rows[at[0]], count, 0, c->ncols};
    ftb_block_map_run(c->map, thread, &piece, y, x, out);
    ftb_cast(out, c->Y->type, out, ftb_block_map_type(c->map), count * c->ncols);
    for (int64_t t = 0; t < count; t++)
        memcpy(y_row(c, c->rows[at[t]]), out + (size_t)t * c->yrow, c->yrow);
}

/* Positions in order, in batches that end before a row comes again. */
static void accumulate_all(const move_call *c, int thread, const int64_t *order, int64_t first, int64_t end)
{
    int64_t at[CHUNK], count = 0;
    row_set *set = &c->sets[thread];
    set->now++;
    for (int64_t s = first; s < end; s++) {
        int64_t t = order ? order[s] : s;
        if (s + AHEAD < end)
            prefetch_row(y_row(c, c->rows[order ? order[s + AHEAD] : s + AHEAD]), c->yrow);
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

/* ---- scattering */

static void scatter(const move_call *c, int thread, const int64_t *order, int64_t first, int64_t end)
{
    if (c->map && !c->fold) {
        accumulate_all(c, thread, order, first, end);
        return;
    }
    for (int64_t s = first; s < end; s++) {
        int64_t t = order ? order[s] : s;
        if (s + AHEAD < end) {
            int64_t next = order ? order[s + AHEAD] : s + AHEAD;
            prefetch_row(y_row(c, c->rows[next]), c->yrow);
            if (order)
                prefetch_row(x_row(c, next), c->xrow);
        }
        if (c->fold)
            ftb_monoid_apply(c->monoid, c->Y->type, y_row(c, c->rows[t]), x_row(c, t), c->ncols);
        else
            put_row(c, y_row(c, c->rows[t]), x_row(c, t));
    }
}

/* Buckets of equal ranges of Y's rows, each with its positions in ascending order. */
static GrB_Info deal(move_call *c)
{
    int64_t buckets = ftb_min(c->bound, (int64_t)c->threads * BUCKETS_PER_THREAD), slices = c->threads;
    int64_t range = (c->bound + buckets - 1) / buckets, *next = ftb_new0(c->ctx, buckets * slices + 1, 8);
    c->nbuckets = buckets;
    c->cuts = ftb_new(c->ctx, buckets + 1, sizeof *c->cuts);
    c->order = ftb_new(c->ctx, c->count, sizeof *c->order);
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

GrB_Info FtB_scatter(FtB_Arg Y, FtB_Arg accum, FtB_Arg X, const int64_t *rows, int64_t count)
{
    move_call c = {.rows = rows, .count = count};
    GrB_Info info = unwrap(&c, Y, X);
    if (info != GrB_SUCCESS)
        goto done;
    c.bound = c.Y->nrows;
    FTB_CHECK(ftb_arg_op(&c.accum, accum, "accum", true));
    FTB_CHECK(check_shape(&c, c.X, "X"));
    FTB_CHECK(check_rows(&c));
    FTB_CHECK(unalias(&c));
    if (count == 0 || c.ncols == 0)
        goto done;
    if (c.accum)
        FTB_CHECK(prepare_accum(&c));
    if (c.threads > 1)
        FTB_CHECK(deal(&c));
    FTB_CHECK(ftb_check_cancelled(c.ctx));
    if (c.threads == 1) {
        scatter(&c, 0, NULL, 0, count);
    } else {
#pragma omp parallel for num_threads(c.threads) schedule(dynamic)
        for (int64_t b = 0; b < c.nbuckets; b++)
            scatter(&c, omp_get_thread_num(), c.order, c.cuts[b], c.cuts[b + 1]);
    }
done:
    return finish(&c, info);
}
