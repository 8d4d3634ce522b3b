/* The kinds of models: one row each, from which options, help, files and docs/nn.md know them. */
#include "learn/model.h"

#include <stdio.h>
#include <string.h>

/* Hyper-parameters are those of the papers for Cora, or near them: GraphSAGE and GIN have widths as of GCN,
 * GATv2 and the transformer are as GAT. */
const model_kind model_kinds[] = {
    {.name = "gcn",
     .about = "graph convolution, Kipf and Welling 2017",
     .layer = "gcn",
     .prefix = "conv",
     .layers = 2,
     .hidden = 16,
     .dropout = 0.5,
     .lr = 0.01,
     .weight_decay = 5e-4,
     .decay_first = true,
     .epochs = 200,
     .tensor = "lin.weight",
     .in = "lin.weight",
     .out = "lin.weight",
     .told = 6},
    {.name = "gat",
     .about = "graph attention, Velickovic et al. 2018",
     .layer = "gat",
     .prefix = "conv",
     .attends = true,
     .activation = MODEL_ELU,
     .layers = 2,
     .hidden = 8,
     .heads = 8,
     .dropout = 0.6,
     .lr = 0.005,
     .weight_decay = 5e-4,
     .epochs = 500,
     .patience = 100,
     .tensor = "att_src",
     .in = "lin.weight",
     .out = "lin.weight",
     .told = 1,
     .aliases = {{"lin.weight", "lin_src.weight"}}},
    {.name = "gatv2",
     .about = "the same with scores after the nonlinearity, Brody et al. 2022",
     .layer = "gatv2",
     .prefix = "conv",
     .attends = true,
     .activation = MODEL_ELU,
     .layers = 2,
     .hidden = 8,
     .heads = 8,
     .dropout = 0.6,
     .lr = 0.005,
     .weight_decay = 5e-4,
     .epochs = 500,
     .patience = 100,
     .tensor = "att",
     .in = "lin_l.weight",
     .out = "lin_l.weight",
     .told = 2,
     /* share_weights: of two names safetensors keeps the first */
     .aliases = {{"lin_r.weight", "lin_l.weight"}, {"lin_r.bias", "lin_l.bias"}}},
    {.name = "transformer",
     .about = "dot-product attention, Shi et al. 2021",
     .layer = "transformer",
     .prefix = "conv",
     .attends = true,
     .layers = 2,
     .hidden = 8,
     .heads = 8,
     .dropout = 0.6,
     .lr = 0.005,
     .weight_decay = 5e-4,
     .epochs = 500,
     .patience = 100,
     .tensor = "lin_key.weight",
     .in = "lin_key.weight",
     .out = "lin_key.weight",
     .told = 4},
    {.name = "sage",
     .about = "GraphSAGE, Hamilton et al. 2017",
     .layer = "sage",
     .prefix = "conv",
     .aggregates = true,
     .layers = 2,
     .hidden = 64,
     .dropout = 0.5,
     .lr = 0.01,
     .weight_decay = 5e-4,
     .epochs = 200,
     .tensor = "lin_l.weight",
     .in = "lin_l.weight",
     .out = "lin_l.weight",
     .told = 5},
    {.name = "sgc",
     .about = "simple graph convolution, Wu et al. 2019",
     .layer = "sgc",
     .prefix = "conv",
     .layers = 1,
     .hidden = 16,
     .hops = 2,
     .lr = 0.2,
     .weight_decay = 1e-4,
     .epochs = 100,
     .tensor = "lin.weight",
     .in = "lin.weight",
     .out = "lin.weight"},
    {.name = "appnp",
     .about = "MLP, then personalised PageRank, Gasteiger et al. 2019",
     .layer = "appnp",
     .prefix = "lin",
     .perceptron = true,
     .layers = 2,
     .hidden = 64,
     .hops = 10,
     .teleport = 0.1,
     .dropout = 0.5,
     .lr = 0.01,
     .weight_decay = 5e-3,
     .decay_first = true,
     .epochs = 500,
     .patience = 100,
     .tensor = "weight",
     .in = "weight",
     .out = "weight"},
    {.name = "gin",
     .about = "graph isomorphism network, Xu et al. 2019; `eps` 0",
     .layer = "gin",
     .prefix = "conv",
     .inner = true,
     .layers = 2,
     .hidden = 32,
     .dropout = 0.5,
     .lr = 0.01,
     .weight_decay = 5e-4,
     .epochs = 200,
     .tensor = "nn.0.weight",
     .in = "nn.0.weight",
     .out = "nn.2.weight",
     .told = 3,
     .aliases = {{"nn.0.weight", "nn.lins.0.weight"},
                 {"nn.0.bias", "nn.lins.0.bias"},
                 {"nn.2.weight", "nn.lins.1.weight"},
                 {"nn.2.bias", "nn.lins.1.bias"}}},
    {.name = "mlp",
     .about = "linear layers that do not see the graph: what features alone tell",
     .prefix = "lin",
     .perceptron = true,
     .layers = 2,
     .hidden = 16,
     .dropout = 0.5,
     .lr = 0.01,
     .weight_decay = 5e-4,
     .decay_first = true,
     .epochs = 200,
     .tensor = "weight",
     .in = "weight",
     .out = "weight"},
};
enum { KINDS = sizeof model_kinds / sizeof *model_kinds };
const int model_nkinds = KINDS;

