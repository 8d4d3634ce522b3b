/* The list of relations between types of vertices. */
#include "sample/relations_object.h"

GrB_Info ftb_relations_check(FtB_Relations relations)
{
    if (!relations)
        return ftb_fail(GrB_NULL_POINTER, "relations is NULL; expected an FtB_Relations");
    if (relations->magic != FTB_MAGIC_RELATIONS)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "relations is not an FtB_Relations, or was freed");
    return GrB_SUCCESS;
}

static bool is_list(FtB_Relations r) { return r && r->magic == FTB_MAGIC_RELATIONS; }

GrB_Info FtB_Relations_new(FtB_Relations *relations)
{
    if (!relations)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Relations_new: relations is NULL");
    const FtB_Context ctx = ftb_context();
    FtB_Relations r = *relations = ftb_new0(ctx, 1, sizeof *r);
    if (!r)
        return ftb_nomem();
    r->magic = FTB_MAGIC_RELATIONS;
    r->ctx = ctx;
    return GrB_SUCCESS;
}

GrB_Info FtB_Relations_free(FtB_Relations *relations)
{
    FtB_Relations r = relations ? *relations : NULL;
    if (!r)
        return GrB_SUCCESS;
    const GrB_Info info = ftb_relations_check(r);
    if (info != GrB_SUCCESS)
        return info;
    for (int n = 0; n < r->nrelations; n++) {
        ftb_delete(r->relation[n].name);
        FtB_Matrix_free(&r->relation[n].A);
    }
    for (int t = 0; t < r->ntypes; t++) {
        ftb_delete(r->type[t].name);
        FtB_Block_free(&r->type[t].X);
    }
    ftb_delete(r->relation);
    ftb_delete(r->type);
    r->magic = 0;
    ftb_delete(r);
    *relations = NULL;
    return GrB_SUCCESS;
}

int FtB_Relations_type_of(FtB_Relations r, const char *name)
{
    for (int t = 0; is_list(r) && name && t < r->ntypes; t++)
        if (strcmp(r->type[t].name, name) == 0)
            return t;
    return -1;
}

/* ---- adding */

/* That vertices of a type, if it is there, are so many. */
static GrB_Info check_type(FtB_Relations r, const char *name, int64_t count, const char *what)
{
    const int t = FtB_Relations_type_of(r, name);
    if (t < 0 || r->type[t].count == count)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "A has %lld %s; expected %lld, the vertices of type \"%s\"",
                    (long long)count, what, (long long)r->type[t].count, name);
}

static GrB_Info check_add(FtB_Relations r, const char *name, const char *source, const char *destination,
                          FtB_Matrix A)
{
    if (!name || !source || !destination)
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected a text",
                        !name     ? "name"
                        : !source ? "source"
                                  : "destination");
    const ftb_pattern *p = A->pattern;
    if (strcmp(source, destination) == 0 && p->nrows != p->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "A is %lld x %lld; from \"%s\" to itself expected a square one", (long long)p->nrows,
                        (long long)p->ncols, source);
    GrB_Info info = check_type(r, destination, p->nrows, "rows");
    if (info == GrB_SUCCESS)
        info = check_type(r, source, p->ncols, "columns");
    const int from = FtB_Relations_type_of(r, source), to = FtB_Relations_type_of(r, destination);
    for (int n = 0; n < r->nrelations && info == GrB_SUCCESS; n++)
        if (strcmp(r->relation[n].name, name) == 0 && r->relation[n].source == from &&
            r->relation[n].destination == to)
            info = ftb_fail(GrB_INVALID_VALUE, "relation \"%s\" from \"%s\" to \"%s\" is there", name, source,
                            destination);
    return info;
}

/* The type of that name, added where it is not there; there is room. -1: there is no memory. */
static int type_for(FtB_Relations r, const char *name, int64_t count)
{
    const int t = FtB_Relations_type_of(r, name);
    if (t >= 0)
        return t;
    char *copy = ftb_strdup(r->ctx, name);
    if (!copy)
        return -1;
    r->type[r->ntypes] = (ftb_vertex_type){.name = copy, .count = count};
    return r->ntypes++;
}

