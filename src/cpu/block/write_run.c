/* The write rule on rows, piece by piece (write_run.h). */
#include "cpu/block/write_run.h"

#include <omp.h>

typedef enum row_state { ROW_KEEPS, ROW_GETS, ROW_FILLS } row_state;

/* nrows x ncols values, cast, from rows that are `from_ld` apart to rows that are `ld` apart. */
static void cast_rows(char *to, FtB_Type type, int64_t ld, const char *from, FtB_Type from_type,
                      int64_t from_ld, int64_t nrows, int64_t ncols)
{
    size_t size = FtB_Type_size(type), from_size = FtB_Type_size(from_type);
    if (ld == ncols && from_ld == ncols) {
        ftb_cast(to, type, from, from_type, nrows * ncols);
        return;
    }
    for (int64_t r = 0; r < nrows; r++)
        ftb_cast(to + (size_t)(r * ld) * size, type, from + (size_t)(r * from_ld) * from_size, from_type,
                 ncols);
}

void ftb_rows_cast(FtB_Context ctx, void *to, FtB_Type type, const ftb_plain_rows *x)
{
    ftb_block_pieces pieces = ftb_pieces_of(x->nrows, x->ncols, true);
    int threads = ftb_threads_for_values(ctx, x->nrows * x->ncols);
    size_t size = FtB_Type_size(type), from = FtB_Type_size(x->type);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t p = 0; p < pieces.count; p++) {
        ftb_block_piece at = ftb_piece_at(&pieces, p);
        cast_rows((char *)to + (size_t)(at.row * x->ncols + at.col) * size, type, x->ncols,
                  (const char *)x->data + (size_t)(at.row * x->ld + at.col) * from, x->type, x->ld, at.nrows,
                  at.ncols);
    }
}

static char *row_of(const ftb_plain_rows *x, int64_t i)
{
    return (char *)x->data + (size_t)(i * x->ld) * FtB_Type_size(x->type);
}

void ftb_rows_spread(FtB_Context ctx, void *to, FtB_Type type, int64_t ncols, const ftb_plain_rows *x)
{
    const size_t size = FtB_Type_size(type);
    if (x->ncols == ncols) {
        ftb_rows_cast(ctx, to, type, x);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(ctx, x->nrows *ncols))
    for (int64_t i = 0; i < x->nrows; i++) {
        uint64_t value;
        ftb_cast(&value, type, row_of(x, i), x->type, 1);
        ftb_fill((char *)to + (size_t)(i * ncols) * size, ncols, &value, size);
    }
}

void ftb_rows_wrap(FtB_Context ctx, const ftb_plain_rows *x, FtB_Type domain)
{
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(ctx, x->nrows * x->ncols))
    for (int64_t i = 0; i < (domain ? x->nrows : 0); i++) {
        ftb_cast(row_of(x, i), domain, row_of(x, i), x->type, x->ncols); /* down, and up again */
        ftb_cast(row_of(x, i), x->type, row_of(x, i), domain, x->ncols);
    }
}

/* Rows first .. last - 1. Of one value each all are written, which is no branch that is guessed wrong. */
static void fill_empty(const ftb_plain_rows *x, const int64_t *rowptr, const void *cell, int64_t first,
                       int64_t last)
{
    const size_t size = FtB_Type_size(x->type);
    uint32_t few;
    uint64_t value;
    memcpy(&few, cell, sizeof few);
    memcpy(&value, cell, sizeof value);
    if (x->ncols == 1 && x->ld == 1 && size == sizeof few)
        for (int64_t i = first; i < last; i++)
            ((uint32_t *)x->data)[i] = rowptr[i] == rowptr[i + 1] ? few : ((uint32_t *)x->data)[i];
    else if (x->ncols == 1 && x->ld == 1 && size == sizeof value)
        for (int64_t i = first; i < last; i++)
            ((uint64_t *)x->data)[i] = rowptr[i] == rowptr[i + 1] ? value : ((uint64_t *)x->data)[i];
    else
        for (int64_t i = first; i < last; i++)
            if (rowptr[i] == rowptr[i + 1])
                ftb_fill(row_of(x, i), x->ncols, cell, size);
}

