/* ClusterGCN: partitions, and mini-batches that are the subgraphs of some clusters (FtB_Clusters_new). Chiang
 * et al., "Cluster-GCN: an efficient algorithm for training deep and large graph convolutional networks", KDD
 * 2019: entries between the clusters of a batch are kept, and degrees are those within the subgraph.
 *
 * The order of an epoch's clusters is a permutation that is computed (sample/batch.h), so that a batch
 * follows from seed, epoch and number. */
#include "sample/cluster_batches.h"

#include "core/draws.h"
#include "core/options.h"
#include "core/whole.h"
#include "core/words.h"
#include "cpu/sample/cluster_run.h"
#include "sample/batch.h"
#include "sample/induce.h"
#include "sample/metis.h"
#include "sample/sample_object.h"
#include "sample/selector.h"

#define FTB_MAGIC_CLUSTERS 0x46544263

struct FtB_Clusters_opaque {
    uint32_t magic;
    FtB_Context ctx;
    FtB_Matrix A; /* a handle of our own */
    FtB_Clusters_options options;
    uint64_t seed;
    int64_t count;     /* of clusters that have vertices */
    int64_t *begin;    /* count + 1 */
    int64_t *vertices; /* cluster after cluster, ascending in each */
};

/* ---- partitions */

/* What all calls with labels are given. */
static GrB_Info check(FtB_Matrix *A, const int32_t *labels, int64_t nparts, bool given)
{
    GrB_Info info = ftb_arg_matrix_anywhere(A, FTB_ARG(*A), "A", false);
    char below[FTB_WORDS];
    if (info == GrB_SUCCESS)
        info = ftb_check_square(*A);
    if (info != GrB_SUCCESS)
        return info;
    const int64_t n = (*A)->pattern->nrows;
    if (nparts < 1 || nparts > INT32_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "nparts is %lld; expected 1 to 2^31 - 1", (long long)nparts);
    if (!labels && n > 0)
        return ftb_fail(GrB_NULL_POINTER, "labels is NULL; expected %lld, one for each vertex", (long long)n);
    const int64_t bad = given ? ftb_labels_beyond(labels, n, nparts) : n;
    if (bad == n)
        return GrB_SUCCESS;
    return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "labels[%lld] is %d; expected %s", (long long)bad,
                    (int)labels[bad], ftb_below_text(below, nparts));
}

GrB_Info FtB_partition(int32_t *labels, FtB_Matrix A, int64_t nparts, const FtB_Partition_options *options)
{
    const FtB_Context ctx = ftb_context();
    FtB_Partition_options o = {.size = 0};
    GrB_Info info = ftb_options_read(&o, sizeof o, options, "FtB_partition", "FTB_PARTITION_OPTIONS");
    if (info == GrB_SUCCESS)
        info = check(&A, labels, nparts, false);
    if (info != GrB_SUCCESS)
        return info;
    const int64_t n = A->pattern->nrows;
    if (nparts > n && n > 0)
        return ftb_fail(GrB_INVALID_VALUE, "nparts is %lld, of %lld vertices; expected as many at most",
                        (long long)nparts, (long long)n);
    if (n > 0 && nparts > 1) /* of one part, METIS divides by 0 */
        return ftb_metis_part(ftb_metis_here(), ctx, labels, A->pattern, nparts, o.seed);
    for (int64_t v = 0; v < n; v++)
        labels[v] = 0;
    return GrB_SUCCESS;
}

GrB_Info FtB_partition_measure(int64_t *cut, int64_t *largest, FtB_Matrix A, const int32_t *labels,
                               int64_t nparts)
{
    const FtB_Context ctx = ftb_context();
    GrB_Info info = check(&A, labels, nparts, true);
    if (info != GrB_SUCCESS)
        return info;
    int64_t most = 0, *sizes = ftb_new0(ctx, nparts, sizeof *sizes);
    if (!sizes)
        return ftb_nomem();
    for (int64_t v = 0; v < A->pattern->nrows; v++)
        sizes[labels[v]]++;
    for (int64_t p = 0; p < nparts; p++)
        most = ftb_max(most, sizes[p]);
    ftb_delete(sizes);
    if (largest)
        *largest = most;
    if (cut)
        *cut = ftb_labels_cut(ctx, A->pattern, labels);
    return GrB_SUCCESS;
}

/* ---- the object */

bool ftb_is_clusters(FtB_Clusters c) { return c && c->magic == FTB_MAGIC_CLUSTERS; }

bool ftb_clusters_of(FtB_Clusters c, FtB_Matrix A)
{
    return c->A->pattern == A->pattern && c->A->values == A->values;
}

