/* C<M> = accum(C, T) on blocks, the write rule of GraphBLAS read for rows that are all there:
 *
 *     row i of C =  C's own               where M does not admit i (the fill value under replace)
 *                   accum(C, T)'s, T's    where T has the row
 *                   C's own, fill value   where T lacks it: with, without accum
 *
 * It goes piece by piece, so that a caller that computes T in pieces never stores it. Whatever C's memory is
 * also used for is looked at, or copied, before the first piece is written. */
#include "ops/block/block_map.h"

#include "core/watch.h"
#include "cpu/nn/copy_run.h"
#include "ops/backends.h"
#include "ops/merge.h"

/* ---- what shares memory */

static size_t bytes_of(FtB_Block X)
{
    if (X->nrows == 0 || X->ncols == 0)
        return 0;
    return (size_t)((X->nrows - 1) * X->ld + X->ncols) * FtB_Type_size(X->type);
}

bool ftb_block_overlaps(FtB_Block output, const void *data, size_t bytes)
{
    uintptr_t first = (uintptr_t)ftb_block_address(output), other = (uintptr_t)data;
    size_t own = bytes_of(output);
    return own > 0 && bytes > 0 && first < other + bytes && other < first + own;
}

ftb_alias ftb_block_alias(FtB_Block C, FtB_Block X)
{
    if (!ftb_block_overlaps(C, ftb_block_address(X), bytes_of(X)))
        return FTB_ALIAS_NONE;
    size_t cs = FtB_Type_size(C->type), xs = FtB_Type_size(X->type), pitch = (size_t)C->ld * cs;
    if ((size_t)X->ld * xs != pitch)
        return FTB_ALIAS_OTHER;
    uintptr_t c = (uintptr_t)ftb_block_address(C), x = (uintptr_t)ftb_block_address(X);
    size_t offset = x >= c ? (x - c) % pitch : (pitch - (c - x) % pitch) % pitch;
    if (offset >= (size_t)C->ncols * cs && offset + (size_t)X->ncols * xs <= pitch)
        return FTB_ALIAS_NONE; /* other columns of the same rows */
    return c == x && cs == xs && C->nrows == X->nrows && C->ncols == X->ncols ? FTB_ALIAS_SAME
                                                                              : FTB_ALIAS_OTHER;
}

/* On the host, where they were asked for. */
static ftb_plain_rows rows_of(FtB_Block X)
{
    return (ftb_plain_rows){ftb_block_data(X), X->type, X->nrows, X->ncols, X->ld};
}

GrB_Info ftb_block_as(const void **data, int64_t *ld, void **copy, FtB_Block X, FtB_Type type)
{
    *copy = NULL;
    *data = ftb_block_data(X);
    *ld = X->ld;
    if (X->type == type && type != FTB_BOOL) /* bytes of the caller's may be true in other ways than 1 */
        return GrB_SUCCESS;
    *copy = ftb_new(ftb_context(), X->nrows * X->ncols, FtB_Type_size(type));
    if (!*copy)
        return ftb_nomem();
    const ftb_plain_rows x = rows_of(X);
    ftb_rows_cast(ftb_context(), *copy, type, &x);
    *data = *copy;
    *ld = X->ncols;
    return GrB_SUCCESS;
}

GrB_Info ftb_block_copy(FtB_Block *copy, FtB_Context ctx, FtB_Block X)
{
    void *values = ftb_new(ctx, X->nrows * X->ncols, FtB_Type_size(X->type));
    *copy = NULL;
    if (!values)
        return ftb_nomem();
    const ftb_plain_rows x = rows_of(X);
    ftb_rows_cast(ctx, values, X->type, &x);
    GrB_Info info =
        ftb_block_view(copy, ctx, X->type, X->nrows, X->ncols, X->ncols, ftb_buffer_adopt(ctx, values));
    if (info == GrB_SUCCESS)
        (*copy)->heads = X->heads;
    return info;
}

GrB_Info ftb_op_unalias(FtB_Op op, FtB_Context ctx, FtB_Block C)
{
    for (int b = 0; op && b < op->nbound; b++) {
        FtB_Block *bound = &op->bound[b].block, copy;
        if (!*bound || ftb_block_alias(C, *bound) == FTB_ALIAS_NONE)
            continue;
        GrB_Info info = ftb_buffer_ask((*bound)->owner, FTB_READ);
        if (info == GrB_SUCCESS)
            info = ftb_block_copy(&copy, ctx, *bound);
        if (info != GrB_SUCCESS)
            return info;
        FtB_Block_free(bound);
        *bound = copy;
    }
    return GrB_SUCCESS;
}

/* ---- masks */

static GrB_Info check_mask(FtB_Block M, int64_t nrows)
{
    if (!M || (M->nrows == nrows && M->ncols == 1))
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "M is %lld x %lld; expected %lld x 1", (long long)M->nrows,
                    (long long)M->ncols, (long long)nrows);
}

/* Whether M says the same of every row: *all is what. */
static bool uniform_mask(FtB_Block M, const ftb_flags *flags, bool *all)
{
    *all = !flags->complement;
    return !M || flags->structural;
}

GrB_Info ftb_block_rows(int64_t **rows, int64_t *count, FtB_Block M, const ftb_flags *flags, int64_t nrows)
{
    FtB_Context ctx = ftb_context();
    uint8_t *admitted = NULL;
    bool all;
    *rows = NULL;
    *count = nrows;
    GrB_Info info = check_mask(M, nrows);
    if (info != GrB_SUCCESS || (uniform_mask(M, flags, &all) && all))
        return info;
    if (M && !flags->structural) {
        admitted = ftb_new(ctx, nrows, 1);
        if (!admitted)
            return ftb_nomem();
        const ftb_plain_rows mask = rows_of(M);
        ftb_rows_admitted(ctx, admitted, &mask, flags->complement);
    }
    int64_t kept = 0;
    for (int64_t i = 0; admitted && i < nrows; i++)
        kept += admitted[i];
    *rows = ftb_new(ctx, kept, sizeof **rows);
    if (*rows) {
        *count = kept;
        for (int64_t i = 0, at = 0; admitted && i < nrows; i++)
            if (admitted[i])
                (*rows)[at++] = i;
    } else {
        info = ftb_nomem();
    }
    ftb_delete(admitted);
    return info;
}

