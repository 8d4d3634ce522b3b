/* What a sample holds: layers, vertices, counts. */
#include "sample/sample_object.h"

#include "core/draws.h"
#include "core/whole.h"

GrB_Info ftb_sample_new(FtB_Sample *sample, FtB_Context ctx, const int64_t *vertices, int64_t count,
                        int nhops)
{
    FtB_Sample s = *sample = ftb_new0(ctx, 1, sizeof *s);
    if (!s)
        return ftb_nomem();
    s->magic = FTB_MAGIC_SAMPLE;
    s->ctx = ctx;
    s->nhops = nhops;
    s->nseeds = s->nvertices = count;
    s->vertices = ftb_new(ctx, count, sizeof *s->vertices);
    s->found = ftb_new0(ctx, (int64_t)nhops + 1, sizeof *s->found);
    s->picked = ftb_new0(ctx, nhops, sizeof *s->picked);
    s->layer = ftb_new0(ctx, nhops, sizeof(FtB_Matrix));
    s->edges = ftb_new0(ctx, nhops, sizeof(int64_t *));
    if (!s->vertices || !s->found || !s->picked || !s->layer || !s->edges)
        return ftb_nomem();
    if (vertices && count > 0)
        memcpy(s->vertices, vertices, (size_t)count * sizeof *vertices);
    s->found[0] = count;
    return GrB_SUCCESS;
}

/* A tree's draws are those of its batch, and of disjoint ones follow from its seed vertex, too. Without
 * these, trees are the batches. */
void ftb_sample_seed_trees(uint64_t *seeds, uint64_t *streams, FtB_Sample s, const ftb_tree_draws *of)
{
    for (int64_t t = 0; t < s->nseeds; t++) {
        const int64_t number = s->stack == 0 ? 0 : s->disjoint ? t / s->stack : t;
        seeds[t] = of->seed;
        streams[t] = ftb_draw_stream(&seeds[t], (uint64_t)of->batch + (uint64_t)number, (uint64_t)of->hop);
        if (s->disjoint)
            seeds[t] = ftb_random_mix(seeds[t], (uint64_t)s->vertices[t], FTB_DRAW_TREE);
    }
}

void ftb_sample_take(FtB_Sample s, const ftb_relabel_product *p)
{
    ftb_delete(s->vertices);
    ftb_delete(s->trees);
    s->vertices = p->vertices;
    s->trees = p->vertex_trees;
    s->nvertices = p->nknown + p->nfresh;
}

GrB_Info ftb_sample_name_whole(FtB_Sample s, FtB_Matrix graph, bool corrected)
{
    s->held = ftb_buffer_adopt(s->ctx, s->vertices);
    if (!s->held) {
        s->vertices = NULL;
        return ftb_nomem();
    }
    ftb_whole *w = ftb_whole_new(s->ctx, graph, ftb_buffer_retain(s->held));
    if (!w)
        return ftb_nomem();
    w->corrected = corrected;
    for (int h = 0; h < s->nhops; h++)
        s->layer[h]->pattern->whole = ftb_whole_retain(w);
    ftb_whole_release(w);
    return GrB_SUCCESS;
}

static bool is_sample(FtB_Sample s) { return s && s->magic == FTB_MAGIC_SAMPLE; }

GrB_Info FtB_Sample_free(FtB_Sample *sample)
{
    FtB_Sample s = sample ? *sample : NULL;
    if (!s)
        return GrB_SUCCESS;
    if (!is_sample(s))
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "sample is not an FtB_Sample, or was freed");
    for (int h = 0; h < s->nhops && s->layer; h++)
        FtB_Matrix_free(&s->layer[h]);
    for (int h = 0; h < s->nhops && s->edges; h++)
        ftb_delete(s->edges[h]);
    FtB_Matrix_free(&s->induced);
    ftb_delete(s->induced_edges);
    ftb_delete(s->layer);
    ftb_delete(s->edges);
    if (!s->held)
        ftb_delete(s->vertices);
    ftb_buffer_release(s->held);
    ftb_delete(s->trees);
    ftb_delete(s->found);
    ftb_delete(s->picked);
    s->magic = 0;
    ftb_delete(s);
    *sample = NULL;
    return GrB_SUCCESS;
}

static bool has_hop(FtB_Sample s, int hop)
{
    if (is_sample(s) && hop >= 0 && hop < s->nhops)
        return true;
    (void)ftb_fail(GrB_INVALID_INDEX, "hop is %d of %d", hop, is_sample(s) ? s->nhops : 0);
    return false;
}

static FtB_Ids list(const int64_t *at, int64_t count) { return FtB_Ids_of(at, at ? count : 0); }

FtB_Matrix FtB_Sample_layer(FtB_Sample s, int hop) { return has_hop(s, hop) ? s->layer[hop] : NULL; }

FtB_Ids FtB_Sample_vertices(FtB_Sample s)
{
    return is_sample(s) ? list(s->vertices, s->nvertices) : list(NULL, 0);
}

FtB_Ids FtB_Sample_edges(FtB_Sample s, int hop)
{
    return has_hop(s, hop) ? list(s->edges[hop], s->layer[hop]->pattern->nvals) : list(NULL, 0);
}

FtB_Matrix FtB_Sample_induced(FtB_Sample s) { return is_sample(s) ? s->induced : NULL; }

FtB_Ids FtB_Sample_induced_edges(FtB_Sample s)
{
    const bool some = is_sample(s) && s->induced;
    return some ? list(s->induced_edges, s->induced->pattern->nvals) : list(NULL, 0);
}

FtB_Ids FtB_Sample_vertex_counts(FtB_Sample s)
{
    return is_sample(s) ? list(s->found, (int64_t)s->nhops + 1) : list(NULL, 0);
}

FtB_Ids FtB_Sample_edge_counts(FtB_Sample s)
{
    return is_sample(s) ? list(s->picked, s->nhops) : list(NULL, 0);
}

const char *FtB_Sample_plan(FtB_Sample s) { return is_sample(s) ? s->plan : NULL; }

const int32_t *FtB_Sample_trees(FtB_Sample s) { return is_sample(s) ? s->trees : NULL; }
