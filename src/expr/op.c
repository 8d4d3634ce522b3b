/* FtB_Op: an elementwise expression over x, y and indices, with bound names. */
#include "expr/bound.h"
#include "expr/grb.h"
#include "expr/tree.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_Op_bind

struct FtB_Op_opaque ftb_plus_fp32 = {.magic = FTB_MAGIC_OP, .text = "x + y", .domain = FTB_FP32},
                     ftb_plus_fp64 = {.magic = FTB_MAGIC_OP, .text = "x + y", .domain = FTB_FP64};

static GrB_Info check(FtB_Op op, const char *name)
{
    if (!op)
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected an FtB_Op", name);
    if (op->magic != FTB_MAGIC_OP)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "%s is not an FtB_Op, or was freed", name);
    return GrB_SUCCESS;
}

static void destroy(FtB_Op op)
{
    if (!op)
        return;
    op->magic = 0;
    ftb_expr_release(op->body);
    ftb_bound_free(op->bound, op->nbound);
    ftb_delete(op);
}

static GrB_Info make_text(FtB_Op *op, const char *text)
{
    FtB_Context ctx = ftb_context();
    GrB_Info info;
    FtB_Op made = ftb_new0(ctx, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_OP;
    made->ctx = ctx;
    FTB_CHECK(ftb_expr_parse(&made->body, ctx, text, "operator", 0));
    *op = made;
    made = NULL;
done:
    destroy(made);
    return info;
}

/* The operator of a text that casts its inputs to `domain`. */
static GrB_Info make_over(FtB_Op *op, const char *text, FtB_Type domain)
{
    GrB_Info info = make_text(op, text);
    if (info == GrB_SUCCESS)
        (*op)->domain = domain;
    return info;
}

GrB_Info FtB_Op_new(FtB_Op *op, const char *text)
{
    if (!op)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Op_new: op is NULL");
    *op = NULL;
    if (!text)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Op_new: text is NULL");
    return make_text(op, text);
}

static GrB_Info copy(FtB_Op *out, FtB_Op op, const char *call, const FtB_Binding *bindings, size_t count)
{
    if (!op->ctx)
        return make_over(out, op->text, op->domain);
    FtB_Context ctx = ftb_context();
    GrB_Info info;
    FtB_Op made = ftb_new0(ctx, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_OP;
    made->ctx = ctx;
    made->body = ftb_expr_retain(op->body);
    made->domain = op->domain;
    FTB_CHECK(ftb_bound_add(&made->bound, &made->nbound, ctx, call, made->body, op->nbound, op->bound,
                            bindings, count));
    *out = made;
    made = NULL;
done:
    destroy(made);
    return info;
}

GrB_Info FtB_Op_bind(FtB_Op *bound, FtB_Op op, const FtB_Binding *bindings, size_t count)
{
    if (!bound)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Op_bind: bound is NULL");
    *bound = NULL;
    GrB_Info info = check(op, "FtB_Op_bind: op");
    if (info != GrB_SUCCESS)
        return info;
    if (!bindings && count > 0)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Op_bind: bindings is NULL");
    return copy(bound, op, "FtB_Op_bind", bindings, count);
}

GrB_Info FtB_Op_free(FtB_Op *op)
{
    if (!op || !*op)
        return GrB_SUCCESS;
    GrB_Info info = check(*op, "FtB_Op_free: op");
    if (info != GrB_SUCCESS)
        return info;
    destroy(*op);
    *op = NULL;
    return GrB_SUCCESS;
}

GrB_Info ftb_arg_op(FtB_Op *op, FtB_Arg arg, const char *name, bool optional)
{
    char text[FTB_GRB_TEXT];
    FtB_Type domain = (FtB_Type)0;
    GrB_Info info;
    *op = NULL;
    switch (arg.kind) {
    case FTB_KIND_OP:
        info = check((FtB_Op)(uintptr_t)arg.handle, name);
        return info != GrB_SUCCESS ? info : copy(op, (FtB_Op)(uintptr_t)arg.handle, name, NULL, 0);
    case FTB_KIND_TEXT:
        info = make_text(op, arg.handle);
        return info == GrB_INVALID_VALUE ? ftb_wrap_error(info, "%s: ", name) : info;
    case FTB_KIND_GRB_BINARY:
        info = ftb_op_from_grb(text, &domain, (GrB_BinaryOp)(uintptr_t)arg.handle, name);
        return info != GrB_SUCCESS ? info : make_over(op, text, domain);
    case FTB_KIND_NONE:
        if (optional)
            return GrB_SUCCESS;
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected an FtB_Op, a GrB_BinaryOp or text", name);
    default:
        return ftb_fail(GrB_INVALID_VALUE, "%s is %s; expected an FtB_Op, a GrB_BinaryOp or text%s", name,
                        ftb_kind_name(arg.kind), optional ? ", or NULL" : "");
    }
}

bool ftb_op_is_monoid(ftb_monoid *m, const struct FtB_Op_opaque *op, FtB_Type type)
{
    static const struct {
        ftb_operator op;
        ftb_monoid monoid;
    } known[] = {
        {FTB_OP_ADD, FTB_PLUS}, {FTB_OP_MUL, FTB_TIMES}, {FTB_OP_MIN, FTB_MIN}, {FTB_OP_MAX, FTB_MAX}};
    const ftb_expr *e = op->body;
    const ftb_node *root = &e->nodes[e->root];
    if (ftb_type_compute(type) != type || type == FTB_BOOL || (op->domain && op->domain != type))
        return false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (root->op == known[k].op && ftb_tree_is_name(e, ftb_tree_arg(e, e->root, 0), "x") &&
            ftb_tree_is_name(e, ftb_tree_arg(e, e->root, 1), "y")) {
            *m = known[k].monoid;
            return true;
        }
    return false;
}
