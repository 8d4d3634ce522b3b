/* Elementwise operators over listed entries.
 *
 * Items are collected up to FTB_BATCH; a batch gathers the operands' values (in place where the
 * entries are consecutive), casts them to the operator's domain and compute type, runs the program
 * and scatters the results. Operands keep their own dtype: the one cast is the result's. */
#include "cpu/entries/entry_map.h"

#include <omp.h>

#define PARTS_PER_THREAD 16

/* ---- running */

static bool consecutive(const int64_t *at, int64_t count)
{
    for (int64_t t = 1; t < count; t++)
        if (at[t] != at[0] + t)
            return false;
    return true;
}

static void gather_items(char *restrict to, const char *restrict from, const int64_t *at, int64_t count,
                         size_t item, size_t step)
{
    switch (item) {
    case 4:
        for (int64_t t = 0; t < count; t++)
            memcpy(to + 4 * t, from + (size_t)at[t] * step, 4);
        break;
    case 8:
        for (int64_t t = 0; t < count; t++)
            memcpy(to + 8 * t, from + (size_t)at[t] * step, 8);
        break;
    default:
        for (int64_t t = 0; t < count; t++)
            memcpy(to + (size_t)t * item, from + (size_t)at[t] * step, item);
    }
}

static void scatter_items(char *restrict to, const char *restrict from, const int64_t *at, int64_t count,
                          size_t item)
{
    switch (item) {
    case 4:
        for (int64_t t = 0; t < count; t++)
            memcpy(to + 4 * at[t], from + 4 * t, 4);
        break;
    case 8:
        for (int64_t t = 0; t < count; t++)
            memcpy(to + 8 * at[t], from + 8 * t, 8);
        break;
    default:
        for (int64_t t = 0; t < count; t++)
            memcpy(to + (size_t)at[t] * item, from + (size_t)t * item, item);
    }
}

/* The values of x (which = 0) or y (1) for the pending items, in the compute type. */
static const void *gather(ftb_batch *b, int which)
{
    const ftb_map_input *in = &b->map->input[which];
    const int64_t *at = which ? b->y : b->x;
    size_t size = FtB_Type_size(in->type), item = size * (size_t)in->width, step = size * (size_t)in->ld;
    const char *values = in->values;
    if (in->ld == in->width && consecutive(at, b->count)) {
        values += (size_t)at[0] * step;
    } else {
        gather_items(b->raw[which], values, at, b->count, item, step);
        values = b->raw[which];
    }
    FtB_Type type = in->type, domain = b->map->domain;
    if (domain && domain != type) {
        ftb_cast(b->cooked[which], domain, values, type, b->count * in->width);
        values = b->cooked[which];
        type = domain;
    }
    FtB_Type compute = ftb_type_compute(type);
    if (compute != type) {
        char *to = values == b->cooked[which] ? b->raw[which] : b->cooked[which];
        ftb_cast(to, compute, values, type, b->count * in->width);
        values = to;
    }
    return values;
}

/* Degrees are looked up by the rows that are held, before these become the matrix's. */
static void fill_degrees(ftb_batch *b)
{
    const ftb_map *map = b->map;
    if (map->uses[FTB_MAP_DI])
        for (int64_t t = 0; t < b->count; t++)
            b->di[t] = map->rowptr[b->i[t] + 1] - map->rowptr[b->i[t]];
    if (map->uses[FTB_MAP_DJ])
        for (int64_t t = 0; t < b->count; t++)
            b->dj[t] = map->column_degrees[b->j[t]];
    if (map->numbers && map->uses[FTB_MAP_I])
        for (int64_t t = 0; t < b->count; t++)
            b->i[t] = map->numbers[b->i[t]];
}

void ftb_batch_flush(ftb_batch *b)
{
    const ftb_map *map = b->map;
    int64_t count = b->count;
    if (count == 0)
        return;
    for (int which = 0; which < 2; which++)
        if (map->uses[which] && map->input[which].values)
            b->operands[map->place[which]].data = gather(b, which);
    fill_degrees(b);
    ftb_interpreter_run(b->machine, count, b->operands, b->result[0]);
    const char *result = b->result[0];
    FtB_Type type = ftb_program_type(map->program);
    if (map->type != type) {
        ftb_cast(b->result[1], map->type, result, type, count * map->width);
        result = b->result[1];
        type = map->type;
    }
    size_t item = FtB_Type_size(map->out_type) * (size_t)map->width;
    if (consecutive(b->out, count)) {
        ftb_cast((char *)map->out + (size_t)b->out[0] * item, map->out_type, result, type,
                 count * map->width);
    } else {
        char *to = result == b->result[0] ? b->result[1] : b->result[0];
        ftb_cast(to, map->out_type, result, type, count * map->width);
        scatter_items(map->out, to, b->out, count, item);
    }
    b->count = 0;
}

