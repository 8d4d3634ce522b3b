/* An expression over the rows of its feeds, tile after tile (map_rows.h). */
#include "nn/map_rows.h"

#include "cpu/interpreter.h"
#include "cpu/kernels/rows.h"
#include "cpu/message_load.h"
#include "cpu/nn/parts.h"
#include "ops/merge.h"

#include <omp.h>

#define TILE_VALUES 2048 /* of one feed or result: 8 KB of FP32 */

typedef struct worker { /* one thread's */
    ftb_loader *loader;
    ftb_interpreter *machine;
    void *tile;
} worker;

typedef struct pass {
    const ftb_message *m;
    const ftb_program *program;
    FtB_Type type;               /* of the program's results */
    int64_t nrows, values, room; /* values: of a row, all heads; room: rows of a tile */
    int64_t fold;                /* heads that are summed into one */
    FtB_Block Y;
    bool add, direct; /* direct: the program writes Y's rows */
    double *sums;     /* NULL, or Y->ncols for each part: rows are summed */
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
}

static GrB_Info workers_new(pass *s)
{
    FtB_Context ctx = s->m->ctx;
    GrB_Info info = GrB_SUCCESS;
    s->workers = ftb_new0(ctx, s->threads, sizeof *s->workers);
    if (!s->workers)
        return ftb_nomem();
    for (int t = 0; t < s->threads && info == GrB_SUCCESS; t++) {
        worker *w = &s->workers[t];
        w->tile = ftb_new(ctx, s->room * s->values, sizeof(double));
        info = w->tile ? ftb_loader_new(&w->loader, s->m, s->program, s->room) : ftb_nomem();
        if (info == GrB_SUCCESS)
            info = ftb_interpreter_new(&w->machine, ctx, s->program);
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

/* A tile's results, as `type`, go to rows first, first + 1, ... of Y, or to sums. */
static void put(const pass *s, const char *tile, FtB_Type type, int64_t first, int64_t count, double *sums)
{
    size_t size = FtB_Type_size(type), bytes = (size_t)s->Y->ncols * size;
    for (int64_t t = 0; t < count; t++) {
        const char *row = tile + (size_t)(t * s->values) * size;
        char *to = (char *)ftb_block_data(s->Y) + (size_t)((first + t) * s->Y->ld) * size;
        if (sums)
            FTB_PICK_REAL(ftb_row_add, FTB_FP64)(sums, row, s->Y->ncols);
        else if (s->add)
            FTB_PICK_REAL(ftb_row_add, type)(to, row, s->Y->ncols);
        else
            memcpy(to, row, bytes);
    }
}

static void run_tile(const pass *s, const worker *w, int64_t first, int64_t count, double *sums)
{
    ftb_places places[FTB_SIDES] = {{0}};
    places[FTB_SIDE_ROW].first = first;
    const ftb_operand *operands = ftb_loader_run(w->loader, count, places);
    FtB_Type type = sums ? FTB_FP64 : s->Y->type;
    size_t size = FtB_Type_size(type);
    void *out = s->direct ? (char *)ftb_block_data(s->Y) + (size_t)(first * s->Y->ld) * size : w->tile;
    ftb_interpreter_run(w->machine, count * s->m->heads, operands, out);
    if (s->direct)
        return;
    if (s->type != type)
        ftb_cast(out, type, out, s->type, count * s->values);
    for (int64_t t = 0; s->fold > 1 && t < count; t++)
        fold_row((char *)out + (size_t)(t * s->values) * size, type, s->fold, s->values / s->fold);
    put(s, out, type, first, count, sums);
}

static GrB_Info run(pass *s)
{
    int64_t parts = ftb_parts(s->nrows);
    GrB_Info info = workers_new(s);
    if (info != GrB_SUCCESS)
        goto done;
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (int64_t p = 0; p < parts; p++) {
        const worker *w = &s->workers[omp_get_thread_num()];
        int64_t last = ftb_parts_cut(s->nrows, p + 1);
        for (int64_t i = ftb_parts_cut(s->nrows, p); i < last; i += s->room)
            run_tile(s, w, i, ftb_min(s->room, last - i), s->sums ? s->sums + p * s->Y->ncols : NULL);
    }
done:
    workers_delete(s);
    return info;
}

/* Whether the program may write Y's rows while it reads the feeds. */
static bool apart(const ftb_message *m, FtB_Block Y)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (m->feeds[f].data == ftb_block_data(Y))
            return false;
    return true;
}

static pass describe(const ftb_message *m, const ftb_program *program, int64_t nrows, FtB_Block Y, bool add,
                     int64_t fold)
{
    pass s = {.m = m, .program = program, .nrows = nrows, .fold = fold, .Y = Y, .add = add};
    s.type = ftb_program_type(program);
    s.values = m->heads * ftb_program_width(program);
    s.room = ftb_max(1, ftb_min(FTB_BATCH / m->heads, TILE_VALUES / ftb_loader_values(m, program)));
    s.threads = ftb_threads_for_values(m->ctx, nrows * s.values);
    return s;
}

GrB_Info ftb_nn_map_rows(const ftb_message *m, const ftb_program *program, int64_t nrows, FtB_Block Y,
                         bool add, int64_t fold)
{
    pass s = describe(m, program, nrows, Y, add, fold);
    s.direct = !add && fold == 1 && s.type == Y->type && Y->ld == s.values && apart(m, Y);
    return run(&s);
}

GrB_Info ftb_nn_map_sum(const ftb_message *m, const ftb_program *program, int64_t nrows, FtB_Block Y,
                        bool add, int64_t fold)
{
    pass s = describe(m, program, nrows, Y, add, fold);
    int64_t parts = ftb_parts(nrows), n = Y->ncols;
    s.sums = ftb_new0(m->ctx, parts * n, sizeof *s.sums);
    if (!s.sums)
        return ftb_nomem();
    GrB_Info info = run(&s);
    for (int64_t p = 1; p < parts; p++)
        FTB_PICK_REAL(ftb_row_add, FTB_FP64)(s.sums, s.sums + p * n, n);
    if (info == GrB_SUCCESS)
        ftb_parts_put(ftb_block_data(Y), Y->type, s.sums, Y->ncols, add);
    ftb_delete(s.sums);
    return info;
}
