/* Dot products on the entries of a pattern: plan, lay out rows, run kernels.
 *
 * With segments, a thread takes a part of the rows and walks through all segments of sources, which it packs
 * into memory of its own that stays in its L2; parts are so short that their rows come from L3 (rand-100k, d
 * = 128: 0.41 s, from memory 0.49 s), and a tile of features comes after the other where rows are long. The
 * bits of a result are those of the kernel's fixed order, whatever the segments, tiles, parts and threads. */
#include "ops/sddmm.h"

#include "core/partition.h"
#include "cpu/sddmm.h"
#include "expr/hoist.h"
#include "ops/merge.h"
#include "ops/padded.h"
#include "ops/plan.h"

#include <omp.h>
#include <stdatomic.h>

#define PIECE 256 /* values: a tile of features is a multiple, see lanes_dots of cpu/lanes.h */
#define PARTS_PER_THREAD 32
#define PART_BYTES (16 << 20) /* of rows: a core of a shared machine had 64 of 480 MB of L3 */

typedef struct dot_run {
    FtB_Context ctx;
    ftb_pattern *p;
    ftb_padded x, y;
    ftb_sddmm_job s;
    double scale;
    size_t size; /* of a value */
    int threads;
    bool interruptible;
} dot_run;

static bool stopped(const dot_run *r) { return r->interruptible && ftb_cancelled(r->ctx); }

static ftb_sddmm_kernel pick(const dot_run *r, int64_t width, int column_size)
{
    return r->x.type == FTB_FP32 ? FTB_PICK(ftb_sddmm_pick_f32)(r->x.heads, width, column_size)
                                 : FTB_PICK(ftb_sddmm_pick_f64)(r->x.heads, width, column_size);
}

static ftb_sddmm_facts facts_of(const dot_run *r)
{
    int64_t values = ftb_padded_row(&r->x), bytes = values * (int64_t)r->size;
    ftb_sddmm_facts facts = {.nrows = r->p->nrows,
                             .ncols = r->p->ncols,
                             .nvals = r->p->nvals,
                             .source_bytes = bytes,
                             .row_bytes = bytes,
                             .entry_bytes = r->x.heads * (int64_t)r->size,
                             .piece_bytes = r->x.heads == 1 && values > PIECE ? PIECE * (int64_t)r->size : 0,
                             .piece = PIECE,
                             .memory_left = ftb_memory_left(r->ctx),
                             .heads = r->x.heads,
                             .features = r->x.heads * r->x.feed.width,
                             .threads = r->threads,
                             .kernel = r->x.type == FTB_FP32 ? "dot_f32" : "dot_f64"};
    ftb_sddmm_degrees(&facts, r->p->rowptr, r->p->nrows);
    return facts;
}

/* Row after row, sources as they lie. */
static GrB_Info run_rows(dot_run *r)
{
    const ftb_pattern *p = r->p;
    int64_t parts = (int64_t)r->threads * PARTS_PER_THREAD;
    GrB_Info info = ftb_padded_all(&r->x, r->ctx, p->ncols, r->threads);
    if (info != GrB_SUCCESS)
        return info;
    ftb_sddmm_job s = r->s;
    s.visits = (ftb_visits){.start = p->rowptr, .column = p->colidx, .column_size = p->wide ? 8 : 4};
    s.x = r->x.data;
    s.xld = r->x.ld;
    s.scale = r->scale;
    ftb_sddmm_kernel kernel = pick(r, s.width, s.visits.column_size);
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->threads)
    for (int64_t part = 0; part < parts; part++)
        if (!stopped(r))
            kernel(&s, ftb_pattern_cut(p, part, parts), ftb_pattern_cut(p, part + 1, parts));
    return r->interruptible ? ftb_check_cancelled(r->ctx) : GrB_SUCCESS;
}

/* A walk through segments: threads take parts of the rows. */
typedef struct walk {
    const dot_run *run;
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
    const dot_run *r = w->run;
    const ftb_partition *q = w->partition;
    int64_t begin = segment * q->width, visit = ftb_partition_visit(q, segment, row0),
            last = ftb_partition_visit(q, segment, row1);
    ftb_sddmm_job s = r->s;
    if (visit == last)
        return;
    ftb_padded_pack(&r->x, packed, begin, ftb_min(q->width, r->p->ncols - begin), first, count);
    s.visits = (ftb_visits){
        .row = q->row, .start = q->start, .entry = q->entry, .column = q->column, .column_size = 2};
    s.x = packed;
    s.xld = count;
    s.y = (const char *)s.y + (size_t)first * r->size;
    s.width = count / r->x.heads;
    s.add = first > 0;
    s.scale = first + count == ftb_padded_row(&r->x) ? r->scale : 1;
    pick(r, s.width, 2)(&s, visit, last);
    atomic_fetch_add(&w->done, q->start[last] - q->start[visit]);
}

