/* Runs a product: chunks of rows on threads, delivered to the sink in order, while others are computed.
 *
 * A fixed pool of chunk buffers, one more than threads, bounds memory and keeps pages warm. A thread takes
 * a buffer, then the next chunk number, so the chunk that is due always has a buffer and nothing can
 * block. Who finishes the chunk that is due delivers it, and all that follow it ready. */
#include "cpu/spgemm_run.h"
#include "core/floats.h"

#include <omp.h>

/* ---- schedule */

void ftb_spgemm_chunks_free(ftb_spgemm_chunks *s)
{
    ftb_delete(s->row);
    ftb_delete(s->before);
    s->row = NULL;
    s->before = NULL;
}

/* Most entries that row i can have when stored. */
static int64_t row_room(const ftb_spgemm_form *form, const int64_t *row_products, int64_t i)
{
    if (form->product->keep_rows && !form->product->keep_rows[i])
        return 0;
    return ftb_min(row_products[i], form->p.nids);
}

GrB_Info ftb_spgemm_chunks_make(ftb_spgemm_chunks *s, const ftb_spgemm_form *form,
                                const int64_t *row_products)
{
    const ftb_spgemm_plan *plan = &form->plan;
    const ftb_spgemm_facts *facts = &form->product->facts;
    const int64_t nrows = form->p.nrows, most_rows = ftb_spgemm_chunk_rows(plan);
    const int64_t most_entries = ftb_max(plan->chunk_bytes / ftb_spgemm_entry_bytes(facts), 1);
    *s = (ftb_spgemm_chunks){0};
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        int64_t rows = 0, entries = 0, count = 0;
        double products = 0, total = 0;
        for (int64_t i = 0; i < nrows; i++) {
            int64_t room = row_room(form, row_products, i);
            double p = room > 0 ? (double)row_products[i] : 0;
            if (rows > 0 && (rows >= most_rows || entries + room > most_entries ||
                             products + p > (double)plan->chunk_products)) {
                count++;
                rows = entries = 0;
                products = 0;
            }
            if (rows == 0 && pass == 1) {
                s->row[count] = i;
                s->before[count] = total;
            }
            rows++;
            entries += room;
            products += p;
            total += p;
            s->room = ftb_max(s->room, entries);
            s->rows = ftb_max(s->rows, rows);
        }
        s->count = count + (rows > 0);
        if (pass == 0) {
            s->row = ftb_new(form->product->ctx, s->count + 1, sizeof *s->row);
            s->before = ftb_new(form->product->ctx, s->count + 1, sizeof *s->before);
            if (!s->row || !s->before) {
                ftb_spgemm_chunks_free(s);
                return ftb_nomem();
            }
        } else {
            s->row[s->count] = nrows;
            s->before[s->count] = total;
        }
    }
    return GrB_SUCCESS;
}

/* ---- pipeline */

typedef struct slot {
    ftb_chunk chunk;
    int64_t number; /* of the chunk it holds, -1: free */
    bool ready;
} slot;

typedef struct crew { /* shared by the threads of one run */
    const ftb_pipeline *line;
    ftb_worker **worker;
    slot *slots;
    int nslots;
    int64_t next, due; /* chunk to take, chunk to deliver */
    bool delivering;
    GrB_Info info;
    char message[512];
    pthread_mutex_t lock;
    pthread_cond_t freed;
} crew;

static void stop_crew(crew *c, GrB_Info info) /* with the lock held */
{
    if (c->info == GrB_SUCCESS) {
        c->info = info;
        snprintf(c->message, sizeof c->message, "%s", FtB_error());
    }
    pthread_cond_broadcast(&c->freed);
}

