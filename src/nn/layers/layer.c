/* Layers: made, applied, released; what their files share. */
#include "nn/layers/layer.h"

#include "core/draws.h"
#include "core/options.h"

#include <stdio.h>

#define KIND(name, options, formula) &ftb_##name,
static const ftb_layer_kind *const kinds[] = {FTB_LAYERS(KIND)};
#undef KIND
#define NKINDS ((int)(sizeof kinds / sizeof *kinds))

#define NAME_LENGTH 128

static const ftb_layer_kind *kind_of(const char *name)
{
    for (int k = 0; k < NKINDS; k++)
        if (strcmp(kinds[k]->name, name) == 0)
            return kinds[k];
    return NULL;
}

static GrB_Info unknown_kind(const char *name)
{
    char known[512] = "";
    size_t at = 0;
    for (int k = 0; k < NKINDS && at < sizeof known; k++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", k > 0 ? ", " : "", kinds[k]->name);
    return ftb_fail(GrB_INVALID_VALUE, "FtB_Layer_new: unknown kind '%s'; known: %s", name, known);
}

/* ---- options */

#define READS(name, options, formula) options,
static const char *const reads[] = {FTB_LAYERS(READS)};
#undef READS

static const char *reads_of(const ftb_layer_kind *kind)
{
    int k = 0;
    while (kinds[k] != kind)
        k++;
    return reads[k];
}

/* What not every kind reads. */
#define FIELD(field) FTB_OPTION(FtB_Layer_options, field)
static const ftb_option fields[] = {
    FIELD(heads),    FIELD(average), FIELD(no_bias),    FIELD(no_self_loops), FIELD(aggregate),
    FIELD(dropout),  FIELD(slope),   FIELD(eps),        FIELD(train_eps),     FIELD(hops),
    FIELD(teleport), FIELD(hidden),  FIELD(edge_width), FIELD(relations),     FIELD(log_degree),
    FIELD(residual), FIELD(in_dst),  FIELD(no_root),    FIELD(normalize),     FIELD(batch_norm)};
#undef FIELD

static GrB_Info copy_text(FtB_Context ctx, const char **text)
{
    if (*text && !(*text = ftb_strdup(ctx, *text)))
        return ftb_nomem();
    return GrB_SUCCESS;
}

/* Whether so many columns, times (0: once), can be counted, and a few times as many. */
static bool addressable(int64_t columns, int64_t times)
{
    int64_t product;
    return !__builtin_mul_overflow(columns, ftb_max(times, 1), &product) && product < INT64_C(1) << 56;
}

static GrB_Info read_options(FtB_Layer layer, const FtB_Layer_options *options)
{
    FtB_Layer_options *o = &layer->options;
    GrB_Info info = ftb_options_read(o, sizeof *o, options, "FtB_Layer_new", "FTB_LAYER_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_options_check_read(o, fields, sizeof fields / sizeof *fields, reads_of(layer->kind),
                                      layer->kind->name);
    const char *name = o->name, *aggregate = o->aggregate;
    o->name = o->aggregate = NULL;
    if (info != GrB_SUCCESS)
        return info;
    if (o->type == 0)
        o->type = FTB_FP32;
    if (o->heads == 0)
        o->heads = 1;
    if (o->slope == 0)
        o->slope = 0.2;
    if (o->type != FTB_FP32 && o->type != FTB_FP64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "options: type is %s; expected fp32 or fp64",
                        FtB_Type_name(o->type));
    if (o->heads < 1 || o->hops < 0 || o->hidden < 0 || o->edge_width < 0 || o->relations < 0 ||
        o->in_dst < 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: heads, hops, hidden, edge_width, relations and in_dst may not be negative");
    if (!addressable(layer->in, o->relations) || !addressable(layer->out, o->heads) ||
        !addressable(o->in_dst, o->relations) || !addressable(o->hidden, 1) || !addressable(o->edge_width, 1))
        return ftb_fail(GrB_INVALID_VALUE, "a parameter of such sizes cannot be addressed");
    if (!(o->dropout >= 0 && o->dropout < 1))
        return ftb_fail(GrB_INVALID_VALUE, "options: dropout is %g; expected 0 <= p < 1", o->dropout);
    o->name = name;
    info = copy_text(layer->ctx, &o->name);
    o->aggregate = info == GrB_SUCCESS ? aggregate : NULL;
    return info == GrB_SUCCESS ? copy_text(layer->ctx, &o->aggregate) : info;
}

/* ---- parameters */

static const char *own_name(FtB_Layer layer, FtB_Parameter p)
{
    const char *name = FtB_Parameter_name(p);
    return layer->options.name ? name + strlen(layer->options.name) + 1 : name;
}

/* Glorot's uniform values, by seed and name; nrows: of each weight of a stack. */
static GrB_Info draw(FtB_Parameter p, int64_t nrows, uint64_t seed)
{
    uint64_t name = 0;
    for (const char *c = p->name; *c; c++)
        name = name * 1099511628211u + (uint8_t)*c;
    return FtB_init(p->value, FTB_INIT_GLOROT_UNIFORM, ftb_random_mix(seed, name, 0),
                    FTB_INIT_OPTIONS(.fan_in = nrows));
}

static GrB_Info add(FtB_Parameter *p, FtB_Layer layer, const char *name, int64_t nrows, int64_t ncols)
{
    char whole[NAME_LENGTH];
    const char *before = layer->options.name;
    if (layer->nparameters == FTB_LAYER_PARAMETERS)
        return ftb_fail(GrB_INVALID_VALUE, "a layer has at most %d parameters", FTB_LAYER_PARAMETERS);
    if (snprintf(whole, sizeof whole, "%s%s%s", before ? before : "", before ? "." : "", name) >= NAME_LENGTH)
        return ftb_fail(GrB_INVALID_VALUE, "options: name is too long");
    GrB_Info info = FtB_Parameter_new(p, whole, nrows, ncols, layer->options.type);
    if (info == GrB_SUCCESS)
        layer->parameters[layer->nparameters++] = *p;
    return info;
}

GrB_Info ftb_layer_add(FtB_Layer layer, const char *name, int64_t nrows, int64_t ncols, ftb_start start)
{
    FtB_Parameter p;
    GrB_Info info = add(&p, layer, name, nrows, ncols);
    if (info == GrB_SUCCESS && start == FTB_START_GLOROT)
        info = draw(p, nrows, layer->options.seed);
    if (info == GrB_SUCCESS && start == FTB_START_ONE)
        info = FtB_init(p->value, FTB_INIT_ONES, 0, NULL);
    return info;
}

GrB_Info ftb_layer_add_stack(FtB_Layer layer, const char *name, int64_t count, int64_t nrows, int64_t ncols)
{
    FtB_Parameter p;
    if (count > INT64_MAX / nrows)
        return ftb_fail(GrB_OUT_OF_MEMORY, "%lld weights of %lld x %lld are too large", (long long)count,
                        (long long)nrows, (long long)ncols);
    GrB_Info info = add(&p, layer, name, count * nrows, ncols);
    if (info == GrB_SUCCESS)
        info = draw(p, nrows, layer->options.seed);
    return info;
}

FtB_Parameter ftb_layer_find(FtB_Layer layer, const char *name)
{
    for (int k = 0; k < layer->nparameters; k++)
        if (strcmp(own_name(layer, layer->parameters[k]), name) == 0)
            return layer->parameters[k];
    return NULL;
}

FtB_Var ftb_layer_var(const ftb_layer_call *call, const char *name)
{
    return FtB_parameter(call->tape, ftb_layer_find(call->layer, name));
}

int ftb_layer_aggregate(FtB_Layer layer, const char *const *names, int count)
{
    const char *aggregate = layer->options.aggregate;
    int at = 0;
    while (aggregate && at < count && strcmp(aggregate, names[at]) != 0)
        at++;
    return at;
}

FtB_Var ftb_layer_bias(const ftb_layer_call *call, FtB_Var y)
{
    return ftb_layer_find(call->layer, "bias") ? FtB_add(y, ftb_layer_var(call, "bias")) : y;
}

FtB_Var ftb_layer_rows(FtB_Var w, int64_t first, int64_t count)
{
    if (!ftb_var(w, "layer", "parameter"))
        return ftb_var_lost(w);
    int64_t *rows = ftb_new(w.tape->ctx, count, sizeof *rows);
    if (!rows)
        return ftb_var_failed(w.tape, ftb_nomem());
    for (int64_t k = 0; k < count; k++)
        rows[k] = first + k;
    FtB_Var part = FtB_rows(w, rows, count);
    ftb_delete(rows);
    return part;
}

int64_t FtB_Layer_count(FtB_Layer layer)
{
    return layer && layer->magic == FTB_MAGIC_LAYER ? layer->nparameters : 0;
}

FtB_Parameter FtB_Layer_parameter(FtB_Layer layer, int64_t at)
{
    return at >= 0 && at < FtB_Layer_count(layer) ? layer->parameters[at] : NULL;
}

/* ---- made and released */

/* Forgets what was made of the graph. */
static void drop_graph(FtB_Layer layer)
{
    FtB_Matrix_free(&layer->graph);
    ftb_watch_end(&layer->values);
    FtB_Matrix_free(&layer->derived);
    while (layer->nparts > 0)
        FtB_Matrix_free(&layer->parts[--layer->nparts]);
    ftb_delete(layer->parts);
    layer->parts = NULL;
    FtB_Block_free(&layer->scale);
}

GrB_Info FtB_Layer_free(FtB_Layer *layer)
{
    if (!layer || !*layer || (*layer)->magic != FTB_MAGIC_LAYER)
        return GrB_SUCCESS;
    FtB_Layer old = *layer;
    for (int k = 0; k < old->nparameters; k++)
        FtB_Parameter_free(&old->parameters[k]);
    drop_graph(old);
    ftb_delete((char *)(uintptr_t)old->options.name);
    ftb_delete((char *)(uintptr_t)old->options.aggregate);
    FtB_Context ctx = old->ctx;
    old->magic = 0;
    ftb_delete(old);
    ftb_context_release(ctx);
    *layer = NULL;
    return GrB_SUCCESS;
}

GrB_Info FtB_Layer_new(FtB_Layer *layer, const char *kind, int64_t in, int64_t out,
                       const FtB_Layer_options *options)
{
    if (!layer || !kind)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Layer_new: %s is NULL", layer ? "kind" : "layer");
    *layer = NULL;
    const ftb_layer_kind *found = kind_of(kind);
    if (!found)
        return unknown_kind(kind);
    if (in < 1 || out < 1)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Layer_new: %lld to %lld columns; expected at least 1",
                        (long long)in, (long long)out);
    FtB_Layer made = ftb_new0(NULL, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    *made = (struct FtB_Layer_opaque){.magic = FTB_MAGIC_LAYER,
                                      .ctx = ftb_context_retain(ftb_context()),
                                      .kind = found,
                                      .in = in,
                                      .out = out};
    GrB_Info info = read_options(made, options);
    if (info == GrB_SUCCESS)
        info = found->make(made);
    if (info != GrB_SUCCESS)
        FtB_Layer_free(&made);
    *layer = made;
    return info == GrB_SUCCESS ? info : ftb_wrap_error(info, "FtB_Layer_new, %s: ", kind);
}

/* ---- applied */

static GrB_Info check_layer(FtB_Layer layer)
{
    if (!layer)
        return ftb_fail(GrB_NULL_POINTER, "layer is NULL; expected an FtB_Layer");
    if (layer->magic != FTB_MAGIC_LAYER)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "layer is not an FtB_Layer, or was freed");
    return GrB_SUCCESS;
}

static GrB_Info check_features(const ftb_nn_node *x, const char *name, const ftb_layer_call *c, int64_t nrows,
                               int64_t columns)
{
    char shape[80];
    if ((x->graph && !x->sparse) || x->nrows != nrows || (columns >= 0 && x->ncols != columns))
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s, %s: %s; expected %lld x %lld", c->layer->kind->name,
                        name, ftb_node_shape(x, shape, sizeof shape), (long long)nrows, (long long)columns);
    return GrB_SUCCESS;
}