GrB_Info FtB_Relations_add(FtB_Relations r, const char *name, const char *source, const char *destination,
                           FtB_Matrix A)
{
    GrB_Info info = ftb_relations_check(r);
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix_anywhere(&A, FTB_ARG(A), "A", false);
    if (info == GrB_SUCCESS)
        info = check_add(r, name, source, destination, A);
    if (info != GrB_SUCCESS)
        return info;
    const int types = r->ntypes;
    void *relation = r->relation, *type = r->type;
    bool fits = ftb_resize(r->ctx, &relation, (int64_t)r->nrelations + 1, sizeof *r->relation);
    r->relation = relation;
    fits = fits && ftb_resize(r->ctx, &type, (int64_t)r->ntypes + 2, sizeof *r->type);
    r->type = type;
    if (!fits)
        return ftb_nomem();
    ftb_relation *to = &r->relation[r->nrelations];
    *to = (ftb_relation){.name = ftb_strdup(r->ctx, name)};
    to->destination = type_for(r, destination, A->pattern->nrows);
    to->source = to->destination < 0 ? -1 : type_for(r, source, A->pattern->ncols);
    info = to->name && to->source >= 0 ? ftb_matrix_share(&to->A, A) : ftb_nomem();
    if (info == GrB_SUCCESS) {
        r->nrelations++;
        return info;
    }
    ftb_delete(to->name);
    while (r->ntypes > types)
        ftb_delete(r->type[--r->ntypes].name);
    return info;
}

GrB_Info FtB_Relations_set_features(FtB_Relations r, const char *type, FtB_Block X)
{
    GrB_Info info = ftb_relations_check(r);
    if (info == GrB_SUCCESS)
        info = ftb_arg_block_anywhere(&X, FTB_ARG(X), "X", true);
    if (info != GrB_SUCCESS)
        return info;
    const int t = FtB_Relations_type_of(r, type);
    if (t < 0)
        return ftb_fail(type ? GrB_INVALID_VALUE : GrB_NULL_POINTER,
                        "type is %s; expected one that a relation has", type ? type : "NULL");
    if (X && X->nrows != r->type[t].count)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "X has %lld rows; expected %lld, the vertices of type \"%s\"",
                        (long long)X->nrows, (long long)r->type[t].count, type);
    FtB_Block mine = NULL;
    if (X) {
        info = ftb_block_view(&mine, r->ctx, X->type, X->nrows, X->ncols, X->ld, ftb_buffer_retain(X->owner));
        if (info != GrB_SUCCESS)
            return info;
        mine->offset = X->offset;
        mine->heads = X->heads;
    }
    FtB_Block_free(&r->type[t].X);
    r->type[t].X = mine;
    return GrB_SUCCESS;
}

/* ---- looking */

int FtB_Relations_count(FtB_Relations r) { return is_list(r) ? r->nrelations : 0; }

int FtB_Relations_types(FtB_Relations r) { return is_list(r) ? r->ntypes : 0; }

GrB_Info FtB_Relations_get(FtB_Relations r, int relation, const char **name, const char **source,
                           const char **destination, FtB_Matrix *A)
{
    const GrB_Info info = ftb_relations_check(r);
    if (info != GrB_SUCCESS)
        return info;
    if (relation < 0 || relation >= r->nrelations)
        return ftb_fail(GrB_INVALID_INDEX, "relation is %d of %d", relation, r->nrelations);
    const ftb_relation *of = &r->relation[relation];
    if (name)
        *name = of->name;
    if (source)
        *source = r->type[of->source].name;
    if (destination)
        *destination = r->type[of->destination].name;
    if (A)
        *A = of->A;
    return info;
}

GrB_Info FtB_Relations_type(FtB_Relations r, int type, const char **name, int64_t *count, FtB_Block *X)
{
    const GrB_Info info = ftb_relations_check(r);
    if (info != GrB_SUCCESS)
        return info;
    if (type < 0 || type >= r->ntypes)
        return ftb_fail(GrB_INVALID_INDEX, "type is %d of %d", type, r->ntypes);
    if (name)
        *name = r->type[type].name;
    if (count)
        *count = r->type[type].count;
    if (X)
        *X = r->type[type].X;
    return info;
}
