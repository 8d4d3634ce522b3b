/* FtB_Semiring_explain: what becomes of a text, for people.
 *
 * The text alone has no widths and types. They are taken from what is bound, and guessed otherwise: src and
 * dst are FP32 and 16 wide, a block right of @ is as deep as what stands left of it; guesses are tried until
 * the text fits. */
#include "core/locale.h"
#include "expr/rewrite.h"
#include "expr/tree.h"

#define WIDTH 16

typedef struct guess {
    int64_t width;       /* of src and dst */
    int64_t depth, each; /* rows of blocks right of @, columns of indexed ones, where they are not bound */
} guess;

typedef struct stand_ins { /* for what a product would bring */
    FtB_Semiring bound;
    FtB_Matrix A;
    FtB_Block src, dst, made[FTB_MAX_FEEDS];
    int nmade;
} stand_ins;

static void release(stand_ins *x)
{
    FtB_Semiring_free(&x->bound);
    FtB_Matrix_free(&x->A);
    FtB_Block_free(&x->src);
    FtB_Block_free(&x->dst);
    for (int b = 0; b < x->nmade; b++)
        FtB_Block_free(&x->made[b]);
    *x = (stand_ins){0};
}

static bool is_known(const struct FtB_Semiring_opaque *s, const char *name)
{
    static const char *const known[] = {"a", "b", "m", "src", "dst", "edge", "i",
                                        "j", "k", "e", "di",  "dj",  "dk"};
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (strcmp(known[n], name) == 0)
            return true;
    for (int b = 0; b < s->nbound; b++)
        if (strcmp(s->bound[b].name, name) == 0)
            return true;
    return false;
}

/* Binds what the text names and nobody bound: a block if it stands right of @ or before an index. */
static GrB_Info bind_rest(stand_ins *x, const guess *g)
{
    FtB_Binding bindings[FTB_MAX_FEEDS];
    char names[FTB_MAX_FEEDS][FTB_NAME_LENGTH];
    const ftb_expr *e = x->bound->message;
    GrB_Info info = GrB_SUCCESS;
    size_t count = 0;
    for (int n = 0; n < e->nnodes && info == GrB_SUCCESS && count < FTB_MAX_FEEDS; n++) {
        const ftb_node *node = &e->nodes[n];
        if (node->op != FTB_OP_NAME)
            continue;
        snprintf(names[count], sizeof names[count], "%.*s", node->name.length, e->text + node->name.start);
        if (is_known(x->bound, names[count]))
            continue;
        FtB_Arg value = {.kind = FTB_KIND_REAL, .real = 1};
        for (int user = 0; user < e->nnodes && value.kind == FTB_KIND_REAL && info == GrB_SUCCESS; user++) {
            bool whole = e->nodes[user].op == FTB_OP_MATMUL && ftb_tree_arg(e, user, 1) == n;
            bool rows = e->nodes[user].op == FTB_OP_INDEX && ftb_tree_arg(e, user, 0) == n;
            if (!whole && !rows)
                continue;
            FtB_Block *made = &x->made[x->nmade++];
            info = FtB_Block_new(made, whole ? g->depth : 1, whole ? WIDTH : g->each, FTB_FP32);
            value = (FtB_Arg){.kind = FTB_KIND_BLOCK, .handle = *made};
        }
        bindings[count] = (FtB_Binding){.name = names[count], .value = value};
        count++;
    }
    FtB_Semiring all = NULL;
    if (info == GrB_SUCCESS)
        info = (FtB_Semiring_bind)(&all, x->bound, bindings, count);
    FtB_Semiring_free(&x->bound);
    x->bound = all;
    return info;
}

