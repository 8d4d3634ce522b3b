/* Dot products and sums on the entries of a pattern: lay out rows, run kernels.
 *
 * With segments, a thread takes a part of the rows and walks through all segments of sources, which it packs
 * into memory of its own that stays in its L2; parts are so short that their rows come from L3 (rand-100k, d
 * = 128: 0.41 s, from memory 0.49 s), and a tile of features comes after the other where rows are long. The
 * bits of a result are those of the kernel's fixed order, whatever the segments, tiles, parts and threads. */
#include "cpu/sddmm_run.h"

#include "core/partition.h"
#include "cpu/kernels/sddmm_kernels.h"
#include "cpu/kernels/sddmm_sum.h"
#include "cpu/padded.h"

#include <omp.h>
#include <stdatomic.h>

#define PIECE 256 /* values: a tile of features is a multiple, see lanes_dots of cpu/kernels/lanes.h */
#define PARTS_PER_THREAD 32
#define PART_BYTES (16 << 20) /* of rows: a core of a shared machine had 64 of 480 MB of L3 */

/* Dot products: the rows, laid out as kernels want them. */
typedef struct dots {
    FtB_Context ctx;
    ftb_pattern *p;
    ftb_padded x, y; /* of one floating type and as many heads */
    double scale;
    void *out;
    int threads;
    bool interruptible;
} dots;

static dots dots_of(const ftb_sddmm_product *s, int threads)
{
    return (dots){.ctx = s->ctx,
                  .p = s->p,
                  .x = ftb_padded_of(&s->x, s->heads, s->type),
                  .y = ftb_padded_of(&s->y, s->heads, s->type),
                  .scale = s->scale,
                  .out = s->out,
                  .threads = threads,
                  .interruptible = s->interruptible};
}

static bool stopped(const dots *r) { return r->interruptible && ftb_cancelled(r->ctx); }

static size_t size_of(const dots *r) { return FtB_Type_size(r->x.type); }

static ftb_sddmm_kernel pick(const dots *r, int64_t width, int column_size)
{
    return r->x.type == FTB_FP32 ? FTB_PICK(ftb_sddmm_pick_f32)(r->x.heads, width, column_size)
                                 : FTB_PICK(ftb_sddmm_pick_f64)(r->x.heads, width, column_size);
}

ftb_sddmm_facts ftb_sddmm_facts_of(const ftb_sddmm_product *s, int threads)
{
    const ftb_padded x = ftb_padded_of(&s->x, s->heads, s->type);
    const int64_t size = (int64_t)FtB_Type_size(s->type), values = ftb_padded_row(&x);
    ftb_sddmm_facts facts = {.nrows = s->p->nrows,
                             .ncols = s->p->ncols,
                             .nvals = s->p->nvals,
                             .all_rows = s->p->all_rows,
                             .source_bytes = values * size,
                             .row_bytes = values * size,
                             .entry_bytes = s->heads * size,
                             .piece_bytes = s->heads == 1 && values > PIECE ? PIECE * size : 0,
                             .piece = PIECE,
                             .memory_left = ftb_memory_left(s->ctx),
                             .heads = s->heads,
                             .features = s->heads * s->x.width,
                             .threads = threads,
                             .kernel = s->type == FTB_FP32 ? "dot_f32" : "dot_f64"};
    facts.degrees = *ftb_pattern_degrees(s->p);
    return facts;
}

/* What kernels are told, all but visits and sources, of heads that are `width` wide. */
static ftb_sddmm_job job_of(const dots *r, int64_t width)
{
    return (ftb_sddmm_job){.heads = r->x.heads,
                           .width = width,
                           .y = r->y.data,
                           .yld = r->y.ld,
                           .scale = r->scale,
                           .out = r->out};
}

/* Row after row, sources as they lie. */
static GrB_Info run_rows(dots *r)
{
    const ftb_pattern *p = r->p;
    int64_t parts = (int64_t)r->threads * PARTS_PER_THREAD;
    GrB_Info info = ftb_padded_all(&r->x, r->ctx, p->ncols, r->threads);
    if (info != GrB_SUCCESS)
        return info;
    ftb_sddmm_job s = job_of(r, r->x.width);
    s.visits = (ftb_visits){.start = p->rowptr, .column = p->colidx, .column_size = p->wide ? 8 : 4};
    s.x = r->x.data;
    s.xld = r->x.ld;
    ftb_sddmm_kernel kernel = pick(r, s.width, s.visits.column_size);
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->threads)
    for (int64_t part = 0; part < parts; part++)
        if (!stopped(r))
            kernel(&s, ftb_pattern_cut(p, part, parts), ftb_pattern_cut(p, part + 1, parts));
    return r->interruptible ? ftb_check_cancelled(r->ctx) : GrB_SUCCESS;
}

/* A walk through segments: threads take parts of the rows. */
typedef struct walk {
    const dots *run;
    const ftb_partition *partition;
    int64_t tile, parts;
    char *packed; /* of every thread, pack_bytes apart: the segment it is at */
    size_t pack_bytes;
    _Atomic int64_t done; /* entries, once for every tile */
} walk;

