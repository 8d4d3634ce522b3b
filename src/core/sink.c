/* Sinks: the wrappers that every producer of rows calls, and the two sinks that store nothing.
 *
 * The statistics have the same bits however the rows are cut into chunks and by how many threads they are
 * looked at: a row is summed in eight interleaved lanes, and rows are added in order with Neumaier's
 * compensation. */
#include "core/sink.h"

#include <math.h>

#define BLOCK_ROWS 4096 /* rows looked at before their sums are added: 128 KB, in L2 */
#define LANES FTB_ROW_STATS_LANES

/* ---- statistics */

/* One value as a real; `type` is a constant where this is inlined. */
static inline __attribute__((always_inline)) double load(const void *values, FtB_Type type, int64_t n)
{
    switch (type) {
    case FTB_BOOL:
        return ((const bool *)values)[n];
    case FTB_INT64:
        return (double)((const int64_t *)values)[n];
    case FTB_UINT64:
        return (double)((const uint64_t *)values)[n];
    case FTB_FP32:
        return (double)((const float *)values)[n];
    case FTB_FP64:
        return ((const double *)values)[n];
    default: /* storage types, from FtB_Matrix_write alone */
        return ftb_get_real(values, type, n);
    }
}

typedef struct lanes {
    double sum[LANES], low[LANES], high[LANES];
} lanes;

static inline __attribute__((always_inline)) void take(lanes *x, int l, double v)
{
    x->sum[l] += v;
    x->low[l] = v < x->low[l] ? v : x->low[l]; /* NaN loses */
    x->high[l] = v > x->high[l] ? v : x->high[l];
}

static inline __attribute__((always_inline)) void row_lanes(lanes *x, const void *values, FtB_Type type,
                                                            int64_t count)
{
    int64_t n = 0;
    for (; n + LANES <= count; n += LANES)
        for (int l = 0; l < LANES; l++)
            take(x, l, load(values, type, n + l));
    for (int l = 0; n < count; n++, l++)
        take(x, l, load(values, type, n));
}

void ftb_row_stats_of(ftb_row_stats *row, const void *values, FtB_Type type, int64_t nvals, int64_t width)
{
    int64_t count = nvals * width;
    lanes x;
    if (width == 0 && nvals > 0) { /* every entry counts as 1 */
        *row = (ftb_row_stats){nvals, (double)nvals, 1, 1};
        return;
    }
    for (int l = 0; l < LANES; l++) {
        x.sum[l] = 0;
        x.low[l] = INFINITY;
        x.high[l] = -INFINITY;
    }
    switch (type) {
    case FTB_BOOL:
        row_lanes(&x, values, FTB_BOOL, count);
        break;
    case FTB_INT64:
        row_lanes(&x, values, FTB_INT64, count);
        break;
    case FTB_UINT64:
        row_lanes(&x, values, FTB_UINT64, count);
        break;
    case FTB_FP32:
        row_lanes(&x, values, FTB_FP32, count);
        break;
    case FTB_FP64:
        row_lanes(&x, values, FTB_FP64, count);
        break;
    default:
        row_lanes(&x, values, type, count);
    }
    for (int step = LANES / 2; step > 0; step /= 2)
        for (int l = 0; l < step; l++) {
            x.sum[l] += x.sum[l + step];
            x.low[l] = ftb_min(x.low[l], x.low[l + step]);
            x.high[l] = ftb_max(x.high[l], x.high[l + step]);
        }
    *row = (ftb_row_stats){nvals, x.sum[0], x.low[0], x.high[0]};
}

/* sum + carry += v (Neumaier 1974). */
static void add(double *sum, double *carry, double v)
{
    double t = *sum + v;
    *carry += fabs(*sum) >= fabs(v) ? (*sum - t) + v : (v - t) + *sum;
    *sum = t;
}

static GrB_Info take_rows(FtB_Sink sink, int64_t nrows, const ftb_row_stats *rows)
{
    FtB_Stats *s = &sink->stats;
    for (int64_t r = 0; r < nrows; r++) {
        if (rows[r].nvals == 0)
            continue;
        s->nvals += rows[r].nvals;
        s->nonempty_rows++;
        s->max_row = ftb_max(s->max_row, rows[r].nvals);
        s->min = ftb_min(s->min, rows[r].min);
        s->max = ftb_max(s->max, rows[r].max);
        add(&s->sum, &sink->carry, rows[r].sum);
    }
    if (sink->shape.nvals >= 0 && s->nvals > sink->shape.nvals)
        return ftb_fail(GrB_INVALID_VALUE, "sink got more than the %lld entries that were announced",
                        (long long)sink->shape.nvals);
    return GrB_SUCCESS;
}

/* ---- wrappers */

GrB_Info ftb_sink_check(FtB_Sink sink)
{
    if (!sink)
        return ftb_fail(GrB_NULL_POINTER, "sink is NULL");
    if (sink->magic != FTB_MAGIC_SINK)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "sink is not a sink, or was freed");
    return GrB_SUCCESS;
}

