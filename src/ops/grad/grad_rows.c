/* What gradients are made of, by what runs products, wherever the operands are: messages summed into rows or
 * kept for the entries, expressions of vertices and of blocks, sums of rows and of their outer products. */
#include "ops/grad/grad.h"

#include "cpu/block/write_run.h"
#include "cpu/message_run.h"
#include "cpu/outer_run.h"
#include "ops/sddmm.h"
#include "ops/spmm.h"
#include "ops/vertices.h"

static ftb_message with_expr(const ftb_message *m, ftb_expr *expr)
{
    ftb_message copy = *m;
    copy.expr = expr;
    copy.reducer = (ftb_reducer){.monoid = FTB_PLUS};
    copy.wide = true;
    return copy;
}

/* Room for nrows x ncols values, which are not cleared. */
static GrB_Info new_rows(FtB_Block *X, FtB_Context ctx, FtB_Type type, int64_t nrows, int64_t ncols)
{
    int64_t count;
    if (__builtin_mul_overflow(nrows, ncols, &count))
        return ftb_fail(GrB_INVALID_VALUE, "semiring: %lld rows of %lld values cannot be addressed",
                        (long long)nrows, (long long)ncols);
    return ftb_block_view(X, ctx, type, nrows, ncols, ncols,
                          ftb_buffer_adopt(ctx, ftb_new(ctx, count, FtB_Type_size(type))));
}

GrB_Info ftb_grad_vertices(FtB_Block *Y, const ftb_message *m, const ftb_vertex_values *v)
{
    const ftb_message of = with_expr(m, NULL);
    ftb_vertex_values values = *v;
    values.m = &of;
    return ftb_vertex_values_new(Y, ftb_device(m->ctx), &values);
}

/* ---- over entries */

GrB_Info ftb_grad_sum(FtB_Block *T, const ftb_message *m, ftb_pattern *p, ftb_expr *expr)
{
    const ftb_message sum = with_expr(m, expr);
    ftb_spmm_request request = {.message = &sum, .p = p, .device = ftb_device(m->ctx)};
    ftb_spmm_result result = {0};
    FtB_Block made = NULL;
    FtB_Type type;
    int64_t ncols;
    GrB_Info info;
    if (request.device && ftb_feeds_fit(&sum, NULL)) {
        FTB_CHECK(ftb_spmm_shape(&sum, &type, &ncols));
        FTB_CHECK(new_rows(&made, m->ctx, type, p->nrows, ncols));
        request.block = made;
        request.into = ftb_block_address(made);
        request.into_type = type;
        request.ldinto = ncols;
    }
    FTB_CHECK(ftb_spmm_message(&result, &request));
    if (result.owned) {
        FtB_Block_free(&made);
        FTB_CHECK(ftb_block_view(&made, m->ctx, result.type, p->nrows, result.ncols, result.ncols,
                                 ftb_buffer_adopt(m->ctx, result.owned)));
    }
    if (!result.there)
        ftb_rows_fill_empty(
            m->ctx, &(ftb_plain_rows){ftb_block_data(made), made->type, p->nrows, made->ncols, made->ld},
            p->rowptr, 0);
    *T = made;
    made = NULL;
done:
    FtB_Block_free(&made);
    return info;
}

GrB_Info ftb_grad_store(FtB_Block *V, const ftb_message *m, ftb_pattern *p, ftb_expr *expr)
{
    const ftb_message stored = with_expr(m, expr);
    ftb_message_type type;
    FtB_Block made = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_message_types(&type, &stored));
    FTB_CHECK(new_rows(&made, m->ctx, type.message, p->nvals, m->heads * type.width));
    if (!ftb_sddmm_leaves(&stored, &type) || !ftb_sddmm_over(&info, made->owner, &stored, &type, p, NULL)) {
        FTB_CHECK(ftb_message_ask(&stored));
        info = ftb_sddmm_message(ftb_block_data(made), &stored, &type, p, NULL);
    }
    if (info == GrB_SUCCESS) {
        *V = made;
        made = NULL;
    }
done:
    FtB_Block_free(&made);
    return info;
}

/* ---- over rows */

static ftb_feed feed_over(const char *name, FtB_Block X, int64_t heads)
{
    ftb_feed feed = ftb_block_feed(X, heads, FTB_SIDE_ROW);
    snprintf(feed.name, sizeof feed.name, "%s", name);
    return feed;
}

static GrB_Info put(FtB_Block Y, const char *text, FtB_Block x, FtB_Block y, int64_t fold, bool add)
{
    ftb_message m = {.ctx = Y->ctx, .heads = fold, .nfeeds = y ? 2 : 1};
    ftb_expr *expr = NULL;
    ftb_program *program = NULL;
    GrB_Info info;
    m.feeds[0] = feed_over("x", x, fold);
    if (y)
        m.feeds[1] = feed_over("y", y, fold);
    FTB_CHECK(ftb_expr_parse(&expr, Y->ctx, text, "gradient", 0));
    FTB_CHECK(ftb_message_program(&program, &m, expr));
    info = ftb_map_rows(
        Y, FTB_WHO(Y->ctx, map_rows), &m,
        &(ftb_map_rows_product){
            .program = program, .side = FTB_SIDE_ROW, .nrows = x->nrows, .fold = fold, .add = add});
done:
    ftb_program_delete(program);
    ftb_expr_release(expr);
    return info;
}

GrB_Info ftb_grad_text(FtB_Block *Y, FtB_Type type, const char *text, FtB_Block x, FtB_Block y, int64_t fold)
{
    GrB_Info info = new_rows(Y, x->ctx, type, x->nrows, x->ncols / fold);
    if (info == GrB_SUCCESS)
        info = put(*Y, text, x, y, fold, false);
    if (info != GrB_SUCCESS)
        FtB_Block_free(Y);
    return info;
}

GrB_Info ftb_grad_add(FtB_Block Y, FtB_Block X) { return put(Y, "x", X, NULL, 1, true); }

GrB_Info ftb_grad_outer(FtB_Block *sum, FtB_Context ctx, FtB_Block L, FtB_Block R, int64_t a, int64_t b)
{
    FtB_Block made = NULL;
    ftb_outer_product p = {.ctx = ctx,
                           .items = R->nrows * (R->ncols / b),
                           .a = a,
                           .b = b,
                           .ltype = L ? L->type : (FtB_Type)0,
                           .rtype = R->type,
                           .add = *sum != NULL};
    GrB_Info info = p.add ? GrB_SUCCESS : new_rows(&made, ctx, FTB_FP64, a, b);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_place places[] = {{.X = L, .read = &p.l},
                                {.X = R, .read = &p.r},
                                {.X = p.add ? *sum : made, .write = &p.sum, .whole = !p.add}};
    FTB_RUN(info, FTB_WHO_FITS(ctx, outer, &p), outer, places, &p);
    if (info == GrB_SUCCESS && made) {
        *sum = made;
        made = NULL;
    }
    FtB_Block_free(&made);
    return info;
}