/* What was made of another graph, or of other values, is forgotten. */
static GrB_Info look_at_graph(FtB_Layer layer, FtB_Matrix A)
{
    bool same = layer->graph && layer->graph->pattern == A->pattern && layer->graph->values == A->values;
    GrB_Info info = same ? ftb_watch_look(&layer->values, &same, "A") : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "%s: ", layer->kind->name);
    if (same)
        return GrB_SUCCESS;
    drop_graph(layer);
    return ftb_matrix_share(&layer->graph, A);
}

/* Targets of a call on one variable: all of A's sources, or as many as it has rows, which are the first. */
static FtB_Var first_targets(FtB_Var src, int64_t targets)
{
    const ftb_nn_node *x = src.tape->nodes[src.node];
    if (targets >= x->nrows)
        return src;
    return x->sparse ? ftb_sparse_rows(src, targets) : ftb_layer_rows(src, 0, targets);
}

FtB_Var FtB_Layer_apply(FtB_Layer layer, FtB_Matrix A, FtB_Var src, FtB_Var dst, FtB_Var edge)
{
    FtB_Tape tape = ftb_var_tape(src, dst);
    const ftb_nn_node *x = ftb_var_of(tape, src, "FtB_Layer_apply", "src"),
                      *y = ftb_var_of(tape, dst, "FtB_Layer_apply", "dst");
    ftb_nn_order order = {0};
    ftb_layer_call c = {
        .layer = layer, .tape = tape, .A = A, .src = src, .dst = dst, .edge = edge, .order = &order};
    bool some_edge = edge.tape || edge.node >= 0;
    if (!x || !y || (some_edge && !ftb_var_of(tape, edge, "FtB_Layer_apply", "edge")))
        return (FtB_Var){tape, -1};
    GrB_Info info = check_layer(layer);
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix(&A, FTB_ARG(A), "A", false);
    if (info == GrB_SUCCESS && some_edge && layer->options.edge_width == 0)
        info =
            ftb_fail(GrB_INVALID_VALUE, "%s: edge features are given; the layer was made without edge_width",
                     layer->kind->name);
    if (info == GrB_SUCCESS)
        info = check_features(x, "src", &c, A->pattern->ncols, layer->in);
    const bool hop = info == GrB_SUCCESS && src.node == dst.node && A->pattern->nrows < A->pattern->ncols;
    if (info == GrB_SUCCESS && !hop)
        info = check_features(y, "dst", &c, A->pattern->nrows, -1);
    if (info == GrB_SUCCESS)
        info = look_at_graph(layer, A);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(tape, info);
    c.bipartite = src.node != dst.node;
    if (hop && (c.dst = first_targets(src, A->pattern->nrows)).node < 0)
        return c.dst;
    c.columns = x->ncols;
    FtB_Var result = layer->kind->apply(&c);
    if (result.node < 0 || !ftb_tape_made_of(tape, &layer->values))
        return (FtB_Var){tape, -1};
    tape->nodes[result.node]->order = order;
    return result;
}

