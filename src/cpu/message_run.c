/* Messages, edge after edge: entries are taken in batches that stay in L1, the program makes their messages,
 * and these are reduced into rows or stored.
 *
 * A batch holds whole short rows, or a piece of a long one: then what the row gives is the same for all of
 * the batch. Every row is reduced by one thread in the order of its entries, so bits depend neither on
 * threads nor on batches. */
#include "cpu/message_run.h"
#include "cpu/block/write_run.h"
#include "cpu/error_rows.h"
#include "cpu/first_rows.h"
#include "cpu/interpreter.h"
#include "cpu/jit.h"
#include "cpu/message_call.h"
#include "cpu/message_load.h"
#include "cpu/reduce.h"
#include "cpu/spmm_run.h"

#include <omp.h>

#define BATCH_VALUES                                                                                         \
    2048 /* of one feed or result: 8 KB of FP32. 4096 and 1024 are up to a quarter slower                    \
          */

typedef struct task { /* what all threads share */
    const ftb_message *m;
    const ftb_pattern *p;
    ftb_program *program;
    ftb_panels *panels;
    ftb_message_type type;
    ftb_segment reduce;
    int64_t values; /* of one entry: heads x width */
    int64_t room;   /* entries of a batch */
    bool uses[FTB_SIDES];
    const int64_t *rows;
    char *out; /* T, or V */
    int64_t ld;
    int64_t *arg;
    int64_t ldarg;
    bool stores;
} task;

typedef struct segment { /* entries of one row, in a batch */
    int64_t row, count;
} segment;

typedef struct worker { /* one thread's */
    const task *task;
    ftb_loader *loader;
    ftb_interpreter *machine; /* of a program */
    ftb_caller *caller;       /* of a C function */
    char *messages;
    int64_t *row, *col, *entry;
    segment *segments;
    int64_t count, nsegments; /* of the batch being filled */
    ftb_places places[FTB_SIDES];
} worker;

/* ---- messages of a batch */

static void evaluate(worker *w, int64_t count, char *out)
{
    const task *k = w->task;
    const ftb_operand *operands = ftb_loader_run(w->loader, count, w->places);
    int64_t items = count * k->m->heads;
    if (k->program)
        ftb_interpreter_run(w->machine, items, operands, out);
    else
        ftb_caller_run(w->caller, items, operands, (float *)(void *)out);
}

/* ---- results */

static void reduce_segments(worker *w)
{
    const task *k = w->task;
    int64_t values = k->values, done = 0;
    size_t size = FtB_Type_size(k->type.reduced);
    for (int64_t s = 0; s < w->nsegments; s++) {
        int64_t i = w->segments[s].row, count = w->segments[s].count,
                first =
                    w->places[FTB_SIDE_EDGE].index ? w->entry[done] : w->places[FTB_SIDE_EDGE].first + done;
        char *to = k->out + (size_t)(i * k->ld) * size;
        const char *from = w->messages + (size_t)(done * values) * size;
        bool fresh = first == k->p->rowptr[i];
        if (k->arg)
            ftb_segment_arg(k->m->reducer.monoid, k->type.reduced, to, k->arg + i * k->ldarg, from, count,
                            values, first, fresh);
        else
            k->reduce(to, from, count, values, fresh);
        done += count;
    }
}

static void flush(worker *w)
{
    const task *k = w->task;
    int64_t values = w->count * k->values;
    if (w->count == 0)
        return;
    if (k->stores) {
        evaluate(w, w->count,
                 k->out +
                     (size_t)(w->places[FTB_SIDE_EDGE].first * k->values) * FtB_Type_size(k->type.message));
    } else {
        evaluate(w, w->count, w->messages);
        if (k->type.message != k->type.reduced)
            ftb_cast(w->messages, k->type.reduced, w->messages, k->type.message, values);
        reduce_segments(w);
    }
    w->count = w->nsegments = 0;
}

