/* Bound names: scalars by value, blocks as views that keep the memory alive. */
#include "expr/bound.h"
#include "expr/tree.h"

/* What a product or an operator calls its own operands. `dst` is among those that may be bound. */
static const char *const reserved[] = {"a",    "b",     "m",    "src",   "edge", "i",   "j", "k",
                                       "e",    "di",    "dj",   "dk",    "x",    "y",   "h", "count",
                                       "grad", "saved", "true", "false", "inf",  "nan", "pi"};

static bool is_reserved(const char *name)
{
    for (size_t r = 0; r < sizeof reserved / sizeof *reserved; r++)
        if (strcmp(reserved[r], name) == 0)
            return true;
    return false;
}

static GrB_Info check_name(const char *call, const ftb_expr *e, const char *name)
{
    if (!name)
        return ftb_fail(GrB_NULL_POINTER, "%s: a binding's name is NULL", call);
    if (!e && strcmp(name, "dst") != 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "%s: '%.40s': a message that is a C function reads dst alone by name; use theta",
                        call, name);
    if (!e)
        return GrB_SUCCESS;
    if (is_reserved(name))
        return ftb_fail(GrB_INVALID_VALUE, "%s: '%s' is a name of the language and cannot be bound", call,
                        name);
    if (!ftb_expr_uses(e, name))
        return ftb_fail(GrB_INVALID_VALUE, "%s: '%.40s' does not occur in '%s'", call, name,
                        ftb_expr_text(e));
    return GrB_SUCCESS;
}

static GrB_Info view_of(FtB_Block *view, FtB_Context ctx, FtB_Block block)
{
    *view = ftb_new0(ctx, 1, sizeof **view);
    if (!*view)
        return ftb_nomem();
    **view = *block;
    (*view)->ctx = ctx;
    (*view)->owner = ftb_buffer_retain(block->owner);
    return GrB_SUCCESS;
}

static GrB_Info set_value(ftb_bound *b, FtB_Context ctx, const char *call, const FtB_Binding *binding)
{
    const FtB_Arg value = binding->value;
    snprintf(b->name, sizeof b->name, "%s", binding->name);
    b->block = NULL;
    if (value.kind == FTB_KIND_REAL) {
        b->type = FTB_FP64;
        b->real = value.real;
        return GrB_SUCCESS;
    }
    if (value.kind == FTB_KIND_INTEGER) {
        b->type = FTB_INT64;
        b->integer = value.integer;
        return GrB_SUCCESS;
    }
    FtB_Block block;
    GrB_Info info = ftb_arg_block_anywhere(&block, value, binding->name, false);
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "%s: ", call);
    b->type = block->type;
    return view_of(&b->block, ctx, block);
}

static ftb_bound *find(ftb_bound *list, int count, const char *name)
{
    int at = 0;
    while (at < count && strcmp(list[at].name, name) != 0)
        at++;
    return list + at;
}

void ftb_bound_free(ftb_bound *list, int count)
{
    for (int b = 0; list && b < count; b++)
        FtB_Block_free(&list[b].block);
    ftb_delete(list);
}

GrB_Info ftb_bound_add(ftb_bound **list, int *count, FtB_Context ctx, const char *call, const ftb_expr *e,
                       int nold, const ftb_bound *old, const FtB_Binding *bindings, size_t nbindings)
{
    *list = NULL;
    *count = 0;
    GrB_Info info = GrB_SUCCESS;
    for (size_t n = 0; n < nbindings; n++)
        FTB_CHECK(check_name(call, e, bindings[n].name));
    if (nold == 0 && nbindings == 0)
        return GrB_SUCCESS;
    /* Each binding's name is one of the text's, so there are no more bound names than nodes. */
    *list = ftb_new0(ctx, nold + (int64_t)ftb_min(nbindings, e ? (size_t)e->nnodes : 1), sizeof **list);
    if (!*list)
        return ftb_nomem();
    for (int b = 0; b < nold; b++) {
        (*list)[b] = old[b];
        (*list)[b].block = NULL;
        *count = b + 1;
        if (old[b].block)
            FTB_CHECK(view_of(&(*list)[b].block, ctx, old[b].block));
    }
    for (size_t n = 0; n < nbindings; n++) {
        ftb_bound *b = find(*list, *count, bindings[n].name);
        FtB_Block_free(&b->block);
        *count = ftb_max(*count, (int)(b - *list) + 1);
        FTB_CHECK(set_value(b, ctx, call, &bindings[n]));
    }
done:
    if (info != GrB_SUCCESS) {
        ftb_bound_free(*list, *count);
        *list = NULL;
        *count = 0;
    }
    return info;
}

int ftb_bound_names(int nbound, const ftb_bound *bound, ftb_name *names, ftb_operand *operands, int count,
                    int room)
{
    for (int b = 0; b < nbound; b++, count++) {
        if (count >= room)
            return -1;
        const ftb_bound *x = &bound[b];
        names[count] = (ftb_name){.name = x->name, .type = x->type, .width = 1};
        operands[count] = (ftb_operand){0};
        if (x->block) {
            names[count].width = x->block->ncols;
            names[count].block = true;
            names[count].rows = x->block;
            continue;
        }
        bool real = x->type == FTB_FP64, small = x->integer >= INT16_MIN && x->integer <= INT16_MAX;
        names[count].constant = true;
        names[count].type = real ? FTB_FP64 : small ? FTB_INT16 : FTB_INT64;
        operands[count].data = real ? (const void *)&x->real : &x->integer;
    }
    return count;
}
