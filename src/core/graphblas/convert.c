/* GraphBLAS matrices in and out, through functions of the GraphBLAS C API 2.0 alone, which are found by name.
 *
 * In: the standard has no call that tells a matrix's type, but GrB_Matrix_export_T refuses every type but
 * the matrix's own before it does anything else; so each built-in type is tried on no room. Then the rows
 * are exported as CSR, whatever form they are stored in, or, where most rows are empty (hypersparse), as
 * tuples. Out: GrB_Matrix_import_T, which copies; of listed rows as tuples. GraphBLAS's own memory is not
 * counted. */
#include "core/graphblas/bridge.h"

#include "core/hypersparse.h"

#include <omp.h>

#define SPARSE_ROWS 8 /* rows per entry; from here on, tuples: GraphBLAS would make row pointers */

/* GraphBLAS's functions and types. Its enumerations are integers here. */
static struct {
    GrB_Info (*init)(int mode);
    GrB_Info (*nrows)(GrB_Index *, GrB_Matrix);
    GrB_Info (*ncols)(GrB_Index *, GrB_Matrix);
    GrB_Info (*nvals)(GrB_Index *, GrB_Matrix);
    GrB_Info (*make)(GrB_Matrix *, void *type, GrB_Index nrows, GrB_Index ncols);
    GrB_Info (*release)(GrB_Matrix *);
#define MEMBERS(dtype, suffix, ctype)                                                                        \
    GrB_Info (*export_##suffix)(GrB_Index * p, GrB_Index * i, ctype * x, GrB_Index * np, GrB_Index * ni,     \
                                GrB_Index * nx, int format, GrB_Matrix);                                     \
    GrB_Info (*extract_##suffix)(GrB_Index * i, GrB_Index * j, ctype * x, GrB_Index * nvals, GrB_Matrix);    \
    GrB_Info (*import_##suffix)(GrB_Matrix *, void *type, GrB_Index nrows, GrB_Index ncols,                  \
                                const GrB_Index *p, const GrB_Index *i, const ctype *x, GrB_Index np,        \
                                GrB_Index ni, GrB_Index nx, int format);                                     \
    GrB_Info (*build_##suffix)(GrB_Matrix, const GrB_Index *i, const GrB_Index *j, const ctype *x,           \
                               GrB_Index nvals, void *dup);                                                  \
    void *const *type_##suffix;
    FTB_GRB_TYPES(MEMBERS)
#undef MEMBERS
} grb;

static const ftb_grb_function symbols[] = {{"GrB_init", &grb.init},
                                           {"GrB_Matrix_nrows", &grb.nrows},
                                           {"GrB_Matrix_ncols", &grb.ncols},
                                           {"GrB_Matrix_nvals", &grb.nvals},
                                           {"GrB_Matrix_new", &grb.make},
                                           {"GrB_Matrix_free", &grb.release},
#define SYMBOLS(dtype, suffix, ctype)                                                                        \
    {"GrB_Matrix_export_" #suffix, &grb.export_##suffix},                                                    \
        {"GrB_Matrix_extractTuples_" #suffix, &grb.extract_##suffix},                                        \
        {"GrB_Matrix_build_" #suffix, &grb.build_##suffix},                                                  \
        {"GrB_Matrix_import_" #suffix, &grb.import_##suffix}, {"GrB_" #suffix, &grb.type_##suffix},
                                           FTB_GRB_TYPES(SYMBOLS)
#undef SYMBOLS
};

static pthread_once_t functions_once = PTHREAD_ONCE_INIT, start_once = PTHREAD_ONCE_INIT;
static const char *missing; /* a symbol that this GraphBLAS lacks */
static GrB_Info start_info;

const char *ftb_grb_find_all(const ftb_grb_function *functions, size_t count)
{
    const char *lacking = NULL;
    for (size_t s = 0; s < count; s++) {
        void *symbol = ftb_grb_symbol(functions[s].name);
        if (!symbol)
            lacking = functions[s].name;
        memcpy(functions[s].member, &symbol, sizeof symbol);
    }
    return lacking;
}

static void find_functions(void) { missing = ftb_grb_find_all(symbols, sizeof symbols / sizeof *symbols); }

GrB_Info ftb_grb_matrices(const char *call)
{
    GrB_Info info = ftb_grb_open();
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "%s: ", call);
    pthread_once(&functions_once, find_functions);
    return missing ? ftb_fail(GrB_NOT_IMPLEMENTED, "%s: this GraphBLAS has no %s", call, missing)
                   : GrB_SUCCESS;
}

static void start(void)
{
    start_info = grb.init(FTB_GRB_NONBLOCKING);
    if (start_info == GrB_INVALID_VALUE) /* the caller was first, which is as good */
        start_info = GrB_SUCCESS;
}

GrB_Info ftb_grb_start(void)
{
    pthread_once(&start_once, start);
    return start_info == GrB_SUCCESS ? GrB_SUCCESS : ftb_grb_error(start_info, "GrB_init");
}

GrB_Info ftb_grb_error(GrB_Info info, const char *what)
{
    return ftb_fail(info, "%s: GraphBLAS returned %d", what, (int)info);
}

int ftb_grb_enter(FtB_Context ctx)
{
    int levels = omp_get_max_active_levels();
    if (ftb_threads(ctx) == 1)
        omp_set_max_active_levels(0);
    return levels;
}

void ftb_grb_leave(int levels) { omp_set_max_active_levels(levels); }

typedef struct exported { /* a matrix on its way in */
    FtB_Context ctx;
    GrB_Matrix G;
    FtB_Type type;
    int64_t nrows, ncols, nvals;
} exported;

static GrB_Info export_as(FtB_Type type, GrB_Index *p, GrB_Index *i, void *x, GrB_Index *np, GrB_Index *ni,
                          GrB_Index *nx, int format, GrB_Matrix G)
{
    switch (type) {
#define EXPORT(dtype, suffix, ctype)                                                                         \
    case dtype:                                                                                              \
        return grb.export_##suffix(p, i, (ctype *)x, np, ni, nx, format, G);
        FTB_GRB_TYPES(EXPORT)
#undef EXPORT
    default:
        return GrB_DOMAIN_MISMATCH;
    }
}

GrB_Info ftb_grb_type(FtB_Type *found, GrB_Matrix G, const char *what)
{
    for (int type = FTB_BOOL; type <= FTB_FP64; type++) {
        GrB_Index p = 0, i = 0, np = 0, ni = 0, nx = 0;
        double x = 0;
        GrB_Info info = export_as((FtB_Type)type, &p, &i, &x, &np, &ni, &nx, FTB_GRB_COO, G);
        if (info == GrB_DOMAIN_MISMATCH)
            continue;
        if (info != GrB_SUCCESS && info != GrB_INSUFFICIENT_SPACE)
            return ftb_grb_error(info, what);
        *found = (FtB_Type)type;
        return GrB_SUCCESS;
    }
    return ftb_fail(GrB_DOMAIN_MISMATCH,
                    "%s is of a complex or user-defined type; expected a real one of GraphBLAS's own", what);
}

static GrB_Info look_at(exported *e)
{
    GrB_Index nrows, ncols, nvals;
    GrB_Info info;
    if ((info = grb.nrows(&nrows, e->G)) != GrB_SUCCESS || (info = grb.ncols(&ncols, e->G)) != GrB_SUCCESS ||
        (info = grb.nvals(&nvals, e->G)) != GrB_SUCCESS)
        return ftb_grb_error(info, "FtB_Matrix_import");
    e->nrows = (int64_t)nrows;
    e->ncols = (int64_t)ncols;
    e->nvals = (int64_t)nvals;
    char what[96];
    snprintf(what, sizeof what, "FtB_Matrix_import: G (%lld x %lld)", (long long)e->nrows,
             (long long)e->ncols);
    return ftb_grb_type(&e->type, e->G, what);
}

static GrB_Info import_tuples(FtB_Matrix *A, const exported *e)
{
    size_t size = FtB_Type_size(e->type);
    GrB_Index *I = NULL, *J = NULL, nvals = (GrB_Index)e->nvals;
    void *X = NULL;
    GrB_Info info = GrB_SUCCESS;
    if (!(I = ftb_new(e->ctx, e->nvals, sizeof *I)) || !(J = ftb_new(e->ctx, e->nvals, sizeof *J)) ||
        !(X = ftb_new(e->ctx, e->nvals, size))) {
        info = ftb_nomem();
        goto done;
    }
    switch (e->type) {
#define EXTRACT(dtype, suffix, ctype)                                                                        \
    case dtype:                                                                                              \
        info = grb.extract_##suffix(I, J, (ctype *)X, &nvals, e->G);                                         \
        break;
        FTB_GRB_TYPES(EXTRACT)
#undef EXTRACT
    default:
        break;
    }
    if (info != GrB_SUCCESS)
        info = ftb_grb_error(info, "FtB_Matrix_import");
    else
        info = FtB_Matrix_build(A, e->type, e->nrows, e->ncols, 1, (int64_t)nvals, (const int64_t *)I,
                                (const int64_t *)J, X, FTB_DUP_ERROR, NULL);
done:
    ftb_delete(I);
    ftb_delete(J);
    ftb_delete(X);
    return info;
}

/* Narrows columns in place; returns the array, shrunk. */
static void *narrow_columns(FtB_Context ctx, void *colidx, int64_t nvals)
{
    ftb_cast(colidx, FTB_INT32, colidx, FTB_INT64, nvals);
    if (ftb_resize(ctx, &colidx, nvals, sizeof(int32_t)))
        return colidx;
    ftb_delete(colidx);
    return NULL;
}

static GrB_Info import_rows(FtB_Matrix *A, const exported *e)
{
    GrB_Index np = (GrB_Index)e->nrows + 1, ni = (GrB_Index)e->nvals, nx = ni;
    int64_t *rowptr = NULL;
    void *colidx = NULL, *values = NULL;
    bool ascending;
    GrB_Info info = GrB_OUT_OF_MEMORY;
    if (!(rowptr = ftb_new(e->ctx, e->nrows + 1, sizeof *rowptr)) ||
        !(colidx = ftb_new(e->ctx, e->nvals, sizeof(int64_t))) ||
        !(values = ftb_new(e->ctx, e->nvals, FtB_Type_size(e->type)))) {
        info = ftb_nomem();
        goto done;
    }
    info = export_as(e->type, (GrB_Index *)rowptr, colidx, values, &np, &ni, &nx, FTB_GRB_CSR, e->G);
    if (info != GrB_SUCCESS) {
        info = ftb_grb_error(info, "FtB_Matrix_import");
        goto done;
    }
    FTB_CHECK(
        ftb_csr_check("FtB_Matrix_import", e->ctx, e->nrows, e->ncols, rowptr, colidx, true, &ascending));
    if (!ascending) { /* GraphBLAS may leave rows unsorted */
        info = ftb_csr_sorted(A, e->type, e->nrows, e->ncols, 1, rowptr, colidx, true, values);
        goto done;
    }
    if (ftb_col_size(e->ncols) == 4)
        colidx = narrow_columns(e->ctx, colidx, e->nvals);
    ftb_buffer *rowptr_owner = ftb_buffer_adopt(e->ctx, rowptr),
               *colidx_owner = ftb_buffer_adopt(e->ctx, colidx);
    ftb_buffer *values_owner = ftb_buffer_adopt(e->ctx, values);
    rowptr = NULL;
    colidx = values = NULL;
    info = ftb_matrix_make(A, e->ctx, e->type, 1,
                           ftb_pattern_new(e->ctx, e->nrows, e->ncols, rowptr_owner, colidx_owner),
                           values_owner);
done:
    ftb_delete(rowptr);
    ftb_delete(colidx);
    ftb_delete(values);
    return info;
}

GrB_Info FtB_Matrix_import(FtB_Matrix *A, GrB_Matrix G)
{
    if (!A)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_import: A is NULL");
    *A = NULL;
    if (!G)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_import: G is NULL; expected a GrB_Matrix");
    exported e = {.ctx = ftb_context(), .G = G};
    GrB_Info info = ftb_grb_matrices("FtB_Matrix_import");
    if (info != GrB_SUCCESS)
        return info;
    int levels = ftb_grb_enter(e.ctx);
    info = look_at(&e);
    if (info == GrB_SUCCESS)
        info = e.nvals <= e.nrows / SPARSE_ROWS ? import_tuples(A, &e) : import_rows(A, &e);
    ftb_grb_leave(levels);
    return info;
}

/* The values of one plane in the type they are exported in, or NULL. */
static void *plane_values(FtB_Matrix A, int64_t plane, FtB_Type type)
{
    int64_t nvals = A->pattern->nvals;
    char *values = ftb_new(A->ctx, nvals, FtB_Type_size(type));
    if (!values)
        return NULL;
    if (A->width == 0)
        memset(values, 1, (size_t)nvals);
    else if (A->width == 1)
        ftb_cast(values, type, ftb_values(A), A->type, nvals);
    else
        for (int64_t e = 0; e < nvals; e++)
            ftb_cast(values + (size_t)e * FtB_Type_size(type), type,
                     (const char *)ftb_values(A) + (size_t)(e * A->width + plane) * FtB_Type_size(A->type),
                     A->type, 1);
    return values;
}

/* The row of every entry of a pattern that lists its rows; NULL on failure. */
static int64_t *entry_rows(const ftb_pattern *p)
{
    int64_t *rows = ftb_new(p->ctx, p->nvals, sizeof *rows);
    for (int64_t r = 0; rows && r < p->listed->nrows; r++)
        for (int64_t e = p->listed->rowptr[r]; e < p->listed->rowptr[r + 1]; e++)
            rows[e] = p->listed->numbers[r];
    return rows;
}

static GrB_Info make_graphblas(GrB_Matrix *G, const ftb_pattern *p, FtB_Type type, const GrB_Index *colidx,
                               const void *values)
{
    GrB_Index nrows = (GrB_Index)p->nrows, ncols = (GrB_Index)p->ncols, nvals = (GrB_Index)p->nvals;
    switch (type) {
#define IMPORT(dtype, suffix, ctype)                                                                         \
    case dtype:                                                                                              \
        return grb.import_##suffix(G, *grb.type_##suffix, nrows, ncols, (const GrB_Index *)p->rowptr,        \
                                   colidx, (const ctype *)values, nrows + 1, nvals, nvals, FTB_GRB_CSR);
        FTB_GRB_TYPES(IMPORT)
#undef IMPORT
    default:
        return GrB_DOMAIN_MISMATCH;
    }
}

/* The same of listed rows: `rows` are those of the entries. */
static GrB_Info build_graphblas(GrB_Matrix *G, const ftb_pattern *p, FtB_Type type, const int64_t *rows,
                                const GrB_Index *colidx, const void *values)
{
    const GrB_Index nrows = (GrB_Index)p->nrows, ncols = (GrB_Index)p->ncols, nvals = (GrB_Index)p->nvals,
                    *I = (const GrB_Index *)rows;
    GrB_Info info = GrB_DOMAIN_MISMATCH;
    switch (type) {
#define BUILD(dtype, suffix, ctype)                                                                          \
    case dtype:                                                                                              \
        info = grb.make(G, *grb.type_##suffix, nrows, ncols);                                                \
        if (info == GrB_SUCCESS && nvals > 0)                                                                \
            info = grb.build_##suffix(*G, I, colidx, (const ctype *)values, nvals, NULL);                    \
        break;
        FTB_GRB_TYPES(BUILD)
#undef BUILD
    default:
        break;
    }
    if (info != GrB_SUCCESS && *G)
        grb.release(G);
    return info;
}

static GrB_Info check_export(FtB_Matrix A, int64_t plane)
{
    if (plane < 0 || plane >= ftb_max(A->width, 1))
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Matrix_export: plane is %lld; expected one of the %lld of A",
                        (long long)plane, (long long)ftb_max(A->width, 1));
    if (A->pattern->multi)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Matrix_export: A (%lld x %lld) has parallel edges, which a GrB_Matrix "
                        "cannot hold",
                        (long long)A->pattern->nrows, (long long)A->pattern->ncols);
    GrB_Info info = ftb_grb_matrices("FtB_Matrix_export");
    return info == GrB_SUCCESS ? ftb_grb_start() : info;
}

GrB_Info FtB_Matrix_export(GrB_Matrix *G, FtB_Matrix A, int64_t plane)
{
    if (!G)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_export: G is NULL");
    *G = NULL;
    GrB_Info info = ftb_arg_matrix_listed(&A, (FtB_Arg){.kind = FTB_KIND_MATRIX, .handle = A}, "A", false);
    if (info == GrB_SUCCESS)
        info = check_export(A, plane);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_pattern *p = A->pattern;
    FtB_Type type = A->width == 0 ? FTB_BOOL : A->type >= FTB_FP16 ? FTB_FP32 : A->type;
    const void *values = A->width == 1 && type == A->type ? ftb_values(A) : NULL,
               *colidx = p->wide ? p->colidx : NULL;
    void *own_values = NULL, *own_colidx = NULL;
    int64_t *rows = NULL;
    if ((p->listed && !(rows = entry_rows(p))) ||
        (!values && !(values = own_values = plane_values(A, plane, type))) ||
        (!colidx && !(colidx = own_colidx = ftb_new(A->ctx, p->nvals, sizeof(int64_t))))) {
        info = ftb_nomem();
        goto done;
    }
    if (own_colidx)
        ftb_cast(own_colidx, FTB_INT64, p->colidx, FTB_INT32, p->nvals);
    int levels = ftb_grb_enter(A->ctx);
    info =
        rows ? build_graphblas(G, p, type, rows, colidx, values) : make_graphblas(G, p, type, colidx, values);
    ftb_grb_leave(levels);
    if (info != GrB_SUCCESS) {
        *G = NULL;
        info = ftb_grb_error(info, "FtB_Matrix_export");
    }
done:
    ftb_delete(rows);
    ftb_delete(own_values);
    ftb_delete(own_colidx);
    return info;
}
