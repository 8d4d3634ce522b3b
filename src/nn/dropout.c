/* Dropout: Y = X .* mask / (1 - p), where value k of a run is kept or not by its own draw; the gradient draws
 * the same mask again, so nothing is stored. Of a sparse input the entries are dropped. Srivastava et al.,
 * JMLR 2014. */
#include "nn/nn.h"

#include "cpu/kernels/dropout.h"
#include "cpu/kernels/rows.h"

#include <math.h>

#define CHUNK (8 * FTB_DROPOUT_BLOCK) /* values between two looks at how rows lie */

typedef struct dropout {
    double probability;
} dropout;

/* Y's values in row-major order, numbered through; leading dimensions may differ. */
static void run(FtB_Block Y, FtB_Block X, uint64_t seed, double probability, bool add)
{
    int64_t count = Y->nrows * Y->ncols, chunks = (count + CHUNK - 1) / CHUNK;
    size_t size = FtB_Type_size(Y->type);
    const uint32_t threshold = (uint32_t)lrint(probability * 65536);
    const float keep = (float)(1 / (1 - threshold / 65536.0));
    bool flat = Y->ld == Y->ncols && X->ld == X->ncols;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(Y->ctx, count))
    for (int64_t c = 0; c < chunks; c++) {
        float factor[CHUNK];
        int64_t first = c * CHUNK, end = ftb_min(count, first + CHUNK);
        for (int64_t k = first; k < end; k += FTB_DROPOUT_BLOCK)
            FTB_PICK(ftb_dropout_factors)
        (factor + (k - first), seed, (uint64_t)(k / FTB_DROPOUT_BLOCK), threshold, keep);
        for (int64_t k = first; k < end;) {
            int64_t i = k / Y->ncols, j = k % Y->ncols, run = flat ? end - k : ftb_min(end - k, Y->ncols - j);
            FTB_PICK_REAL(ftb_row_scale, Y->type)
            ((char *)ftb_block_data(Y) + (size_t)(i * Y->ld + j) * size,
             (const char *)ftb_block_data(X) + (size_t)(i * X->ld + j) * size, factor + (k - first), run,
             add);
            k += run;
        }
    }
}

static GrB_Info copy(FtB_Block Y, FtB_Block X, bool add)
{
    return FtB_apply(Y, NULL, ftb_plus_if(add, Y), "x", X, NULL);
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const dropout *d = n->state;
    FtB_Block x = c->in[0];
    GrB_Info info = GrB_SUCCESS;
    if (!x) { /* entries without values count as 1 */
        const double one = 1;
        for (int64_t e = 0; e < c->out->nrows; e++)
            ftb_cast((char *)ftb_block_data(c->out) + (size_t)e * FtB_Type_size(c->out->type), c->out->type,
                     &one, FTB_FP64, 1);
        x = c->out;
    }
    if (c->training)
        run(c->out, x, c->seed, d->probability, false);
    else if (ftb_block_data(x) != ftb_block_data(c->out))
        info = copy(c->out, x, false);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const dropout *d = n->state;
    run(c->din[0], c->dout, c->seed, d->probability, c->add[0]);
    return GrB_SUCCESS;
}

static void print(const ftb_nn_node *n, FILE *file)
{
    fprintf(file, "dropout %g", ((const dropout *)n->state)->probability);
}

static const ftb_nn_op op = {.name = "dropout",
                             .flags = FTB_NN_IN_PLACE | FTB_NN_GRAD_IN_PLACE | FTB_NN_RANDOM,
                             .forward = forward,
                             .gradient = gradient,
                             .print = print};

FtB_Var FtB_dropout(FtB_Var x, double probability)
{
    const ftb_nn_node *in = ftb_var(x, "FtB_dropout", "x");
    if (!in)
        return ftb_var_lost(x);
    if (!(probability >= 0 && probability <= 1 - 0x1p-16))
        return ftb_var_failed(
            x.tape,
            ftb_fail(GrB_INVALID_VALUE, "FtB_dropout: probability is %g; expected 0 <= p < 1", probability));
    if (probability == 0 || x.tape->inference)
        return x;
    ftb_nn_node *n = ftb_node_new(x.tape, &op, &x.node, 1, in->nrows, in->ncols, sizeof(dropout));
    if (!n)
        return ftb_var_lost(x);
    ((dropout *)n->state)->probability = probability;
    return ftb_node_like(n, in);
}
