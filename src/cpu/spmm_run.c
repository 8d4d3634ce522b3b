/* Runs a sparse x block product that kernels know, as the plan says.
 *
 * Partitioned: the work is cut into items, (tile of features, part of the rows). A thread that takes one
 * walks through all segments with buffers of its own: the packed sources, which stay in its L2, and the tile
 * of the result, so nothing is waited for and nothing moves between caches. With as many tiles as threads
 * sources are packed once; else once per part, which the visits outweigh.
 *
 * Values of edges lie in the order of rows, but are asked for segment by segment: a miss for every few of
 * them, in every tile. An ordered plan copies those of a part into the order of visits first, for all tiles
 * of the part: rand-100k, 512 features, one weight an edge: 1.27 s in place of 1.53 (and 1.03 without
 * weights).
 *
 * Direct: blocks of rows of about equal entries + rows. A hub is left out of its block; when the blocks are
 * done, threads share its features, so that its entries are still added in their order. */
#include "cpu/spmm_run.h"

#include "cpu/reduce.h"
#include "cpu/spmm_operands.h"
#include "cpu/spmm_sliced_run.h"

#include <omp.h>
#include <stdatomic.h>

#define BLOCK_WORK (INT64_C(1) << 14) /* entries + rows of a block of the direct form: some microseconds */
#define LISTED_ROWS 256
#define ORDER_AHEAD 16               /* visits that values are fetched ahead while they are ordered */
#define FAR_BYTES (INT64_C(1) << 20) /* more of sources are not near: L2 has that much, or less */
#define NEAR_ROWS 64 /* rows whose columns are walked again for the next features while they are in L1 */

typedef struct run {
    const ftb_spmm_product *product;
    const ftb_spmm_plan *plan;
    ftb_partition *partition;
    int which, isa, lanes;
    size_t size;      /* of a value */
    int64_t features; /* of T */
    int64_t pitch;    /* of the widest tile */
    char *scratch;    /* per thread: packed sources, a tile of the result, ordered edges */
    size_t pack_bytes, tile_bytes, edge_bytes;
    int64_t parts;                      /* of the rows */
    int64_t longest_part, fullest_part; /* rows, entries */
    bool in_place;                      /* the only tile is the result itself */
    int64_t *hubs;                      /* direct: rows that are left for later; NULL: none are */
    _Atomic int64_t nhubs;
} run;

/* Tile t of n: features [first, last), in `vectors` vectors. Tiles are as even as vectors allow. */
typedef struct tile {
    int64_t first, features;
    int vectors;
} tile;

static tile tile_at(const run *r, int64_t t)
{
    int64_t vectors = (r->features + r->lanes - 1) / r->lanes, n = r->plan->ntiles;
    int64_t from = vectors * t / n, to = vectors * (t + 1) / n;
    tile here = {from * r->lanes, ftb_min(to * r->lanes, r->features) - from * r->lanes, 0};
    here.vectors = ftb_spmm_round_vectors(to - from);
    return here;
}

/* ---- edges */

/* Where vector n of a tile finds its lanes' values among those of an edge. */
static ftb_spmm_window window_of(const run *r, const tile *t, int n)
{
    const ftb_spmm_product *p = r->product;
    ftb_spmm_window w = {0};
    int64_t at[16], least = INT64_MAX, most = 0;
    for (int l = 0; l < r->lanes; l++) {
        int64_t f = ftb_min(t->first + n * r->lanes + l, r->features - 1);
        int64_t head = f / p->width, inside = f % p->width;
        at[l] = (p->yheads > 1 ? head : 0) * p->ywidth + (p->ywidth > 1 ? inside : 0);
        least = ftb_min(least, at[l]);
        most = ftb_max(most, at[l]);
    }
    w.first = least;
    w.count = (int32_t)(most - least + 1);
    for (int l = 0; l < r->lanes; l++)
        w.lane[l] = (int32_t)(at[l] - least);
    return w;
}

static ftb_spmm_terms message_of(const run *r, const tile *t)
{
    const ftb_spmm_product *p = r->product;
    ftb_spmm_terms m = {.form = p->form, .least = p->least, .y = p->y ? p->y : p->x};
    m.ldy = p->y ? p->yheads * p->ywidth : 0;
    for (int n = 0; n < t->vectors && p->kind.edge > FTB_EDGE_ONE; n++)
        m.window[n] = window_of(r, t, n);
    return m;
}