/* ---- checks */

static GrB_Info compile_accum(ftb_block_map **map, FtB_Block C, FtB_Op accum, FtB_Type type, int64_t ld,
                              int threads)
{
    const ftb_block_operand x = {ftb_block_address(C), C->type, C->ncols, C->ld, 1, false};
    const ftb_block_operand y = {NULL, type, C->ncols, ld, 1, false};
    GrB_Info info = ftb_accum_error(ftb_block_map_new(map, C->ctx, accum, &x, &y, threads));
    if (info == GrB_SUCCESS && ftb_block_map_ncols(*map) != C->ncols)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "accum: makes %lld values of rows of %lld",
                        (long long)ftb_block_map_ncols(*map), (long long)C->ncols);
    return info == GrB_SUCCESS ? ftb_block_map_check(*map, C->nrows) : info;
}

static GrB_Info check_output(FtB_Block C, FtB_Block M)
{
    if (!ftb_buffer_write(C->owner))
        return ftb_fail(GrB_INVALID_VALUE, "the output wraps memory that must not be written");
    return check_mask(M, C->nrows);
}

GrB_Info ftb_block_write_check(FtB_Block C, FtB_Block M, const ftb_flags *flags, FtB_Op accum, int64_t nrows,
                               int64_t ncols, FtB_Type type)
{
    (void)flags;
    GrB_Info info = check_output(C, M);
    if (info != GrB_SUCCESS)
        return info;
    if (C->nrows != nrows || C->ncols != ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "the output is %lld x %lld; expected %lld x %lld",
                        (long long)C->nrows, (long long)C->ncols, (long long)nrows, (long long)ncols);
    if (!accum || ncols == 0) /* programs know no values of width 0 */
        return GrB_SUCCESS;
    ftb_block_map *map = NULL;
    info = compile_accum(&map, C, accum, type, ncols, 0);
    ftb_block_map_delete(map);
    return info;
}

/* ---- writing */

GrB_Info ftb_block_writer_new(ftb_block_writer **writer, FtB_Block C, FtB_Block M, const ftb_flags *flags,
                              FtB_Op accum, FtB_Type type, int64_t ld, const int64_t *present, int threads)
{
    *writer = NULL;
    GrB_Info info = check_output(C, M);
    if (info != GrB_SUCCESS)
        return info;
    ftb_block_writer *w = ftb_new0(C->ctx, 1, sizeof *w);
    if (!w)
        return ftb_nomem();
    w->to = rows_of(C);
    w->replace = flags->replace;
    w->accumulates = accum != NULL;
    w->present = present;
    w->type = type;
    w->ld = ld;
    ftb_cast(&w->fill, C->type, &flags->fill, FTB_FP64, 1);
    if (!uniform_mask(M, flags, &w->admits_all)) {
        w->admitted = ftb_new(C->ctx, C->nrows, 1);
        if (!w->admitted)
            FTB_CHECK(ftb_nomem());
        const ftb_plain_rows mask = rows_of(M);
        ftb_rows_admitted(C->ctx, w->admitted, &mask, flags->complement);
    }
    if (accum) {
        FTB_CHECK(ftb_op_unalias(accum, C->ctx, C));
        FTB_CHECK(compile_accum(&w->accum, C, accum, type, ld, threads));
        int64_t values = ftb_max(FTB_BLOCK_PIECE, C->ncols);
        w->room = (size_t)values * 8;
        w->scratch = values > INT64_MAX / 8 / threads ? ftb_new(C->ctx, INT64_MAX, 8)
                                                      : ftb_new(C->ctx, values * threads, 8);
        if (!w->scratch)
            FTB_CHECK(ftb_nomem());
    }
    *writer = w;
    w = NULL;
done:
    ftb_block_writer_delete(w);
    return info;
}

GrB_Info ftb_block_write(FtB_Block C, FtB_Block M, const ftb_flags *flags, FtB_Op accum, void *T,
                         FtB_Type type, int64_t ld, const int64_t *present)
{
    ftb_block_writer *w = NULL;
    if (C->nrows == 0 || C->ncols == 0)
        return check_output(C, M);
    int threads = ftb_threads_for_values(C->ctx, C->nrows * C->ncols);
    GrB_Info info = ftb_block_writer_new(&w, C, M, flags, accum, type, ld, present, threads);
    if (info != GrB_SUCCESS)
        return info;
    if (T != ftb_block_data(C) || !ftb_block_writer_plain(w))
        ftb_block_writer_all(w, T, threads);
    ftb_block_writer_delete(w);
    return GrB_SUCCESS;
}

/* ---- rows as they are */

GrB_Info ftb_block_put(ftb_copy_product *p, FtB_Block y, FtB_Block x)
{
    const ftb_backend *who = FTB_WHO(y->ctx, copy);
    const ftb_place places[] = {{.X = x, .read = &p->x}, {.X = y, .write = &p->y, .whole = !p->add}};
    GrB_Info info;
    p->ctx = y->ctx;
    p->type = y->type;
    p->nrows = y->nrows;
    p->ncols = y->ncols;
    p->ldy = y->ld;
    FTB_RUN(info, who, copy, places, p);
    return info;
}
