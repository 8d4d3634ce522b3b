/* FtB_Semiring: "reducer : message", bound names, and the named ones of semirings/semirings.def. */
#include "expr/bound.h"
#include "expr/grb.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_Semiring_bind

#define FTB_SEMIRING(id, line)                                                                               \
    static struct FtB_Semiring_opaque immortal_##id = {                                                      \
        .magic = FTB_MAGIC_SEMIRING, .name = #id, .text = line};                                             \
    FtB_Semiring const FTB_##id = &immortal_##id;
#include "semirings.def"
#undef FTB_SEMIRING

static GrB_Info check(FtB_Semiring s, const char *name)
{
    if (!s)
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected an FtB_Semiring", name);
    if (s->magic != FTB_MAGIC_SEMIRING)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "%s is not an FtB_Semiring, or was freed", name);
    return GrB_SUCCESS;
}

static void destroy(FtB_Semiring s)
{
    if (!s)
        return;
    s->magic = 0;
    ftb_expr_release(s->message);
    ftb_bound_free(s->bound, s->nbound);
    ftb_delete((char *)(uintptr_t)s->text);
    ftb_delete(s);
}

static bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Fills reducer and message from s->text. */
static GrB_Info read_text(FtB_Semiring s)
{
    const char *colon = strchr(s->text, ':'), *first = s->text, *last = colon;
    if (!colon)
        return ftb_fail(GrB_INVALID_VALUE,
                        "semiring: expected 'reducer : message', such as 'plus : a * b'; there is no ':' in "
                        "'%.200s'",
                        s->text);
    while (first < last && blank(*first))
        first++;
    while (last > first && blank(last[-1]))
        last--;
    GrB_Info info = ftb_reducer_parse(&s->reducer, first, (size_t)(last - first));
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "semiring: ");
    return ftb_expr_parse(&s->message, s->ctx, colon + 1, "semiring",
                          (int)ftb_min(colon + 1 - s->text, 1 << 20));
}

/* A new one with a copy of the text; the message is not read yet. */
static GrB_Info make(FtB_Semiring *s, const char *text)
{
    FtB_Context ctx = ftb_context();
    FtB_Semiring made = ftb_new0(ctx, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_SEMIRING;
    made->ctx = ctx;
    made->text = ftb_strdup(ctx, text);
    if (!made->text) {
        destroy(made);
        return ftb_nomem();
    }
    *s = made;
    return GrB_SUCCESS;
}

static GrB_Info make_text(FtB_Semiring *s, const char *text)
{
    FtB_Semiring made = NULL;
    GrB_Info info;
    FTB_CHECK(make(&made, text));
    FTB_CHECK(read_text(made));
    *s = made;
    made = NULL;
done:
    destroy(made);
    return info;
}

GrB_Info FtB_Semiring_new(FtB_Semiring *s, const char *text)
{
    if (!s)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Semiring_new: s is NULL");
    *s = NULL;
    if (!text)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Semiring_new: text is NULL");
    return make_text(s, text);
}

GrB_Info FtB_Semiring_new_function(FtB_Semiring *s, const char *reducer, FtB_Message_function f,
                                   int64_t width, const void *theta)
{
    static const char call[] = "FtB_Semiring_new_function";
    ftb_reducer r;
    if (!s)
        return ftb_fail(GrB_NULL_POINTER, "%s: s is NULL", call);
    *s = NULL;
    if (!reducer || !f)
        return ftb_fail(GrB_NULL_POINTER, "%s: %s is NULL", call, reducer ? "f" : "reducer");
    if (width < 1)
        return ftb_fail(GrB_INVALID_VALUE, "%s: width is %lld; expected at least 1", call, (long long)width);
    GrB_Info info = ftb_reducer_parse(&r, reducer, strlen(reducer));
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "%s: ", call);
    FtB_Semiring made = NULL;
    info = make(&made, reducer);
    if (info != GrB_SUCCESS)
        return info;
    made->reducer = r;
    made->function = f;
    made->function_width = width;
    made->theta = theta;
    *s = made;
    return GrB_SUCCESS;
}