/* The message of one edge, as if everything were there. */
static GrB_Info assume(ftb_message *m, stand_ins *x, FtB_Semiring s, const guess *g)
{
    static const char *const rename[] = {"a", "edge", "b", "src", NULL};
    bool has_dst = false;
    for (int b = 0; b < s->nbound; b++)
        has_dst = has_dst || strcmp(s->bound[b].name, "dst") == 0;
    *x = (stand_ins){0};
    *m = (ftb_message){0};
    GrB_Info info = ftb_arg_semiring(&x->bound, (FtB_Arg){.kind = FTB_KIND_SEMIRING, .handle = s}, "s");
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&x->A, FTB_FP32, 1, 1, 1);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&x->src, 1, g->width, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&x->dst, 1, g->width, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = bind_rest(x, g);
    if (info == GrB_SUCCESS)
        info = ftb_message_new(m, x->bound->ctx, x->bound, rename);
    if (info == GrB_SUCCESS)
        info = ftb_message_block(m, "src", FTB_SIDE_COL, x->src, 1);
    if (info == GrB_SUCCESS && !has_dst)
        info = ftb_message_block(m, "dst", FTB_SIDE_ROW, x->dst, 1);
    if (info == GrB_SUCCESS)
        info = ftb_message_values(m, "edge", x->A, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_message_indices(m, x->A->pattern, false, NULL);
    ftb_message_type type;
    ftb_program *program = NULL;
    if (info == GrB_SUCCESS)
        info = ftb_message_compile(&type, &program, m);
    ftb_program_delete(program);
    if (info != GrB_SUCCESS) {
        ftb_message_clear(m);
        release(x);
    }
    return info;
}

static bool is_memory(GrB_Info info) { return info == GrB_OUT_OF_MEMORY || info == FTB_LIMIT; }

/* The first guess that fits. */
static GrB_Info find_guess(ftb_message *m, stand_ins *x, FtB_Semiring s, guess *g)
{
    int64_t widths[3 * FTB_MAX_FEEDS + 1] = {WIDTH};
    int count = 1;
    GrB_Info info = GrB_SUCCESS;
    for (int b = 0; b < s->nbound && count < 3 * FTB_MAX_FEEDS - 1; b++)
        if (s->bound[b].block) {
            widths[count++] = s->bound[b].block->nrows;
            widths[count++] = s->bound[b].block->ncols;
            widths[count++] = s->bound[b].block->nrows / 2; /* [dst, src] @ W */
        }
    for (int w = 0; w < count; w++)
        for (int64_t factor = 1; factor <= 3; factor++)
            for (int more = 0; more < 4; more++) {
                int64_t width = widths[w];
                *g = (guess){width, factor * width + more / 2, more % 2 ? width : 1};
                info = width < 1 || width > 65536 ? GrB_DIMENSION_MISMATCH : assume(m, x, s, g);
                if (info == GrB_SUCCESS || is_memory(info))
                    return info;
            }
    *g = (guess){WIDTH, WIDTH, 1};
    info = assume(m, x, s, g); /* for its message */
    return info == GrB_SUCCESS ? info : ftb_wrap_error(info, "FtB_Semiring_explain: ");
}

/* ---- lines */

static GrB_Info put(FILE *file, const char *label, const char *before, const ftb_expr *e, const char *after)
{
    char *text = ftb_expr_print(e->ctx, e);
    if (!text)
        return ftb_nomem();
    fprintf(file, "%-17s%s%s%s\n", label, before, text, after);
    ftb_delete(text);
    return GrB_SUCCESS;
}

static GrB_Info explain_parts(FILE *file, const ftb_message *m, bool reduce)
{
    static const char *const forms[] = {
        "interpreted",      "kernel: copy",   "kernel: multiply", "kernel: add",   "kernel: subtract",
        "kernel: subtract", "kernel: divide", "kernel: edge",     "kernel: count", "kernel: dot"};
    ftb_rewritten r;
    char before[2 * FTB_NAME_LENGTH], after[64];
    GrB_Info info = ftb_rewrite(&r, m, reduce, false);
    if (info != GrB_SUCCESS)
        return info;
    for (int p = 0; p < r.npre && info == GrB_SUCCESS; p++) {
        snprintf(before, sizeof before, "%s = ", r.pre[p].name);
        info = put(file, r.pre[p].side == FTB_SIDE_COL ? "  per source" : "  per row", before, r.pre[p].expr,
                   "");
    }
    snprintf(after, sizeof after, "   (%s)", forms[r.form]);
    if (info == GrB_SUCCESS)
        info = put(file, "  per edge", "", r.core, after);
    if (reduce)
        fprintf(file, "%-17s%s\n", "  reduced by", ftb_monoid_name(r.monoid));
    if (info == GrB_SUCCESS && r.post)
        info = put(file, "  per result", "", r.post, "");
    ftb_rewritten_clear(&r);
    return info;
}

