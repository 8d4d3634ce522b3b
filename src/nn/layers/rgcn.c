/* Relational graph convolution: y_i = sum over edge types r of (mean of x_j over the neighbours of type r)
 * W_r, + x_i W + b. The values of A are the types.
 *
 * A is cut into one pattern per type, once per graph; the W_r are blocks of rows of one parameter, as PyG
 * stores them. Schlichtkrull et al., "Modeling relational data with graph convolutional networks", ESWC 2018.
 */
#include "nn/layers/layer.h"

static GrB_Info make(FtB_Layer layer)
{
    const FtB_Layer_options *o = &layer->options;
    if (o->relations < 1)
        return ftb_fail(GrB_INVALID_VALUE, "options: relations is %lld; expected at least 1",
                        (long long)o->relations);
    GrB_Info info = ftb_layer_add_stack(layer, "weight", o->relations, layer->in, layer->out);
    if (info == GrB_SUCCESS && !o->no_root)
        info =
            ftb_layer_add(layer, "root", o->in_dst > 0 ? o->in_dst : layer->in, layer->out, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !o->no_bias)
        info = ftb_layer_add(layer, "bias", 1, layer->out, FTB_START_ZERO);
    return info;
}

/* ---- one pattern per type */

/* The type of entry e, checked. */
static int64_t type_of(FtB_Matrix A, int64_t e) { return (int64_t)ftb_get_real(ftb_values(A), A->type, e); }

static GrB_Info check(FtB_Matrix A, int64_t relations)
{
    const ftb_pattern *p = A->pattern;
    if (A->width != 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "rgcn: A has %lld values per entry; expected one, an edge type", (long long)A->width);
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            double r = ftb_get_real(ftb_values(A), A->type, e);
            if (!(r >= 0 && r < (double)relations) || (double)(int64_t)r != r)
                return ftb_fail(GrB_INVALID_VALUE,
                                "rgcn: A(%lld, %lld) is %g; expected an edge type, 0 to %lld", (long long)i,
                                (long long)ftb_col(p, e), r, (long long)relations - 1);
        }
    return GrB_SUCCESS;
}

static GrB_Info cut(FtB_Matrix *part, FtB_Matrix A, int64_t type, FtB_Type dtype)
{
    ftb_pattern *p = A->pattern, *q = NULL;
    size_t size = ftb_col_size(p->ncols);
    int64_t *rowptr = ftb_new(A->ctx, p->nrows + 1, sizeof *rowptr), count = 0;
    for (int64_t e = 0; e < p->nvals; e++)
        count += type_of(A, e) == type;
    char *cols = rowptr ? ftb_new(A->ctx, count, size) : NULL;
    if (!cols) {
        ftb_delete(rowptr);
        return ftb_nomem();
    }
    rowptr[0] = count = 0;
    for (int64_t i = 0; i < p->nrows; i++) {
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            if (type_of(A, e) == type)
                memcpy(cols + (size_t)count++ * size, (const char *)p->colidx + (size_t)e * size, size);
        rowptr[i + 1] = count;
    }
    q = ftb_pattern_new(A->ctx, p->nrows, p->ncols, ftb_buffer_adopt(A->ctx, rowptr),
                        ftb_buffer_adopt(A->ctx, cols));
    if (!q)
        return ftb_nomem();
    q->multi = p->multi;
    return ftb_matrix_make(part, A->ctx, dtype, 0, q, NULL);
}

static GrB_Info derive(FtB_Layer layer, FtB_Matrix A)
{
    int64_t relations = layer->options.relations;
    if (layer->nparts == relations)
        return GrB_SUCCESS;
    GrB_Info info = check(A, relations);
    if (info != GrB_SUCCESS)
        return info;
    ftb_watch_matrix(&layer->values, A);
    if (!layer->parts && !(layer->parts = ftb_new0(layer->ctx, relations, sizeof *layer->parts)))
        return ftb_nomem();
    while (layer->nparts < relations && info == GrB_SUCCESS) {
        info = cut(&layer->parts[layer->nparts], A, layer->nparts, layer->options.type);
        layer->nparts += info == GrB_SUCCESS;
    }
    return info;
}

/* ---- the sum over types */

/* y plus what comes over edges of type r; the first of all has nothing to be added to. */
static FtB_Var add_type(const ftb_layer_call *call, bool first, FtB_Var y, int64_t r, bool project_first)
{
    FtB_Layer layer = call->layer;
    FtB_Matrix part = layer->parts[r];
    FtB_Var w = ftb_layer_rows(ftb_layer_var(call, "weight"), r * layer->in, layer->in);
    if (project_first) {
        const FtB_Var of = FtB_multiply("mean : src", part, FTB_OPERAND("src", FtB_matmul(call->src, w)));
        return first ? of : FtB_add(y, of);
    }
    const FtB_Var mean = FtB_multiply("mean : src", part, FTB_OPERAND("src", call->src));
    return first ? FtB_matmul(mean, w) : ftb_matmul_onto(y, mean, w);
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Layer layer = call->layer;
    GrB_Info info = derive(layer, call->A);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(call->tape, info);
    const bool project_first = ftb_layer_project_first(call, call->src, layer->out, 1),
               root = !layer->options.no_root;
    FtB_Var y = call->src;
    if (root)
        y = FtB_linear(call->dst, ftb_layer_find(layer, "root"), ftb_layer_find(layer, "bias"));
    for (int64_t r = 0; r < layer->options.relations && y.node >= 0; r++)
        y = add_type(call, r == 0 && !root, y, r, project_first);
    return root ? y : ftb_layer_bias(call, y);
}

const ftb_layer_kind ftb_rgcn = {"rgcn", make, apply};