const char *const model_aggregates[] = {"mean", "max", "pool", "sum", NULL}, *const model_activations[] = {
                                                                                 "relu", "elu", "none", NULL};

static const char *const *counted(const char *const *words, int *count)
{
    for (*count = 0; words[*count]; ++*count)
        ;
    return words;
}

const char *const *model_aggregate_words(int *count) { return counted(model_aggregates, count); }
const char *const *model_activation_words(int *count) { return counted(model_activations, count); }

const char *const *model_names(int *count)
{
    static const char *names[KINDS];
    for (int k = 0; k < KINDS; k++)
        names[k] = model_kinds[k].name;
    *count = KINDS;
    return names;
}

const model_kind *model_find(const char *name)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(model_kinds[k].name, name) == 0)
            return &model_kinds[k];
    return NULL;
}

/* ---- lists */

bool model_any(const model_kind *kind)
{
    (void)kind;
    return true;
}
bool model_has_heads(const model_kind *kind) { return kind->attends; }
bool model_has_hops(const model_kind *kind) { return kind->hops > 0; }
bool model_has_teleport(const model_kind *kind) { return kind->teleport > 0; }
bool model_has_aggregate(const model_kind *kind) { return kind->aggregates; }
bool model_samples(const model_kind *kind) { return !kind->perceptron && kind->hops == 0; }
static bool decays_first(const model_kind *kind) { return kind->decay_first; }
static bool has_one_layer(const model_kind *kind) { return kind->layers == 1; }

const char *model_list(char text[MODEL_LIST], bool (*has)(const model_kind *kind), const char *conjunction)
{
    int last = -1;
    size_t at = 0;
    for (int k = 0; k < KINDS; k++)
        last = has(&model_kinds[k]) ? k : last;
    text[0] = '\0';
    for (int k = 0; k <= last && at < MODEL_LIST; k++)
        if (has(&model_kinds[k]))
            at += (size_t)snprintf(text + at, MODEL_LIST - at, "%s%s",
                                   at == 0     ? ""
                                   : k == last ? conjunction
                                               : ", ",
                                   model_kinds[k].name);
    return text;
}

#define LIST(name, has, conjunction)                                                                         \
    const char *name(void)                                                                                   \
    {                                                                                                        \
        static char text[MODEL_LIST];                                                                        \
        return model_list(text, has, conjunction);                                                           \
    }
LIST(model_all_list, model_any, " or ")
LIST(model_hops_list, model_has_hops, " and ")
LIST(model_teleport_list, model_has_teleport, " and ")
LIST(model_aggregate_list, model_has_aggregate, " and ")
LIST(model_sample_list, model_samples, " and ")
LIST(model_decay_list, decays_first, " and ")
LIST(model_shallow_list, has_one_layer, " and ")
#undef LIST

void model_table(FILE *out)
{
    for (const model_kind *k = model_kinds; k < model_kinds + KINDS; k++) {
        fprintf(out, "| `%s` | %s", k->name, k->about);
        if (k->attends)
            fprintf(out, "; `--heads %d`", (int)k->heads);
        for (int a = 0; k->aggregates && model_aggregates[a]; a++)
            fprintf(out, a == 0 ? "; `--aggregate %s`" : ", `%s`", model_aggregates[a]);
        if (k->hops > 0)
            fprintf(out, "; `--hops %d`", (int)k->hops);
        if (k->teleport > 0)
            fprintf(out, ", `--teleport %g`", k->teleport);
        fprintf(out, " | %d", (int)k->layers);
        if (k->layers > 1)
            fprintf(out, ", %d%s", (int)k->hidden, k->attends ? " per head" : "");
        fprintf(out, " | %g | %g | %g%s | %d", k->dropout, k->lr, k->weight_decay,
                k->decay_first ? ", first layer" : "", (int)k->epochs);
        if (k->patience > 0)
            fprintf(out, ", patience %d", (int)k->patience);
        fputs(" |\n", out);
    }
}