/* A free buffer and the next chunk for it; NULL when there is nothing left to do. */
static slot *take_chunk(crew *c)
{
    slot *taken = NULL;
    pthread_mutex_lock(&c->lock);
    while (c->info == GrB_SUCCESS && c->next < c->line->schedule->count && !taken) {
        for (int s = 0; s < c->nslots && !taken; s++)
            if (c->slots[s].number < 0)
                taken = &c->slots[s];
        if (!taken)
            pthread_cond_wait(&c->freed, &c->lock);
    }
    if (taken && c->info == GrB_SUCCESS && c->next < c->line->schedule->count) {
        taken->number = c->next++;
        taken->ready = false;
    } else {
        taken = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    return taken;
}

static GrB_Info fill_chunk(crew *c, slot *s, ftb_worker *w)
{
    const ftb_pipeline *line = c->line;
    ftb_chunk *chunk = &s->chunk;
    size_t index = ftb_index_wide(line->form) ? 8 : 4;
    size_t entry = FtB_Type_size(line->type) * (size_t)line->width;
    int64_t last = line->schedule->row[s->number + 1], n = 0;
    chunk->row0 = line->schedule->row[s->number];
    chunk->nrows = last - chunk->row0;
    chunk->rowptr[0] = 0;
    for (int64_t i = chunk->row0; i < last; i++) {
        if (ftb_cancelled(line->form->product->ctx))
            return GrB_SUCCESS; /* reported by the delivery's progress call */
        w->stats = line->counts ? &chunk->stats[i - chunk->row0] : NULL;
        w->winners = chunk->winners ? chunk->winners + n : NULL;
        n += line->make(line->state, w, i, (char *)chunk->cols + (size_t)n * index,
                        (char *)chunk->values + (size_t)n * entry);
        chunk->rowptr[i - chunk->row0 + 1] = n;
    }
    chunk->nvals = n;
    return line->chunk ? line->chunk(line->state, w, chunk) : GrB_SUCCESS;
}

static GrB_Info deliver_one(crew *c, const slot *s)
{
    const ftb_pipeline *line = c->line;
    const ftb_spgemm_chunks *schedule = line->schedule;
    GrB_Info info = ftb_progress(line->form->product->ctx, schedule->before[s->number + 1],
                                 schedule->before[schedule->count], "products");
    if (info == GrB_SUCCESS && line->deliver)
        info = line->deliver(line->state, &s->chunk);
    return info;
}

/* Marks a chunk ready; delivers what is due unless another thread is at it. */
static void hand_over(crew *c, slot *done)
{
    pthread_mutex_lock(&c->lock);
    done->ready = true;
    while (!c->delivering && c->info == GrB_SUCCESS) {
        slot *s = NULL;
        for (int t = 0; t < c->nslots; t++)
            if (c->slots[t].ready && c->slots[t].number == c->due)
                s = &c->slots[t];
        if (!s)
            break;
        c->delivering = true;
        pthread_mutex_unlock(&c->lock);
        GrB_Info info = deliver_one(c, s);
        pthread_mutex_lock(&c->lock);
        c->delivering = false;
        s->number = -1;
        s->ready = false;
        c->due++;
        if (info != GrB_SUCCESS)
            stop_crew(c, info);
        pthread_cond_broadcast(&c->freed);
    }
    pthread_mutex_unlock(&c->lock);
}

static void work(crew *c, ftb_worker *w)
{
    fenv_t callers;
    ftb_floats_begin(&callers);
    for (slot *s = take_chunk(c); s; s = take_chunk(c)) {
        GrB_Info info = fill_chunk(c, s, w);
        if (info != GrB_SUCCESS) {
            pthread_mutex_lock(&c->lock);
            stop_crew(c, info);
            pthread_mutex_unlock(&c->lock);
            break;
        }
        hand_over(c, s);
    }
    ftb_floats_end(&callers);
}

static GrB_Info make_crew(crew *c, int threads)
{
    const ftb_pipeline *line = c->line;
    FtB_Context ctx = line->form->product->ctx;
    size_t index = ftb_index_wide(line->form) ? 8 : 4;
    size_t entry = FtB_Type_size(line->type) * (size_t)ftb_max(line->width, 1);
    c->nslots = FTB_CHUNKS_IN_FLIGHT(threads);
    c->slots = ftb_new0(ctx, c->nslots, sizeof *c->slots);
    c->worker = ftb_new0(ctx, threads, sizeof *c->worker);
    if (!c->slots || !c->worker)
        return ftb_nomem();
    for (int s = 0; s < c->nslots; s++) {
        ftb_chunk *chunk = &c->slots[s].chunk;
        c->slots[s].number = -1;
        /* counted rows are made one over the other */
        chunk->room = line->counts ? ftb_min(line->form->product->facts.longest_row, line->form->p.nids)
                                   : line->schedule->room;
        chunk->rowptr = ftb_new(ctx, line->schedule->rows + 1, sizeof *chunk->rowptr);
        chunk->cols = ftb_new(ctx, chunk->room + FTB_SWEEP_ROOM, index);
        chunk->values = ftb_new(ctx, chunk->room + FTB_SWEEP_ROOM, entry);
        const bool winners = line->form->product->winners != NULL;
        if (line->counts)
            chunk->stats = ftb_new(ctx, line->schedule->rows, sizeof *chunk->stats);
        if (winners)
            chunk->winners = ftb_new(ctx, chunk->room, sizeof *chunk->winners);
        if (!chunk->rowptr || !chunk->cols || !chunk->values || (line->counts && !chunk->stats) ||
            (winners && !chunk->winners))
            return ftb_nomem();
    }
    for (int t = 0; t < threads; t++) {
        GrB_Info info = ftb_worker_new(&c->worker[t], line->form);
        if (info != GrB_SUCCESS)
            return info;
        c->worker[t]->number = t;
    }
    return GrB_SUCCESS;
}

static void free_crew(crew *c, int threads)
{
    for (int s = 0; c->slots && s < c->nslots; s++) {
        ftb_delete(c->slots[s].chunk.rowptr);
        ftb_delete(c->slots[s].chunk.cols);
        ftb_delete(c->slots[s].chunk.values);
        ftb_delete(c->slots[s].chunk.stats);
        ftb_delete(c->slots[s].chunk.winners);
    }
    for (int t = 0; c->worker && t < threads; t++)
        ftb_worker_delete(c->worker[t]);
    ftb_delete(c->slots);
    ftb_delete(c->worker);
}

GrB_Info ftb_pipeline_run(const ftb_pipeline *line)
{
    int threads = (int)ftb_min(line->form->plan.threads, ftb_max(line->schedule->count, 1));
    crew c = {.line = line, .lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};
    GrB_Info info = make_crew(&c, threads);
    if (info == GrB_SUCCESS && threads == 1) {
        work(&c, c.worker[0]);
    } else if (info == GrB_SUCCESS) {
#pragma omp parallel num_threads(threads)
        work(&c, c.worker[omp_get_thread_num()]);
    }
    free_crew(&c, threads);
    pthread_mutex_destroy(&c.lock);
    pthread_cond_destroy(&c.freed);
    if (info == GrB_SUCCESS && c.info != GrB_SUCCESS)
        info = ftb_fail(c.info, "%s", c.message);
    return info;
}

/* ---- the plain product: every row computed in the form in which it is wanted */

typedef struct plain {
    const ftb_spgemm_form *form;
    FtB_Sink sink;
} plain;

static int64_t make_row(void *state, ftb_worker *w, int64_t i, void *cols, void *values)
{
    const plain *run = state;
    bool direct = !run->form->product->finish.epilogue;
    void *h = direct ? values : w->h;
    int64_t n = ftb_worker_row(w, i, cols, h);
    return ftb_finish_row(w->finisher, i, n, cols, h, values);
}

/* The same where only the row's statistics are wanted. */
static int64_t count_row(void *state, ftb_worker *w, int64_t i, void *cols, void *values)
{
    const plain *run = state;
    const ftb_finish *finish = &run->form->product->finish;
    if (ftb_worker_count_row(w, i, w->stats))
        return 0;
    int64_t n = make_row(state, w, i, cols, values);
    ftb_row_stats_of(w->stats, values, finish->out_type, n, finish->out_width);
    return 0;
}

static GrB_Info deliver_counts(void *state, const ftb_chunk *chunk)
{
    const plain *run = state;
    return ftb_sink_count_rows(run->sink, chunk->row0, chunk->nrows, chunk->stats);
}

static GrB_Info deliver_rows(void *state, const ftb_chunk *chunk)
{
    const plain *run = state;
    const ftb_finish *finish = &run->form->product->finish;
    FtB_Rows rows = {.row0 = chunk->row0,
                     .nrows = chunk->nrows,
                     .ncols = run->form->p.ncols,
                     .rowptr = chunk->rowptr,
                     .colidx = chunk->cols,
                     .values = chunk->values,
                     .type = finish->out_type,
                     .width = finish->out_width};
    GrB_Info info = ftb_sink_rows(run->sink, &rows);
    if (info != GrB_SUCCESS || !chunk->winners)
        return info;
    rows.values = chunk->winners;
    rows.type = FTB_INT64;
    return ftb_sink_rows(run->form->product->winners, &rows);
}

static GrB_Info run_plain(const ftb_spgemm_form *form, const ftb_spgemm_chunks *schedule, FtB_Sink sink)
{
    plain run = {form, sink};
    bool counts = ftb_sink_counts(sink);
    ftb_pipeline line = {.form = form,
                         .schedule = schedule,
                         .make = counts ? count_row : make_row,
                         .deliver = counts ? deliver_counts : deliver_rows,
                         .counts = counts,
                         .state = &run,
                         .type = form->product->finish.out_type,
                         .width = form->product->finish.out_width};
    return ftb_pipeline_run(&line);
}

/* A triangle that outgrows the memory makes way for full rows: nothing has been delivered by then. */
static GrB_Info run_mirror(ftb_spgemm_form *form, const ftb_spgemm_chunks *half, FtB_Sink sink)
{
    bool delivered = false;
    ftb_spgemm_chunks schedule = {0};
    GrB_Info info = ftb_spgemm_form_run_mirror(form, half, sink, &delivered);
    if (info != FTB_LIMIT || delivered)
        return info;
    ftb_spgemm_form_unhalve(form);
    info = ftb_spgemm_chunks_make(&schedule, form, form->row_products);
    if (info == GrB_SUCCESS)
        info = run_plain(form, &schedule, sink);
    ftb_spgemm_chunks_free(&schedule);
    return info;
}

GrB_Info ftb_spgemm_run(const ftb_spgemm_product *product, const ftb_spgemm_plan *plan, FtB_Sink sink)
{
    ftb_spgemm_form *form = NULL;
    ftb_spgemm_chunks schedule = {0};
    fenv_t callers;
    GrB_Info info;
    ftb_floats_begin(&callers);
    FTB_CHECK(ftb_spgemm_form_new(&form, product, plan));
    FTB_CHECK(ftb_spgemm_chunks_make(&schedule, form, form->row_products));
    if (product->finish.two_sided)
        info = ftb_spgemm_form_run_topk(form, &schedule, sink);
    else if (form->plan.mirror)
        info = run_mirror(form, &schedule, sink);
    else
        info = run_plain(form, &schedule, sink);
done:
    ftb_spgemm_chunks_free(&schedule);
    ftb_spgemm_form_delete(form);
    ftb_floats_end(&callers);
    return info;
}
