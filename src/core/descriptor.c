/* Descriptors: how an operation reads its arguments. The constants are immortal. */
#include "core/graphblas/bridge.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_Descriptor_set

struct FtB_Descriptor_opaque {
    uint32_t magic;
    bool constant;
    ftb_flags flags;
};

#define FTB_DESC_DEFINE(name, r, s, c, t0, t1)                                                               \
    static struct FtB_Descriptor_opaque constant_##name = {                                                  \
        FTB_MAGIC_DESCRIPTOR,                                                                                \
        true,                                                                                                \
        {.transpose0 = t0, .transpose1 = t1, .structural = s, .complement = c, .replace = r}};               \
    FtB_Descriptor const FTB_DESC_##name = &constant_##name;
FTB_DESCRIPTORS(FTB_DESC_DEFINE)

static GrB_Info check_descriptor(FtB_Descriptor d)
{
    if (!d)
        return ftb_fail(GrB_NULL_POINTER, "d is NULL; expected an FtB_Descriptor");
    if (d->magic != FTB_MAGIC_DESCRIPTOR)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "d is not an FtB_Descriptor, or was freed");
    return GrB_SUCCESS;
}

GrB_Info FtB_Descriptor_new(FtB_Descriptor *d)
{
    if (!d)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Descriptor_new: d is NULL");
    *d = ftb_new0(ftb_context(), 1, sizeof **d);
    if (!*d)
        return ftb_nomem();
    (*d)->magic = FTB_MAGIC_DESCRIPTOR;
    return GrB_SUCCESS;
}

static GrB_Info set_fill(ftb_flags *flags, FtB_Arg value)
{
    if (value.kind != FTB_KIND_REAL && value.kind != FTB_KIND_INTEGER)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Descriptor_set: FTB_FILL takes a number");
    flags->fill = value.kind == FTB_KIND_REAL ? value.real : (double)value.integer;
    return GrB_SUCCESS;
}

static GrB_Info set_plan(ftb_flags *flags, FtB_Arg value)
{
    if (value.kind == FTB_KIND_NONE) {
        flags->plan = NULL;
        return GrB_SUCCESS;
    }
    if (value.kind != FTB_KIND_PLAN || *(const uint32_t *)value.handle != FTB_MAGIC_PLAN)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Descriptor_set: FTB_PLAN takes an FtB_Plan or NULL");
    flags->plan = (FtB_Plan)(uintptr_t)value.handle;
    return GrB_SUCCESS;
}

GrB_Info FtB_Descriptor_set(FtB_Descriptor d, FtB_Field field, FtB_Arg value)
{
    GrB_Info info = check_descriptor(d);
    if (info != GrB_SUCCESS)
        return info;
    if (d->constant)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Descriptor_set: d is one of the constants FTB_DESC_*");
    bool *const flags[] = {[FTB_TRANSPOSE0] = &d->flags.transpose0,
                           [FTB_TRANSPOSE1] = &d->flags.transpose1,
                           [FTB_STRUCTURAL] = &d->flags.structural,
                           [FTB_COMPLEMENT] = &d->flags.complement,
                           [FTB_REPLACE] = &d->flags.replace};
    if (field == FTB_FILL)
        return set_fill(&d->flags, value);
    if (field == FTB_PLAN)
        return set_plan(&d->flags, value);
    if ((int)field < FTB_TRANSPOSE0 || (int)field > FTB_REPLACE)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Descriptor_set: %d is not an FtB_Field", (int)field);
    if (value.kind != FTB_KIND_INTEGER || (value.integer != 0 && value.integer != 1))
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Descriptor_set: a flag takes the integer 0 or 1");
    *flags[field] = value.integer == 1;
    return GrB_SUCCESS;
}

GrB_Info FtB_Descriptor_free(FtB_Descriptor *d)
{
    if (!d || !*d)
        return GrB_SUCCESS;
    GrB_Info info = check_descriptor(*d);
    if (info != GrB_SUCCESS)
        return info;
    if (!(*d)->constant) {
        (*d)->magic = 0;
        ftb_delete(*d);
    }
    *d = NULL;
    return GrB_SUCCESS;
}

/* The standard cannot read a GrB_Descriptor, but the predefined ones are known by their handles. */
static GrB_Info predefined(const ftb_flags **flags, const void *handle)
{
#define FTB_DESC_FLAGS(name, r, s, c, t0, t1) &constant_##name.flags,
    static const ftb_flags *const constants[] = {FTB_DESCRIPTORS(FTB_DESC_FLAGS)};
    const ftb_grb_table *table;
    GrB_Info info = ftb_grb_table_of(&table, FTB_KIND_GRB_DESCRIPTOR);
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "desc is a GrB_Descriptor: ");
    int64_t row = ftb_grb_find(table, handle);
    if (row < 0)
        return ftb_fail(GrB_INVALID_VALUE, "desc is a GrB_Descriptor of the user's, which cannot be read; "
                                           "expected one of GrB_DESC_*, or an FtB_Descriptor");
    *flags = constants[row];
    return GrB_SUCCESS;
}

GrB_Info ftb_arg_descriptor(ftb_flags *flags, FtB_Arg arg)
{
    const ftb_flags *found = NULL;
    if (arg.kind == FTB_KIND_NONE) {
        *flags = (ftb_flags){0};
        return GrB_SUCCESS;
    }
    if (arg.kind == FTB_KIND_GRB_DESCRIPTOR) {
        GrB_Info info = predefined(&found, arg.handle);
        if (info != GrB_SUCCESS)
            return info;
    } else if (arg.kind == FTB_KIND_DESCRIPTOR) {
        FtB_Descriptor d = (FtB_Descriptor)(uintptr_t)arg.handle;
        GrB_Info info = check_descriptor(d);
        if (info != GrB_SUCCESS)
            return info;
        found = &d->flags;
    } else {
        return ftb_fail(GrB_INVALID_VALUE,
                        "desc is %s; expected an FtB_Descriptor, one of GrB_DESC_*, or NULL",
                        ftb_kind_name(arg.kind));
    }
    *flags = *found;
    return GrB_SUCCESS;
}