GrB_Info ftb_map_run(ftb_map *map, const ftb_pattern *p)
{
    const int threads = map->nbatches;
    int64_t parts = ftb_max(1, ftb_min((int64_t)threads * PARTS_PER_THREAD, p->nvals / FTB_BATCH));
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
        ftb_batch *batch = &map->batches[omp_get_thread_num()];
        int64_t first = ftb_pattern_cut(p, part, parts);
        int64_t end = ftb_pattern_cut(p, part + 1, parts);
        if (ftb_cancelled(map->ctx))
            continue;
        for (int64_t i = first; i < end; i++)
            for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
                ftb_batch_push(batch, e, e, e, i, ftb_col(p, e));
        ftb_batch_flush(batch);
    }
    return ftb_check_cancelled(map->ctx);
}

/* ---- making */

static const char *const builtin[FTB_MAP_NAMES] = {"x", "y", "i", "j", "di", "dj"};
/* What an operand holds that is 1 for every entry, in each compute type. */
static const uint8_t one_bool = 1;
static const int64_t one_int64 = 1;
static const uint64_t one_uint64 = 1;
static const float one_fp32 = 1;
static const double one_fp64 = 1;

static const void *one(FtB_Type compute)
{
    switch (compute) {
    case FTB_BOOL:
        return &one_bool;
    case FTB_UINT64:
        return &one_uint64;
    case FTB_FP32:
        return &one_fp32;
    case FTB_FP64:
        return &one_fp64;
    default:
        return &one_int64;
    }
}

/* Names in the order of the FTB_MAP_ constants, less those that are unknown here, then the bound ones. */
static GrB_Info compile(ftb_map *map, FtB_Op op, const bool *known)
{
    ftb_name *names = ftb_new0(map->ctx, FTB_MAP_NAMES + op->nbound, sizeof *names);
    ftb_operand *operands = ftb_new0(map->ctx, FTB_MAP_NAMES + op->nbound, sizeof *operands);
    map->names = names;
    map->operands = operands;
    if (!names || !operands)
        return ftb_nomem();
    int count = 0;
    for (int n = 0; n < FTB_MAP_NAMES; n++) {
        map->place[n] = -1;
        if (!known[n])
            continue;
        map->place[n] = count;
        names[count].name = builtin[n];
        names[count].type = n <= FTB_MAP_Y ? (map->domain ? map->domain : map->input[n].type) : FTB_INT64;
        names[count].width = n <= FTB_MAP_Y ? map->input[n].width : 1;
        operands[count].stride = names[count].width;
        if (n <= FTB_MAP_Y && !map->input[n].values)
            operands[count] = (ftb_operand){one(ftb_type_compute(names[count].type)), 0};
        count++;
    }
    map->nnames = ftb_bound_names(op->nbound, op->bound, names, operands, count, FTB_MAP_NAMES + op->nbound);
    GrB_Info info = ftb_program_new(&map->program, map->ctx, op->body, map->nnames, names, false);
    if (info != GrB_SUCCESS)
        return info;
    for (int n = 0; n < FTB_MAP_NAMES; n++)
        map->uses[n] = known[n] && ftb_program_uses(map->program, map->place[n]);
    map->width = ftb_program_width(map->program);
    map->type = ftb_program_type(map->program);
    if (map->domain && map->type != FTB_BOOL)
        map->type = map->domain; /* as GraphBLAS: comparisons give BOOL, the rest their own domain */
    return GrB_SUCCESS;
}

/* dj of all columns, kept with the pattern: int64_t. */
static GrB_Info count_columns(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    ftb_buffer *made = ftb_buffer_new(p->ctx, p->ncols, sizeof(int64_t));
    (void)arg;
    if (!made)
        return ftb_nomem();
    to->buffers[0] = made;
    int64_t *degrees = ftb_buffer_data(made);
#pragma omp parallel for num_threads(ftb_threads_for(p->ctx, p->nvals)) schedule(static)
    for (int64_t e = 0; e < p->nvals; e++) {
        int64_t j = ftb_col(p, e);
#pragma omp atomic
        degrees[j]++;
    }
    return GrB_SUCCESS;
}

