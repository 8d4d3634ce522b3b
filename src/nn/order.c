/* Whether a layer multiplies features by weights before it sums over neighbours, A (X W), or after, (A X) W:
 * what is predicted to take less, forward and, in training, backward.
 *
 *     A (X W)   dense products over n sources; sums of W's columns, forward and back
 *     (A X) W   dense products over m targets; sums of X's columns, forward, and back if X has a gradient
 *
 * in training W's gradient and X's are a dense product each. Of constant features the second sum is computed
 * once. Bits depend on the order, so that it is chosen by the machine's caches and the shapes alone, for one
 * thread. */
#include "nn/layers/layer.h"

#include "core/isa.h"
#include "ops/spmm.h"
#include "plan/machine.h"

/* Operations a second of a dense product, FP32, by instruction set: only ratios to the sums' rates matter,
 * which are those of the same machine (rule_spmm.c). */
static double dense_rate(FtB_Type type)
{
    static const double rates[] = {
        [FTB_ISA_BASELINE] = 15e9, [FTB_ISA_AVX2] = 60e9, [FTB_ISA_AVX512] = 110e9};
    return (type == FTB_FP64 ? 0.5 : 1) * rates[ftb_isa()];
}

bool ftb_layer_project_first(const ftb_layer_call *call, FtB_Var x, int64_t out, int64_t times)
{
    const ftb_nn_node *n = x.node >= 0 ? call->tape->nodes[x.node] : NULL;
    ftb_nn_order *o = call->order;
    if (!n || n->sparse) /* whose sum would be dense */
        return true;
    ftb_pattern *p = call->A->pattern;
    const ftb_machine_facts *machine =
        ftb_deterministic(call->tape->ctx) ? ftb_machine_standard() : ftb_machine_here();
    const bool training = !call->tape->inference;
    const double row = 2.0 * (double)n->ncols * (double)out / dense_rate(n->type);
    const int products = training ? 2 + n->gradient : 1, sums_first = training ? 2 : 1;
    const int sums_after = training && n->constant ? 0 : 1 + (training && n->gradient);
    o->first = products * (double)p->ncols * row +
               (double)(sums_first * times) * ftb_spmm_predict(p, out, n->type, machine);
    o->after = products * (double)p->nrows * row +
               (double)(sums_after * times) * ftb_spmm_predict(p, n->ncols, n->type, machine);
    return o->first <= o->after;
}
