/* Operators over the rows of blocks, in batches of items that stay in L1.
 *
 * An item is a row (with heads: one head of a row), or, where the text is elementwise and every operand is a
 * whole row or one value, a single value: then kernels run over long contiguous stretches, also across rows.
 * Operands are read in place where their dtype is one that programs compute in and a stride leads from item
 * to item; else they are brought together and cast, a batch at a time. */
#include "cpu/block/apply_run.h"

#include "cpu/interpreter.h"
#include "cpu/reduce.h"

#include <omp.h>

#define LONG 256 /* columns: rows of so many values pay for a run each */

enum { X, Y, I, NAMES };

typedef struct worker {
    ftb_interpreter *machine;
    ftb_operand *operands;
    char *raw[2], *cooked[2]; /* operands of a batch: as gathered, and cast */
    int64_t *i;
    void *memory; /* of the arrays above */
} worker;

typedef struct input {
    ftb_block_operand rows;
    bool used;
    int64_t width; /* values per item */
    int64_t step;  /* values from one head to the next; 0: the same for all */
    bool full;     /* a whole row of the result, value by value */
    FtB_Type type; /* after the domain's cast */
    FtB_Type compute;
    bool in_place; /* no cast is needed */
} input;

struct ftb_block_map {
    FtB_Context ctx;
    ftb_program *program;
    FtB_Type domain, type;
    int64_t heads, width; /* of the result: heads x width values in a row */
    bool repeats;         /* the text gives one value, for all of a wider operand's that it does not name */
    bool flat;            /* items are single values */
    bool contiguous;      /* and rows follow each other without gaps in all operands */
    bool uses_i;
    int64_t batch; /* items that are run together */
    input input[2];
    int place[NAMES]; /* among the program's operands; -1: unknown */
    ftb_name *names;
    ftb_operand *operands;
    int nnames, nworkers;
    worker *workers;
};

/* ---- pieces */

ftb_block_pieces ftb_pieces_of(int64_t nrows, int64_t ncols, bool split)
{
    ftb_block_pieces p = {.nrows = nrows, .ncols = ncols};
    p.rows = ftb_max(1, FTB_BLOCK_PIECE / ftb_max(ncols, 1));
    p.cols = split ? ftb_min(ncols, FTB_BLOCK_PIECE) : ncols;
    p.across = ncols > 0 ? (ncols - 1) / p.cols + 1 : 1;
    p.count = nrows > 0 ? ((nrows - 1) / p.rows + 1) * p.across : 0;
    return p;
}

ftb_block_piece ftb_piece_at(const ftb_block_pieces *pieces, int64_t p)
{
    int64_t row = p / pieces->across * pieces->rows, col = p % pieces->across * pieces->cols;
    return (ftb_block_piece){row, ftb_min(pieces->rows, pieces->nrows - row), col,
                             ftb_min(pieces->cols, pieces->ncols - col)};
}

/* ---- running */

static void gather(char *to, const input *in, const char *from, int64_t heads, int64_t first, int64_t count)
{
    size_t size = FtB_Type_size(in->rows.type), item = size * (size_t)in->width;
    int64_t row = first / heads, head = first % heads;
    for (int64_t t = 0; t < count; t++, to += item) {
        int64_t at = (in->rows.one_row ? 0 : row * in->rows.ld) + head * in->step;
        memcpy(to, from + (size_t)at * size, item);
        if (++head == heads) {
            head = 0;
            row++;
        }
    }
}

/* Values in the compute type: `values` themselves, or cast into the worker's memory. */
static const void *cook(const ftb_block_map *map, const worker *w, int which, const void *values,
                        int64_t count)
{
    const input *in = &map->input[which];
    if (in->in_place)
        return values;
    FtB_Type type = in->rows.type;
    if (in->type != type) {
        ftb_cast(w->cooked[which], in->type, values, type, count);
        values = w->cooked[which];
    }
    if (in->compute != in->type || in->compute == FTB_BOOL) {
        char *to = values == w->cooked[which] ? w->raw[which] : w->cooked[which];
        ftb_cast(to, in->compute, values, in->type, count);
        values = to;
    }
    return values;
}

