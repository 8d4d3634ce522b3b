/* Vertex programs: texts to trees, each with the columns of the text that it stood in. */
#include "vertex/vertex_program.h"

#include "core/options.h"
#include "expr/message.h"
#include "expr/tree.h"

#include <float.h>

/* ---- texts */

/* A part of a text as an expression, whose columns are those of the whole. */
static GrB_Info parse_part(ftb_expr **e, FtB_Context ctx, const char *text, int first, int length,
                           const char *what)
{
    char *part = ftb_new(ctx, length + 1, 1);
    if (!part)
        return ftb_nomem();
    memcpy(part, text + first, (size_t)length);
    part[length] = '\0';
    GrB_Info info = ftb_expr_parse(e, ctx, part, what, first);
    ftb_delete(part);
    return info;
}

static GrB_Info check_length(const char *text, const char *what)
{
    return text && strlen(text) > FTB_MAX_TEXT
               ? ftb_fail(GrB_INVALID_VALUE, "%s: more than %d characters", what, FTB_MAX_TEXT)
               : GrB_SUCCESS;
}

/* ---- apply: FIELD = text; ... */

static int skip_blanks(const char *text, int at)
{
    while (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))
        at++;
    return at;
}

static GrB_Info read_assignment(FtB_Program p, const char *text, int first, int last)
{
    const ftb_token name = ftb_token_next(text, first);
    const int equals = skip_blanks(text, name.start + name.length), start = equals + 1;
    if (name.kind != FTB_TOKEN_NAME || name.length > FTB_NAME_MAX || text[equals] != '=' ||
        text[start] == '=')
        return ftb_fail(GrB_INVALID_VALUE, "apply: expected FIELD = text at column %d, found '%.*s'",
                        name.start + 1, (int)ftb_min(last - name.start, 40), text + name.start);
    if (p->nassigned == FTB_VERTEX_FIELDS)
        return ftb_fail(GrB_INVALID_VALUE, "apply: more than %d fields", FTB_VERTEX_FIELDS);
    ftb_assignment *a = &p->assigned[p->nassigned];
    snprintf(a->field, sizeof a->field, "%.*s", name.length, text + name.start);
    for (int f = 0; f < p->nassigned; f++)
        if (strcmp(p->assigned[f].field, a->field) == 0)
            return ftb_fail(GrB_INVALID_VALUE, "apply: '%s' at column %d has a text already", a->field,
                            name.start + 1);
    p->nassigned++;
    return parse_part(&a->expr, p->ctx, text, start, last - start, "apply");
}

static GrB_Info read_apply(FtB_Program p, const char *text)
{
    GrB_Info info = check_length(text, "apply");
    for (int first = 0; info == GrB_SUCCESS;) {
        const int last = first + (int)strcspn(text + first, ";");
        const bool blank = skip_blanks(text, first) >= last;
        if (!blank || p->nassigned == 0) /* what is behind the last ';' may be blank */
            info = read_assignment(p, text, first, last);
        if (text[last] == '\0')
            break;
        first = last + 1;
    }
    return info;
}

/* ---- until: sums over the vertices are expressions of their own */

static bool is_token(const char *text, ftb_token token, const char *word)
{
    return (size_t)token.length == strlen(word) &&
           memcmp(text + token.start, word, (size_t)token.length) == 0;
}

/* Where the parenthesis that opens at `open` is closed; -1: nowhere. */
static int closing(const char *text, int open)
{
    int depth = 0;
    for (ftb_token t = ftb_token_next(text, open); t.kind != FTB_TOKEN_END;
         t = ftb_token_next(text, t.start + t.length)) {
        depth += is_token(text, t, "(") - is_token(text, t, ")");
        if (depth == 0)
            return t.start;
    }
    return -1;
}

/* sum( ... ), from `first` to `last`, becomes a name of no more characters, and blanks. */
static GrB_Info take_sum(FtB_Program p, char *text, int first, int open, int last)
{
    if (p->nsums == FTB_VERTEX_SUMS)
        return ftb_fail(GrB_INVALID_VALUE, "until: more than %d sums", FTB_VERTEX_SUMS);
    GrB_Info info = parse_part(&p->sums[p->nsums], p->ctx, text, open + 1, last - open - 1, "until");
    if (info != GrB_SUCCESS)
        return info;
    memset(text + first, ' ', (size_t)(last + 1 - first));
    memcpy(text + first, FTB_SUM_NAME, strlen(FTB_SUM_NAME));
    text[first + (int)strlen(FTB_SUM_NAME) - 1] = (char)('a' + p->nsums++);
    return GrB_SUCCESS;
}

static GrB_Info read_until(FtB_Program p, const char *given)
{
    GrB_Info info = check_length(given, "until");
    char *text = info == GrB_SUCCESS ? ftb_strdup(p->ctx, given) : NULL;
    if (info != GrB_SUCCESS || !text)
        return info == GrB_SUCCESS ? ftb_nomem() : info;
    for (ftb_token t = ftb_token_next(text, 0); t.kind != FTB_TOKEN_END && info == GrB_SUCCESS;
         t = ftb_token_next(text, t.start + t.length)) {
        const ftb_token next = ftb_token_next(text, t.start + t.length);
        const int last = t.kind == FTB_TOKEN_NAME && is_token(text, t, "sum") && is_token(text, next, "(")
                             ? closing(text, next.start)
                             : -1;
        if (last > next.start + 1 && skip_blanks(text, next.start + 1) < last)
            info = take_sum(p, text, t.start, next.start, last);
    }
    if (info == GrB_SUCCESS)
        info = ftb_expr_parse(&p->until, p->ctx, text, "until", 0);
    ftb_delete(text);
    return info;
}

/* ---- the others */