/* Rows without entries become `none`: of one value each, where a branch for each would often be the other
 * one.
 */
#define ABSENT(name, T)                                                                                      \
    static void name(void *rows, const int64_t *rowptr, uint64_t none, int64_t first, int64_t last)          \
    {                                                                                                        \
        T *x = rows;                                                                                         \
        for (int64_t i = first; i < last; i++) {                                                             \
            const T kept = (T)0 - (T)(rowptr[i] < rowptr[i + 1]);                                            \
            x[i] = (x[i] & kept) | ((T)none & ~kept);                                                        \
        }                                                                                                    \
    }
typedef uint32_t any_32 __attribute__((may_alias));
typedef uint64_t any_64 __attribute__((may_alias));
ABSENT(absent_32, any_32)
ABSENT(absent_64, any_64)

/* Rows without entries. */
static void fill_empty(const ftb_spmm_product *p, int64_t feature, int64_t count, int64_t first, int64_t last)
{
    const int64_t *rowptr = p->p->rowptr;
    const size_t size = FtB_Type_size(p->kind.type);
    uint64_t value = 0;
    if (p->empty == FTB_EMPTY_IDENTITY)
        ftb_monoid_identity(!p->kind.best ? FTB_PLUS : p->least ? FTB_MIN : FTB_MAX, p->kind.type, &value);
    if (p->empty != FTB_EMPTY_ANYTHING && count == 1 && p->ldo == 1) {
        (size == 4 ? absent_32 : absent_64)(p->out, rowptr, value, first, last);
        return;
    }
    for (int64_t i = first; p->empty != FTB_EMPTY_ANYTHING && i < last; i++)
        if (rowptr[i] == rowptr[i + 1])
            ftb_fill((char *)p->out + (size_t)(i * p->ldo + feature) * size, count, &value, size);
}

static void divide_row(const ftb_spmm_product *p, int64_t i, int64_t feature, int64_t count)
{
    const int64_t entries = p->p->rowptr[i + 1] - p->p->rowptr[i];
    if (entries > 1)
        FTB_PICK(ftb_spmm_divide)
    (p->kind.type, (char *)p->out + (size_t)(i * p->ldo + feature) * FtB_Type_size(p->kind.type), count,
     entries);
}

void ftb_spmm_divide_rows(const ftb_spmm_product *p)
{
    const int64_t nrows = p->p->nrows, features = p->heads * p->width;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, nrows *features))
    for (int64_t i = 0; i < nrows; i++)
        divide_row(p, i, 0, features);
}

/* A mean's division, while what is divided is near. */
static void divide_rows(const ftb_spmm_product *p, int64_t feature, int64_t count, int64_t first,
                        int64_t last)
{
    for (int64_t i = first; p->mean && i < last; i++)
        divide_row(p, i, feature, count);
}

void ftb_spmm_end_rows(const ftb_spmm_product *p, int64_t feature, int64_t count, int64_t first, int64_t last)
{
    divide_rows(p, feature, count, first, last);
    fill_empty(p, feature, count, first, last);
}

/* ---- partitioned */

/* A part of the rows, and a thread's memory. */
typedef struct part {
    int64_t row0, row1;
    char *packed, *result, *edges;
} part;

static bool visits_of(ftb_spmm_visits *v, const run *r, const part *of, int64_t segment)
{
    const ftb_partition *s = r->partition;
    v->first = ftb_partition_visit(s, segment, of->row0);
    v->last = ftb_partition_visit(s, segment, of->row1);
    return v->first < v->last;
}

/* Bytes are a multiple of 4. Most runs are a few values: too short for memcpy's choices to pay. */
static char *copy_values(char *restrict to, const char *restrict from, int64_t bytes)
{
    int64_t b = 0;
    for (; b + 32 <= bytes; b += 32)
        memcpy(to + b, from + b, 32);
    for (; b + 4 <= bytes; b += 4)
        memcpy(to + b, from + b, 4);
    return to + bytes;
}

