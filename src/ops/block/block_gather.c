/* Y(t,:) = X(rows[t],:) and Y(rows[t],:) = accum(Y(rows[t],:), X(t,:)): picking and spreading rows.
 * Arguments, and where they are run. */
#include "ops/backends.h"
#include "ops/block/block_map.h"

#include "core/watch.h"
#include "core/words.h"
#include "cpu/block/gather_run.h"
#include "ops/merge.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_gather
#undef FtB_scatter

typedef struct move_call {
    FtB_Context ctx; /* Y's */
    FtB_Block Y, X, copy;
    FtB_Op accum;
    const int64_t *rows;
    int64_t *own_rows;
    int64_t count, bound;
    bool direct; /* from X as it is, to values of its type */
    ftb_block_map *map;
} move_call;

/* ---- arguments */

static GrB_Info unwrap(move_call *c, FtB_Arg Y, FtB_Arg X)
{
    GrB_Info info = ftb_arg_block_anywhere(&c->Y, Y, "Y", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_block_anywhere(&c->X, X, "X", false);
    if (info != GrB_SUCCESS)
        return info;
    c->ctx = c->Y->ctx;
    if (!ftb_buffer_write(c->Y->owner))
        return ftb_fail(GrB_INVALID_VALUE, "Y wraps memory that must not be written");
    return GrB_SUCCESS;
}

static GrB_Info check_shape(const move_call *c, FtB_Block listed, const char *name)
{
    if (c->count < 0)
        return ftb_fail(GrB_INVALID_VALUE, "count is %lld; expected >= 0", (long long)c->count);
    if (c->count > 0 && !c->rows)
        return ftb_fail(GrB_NULL_POINTER, "rows is NULL; expected %lld indices", (long long)c->count);
    if (listed->nrows != c->count)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld; expected %lld rows, one for each index",
                        name, (long long)listed->nrows, (long long)listed->ncols, (long long)c->count);
    if (c->Y->ncols != c->X->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "Y has %lld columns and X %lld; expected equal numbers",
                        (long long)c->Y->ncols, (long long)c->X->ncols);
    return GrB_SUCCESS;
}

static GrB_Info check_rows(const move_call *c)
{
    int64_t bad = ftb_rows_beyond(c->ctx, c->rows, c->count, c->X->ncols, c->bound);
    if (bad == c->count)
        return GrB_SUCCESS;
    char below[FTB_WORDS];
    return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "rows[%lld] is %lld; expected %s", (long long)bad,
                    (long long)c->rows[bad], ftb_below_text(below, c->bound));
}

/* X and rows are read while Y is written: what lies inside Y is copied. */
static GrB_Info unalias(move_call *c)
{
    size_t bytes = (size_t)c->count * sizeof *c->rows;
    if (ftb_block_overlaps(c->Y, c->rows, bytes)) {
        c->own_rows = ftb_new(c->ctx, c->count, sizeof *c->rows);
        if (!c->own_rows)
            return ftb_nomem();
        c->rows = memcpy(c->own_rows, c->rows, bytes);
    }
    c->direct = c->X->type == c->Y->type;
    if (ftb_block_alias(c->Y, c->X) != FTB_ALIAS_NONE) {
        c->direct = false;
        GrB_Info info = ftb_buffer_ask_as(c->X->owner, FTB_READ, "X");
        if (info == GrB_SUCCESS)
            info = ftb_block_copy(&c->copy, c->ctx, c->X);
        if (info != GrB_SUCCESS)
            return info;
        c->X = c->copy;
    }
    return GrB_SUCCESS;
}

static GrB_Info finish(move_call *c, GrB_Info info)
{
    ftb_block_map_delete(c->map);
    ftb_delete(c->own_rows);
    FtB_Block_free(&c->copy);
    FtB_Op_free(&c->accum);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c->ctx);
    return info;
}

GrB_Info FtB_gather(FtB_Arg Y, FtB_Arg X, const int64_t *rows, int64_t count)
{
    move_call c = {.rows = rows, .count = count};
    GrB_Info info = unwrap(&c, Y, X);
    if (info != GrB_SUCCESS)
        goto done;
    c.bound = c.X->nrows;
    FTB_CHECK(check_shape(&c, c.Y, "Y"));
    FTB_CHECK(check_rows(&c));
    FTB_CHECK(unalias(&c));
    FTB_CHECK(ftb_check_cancelled(c.ctx));
    ftb_gather_product g = {.ctx = c.ctx,
                            .rows = c.rows,
                            .count = count,
                            .ncols = c.X->ncols,
                            .ldx = c.X->ld,
                            .ldy = c.Y->ld,
                            .xtype = c.X->type,
                            .ytype = c.Y->type};
    const ftb_place places[] = {{.X = c.X, .read = &g.x, .name = "X"},
                                {.X = c.Y, .write = &g.y, .whole = true, .name = "Y"}};
    const ftb_backend *who = c.direct ? FTB_WHO(c.ctx, gather) : NULL;
    FTB_RUN(info, who, gather, places, &g);
done:
    return finish(&c, info);
}

/* ---- scattering */