void ftb_rows_fill(FtB_Context ctx, const ftb_plain_rows *x, double value)
{
    enum { ROWS = 4096 };
    const size_t size = FtB_Type_size(x->type);
    const bool packed = x->ld == x->ncols;
    uint64_t cell;
    ftb_cast(&cell, x->type, &value, FTB_FP64, 1);
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(ctx, x->nrows * x->ncols))
    for (int64_t i = 0; i < x->nrows; i += ROWS) {
        const int64_t rows = ftb_min(ROWS, x->nrows - i);
        for (int64_t t = 0; t < (packed ? 1 : rows); t++)
            ftb_fill(row_of(x, i + t), packed ? rows * x->ncols : x->ncols, &cell, size);
    }
}

void ftb_rows_return(FtB_Context ctx, const ftb_plain_rows *to, const ftb_plain_rows *x,
                     const int64_t *numbers)
{
    const size_t bytes = (size_t)x->ncols * FtB_Type_size(x->type);
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(ctx, x->nrows * x->ncols))
    for (int64_t r = 0; r < x->nrows; r++)
        memcpy(row_of(to, numbers[r]), row_of(x, r), bytes);
}

void ftb_rows_fill_empty(FtB_Context ctx, const ftb_plain_rows *x, const int64_t *rowptr, double value)
{
    uint64_t cell = 0;
    ftb_cast(&cell, x->type, &value, FTB_FP64, 1);
#pragma omp parallel for num_threads(ftb_threads_for(ctx, x->nrows)) schedule(static)
    for (int64_t first = 0; first < x->nrows; first += FTB_BLOCK_PIECE)
        fill_empty(x, rowptr, &cell, first, ftb_min(first + FTB_BLOCK_PIECE, x->nrows));
}

enum { PUT = 64 }; /* values that are added at a time */

static void put_row(const ftb_plain_rows *to, const ftb_plain_rows *x, int64_t i, bool add)
{
    const size_t size = FtB_Type_size(to->type);
    double sum[PUT], added[PUT];
    for (int64_t f = 0, count; f < to->ncols; f += count) {
        char *at = row_of(to, i) + (size_t)f * size;
        const char *from = row_of(x, i) + (size_t)f * FtB_Type_size(x->type);
        count = add ? ftb_min(PUT, to->ncols - f) : to->ncols;
        if (!add) {
            ftb_cast(at, to->type, from, x->type, count);
            continue;
        }
        ftb_cast(sum, FTB_FP64, at, to->type, count);
        ftb_cast(added, FTB_FP64, from, x->type, count);
        for (int64_t t = 0; t < count; t++)
            sum[t] += added[t];
        ftb_cast(at, to->type, sum, FTB_FP64, count);
    }
}

void ftb_rows_put(FtB_Context ctx, const ftb_plain_rows *to, const ftb_plain_rows *x, bool add)
{
    const size_t bytes = (size_t)to->ncols * FtB_Type_size(to->type);
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(ctx, to->nrows * to->ncols))
    for (int64_t i = 0; i < to->nrows; i++)
        if (i < x->nrows)
            put_row(to, x, i, add);
        else if (!add)
            memset(row_of(to, i), 0, bytes);
}

void ftb_rows_admitted(FtB_Context ctx, uint8_t *admitted, const ftb_plain_rows *mask, bool complement)
{
    size_t size = FtB_Type_size(mask->type);
    int threads = ftb_threads_for(ctx, mask->nrows);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t first = 0; first < mask->nrows; first += FTB_BLOCK_PIECE) {
        int64_t count = ftb_min(FTB_BLOCK_PIECE, mask->nrows - first);
        cast_rows((char *)admitted + first, FTB_BOOL, 1,
                  (const char *)mask->data + (size_t)(first * mask->ld) * size, mask->type, mask->ld, count,
                  1);
        for (int64_t i = first; i < first + count; i++)
            admitted[i] = admitted[i] != complement;
    }
}

/* ---- writing */