/* Copies the part's edge values into the order of its visits. */
static void order_edges(const run *r, const part *of)
{
    const ftb_spmm_product *p = r->product;
    const ftb_partition *s = r->partition;
    const int64_t bytes = p->yheads * p->ywidth * (int64_t)r->size;
    char *to = of->edges;
    ftb_spmm_visits v;
    for (int64_t segment = 0; segment < s->nsegments; segment++)
        if (visits_of(&v, r, of, segment))
            for (int64_t visit = v.first; visit < v.last; visit++) {
                int64_t soon = ftb_min(visit + ORDER_AHEAD, v.last - 1);
                const char *next = (const char *)p->y + s->entry[soon] * bytes;
                for (int64_t b = 0; b < ftb_min((s->start[soon + 1] - s->start[soon]) * bytes, 1024); b += 64)
                    __builtin_prefetch(next + b);
                to = copy_values(to, (const char *)p->y + s->entry[visit] * bytes,
                                 (s->start[visit + 1] - s->start[visit]) * bytes);
            }
}

static void run_tile(const run *r, const part *of, const tile *t)
{
    const ftb_spmm_product *p = r->product;
    const ftb_partition *s = r->partition;
    ftb_spmm_tile shape = {p->kind.type, p->kind.best && p->form == FTB_FORM_COPY, p->least, t->features,
                           (int64_t)t->vectors * r->lanes};
    ftb_spmm_visits v = {.partition = s,
                         .rowptr = p->p->rowptr,
                         .x = of->packed,
                         .out = of->result,
                         .row0 = of->row0,
                         .place = s->entry,
                         .message = message_of(r, t)};
    ftb_spmm_visit visit = FTB_PICK_OF(r->isa, ftb_spmm_partitioned)(r->which, t->vectors);
    const char *x = (const char *)p->x + (size_t)t->first * FtB_Type_size(p->stored);
    int64_t ordered = 0; /* entries of earlier segments */
    if (r->in_place)
        v.out = (char *)p->out + (size_t)(of->row0 * p->ldo) * r->size;
    for (int64_t segment = 0; segment < s->nsegments; segment++) {
        if (!visits_of(&v, r, of, segment))
            continue;
        if (r->plan->ordered) {
            v.place = s->start;
            v.place0 = s->start[v.first];
            v.message.y = of->edges + (size_t)(ordered * v.message.ldy) * r->size;
            ordered += s->start[v.last] - s->start[v.first];
        }
        int64_t from = segment * s->width, to = ftb_min(from + s->width, p->p->ncols);
        FTB_PICK_OF(r->isa, ftb_spmm_pack)
        (&shape, of->packed, x + (size_t)(from * p->ldx) * FtB_Type_size(p->stored), p->stored, p->ldx,
         to - from);
        visit(&v);
    }
    shape.keys = p->kind.best;
    if (!r->in_place)
        FTB_PICK_OF(r->isa, ftb_spmm_unpack)
    (&shape, of->result, (char *)p->out + (size_t)(of->row0 * p->ldo + t->first) * r->size, p->ldo,
     of->row1 - of->row0);
    ftb_spmm_end_rows(p, t->first, t->features, of->row0, of->row1);
}

/* As many parts as planned, or as keep the longest as short as planned. */
static void cut_rows(run *r)
{
    const ftb_pattern *p = r->product->p;
    int64_t most = r->plan->most > 0 && !r->in_place ? r->plan->most : p->nrows;
    r->parts = r->plan->parts;
    do {
        r->longest_part = r->fullest_part = 0;
        for (int64_t n = 0; n < r->parts; n++) {
            int64_t row0 = ftb_pattern_cut(p, n, r->parts), row1 = ftb_pattern_cut(p, n + 1, r->parts);
            r->longest_part = ftb_max(r->longest_part, row1 - row0);
            r->fullest_part = ftb_max(r->fullest_part, p->rowptr[row1] - p->rowptr[row0]);
        }
    } while (r->longest_part > most && r->parts < p->nrows && (r->parts += r->parts / 4 + 1));
}