static GrB_Info explain_gradient(FILE *file, const ftb_message *m, const char *name)
{
    ftb_derivative d;
    char label[FTB_NAME_LENGTH + 8];
    snprintf(label, sizeof label, "  d %s ", name);
    GrB_Info info = ftb_gradient_reduced(&d, m, name);
    if (info == GrB_DOMAIN_MISMATCH) {
        fprintf(file, "%-17snone: %s\n", label, FtB_error());
        return GrB_SUCCESS;
    }
    if (info == GrB_SUCCESS && d.expr)
        info = put(file, label, "", d.expr, "");
    for (int p = 0; p < d.nouter && info == GrB_SUCCESS; p++) {
        info = put(file, p ? "" : label, p ? "+ (" : "(", d.left[p], ")' times");
        if (info == GrB_SUCCESS)
            info = put(file, "", "  ", d.right[p], "");
    }
    ftb_derivative_clear(&d);
    return info;
}

static GrB_Info explain(FILE *file, FtB_Semiring s, const ftb_message *m, const guess *g)
{
    ftb_message_type type;
    ftb_program *program;
    GrB_Info info = ftb_message_compile(&type, &program, m);
    if (info != GrB_SUCCESS)
        return info;
    ftb_program_delete(program);
    fprintf(file, "%-17s%s\n", "semiring", s->text);
    fprintf(file, "%-17s%lld values of fp32 in src and in dst, 1 in edge; the message has %lld of %s\n",
            "with", (long long)g->width, (long long)type.width, FtB_Type_name(type.message));
    fprintf(file, "sparse x block\n");
    info = explain_parts(file, m, true);
    if (info == GrB_SUCCESS) {
        fprintf(file, "block x block'\n");
        info = explain_parts(file, m, false);
    }
    if (info == GrB_SUCCESS)
        fprintf(file, "gradients\n");
    for (int f = 0; f < m->nfeeds && info == GrB_SUCCESS; f++)
        if (m->feeds[f].data || m->feeds[f].whole)
            info = explain_gradient(file, m, m->feeds[f].name);
    return info;
}

static GrB_Info explain_semiring(FtB_Semiring s, FILE *file)
{
    static const char call[] = "FtB_Semiring_explain";
    ftb_message m;
    stand_ins x;
    guess g;
    FtB_Semiring own = NULL;
    if (!file)
        return ftb_fail(GrB_NULL_POINTER, "%s: file is NULL", call);
    GrB_Info info =
        ftb_arg_semiring(&own, (FtB_Arg){.kind = s ? FTB_KIND_SEMIRING : FTB_KIND_NONE, .handle = s},
                         "FtB_Semiring_explain: s");
    if (info == GrB_SUCCESS && own->function) {
        fprintf(file, "%-17s%s, over a C function, of which nothing is known; %s\n", "semiring", own->text,
                own->gradient ? "its gradient is a C function too" : "it has no gradient");
    } else if (info == GrB_SUCCESS) {
        info = find_guess(&m, &x, own, &g);
        if (info == GrB_SUCCESS) {
            info = explain(file, own, &m, &g);
            ftb_message_clear(&m);
            release(&x);
        }
    }
    FtB_Semiring_free(&own);
    if (info == GrB_SUCCESS && ferror(file))
        info = ftb_fail(FTB_IO, "%s: writing failed", call);
    return info;
}

GrB_Info FtB_Semiring_explain(FtB_Semiring s, FILE *file)
{
    locale_t before = ftb_locale_enter();
    GrB_Info info = explain_semiring(s, file);
    ftb_locale_leave(before);
    return info;
}