#define OPEN_BYTES 16384 /* of an open file: its names, and what the allocator adds */

static int64_t block_rows(const ftb_sink_shape *shape)
{
    return ftb_max(ftb_min(shape->nrows, BLOCK_ROWS), 1);
}

/* What every kind of sink takes. */
static int64_t common_bytes(const ftb_sink_shape *shape)
{
    return block_rows(shape) * (int64_t)sizeof(ftb_row_stats) + OPEN_BYTES;
}

int64_t ftb_sink_least(FtB_Sink sink, const ftb_sink_shape *shape)
{
    return common_bytes(shape) + (sink->methods->least ? sink->methods->least(sink, shape) : 0);
}

int64_t ftb_sink_room(const ftb_sink_shape *shape)
{
    const int64_t left = ftb_memory_left(shape->ctx);
    return left == INT64_MAX || shape->room == 0 ? left / 8 : ftb_max(shape->room - common_bytes(shape), 0);
}

GrB_Info ftb_sink_begin(FtB_Sink sink, const ftb_sink_shape *shape)
{
    GrB_Info info = ftb_sink_check(sink);
    if (info != GrB_SUCCESS)
        return info;
    if (sink->open)
        return ftb_fail(GrB_INVALID_VALUE, "sink is in use by another operation");
    if (sink->used && sink->single_use)
        return ftb_fail(GrB_INVALID_VALUE, "sink was used before; a %s sink is single-use",
                        sink->methods->name);
    sink->block = ftb_new(shape->ctx, block_rows(shape), sizeof *sink->block);
    if (!sink->block)
        return ftb_nomem();
    sink->shape = *shape;
    if (sink->base >= 0)
        sink->shape.base = sink->base;
    sink->stats =
        (FtB_Stats){.nrows = shape->nrows, .ncols = shape->ncols, .min = INFINITY, .max = -INFINITY};
    sink->carry = 0;
    sink->next = 0;
    sink->open = true;
    info = sink->methods->begin ? sink->methods->begin(sink, &sink->shape) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        ftb_sink_abort(sink);
    return info;
}

static GrB_Info check_order(FtB_Sink sink, int64_t row0, int64_t nrows)
{
    if (!sink->open)
        return ftb_fail(GrB_INVALID_VALUE, "sink got rows outside an operation");
    if (row0 < sink->next || nrows < 0 || row0 > sink->shape.nrows - nrows)
        return ftb_fail(GrB_INVALID_VALUE,
                        "sink got rows %lld .. %lld out of order: expected %lld or later, of %lld rows",
                        (long long)row0, (long long)(row0 + nrows - 1), (long long)sink->next,
                        (long long)sink->shape.nrows);
    return GrB_SUCCESS;
}

GrB_Info ftb_sink_rows(FtB_Sink sink, const FtB_Rows *rows)
{
    GrB_Info info = check_order(sink, rows->row0, rows->nrows);
    if (info != GrB_SUCCESS)
        return info;
    if (rows->width != sink->shape.width || rows->type != sink->shape.type)
        return ftb_fail(GrB_INVALID_VALUE, "sink got values of %s x %lld; %s x %lld were announced",
                        FtB_Type_name(rows->type), (long long)rows->width, FtB_Type_name(sink->shape.type),
                        (long long)sink->shape.width);
    size_t bytes = FtB_Type_size(rows->type) * (size_t)rows->width;
    for (int64_t r0 = 0; r0 < rows->nrows; r0 += BLOCK_ROWS) {
        int64_t r1 = ftb_min(r0 + BLOCK_ROWS, rows->nrows);
        ftb_row_stats *block = sink->block;
        const int64_t *rowptr = rows->rowptr;
        const char *values = rows->values;
        bool parallel = rowptr[r1] - rowptr[r0] > 65536;
#pragma omp parallel for schedule(dynamic, 16) num_threads(ftb_threads(sink->shape.ctx)) if (parallel)
        for (int64_t r = r0; r < r1; r++)
            ftb_row_stats_of(&block[r - r0], values ? values + (size_t)rowptr[r] * bytes : NULL, rows->type,
                             rowptr[r + 1] - rowptr[r], rows->width);
        if ((info = take_rows(sink, r1 - r0, block)) != GrB_SUCCESS)
            return info;
    }
    sink->next = rows->row0 + rows->nrows;
    return sink->methods->rows ? sink->methods->rows(sink, rows) : GrB_SUCCESS;
}

GrB_Info ftb_sink_count_rows(FtB_Sink sink, int64_t row0, int64_t nrows, const ftb_row_stats *rows)
{
    GrB_Info info = check_order(sink, row0, nrows);
    if (info != GrB_SUCCESS)
        return info;
    sink->next = row0 + nrows;
    return take_rows(sink, nrows, rows);
}

static void close_sink(FtB_Sink sink)
{
    FtB_Stats *s = &sink->stats;
    ftb_delete(sink->block);
    sink->block = NULL;
    sink->open = false;
    sink->used = true;
    if (isfinite(s->sum))
        s->sum += sink->carry;
    sink->carry = 0;
    if (s->min > s->max) /* no value, or only NaN */
        s->min = s->max = NAN;
}

