/* What a sample over relations holds: layers, vertices, counts. */
#include "sample/relations_object.h"

static bool is_sample(FtB_Relation_sample s) { return s && s->magic == FTB_MAGIC_RELATION_SAMPLE; }

GrB_Info FtB_Relation_sample_free(FtB_Relation_sample *sample)
{
    FtB_Relation_sample s = sample ? *sample : NULL;
    if (!s)
        return GrB_SUCCESS;
    if (!is_sample(s))
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "sample is not an FtB_Relation_sample, or was freed");
    for (int r = 0; r < s->nrelations; r++) {
        ftb_relation_hops *of = &s->relation[r];
        for (int h = 0; h < s->nhops && of->layer; h++)
            FtB_Matrix_free(&of->layer[h]);
        for (int h = 0; h < s->nhops && of->edges; h++)
            ftb_delete(of->edges[h]);
        ftb_delete(of->layer);
        ftb_delete(of->edges);
        ftb_delete(of->picked);
    }
    for (int t = 0; t < s->ntypes; t++) {
        ftb_delete(s->type[t].vertices);
        ftb_delete(s->type[t].found);
        ftb_delete(s->type[t].trees);
    }
    ftb_delete(s->relation);
    ftb_delete(s->type);
    s->magic = 0;
    ftb_delete(s);
    *sample = NULL;
    return GrB_SUCCESS;
}

static const ftb_relation_hops *relation_of(FtB_Relation_sample s, int relation, int hop)
{
    if (is_sample(s) && relation >= 0 && relation < s->nrelations && hop >= 0 && hop < s->nhops)
        return &s->relation[relation];
    (void)ftb_fail(GrB_INVALID_INDEX, "relation is %d of %d, hop %d of %d", relation,
                   is_sample(s) ? s->nrelations : 0, hop, is_sample(s) ? s->nhops : 0);
    return NULL;
}

static const ftb_type_vertices *type_of(FtB_Relation_sample s, int type)
{
    if (is_sample(s) && type >= 0 && type < s->ntypes)
        return &s->type[type];
    (void)ftb_fail(GrB_INVALID_INDEX, "type is %d of %d", type, is_sample(s) ? s->ntypes : 0);
    return NULL;
}

static FtB_Ids list(const int64_t *at, int64_t count) { return FtB_Ids_of(at, at ? count : 0); }

FtB_Matrix FtB_Relation_sample_layer(FtB_Relation_sample s, int relation, int hop)
{
    const ftb_relation_hops *of = relation_of(s, relation, hop);
    return of ? of->layer[hop] : NULL;
}

FtB_Ids FtB_Relation_sample_edges(FtB_Relation_sample s, int relation, int hop)
{
    const ftb_relation_hops *of = relation_of(s, relation, hop);
    return of ? list(of->edges[hop], of->layer[hop]->pattern->nvals) : list(NULL, 0);
}

FtB_Ids FtB_Relation_sample_vertices(FtB_Relation_sample s, int type)
{
    const ftb_type_vertices *of = type_of(s, type);
    return of ? list(of->vertices, of->count) : list(NULL, 0);
}

const int32_t *FtB_Relation_sample_trees(FtB_Relation_sample s, int type)
{
    const ftb_type_vertices *of = type_of(s, type);
    return of ? of->trees : NULL;
}

FtB_Ids FtB_Relation_sample_vertex_counts(FtB_Relation_sample s, int type)
{
    const ftb_type_vertices *of = type_of(s, type);
    return of ? list(of->found, (int64_t)s->nhops + 1) : list(NULL, 0);
}

FtB_Ids FtB_Relation_sample_edge_counts(FtB_Relation_sample s, int relation)
{
    if (is_sample(s) && relation >= 0 && relation < s->nrelations)
        return list(s->relation[relation].picked, s->nhops);
    (void)ftb_fail(GrB_INVALID_INDEX, "relation is %d of %d", relation, is_sample(s) ? s->nrelations : 0);
    return list(NULL, 0);
}