/* Entries e .. last - 1 of row i join the batch, which has room for them. */
static void append(worker *w, int64_t i, int64_t e, int64_t last)
{
    const task *k = w->task;
    int64_t n = w->count, count = last - e;
    ftb_places *edge = &w->places[FTB_SIDE_EDGE];
    if (n == 0)
        edge->first = e;
    if (n == 0 || edge->first + n == e)
        edge->index = n == 0 ? NULL : edge->index;
    else
        edge->index = w->entry;
    w->segments[w->nsegments++] = (segment){i, count};
    for (int64_t t = 0; t < count; t++)
        w->entry[n + t] = e + t;
    if (k->uses[FTB_SIDE_ROW])
        for (int64_t t = 0; t < count; t++)
            w->row[n + t] = i;
    if (k->uses[FTB_SIDE_COL])
        for (int64_t t = 0; t < count; t++)
            w->col[n + t] = ftb_col(k->p, e + t);
    w->count += count;
}

/* Entries e .. last - 1 of row i: in pieces of their own if they are many. */
static void take(worker *w, int64_t i, int64_t e, int64_t last)
{
    const task *k = w->task;
    ftb_places *row = &w->places[FTB_SIDE_ROW];
    if (2 * (last - e) <= k->room) {
        if (w->count + (last - e) > k->room)
            flush(w);
        append(w, i, e, last);
        return;
    }
    flush(w);
    *row = (ftb_places){.first = i, .same = true};
    for (; e < last; e += k->room) {
        append(w, i, e, ftb_min(e + k->room, last));
        flush(w);
    }
    *row = (ftb_places){.index = w->row};
}

static void reduce_row(worker *w, int64_t i)
{
    const task *k = w->task;
    int64_t first = k->p->rowptr[i], last = k->p->rowptr[i + 1];
    size_t size = FtB_Type_size(k->type.reduced);
    if (first < last) {
        take(w, i, first, last);
        return;
    }
    char *to = k->out + (size_t)(i * k->ld) * size;
    for (int64_t f = 0; f < k->values; f++)
        ftb_monoid_identity(k->m->reducer.monoid, k->type.reduced, to + (size_t)f * size);
    for (int64_t f = 0; k->arg && f < k->values; f++)
        k->arg[i * k->ldarg + f] = -1;
}

/* ---- threads */

static void delete_workers(worker *workers, int count)
{
    for (int t = 0; workers && t < count; t++) {
        worker *w = &workers[t];
        ftb_loader_delete(w->loader);
        ftb_interpreter_delete(w->machine);
        ftb_caller_delete(w->caller);
        void *arrays[] = {w->messages, w->row, w->col, w->entry, w->segments};
        for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
            ftb_delete(arrays[a]);
    }
    ftb_delete(workers);
}

static GrB_Info fill_worker(worker *w, const task *k)
{
    FtB_Context ctx = k->m->ctx;
    int64_t room = k->room;
    w->task = k;
    w->messages = ftb_new(ctx, k->stores ? 0 : room * k->values, 8);
    w->row = ftb_new(ctx, room, sizeof *w->row);
    w->col = ftb_new(ctx, room, sizeof *w->col);
    w->entry = ftb_new(ctx, room, sizeof *w->entry);
    w->segments = ftb_new(ctx, room, sizeof *w->segments);
    if (!w->messages || !w->row || !w->col || !w->entry || !w->segments)
        return ftb_nomem();
    w->places[FTB_SIDE_ROW].index = w->row;
    w->places[FTB_SIDE_COL].index = w->col;
    GrB_Info info = ftb_loader_new(&w->loader, k->m, k->program, room);
    if (info == GrB_SUCCESS)
        info =
            k->program ? ftb_interpreter_new(&w->machine, ctx, k->program) : ftb_caller_new(&w->caller, k->m);
    if (info == GrB_SUCCESS && k->program)
        ftb_interpreter_give(w->machine, k->panels);
    return info;
}