/* The operand for items first .. first + count of a piece whose first row is at `from`. */
static ftb_operand operand(const ftb_block_map *map, const worker *w, int which, const char *from,
                           int64_t first, int64_t count)
{
    const input *in = &map->input[which];
    size_t size = FtB_Type_size(in->rows.type);
    int64_t stride = -1, heads = map->heads;
    if (heads == 1)
        stride = in->rows.one_row ? 0 : in->rows.ld;
    else if (!in->rows.one_row && in->step == in->width && in->rows.ld == heads * in->width)
        stride = in->width;
    if (in->in_place && stride >= 0)
        return (ftb_operand){from + (size_t)(first * stride) * size, stride};
    if (stride == 0 || (stride == in->width && stride > 0)) {
        int64_t items = stride == 0 ? 1 : count;
        return (ftb_operand){cook(map, w, which, from + (size_t)(first * stride) * size, items * in->width),
                             stride};
    }
    gather(w->raw[which], in, from, heads, first, count);
    return (ftb_operand){cook(map, w, which, w->raw[which], count * in->width), in->width};
}

/* results, of the program's type, become values of the map's. */
static void finish(const ftb_block_map *map, void *out, int64_t count)
{
    FtB_Type type = ftb_program_type(map->program);
    if (type != map->type)
        ftb_cast(out, map->type, out, type, count);
}

/* One value of each item becomes `width` equal ones: from the end, since it is done in place. */
static void repeat(const ftb_block_map *map, char *out, int64_t items)
{
    size_t size = FtB_Type_size(map->type);
    for (int64_t t = items - 1; t >= 0; t--) {
        char value[8];
        memcpy(value, out + (size_t)t * size, size);
        for (int64_t f = 0; f < map->width; f++)
            memcpy(out + (size_t)(t * map->width + f) * size, value, size);
    }
}

/* Rows (with heads: heads of rows) as items. */
static void run_rows(const ftb_block_map *map, worker *w, const ftb_block_piece *piece,
                     const char *const *from, char *out)
{
    int64_t items = piece->nrows * map->heads;
    int64_t given = map->repeats ? 1 : map->width;
    size_t size = FtB_Type_size(ftb_program_type(map->program)) * (size_t)given;
    for (int64_t t = 0; t < items; t += map->batch) {
        int64_t count = ftb_min(map->batch, items - t);
        for (int which = X; which <= Y; which++)
            if (map->input[which].used)
                w->operands[map->place[which]] = operand(map, w, which, from[which], t, count);
        if (map->uses_i)
            for (int64_t u = 0; u < count; u++)
                w->i[u] = piece->row + (t + u) / map->heads;
        ftb_interpreter_run(w->machine, count, w->operands, out + (size_t)t * size);
    }
    finish(map, out, items * given);
    if (map->repeats)
        repeat(map, out, items);
}

/* count values as items, from `at` values behind each operand's first on. */
static void run_values(const ftb_block_map *map, worker *w, int64_t count, const char *const *from, char *out)
{
    size_t size = FtB_Type_size(ftb_program_type(map->program));
    for (int64_t t = 0; t < count; t += FTB_BATCH) {
        int64_t batch = ftb_min(FTB_BATCH, count - t);
        for (int which = X; which <= Y; which++) {
            const input *in = &map->input[which];
            if (!in->used)
                continue;
            const char *values =
                in->full ? from[which] + (size_t)t * FtB_Type_size(in->rows.type) : from[which];
            w->operands[map->place[which]] =
                (ftb_operand){cook(map, w, which, values, in->full ? batch : 1), in->full};
        }
        ftb_interpreter_run(w->machine, batch, w->operands, out + (size_t)t * size);
    }
}

static void run_flat(const ftb_block_map *map, worker *w, const ftb_block_piece *piece,
                     const char *const *from, char *out)
{
    size_t size = FtB_Type_size(ftb_program_type(map->program));
    if (map->contiguous) {
        run_values(map, w, piece->nrows * piece->ncols, from, out);
    } else {
        for (int64_t r = 0; r < piece->nrows; r++) {
            const char *row[2] = {from[X], from[Y]};
            for (int which = X; which <= Y; which++)
                if (map->input[which].used && !map->input[which].rows.one_row)
                    row[which] +=
                        (size_t)(r * map->input[which].rows.ld) * FtB_Type_size(map->input[which].rows.type);
            run_values(map, w, piece->ncols, row, out + (size_t)(r * piece->ncols) * size);
        }
    }
    finish(map, out, piece->nrows * piece->ncols);
}

