/* Stacks of layers made and recorded. */
#include "learn/model.h"

#include "app.h"
#include "nn/nn.h"

#include <math.h>
#include <stdio.h>

model_options model_defaults(const model_kind *kind)
{
    return (model_options){.kind = kind,
                           .layers = kind->layers,
                           .hidden = kind->hidden,
                           .heads = kind->attends ? kind->heads : 1,
                           .out_heads = 1,
                           .hops = kind->hops,
                           .teleport = kind->teleport,
                           .dropout = kind->dropout,
                           .activation = kind->activation};
}

/* ---- made */

/* Columns of what layer k, from 0, takes and gives; of one with heads, per head. */
static int64_t columns_in(const model_options *o, int64_t k)
{
    return k == 0 ? o->nfeatures : o->hidden * o->heads;
}

static int64_t columns_out(const model_options *o, int64_t k)
{
    return k + 1 == o->layers ? o->noutputs : o->hidden;
}

static GrB_Info adopt(model *m, FtB_Parameter p, int layer)
{
    if (m->nparameters == MODEL_PARAMETERS)
        return ftb_fail(GrB_INVALID_VALUE, "a model has at most %d parameters", MODEL_PARAMETERS);
    m->layer_of[m->nparameters] = layer;
    m->parameters[m->nparameters++] = p;
    return GrB_SUCCESS;
}

/* A linear layer: "lin1.weight", in x out, and "lin1.bias". */
static GrB_Info make_linear(model *m, int64_t k)
{
    static const char *const names[] = {"weight", "bias"};
    const model_options *o = &m->o;
    for (int part = 0; part < 2; part++) {
        char name[64];
        FtB_Parameter p = NULL;
        FtB_Block X = NULL;
        snprintf(name, sizeof name, "%s%lld.%s", o->kind->prefix, (long long)k + 1, names[part]);
        GrB_Info info =
            FtB_Parameter_new(&p, name, part == 0 ? columns_in(o, k) : 1, columns_out(o, k), FTB_FP32);
        if (info == GrB_SUCCESS && part == 0)
            info = FtB_Parameter_value(&X, p);
        if (info == GrB_SUCCESS && part == 0)
            info = FtB_init(X, FTB_INIT_GLOROT_UNIFORM, o->seed + (uint64_t)k, NULL);
        FtB_Block_free(&X);
        if (info == GrB_SUCCESS)
            info = adopt(m, p, (int)k);
        if (info != GrB_SUCCESS) {
            FtB_Parameter_free(&p);
            return info;
        }
    }
    return GrB_SUCCESS;
}

static GrB_Info add_layer(model *m, int64_t in, int64_t out, const FtB_Layer_options *options)
{
    const int at = m->nlayers;
    GrB_Info info = FtB_Layer_new(&m->layers[at], m->o.kind->layer, in, out, options);
    if (info != GrB_SUCCESS)
        return info;
    m->nlayers++;
    for (int64_t p = 0; p < FtB_Layer_count(m->layers[at]) && info == GrB_SUCCESS; p++)
        info = adopt(m, FtB_Layer_parameter(m->layers[at], p), at);
    return info;
}

static GrB_Info make_layer(model *m, int64_t k)
{
    const model_options *o = &m->o;
    const bool last = k + 1 == o->layers;
    char name[64];
    snprintf(name, sizeof name, "%s%lld", o->kind->prefix, (long long)k + 1);
    const bool attends = o->kind->attends;
    const int64_t heads = last ? o->out_heads : o->heads,
                  hidden = last && o->out_inner > 0 ? o->out_inner : o->hidden;
    return add_layer(m, columns_in(o, k), columns_out(o, k),
                     FTB_LAYER_OPTIONS(.name = name, .seed = o->seed, .heads = attends ? heads : 0,
                                       .average = attends && last && !o->out_beside,
                                       .aggregate = o->aggregate, .dropout = attends ? o->dropout : 0,
                                       .hops = o->hops, .hidden = o->kind->inner ? hidden : 0));
}

/* The layer that spreads what a perceptron says over the graph. */
static GrB_Info make_last(model *m)
{
    const model_options *o = &m->o;
    return add_layer(
        m, o->noutputs, o->noutputs,
        FTB_LAYER_OPTIONS(.name = "prop", .seed = o->seed, .hops = o->hops, .teleport = o->teleport));
}