/* Whether an expression is a constant that is not zero. */
static bool is_true(const ftb_expr *e)
{
    const ftb_node *root = &e->nodes[e->root];
    return (root->op == FTB_OP_TRUTH || root->op == FTB_OP_LITERAL) && root->integer != 0;
}

static GrB_Info read_semiring(FtB_Program p, const FtB_Program_texts *texts)
{
    if (!texts->combine == !texts->semiring)
        return ftb_fail(texts->combine ? GrB_INVALID_VALUE : GrB_NULL_POINTER,
                        "FtB_Program_new: %s; expected one of combine and semiring",
                        texts->combine ? "both are given" : "neither is given");
    ftb_message m;
    GrB_Info info = ftb_arg_semiring(
        &p->combine, texts->combine ? FTB_ARG(texts->combine) : FTB_ARG(texts->semiring), "semiring");
    if (info == GrB_SUCCESS)
        info =
            ftb_message_new(&m, p->ctx, p->combine, NULL); /* of an immortal one, too, what its text says */
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "combine: ");
    p->monoid = m.reducer.monoid;
    if (m.reducer.mean || m.reducer.arg)
        info = ftb_fail(GrB_INVALID_VALUE,
                        "combine: mean, argmin and argmax are no monoids, of which there can be parts; "
                        "of a mean, \"plus : [message, 1]\" gives sum and count");
    ftb_message_clear(&m);
    return info;
}

static GrB_Info read_texts(FtB_Program p, const FtB_Program_texts *t)
{
    GrB_Info info;
    FTB_CHECK(ftb_expr_parse(&p->send, p->ctx, t->send, "send", 0));
    FTB_CHECK(read_semiring(p, t));
    FTB_CHECK(read_apply(p, t->apply));
    if (t->active)
        FTB_CHECK(ftb_expr_parse(&p->active, p->ctx, t->active, "active", 0));
    if (t->settled)
        FTB_CHECK(ftb_expr_parse(&p->settled, p->ctx, t->settled, "settled", 0));
    if (t->priority)
        FTB_CHECK(ftb_expr_parse(&p->priority, p->ctx, t->priority, "priority", 0));
    if (t->until)
        FTB_CHECK(read_until(p, t->until));
    const bool again = ftb_monoid_idempotent(p->monoid); /* a message may come again */
    p->always = p->active ? is_true(p->active) : !again;
    p->all_apply = t->applies == FTB_APPLY_DEFAULT ? !again : t->applies == FTB_APPLY_ALL;
    p->delta = t->delta;
    p->direction = t->direction;
    p->rounds = t->rounds;
done:
    return info;
}

static GrB_Info check_options(const FtB_Program_texts *t)
{
    if (!t->send || !t->apply)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Program_new: %s is NULL; expected a text",
                        t->send ? "apply" : "send");
    if ((int)t->direction < FTB_OUT || (int)t->direction > FTB_BOTH)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Program_new: direction is %d; expected FTB_OUT, FTB_IN or FTB_BOTH",
                        (int)t->direction);
    if ((int)t->applies < FTB_APPLY_DEFAULT || (int)t->applies > FTB_APPLY_ALL)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Program_new: applies is %d; expected one of FTB_APPLY_*",
                        (int)t->applies);
    if (t->rounds < 0)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Program_new: rounds is %lld; expected 0 or more",
                        (long long)t->rounds);
    if (t->priority ? !(t->delta > 0 && t->delta <= DBL_MAX) : t->delta != 0)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Program_new: delta is %g; expected %s", t->delta,
                        t->priority ? "the width of priority's buckets, more than 0 and finite"
                                    : "0, as there is no priority");
    return GrB_SUCCESS;
}

/* ---- objects */

FtB_Program ftb_program_retain(FtB_Program program)
{
    atomic_fetch_add(&program->refs, 1);
    return program;
}

void ftb_program_release(FtB_Program p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) > 1)
        return;
    p->magic = 0;
    ftb_expr_release(p->send);
    FtB_Semiring_free(&p->combine);
    for (int f = 0; f < p->nassigned; f++)
        ftb_expr_release(p->assigned[f].expr);
    ftb_expr_release(p->active);
    ftb_expr_release(p->settled);
    ftb_expr_release(p->priority);
    ftb_expr_release(p->until);
    for (int s = 0; s < p->nsums; s++)
        ftb_expr_release(p->sums[s]);
    ftb_delete(p);
}

GrB_Info FtB_Program_new(FtB_Program *program, const FtB_Program_texts *texts)
{
    FtB_Program_texts t = {.size = 0};
    if (!program || !texts)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Program_new: %s is NULL", program ? "texts" : "program");
    *program = NULL;
    GrB_Info info = ftb_options_read(&t, sizeof t, texts, "FtB_Program_new", "FTB_PROGRAM");
    if (info == GrB_SUCCESS)
        info = check_options(&t);
    if (info != GrB_SUCCESS)
        return info;
    const FtB_Context ctx = ftb_context();
    FtB_Program p = ftb_new0(ctx, 1, sizeof *p);
    if (!p)
        return ftb_nomem();
    p->magic = FTB_MAGIC_PROGRAM;
    p->ctx = ctx;
    atomic_init(&p->refs, 1);
    info = read_texts(p, &t);
    if (info == GrB_SUCCESS)
        *program = p;
    else
        ftb_program_release(p);
    return info;
}

GrB_Info FtB_Program_free(FtB_Program *program)
{
    if (!program || !*program)
        return GrB_SUCCESS;
    if ((*program)->magic != FTB_MAGIC_PROGRAM)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT,
                        "FtB_Program_free: program is not an FtB_Program, or was freed");
    ftb_program_release(*program);
    *program = NULL;
    return GrB_SUCCESS;
}