/* Tiles that share a part's ordered edges are one item. */
static void run_item(const run *r, int64_t item, char *memory)
{
    const ftb_pattern *p = r->product->p;
    int64_t parts = r->parts, first = item / parts, last = first + 1;
    part of = {.row0 = ftb_pattern_cut(p, item % parts, parts),
               .row1 = ftb_pattern_cut(p, item % parts + 1, parts),
               .packed = memory,
               .result = memory + r->pack_bytes,
               .edges = memory + r->pack_bytes + r->tile_bytes};
    if (r->plan->ordered) {
        order_edges(r, &of);
        last = r->plan->ntiles;
    }
    for (int64_t n = first; n < last; n++) {
        tile t = tile_at(r, n);
        run_tile(r, &of, &t);
    }
}

static size_t scratch_bytes(const run *r) { return r->pack_bytes + r->tile_bytes + r->edge_bytes; }

static GrB_Info prepare_partitioned(run *r)
{
    const ftb_spmm_product *p = r->product;
    GrB_Info info = ftb_partition_get(&r->partition, p->p, r->plan->segment);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t t = 0; t < r->plan->ntiles; t++)
        r->pitch = ftb_max(r->pitch, (int64_t)tile_at(r, t).vectors * r->lanes);
    r->in_place = r->plan->ntiles == 1 && r->features == r->pitch && p->ldo == r->pitch &&
                  (uintptr_t)p->out % 64 == 0 && !p->kind.best;
    cut_rows(r);
    r->pack_bytes = (size_t)(ftb_min(r->plan->segment, p->p->ncols) * r->pitch) * r->size;
    r->tile_bytes = r->in_place ? 0 : (size_t)(r->longest_part * r->pitch) * r->size;
    if (r->plan->ordered) /* no more than the edge values themselves */
        r->edge_bytes = ((size_t)(r->fullest_part * p->yheads * p->ywidth) * r->size + 63) / 64 * 64;
    r->scratch = ftb_new(p->ctx, r->plan->threads, scratch_bytes(r));
    return r->scratch ? GrB_SUCCESS : ftb_nomem();
}

static bool stopped(const run *r) { return r->product->interruptible && ftb_cancelled(r->product->ctx); }

static GrB_Info run_partitioned(run *r)
{
    GrB_Info info = prepare_partitioned(r);
    if (info == GrB_SUCCESS) {
        int64_t items = (r->plan->ordered ? 1 : r->plan->ntiles) * r->parts;
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->plan->threads)
        for (int64_t item = 0; item < items; item++) {
            if (!stopped(r))
                run_item(r, item, r->scratch + (size_t)omp_get_thread_num() * scratch_bytes(r));
        }
    }
    ftb_delete(r->scratch);
    ftb_partition_release(r->partition);
    return info;
}

/* ---- direct */

/* The direct form has no padding, so its tiles are of exactly so many vectors as there are kernels for. */
static tile next_tile(const run *r, int64_t first)
{
    int64_t left = r->features - first, most = ftb_max(r->plan->tile / r->lanes, 1);
    tile t = {first, 0, 1};
    int vectors = (int)ftb_min((left + r->lanes - 1) / r->lanes, ftb_min(most, FTB_SPMM_VECTORS));
    for (t.vectors = vectors; ftb_spmm_round_vectors(t.vectors) != t.vectors;)
        t.vectors--;
    t.features = ftb_min((int64_t)t.vectors * r->lanes, left);
    return t;
}

static ftb_spmm_row one_feature(const ftb_spmm_product *p, bool far)
{
    const bool one = p->heads * p->width == 1 && p->ldx == 1;
    return one ? FTB_PICK(ftb_spmv)(&p->kind, far) : NULL;
}

/* It decides in which order sums are taken, and so depends on the product alone. */
static bool far_sources(const ftb_spmm_product *p)
{
    return p->p->ncols * (int64_t)FtB_Type_size(p->kind.type) > FAR_BYTES;
}

ftb_spmm_sums ftb_spmm_sums_of(const ftb_spmm_product *p)
{
    const ftb_spmm_row near = one_feature(p, false);
    if (!near)
        return FTB_SUMS_PLAIN;
    return far_sources(p) && one_feature(p, true) != near ? FTB_SUMS_ORDERED : FTB_SUMS_LANES;
}