/* How rows of X become part of Y's: a monoid on values as they are, or compiled. */
static GrB_Info prepare_accum(move_call *c, ftb_scatter_product *s)
{
    GrB_Info info = ftb_op_unalias(c->accum, c->ctx, c->Y);
    if (info != GrB_SUCCESS)
        return info;
    if (s->xtype == s->ytype && ftb_op_is_monoid(&s->monoid, c->accum, s->ytype)) {
        s->how = FTB_SCATTER_FOLD;
        return GrB_SUCCESS;
    }
    const ftb_block_operand x = {NULL, s->ytype, s->ncols, s->ncols, 1, false};
    const ftb_block_operand y = {NULL, s->xtype, s->ncols, s->ncols, 1, false};
    const int threads = ftb_threads_for(c->ctx, c->count * s->ncols);
    info = ftb_accum_error(ftb_block_map_new(&c->map, c->ctx, c->accum, &x, &y, threads));
    if (info == GrB_SUCCESS)
        info = ftb_block_map_check(c->map, c->Y->nrows);
    if (info != GrB_SUCCESS)
        return info;
    if (ftb_block_map_ncols(c->map) != s->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "accum: makes %lld values of rows of %lld",
                        (long long)ftb_block_map_ncols(c->map), (long long)s->ncols);
    s->how = FTB_SCATTER_MAP;
    s->map = c->map;
    return GrB_SUCCESS;
}

/* A device replaces and adds, of some types at least. */
static const ftb_backend *who_scatters(const move_call *c, const ftb_scatter_product *s)
{
    bool known = s->how == FTB_SCATTER_REPLACE || (s->how == FTB_SCATTER_FOLD && s->monoid == FTB_PLUS);
    return c->direct && known ? FTB_WHO_FITS(c->ctx, scatter, s) : NULL;
}

GrB_Info FtB_scatter(FtB_Arg Y, FtB_Arg accum, FtB_Arg X, const int64_t *rows, int64_t count)
{
    move_call c = {.rows = rows, .count = count};
    GrB_Info info = unwrap(&c, Y, X);
    if (info != GrB_SUCCESS)
        goto done;
    c.bound = c.Y->nrows;
    FTB_CHECK(ftb_arg_op(&c.accum, accum, "accum", true));
    FTB_CHECK(check_shape(&c, c.X, "X"));
    FTB_CHECK(check_rows(&c));
    FTB_CHECK(unalias(&c));
    ftb_scatter_product s = {.ctx = c.ctx,
                             .rows = c.rows,
                             .count = count,
                             .ncols = c.X->ncols,
                             .nrows = c.Y->nrows,
                             .ldx = c.X->ld,
                             .ldy = c.Y->ld,
                             .xtype = c.X->type,
                             .ytype = c.Y->type};
    if (count == 0 || s.ncols == 0)
        goto done;
    if (c.accum)
        FTB_CHECK(prepare_accum(&c, &s));
    const ftb_place places[] = {{.X = c.X, .read = &s.x, .name = "X"},
                                {.X = c.Y, .write = &s.y, .name = "Y"}};
    const ftb_backend *who = who_scatters(&c, &s);
    FTB_RUN(info, who, scatter, places, &s);
done:
    return finish(&c, info);
}

/* ---- rows that a matrix lists */

GrB_Info ftb_block_like(FtB_Block *Y, FtB_Context ctx, FtB_Block like, int64_t count, int64_t ncols)
{
    return ftb_block_view(Y, ctx, like->type, count, ncols, ncols,
                          ftb_buffer_new(ctx, count * ncols, FtB_Type_size(like->type)));
}

GrB_Info ftb_block_pick(FtB_Block *Y, FtB_Context ctx, FtB_Block X, const int64_t *numbers, int64_t count,
                        const char *name)
{
    GrB_Info info = ftb_buffer_ask_as(X->owner, FTB_READ, name);
    *Y = NULL;
    if (info == GrB_SUCCESS)
        info = ftb_block_like(Y, ctx, X, count, X->ncols);
    if (info != GrB_SUCCESS)
        return info;
    (*Y)->heads = X->heads;
    return ftb_gather_run(&(ftb_gather_product){.ctx = ctx,
                                                .rows = numbers,
                                                .count = count,
                                                .ncols = X->ncols,
                                                .x = ftb_block_data(X),
                                                .y = ftb_block_data(*Y),
                                                .ldx = X->ld,
                                                .ldy = (*Y)->ld,
                                                .xtype = X->type,
                                                .ytype = X->type});
}

GrB_Info ftb_block_put_back(FtB_Block Y, FtB_Block X, const int64_t *numbers, const double *fill,
                            const char *name)
{
    GrB_Info info = ftb_buffer_ask_as(Y->owner, FTB_UPDATE, name);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_plain_rows to = {ftb_block_data(Y), Y->type, Y->nrows, Y->ncols, Y->ld},
                         from = {ftb_block_data(X), X->type, X->nrows, X->ncols, X->ld};
    (void)ftb_buffer_write(Y->owner);
    if (fill)
        ftb_rows_fill(Y->ctx, &to, *fill);
    ftb_rows_return(Y->ctx, &to, &from, numbers);
    return info;
}