/* All tiles and segments of part n, one after the other. The calling thread's team reports from thread 0. */
static void run_part(walk *w, int64_t n)
{
    const dot_run *r = w->run;
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

static GrB_Info run_segments(dot_run *r, const ftb_sddmm_plan *plan)
{
    ftb_partition *q = NULL;
    GrB_Info info = ftb_partition_get(&q, r->p, plan->segment);
    if (info != GrB_SUCCESS)
        return info;
    walk w = {
        .run = r, .partition = q, .tile = ftb_min(plan->tile / (int64_t)r->size, ftb_padded_row(&r->x))};
    w.pack_bytes = (size_t)(ftb_min(plan->segment, r->p->ncols) * w.tile) * r->size;
    w.parts = ftb_partition_parts(q, r->p, w.tile * (int64_t)r->size, PART_BYTES);
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

/* How: by the plan that is given, or NULL; *made, if made is not NULL, becomes the plan instead of a result.
 */
typedef struct planning {
    FtB_Plan given, *made;
    FtB_Effort effort;
} planning;

static GrB_Info run_planned(void *run, const ftb_sddmm_plan *plan)
{
    dot_run *r = run;
    r->threads = plan->threads;
    GrB_Info info = plan->segment ? run_segments(r, plan) : run_rows(r);
    ftb_padded_clear(&r->x);
    return info;
}

/* The plan by trial, on a result of our own. */
static GrB_Info measure_dot(dot_run *r, ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts)
{
    int64_t count;
    if (__builtin_mul_overflow(r->p->nvals, r->x.heads, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    r->s.out = ftb_new(r->ctx, count, r->size);
    GrB_Info info = r->s.out ? ftb_sddmm_measure(plan, facts, run_planned, r, r->ctx) : ftb_nomem();
    ftb_delete(r->s.out);
    return info;
}

static GrB_Info run_dot(void *V, const ftb_score *score, const ftb_message *m, FtB_Type type, ftb_pattern *p,
                        const planning *how, bool interruptible)
{
    dot_run r = {.ctx = m->ctx,
                 .p = p,
                 .x = ftb_padded_of(score->x, m->heads, type),
                 .y = ftb_padded_of(score->y, m->heads, type),
                 .scale = score->scale,
                 .size = FtB_Type_size(type),
                 .threads = ftb_threads_for(m->ctx, p->nvals * (score->x->width * m->heads / 64 + 1)),
                 .interruptible = interruptible};
    ftb_sddmm_facts facts = facts_of(&r);
    ftb_sddmm_plan plan;
    GrB_Info info = how->effort == FTB_MEASURE ? ftb_plan_sddmm(&plan, &facts, how->given)
                                               : ftb_plan_sddmm_wisely(&plan, &facts, how->given, m->ctx);
    if (info == GrB_SUCCESS && how->made && how->effort != FTB_MEASURE)
        return ftb_plan_make_sddmm(how->made, m->ctx, &facts, &plan);
    if (info != GrB_SUCCESS)
        return info;
    FTB_CHECK(ftb_padded_all(&r.y, m->ctx, p->nrows, plan.threads));
    r.s = (ftb_sddmm_job){.heads = m->heads, .width = r.x.width, .y = r.y.data, .yld = r.y.ld, .out = V};
    if (how->made) {
        FTB_CHECK(measure_dot(&r, &plan, &facts));
        info = ftb_plan_make_sddmm(how->made, m->ctx, &facts, &plan);
    } else {
        info = run_planned(&r, &plan);
    }
done:
    ftb_padded_clear(&r.y);
    return info;
}

/* ---- sums */

bool ftb_sddmm_sums(ftb_sums_job *s, const ftb_message *m, const ftb_message_type *type, const ftb_pattern *p)
{
    ftb_score score = ftb_score_of(m, type);
    const ftb_feed *x = score.x, *y = score.y;
    if (score.kind != FTB_SCORE_ADD || x->type != type->message || y->type != type->message ||
        x->heads != m->heads || y->heads != m->heads)
        return false;
    *s = (ftb_sums_job){.rowptr = p->rowptr,
                        .column = p->colidx,
                        .column_size = p->wide ? 8 : 4,
                        .heads = m->heads,
                        .x = x->data,
                        .y = y->data,
                        .xld = x->ld,
                        .yld = y->ld,
                        .slope = score.slope};
    return true;
}

static GrB_Info run_sums(void *V, ftb_sums_job *s, FtB_Type type, const ftb_pattern *p, FtB_Context ctx,
                         bool interruptible)
{
    int threads = ftb_threads_for(ctx, p->nvals * s->heads);
    int64_t parts = (int64_t)threads * PARTS_PER_THREAD;
    s->out = V;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t part = 0; part < parts; part++) {
        int64_t first = ftb_pattern_cut(p, part, parts), last = ftb_pattern_cut(p, part + 1, parts);
        if (interruptible && ftb_cancelled(ctx))
            continue;
        if (type == FTB_FP32)
            FTB_PICK(ftb_sums_f32)(s, first, last);
        else
            FTB_PICK(ftb_sums_f64)(s, first, last);
    }
    return interruptible ? ftb_check_cancelled(ctx) : GrB_SUCCESS;
}

/* ---- any message */

static GrB_Info run_program(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                            const planning *how)
{
    ftb_sums_job sums;
    bool known = ftb_sddmm_sums(&sums, m, type, p);
    ftb_sddmm_facts facts = {.nrows = p->nrows,
                             .ncols = p->ncols,
                             .nvals = p->nvals,
                             .entry_bytes = m->heads * type->width * (int64_t)FtB_Type_size(type->message),
                             .memory_left = ftb_memory_left(m->ctx),
                             .heads = m->heads,
                             .threads = ftb_threads(m->ctx),
                             .program = true,
                             .kernel = !known                      ? "program"
                                       : type->message == FTB_FP32 ? "sum_f32"
                                                                   : "sum_f64"};
    ftb_sddmm_plan plan;
    for (int f = 0; f < m->nfeeds; f++)
        if (m->feeds[f].side == FTB_SIDE_COL && m->feeds[f].data) {
            int64_t features = m->feeds[f].heads * m->feeds[f].width;
            facts.features += features;
            facts.source_bytes += features * (int64_t)FtB_Type_size(m->feeds[f].type);
        }
    ftb_sddmm_degrees(&facts, p->rowptr, p->nrows);
    GrB_Info info = ftb_plan_sddmm(&plan, &facts, how->given);
    if (info == GrB_SUCCESS && how->made)
        return ftb_plan_make_sddmm(how->made, m->ctx, &facts, &plan);
    if (info != GrB_SUCCESS)
        return info;
    return known ? run_sums(V, &sums, type->message, p, m->ctx, true) : ftb_message_store(m, p, V);
}

static GrB_Info run_any(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                        const planning *how)
{
    ftb_hoisted h = {0};
    if (m->function || m->nfeeds + FTB_MAX_PRE > FTB_MAX_FEEDS)
        return run_program(V, m, type, p, how);
    GrB_Info info = ftb_hoist(&h, m, p, false, false, how->made && how->effort != FTB_MEASURE);
    if (info == GrB_SUCCESS) {
        bool same = h.type.message == type->message && h.type.width == type->width;
        ftb_score score = ftb_score_of(&h.core, type);
        if (same && score.kind == FTB_SCORE_DOT)
            info = run_dot(V, &score, &h.core, type->message, p, how, true);
        else
            info = run_program(V, same ? &h.core : m, type, p, how);
    }
    ftb_hoist_clear(&h);
    return info;
}

static GrB_Info run_message(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                            const planning *how)
{
    ftb_score score = ftb_score_of(m, type);
    if (score.kind == FTB_SCORE_DOT)
        return run_dot(V, &score, m, type->message, p, how, true);
    if (score.kind == FTB_SCORE_ADD)
        return run_program(V, m, type, p, how);
    return run_any(V, m, type, p, how);
}

GrB_Info ftb_sddmm_run(void *V, const ftb_message *m, const ftb_message_type *type, ftb_pattern *p,
                       FtB_Plan plan)
{
    return run_message(V, m, type, p, &(planning){.given = plan});
}

GrB_Info ftb_sddmm_make_plan(FtB_Plan *made, const ftb_message *m, const ftb_message_type *type,
                             ftb_pattern *p, FtB_Plan plan, FtB_Effort effort)
{
    return run_message(NULL, m, type, p, &(planning){plan, made, effort});
}

/* ---- where the result is */

static bool overlaps(const void *V, size_t bytes, const ftb_feed *feed)
{
    int64_t values = feed->nrows > 0 ? (feed->nrows - 1) * feed->ld + feed->heads * feed->width : 0;
    const char *begin = V, *data = feed->data;
    return data < begin + bytes && begin < data + (size_t)values * FtB_Type_size(feed->type);
}

bool ftb_sddmm_over(GrB_Info *info, void *V, const ftb_message *m, const ftb_message_type *type,
                    ftb_pattern *p, FtB_Plan plan)
{
    ftb_score score = ftb_score_of(m, type);
    size_t bytes = (size_t)(p->nvals * m->heads) * FtB_Type_size(type->message);
    ftb_sums_job sums;
    if (score.kind == FTB_SCORE_ANY || overlaps(V, bytes, score.x) || overlaps(V, bytes, score.y))
        return false;
    if (score.kind == FTB_SCORE_ADD && (plan || !ftb_sddmm_sums(&sums, m, type, p)))
        return false;
    if (score.kind == FTB_SCORE_ADD)
        *info = run_sums(V, &sums, type->message, p, m->ctx, false);
    else
        *info = run_dot(V, &score, m, type->message, p, &(planning){.given = plan}, false);
    return true;
}
