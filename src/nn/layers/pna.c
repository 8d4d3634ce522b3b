/* Principal neighbourhood aggregation: mean, min, max and standard deviation of messages [x_i, x_j] U + c
 * over neighbours j, each as it is, amplified and attenuated by the degree; then two linear maps:
 *
 *     y_i = ([x_i, S_i, a_i S_i, S_i / a_i] W + b) V + d,   S_i = [mean, min, max, std],
 *     a_i = log(degree + 1) / (its mean over the training graph)
 *
 * What the target adds to a message leaves the deviation alone and moves the others, so all four are those
 * of rows x_j U'. The factors a_i stay outside the products with W's parts: nothing is 13 x in wide. A
 * variance up to 1e-5 counts as none. Corso et al., "Principal neighbourhood aggregation for graph nets",
 * NeurIPS 2020. */
#include "nn/layers/layer.h"

#include <math.h>

enum { AGGREGATES = 4, SCALERS = 3 };

static GrB_Info make(FtB_Layer layer)
{
    static const struct {
        const char *weight, *bias;
    } names[] = {{"pre_nns.0.0.weight", "pre_nns.0.0.bias"},
                 {"post_nns.0.0.weight", "post_nns.0.0.bias"},
                 {"lin.weight", "lin.bias"}};
    int64_t in = layer->in, out = layer->out;
    if (in > INT64_MAX / (AGGREGATES * SCALERS + 1))
        return ftb_fail(GrB_INVALID_VALUE, "%lld columns are too many", (long long)in);
    if (!(layer->options.log_degree >= 0))
        return ftb_fail(GrB_INVALID_VALUE, "options: log_degree is %g; expected at least 0",
                        layer->options.log_degree);
    const int64_t shapes[][2] = {{2 * in, in}, {(AGGREGATES * SCALERS + 1) * in, out}, {out, out}};
    GrB_Info info = GrB_SUCCESS;
    for (int k = 0; k < 3 && info == GrB_SUCCESS; k++) {
        info = ftb_layer_add(layer, names[k].weight, shapes[k][0], shapes[k][1], FTB_START_GLOROT);
        if (info == GrB_SUCCESS && !layer->options.no_bias)
            info = ftb_layer_add(layer, names[k].bias, 1, shapes[k][1], FTB_START_ZERO);
    }
    return info;
}

/* Columns of layer->scale, per target: whether it has neighbours, amplification, attenuation. */
static GrB_Info derive(FtB_Layer layer, const ftb_pattern *p)
{
    double sum = 0, mean = layer->options.log_degree;
    FtB_Type type = layer->options.type;
    if (layer->scale)
        return GrB_SUCCESS;
    for (int64_t i = 0; i < p->nrows; i++)
        sum += log((double)(p->rowptr[i + 1] - p->rowptr[i]) + 1);
    if (mean == 0)
        mean = sum > 0 ? sum / (double)p->nrows : 1;
    GrB_Info info = FtB_Block_new(&layer->scale, p->nrows, SCALERS, type);
    for (int64_t i = 0; info == GrB_SUCCESS && i < p->nrows; i++) {
        double degree = (double)(p->rowptr[i + 1] - p->rowptr[i]);
        const double row[SCALERS] = {degree > 0, log(degree + 1) / mean, mean / log(fmax(degree, 1) + 1)};
        ftb_cast((char *)ftb_block_data(layer->scale) + (size_t)(i * layer->scale->ld) * FtB_Type_size(type),
                 type, row, FTB_FP64, SCALERS);
    }
    return info;
}

/* S: the four aggregates side by side. */
static FtB_Var aggregates(const ftb_layer_call *call, FtB_Var scale)
{
    FtB_Layer layer = call->layer;
    FtB_Matrix A = call->A;
    FtB_Var u = ftb_layer_var(call, "pre_nns.0.0.weight");
    FtB_Var own = FtB_matmul(call->dst, ftb_layer_rows(u, 0, layer->in)),
            x = FtB_matmul(call->src, ftb_layer_rows(u, layer->in, layer->in));
    if (!layer->options.no_bias)
        own = FtB_add(own, ftb_layer_var(call, "pre_nns.0.0.bias"));
    own = FtB_times(own, FtB_columns(scale, 0, 1)); /* 0 where there are no neighbours */
    FtB_Var mean = FtB_multiply("mean : src", A, FTB_OPERAND("src", x)),
            squares = FtB_multiply("mean : src * src", A, FTB_OPERAND("src", x)),
            low = FtB_multiply("min : src", A, FTB_OPERAND("src", x)),
            high = FtB_multiply("max : src", A, FTB_OPERAND("src", x));
    FtB_Var deviation = ftb_deviation(FtB_subtract(squares, FtB_times(mean, mean)));
    return FtB_concat(FtB_concat(FtB_add(mean, own), FtB_add(low, own)),
                      FtB_concat(FtB_add(high, own), deviation));
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Layer layer = call->layer;
    int64_t in = layer->in, wide = AGGREGATES * in;
    GrB_Info info = derive(layer, call->A->pattern);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(call->tape, info);
    FtB_Var scale = FtB_input(call->tape, layer->scale), w = ftb_layer_var(call, "post_nns.0.0.weight");
    FtB_Var all = aggregates(call, scale), y = FtB_matmul(call->dst, ftb_layer_rows(w, 0, in));
    y = ftb_matmul_onto(y, all, ftb_layer_rows(w, in, wide));
    for (int64_t s = 1; s < SCALERS; s++) {
        FtB_Var part = FtB_matmul(all, ftb_layer_rows(w, in + s * wide, wide));
        y = FtB_add(y, FtB_times(part, FtB_columns(scale, s, 1)));
    }
    if (!layer->options.no_bias)
        y = FtB_add(y, ftb_layer_var(call, "post_nns.0.0.bias"));
    return FtB_linear(y, ftb_layer_find(layer, "lin.weight"), ftb_layer_find(layer, "lin.bias"));
}

const ftb_layer_kind ftb_pna = {"pna", make, apply};