static FtB_Var apply_named(const ftb_layer_kind *kind, FtB_Layer layer, FtB_Matrix A, FtB_Var x)
{
    GrB_Info info = check_layer(layer);
    if (info == GrB_SUCCESS && layer->kind != kind)
        info = ftb_fail(GrB_INVALID_VALUE, "FtB_%s: the layer is of kind %s", kind->name, layer->kind->name);
    if (info == GrB_SUCCESS)
        return FtB_Layer_apply(layer, A, x, x, FTB_NO_VAR);
    return x.tape ? ftb_var_failed(x.tape, info) : ftb_var_lost(x);
}

#define NAMED(name, options, formula)                                                                        \
    FtB_Var FtB_##name(FtB_Layer layer, FtB_Matrix A, FtB_Var x)                                             \
    {                                                                                                        \
        return apply_named(&ftb_##name, layer, A, x);                                                        \
    }
FTB_LAYERS(NAMED)
#undef NAMED

/* ---- what kinds share */

GrB_Info ftb_layer_self_loops(FtB_Matrix *B, FtB_Layer layer, FtB_Matrix A)
{
    ftb_pattern *p = NULL;
    GrB_Info info = layer->derived ? GrB_SUCCESS : ftb_pattern_diagonal(A->pattern, &p);
    if (p)
        info = ftb_matrix_make(&layer->derived, A->ctx, layer->options.type, 0, ftb_pattern_retain(p), NULL);
    *B = layer->derived;
    return info;
}