GrB_Info ftb_column_degrees(const int64_t **degrees, ftb_pattern *p)
{
    static const char kind;
    const ftb_derived *found;
    const GrB_Info info = ftb_derived_ask(&found, p, &kind, 0, count_columns, NULL);
    if (info == GrB_SUCCESS)
        *degrees = ftb_buffer_data(found->buffers[0]);
    return info;
}

/* Lays out one batch's arrays in one allocation. */
static GrB_Info make_batch(ftb_batch *b, const ftb_map *map)
{
    int64_t widest = ftb_max(ftb_max(map->input[0].width, map->input[1].width), map->width);
    if (widest > INT64_MAX / (16 * FTB_BATCH * (int64_t)sizeof(int64_t)))
        return ftb_fail(GrB_OUT_OF_MEMORY, "a width of %lld is too large", (long long)widest);
    int64_t *const first = ftb_new(map->ctx, (7 + 6 * widest) * FTB_BATCH, sizeof(int64_t));
    b->memory = first;
    b->operands = ftb_new(map->ctx, map->nnames, sizeof *b->operands);
    if (!first || !b->operands)
        return ftb_nomem();
    memcpy(b->operands, map->operands, (size_t)map->nnames * sizeof *b->operands);
    int64_t **const indices[7] = {&b->x, &b->y, &b->out, &b->i, &b->j, &b->di, &b->dj};
    char **const values[6] = {&b->raw[0],    &b->raw[1],    &b->cooked[0],
                              &b->cooked[1], &b->result[0], &b->result[1]};
    for (int n = 0; n < 7; n++)
        *indices[n] = first + n * FTB_BATCH;
    for (int n = 0; n < 6; n++)
        *values[n] = (char *)(first + (7 + n * widest) * FTB_BATCH);
    b->places =
        map->uses[FTB_MAP_I] || map->uses[FTB_MAP_J] || map->uses[FTB_MAP_DI] || map->uses[FTB_MAP_DJ];
    const int64_t *const at[4] = {b->i, b->j, b->di, b->dj};
    for (int n = FTB_MAP_I; n < FTB_MAP_NAMES; n++)
        if (map->uses[n])
            b->operands[map->place[n]].data = at[n - FTB_MAP_I];
    return ftb_interpreter_new(&b->machine, map->ctx, map->program);
}

GrB_Info ftb_map_new(ftb_map **result, FtB_Context ctx, FtB_Op op, const ftb_map_input *x,
                     const ftb_map_input *y, ftb_pattern *degrees, int threads)
{
    GrB_Info info = GrB_SUCCESS;
    bool known[FTB_MAP_NAMES] = {x != NULL, y != NULL, true, true, degrees != NULL, degrees != NULL};
    ftb_map *map = ftb_new0(ctx, 1, sizeof *map);
    *result = NULL;
    if (!map)
        return ftb_nomem();
    map->ctx = ctx;
    map->domain = op->domain;
    if (x)
        map->input[0] = *x;
    if (y)
        map->input[1] = *y;
    FTB_CHECK(compile(map, op, known));
    if (degrees) {
        map->rowptr = degrees->rowptr;
        map->numbers = degrees->numbers;
    }
    if (map->uses[FTB_MAP_DJ])
        FTB_CHECK(ftb_column_degrees(&map->column_degrees, degrees));
    map->batches = ftb_new0(ctx, threads, sizeof *map->batches);
    if (!map->batches)
        FTB_CHECK(ftb_nomem());
    map->nbatches = threads;
    for (int t = 0; t < threads; t++) {
        map->batches[t].map = map;
        FTB_CHECK(make_batch(&map->batches[t], map));
    }
    *result = map;
    map = NULL;
done:
    ftb_map_delete(map);
    return info;
}

void ftb_map_delete(ftb_map *map)
{
    if (!map)
        return;
    for (int t = 0; t < map->nbatches; t++) {
        ftb_interpreter_delete(map->batches[t].machine);
        ftb_delete(map->batches[t].operands);
        ftb_delete(map->batches[t].memory);
    }
    ftb_delete(map->batches);
    ftb_program_delete(map->program);
    ftb_delete(map->operands);
    ftb_delete(map->names);
    ftb_delete(map);
}
