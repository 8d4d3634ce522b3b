/* Induced subgraphs: a sample of one layer, whose rows and columns are the same vertices (FtB_subgraph). */
#include "core/options.h"
#include "cpu/sample/induced_run.h"
#include "sample/induce.h"
#include "sample/sample_object.h"
#include "sample/walker.h"

static GrB_Info values_of(ftb_picked_values *to, FtB_Matrix A, FtB_Context ctx, const ftb_induced *w)
{
    ftb_selector s = {.ctx = ctx, .A = A};
    return ftb_pick_values(to, &s, &(ftb_pick_list){.entries = w->entries, .count = w->rowptr[w->count]});
}

/* The layer; rowptr and columns of w are taken. */
static GrB_Info make_layer(FtB_Sample s, FtB_Matrix A, ftb_induced *w, const ftb_picked_values *picked)
{
    ftb_buffer *rowptr = ftb_buffer_adopt(s->ctx, w->rowptr), *columns = ftb_buffer_adopt(s->ctx, w->columns);
    w->rowptr = NULL;
    w->columns = NULL;
    ftb_pattern *pattern = ftb_pattern_new(s->ctx, w->count, w->count, rowptr, columns);
    if (pattern)
        pattern->multi = A->pattern->multi;
    return ftb_matrix_make(&s->layer[0], s->ctx, picked->type, picked->width, pattern, picked->values);
}

GrB_Info ftb_induce(FtB_Sample *sample, FtB_Context ctx, FtB_Matrix A, const int64_t *vertices, int64_t count,
                    const FtB_Subgraph_options *options, const ftb_induced_values *values)
{
    FtB_Sample s;
    ftb_induced w = {.ctx = ctx, .p = A->pattern, .count = count};
    ftb_picked_values picked = {.type = A->type};
    GrB_Info info = ftb_sample_new(&s, ctx, vertices, count, 1);
    *sample = NULL;
    if (info != GrB_SUCCESS)
        goto done;
    w.vertices = s->vertices;
    FTB_CHECK(ftb_induced_run(&w));
    if (values) {
        picked.type = FTB_FP32;
        picked.width = 1;
        FTB_CHECK(values->make(&picked.values, values->arg, s->vertices, count, w.rowptr, w.entries));
    } else if (!options->structural)
        FTB_CHECK(values_of(&picked, A, ctx, &w));
    s->picked[0] = w.rowptr[count];
    FTB_CHECK(make_layer(s, A, &w, &picked));
    if (options->edges) {
        s->edges[0] = w.entries;
        w.entries = NULL;
    }
    *sample = s;
    s = NULL;
done:
    ftb_delete(w.rowptr);
    ftb_delete(w.columns);
    ftb_delete(w.entries);
    FtB_Sample_free(&s);
    return info;
}

/* Refuses a list that has a vertex twice. */
static GrB_Info check_once(FtB_Context ctx, const int64_t *ids, int64_t count)
{
    uint64_t *words = ftb_new(ctx, count, 2 * sizeof *words);
    GrB_Info info = GrB_SUCCESS;
    if (!words)
        return ftb_nomem();
    for (int64_t t = 0; t < count; t++)
        words[t] = (uint64_t)ids[t];
    const uint64_t *sorted = ftb_sort(words, words + count, count, 0, 63);
    for (int64_t t = 1; t < count && info == GrB_SUCCESS; t++)
        if (sorted[t] == sorted[t - 1])
            info = ftb_fail(GrB_INVALID_VALUE, "ids has %lld twice; expected each vertex once",
                            (long long)sorted[t]);
    ftb_delete(words);
    return info;
}

GrB_Info FtB_subgraph(FtB_Sample *sample, FtB_Matrix A, const int64_t *ids, int64_t nids,
                      const FtB_Subgraph_options *options)
{
    const FtB_Context ctx = ftb_context();
    FtB_Subgraph_options o = {.size = 0};
    if (!sample)
        return ftb_fail(GrB_NULL_POINTER, "FtB_subgraph: sample is NULL");
    *sample = NULL;
    GrB_Info info = ftb_options_read(&o, sizeof o, options, "FtB_subgraph", "FTB_SUBGRAPH_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix_anywhere(&A, FTB_ARG(A), "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_check_square(A);
    if (info == GrB_SUCCESS)
        info = ftb_check_vertices(ctx, ids, nids, A->pattern->nrows, "ids");
    if (info == GrB_SUCCESS)
        info = check_once(ctx, ids, nids);
    return info == GrB_SUCCESS ? ftb_induce(sample, ctx, A, ids, nids, &o, NULL) : info;
}
