/* Gradients of scores leaky_relu(src + dst) on edges, with respect to both at once, where they fit the verb
 * `sddmm_grad`: wherever the operands are. */
#include "ops/grad/grad.h"

#include "ops/backends.h"
#include "ops/sddmm.h"

bool ftb_grad_sums_fit(const ftb_grad *g)
{
    return g->on_edges && g->dE->type == g->type.message && ftb_sddmm_is_sum(&g->forward, &g->type);
}

static GrB_Info new_sum(FtB_Block *X, const ftb_grad *g, int64_t nrows)
{
    const int64_t heads = g->forward.heads;
    const FtB_Type type = g->type.message;
    return ftb_block_view(X, g->ctx, type, nrows, heads, heads,
                          ftb_buffer_adopt(g->ctx, ftb_new(g->ctx, nrows * heads, FtB_Type_size(type))));
}

/* Those of the two that are wanted. */
static GrB_Info make_sums(ftb_grad *g)
{
    const ftb_score score = ftb_score_of(&g->forward, &g->type);
    ftb_sddmm_grad_product s = {.ctx = g->ctx,
                                .p = g->p,
                                .type = g->type.message,
                                .heads = g->forward.heads,
                                .x = *score.x,
                                .y = *score.y,
                                .slope = score.slope};
    GrB_Info info = GrB_SUCCESS;
    if (g->wants_columns) {
        FTB_CHECK(ftb_pattern_transpose(g->p, &s.q, &s.from));
        FTB_CHECK(new_sum(&g->by_column, g, g->p->ncols));
    }
    if (g->wants_rows)
        FTB_CHECK(new_sum(&g->by_row, g, g->p->nrows));
    const ftb_place places[] = {{.feed = &s.x},
                                {.feed = &s.y},
                                {.values = g->dE->values, .read = &s.grad},
                                {.X = g->by_column, .write = &s.dx, .whole = true},
                                {.X = g->by_row, .write = &s.dy, .whole = true}};
    FTB_RUN(info, FTB_WHO_FITS(g->ctx, sddmm_grad, &s), sddmm_grad, places, &s);
done:
    return info;
}

GrB_Info ftb_grad_sums(FtB_Block *T, ftb_grad *g, const ftb_feed *feed)
{
    FtB_Block *const made = feed->side == FTB_SIDE_COL ? &g->by_column : &g->by_row;
    GrB_Info info = GrB_SUCCESS;
    if (!*made) { /* not made yet, or handed out already: a name may be asked for twice */
        FtB_Block_free(&g->by_column);
        FtB_Block_free(&g->by_row);
        info = make_sums(g);
    }
    if (info == GrB_SUCCESS) {
        *T = *made;
        *made = NULL;
    }
    return info;
}
