/* A walk of an attention kernel over a pattern: rows as they lie, or segments of sources packed to stay in
 * L2, some heads after the others where that makes segments large enough (heads do not meet). */
#include "cpu/attention_walk.h"
#include "core/partition.h"

#include <omp.h>

#define VISITS 128 /* of a step in parallel */
#define PARTS_PER_THREAD 32

typedef void (*attention_kernel)(const ftb_attention_job *a, int64_t first, int64_t last, void *scratch,
                                 void *arg);

static attention_kernel pick(const ftb_attention_walk *w)
{
    if (w->job.backward)
        return FTB_PICK_REAL(ftb_attention_grad, w->type);
    return FTB_PICK_REAL(ftb_attention, w->type);
}

/* Whether the kernels take heads one after the other, sixteen entries at a time (cpu/kernels/head.h). With
 * dropout they do not: four heads share a draw. */
bool ftb_attention_head_by_head(const ftb_attention_job *a)
{
    return (a->add || a->width > 0) && !a->scores && !a->drop && a->value_width % FTB_LANES == 0 &&
           (a->add || a->width % FTB_LANES == 0);
}

static const void *shift(const void *p, int64_t values, FtB_Type type)
{
    return p ? (const char *)p + (size_t)values * FtB_Type_size(type) : NULL;
}

static void *shift_out(void *p, int64_t values, FtB_Type type)
{
    return p ? (char *)p + (size_t)values * FtB_Type_size(type) : NULL;
}

ftb_attention_job ftb_attention_job_of(const ftb_attention_walk *w, int64_t first, int64_t count)
{
    ftb_attention_job a = w->job;
    FtB_Type type = w->type;
    a.heads = count;
    a.first_head += first;
    a.y = shift(a.y, first * a.width, type);
    a.y_values = shift(a.y_values, first * a.value_width, type);
    a.most = shift_out(a.most, first, type);
    a.sum = shift_out(a.sum, first, type);
    a.acc = shift_out(a.acc, first * a.value_width, type);
    a.grad = shift_out(a.grad, first * a.width, type);
    a.lse = shift(a.lse, first, type);
    a.delta = shift(a.delta, first, type);
    return a;
}

ftb_padded ftb_attention_heads_of(const ftb_padded *p, int64_t first, int64_t count)
{
    ftb_padded part = *p;
    if (p->heads == 0)
        return part;
    part.heads = count;
    if (p->feed.heads > 1) {
        part.feed.data =
            (const char *)p->feed.data + (size_t)(first * p->feed.width) * FtB_Type_size(p->feed.type);
        part.feed.heads = count;
    }
    return part;
}

static void run_some_heads(const ftb_attention_walk *w, int64_t first, int64_t count, char *scratch,
                           size_t room)
{
    const ftb_pattern *p = w->p;
    ftb_attention_job a = ftb_attention_job_of(w, first, count);
    a.visits = (ftb_visits){.start = p->rowptr, .column = p->colidx, .column_size = p->wide ? 8 : 4};
    a.x = shift(w->x.data, first * w->job.width, w->type);
    a.xld = w->x.ld;
    a.x_values = shift(w->x_values.data, first * w->job.value_width, w->type);
    a.x_values_ld = w->x_values.ld;
    attention_kernel kernel = pick(w);
    int64_t parts = (int64_t)w->threads * PARTS_PER_THREAD;
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
    for (int64_t part = 0; part < parts; part++)
        if (!ftb_cancelled(w->ctx))
            kernel(&a, ftb_pattern_cut(p, part, parts), ftb_pattern_cut(p, part + 1, parts),
                   scratch + (size_t)omp_get_thread_num() * room,
                   w->args ? w->args[omp_get_thread_num()] : NULL);
}

static GrB_Info run_rows(ftb_attention_walk *w, char *scratch, size_t room)
{
    const ftb_pattern *p = w->p;
    GrB_Info info = ftb_padded_all(&w->x_values, w->ctx, p->ncols, w->threads);
    if (info == GrB_SUCCESS && w->x.heads)
        info = ftb_padded_all(&w->x, w->ctx, p->ncols, w->threads);
    if (info != GrB_SUCCESS)
        return info;
    /* Where all sources stay in L2, heads come one after the other as well. */
    int64_t heads = w->job.heads, row = ftb_padded_row(&w->x) + ftb_padded_row(&w->x_values);
    const ftb_machine_facts *machine =
        ftb_deterministic(w->ctx) ? ftb_machine_standard() : ftb_machine_here();
    bool small = p->ncols * row * (int64_t)FtB_Type_size(w->type) <= machine->l2;
    int64_t tile = small && ftb_attention_head_by_head(&w->job) ? 1 : heads;
    for (int64_t first = 0; first < heads; first += tile)
        run_some_heads(w, first, tile, scratch, room);
    return ftb_check_cancelled(w->ctx);
}

