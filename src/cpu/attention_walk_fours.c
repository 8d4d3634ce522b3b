/* A walk of attention over segments of sources, four heads of sixteen features together, forward
 * (cpu/kernels/attention_fours.c) or for gradients (attention_grad_fours.c).
 *
 * A part of the rows goes through all segments before the next, so that its state comes from L3. */
#include "cpu/kernels/attention_fours.h"

#include "core/partition.h"
#include "cpu/attention_walk.h"

#define HEADS 4
#define VISITS 128            /* of a step in parallel */
#define ROWS 16               /* of a step of packing */
#define STATES 256            /* of a step in parallel */
#define PART_BYTES (24 << 20) /* of state: a core of a shared machine had 64 of 480 MB of L3 */

typedef void (*range_kernel)(const ftb_fours_job *f, int64_t first, int64_t last);

/* What is done with states and visits, and how large rows are. */
typedef struct fours_kind {
    range_kernel begin, visit, end;
    int64_t source;      /* values of a source's row */
    int64_t state_bytes; /* of a row */
} fours_kind;

typedef struct fours_run {
    const ftb_attention_walk *w;
    fours_kind kind;
    const ftb_partition *q;
    float *packed, *state;
    ftb_attention_job a; /* of four heads */
    ftb_fours_job job;
    ftb_padded x, x_values;
    int64_t rows; /* of a part */
} fours_run;

int64_t ftb_attention_together(const ftb_attention_job *job, FtB_Type type)
{
    bool fits = !job->add && !job->scores && job->width == FTB_LANES && job->value_width == FTB_LANES &&
                job->heads % HEADS == 0;
    return fits && type == FTB_FP32 ? HEADS : 1;
}

static fours_kind kind_of(const ftb_attention_job *a)
{
    const int64_t value = sizeof(float);
    if (!a->backward)
        return (fours_kind){FTB_PICK(ftb_fours_begin), FTB_PICK(ftb_attention_fours), FTB_PICK(ftb_fours_end),
                            2 * FTB_FOURS, FTB_FOURS_STATE * value};
    return (fours_kind){FTB_PICK(ftb_fours_grad_begin), FTB_PICK(ftb_attention_grad_fours),
                        FTB_PICK(ftb_fours_grad_end), a->by_source ? FTB_FOURS_SOURCE : 2 * FTB_FOURS,
                        FTB_FOURS_GRAD_STATE * value};
}

/* Keys and values of a segment's sources, mixed. */
static void pack(const fours_run *r, int64_t begin, int64_t rows)
{
    const int64_t ld = r->kind.source;
#pragma omp parallel for schedule(static) num_threads(r->w->threads)
    for (int64_t i = 0; i < rows; i += ROWS) {
        float some[ROWS * FTB_FOURS];
        int64_t n = ftb_min(ROWS, rows - i);
        float *to = r->packed + i * ld;
        ftb_padded_pack(&r->x, some, begin + i, n, 0, FTB_FOURS);
        FTB_PICK(ftb_fours_mix)(to, ld, some, FTB_FOURS, n);
        ftb_padded_pack(&r->x_values, some, begin + i, n, 0, FTB_FOURS);
        FTB_PICK(ftb_fours_mix)(to + FTB_FOURS, ld, some, FTB_FOURS, n);
        if (r->a.by_source)
            FTB_PICK(ftb_fours_less)(to + 2 * FTB_FOURS, ld, &r->a, begin + i, n);
    }
}

/* Visits of rows row0 .. row1 - 1 to a segment; how many entries they have. */
static int64_t run_visits(const fours_run *r, int64_t segment, int64_t row0, int64_t row1)
{
    const ftb_partition *q = r->q;
    int64_t begin = segment * q->width, first = ftb_partition_visit(q, segment, row0);
    int64_t last = ftb_partition_visit(q, segment, row1);
    if (first == last)
        return 0;
    pack(r, begin, ftb_min(q->width, r->w->p->ncols - begin));
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->w->threads)
    for (int64_t v = first; v < last; v += VISITS)
        if (!ftb_cancelled(r->w->ctx))
            r->kind.visit(&r->job, v, ftb_min(v + VISITS, last));
    return q->start[last] - q->start[first];
}

/* *done: entries, of all heads. */
static GrB_Info run_part(fours_run *r, int64_t row0, int64_t row1, double *done)
{
    const ftb_attention_walk *w = r->w;
    GrB_Info info = GrB_SUCCESS;
    r->job.first_row = row0;
#pragma omp parallel for schedule(static) num_threads(w->threads)
    for (int64_t i = row0; i < row1; i += STATES)
        r->kind.begin(&r->job, i, ftb_min(i + STATES, row1));
    for (int64_t segment = 0; segment < r->q->nsegments && info == GrB_SUCCESS; segment++) {
        *done += (double)(run_visits(r, segment, row0, row1) * HEADS);
        info = ftb_progress(w->ctx, *done, (double)w->p->nvals * (double)w->job.heads, "entries x heads");
    }
#pragma omp parallel for schedule(static) num_threads(w->threads)
    for (int64_t i = row0; i < row1; i += STATES)
        r->kind.end(&r->job, i, ftb_min(i + STATES, row1));
    return info;
}

GrB_Info ftb_attention_run_fours(ftb_attention_walk *w, const ftb_sddmm_plan *plan)
{
    const int64_t nrows = w->p->nrows;
    fours_run r = {.w = w, .kind = kind_of(&w->job)};
    ftb_partition *q = NULL;
    double done = 0;
    GrB_Info info = ftb_partition_get(&q, w->p, plan->segment);
    if (info != GrB_SUCCESS)
        goto done;
    r.q = q;
    const int64_t parts = ftb_partition_parts(q, w->p, r.kind.state_bytes, PART_BYTES);
    r.rows = ftb_max(1, (nrows + parts - 1) / parts);
    r.packed = ftb_new(w->ctx, plan->segment, (size_t)r.kind.source * sizeof(float));
    r.state = r.packed ? ftb_new(w->ctx, r.rows, (size_t)r.kind.state_bytes) : NULL;
    if (!r.state) {
        info = ftb_nomem();
        goto done;
    }
    for (int64_t h = 0; h < w->job.heads; h += HEADS) {
        r.a = ftb_attention_job_of(w, h, HEADS);
        r.a.visits = (ftb_visits){
            .row = q->row, .start = q->start, .entry = q->entry, .column = q->column, .column_size = 2};
        r.job = (ftb_fours_job){.a = &r.a, .x = r.packed, .state = r.state};
        r.x = ftb_attention_heads_of(&w->x, h, HEADS);
        r.x_values = ftb_attention_heads_of(&w->x_values, h, HEADS);
        for (int64_t row0 = 0; row0 < nrows && info == GrB_SUCCESS; row0 += r.rows)
            info = run_part(&r, row0, ftb_min(row0 + r.rows, nrows), &done);
        if (info != GrB_SUCCESS)
            goto done;
    }
done:
    ftb_delete(r.state);
    ftb_delete(r.packed);
    ftb_partition_release(q);
    return info;
}