ftb_spmm_slices ftb_spmm_slices_of(const ftb_spmm_product *p)
{
    int64_t pitch;
    if (p->rows || p->kind.form != FTB_FORM_COPY ||
        !ftb_spmm_sliced(p->kind.type, p->kind.best, p->heads * p->width, &pitch))
        return FTB_NO_SLICES;
    const bool reals = p->kind.type != FTB_INT64 && !p->kind.best;
    return reals && ftb_spmm_sums_of(p) == FTB_SUMS_LANES ? FTB_SLICES_ASKED : FTB_SLICES;
}

static void run_rows(const run *r, ftb_spmm_rows *rows, const tile *t)
{
    const ftb_spmm_product *p = r->product;
    rows->x = (const char *)p->x + (size_t)t->first * r->size;
    rows->out = (char *)p->out + (size_t)t->first * r->size;
    rows->tail = (int)(t->features - (int64_t)(t->vectors - 1) * r->lanes);
    rows->message = message_of(r, t);
    ftb_spmm_row vector = one_feature(p, far_sources(p));
    (vector ? vector : FTB_PICK_OF(r->isa, ftb_spmm_direct)(r->which, t->vectors))(rows);
}

static ftb_spmm_rows rows_of(const run *r)
{
    const ftb_spmm_product *p = r->product;
    return (ftb_spmm_rows){.rowptr = p->p->rowptr,
                           .colidx = p->p->colidx,
                           .nvals = p->p->nvals,
                           .rows = p->rows,
                           .ldx = p->ldx,
                           .ldo = p->ldo,
                           .ahead = r->plan->ahead};
}

static int64_t row_at(const run *r, int64_t at) { return r->product->rows ? r->product->rows[at] : at; }

static void run_range(const run *r, int64_t first, int64_t last)
{
    ftb_spmm_rows rows = rows_of(r);
    const int64_t near = next_tile(r, 0).features < r->features ? NEAR_ROWS : last - first;
    for (int64_t from = first; from < last; from += near)
        for (int64_t f = 0; f < r->features;) {
            tile t = next_tile(r, f);
            rows.first = from;
            rows.last = ftb_min(from + near, last);
            run_rows(r, &rows, &t);
            for (int64_t at = rows.first; at < rows.last; at++)
                divide_rows(r->product, t.first, t.features, row_at(r, at), row_at(r, at) + 1);
            f += t.features;
        }
}

static bool is_hub(const run *r, int64_t i)
{
    const int64_t *rowptr = r->product->p->rowptr;
    return (rowptr[i + 1] - rowptr[i]) >> FTB_SPMM_HUB > 0;
}

/* Rows [first, last), or places in the list of rows, but for hubs, which are noted. */
static void run_block(run *r, int64_t first, int64_t last)
{
    const int64_t *rows = r->product->rows;
    for (int64_t t = first; r->hubs && t < last; t++) {
        int64_t i = rows ? rows[t] : t;
        if (!is_hub(r, i))
            continue;
        run_range(r, first, t);
        r->hubs[atomic_fetch_add(&r->nhubs, 1)] = i;
        first = t + 1;
    }
    run_range(r, first, last);
}

/* One vector of a hub's features. */
static void run_hub(const run *r, int64_t i, int64_t vector)
{
    ftb_spmm_rows rows = rows_of(r);
    tile t = {vector * r->lanes, ftb_min(r->lanes, r->features - vector * r->lanes), 1};
    rows.rows = NULL;
    rows.first = i;
    rows.last = i + 1;
    run_rows(r, &rows, &t);
    divide_rows(r->product, t.first, t.features, i, i + 1);
}

static GrB_Info prepare_direct(run *r)
{
    const ftb_pattern *p = r->product->p;
    const int64_t most = p->nvals >> FTB_SPMM_HUB;
    if (most == 0 || r->plan->threads == 1 || r->features <= r->lanes)
        return GrB_SUCCESS;
    r->hubs = ftb_new(r->product->ctx, most, sizeof *r->hubs);
    return r->hubs ? GrB_SUCCESS : ftb_nomem();
}