GrB_Info FtB_Clusters_free(FtB_Clusters *clusters)
{
    FtB_Clusters c = clusters ? *clusters : NULL;
    if (!c)
        return GrB_SUCCESS;
    if (!ftb_is_clusters(c))
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "clusters is not an FtB_Clusters, or was freed");
    FtB_Matrix_free(&c->A);
    ftb_delete(c->begin);
    ftb_delete(c->vertices);
    c->magic = 0;
    ftb_delete(c);
    *clusters = NULL;
    return GrB_SUCCESS;
}

/* Clusters that have vertices, with these. */
static GrB_Info list_clusters(FtB_Clusters c, const int32_t *labels, int64_t nparts)
{
    const int64_t n = c->A->pattern->nrows;
    c->begin = ftb_new(c->ctx, nparts + 1, sizeof *c->begin);
    c->vertices = ftb_new(c->ctx, n, sizeof *c->vertices);
    if (!c->begin || !c->vertices)
        return ftb_nomem();
    ftb_labels_list(c->begin, c->vertices, labels, n, nparts);
    for (int64_t part = 0; part < nparts; part++)
        if (c->begin[part + 1] > c->begin[c->count])
            c->begin[++c->count] = c->begin[part + 1];
    return GrB_SUCCESS;
}

GrB_Info FtB_Clusters_new(FtB_Clusters *clusters, FtB_Matrix A, const int32_t *labels, int64_t nparts,
                          const FtB_Clusters_options *options)
{
    const FtB_Context ctx = ftb_context();
    FtB_Clusters_options o = {.size = 0};
    FtB_Clusters c = NULL;
    if (!clusters)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Clusters_new: clusters is NULL");
    *clusters = NULL;
    GrB_Info info = ftb_options_read(&o, sizeof o, options, "FtB_Clusters_new", "FTB_CLUSTERS_OPTIONS");
    if (info == GrB_SUCCESS)
        info = check(&A, labels, nparts, true);
    if (info == GrB_SUCCESS && o.batch < 0)
        info = ftb_fail(GrB_INVALID_VALUE, "options: batch is %lld; expected 1 or more, or 0 for 1",
                        (long long)o.batch);
    if (info != GrB_SUCCESS)
        return info;
    o.batch = ftb_max(o.batch, 1);
    c = ftb_new0(ctx, 1, sizeof *c);
    if (!c)
        return ftb_nomem();
    c->magic = FTB_MAGIC_CLUSTERS;
    c->ctx = ctx;
    c->options = o;
    c->seed = o.seed ? o.seed : ctx->seed;
    FTB_CHECK(ftb_matrix_share(&c->A, A));
    FTB_CHECK(list_clusters(c, labels, nparts));
    *clusters = c;
    c = NULL;
done:
    FtB_Clusters_free(&c);
    return info;
}

int64_t FtB_Clusters_batches(FtB_Clusters c)
{
    return ftb_is_clusters(c) ? c->count / c->options.batch + (c->count % c->options.batch > 0) : 0;
}

/* ---- batches */

GrB_Info ftb_clusters_draw(FtB_Clusters c, FtB_Context ctx, int64_t epoch, int64_t batch, int64_t **vertices,
                           int64_t *count)
{
    const uint64_t key = ftb_random_mix(c->seed, (uint64_t)epoch, FTB_DRAW_CLUSTER);
    const int64_t first = batch * c->options.batch, some = ftb_min(c->options.batch, c->count - first);
    int64_t *chosen = ftb_new(ctx, some, sizeof *chosen), at = 0;
    *vertices = NULL;
    *count = 0;
    if (!chosen)
        return ftb_nomem();
    for (int64_t t = 0; t < some; t++) {
        chosen[t] = ftb_shuffled(key, c->count, first + t);
        *count += c->begin[chosen[t] + 1] - c->begin[chosen[t]];
    }
    uint64_t *list = ftb_new(ctx, *count, sizeof *list), *scratch = ftb_new(ctx, *count, sizeof *scratch);
    for (int64_t t = 0; list && scratch && t < some; t++)
        for (int64_t v = c->begin[chosen[t]]; v < c->begin[chosen[t] + 1]; v++)
            list[at++] = (uint64_t)c->vertices[v];
    ftb_delete(chosen);
    if (!list || !scratch) {
        ftb_delete(list);
        ftb_delete(scratch);
        return ftb_nomem();
    }
    uint64_t *sorted = ftb_sort(list, scratch, *count, 0, 63);
    ftb_delete(sorted == list ? scratch : list);
    *vertices = (int64_t *)sorted;
    return GrB_SUCCESS;
}

