/* dW = sum over edges and heads of left' right, for W in x @ W.
 *
 * Where one of the two depends on one kind of vertex, the other is summed over that vertex's edges first,
 * which leaves one product of dense blocks: for plus : src @ W, src' (sum of grad) or (sum of src)' grad,
 * whichever is narrower. Else both are stored for all edges. */
#include "ops/grad/grad.h"

typedef enum way { LEFT_AT_COLUMNS, LEFT_AT_ROWS, RIGHT_AT_ROWS, RIGHT_AT_COLUMNS, AT_EDGES } way;

static unsigned sides_of(const ftb_message *m, const ftb_expr *expr)
{
    unsigned sides = 0;
    for (int f = 0; f < m->nfeeds; f++)
        if (ftb_expr_uses(expr, m->feeds[f].name))
            sides |= (unsigned)m->feeds[f].side;
    return sides;
}

static way choose(const ftb_message *m, const ftb_expr *left, const ftb_expr *right, int64_t a, int64_t b)
{
    unsigned l = sides_of(m, left), r = sides_of(m, right);
    bool at_rows = (r & ~(unsigned)FTB_SIDE_ROW) == 0, at_columns = (r & ~(unsigned)FTB_SIDE_COL) == 0;
    if ((l & ~(unsigned)FTB_SIDE_ROW) == 0 && !(at_columns && a < b))
        return LEFT_AT_ROWS;
    if ((l & ~(unsigned)FTB_SIDE_COL) == 0 && !(at_rows && a <= b))
        return LEFT_AT_COLUMNS;
    return at_rows ? RIGHT_AT_ROWS : at_columns ? RIGHT_AT_COLUMNS : AT_EDGES;
}

static GrB_Info add_pair(FtB_Block *sum, ftb_grad *g, ftb_expr *left, ftb_expr *right, int64_t a, int64_t b)
{
    FtB_Block L = NULL, R = NULL;
    way w = choose(&g->forward, left, right, a, b);
    bool columns = w == LEFT_AT_COLUMNS || w == RIGHT_AT_COLUMNS,
         left_still = w == LEFT_AT_ROWS || w == LEFT_AT_COLUMNS;
    GrB_Info info = columns ? ftb_grad_need_back(g) : GrB_SUCCESS;
    const ftb_message *m = columns ? &g->back : &g->forward;
    ftb_pattern *p = columns ? g->q : g->p;
    if (info == GrB_SUCCESS && w == AT_EDGES) {
        info = ftb_grad_store(&L, m, p, left);
        if (info == GrB_SUCCESS)
            info = ftb_grad_store(&R, m, p, right);
    } else if (info == GrB_SUCCESS) {
        /* What a row without entries has on its own side does not count; it may be NaN (a gradient divided
         * by 0). */
        info = ftb_grad_vertices(
            left_still ? &L : &R, m,
            &(ftb_vertex_values){
                .expr = left_still ? left : right, .side = FTB_SIDE_ROW, .nrows = p->nrows, .present = p});
        if (info == GrB_SUCCESS)
            info = ftb_grad_sum(left_still ? &R : &L, m, p, left_still ? right : left);
    }
    if (info == GrB_SUCCESS)
        info = ftb_grad_outer(sum, g->ctx, L, R, a, b);
    FtB_Block_free(&L);
    FtB_Block_free(&R);
    return info;
}

GrB_Info ftb_grad_whole(FtB_Block *T, ftb_grad *g, const ftb_derivative *d, int64_t nrows, int64_t ncols)
{
    FtB_Block sum = NULL;
    GrB_Info info = GrB_SUCCESS;
    for (int pair = 0; pair < d->nouter && info == GrB_SUCCESS; pair++)
        info = add_pair(&sum, g, d->left[pair], d->right[pair], nrows, ncols);
    if (info != GrB_SUCCESS)
        FtB_Block_free(&sum);
    *T = sum;
    return info;
}