static void run_share(run *r, int64_t b, int64_t blocks)
{
    const ftb_spmm_product *p = r->product;
    if (p->rows) {
        int64_t first = b * LISTED_ROWS, last = ftb_min(first + LISTED_ROWS, p->nlisted);
        run_block(r, first, last);
        for (int64_t t = first; t < last; t++)
            fill_empty(p, 0, r->features, p->rows[t], p->rows[t] + 1);
    } else {
        int64_t first = ftb_pattern_cut(p->p, b, blocks), last = ftb_pattern_cut(p->p, b + 1, blocks);
        run_block(r, first, last);
        fill_empty(p, 0, r->features, first, last);
    }
}

static GrB_Info run_direct(run *r)
{
    const ftb_spmm_product *p = r->product;
    int64_t work = p->p->nvals + p->p->nrows, vectors = (r->features + r->lanes - 1) / r->lanes;
    int64_t blocks = p->rows ? p->nlisted / LISTED_ROWS + 1 : work / BLOCK_WORK + 1;
    GrB_Info info = prepare_direct(r);
    if (info != GrB_SUCCESS)
        return info;
#pragma omp parallel num_threads(r->plan->threads)
    {
#pragma omp for schedule(dynamic, 1)
        for (int64_t b = 0; b < blocks; b++)
            if (!stopped(r))
                run_share(r, b, blocks);
        const int64_t items = r->nhubs * vectors;
#pragma omp for schedule(dynamic, 1)
        for (int64_t h = 0; h < items; h++)
            if (!stopped(r))
                run_hub(r, r->hubs[h / vectors], h % vectors);
    }
    ftb_delete(r->hubs);
    return GrB_SUCCESS;
}

static GrB_Info run_kernels(const ftb_spmm_product *product, const ftb_spmm_plan *plan)
{
    const int64_t features = product->heads * product->width;
    const int isa = ftb_isa_for(features * (int64_t)FtB_Type_size(product->kind.type));
    run r = {.product = product,
             .plan = plan,
             .which = ftb_spmm_find(&product->kind),
             .isa = isa,
             .lanes = FTB_PICK_OF(isa, ftb_spmm_lanes)(product->kind.type),
             .size = FtB_Type_size(product->kind.type),
             .features = features};
    GrB_Info info = plan->family == FTB_SPMM_PARTITIONED ? run_partitioned(&r)
                    : plan->family == FTB_SPMM_SLICED    ? ftb_spmm_sliced_run(product, plan)
                                                         : run_direct(&r);
    if (info == GrB_SUCCESS && stopped(&r))
        info = ftb_fail(FTB_CANCELLED, "cancelled");
    return info;
}

void ftb_add_rows(const ftb_pattern *p, void *out, int64_t ldo, const void *more, int64_t count,
                  FtB_Type type, int threads)
{
    const size_t size = FtB_Type_size(type);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p->nrows; i++)
        if (p->rowptr[i] < p->rowptr[i + 1])
            ftb_monoid_apply(FTB_PLUS, type, (char *)out + (size_t)(i * ldo) * size,
                             (const char *)more + (size_t)(i * count) * size, count);
}

GrB_Info ftb_spmm_run(const ftb_spmm_product *product, const ftb_spmm_plan *plan)
{
    const int64_t features = product->heads * product->width;
    ftb_spmm_operands o;
    void *aside = NULL;
    if (features == 0 || product->p->nrows == 0)
        return GrB_SUCCESS;
    GrB_Info info = ftb_spmm_operands_take(&o, product, plan);
    if (info == GrB_SUCCESS && product->add) {
        aside =
            ftb_new(product->ctx, product->p->nrows, (size_t)features * FtB_Type_size(product->kind.type));
        o.product.out = aside;
        o.product.ldo = features;
        o.product.empty = FTB_EMPTY_ANYTHING;
        info = aside ? info : ftb_nomem();
    }
    if (info == GrB_SUCCESS)
        info = run_kernels(&o.product, plan);
    if (info == GrB_SUCCESS && product->add)
        ftb_add_rows(product->p, product->out, product->ldo, aside, features, product->kind.type,
                     plan->threads);
    ftb_delete(aside);
    ftb_spmm_operands_clear(&o);
    return info;
}