static GrB_Info new_workers(worker **workers, const task *k, int count)
{
    GrB_Info info = GrB_SUCCESS;
    *workers = ftb_new0(k->m->ctx, count, sizeof **workers);
    if (!*workers)
        return ftb_nomem();
    for (int t = 0; t < count && info == GrB_SUCCESS; t++)
        info = fill_worker(&(*workers)[t], k);
    if (info != GrB_SUCCESS) {
        delete_workers(*workers, count);
        *workers = NULL;
    }
    return info;
}

static void clear_task(task *k)
{
    ftb_program_delete(k->program);
    ftb_panels_delete(k->panels);
}

/* Compiles the message and chooses the batch. On failure too, clear_task must follow. */
static GrB_Info make_task(task *k, const ftb_message *m, const ftb_pattern *p)
{
    *k = (task){.m = m, .p = p};
    GrB_Info info = ftb_message_compile(&k->type, &k->program, m);
    if (info != GrB_SUCCESS)
        return info;
    for (int f = 0; f < m->nfeeds; f++)
        if (!k->program || ftb_program_uses(k->program, f))
            k->uses[m->feeds[f].side] = true;
    if (__builtin_mul_overflow(m->heads, k->type.width, &k->values) || k->values > INT64_MAX / 16)
        return ftb_fail(GrB_INVALID_VALUE, "semiring: %lld heads of %lld values each are too many",
                        (long long)m->heads, (long long)k->type.width);
    k->room = ftb_max(1, ftb_min(FTB_BATCH / m->heads, BATCH_VALUES / ftb_loader_values(m, k->program)));
    k->reduce = ftb_segment_of(m->reducer.monoid, k->type.reduced);
    return k->program ? ftb_panels_new(&k->panels, m, k->program) : GrB_SUCCESS;
}

/* ---- pieces of equal work */

/* Entries and rows before the x-th row of the list. */
static int64_t work_before(const task *k, const int64_t *before, int64_t x)
{
    return (before ? before[x] : k->p->rowptr[x]) + x;
}