GrB_Info FtB_Semiring_set_gradient(FtB_Semiring s, FtB_Message_gradient gradient)
{
    static const char call[] = "FtB_Semiring_set_gradient";
    GrB_Info info = check(s, "FtB_Semiring_set_gradient: s");
    if (info != GrB_SUCCESS)
        return info;
    if (!s->function)
        return ftb_fail(
            GrB_INVALID_VALUE,
            "%s: s is text, whose gradient is derived; expected what FtB_Semiring_new_function made", call);
    s->gradient = gradient;
    return GrB_SUCCESS;
}

/* A copy of s, with more names bound. Immortal ones are read here. */
static GrB_Info copy(FtB_Semiring *out, FtB_Semiring s, const char *call, const FtB_Binding *bindings,
                     size_t count)
{
    FtB_Semiring made = NULL;
    GrB_Info info;
    FTB_CHECK(make(&made, s->text));
    if (s->ctx) {
        made->reducer = s->reducer;
        made->message = ftb_expr_retain(s->message);
        made->function = s->function;
        made->gradient = s->gradient;
        made->theta = s->theta;
        made->function_width = s->function_width;
        made->domain = s->domain;
    } else {
        FTB_CHECK(read_text(made));
        made->name = s->name;
    }
    FTB_CHECK(ftb_bound_add(&made->bound, &made->nbound, made->ctx, call, made->message, s->nbound, s->bound,
                            bindings, count));
    *out = made;
    made = NULL;
done:
    destroy(made);
    return info;
}

GrB_Info FtB_Semiring_bind(FtB_Semiring *bound, FtB_Semiring s, const FtB_Binding *bindings, size_t count)
{
    static const char call[] = "FtB_Semiring_bind";
    if (!bound)
        return ftb_fail(GrB_NULL_POINTER, "%s: bound is NULL", call);
    FtB_Semiring from = s; /* bound may be &s's own variable */
    *bound = NULL;
    GrB_Info info = check(from, "FtB_Semiring_bind: s");
    if (info != GrB_SUCCESS)
        return info;
    if (!bindings && count > 0)
        return ftb_fail(GrB_NULL_POINTER, "%s: bindings is NULL", call);
    return copy(bound, from, call, bindings, count);
}

GrB_Info FtB_Semiring_free(FtB_Semiring *s)
{
    if (!s || !*s)
        return GrB_SUCCESS;
    GrB_Info info = check(*s, "FtB_Semiring_free: s");
    if (info != GrB_SUCCESS)
        return info;
    if ((*s)->ctx)
        destroy(*s);
    *s = NULL;
    return GrB_SUCCESS;
}

FtB_Type ftb_semiring_wraps_to(const struct FtB_Semiring_opaque *s, FtB_Type type)
{
    bool narrow = ftb_type_integer(s->domain) && ftb_type_integer(type) && ftb_type_bits(s->domain) < 64;
    return narrow ? s->domain : (FtB_Type)0;
}

GrB_Info ftb_arg_semiring(FtB_Semiring *s, FtB_Arg arg, const char *name)
{
    char text[FTB_GRB_TEXT];
    FtB_Type domain = (FtB_Type)0;
    GrB_Info info;
    *s = NULL;
    switch (arg.kind) {
    case FTB_KIND_SEMIRING:
        info = check((FtB_Semiring)(uintptr_t)arg.handle, name);
        return info != GrB_SUCCESS ? info : copy(s, (FtB_Semiring)(uintptr_t)arg.handle, name, NULL, 0);
    case FTB_KIND_TEXT:
        return make_text(s, arg.handle);
    case FTB_KIND_GRB_SEMIRING:
        info = ftb_semiring_from_grb(text, &domain, (GrB_Semiring)(uintptr_t)arg.handle, name);
        if (info == GrB_SUCCESS)
            info = make_text(s, text);
        if (info == GrB_SUCCESS)
            (*s)->domain = domain;
        return info;
    default:
        return ftb_fail(arg.kind == FTB_KIND_NONE ? GrB_NULL_POINTER : GrB_INVALID_VALUE,
                        "%s is %s; expected an FtB_Semiring, a GrB_Semiring or text", name,
                        ftb_kind_name(arg.kind));
    }
}