void ftb_block_writer_delete(ftb_block_writer *w)
{
    if (!w)
        return;
    ftb_block_map_delete(w->accum);
    ftb_delete(w->scratch);
    ftb_delete(w->admitted);
    ftb_delete(w);
}

bool ftb_block_writer_splits(const ftb_block_writer *w)
{
    return !w->accum || ftb_block_map_splits(w->accum);
}

bool ftb_block_writer_plain(const ftb_block_writer *w)
{
    return !w->accumulates && !w->admitted && w->admits_all && !w->present;
}

static row_state state_of(const ftb_block_writer *w, int64_t i)
{
    if (!(w->admitted ? w->admitted[i] : w->admits_all))
        return w->replace ? ROW_FILLS : ROW_KEEPS;
    if (!w->present || w->present[i] < w->present[i + 1])
        return ROW_GETS;
    return w->accumulates ? ROW_KEEPS : ROW_FILLS;
}

static void fill_rows(const ftb_block_writer *w, const ftb_block_piece *rows, char *to)
{
    size_t size = FtB_Type_size(w->to.type);
    for (int64_t r = 0; r < rows->nrows; r++, to += (size_t)w->to.ld * size)
        ftb_fill(to, rows->ncols, &w->fill, size);
}

static void get_rows(const ftb_block_writer *w, int thread, const ftb_block_piece *rows, char *to,
                     const char *T)
{
    FtB_Type type = w->type;
    int64_t ld = rows->nrows > 1 ? w->ld : rows->ncols, to_ld = rows->nrows > 1 ? w->to.ld : rows->ncols;
    if (w->accum) {
        char *result = w->scratch + w->room * (size_t)thread;
        ftb_block_map_run(w->accum, thread, rows, NULL, T, result);
        T = result;
        type = ftb_block_map_type(w->accum);
        ld = rows->ncols;
    }
    if (T != to || type != w->to.type)
        cast_rows(to, w->to.type, to_ld, T, type, ld, rows->nrows, rows->ncols);
}

void ftb_block_writer_run(const ftb_block_writer *w, int thread, const ftb_block_piece *piece, const void *T)
{
    size_t size = FtB_Type_size(w->to.type), from = FtB_Type_size(w->type);
    for (int64_t first = 0, end; first < piece->nrows; first = end) {
        row_state state = state_of(w, piece->row + first);
        end = first + 1;
        while (end < piece->nrows && state_of(w, piece->row + end) == state)
            end++;
        const ftb_block_piece rows = {piece->row + first, end - first, piece->col, piece->ncols};
        char *to = (char *)w->to.data + (size_t)(rows.row * w->to.ld + rows.col) * size;
        if (state == ROW_GETS)
            get_rows(w, thread, &rows, to, (const char *)T + (size_t)(first * w->ld) * from);
        else if (state == ROW_FILLS)
            fill_rows(w, &rows, to);
    }
}

void ftb_block_writer_all(const ftb_block_writer *w, const void *T, int threads)
{
    const ftb_block_pieces pieces = ftb_pieces_of(w->to.nrows, w->to.ncols, ftb_block_writer_splits(w));
    const size_t size = FtB_Type_size(w->type);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t p = 0; p < pieces.count; p++) {
        const ftb_block_piece at = ftb_piece_at(&pieces, p);
        ftb_block_writer_run(w, omp_get_thread_num(), &at,
                             (const char *)T + (size_t)(at.row * w->ld + at.col) * size);
    }
}

void ftb_block_writer_map(const ftb_block_writer *w, const ftb_block_map *map, char *scratch, size_t room)
{
    const bool split = ftb_block_map_splits(map) && ftb_block_writer_splits(w);
    const ftb_block_pieces pieces = ftb_pieces_of(w->to.nrows, w->to.ncols, split);
#pragma omp parallel for num_threads(ftb_block_map_threads(map)) schedule(static)
    for (int64_t p = 0; p < pieces.count; p++) {
        const ftb_block_piece at = ftb_piece_at(&pieces, p);
        const int thread = omp_get_thread_num();
        char *out = scratch + room * (size_t)thread;
        ftb_block_map_run(map, thread, &at, NULL, NULL, out);
        ftb_block_writer_run(w, thread, &at, out);
    }
}
