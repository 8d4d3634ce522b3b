/* The samples of stacked batches, one by one (FtB_Sample_split). Vertices are listed by batch, in their
 * order, which is that of a batch by itself, too: numbers change, rows and columns keep their order. */
#include "core/search.h"
#include "core/whole.h"
#include "sample/sample_object.h"

typedef struct split {
    FtB_Sample from;
    int64_t nbatches, each; /* trees of a batch */
    int64_t *begin;         /* nbatches + 1, into number */
    int64_t *number;        /* of the vertices, by batch */
    int32_t *local;         /* of each vertex, within its batch */
} split;

static GrB_Info list_vertices(split *w)
{
    const FtB_Sample s = w->from;
    w->begin = ftb_new0(s->ctx, w->nbatches + 1, sizeof *w->begin);
    w->number = ftb_new(s->ctx, s->nvertices, sizeof *w->number);
    w->local = ftb_new(s->ctx, s->nvertices, sizeof *w->local);
    if (!w->begin || !w->number || !w->local)
        return ftb_nomem();
    for (int64_t v = 0; v < s->nvertices; v++)
        w->local[v] = (int32_t)w->begin[s->trees[v] / w->each + 1]++;
    for (int64_t b = 0; b < w->nbatches; b++)
        w->begin[b + 1] += w->begin[b];
    for (int64_t v = 0; v < s->nvertices; v++)
        w->number[w->begin[s->trees[v] / w->each] + w->local[v]] = v;
    return GrB_SUCCESS;
}

/* Rows of L, of the vertices number[0 .. nrows - 1], as a matrix of ncols columns; *edges: their entries'. */
static GrB_Info make_part(FtB_Matrix *part, int64_t **edges, const split *w, const int64_t *number,
                          int64_t nrows, int64_t ncols, FtB_Matrix L, const int64_t *from)
{
    const FtB_Context ctx = w->from->ctx;
    const ftb_pattern *p = L->pattern;
    const size_t size = (size_t)L->width * FtB_Type_size(L->type);
    int64_t count = 0;
    GrB_Info info = ftb_buffer_ask(L->values, FTB_READ);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t r = 0; r < nrows; r++)
        count += p->rowptr[number[r] + 1] - p->rowptr[number[r]];
    int64_t *rowptr = ftb_new(ctx, nrows + 1, sizeof *rowptr);
    int32_t *columns = ftb_new(ctx, count, sizeof *columns);
    char *values = L->values ? ftb_new(ctx, count, size) : NULL;
    *edges = from ? ftb_new(ctx, count, sizeof **edges) : NULL;
    if (!rowptr || !columns || (L->values && !values) || (from && !*edges)) {
        ftb_delete(rowptr);
        ftb_delete(columns);
        ftb_delete(values);
        return ftb_nomem();
    }
    rowptr[0] = count = 0;
    for (int64_t r = 0; r < nrows; r++) {
        const int64_t begin = p->rowptr[number[r]], here = p->rowptr[number[r] + 1] - begin;
        for (int64_t t = 0; t < here; t++)
            columns[count + t] = w->local[((const int32_t *)p->colidx)[begin + t]];
        if (from)
            memcpy(*edges + count, from + begin, (size_t)here * sizeof **edges);
        if (values)
            memcpy(values + (size_t)count * size, (const char *)ftb_values(L) + (size_t)begin * size,
                   (size_t)here * size);
        rowptr[r + 1] = count += here;
    }
    ftb_pattern *pattern =
        ftb_pattern_new(ctx, nrows, ncols, ftb_buffer_adopt(ctx, rowptr), ftb_buffer_adopt(ctx, columns));
    if (pattern)
        pattern->multi = p->multi;
    return ftb_matrix_make(part, ctx, L->type, L->width, pattern, ftb_buffer_adopt(ctx, values));
}

static GrB_Info make_batch(FtB_Sample *sample, const split *w, int64_t b)
{
    const FtB_Sample s = w->from;
    const int64_t *number = w->number + w->begin[b], count = w->begin[b + 1] - w->begin[b];
    int64_t bound = s->nseeds, rows = ftb_first_not_below(number, count, bound), first = 0;
    GrB_Info info = ftb_sample_new(sample, s->ctx, NULL, count, s->nhops);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Sample to = *sample;
    to->once = s->once;
    to->disjoint = s->disjoint;
    to->nseeds = to->found[0] = rows;
    for (int64_t v = 0; v < count; v++)
        to->vertices[v] = s->vertices[number[v]];
    if (s->disjoint && !(to->trees = ftb_new(s->ctx, count, sizeof *to->trees)))
        return ftb_nomem();
    for (int64_t v = 0; s->disjoint && v < count; v++)
        to->trees[v] = (int32_t)(s->trees[number[v]] - b * s->stack);
    for (int h = 0; h < s->nhops && info == GrB_SUCCESS; h++) {
        bound += s->found[h + 1];
        const int64_t columns = ftb_first_not_below(number, count, bound);
        info = make_part(&to->layer[h], &to->edges[h], w, number, rows, columns, s->layer[h], s->edges[h]);
        if (info != GrB_SUCCESS)
            return info;
        const int64_t *rowptr = to->layer[h]->pattern->rowptr;
        to->found[h + 1] = columns - rows;
        to->picked[h] = rowptr[rows] - rowptr[s->once ? first : 0];
        first = rows;
        rows = columns;
    }
    if (s->induced)
        info = make_part(&to->induced, &to->induced_edges, w, number, count, count, s->induced,
                         s->induced_edges);
    const ftb_whole *of = s->nhops > 0 ? s->layer[0]->pattern->whole : NULL;
    return info == GrB_SUCCESS && of ? ftb_sample_name_whole(to, of->graph, of->corrected) : info;
}

GrB_Info FtB_Sample_split(FtB_Sample *samples, FtB_Sample stacked)
{
    if (!samples)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Sample_split: samples is NULL");
    if (!stacked || stacked->magic != FTB_MAGIC_SAMPLE)
        return ftb_fail(stacked ? GrB_UNINITIALIZED_OBJECT : GrB_NULL_POINTER,
                        "FtB_Sample_split: stacked is no FtB_Sample, or was freed");
    if (stacked->stack == 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Sample_split: stacked is one batch; expected one made with .stack");
    split w = {.from = stacked,
               .each = stacked->disjoint ? stacked->stack : 1,
               .nbatches = stacked->nseeds / stacked->stack + (stacked->nseeds % stacked->stack > 0)};
    for (int64_t b = 0; b < w.nbatches; b++)
        samples[b] = NULL;
    GrB_Info info = list_vertices(&w);
    for (int64_t b = 0; b < w.nbatches && info == GrB_SUCCESS; b++)
        info = make_batch(&samples[b], &w, b);
    for (int64_t b = 0; b < w.nbatches && info != GrB_SUCCESS; b++)
        FtB_Sample_free(&samples[b]);
    ftb_delete(w.begin);
    ftb_delete(w.number);
    ftb_delete(w.local);
    return info;
}