GrB_Info FtB_Clusters_batch(FtB_Sample *sample, FtB_Clusters c, int64_t epoch, int64_t batch)
{
    int64_t *vertices = NULL, count = 0;
    if (!sample)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Clusters_batch: sample is NULL");
    *sample = NULL;
    if (!ftb_is_clusters(c))
        return ftb_fail(c ? GrB_UNINITIALIZED_OBJECT : GrB_NULL_POINTER,
                        "clusters is not an FtB_Clusters, or was freed");
    if (epoch < 0 || batch < 0 || batch >= FtB_Clusters_batches(c))
        return ftb_fail(GrB_INVALID_VALUE,
                        "epoch is %lld and batch %lld; expected 0 or more, and one of %lld", (long long)epoch,
                        (long long)batch, (long long)FtB_Clusters_batches(c));
    const FtB_Subgraph_options o = {.edges = c->options.edges, .structural = c->options.structural};
    GrB_Info info = ftb_clusters_draw(c, c->ctx, epoch, batch, &vertices, &count);
    if (info == GrB_SUCCESS)
        info = ftb_check_vertices(c->ctx, vertices, count, c->A->pattern->nrows, "vertices");
    if (info == GrB_SUCCESS)
        info = ftb_induce(sample, c->ctx, c->A, vertices, count, &o, NULL);
    ftb_delete(vertices);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c->ctx);
    return info;
}

/* ---- as of seeds */

static void *copy(FtB_Context ctx, const void *from, int64_t count, size_t size)
{
    void *to = ftb_new(ctx, count, size);
    if (to && count > 0)
        memcpy(to, from, (size_t)count * size);
    return to;
}

/* The first rows of L, which know of it: their degrees are its own. */
static GrB_Info first_rows(FtB_Matrix *rows, FtB_Context ctx, FtB_Matrix L, int64_t nrows)
{
    const ftb_pattern *p = L->pattern;
    const int64_t count = p->rowptr[nrows];
    ftb_buffer *rowptr = ftb_buffer_adopt(ctx, copy(ctx, p->rowptr, nrows + 1, sizeof *p->rowptr)),
               *columns = ftb_buffer_adopt(ctx, copy(ctx, p->colidx, count, sizeof(int32_t))), *values = NULL,
               *same = NULL;
    GrB_Info info = ftb_buffer_ask(L->values, FTB_READ);
    if (info == GrB_SUCCESS && L->values)
        values =
            ftb_buffer_adopt(ctx, copy(ctx, ftb_values(L), count, (size_t)L->width * FtB_Type_size(L->type)));
    if (info == GrB_SUCCESS && L->values && !values)
        info = ftb_nomem();
    int64_t *numbers = ftb_new(ctx, p->ncols, sizeof *numbers);
    for (int64_t v = 0; numbers && v < p->ncols; v++)
        numbers[v] = v;
    same = ftb_buffer_adopt(ctx, numbers);
    ftb_whole *of = ftb_whole_new(ctx, L, same);
    ftb_pattern *pattern = ftb_pattern_new(ctx, nrows, p->ncols, rowptr, columns);
    if (pattern)
        pattern->multi = p->multi;
    const GrB_Info made = ftb_matrix_make(rows, ctx, L->type, L->width, pattern, values);
    if (info == GrB_SUCCESS)
        info = made;
    if (info == GrB_SUCCESS && !of)
        info = ftb_nomem();
    if (info == GrB_SUCCESS)
        (*rows)->pattern->whole = of;
    else
        ftb_whole_release(of);
    return info;
}

GrB_Info ftb_clusters_layers(FtB_Sample *sample, FtB_Clusters c, FtB_Context ctx, const int64_t *vertices,
                             int64_t count, int64_t nseeds)
{
    FtB_Sample all = NULL, s = NULL;
    const FtB_Subgraph_options o = {.edges = c->options.edges, .structural = c->options.structural};
    GrB_Info info = GrB_SUCCESS;
    *sample = NULL;
    FTB_CHECK(ftb_check_vertices(ctx, vertices, count, c->A->pattern->nrows, "vertices"));
    FTB_CHECK(ftb_induce(&all, ctx, c->A, vertices, count, &o, NULL));
    FTB_CHECK(ftb_sample_new(&s, ctx, vertices, count, 2));
    s->nseeds = s->found[0] = nseeds;
    s->found[1] = count - nseeds;
    FTB_CHECK(first_rows(&s->layer[0], ctx, all->layer[0], nseeds));
    s->layer[1] = all->layer[0];
    all->layer[0] = NULL;
    for (int h = 0; h < 2; h++)
        s->picked[h] = s->layer[h]->pattern->nvals;
    if (all->edges[0] && !(s->edges[0] = copy(ctx, all->edges[0], s->picked[0], sizeof *s->edges[0])))
        FTB_CHECK(ftb_nomem());
    s->edges[1] = all->edges[0];
    all->edges[0] = NULL;
    *sample = s;
    s = NULL;
done:
    FtB_Sample_free(&all);
    FtB_Sample_free(&s);
    return info;
}
