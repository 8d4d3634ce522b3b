/* The graph of a data set: a matrix as it is stored, or a table of edges between numbered vertices. */
#include "data/dataset_parts.h"

#include <math.h>

/* Edges of a table as tuples: "from,to" or "row,column[,value]", counting from 0. */
typedef struct edges {
    const char *path;
    int64_t count, nvertices; /* nvertices: -1 while unknown */
    bool valued;
    int64_t *I, *J;
    float *X;
} edges;

static void edges_free(edges *e)
{
    ftb_delete(e->I);
    ftb_delete(e->J);
    ftb_delete(e->X);
}

static GrB_Info bad_vertex(const edges *e, int64_t row, double vertex)
{
    char where[DATASET_PATH + 64];
    dataset_where(where, e->path, row, e->count);
    if (e->nvertices >= 0 && vertex == floor(vertex))
        return ftb_fail(FTB_FORMAT, "%s: vertex %.0f is outside 0..%lld", where, vertex,
                        (long long)(e->nvertices - 1));
    return ftb_fail(FTB_FORMAT, "%s: %g is no vertex; vertices are numbers from 0", where, vertex);
}

/* Takes the numbers of a table; `turned`: the second vertex is the row. */
static GrB_Info take_edges(edges *e, FtB_Block table, bool turned)
{
    int64_t columns, most = -1;
    void *data;
    FtB_Block_shape(table, &e->count, &columns, NULL, NULL, &data);
    const double *values = data;
    if (columns < 2 || columns > 3)
        return ftb_fail(FTB_FORMAT, "%s: %lld columns; expected two vertices, and perhaps a value", e->path,
                        (long long)columns);
    e->valued = columns == 3;
    e->I = ftb_new(NULL, e->count, sizeof *e->I);
    e->J = ftb_new(NULL, e->count, sizeof *e->J);
    e->X = e->valued ? ftb_new(NULL, e->count, sizeof *e->X) : NULL;
    if (!e->I || !e->J || (e->valued && !e->X))
        return ftb_nomem();
    const double limit = e->nvertices >= 0 ? (double)e->nvertices : (double)DATASET_VERTICES;
    for (int64_t t = 0; t < e->count; t++) {
        const double *v = values + t * columns;
        for (int end = 0; end < 2; end++)
            if (!(v[end] >= 0 && v[end] < limit && v[end] == floor(v[end])))
                return bad_vertex(e, t, v[end]);
        e->I[t] = (int64_t)v[turned];
        e->J[t] = (int64_t)v[!turned];
        most = ftb_max(most, ftb_max(e->I[t], e->J[t]));
        if (e->valued)
            e->X[t] = (float)v[2];
    }
    if (e->nvertices < 0)
        e->nvertices = most + 1;
    return GrB_SUCCESS;
}

static GrB_Info read_edges(FtB_Matrix *A, const char *path, int64_t nvertices, bool turned)
{
    edges e = {.path = path, .nvertices = nvertices};
    FtB_Block table = NULL;
    GrB_Info info = FtB_Block_read(&table, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_FP64, .finite = true));
    if (info == GrB_SUCCESS)
        info = take_edges(&e, table, turned);
    FtB_Block_free(&table);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_build(A, FTB_FP32, e.nvertices, e.nvertices, e.valued, e.count, e.I, e.J, e.X,
                                FTB_DUP_SUM, NULL);
    edges_free(&e);
    return info;
}

/* Adds (j, i) for every (i, j) that has none. */
static GrB_Info mirror(FtB_Matrix *A)
{
    int64_t n, nvals, width;
    FtB_Type type;
    FtB_Matrix both = NULL;
    FtB_Matrix_shape(*A, &n, NULL, &nvals, &width, &type);
    int64_t *I = ftb_new(NULL, 2 * nvals, sizeof *I), *J = ftb_new(NULL, 2 * nvals, sizeof *J);
    float *X = width ? ftb_new(NULL, 2 * nvals, sizeof *X) : NULL;
    GrB_Info info = I && J && (X || !width) ? FtB_Matrix_tuples(*A, I, J, X) : ftb_nomem();
    for (int64_t e = 0; e < nvals && info == GrB_SUCCESS; e++) {
        I[nvals + e] = J[e];
        J[nvals + e] = I[e];
        if (width)
            X[nvals + e] = X[e];
    }
    if (info == GrB_SUCCESS) /* the entries of A come first, and are kept */
        info = FtB_Matrix_build(&both, type, n, n, width, 2 * nvals, I, J, X, FTB_DUP_FIRST, NULL);
    if (info == GrB_SUCCESS) {
        FtB_Matrix_free(A);
        *A = both;
    }
    ftb_delete(I);
    ftb_delete(J);
    ftb_delete(X);
    return info;
}

/* Values that are all 1 say nothing that the pattern does not: products without them are faster. */
static GrB_Info drop_ones(FtB_Matrix *A)
{
    int64_t nvals, width;
    const void *values;
    FtB_Matrix pattern = NULL;
    FtB_Matrix_shape(*A, NULL, NULL, &nvals, &width, NULL);
    FtB_Matrix_csr(*A, NULL, NULL, &values);
    for (int64_t e = 0; e < nvals * width; e++)
        if (((const float *)values)[e] != 1)
            return GrB_SUCCESS;
    if (width == 0)
        return GrB_SUCCESS;
    GrB_Info info = FtB_Matrix_like(&pattern, *A, 0, FTB_FP32);
    if (info == GrB_SUCCESS) {
        FtB_Matrix_free(A);
        *A = pattern;
    }
    return info;
}

GrB_Info dataset_read_graph(dataset *set, const dataset_files *files, int64_t nvertices,
                            const dataset_options *options)
{
    const char *path = files->graph;
    const ftb_format *format;
    bool dense;
    int64_t nrows, ncols, width;
    FtB_Matrix A = NULL;
    GrB_Info info;
    FTB_CHECK(dataset_probe(path, &format, &dense));
    if (dense && format->value != FTB_MTX)
        info = read_edges(&A, path, nvertices, files->ogb);
    else
        info = FtB_Matrix_read(&A, NULL, NULL, path, FTB_READ_OPTIONS(.type = FTB_FP32, .finite = true));
    if (info != GrB_SUCCESS)
        goto done;
    FtB_Matrix_shape(A, &nrows, &ncols, NULL, &width, NULL);
    if (nrows != ncols)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %lld rows and %lld columns; a graph has as many of each",
                        path, (long long)nrows, (long long)ncols);
    else if (nrows == 0)
        info = ftb_fail(FTB_FORMAT, "%s: a graph without vertices", path);
    else if (width > 1)
        info = ftb_fail(GrB_INVALID_VALUE, "%s: %lld values per edge; expected one", path, (long long)width);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(drop_ones(&A));
    if (options->undirected)
        FTB_CHECK(mirror(&A));
    FtB_Matrix_shape(A, NULL, NULL, &set->nedges, NULL, NULL);
    set->nvertices = nrows;
    set->graph = A;
    A = NULL;
done:
    FtB_Matrix_free(&A);
    return info;
}