void ftb_block_map_run(const ftb_block_map *map, int thread, const ftb_block_piece *piece, const void *x,
                       const void *y, void *out)
{
    const char *from[2] = {x, y};
    if (piece->nrows == 0 || piece->ncols == 0)
        return;
    for (int which = X; which <= Y; which++) {
        const input *in = &map->input[which];
        int64_t at = (in->rows.one_row ? 0 : piece->row * in->rows.ld) + (in->full ? piece->col : 0);
        if (in->used && !from[which])
            from[which] = (const char *)in->rows.data + (size_t)at * FtB_Type_size(in->rows.type);
    }
    if (map->flat)
        run_flat(map, &map->workers[thread], piece, from, out);
    else
        run_rows(map, &map->workers[thread], piece, from, out);
}

/* ---- making */

/* Values per head of each operand, and how they step from head to head. */
static GrB_Info share_heads(ftb_block_map *map)
{
    input *in = map->input;
    const int64_t heads = ftb_max(in[X].rows.heads, in[Y].rows.heads);
    for (int which = X; which <= Y; which++) {
        const ftb_block_operand *r = &in[which].rows;
        if (r->heads != heads && r->heads > 1)
            return ftb_fail(GrB_DIMENSION_MISMATCH,
                            "A has %lld heads and B %lld; expected equal numbers, or 1",
                            (long long)in[X].rows.heads, (long long)in[Y].rows.heads);
    }
    for (int which = X; which <= Y; which++) {
        const ftb_block_operand *r = &in[which].rows;
        const bool by_head = ftb_operand_by_head(r, &in[X + Y - which].rows);
        in[which].width = by_head ? r->ncols / heads : r->ncols;
        in[which].step = by_head ? in[which].width : 0;
    }
    map->heads = heads;
    return GrB_SUCCESS;
}

static GrB_Info compile(ftb_block_map *map, FtB_Op op, const bool *known, bool single)
{
    static const char *const builtin[NAMES] = {"x", "y", "i"};
    int count = 0;
    for (int n = 0; n < NAMES; n++) {
        map->place[n] = -1;
        if (!known[n])
            continue;
        map->place[n] = count;
        map->names[count] = (ftb_name){.name = builtin[n],
                                       .type = n == I ? FTB_INT64 : map->input[n].type,
                                       .width = n == I || single ? 1 : map->input[n].width};
        map->operands[count] = (ftb_operand){.stride = map->names[count].width};
        count++;
    }
    map->nnames =
        ftb_bound_names(op->nbound, op->bound, map->names, map->operands, count, NAMES + op->nbound);
    ftb_program_delete(map->program);
    map->program = NULL;
    GrB_Info info = ftb_program_new(&map->program, map->ctx, op->body, map->nnames, map->names, false);
    if (info != GrB_SUCCESS)
        return info;
    for (int which = X; which <= Y; which++)
        map->input[which].used = known[which] && ftb_program_uses(map->program, map->place[which]);
    map->uses_i = ftb_program_uses(map->program, map->place[I]);
    return GrB_SUCCESS;
}

/* Whether single values may be items, and whether that is better than rows. */
static void choose_items(ftb_block_map *map)
{
    int64_t ncols = map->heads * map->width;
    bool flat = ftb_program_elementwise(map->program) && !map->uses_i, contiguous = true;
    for (int which = X; which <= Y; which++) {
        input *in = &map->input[which];
        if (!in->used)
            continue;
        bool scalar = in->rows.one_row && in->rows.ncols == 1;
        in->full = in->rows.ncols == ncols && in->step > 0 && !scalar;
        flat = flat && (in->full || in->rows.ncols == 1);
        contiguous = contiguous && (scalar || (in->full && !in->rows.one_row && in->rows.ld == ncols));
    }
    map->contiguous = contiguous;
    map->flat = flat && (contiguous || ncols >= LONG);
    int64_t widest = ftb_max(ftb_max(map->input[X].width, map->input[Y].width), map->width);
    map->batch = map->flat ? FTB_BATCH : ftb_max(1, ftb_min(FTB_BATCH, FTB_BLOCK_PIECE / widest));
}

