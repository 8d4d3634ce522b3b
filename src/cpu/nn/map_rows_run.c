/* An expression over the rows of its feeds, tile after tile (map_rows_run.h). */
#include "cpu/nn/map_rows_run.h"

#include "cpu/interpreter.h"
#include "cpu/kernels/rows.h"
#include "cpu/message_load.h"
#include "cpu/nn/parts.h"

#include <omp.h>

#define TILE_VALUES 2048 /* of one feed or result: 8 KB of FP32 */

typedef struct worker { /* one thread's */
    ftb_loader *loader;
    ftb_interpreter *machine;
    void *tile;
} worker;

typedef struct pass {
    const ftb_map_rows_product *p;
    FtB_Type type;        /* of the program's results */
    int64_t values, room; /* values: of a row, all heads; room: rows of a tile */
    bool direct;          /* the program writes y's rows */
    double *sums;         /* NULL, or ncols for each part: rows are summed */
    ftb_panels *panels;
    int threads;
    worker *workers;
} pass;

static void workers_delete(pass *s)
{
    for (int t = 0; s->workers && t < s->threads; t++) {
        ftb_loader_delete(s->workers[t].loader);
        ftb_interpreter_delete(s->workers[t].machine);
        ftb_delete(s->workers[t].tile);
    }
    ftb_delete(s->workers);
    ftb_panels_delete(s->panels);
}

static GrB_Info workers_new(pass *s)
{
    FtB_Context ctx = s->p->m->ctx;
    GrB_Info info = ftb_panels_new(&s->panels, s->p->m, s->p->program);
    if (info != GrB_SUCCESS)
        return info;
    s->workers = ftb_new0(ctx, s->threads, sizeof *s->workers);
    if (!s->workers)
        return ftb_nomem();
    for (int t = 0; t < s->threads && info == GrB_SUCCESS; t++) {
        worker *w = &s->workers[t];
        w->tile = ftb_new(ctx, s->room * s->values, sizeof(double));
        info = w->tile ? ftb_loader_new(&w->loader, s->p->m, s->p->program, s->room) : ftb_nomem();
        if (info == GrB_SUCCESS)
            info = ftb_interpreter_new(&w->machine, ctx, s->p->program);
        if (info == GrB_SUCCESS)
            ftb_interpreter_give(w->machine, s->panels);
    }
    return info;
}

/* Heads of `width` values, of one row, are summed into the first. */
static void fold_row(void *row, FtB_Type type, int64_t heads, int64_t width)
{
    for (int64_t h = 1; h < heads; h++)
        for (int64_t f = 0; f < width; f++)
            if (type == FTB_FP32)
                ((float *)row)[f] += ((float *)row)[h * width + f];
            else
                ((double *)row)[f] += ((double *)row)[h * width + f];
}

static bool is_absent(const ftb_map_rows_product *p, int64_t i)
{
    return p->present && p->present->rowptr[i] == p->present->rowptr[i + 1];
}

/* A tile's results, as `type`, go to rows first, first + 1, ... of y, or to sums. */
static void put(const pass *s, const char *tile, FtB_Type type, int64_t first, int64_t count, double *sums)
{
    const ftb_map_rows_product *p = s->p;
    size_t size = FtB_Type_size(type), bytes = (size_t)p->ncols * size;
    for (int64_t t = 0; t < count; t++) {
        const char *row = tile + (size_t)(t * s->values) * size;
        char *to = (char *)p->y + (size_t)((first + t) * p->ldy) * size;
        if (sums)
            FTB_PICK_REAL(ftb_row_add, FTB_FP64)(sums, row, p->ncols);
        else if (p->add && !is_absent(p, first + t))
            FTB_PICK_REAL(ftb_row_add, type)(to, row, p->ncols);
        else if (!p->add && is_absent(p, first + t))
            memset(to, 0, bytes);
        else if (!p->add)
            memcpy(to, row, bytes);
    }
}

static void run_tile(const pass *s, const worker *w, int64_t first, int64_t count, double *sums)
{
    const ftb_map_rows_product *p = s->p;
    ftb_places places[FTB_SIDES] = {{0}};
    places[p->side].first = first;
    const ftb_operand *operands = ftb_loader_run(w->loader, count, places);
    FtB_Type type = sums ? FTB_FP64 : p->type;
    size_t size = FtB_Type_size(type);
    void *out = s->direct ? (char *)p->y + (size_t)(first * p->ldy) * size : w->tile;
    ftb_interpreter_run(w->machine, count * p->m->heads, operands, out);
    for (int64_t t = 0; s->direct && p->present && t < count; t++)
        if (is_absent(p, first + t))
            memset((char *)out + (size_t)(t * s->values) * size, 0, (size_t)s->values * size);
    if (s->direct)
        return;
    if (s->type != type)
        ftb_cast(out, type, out, s->type, count * s->values);
    for (int64_t t = 0; p->fold > 1 && t < count; t++)
        fold_row((char *)out + (size_t)(t * s->values) * size, type, p->fold, s->values / p->fold);
    put(s, out, type, first, count, sums);
}

static GrB_Info run(pass *s)
{
    const int64_t nrows = s->p->nrows, parts = ftb_parts(nrows);
    GrB_Info info = workers_new(s);
    if (info != GrB_SUCCESS)
        goto done;
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (int64_t k = 0; k < parts; k++) {
        const worker *w = &s->workers[omp_get_thread_num()];
        int64_t last = ftb_parts_cut(nrows, k + 1);
        for (int64_t i = ftb_parts_cut(nrows, k); i < last; i += s->room)
            run_tile(s, w, i, ftb_min(s->room, last - i), s->sums ? s->sums + k * s->p->ncols : NULL);
    }
done:
    workers_delete(s);
    return info;
}

static GrB_Info run_sum(pass *s)
{
    const ftb_map_rows_product *p = s->p;
    const int64_t parts = ftb_parts(p->nrows), n = p->ncols;
    s->sums = ftb_new0(p->m->ctx, parts * n, sizeof *s->sums);
    if (!s->sums)
        return ftb_nomem();
    GrB_Info info = run(s);
    for (int64_t k = 1; k < parts; k++)
        FTB_PICK_REAL(ftb_row_add, FTB_FP64)(s->sums, s->sums + k * n, n);
    if (info == GrB_SUCCESS)
        ftb_parts_put(p->y, p->type, s->sums, n, p->add);
    ftb_delete(s->sums);
    return info;
}

/* Whether the program may write y's rows while it reads the feeds. */
static bool apart(const ftb_map_rows_product *p)
{
    for (int f = 0; f < p->m->nfeeds; f++)
        if (p->m->feeds[f].data == p->y)
            return false;
    return true;
}

GrB_Info ftb_map_rows_run(const ftb_map_rows_product *p)
{
    const ftb_message *m = p->m;
    pass s = {.p = p, .type = ftb_program_type(p->program)};
    s.values = m->heads * ftb_program_width(p->program);
    s.room = ftb_max(1, ftb_min(FTB_BATCH / m->heads, TILE_VALUES / ftb_loader_values(m, p->program)));
    s.threads = ftb_threads_for_values(m->ctx, p->nrows * s.values);
    s.direct = !p->sum && !p->add && p->fold == 1 && s.type == p->type && p->ldy == s.values && apart(p);
    return p->sum ? run_sum(&s) : run(&s);
}
