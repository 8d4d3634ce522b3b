/* Parameters: a block that is learned, and its gradient, shared by handles, layers, tapes and optimisers. */
#include "nn/nn.h"

GrB_Info ftb_parameter_check(FtB_Parameter p, const char *name)
{
    if (!p)
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected an FtB_Parameter", name);
    if (p->magic != FTB_MAGIC_PARAMETER)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "%s is not an FtB_Parameter, or was freed", name);
    return GrB_SUCCESS;
}

FtB_Parameter ftb_parameter_retain(FtB_Parameter p)
{
    atomic_fetch_add(&p->refs, 1);
    return p;
}

GrB_Info FtB_Parameter_free(FtB_Parameter *p)
{
    if (!p || !*p || (*p)->magic != FTB_MAGIC_PARAMETER)
        return GrB_SUCCESS;
    FtB_Parameter old = *p;
    *p = NULL;
    if (atomic_fetch_sub(&old->refs, 1) > 1)
        return GrB_SUCCESS;
    old->magic = 0;
    ftb_delete(old->name);
    FtB_Block_free(&old->value);
    FtB_Block_free(&old->gradient);
    ftb_delete(old);
    return GrB_SUCCESS;
}

GrB_Info FtB_Parameter_new(FtB_Parameter *p, const char *name, int64_t nrows, int64_t ncols, FtB_Type type)
{
    if (!p || !name)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Parameter_new: %s is NULL", p ? "name" : "p");
    *p = NULL;
    if (type != FTB_FP32 && type != FTB_FP64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "FtB_Parameter_new: type is %s; expected fp32 or fp64",
                        FtB_Type_name(type));
    FtB_Parameter made = ftb_new0(NULL, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_PARAMETER;
    atomic_init(&made->refs, 1);
    made->trained = true;
    made->name = ftb_strdup(NULL, name);
    GrB_Info info = made->name ? FtB_Block_new(&made->value, nrows, ncols, type) : ftb_nomem();
    if (info != GrB_SUCCESS)
        FtB_Parameter_free(&made);
    else
        *p = made;
    return info;
}

GrB_Info FtB_Parameter_value(FtB_Block *X, FtB_Parameter p)
{
    GrB_Info info = X ? ftb_parameter_check(p, "p") : ftb_fail(GrB_NULL_POINTER, "X is NULL");
    return info == GrB_SUCCESS ? FtB_Block_heads(X, p->value, 1) : info;
}

GrB_Info FtB_Parameter_gradient(FtB_Block *X, FtB_Parameter p)
{
    GrB_Info info = X ? ftb_parameter_check(p, "p") : ftb_fail(GrB_NULL_POINTER, "X is NULL");
    if (info == GrB_SUCCESS && !p->gradient)
        info = FtB_Block_new(&p->gradient, p->value->nrows, p->value->ncols, p->value->type);
    return info == GrB_SUCCESS ? FtB_Block_heads(X, p->gradient, 1) : info;
}

const char *FtB_Parameter_name(FtB_Parameter p)
{
    return ftb_parameter_check(p, "p") == GrB_SUCCESS ? p->name : "";
}

GrB_Info FtB_Parameter_set_trained(FtB_Parameter p, bool trained)
{
    GrB_Info info = ftb_parameter_check(p, "p");
    if (info == GrB_SUCCESS)
        p->trained = trained;
    return info;
}