static GrB_Info check(const model_options *o)
{
    if (o->layers < 1 || o->layers > MODEL_LAYERS - 1)
        return ftb_fail(GrB_INVALID_VALUE, "layers: %lld is outside 1..%d", (long long)o->layers,
                        MODEL_LAYERS - 1);
    if (!(o->dropout >= 0 && o->dropout < 1))
        return ftb_fail(GrB_INVALID_VALUE, "dropout: %g is outside 0 <= p < 1", o->dropout);
    if (o->out_beside && o->noutputs % o->out_heads != 0)
        return ftb_fail(GrB_INVALID_VALUE, "heads: %lld do not divide %lld outputs", (long long)o->out_heads,
                        (long long)o->noutputs);
    return GrB_SUCCESS;
}

int model_make(model *m, const model_options *o)
{
    *m = (model){.o = *o};
    GrB_Info info = check(o);
    for (int64_t k = 0; k < o->layers && info == GrB_SUCCESS; k++)
        info = o->kind->perceptron ? make_linear(m, k) : make_layer(m, k);
    if (info == GrB_SUCCESS && o->kind->perceptron && o->kind->layer)
        info = make_last(m);
    if (info != GrB_SUCCESS)
        model_free(m);
    return app_library_error(info, APP_USAGE);
}

void model_free(model *m)
{
    for (int p = 0; p < m->nparameters && m->o.kind->perceptron; p++)
        FtB_Parameter_free(&m->parameters[p]);
    for (int k = 0; k < m->nlayers; k++)
        FtB_Layer_free(&m->layers[k]);
    m->nlayers = m->nparameters = 0;
}

double model_least_size(const model_options *o)
{
    double size = 0;
    for (int64_t k = 0; k < o->layers; k++) {
        const bool last = k + 1 == o->layers;
        const double heads = (double)(!o->kind->attends ? 1 : last ? o->out_heads : o->heads);
        size += (double)columns_in(o, k) * (double)columns_out(o, k) * heads;
    }
    return size;
}

int64_t model_size(const model *m)
{
    int64_t size = 0;
    for (int p = 0; p < m->nparameters; p++)
        size += m->parameters[p]->value->nrows * m->parameters[p]->value->ncols;
    return size;
}

/* ---- recorded */

static FtB_Var activate(FtB_Var x, model_activation how)
{
    return how == MODEL_RELU ? FtB_relu(x) : how == MODEL_ELU ? FtB_elu(x) : x;
}

static FtB_Var apply(const model *m, int64_t k, FtB_Matrix graph, FtB_Var x)
{
    x = FtB_dropout(x, m->o.dropout);
    return m->o.kind->perceptron ? FtB_linear(x, m->parameters[2 * k], m->parameters[2 * k + 1])
                                 : FtB_Layer_apply(m->layers[k], graph, x, x, FTB_NO_VAR);
}

void model_record(const model *m, FtB_Matrix graph, FtB_Var x, FtB_Var *hidden, FtB_Var *out)
{
    const model_options *o = &m->o;
    *hidden = FTB_NO_VAR;
    for (int64_t k = 0; k < o->layers; k++) {
        if (k > 0)
            *hidden = x = activate(x, o->activation);
        x = apply(m, k, graph, x);
    }
    if (o->kind->perceptron && o->kind->layer)
        x = FtB_Layer_apply(m->layers[0], graph, x, x, FTB_NO_VAR);
    *out = x;
    if (hidden->node < 0)
        *hidden = x;
}

FtB_Var model_record_layer(const model *m, int64_t k, FtB_Matrix graph, FtB_Var x)
{
    x = apply(m, k, graph, x);
    return k + 1 < m->o.layers ? activate(x, m->o.activation) : x;
}

void model_record_batch(const model *m, FtB_Batch batch, FtB_Var x, FtB_Var *out)
{
    for (int64_t k = 0; k < m->o.layers; k++)
        x = model_record_layer(m, k, FtB_Batch_hop(batch, (int)(m->o.layers - 1 - k)), x);
    *out = x;
}

int64_t model_columns(const model *m, int64_t k)
{
    return k + 1 < m->o.layers ? columns_in(&m->o, k + 1) : m->o.noutputs;
}