/* The first x of 0 .. n whose work before it is at least `work`. */
static int64_t find_row(const task *k, const int64_t *before, int64_t n, int64_t work)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (work_before(k, before, middle) < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t piece_count(int64_t work, int threads)
{
    return ftb_max(1, ftb_min(32 * (int64_t)threads, work / 4096));
}

/* Entries before each row of a list. */
static GrB_Info count_before(int64_t **before, const task *k, int64_t nrows)
{
    *before = NULL;
    if (!k->rows)
        return GrB_SUCCESS;
    *before = ftb_new(k->m->ctx, nrows + 1, sizeof **before);
    if (!*before)
        return ftb_nomem();
    (*before)[0] = 0;
    for (int64_t x = 0; x < nrows; x++)
        (*before)[x + 1] = (*before)[x] + k->p->rowptr[k->rows[x] + 1] - k->p->rowptr[k->rows[x]];
    return GrB_SUCCESS;
}

/* The rows of one of `pieces` pieces: places *first .. *last - 1. */
static void cut_piece(const task *k, const int64_t *before, int64_t nrows, int64_t piece, int64_t pieces,
                      int64_t *first, int64_t *last)
{
    double each = (double)work_before(k, before, nrows) / (double)pieces;
    *first = find_row(k, before, nrows, (int64_t)(each * (double)piece));
    *last = piece + 1 == pieces ? nrows : find_row(k, before, nrows, (int64_t)(each * (double)(piece + 1)));
}

static void reduce_piece(worker *w, int64_t first, int64_t last)
{
    for (int64_t x = first; x < last; x++)
        reduce_row(w, w->task->rows ? w->task->rows[x] : x);
    flush(w);
}

/* ---- with a function compiled at run time */

typedef struct compiled {
    ftb_jit_rows run; /* NULL: there is none */
    const void *data[FTB_MAX_FEEDS];
    int64_t ld[FTB_MAX_FEEDS];
    const int64_t *at[FTB_MAX_FEEDS];
    char identity[8];
} compiled;

static void find_compiled(compiled *f, const task *k)
{
    const ftb_message *m = k->m;
    *f = (compiled){0};
    if (!ftb_jit_wanted() || ftb_deterministic(m->ctx) || !k->program || k->arg)
        return;
    char *source = ftb_codegen(m, k->program, &k->type, k->p->wide);
    if (source)
        f->run = ftb_jit_compile(source);
    ftb_delete(source);
    ftb_monoid_identity(m->reducer.monoid, k->type.reduced, f->identity);
    for (int n = 0; n < m->nfeeds; n++) {
        f->data[n] = m->feeds[n].degree ? (const void *)m->feeds[n].degree : m->feeds[n].data;
        f->ld[n] = m->feeds[n].ld;
        f->at[n] = m->feeds[n].at;
    }
}

static void run_compiled(const compiled *f, const task *k, int64_t first, int64_t last)
{
    f->run(&(const ftb_jit_call){.first = first,
                                 .last = last,
                                 .rows = k->rows,
                                 .rowptr = k->p->rowptr,
                                 .colidx = k->p->colidx,
                                 .nvals = k->p->nvals,
                                 .data = f->data,
                                 .ld = f->ld,
                                 .at = f->at,
                                 .out = k->out,
                                 .ld_out = k->ld,
                                 .identity = f->identity});
}

static GrB_Info reduce_all(const task *k, const int64_t *before, int64_t nrows)
{
    FtB_Context ctx = k->m->ctx;
    int threads = ftb_threads_for(ctx, work_before(k, before, nrows) * k->values);
    worker *workers = NULL;
    compiled f;
    ftb_first_rows few = ftb_first_rows_of(k->m, &k->type, k->p);
    few.run = k->arg ? NULL : few.run;
    few.rows = k->rows;
    few.out = k->out;
    few.ld = k->ld;
    ftb_error_rows errors = ftb_error_rows_of(k->m, &k->type, k->p);
    errors.rows = k->rows;
    errors.out = k->out;
    errors.ld = k->ld;
    find_compiled(&f, k);
    GrB_Info info = f.run || few.run || errors.run ? GrB_SUCCESS : new_workers(&workers, k, threads);
    if (info != GrB_SUCCESS)
        return info;
    int64_t pieces = piece_count(work_before(k, before, nrows), threads);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t piece = 0; piece < pieces; piece++) {
        int64_t first, last;
        if (ftb_cancelled(ctx))
            continue;
        cut_piece(k, before, nrows, piece, pieces, &first, &last);
        if (few.run)
            few.run(&few, first, last);
        else if (errors.run)
            errors.run(&errors, first, last);
        else if (f.run)
            run_compiled(&f, k, first, last);
        else
            reduce_piece(&workers[omp_get_thread_num()], first, last);
    }
    delete_workers(workers, threads);
    return ftb_cancelled(ctx) ? ftb_progress(ctx, 0, 0, "rows") : GrB_SUCCESS;
}

GrB_Info ftb_message_reduce(const ftb_message *m, const ftb_pattern *p, void *T, int64_t ld, int64_t *arg,
                            int64_t ldarg, const int64_t *rows, int64_t nrows)
{
    task k;
    int64_t *before = NULL;
    GrB_Info info = make_task(&k, m, p);
    if (info != GrB_SUCCESS)
        goto done;
    if (arg && m->reducer.monoid != FTB_MIN && m->reducer.monoid != FTB_MAX) {
        info = ftb_fail(GrB_INVALID_VALUE,
                        "semiring: winning entries are known for min and max only, not for %s",
                        ftb_monoid_name(m->reducer.monoid));
        goto done;
    }
    k.rows = rows;
    k.out = T;
    k.ld = ld;
    k.arg = arg;
    k.ldarg = ldarg;
    nrows = rows ? nrows : p->nrows;
    info = count_before(&before, &k, nrows);
    if (info == GrB_SUCCESS)
        info = reduce_all(&k, before, nrows);
done:
    clear_task(&k);
    ftb_delete(before);
    return info;
}