/* The visits of rows row0 .. row1 - 1 to a segment, with features first .. first + count - 1. */
static void run_visits(walk *w, int64_t segment, char *packed, int64_t row0, int64_t row1, int64_t first,
                       int64_t count)
{
    const dots *r = w->run;
    const ftb_partition *q = w->partition;
    int64_t begin = segment * q->width, visit = ftb_partition_visit(q, segment, row0),
            last = ftb_partition_visit(q, segment, row1);
    ftb_sddmm_job s = job_of(r, count / r->x.heads);
    if (visit == last)
        return;
    ftb_padded_pack(&r->x, packed, begin, ftb_min(q->width, r->p->ncols - begin), first, count);
    s.visits = (ftb_visits){
        .row = q->row, .start = q->start, .entry = q->entry, .column = q->column, .column_size = 2};
    s.x = packed;
    s.xld = count;
    s.y = (const char *)s.y + (size_t)first * size_of(r);
    s.add = first > 0;
    s.scale = first + count == ftb_padded_row(&r->x) ? r->scale : 1;
    pick(r, s.width, 2)(&s, visit, last);
    atomic_fetch_add(&w->done, q->start[last] - q->start[visit]);
}

/* All tiles and segments of part n, one after the other. The calling thread's team reports from thread 0. */
static void run_part(walk *w, int64_t n)
{
    const dots *r = w->run;
    const int thread = omp_get_thread_num();
    const int64_t row = ftb_padded_row(&r->x), tiles = (row + w->tile - 1) / w->tile;
    const int64_t row0 = ftb_pattern_cut(r->p, n, w->parts), row1 = ftb_pattern_cut(r->p, n + 1, w->parts);
    char *packed = w->packed + (size_t)thread * w->pack_bytes;
    for (int64_t first = 0; first < row; first += w->tile)
        for (int64_t segment = 0; segment < w->partition->nsegments && !stopped(r); segment++) {
            run_visits(w, segment, packed, row0, row1, first, ftb_min(w->tile, row - first));
            if (r->interruptible && thread == 0)
                ftb_progress(r->ctx, (double)w->done, (double)r->p->nvals * (double)tiles, "entries");
        }
}

static GrB_Info run_segments(dots *r, const ftb_sddmm_plan *plan)
{
    ftb_partition *q = NULL;
    GrB_Info info = ftb_partition_get(&q, r->p, plan->segment);
    if (info != GrB_SUCCESS)
        return info;
    walk w = {
        .run = r, .partition = q, .tile = ftb_min(plan->tile / (int64_t)size_of(r), ftb_padded_row(&r->x))};
    w.pack_bytes = (size_t)(ftb_min(plan->segment, r->p->ncols) * w.tile) * size_of(r);
    w.parts = ftb_partition_parts(q, r->p, w.tile * (int64_t)size_of(r), PART_BYTES);
    w.parts = (w.parts + r->threads - 1) / r->threads * r->threads;
    w.packed = ftb_new(r->ctx, r->threads, w.pack_bytes);
    if (w.packed) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->threads)
        for (int64_t n = 0; n < w.parts; n++)
            run_part(&w, n);
        info = r->interruptible ? ftb_check_cancelled(r->ctx) : GrB_SUCCESS;
    } else {
        info = ftb_nomem();
    }
    ftb_delete(w.packed);
    ftb_partition_release(q);
    return info;
}

static GrB_Info run_dots(const ftb_sddmm_product *s, const ftb_sddmm_plan *plan)
{
    dots r = dots_of(s, plan->threads);
    GrB_Info info = ftb_padded_all(&r.y, r.ctx, r.p->nrows, r.threads);
    if (info == GrB_SUCCESS)
        info = plan->segment ? run_segments(&r, plan) : run_rows(&r);
    ftb_padded_clear(&r.x);
    ftb_padded_clear(&r.y);
    return info;
}

/* ---- sums */

static GrB_Info run_sums(const ftb_sddmm_product *r)
{
    const ftb_pattern *p = r->p;
    int threads = ftb_threads_for(r->ctx, p->nvals * r->heads);
    int64_t parts = (int64_t)threads * PARTS_PER_THREAD;
    const ftb_sums_job s = {.rowptr = p->rowptr,
                            .column = p->colidx,
                            .column_size = p->wide ? 8 : 4,
                            .heads = r->heads,
                            .x = r->x.data,
                            .y = r->y.data,
                            .xld = r->x.ld,
                            .yld = r->y.ld,
                            .slope = r->slope,
                            .out = r->out};
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t part = 0; part < parts; part++) {
        int64_t first = ftb_pattern_cut(p, part, parts), last = ftb_pattern_cut(p, part + 1, parts);
        if (r->interruptible && ftb_cancelled(r->ctx))
            continue;
        if (r->type == FTB_FP32)
            FTB_PICK(ftb_sums_f32)(&s, first, last);
        else
            FTB_PICK(ftb_sums_f64)(&s, first, last);
    }
    return r->interruptible ? ftb_check_cancelled(r->ctx) : GrB_SUCCESS;
}

GrB_Info ftb_sddmm_run(const ftb_sddmm_product *product, const ftb_sddmm_plan *plan)
{
    return product->kind == FTB_SCORE_DOT ? run_dots(product, plan) : run_sums(product);
}
