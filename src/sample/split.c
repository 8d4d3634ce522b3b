/* The samples of stacked batches, one by one (FtB_Sample_split). Vertices are listed by batch, in their
 * order, which is that of a batch by itself, too: numbers change, rows and columns keep their order. */
#include "core/whole.h"
#include "sample/sample_object.h"

typedef struct split {
    FtB_Sample from;
    int64_t nbatches;
    int64_t *begin;  /* nbatches + 1, into number */
    int64_t *number; /* of the vertices, by batch */
    int32_t *local;  /* of each vertex, within its batch */
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
        w->local[v] = (int32_t)w->begin[s->trees[v] + 1]++;
    for (int64_t b = 0; b < w->nbatches; b++)
        w->begin[b + 1] += w->begin[b];
    for (int64_t v = 0; v < s->nvertices; v++)
        w->number[w->begin[s->trees[v]] + w->local[v]] = v;
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

/* How many of a batch's vertices are below `bound`. */
static int64_t below(const int64_t *number, int64_t count, int64_t bound)
{
    int64_t first = 0, end = count;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (number[middle] < bound)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Room for a batch's sample, and its vertices. */
static GrB_Info make_sample(FtB_Sample *sample, const split *w, const int64_t *number, int64_t count)
{
    const FtB_Sample s = w->from;
    FtB_Sample to = ftb_new0(s->ctx, 1, sizeof *to);
    if (!to)
        return ftb_nomem();
    *sample = to;
    to->magic = FTB_MAGIC_SAMPLE;
    to->ctx = s->ctx;
    to->nhops = s->nhops;
    to->once = s->once;
    to->nvertices = count;
    to->vertices = ftb_new(s->ctx, count, sizeof *to->vertices);
    to->found = ftb_new0(s->ctx, (int64_t)s->nhops + 1, sizeof *to->found);
    to->picked = ftb_new0(s->ctx, s->nhops, sizeof *to->picked);
    to->layer = ftb_new0(s->ctx, s->nhops, sizeof(FtB_Matrix));
    to->edges = ftb_new0(s->ctx, s->nhops, sizeof(int64_t *));
    if (!to->vertices || !to->found || !to->picked || !to->layer || !to->edges)
        return ftb_nomem();
    for (int64_t v = 0; v < count; v++)
        to->vertices[v] = s->vertices[number[v]];
    to->held = ftb_buffer_adopt(s->ctx, to->vertices);
    if (to->held)
        return GrB_SUCCESS;
    to->vertices = NULL;
    return ftb_nomem();
}

/* Layers learn what they were picked of. */
static GrB_Info name_whole(FtB_Sample to, FtB_Sample s)
{
    const ftb_whole *of = s->nhops > 0 ? s->layer[0]->pattern->whole : NULL;
    if (!of)
        return GrB_SUCCESS;
    ftb_whole *whole = ftb_whole_new(s->ctx, of->graph, ftb_buffer_retain(to->held));
    if (!whole)
        return ftb_nomem();
    whole->corrected = of->corrected;
    for (int h = 0; h < to->nhops; h++)
        to->layer[h]->pattern->whole = ftb_whole_retain(whole);
    ftb_whole_release(whole);
    return GrB_SUCCESS;
}

static GrB_Info make_batch(FtB_Sample *sample, const split *w, int64_t b)
{
    const FtB_Sample s = w->from;
    const int64_t *number = w->number + w->begin[b], count = w->begin[b + 1] - w->begin[b];
    int64_t bound = s->nseeds, rows = below(number, count, bound), first = 0;
    GrB_Info info = make_sample(sample, w, number, count);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Sample to = *sample;
    to->nseeds = to->found[0] = rows;
    for (int h = 0; h < s->nhops && info == GrB_SUCCESS; h++) {
        bound += s->found[h + 1];
        const int64_t columns = below(number, count, bound);
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
    return info == GrB_SUCCESS ? name_whole(to, s) : info;
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
