/* Slots: takes the object that a function wants out of an FtB_Arg, or says what is there instead. */
#include "core/hypersparse.h"
#include "core/vector/vector_forms.h"

const char *ftb_kind_name(FtB_Kind kind)
{
    static const char *const names[] = {
        [FTB_KIND_NONE] = "NULL",
        [FTB_KIND_MATRIX] = "an FtB_Matrix",
        [FTB_KIND_BLOCK] = "an FtB_Block",
        [FTB_KIND_SEMIRING] = "an FtB_Semiring",
        [FTB_KIND_OP] = "an FtB_Op",
        [FTB_KIND_DESCRIPTOR] = "an FtB_Descriptor",
        [FTB_KIND_SINK] = "an FtB_Sink",
        [FTB_KIND_TEXT] = "text",
        [FTB_KIND_REAL] = "a real number",
        [FTB_KIND_INTEGER] = "an integer",
        [FTB_KIND_GRB_SEMIRING] = "a GrB_Semiring",
        [FTB_KIND_GRB_MONOID] = "a GrB_Monoid",
        [FTB_KIND_GRB_BINARY] = "a GrB_BinaryOp",
        [FTB_KIND_GRB_DESCRIPTOR] = "a GrB_Descriptor",
        [FTB_KIND_PLAN] = "an FtB_Plan",
        [FTB_KIND_IDS] = "an FtB_Ids",
        [FTB_KIND_VECTOR] = "an FtB_Vector",
        [FTB_KIND_UNKNOWN] = "an untyped pointer",
    };
    return (int)kind >= FTB_KIND_NONE && (int)kind <= FTB_KIND_UNKNOWN ? names[kind] : "of an unknown kind";
}

/* Checks kind and magic number, which every object starts with. *object: NULL for an empty slot. */
static GrB_Info object_of(const void **object, FtB_Arg arg, FtB_Kind kind, uint32_t magic, const char *name,
                          bool optional)
{
    *object = NULL;
    if (arg.kind == FTB_KIND_NONE || (arg.kind == kind && !arg.handle))
        return optional ? GrB_SUCCESS
                        : ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected %s", name, ftb_kind_name(kind));
    if (arg.kind != kind)
        return ftb_fail(GrB_INVALID_VALUE, "%s is %s; expected %s%s", name, ftb_kind_name(arg.kind),
                        ftb_kind_name(kind), optional ? " or NULL" : "");
    uint32_t found;
    memcpy(&found, arg.handle, sizeof found);
    if (found != magic)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "%s is not %s, or was freed", name, ftb_kind_name(kind));
    *object = arg.handle;
    return GrB_SUCCESS;
}

GrB_Info ftb_arg_matrix_listed_anywhere(FtB_Matrix *A, FtB_Arg arg, const char *name, bool optional)
{
    const void *object;
    GrB_Info info = object_of(&object, arg, FTB_KIND_MATRIX, FTB_MAGIC_MATRIX, name, optional);
    *A = (FtB_Matrix)(uintptr_t)object;
    return info;
}

GrB_Info ftb_arg_matrix_anywhere(FtB_Matrix *A, FtB_Arg arg, const char *name, bool optional)
{
    GrB_Info info = ftb_arg_matrix_listed_anywhere(A, arg, name, optional);
    return info == GrB_SUCCESS && *A ? ftb_pattern_all_rows((*A)->pattern, name) : info;
}

GrB_Info ftb_arg_block_anywhere(FtB_Block *X, FtB_Arg arg, const char *name, bool optional)
{
    const void *object;
    GrB_Info info = object_of(&object, arg, FTB_KIND_BLOCK, FTB_MAGIC_BLOCK, name, optional);
    *X = (FtB_Block)(uintptr_t)object;
    return info;
}

GrB_Info ftb_arg_vector(FtB_Vector *v, FtB_Arg arg, const char *name, bool optional)
{
    const void *object;
    GrB_Info info = object_of(&object, arg, FTB_KIND_VECTOR, FTB_MAGIC_VECTOR, name, optional);
    *v = (FtB_Vector)(uintptr_t)object;
    return info;
}

GrB_Info ftb_arg_matrix(FtB_Matrix *A, FtB_Arg arg, const char *name, bool optional)
{
    GrB_Info info = ftb_arg_matrix_anywhere(A, arg, name, optional);
    return info == GrB_SUCCESS && *A ? ftb_buffer_ask_as((*A)->values, FTB_READ, name) : info;
}

GrB_Info ftb_arg_matrix_listed(FtB_Matrix *A, FtB_Arg arg, const char *name, bool optional)
{
    GrB_Info info = ftb_arg_matrix_listed_anywhere(A, arg, name, optional);
    return info == GrB_SUCCESS && *A ? ftb_buffer_ask_as((*A)->values, FTB_READ, name) : info;
}

GrB_Info ftb_arg_block(FtB_Block *X, FtB_Arg arg, const char *name, bool optional)
{
    GrB_Info info = ftb_arg_block_anywhere(X, arg, name, optional);
    return info == GrB_SUCCESS && *X ? ftb_buffer_ask_as((*X)->owner, FTB_READ, name) : info;
}
