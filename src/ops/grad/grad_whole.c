/* dW = sum over edges and heads of left' right, for W in x @ W.
 *
 * Where one of the two depends on one kind of vertex, the other is summed over that vertex's edges first,
 * which leaves one product of dense blocks: for plus : src @ W, src' (sum of grad) or (sum of src)' grad,
 * whichever is narrower. Else both are stored for all edges. */
#include "ops/grad/grad.h"

#include "ops/merge.h"

#define BATCH 32 /* items that are multiplied together: both sides of them stay in L1 */

/* sum += L' R over items first .. last - 1, skipping those of rows without entries. */
static void add_outer(double *sum, const ftb_grad_rows *L, const ftb_grad_rows *R, int64_t a, int64_t b,
                      int64_t first, int64_t last, double *scratch)
{
    size_t lsize = FtB_Type_size(L->type), rsize = FtB_Type_size(R->type);
    for (int64_t t = first; t < last; t += BATCH) {
        int64_t items = ftb_min(BATCH, last - t);
        double *left = scratch, *right = scratch + BATCH * a;
        ftb_cast(left, FTB_FP64, (const char *)L->data + (size_t)(t * a) * lsize, L->type, items * a);
        ftb_cast(right, FTB_FP64, (const char *)R->data + (size_t)(t * b) * rsize, R->type, items * b);
        for (int64_t x = 0; x < a; x++)
            for (int64_t n = 0; n < items; n++) {
                double factor = left[n * a + x];
                for (int64_t y = 0; y < b; y++)
                    sum[x * b + y] += factor * right[n * b + y];
            }
    }
}

/* Parts do not depend on the number of threads, and so the bits do not. */
GrB_Info ftb_grad_outer(double *sum, FtB_Context ctx, const ftb_grad_rows *L, const ftb_grad_rows *R,
                        int64_t a, int64_t b)
{
    int64_t items = L->nrows * (L->width / a), cells, parts = a * b > 65536 ? 4 : 16;
    if (__builtin_mul_overflow(a + BATCH, b + BATCH, &cells))
        return ftb_fail(GrB_INVALID_VALUE, "semiring: a gradient of %lld x %lld values is too large",
                        (long long)a, (long long)b);
    parts = ftb_max(1, ftb_min(parts, items / 64));
    int64_t each = (items + parts - 1) / parts, room = a * b + BATCH * (a + b);
    double *partial = ftb_new0(ctx, parts * room, sizeof *partial);
    if (!partial)
        return ftb_nomem();
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads_for(ctx, items *b))
    for (int64_t part = 0; part < parts; part++)
        add_outer(partial + part * room, L, R, a, b, part * each, ftb_min((part + 1) * each, items),
                  partial + part * room + a * b);
    for (int64_t part = 0; part < parts; part++)
        for (int64_t x = 0; x < a * b; x++)
            sum[x] += partial[part * room + x];
    ftb_delete(partial);
    return GrB_SUCCESS;
}

/* What a row without entries has on its own side does not count; it may be NaN (a gradient divided by 0). */
static void clear_idle(const ftb_grad_rows *Y, const ftb_pattern *p)
{
    size_t bytes = (size_t)Y->width * FtB_Type_size(Y->type);
    for (int64_t i = 0; i < p->nrows; i++)
        if (p->rowptr[i] == p->rowptr[i + 1])
            memset((char *)Y->data + (size_t)i * bytes, 0, bytes);
}

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

static GrB_Info add_pair(double *sum, ftb_grad *g, ftb_expr *left, ftb_expr *right, int64_t a, int64_t b)
{
    ftb_grad_rows L = {0}, R = {0};
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
        ftb_grad_rows *still = left_still ? &L : &R, *summed = left_still ? &R : &L;
        info = ftb_grad_vertices(still, m, FTB_SIDE_ROW, p->nrows, left_still ? left : right);
        if (info == GrB_SUCCESS)
            info = ftb_grad_sum(summed, m, p, left_still ? right : left);
        if (info == GrB_SUCCESS)
            clear_idle(still, p);
    }
    if (info == GrB_SUCCESS)
        info = ftb_grad_outer(sum, g->ctx, &L, &R, a, b);
    ftb_delete(L.data);
    ftb_delete(R.data);
    return info;
}

GrB_Info ftb_grad_whole(ftb_grad_rows *T, ftb_grad *g, const ftb_derivative *d, int64_t nrows, int64_t ncols)
{
    double *sum = ftb_new0(g->ctx, nrows * ncols, sizeof *sum);
    GrB_Info info = sum ? GrB_SUCCESS : ftb_nomem();
    for (int pair = 0; pair < d->nouter && info == GrB_SUCCESS; pair++)
        info = add_pair(sum, g, d->left[pair], d->right[pair], nrows, ncols);
    if (info != GrB_SUCCESS) {
        ftb_delete(sum);
        return info;
    }
    *T = (ftb_grad_rows){sum, FTB_FP64, nrows, ncols};
    return GrB_SUCCESS;
}