static GrB_Info make_worker(worker *w, const ftb_block_map *map)
{
    int64_t width = map->flat ? 1 : ftb_max(map->input[X].width, map->input[Y].width);
    int64_t cells = width > INT64_MAX / 64 / map->batch ? INT64_MAX / 64 : width * map->batch;
    int64_t *const first = ftb_new(map->ctx, map->batch + 4 * cells, sizeof(int64_t));
    w->memory = first;
    w->operands = ftb_new(map->ctx, map->nnames, sizeof *w->operands);
    if (!first || !w->operands)
        return ftb_nomem();
    memcpy(w->operands, map->operands, (size_t)map->nnames * sizeof *w->operands);
    w->i = first;
    for (int which = X; which <= Y; which++) {
        w->raw[which] = (char *)(first + map->batch + 2 * which * cells);
        w->cooked[which] = w->raw[which] + cells * (int64_t)sizeof(int64_t);
    }
    w->operands[map->place[I]].data = w->i;
    return ftb_interpreter_new(&w->machine, map->ctx, map->program);
}

static void describe_inputs(ftb_block_map *map, const ftb_block_operand *x, const ftb_block_operand *y)
{
    const ftb_block_operand none = {.type = FTB_FP32, .heads = 1};
    map->input[X].rows = x ? *x : none;
    map->input[Y].rows = y ? *y : none;
    for (int which = X; which <= Y; which++) {
        input *in = &map->input[which];
        in->type = map->domain ? map->domain : in->rows.type;
        in->compute = ftb_type_compute(in->type);
        in->in_place = in->type == in->rows.type && in->compute == in->type && in->type != FTB_BOOL;
    }
}

GrB_Info ftb_block_map_new(ftb_block_map **result, FtB_Context ctx, FtB_Op op, const ftb_block_operand *x,
                           const ftb_block_operand *y, int threads)
{
    const bool known[NAMES] = {x != NULL, y != NULL, true};
    ftb_block_map *map = ftb_new0(ctx, 1, sizeof *map);
    GrB_Info info = GrB_OUT_OF_MEMORY;
    *result = NULL;
    if (!map)
        return ftb_nomem();
    map->ctx = ctx;
    map->domain = op->domain;
    describe_inputs(map, x, y);
    map->names = ftb_new0(ctx, NAMES + op->nbound, sizeof *map->names);
    map->operands = ftb_new0(ctx, NAMES + op->nbound, sizeof *map->operands);
    map->workers = ftb_new0(ctx, threads, sizeof *map->workers);
    if (!map->names || !map->operands || !map->workers)
        FTB_CHECK(ftb_nomem());
    map->nworkers = threads;
    FTB_CHECK(share_heads(map));
    FTB_CHECK(compile(map, op, known, false));
    map->width = ftb_program_width(map->program);
    if (ftb_program_elementwise(map->program)) { /* as "x" is of x and a wider y */
        map->repeats = map->width < ftb_max(map->input[X].width, map->input[Y].width);
        map->width = ftb_max(map->width, ftb_max(map->input[X].width, map->input[Y].width));
    }
    map->type = ftb_program_type(map->program);
    if (map->domain && map->type != FTB_BOOL)
        map->type = map->domain; /* as GraphBLAS: comparisons give BOOL, the rest their own domain */
    choose_items(map);
    if (map->flat && map->width > 1)
        FTB_CHECK(compile(map, op, known, true));
    for (int t = 0; t < threads; t++)
        FTB_CHECK(make_worker(&map->workers[t], map));
    *result = map;
    map = NULL;
done:
    ftb_block_map_delete(map);
    return info;
}

void ftb_block_map_delete(ftb_block_map *map)
{
    if (!map)
        return;
    for (int t = 0; t < map->nworkers; t++) {
        ftb_interpreter_delete(map->workers[t].machine);
        ftb_delete(map->workers[t].operands);
        ftb_delete(map->workers[t].memory);
    }
    ftb_delete(map->workers);
    ftb_program_delete(map->program);
    ftb_delete(map->operands);
    ftb_delete(map->names);
    ftb_delete(map);
}

