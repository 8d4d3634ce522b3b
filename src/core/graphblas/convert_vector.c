/* GraphBLAS vectors in and out, through functions of the GraphBLAS C API 2.0 alone (convert.c).
 *
 * The standard has no call that tells a vector's type, nor one that refuses the others': an empty copy
 * becomes the diagonal of a matrix, whose type can be told. */
#include "core/graphblas/bridge.h"
#include "core/vector/vector_forms.h"

static struct {
    GrB_Info (*new)(GrB_Vector *, void *type, GrB_Index size);
    GrB_Info (*dup)(GrB_Vector *, GrB_Vector);
    GrB_Info (*clear)(GrB_Vector);
    GrB_Info (*free)(GrB_Vector *);
    GrB_Info (*size)(GrB_Index *, GrB_Vector);
    GrB_Info (*nvals)(GrB_Index *, GrB_Vector);
    GrB_Info (*diagonal)(GrB_Matrix *, GrB_Vector, int64_t k);
    GrB_Info (*free_matrix)(GrB_Matrix *);
#define MEMBERS(dtype, suffix, ctype)                                                                        \
    GrB_Info (*extract_##suffix)(GrB_Index * i, ctype * x, GrB_Index * nvals, GrB_Vector);                   \
    GrB_Info (*build_##suffix)(GrB_Vector, const GrB_Index *i, const ctype *x, GrB_Index nvals,              \
                               GrB_BinaryOp dup);                                                            \
    void *const *type_##suffix;
    FTB_GRB_TYPES(MEMBERS)
#undef MEMBERS
} grb;

static const ftb_grb_function symbols[] = {{"GrB_Vector_new", &grb.new},
                                           {"GrB_Vector_dup", &grb.dup},
                                           {"GrB_Vector_clear", &grb.clear},
                                           {"GrB_Vector_free", &grb.free},
                                           {"GrB_Vector_size", &grb.size},
                                           {"GrB_Vector_nvals", &grb.nvals},
                                           {"GrB_Matrix_diag", &grb.diagonal},
                                           {"GrB_Matrix_free", &grb.free_matrix},
#define SYMBOLS(dtype, suffix, ctype)                                                                        \
    {"GrB_Vector_extractTuples_" #suffix, &grb.extract_##suffix},                                            \
        {"GrB_Vector_build_" #suffix, &grb.build_##suffix}, {"GrB_" #suffix, &grb.type_##suffix},
                                           FTB_GRB_TYPES(SYMBOLS)
#undef SYMBOLS
};

static pthread_once_t functions_once = PTHREAD_ONCE_INIT;
static const char *missing; /* a symbol that this GraphBLAS lacks */

static void find_functions(void) { missing = ftb_grb_find_all(symbols, sizeof symbols / sizeof *symbols); }

static GrB_Info functions(const char *call)
{
    GrB_Info info = ftb_grb_matrices(call);
    if (info != GrB_SUCCESS)
        return info;
    pthread_once(&functions_once, find_functions);
    return missing ? ftb_fail(GrB_NOT_IMPLEMENTED, "%s: this GraphBLAS has no %s", call, missing)
                   : GrB_SUCCESS;
}

/* ---- in */

static GrB_Info find_type(FtB_Type *type, GrB_Vector G, GrB_Index size)
{
    char what[80];
    GrB_Vector empty = NULL;
    GrB_Matrix diagonal = NULL;
    snprintf(what, sizeof what, "FtB_Vector_import: G (of %llu places)", (unsigned long long)size);
    GrB_Info info = grb.dup(&empty, G);
    if (info == GrB_SUCCESS)
        info = grb.clear(empty);
    if (info == GrB_SUCCESS)
        info = grb.diagonal(&diagonal, empty, 0);
    info = info == GrB_SUCCESS ? ftb_grb_type(type, diagonal, what) : ftb_grb_error(info, what);
    if (diagonal)
        grb.free_matrix(&diagonal);
    if (empty)
        grb.free(&empty);
    return info;
}

static GrB_Info extract(FtB_Type type, int64_t *I, void *X, GrB_Index *nvals, GrB_Vector G)
{
    switch (type) {
#define EXTRACT(dtype, suffix, ctype)                                                                        \
    case dtype:                                                                                              \
        return grb.extract_##suffix((GrB_Index *)I, (ctype *)X, nvals, G);
        FTB_GRB_TYPES(EXTRACT)
#undef EXTRACT
    default:
        return GrB_DOMAIN_MISMATCH;
    }
}

static bool ascend(const int64_t *list, int64_t count)
{
    for (int64_t t = 1; t < count; t++)
        if (list[t] <= list[t - 1])
            return false;
    return true;
}

static GrB_Info import(FtB_Vector *v, FtB_Context ctx, GrB_Vector G)
{
    static const char call[] = "FtB_Vector_import";
    ftb_vector list = {.form = FTB_VECTOR_LIST};
    GrB_Index size, nvals;
    FtB_Type type;
    GrB_Info info = grb.size(&size, G);
    if (info == GrB_SUCCESS)
        info = grb.nvals(&nvals, G);
    if (info != GrB_SUCCESS)
        return ftb_grb_error(info, call);
    FTB_CHECK(find_type(&type, G, size));
    FTB_CHECK(ftb_vector_room(&list, ctx, FTB_VECTOR_LIST, type, (int64_t)size, (int64_t)nvals));
    info = extract(type, list.index, list.values, &nvals, G);
    if (info != GrB_SUCCESS)
        info = ftb_grb_error(info, call);
    else if (!ascend(list.index, list.nvals)) /* the standard leaves the order open */
        info = FtB_Vector_build(v, type, list.size, list.nvals, list.index, list.values, FTB_DUP_ERROR);
    else if ((info = ftb_vector_settle(&list, ctx)) == GrB_SUCCESS)
        info = ftb_vector_make(v, ctx, &list);
done:
    ftb_vector_clear(&list);
    return info;
}

GrB_Info FtB_Vector_import(FtB_Vector *v, GrB_Vector G)
{
    if (!v)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Vector_import: v is NULL");
    *v = NULL;
    if (!G)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Vector_import: G is NULL; expected a GrB_Vector");
    FtB_Context ctx = ftb_context();
    GrB_Info info = functions("FtB_Vector_import");
    if (info != GrB_SUCCESS)
        return info;
    const int levels = ftb_grb_enter(ctx);
    info = import(v, ctx, G);
    ftb_grb_leave(levels);
    return info;
}

/* ---- out */

static GrB_Info make_graphblas(GrB_Vector *G, const ftb_vector *list)
{
    const GrB_Index size = (GrB_Index)list->size, nvals = (GrB_Index)list->nvals;
    const GrB_Index *I = (const GrB_Index *)list->index;
    GrB_Info info;
    switch (list->type) {
#define BUILD(dtype, suffix, ctype)                                                                          \
    case dtype:                                                                                              \
        info = grb.new(G, *grb.type_##suffix, size);                                                         \
        return info == GrB_SUCCESS ? grb.build_##suffix(*G, I, (const ctype *)list->values, nvals, NULL)     \
                                   : info;
        FTB_GRB_TYPES(BUILD)
#undef BUILD
    default:
        return GrB_DOMAIN_MISMATCH;
    }
}

GrB_Info FtB_Vector_export(GrB_Vector *G, FtB_Vector v)
{
    static const char call[] = "FtB_Vector_export";
    ftb_vector list = {.form = FTB_VECTOR_LIST};
    if (!G)
        return ftb_fail(GrB_NULL_POINTER, "%s: G is NULL", call);
    *G = NULL;
    GrB_Info info = ftb_arg_vector(&v, (FtB_Arg){.kind = FTB_KIND_VECTOR, .handle = v}, "v", false);
    if (info != GrB_SUCCESS)
        return info;
    FTB_CHECK(functions(call));
    FTB_CHECK(ftb_grb_start());
    FTB_CHECK(ftb_vector_as(&list, v->ctx, &v->v, FTB_VECTOR_LIST));
    if (list.type >= FTB_FP16)
        FTB_CHECK(ftb_vector_cast(&list, v->ctx, FTB_FP32));
    const int levels = ftb_grb_enter(v->ctx);
    info = make_graphblas(G, &list);
    ftb_grb_leave(levels);
    if (info != GrB_SUCCESS) {
        if (*G)
            grb.free(G);
        *G = NULL;
        info = ftb_grb_error(info, call);
    }
done:
    ftb_vector_clear(&list);
    return info;
}
