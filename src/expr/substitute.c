/* Replacing names by expressions, in the text: each name becomes the other's text in parentheses, and
 * the whole is parsed again, so that columns in later messages point into what ftb_expr_text shows. */
#include "expr/tree.h"

typedef struct writer {
    char *bytes; /* NULL: only counts */
    size_t used;
} writer;

static void put(writer *w, const char *bytes, size_t count)
{
    if (w->bytes)
        memcpy(w->bytes + w->used, bytes, count);
    w->used += count;
}

static const ftb_expr *replacement(const char *name, int length, int count, const char *const *names,
                                   const ftb_expr *const *by)
{
    for (int n = 0; n < count; n++)
        if (strlen(names[n]) == (size_t)length && memcmp(names[n], name, (size_t)length) == 0)
            return by[n];
    return NULL;
}

/* A name that is called is a function, not a name. */
static bool is_call(const char *text, ftb_token token)
{
    ftb_token next = ftb_token_next(text, token.start + token.length);
    return next.kind == FTB_TOKEN_SYMBOL && text[next.start] == '(';
}

static void write_text(writer *w, const char *text, int count, const char *const *names,
                       const ftb_expr *const *by)
{
    int copied = 0;
    ftb_token token = ftb_token_next(text, 0);
    for (; token.kind != FTB_TOKEN_END; token = ftb_token_next(text, token.start + token.length)) {
        const ftb_expr *other = NULL;
        if (token.kind == FTB_TOKEN_NAME && !is_call(text, token))
            other = replacement(text + token.start, token.length, count, names, by);
        if (!other)
            continue;
        put(w, text + copied, (size_t)(token.start - copied));
        put(w, "(", 1);
        put(w, other->text, strlen(other->text));
        put(w, ")", 1);
        copied = token.start + token.length;
    }
    put(w, text + copied, strlen(text + copied) + 1);
}

GrB_Info ftb_expr_substitute(ftb_expr **out, const ftb_expr *e, int count, const char *const *names,
                             const ftb_expr *const *by)
{
    *out = NULL;
    writer w = {NULL, 0};
    write_text(&w, e->text, count, names, by);
    if (w.used > FTB_MAX_TEXT)
        return ftb_fail(GrB_INVALID_VALUE, "%s: the text is longer than %d characters", e->what,
                        FTB_MAX_TEXT);
    w.bytes = ftb_new(e->ctx, (int64_t)w.used, 1);
    if (!w.bytes)
        return ftb_nomem();
    w.used = 0;
    write_text(&w, e->text, count, names, by);
    GrB_Info info = ftb_expr_parse(out, e->ctx, w.bytes, e->what, 0);
    ftb_delete(w.bytes);
    return info;
}