/* `count` values of each of `rows` rows, put together. */
static const void *pack_state(const void *from, char *to, int64_t rows, int64_t ld, int64_t count,
                              size_t size)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(to + (size_t)(i * count) * size, (const char *)from + (size_t)(i * ld) * size,
               (size_t)count * size);
    return to;
}

static void run_segment(const ftb_attention_walk *w, const ftb_partition *q, int64_t segment,
                        ftb_attention_job a, const ftb_padded *x, const ftb_padded *x_values, char *packed,
                        char *scratch, size_t room)
{
    int64_t begin = segment * q->width, rows = ftb_min(q->width, w->p->ncols - begin);
    int64_t visit = q->segment[segment], last = q->segment[segment + 1];
    if (visit == last)
        return;
    size_t size = FtB_Type_size(w->type), stride = (size_t)q->width * size;
    a.x_values = packed;
    a.x_values_ld = ftb_padded_row(x_values);
    ftb_padded_pack_all(x_values, packed, begin, rows, 0, a.x_values_ld, w->threads);
    packed += stride * (size_t)a.x_values_ld;
    if (x->heads) {
        a.x = packed;
        a.xld = ftb_padded_row(x);
        ftb_padded_pack_all(x, packed, begin, rows, 0, a.xld, w->threads);
        packed += stride * (size_t)a.xld;
    }
    a.visits = (ftb_visits){
        .row = q->row, .start = q->start, .entry = q->entry, .column = q->column, .column_size = 2};
    if (a.by_source) {
        a.lse = pack_state(shift(a.lse, begin * a.lse_ld, w->type), packed, rows, a.lse_ld, a.heads, size);
        packed += stride * (size_t)a.heads;
        a.delta =
            pack_state(shift(a.delta, begin * a.lse_ld, w->type), packed, rows, a.lse_ld, a.heads, size);
        a.lse_ld = a.heads;
    }
    attention_kernel kernel = pick(w);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
    for (int64_t v = visit; v < last; v += VISITS)
        if (!ftb_cancelled(w->ctx))
            kernel(&a, v, ftb_min(v + VISITS, last), scratch + (size_t)omp_get_thread_num() * room,
                   w->args ? w->args[omp_get_thread_num()] : NULL);
}

static GrB_Info run_segments(ftb_attention_walk *w, const ftb_sddmm_plan *plan, char *scratch, size_t room)
{
    ftb_partition *q = NULL;
    int64_t size = (int64_t)FtB_Type_size(w->type), heads = w->job.heads;
    int64_t one = ((w->x.heads ? w->job.width : 0) + w->job.value_width) * size;
    int64_t states = w->job.by_source ? 2 * size : 0; /* lse and delta of sources are packed as well */
    int64_t tile = ftb_max(1, ftb_min(heads, plan->tile / one));
    char *packed = NULL;
    GrB_Info info = ftb_partition_get(&q, w->p, plan->segment);
    if (info == GrB_SUCCESS && !(packed = ftb_new(w->ctx, plan->segment, (size_t)(tile * (one + states)))))
        info = ftb_nomem();
    for (int64_t first = 0; first < heads && info == GrB_SUCCESS; first += tile) {
        int64_t count = ftb_min(tile, heads - first);
        ftb_attention_job a = ftb_attention_job_of(w, first, count);
        ftb_padded x = ftb_attention_heads_of(&w->x, first, count),
                   x_values = ftb_attention_heads_of(&w->x_values, first, count);
        for (int64_t segment = 0; segment < q->nsegments && info == GrB_SUCCESS; segment++) {
            run_segment(w, q, segment, a, &x, &x_values, packed, scratch, room);
            double done = (double)q->start[q->segment[segment + 1]];
            info = ftb_progress(w->ctx, done * (double)count + (double)w->p->nvals * (double)first,
                                (double)w->p->nvals * (double)heads, "entries x heads");
        }
    }
    ftb_delete(packed);
    ftb_partition_release(q);
    return info;
}

GrB_Info ftb_attention_walk_run(ftb_attention_walk *w, const ftb_sddmm_plan *plan)
{
    size_t room = (size_t)ftb_attention_scratch(w->job.heads) * FtB_Type_size(w->type);
    room = (room + 63) / 64 * 64;
    char *scratch = ftb_new(w->ctx, w->threads, room);
    if (!scratch)
        return ftb_nomem();
    GrB_Info info = w->fours        ? ftb_attention_run_fours(w, plan)
                    : plan->segment ? run_segments(w, plan, scratch, room)
                                    : run_rows(w, scratch, room);
    ftb_delete(scratch);
    ftb_padded_clear(&w->x);
    ftb_padded_clear(&w->x_values);
    return info;
}