GrB_Info ftb_sink_end(FtB_Sink sink)
{
    if (!sink->open)
        return ftb_fail(GrB_INVALID_VALUE, "sink is not in an operation");
    GrB_Info info = GrB_SUCCESS;
    if (sink->shape.nvals >= 0 && sink->stats.nvals != sink->shape.nvals)
        info = ftb_fail(GrB_INVALID_VALUE, "sink got %lld entries; %lld were announced",
                        (long long)sink->stats.nvals, (long long)sink->shape.nvals);
    else if (sink->methods->end)
        info = sink->methods->end(sink);
    if (info != GrB_SUCCESS)
        ftb_sink_abort(sink);
    else
        close_sink(sink);
    return info;
}

void ftb_sink_abort(FtB_Sink sink)
{
    if (!sink || !sink->open)
        return;
    if (sink->methods->abort)
        sink->methods->abort(sink);
    close_sink(sink);
}

/* ---- objects */

GrB_Info ftb_sink_new(FtB_Sink *out, FtB_Context ctx, const ftb_sink_methods *methods, size_t state)
{
    FtB_Sink sink = ftb_new0(ctx, 1, sizeof *sink);
    if (sink)
        sink->state = ftb_new0(ctx, 1, ftb_max(state, 1));
    if (!sink || !sink->state) {
        ftb_delete(sink);
        return ftb_nomem();
    }
    sink->magic = FTB_MAGIC_SINK;
    sink->ctx = ftb_context_retain(ctx);
    sink->methods = methods;
    sink->base = -1;
    *out = sink;
    return GrB_SUCCESS;
}

GrB_Info FtB_Sink_free(FtB_Sink *handle)
{
    if (!handle || !*handle || (*handle)->magic != FTB_MAGIC_SINK)
        return GrB_SUCCESS;
    FtB_Sink sink = *handle;
    ftb_sink_abort(sink);
    if (sink->methods->destroy)
        sink->methods->destroy(sink);
    FtB_Context ctx = sink->ctx;
    sink->magic = 0;
    ftb_delete(sink->state);
    ftb_delete(sink);
    ftb_context_release(ctx);
    *handle = NULL;
    return GrB_SUCCESS;
}

GrB_Info FtB_Sink_set_precision(FtB_Sink sink, int digits)
{
    GrB_Info info = ftb_sink_check(sink);
    if (info != GrB_SUCCESS)
        return info;
    if (digits < 0 || digits > 17)
        return ftb_fail(
            GrB_INVALID_VALUE,
            "FtB_Sink_set_precision: digits is %d; expected 1 to 17, or 0 for the fewest that read back",
            digits);
    sink->digits = digits;
    return GrB_SUCCESS;
}

GrB_Info FtB_Sink_set_base(FtB_Sink sink, int64_t base)
{
    GrB_Info info = ftb_sink_check(sink);
    if (info != GrB_SUCCESS)
        return info;
    if (base < 0)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Sink_set_base: base is %lld; expected 0 or more",
                        (long long)base);
    sink->base = base;
    return GrB_SUCCESS;
}

GrB_Info FtB_Sink_get_stats(FtB_Sink sink, FtB_Stats *stats)
{
    GrB_Info info = ftb_sink_check(sink);
    if (info != GrB_SUCCESS)
        return info;
    if (!stats)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Sink_get_stats: stats is NULL");
    *stats = sink->stats;
    return GrB_SUCCESS;
}

/* ---- statistics only */

static const ftb_sink_methods stats_methods = {.name = "statistics"};

bool ftb_sink_counts(FtB_Sink sink) { return sink->methods == &stats_methods; }

GrB_Info FtB_Sink_stats(FtB_Sink *sink)
{
    if (!sink)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Sink_stats: sink is NULL");
    *sink = NULL;
    return ftb_sink_new(sink, ftb_context(), &stats_methods, 0);
}

/* ---- callback */

typedef struct callback_state {
    FtB_Rows_function f;
    void *arg;
} callback_state;

static GrB_Info callback_rows(FtB_Sink sink, const FtB_Rows *rows)
{
    callback_state *s = sink->state;
    GrB_Info info = s->f(rows, s->arg);
    if (info != GrB_SUCCESS)
        ftb_fail(info, "the sink's callback returned %d on rows %lld .. %lld", (int)info,
                 (long long)rows->row0, (long long)(rows->row0 + rows->nrows - 1));
    return info;
}

static const ftb_sink_methods callback_methods = {.name = "callback", .rows = callback_rows};

GrB_Info FtB_Sink_callback(FtB_Sink *sink, FtB_Rows_function f, void *arg)
{
    if (!sink || !f)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Sink_callback: %s is NULL", sink ? "f" : "sink");
    *sink = NULL;
    GrB_Info info = ftb_sink_new(sink, ftb_context(), &callback_methods, sizeof(callback_state));
    if (info == GrB_SUCCESS)
        *(callback_state *)(*sink)->state = (callback_state){f, arg};
    return info;
}
