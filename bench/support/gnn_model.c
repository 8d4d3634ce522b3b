/* Models of the benchmark of graph neural networks, with the peers' initial weights. */
#include "gnn.h"

#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int heads_of(const gnn_case *c, int layer) { return layer == c->layers - 1 ? 1 : c->heads; }

/* Columns before a layer; of layer `layers`: those of the result. */
static int64_t width(const gnn_task *t, int layer)
{
    return layer == 0                 ? t->nfeatures
           : layer == t->what->layers ? t->nclasses
                                      : t->what->hidden * t->what->heads;
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* Weights are in x out here, out x in there; attention vectors are heads x width. */
static bool set(FtB_Parameter p, const gnn_task *t, int layer)
{
    const char *name = FtB_Parameter_name(p);
    const int64_t in = width(t, layer), out = width(t, layer + 1), heads = heads_of(t->what, layer);
    const int64_t each = out / heads;
    const bool source = ends_in(name, "att_src"), target = ends_in(name, "att_dst");
    const uint32_t salt = 16 * (uint32_t)layer + (source                          ? 6
                                                  : target                        ? 7
                                                  : ends_in(name, "lin_r.weight") ? 5
                                                                                  : 4);
    const float scale = sqrtf(6 / (float)(source || target ? heads + each : in + out));
    FtB_Block W = NULL;
    if (ends_in(name, "bias"))
        return true;
    /* Through the buffer: of an address that is told values would come home from a device after every step.
     */
    if (!gnn_ok(FtB_Parameter_value(&W, p)) || !gnn_ok(ftb_buffer_ask(W->owner, FTB_UPDATE)))
        return false;
    float *w = ftb_block_data(W);
    const int64_t rows = W->nrows, columns = W->ncols;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const int64_t k = i * columns + j;
            w[i * W->ld + j] = scale * (source || target ? bench_feature(k / each, k % each, salt)
                                                         : bench_feature(j, i, salt));
        }
    FtB_Block_free(&W);
    return true;
}

static bool make_layer(gnn_model *m, const gnn_task *t, int l)
{
    const gnn_case *c = t->what;
    const int64_t heads = heads_of(c, l);
    bool ok = gnn_ok(FtB_Layer_new(
        &m->layer[l], c->model, width(t, l), width(t, l + 1) / heads,
        FTB_LAYER_OPTIONS(.heads = c->heads > 1 ? heads : 0, .dropout = c->heads > 1 ? c->dropout : 0)));
    for (int64_t k = 0; ok && k < FtB_Layer_count(m->layer[l]); k++)
        ok = set(FtB_Layer_parameter(m->layer[l], k), t, l);
    return ok && gnn_ok(FtB_Optimizer_add_layer(m->adam, m->layer[l], NULL));
}

bool gnn_model_new(gnn_model *m, gnn_task *t, bool inference)
{
    const gnn_case *c = t->what;
    *m = (gnn_model){0};
    bool ok = gnn_ok(FtB_Optimizer_new(&m->adam, FTB_ADAM,
                                       FTB_OPTIMIZER_OPTIONS(.lr = c->rate, .weight_decay = c->decay))) &&
              gnn_ok(FtB_Tape_new(&m->tape, 0)) && (!inference || gnn_ok(FtB_Tape_inference(m->tape)));
    for (int l = 0; ok && l < c->layers; l++)
        ok = make_layer(m, t, l);
    if (!ok)
        return false;
    FtB_Var x = t->S ? FtB_input(m->tape, t->S) : FtB_input_take(m->tape, &t->X);
    for (int l = 0; l < c->layers; l++) {
        if (l > 0)
            x = c->heads > 1 ? FtB_elu(x) : FtB_relu(x);
        if (c->dropout > 0)
            x = FtB_dropout(x, c->dropout);
        x = FtB_Layer_apply(m->layer[l], t->A, x, x, FTB_NO_VAR);
    }
    m->out = x;
    m->loss = FtB_cross_entropy(x, t->labels, t->train);
    return gnn_ok(FtB_Tape_status(m->tape));
}

void gnn_model_free(gnn_model *m)
{
    FtB_Optimizer_free(&m->adam);
    FtB_Tape_free(&m->tape);
    for (int l = 0; l < GNN_LAYERS; l++)
        FtB_Layer_free(&m->layer[l]);
}

bool gnn_epoch(gnn_model *m) { return gnn_ok(FtB_backward(m->loss)) && gnn_ok(FtB_Optimizer_step(m->adam)); }

bool gnn_forward(gnn_model *m, double *sum)
{
    int64_t rows, columns, ld;
    const float *y;
    FtB_Block Y;
    *sum = 0;
    if (!gnn_ok(FtB_evaluate(&Y, m->out)) ||
        !gnn_ok(FtB_Block_shape(Y, &rows, &columns, &ld, NULL, (void **)&y)))
        return false;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            *sum += (double)y[i * ld + j];
    FtB_Block_free(&Y);
    return true;
}