int ftb_block_map_threads(const ftb_block_map *map) { return map->nworkers; }
int64_t ftb_block_map_ncols(const ftb_block_map *map) { return map->heads * map->width; }
FtB_Type ftb_block_map_type(const ftb_block_map *map) { return map->type; }
bool ftb_block_map_elementwise(const ftb_block_map *map) { return ftb_program_elementwise(map->program); }
bool ftb_block_map_uses_i(const ftb_block_map *map) { return map->uses_i; }
bool ftb_block_map_splits(const ftb_block_map *map) { return map->flat; }
bool ftb_block_map_direct(const ftb_block_map *map) { return map->type == ftb_program_type(map->program); }

GrB_Info ftb_block_map_check(const ftb_block_map *map, int64_t nrows)
{
    return ftb_program_check_rows(map->program, "i", nrows);
}

/* ---- all of a block */

typedef struct whole {
    const ftb_apply_product *product;
    ftb_block_map *map;
    bool direct;   /* results are computed where they stay */
    char *scratch; /* per thread: a piece of results */
    size_t room;   /* bytes of scratch per thread */
} whole;

/* A piece of results, packed, to where they stay. */
static void put(const whole *w, const ftb_block_piece *at, const char *results, char *to)
{
    const ftb_apply_product *a = w->product;
    const size_t size = FtB_Type_size(a->type);
    const bool packed = a->ldo == at->ncols;
    const int64_t rows = packed ? 1 : at->nrows, count = packed ? at->nrows * at->ncols : at->ncols;
    for (int64_t r = 0; r < rows; r++) {
        char *row = to + (size_t)(r * a->ldo) * size;
        if (a->add)
            ftb_monoid_apply(FTB_PLUS, a->type, row, results + (size_t)(r * count) * size, count);
        else
            memcpy(row, results + (size_t)(r * count) * size, (size_t)count * size);
    }
}

static void run_pieces(const whole *w)
{
    const ftb_apply_product *a = w->product;
    const ftb_block_pieces pieces = ftb_pieces_of(a->nrows, a->ncols, ftb_block_map_splits(w->map));
#pragma omp parallel for num_threads(w->map->nworkers) schedule(static)
    for (int64_t p = 0; p < pieces.count; p++) {
        const ftb_block_piece at = ftb_piece_at(&pieces, p);
        const int thread = omp_get_thread_num();
        char *to = (char *)a->out + (size_t)(at.row * a->ldo + at.col) * FtB_Type_size(a->type);
        char *out = w->direct ? to : w->scratch + w->room * (size_t)thread;
        ftb_block_map_run(w->map, thread, &at, NULL, NULL, out);
        if (!w->direct)
            put(w, &at, out, to);
    }
}

GrB_Info ftb_apply_run(const ftb_apply_product *a)
{
    ftb_block_map *made = NULL;
    whole w = {.product = a, .map = a->map};
    GrB_Info info = GrB_SUCCESS;
    if (!w.map) {
        const int threads = ftb_threads_for_values(a->ctx, a->nrows * a->ncols);
        FTB_CHECK(ftb_block_map_new(&made, a->ctx, a->op, &a->x, a->binary ? &a->y : NULL, threads));
        w.map = made;
    }
    w.direct = !a->add && ftb_block_map_direct(w.map) && a->ldo == a->ncols && a->out != a->x.data &&
               !(a->binary && a->out == a->y.data);
    if (!w.direct) {
        const int64_t values = ftb_max(FTB_BLOCK_PIECE, a->ncols);
        w.room = (size_t)values * 8;
        w.scratch = values > INT64_MAX / w.map->nworkers ? ftb_new(a->ctx, INT64_MAX, 8)
                                                         : ftb_new(a->ctx, values * w.map->nworkers, 8);
        if (!w.scratch)
            FTB_CHECK(ftb_nomem());
    }
    run_pieces(&w);
done:
    ftb_delete(w.scratch);
    ftb_block_map_delete(made);
    return info;
}