static void put_rows(void *out, int64_t ld, const void *rows, int64_t nrows, int64_t values, size_t size)
{
    for (int64_t i = 0; i < nrows; i++)
        memcpy((char *)out + (size_t)(i * ld) * size, (const char *)rows + (size_t)(i * values) * size,
               (size_t)values * size);
}

GrB_Info ftb_aggregate_run(const ftb_aggregate_product *product)
{
    const ftb_pattern *p = product->p;
    ftb_message_type type;
    GrB_Info info = ftb_message_types(&type, product->m);
    if (info != GrB_SUCCESS)
        return info;
    const int64_t values = product->m->heads * type.width;
    const size_t size = FtB_Type_size(type.reduced);
    void *aside = ftb_new(product->m->ctx, p->nrows, (size_t)values * size);
    int64_t *won = product->won ? ftb_new(product->m->ctx, p->nrows, (size_t)values * sizeof(int64_t)) : NULL;
    info = !aside || (product->won && !won)
               ? ftb_nomem()
               : ftb_message_reduce(product->m, p, aside, values, won, values, NULL, 0);
    if (info == GrB_SUCCESS && product->add) {
        ftb_add_rows(p, product->out, product->ldo, aside, values, type.reduced,
                     ftb_threads_for_values(product->m->ctx, p->nrows * values));
    } else if (info == GrB_SUCCESS) {
        const ftb_plain_rows rows = {aside, type.reduced, p->nrows, values, values};
        ftb_rows_fill_empty(product->m->ctx, &rows, p->rowptr, 0);
        put_rows(product->out, product->ldo, aside, p->nrows, values, size);
        if (won)
            put_rows(product->won, product->ldwon, won, p->nrows, values, sizeof *won);
    }
    ftb_delete(won);
    ftb_delete(aside);
    return info;
}

/* Entries first .. last - 1, row after row. */
static void store_piece(worker *w, int64_t first, int64_t last)
{
    const ftb_pattern *p = w->task->p;
    int64_t low = 0, high = p->nrows;
    while (low < high) { /* the first row that ends behind `first` */
        int64_t middle = low + (high - low) / 2;
        if (p->rowptr[middle + 1] <= first)
            low = middle + 1;
        else
            high = middle;
    }
    for (int64_t i = low, e = first; e < last; e = p->rowptr[++i])
        if (e < p->rowptr[i + 1])
            take(w, i, e, ftb_min(p->rowptr[i + 1], last));
    flush(w);
}

GrB_Info ftb_messages_run(const ftb_messages_product *product)
{
    const ftb_message *m = product->m;
    const ftb_pattern *p = product->p;
    task k;
    worker *workers = NULL;
    int threads = 0;
    GrB_Info info = make_task(&k, m, p);
    if (info != GrB_SUCCESS)
        goto done;
    threads = ftb_threads_for(m->ctx, p->nvals * k.values);
    k.out = product->out;
    k.stores = true;
    info = new_workers(&workers, &k, threads);
    if (info != GrB_SUCCESS)
        goto done;
    int64_t pieces = piece_count(p->nvals, threads), each = p->nvals / pieces + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t piece = 0; piece < pieces; piece++)
        if (!(product->interruptible && ftb_cancelled(m->ctx)) && piece * each < p->nvals)
            store_piece(&workers[omp_get_thread_num()], piece * each, ftb_min((piece + 1) * each, p->nvals));
    if (product->interruptible && ftb_cancelled(m->ctx))
        info = ftb_progress(m->ctx, 0, 0, "entries");
done:
    delete_workers(workers, threads);
    clear_task(&k);
    return info;
}
