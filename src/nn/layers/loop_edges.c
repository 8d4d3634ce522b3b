/* Features of edges on a graph whose self-loops were added: an entry keeps its own, the loop of vertex i gets
 * the mean of those of the other edges into i, or 0.
 *
 *     dx(e) = dy(e) + dy(loop) / (other entries of the row);   of a loop that x had: 0 */
#include "nn/layers/layer.h"

/* Where row i of the pattern with loops differs from p's: entry t of p, which is not its loop, is entry
 * t + shift, or t + shift + 1 behind the loop. */
typedef struct row {
    int64_t first, last; /* of p */
    int64_t start, loop; /* of the other */
    int64_t others;      /* entries but the loop */
} row;

static row row_of(const ftb_pattern *p, const ftb_pattern *q, int64_t i)
{
    row r = {p->rowptr[i], p->rowptr[i + 1], q->rowptr[i], q->rowptr[i], q->rowptr[i + 1] - q->rowptr[i] - 1};
    while (ftb_col(q, r.loop) != i)
        r.loop++;
    return r;
}

#define WALK(suffix, T)                                                                                      \
    static void spread_##suffix(T *restrict y, const T *restrict x, int64_t width, const ftb_pattern *p,     \
                                const ftb_pattern *q, int64_t i)                                             \
    {                                                                                                        \
        row r = row_of(p, q, i);                                                                             \
        T *mean = y + r.loop * width;                                                                        \
        int64_t to = r.start;                                                                                \
        memset(mean, 0, (size_t)width * sizeof *mean);                                                       \
        for (int64_t e = r.first; e < r.last; e++) {                                                         \
            if (ftb_col(p, e) == i)                                                                          \
                continue;                                                                                    \
            to += to == r.loop;                                                                              \
            for (int64_t f = 0; f < width; f++) {                                                            \
                y[to * width + f] = x[e * width + f];                                                        \
                mean[f] += x[e * width + f];                                                                 \
            }                                                                                                \
            to++;                                                                                            \
        }                                                                                                    \
        for (int64_t f = 0; f < width && r.others > 0; f++)                                                  \
            mean[f] /= (T)r.others;                                                                          \
    }                                                                                                        \
    static void gather_##suffix(T *restrict dx, const T *restrict dy, int64_t width, const ftb_pattern *p,   \
                                const ftb_pattern *q, int64_t i, bool add)                                   \
    {                                                                                                        \
        row r = row_of(p, q, i);                                                                             \
        int64_t from = r.start;                                                                              \
        for (int64_t e = r.first; e < r.last; e++) {                                                         \
            bool loop = ftb_col(p, e) == i;                                                                  \
            from += !loop && from == r.loop;                                                                 \
            for (int64_t f = 0; f < width; f++) {                                                            \
                T d = loop ? 0 : dy[from * width + f] + dy[r.loop * width + f] / (T)r.others;                \
                dx[e * width + f] = add ? dx[e * width + f] + d : d;                                         \
            }                                                                                                \
            from += !loop;                                                                                   \
        }                                                                                                    \
    }
WALK(f32, float)
WALK(f64, double)

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const ftb_pattern *p = ftb_node_in(n, 0)->graph->pattern, *q = n->graph->pattern;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for(c->ctx, q->nvals))
    for (int64_t i = 0; i < q->nrows; i++)
        if (n->type == FTB_FP32)
            spread_f32(ftb_block_data(c->out), ftb_block_data(c->in[0]), n->ncols, p, q, i);
        else
            spread_f64(ftb_block_data(c->out), ftb_block_data(c->in[0]), n->ncols, p, q, i);
    return GrB_SUCCESS;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const ftb_pattern *p = ftb_node_in(n, 0)->graph->pattern, *q = n->graph->pattern;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for(c->ctx, q->nvals))
    for (int64_t i = 0; i < q->nrows; i++)
        if (n->type == FTB_FP32)
            gather_f32(ftb_block_data(c->din[0]), ftb_block_data(c->dout), n->ncols, p, q, i, c->add[0]);
        else
            gather_f64(ftb_block_data(c->din[0]), ftb_block_data(c->dout), n->ncols, p, q, i, c->add[0]);
    return GrB_SUCCESS;
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "edges with self-loops, %lld x %lld", (long long)n->nrows, (long long)n->ncols);
}

static const ftb_nn_op op = {.name = "loop_edges", .forward = forward, .gradient = gradient, .print = print};

FtB_Var ftb_loop_edges(FtB_Var x, FtB_Matrix B)
{
    const ftb_nn_node *in = ftb_var(x, "loop_edges", "x");
    if (!in)
        return ftb_var_lost(x);
    ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, B->pattern->nvals, in->ncols, 0);
    if (!n || ftb_node_on_edges(n, B) != GrB_SUCCESS)
        return ftb_var_lost(x);
    return ftb_node_var(n);
}
