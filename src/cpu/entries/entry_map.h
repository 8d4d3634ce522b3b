/* An elementwise operator run over listed entries, in batches: what apply, select, element-wise
 * operations, accumulators and reductions share. */
#ifndef FTB_MAP_H
#define FTB_MAP_H

#include "core/core.h"
#include "cpu/interpreter.h"

/* Where an operand's values are: entry e has `width` values from values + e * ld. */
typedef struct ftb_map_input {
    const void *values; /* NULL: every entry is one value, 1 */
    FtB_Type type;
    int64_t width, ld;
} ftb_map_input;

enum { FTB_MAP_X, FTB_MAP_Y, FTB_MAP_I, FTB_MAP_J, FTB_MAP_DI, FTB_MAP_DJ, FTB_MAP_NAMES };

/* One thread's pending items and scratch memory. */
typedef struct ftb_batch {
    _Alignas(FTB_LINE) const struct ftb_map *map;
    ftb_interpreter *machine;
    ftb_operand *operands;
    int64_t count;
    bool places;          /* i and j are wanted */
    int64_t *x, *y, *out; /* per item: the entries read and the one written */
    int64_t *i, *j;
    int64_t *di, *dj;
    char *raw[2], *cooked[2]; /* operands: as gathered, and cast */
    char *result[2];
    void *memory; /* holds all of the arrays above */
} ftb_batch;

typedef struct ftb_map {
    FtB_Context ctx;
    ftb_program *program;
    FtB_Type domain; /* operands and the result are cast to it; 0: to nothing */
    FtB_Type type;   /* of the result, before it is cast to out_type */
    int64_t width;   /* values per result */
    bool uses[FTB_MAP_NAMES];
    int place[FTB_MAP_NAMES]; /* among the program's operands */
    ftb_map_input input[2];
    const int64_t *rowptr;         /* di is the length of row i */
    const int64_t *numbers;        /* row r of what is run is row numbers[r] to the text; NULL: row r */
    const int64_t *column_degrees; /* dj, when used: the pattern's */
    ftb_name *names;
    ftb_operand *operands; /* those that stay the same for all items */
    int nnames;            /* built in and bound */
    void *out;             /* set by ftb_map_output */
    FtB_Type out_type;
    int nbatches;
    ftb_batch *batches; /* one per thread */
} ftb_map;

/* Compiles `op` over x, y (NULL: unknown to the text), i, j, and, with `degrees`, di and dj of that
 * pattern. Makes one batch per thread, so that nothing is allocated while running. */
GrB_Info ftb_map_new(ftb_map **map, FtB_Context ctx, FtB_Op op, const ftb_map_input *x,
                     const ftb_map_input *y, ftb_pattern *degrees, int threads);
void ftb_map_delete(ftb_map *map); /* NULL is allowed */
/* That blocks indexed by i and j have a row for every item of an nrows x ncols matrix. */
static inline GrB_Info ftb_map_check_rows(const ftb_map *map, int64_t nrows, int64_t ncols)
{
    GrB_Info info = ftb_program_check_rows(map->program, "i", nrows);
    return info == GrB_SUCCESS ? ftb_program_check_rows(map->program, "j", ncols) : info;
}
/* Results go to out, map->width values of `type` per item. */
static inline void ftb_map_output(ftb_map *map, void *out, FtB_Type type)
{
    map->out = out;
    map->out_type = type;
}
/* Runs what is pending. */
void ftb_batch_flush(ftb_batch *b);
/* out[out] = op(x's entry x, y's entry y) at (i, j); runs when the batch is full. */
static inline void ftb_batch_push(ftb_batch *b, int64_t x, int64_t y, int64_t out, int64_t i, int64_t j)
{
    int64_t t = b->count++;
    b->x[t] = x;
    b->y[t] = y;
    b->out[t] = out;
    if (b->places) {
        b->i[t] = i;
        b->j[t] = j;
    }
    if (t + 1 == FTB_BATCH)
        ftb_batch_flush(b);
}

/* How many entries each column has (dj), counted once and kept with the pattern. */
GrB_Info ftb_column_degrees(const int64_t **degrees, ftb_pattern *p);

/* out's entry e = op(x's entry e), for all entries of p; y stays unused. */
GrB_Info ftb_map_run(ftb_map *map, const ftb_pattern *p);

#endif
