/* Gradients of products with blocks: arguments, one gradient after the other, and their outputs at the end.
 *
 * Everything that is asked for is computed before the first output is written, so that outputs may be inputs
 * and stay as they were on failure. */
#include "ops/grad/grad.h"

#include "core/watch.h"
#include "cpu/nn/copy_run.h"
#include "ops/backends.h"
#include "ops/block/block_map.h"
#include "ops/merge.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_mxm_grad

typedef struct target {              /* one gradient that is asked for */
    char name[FTB_NAME_LENGTH];      /* as the message has it */
    FtB_Block block;                 /* the output, or a view of a matrix's values */
    FtB_Block view;                  /* ours */
    bool accumulate, by_entry;       /* by_entry: of a matrix's values */
    int64_t nrows, ncols;            /* expected */
    FtB_Block sum;                   /* NULL: zeros */
    bool added;                      /* sum is of the output, too: it is put */
    bool copied;                     /* by the verb, as below; else the host does, row by row */
    const ftb_backend *who;          /* has the verb; NULL: the host */
    struct FtB_Block_opaque rows[2]; /* of the output: those that sum has, and those that become 0 */
    ftb_copy_product copy[2];
} target;

typedef struct grad_call {
    ftb_grad g;
    ftb_flags flags;
    int count;
    target *targets;
} grad_call;

/* ---- the product's arguments */

static GrB_Info read_sparse(grad_call *c, FtB_Arg A, FtB_Arg B, FtB_Arg M)
{
    ftb_grad *g = &c->g;
    GrB_Info info = ftb_arg_matrix_anywhere(&g->A, A, "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_block_anywhere(&g->src, B, "B", false);
    if (info != GrB_SUCCESS)
        return info;
    if (M.kind != FTB_KIND_NONE)
        return ftb_fail(GrB_INVALID_VALUE,
                        "M: gradients of sparse x block are of products without a mask; expected NULL");
    if (c->flags.transpose1)
        return ftb_fail(GrB_INVALID_VALUE, "desc: TRANSPOSE1 of a block that is multiplied by a matrix");
    g->p = g->A->pattern;
    if (c->flags.transpose0)
        info = ftb_pattern_transpose(g->A->pattern, &g->p, &g->at);
    if (info == GrB_SUCCESS && g->src->nrows != g->p->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "B: %lld rows; expected %lld, the columns of A",
                        (long long)g->src->nrows, (long long)g->p->ncols);
    return info;
}

static GrB_Info read_dense(grad_call *c, FtB_Arg A, FtB_Arg B, FtB_Arg M)
{
    ftb_grad *g = &c->g;
    g->on_edges = true;
    GrB_Info info = ftb_arg_block_anywhere(&g->dst, A, "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_block_anywhere(&g->src, B, "B", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix_anywhere(&g->A, M, "M", false);
    if (info != GrB_SUCCESS)
        return info;
    if (c->flags.transpose0 || !c->flags.transpose1)
        return ftb_fail(GrB_INVALID_VALUE,
                        "desc: a product of two blocks reads B transposed; expected TRANSPOSE1 "
                        "alone, as in FTB_DESC_T1 or FTB_DESC_ST1");
    if (c->flags.complement)
        return ftb_fail(GrB_INVALID_VALUE,
                        "M: complemented; a product of two blocks is computed where M has entries");
    g->p = g->A->pattern;
    if (g->dst->nrows != g->p->nrows || g->src->nrows != g->p->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "M: %lld x %lld; expected %lld x %lld, the rows of A and of B",
                        (long long)g->p->nrows, (long long)g->p->ncols, (long long)g->dst->nrows,
                        (long long)g->src->nrows);
    return GrB_SUCCESS;
}

static bool same_pattern(const ftb_pattern *p, const ftb_pattern *q)
{
    if (p == q)
        return true;
    return p->nrows == q->nrows && p->ncols == q->ncols && p->nvals == q->nvals && p->wide == q->wide &&
           memcmp(p->rowptr, q->rowptr, (size_t)(p->nrows + 1) * sizeof *p->rowptr) == 0 &&
           memcmp(p->colidx, q->colidx, (size_t)p->nvals * ftb_col_size(p->ncols)) == 0;
}

/* dC and saved, when the shape of the result is known. */
static GrB_Info read_result(grad_call *c, FtB_Arg dC, FtB_Arg saved)
{
    ftb_grad *g = &c->g;
    int64_t width = g->forward.heads * g->type.width;
    bool wants_saved =
        !g->on_edges && (g->forward.reducer.monoid == FTB_MIN || g->forward.reducer.monoid == FTB_MAX);
    GrB_Info info = g->on_edges ? ftb_arg_matrix_anywhere(&g->dE, dC, "dC", false)
                                : ftb_arg_block_anywhere(&g->dC, dC, "dC", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_block_anywhere(&g->saved, saved, "saved", true);
    if (info != GrB_SUCCESS)
        return info;
    int64_t nrows = g->on_edges ? g->dE->pattern->nrows : g->dC->nrows,
            ncols = g->on_edges ? g->dE->width : g->dC->ncols;
    if (g->on_edges && !same_pattern(g->dE->pattern, g->p))
        return ftb_fail(GrB_DIMENSION_MISMATCH, "dC: its pattern is not that of M");
    if (nrows != g->p->nrows || ncols != width)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "dC: %lld rows of %lld values; expected %lld rows of %lld, as the product",
                        (long long)nrows, (long long)ncols, (long long)g->p->nrows, (long long)width);
    if (!ftb_type_float(g->on_edges ? g->dE->type : g->dC->type))
        return ftb_fail(GrB_DOMAIN_MISMATCH, "dC: dtype %s; gradients are real",
                        FtB_Type_name(g->on_edges ? g->dE->type : g->dC->type));
    if (!wants_saved) {
        g->saved = NULL;
        return GrB_SUCCESS;
    }
    if (!g->saved)
        return ftb_fail(GrB_NULL_POINTER,
                        "saved is NULL; the reducer %s needs the winners that FtB_mxm_arg wrote to E",
                        ftb_monoid_name(g->forward.reducer.monoid));
    if (g->saved->type != FTB_INT64 || g->saved->nrows != nrows || g->saved->ncols != ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "saved: %lld x %lld of %s; expected %lld x %lld of int64, as FtB_mxm_arg's E",
                        (long long)g->saved->nrows, (long long)g->saved->ncols, FtB_Type_name(g->saved->type),
                        (long long)nrows, (long long)ncols);
    return GrB_SUCCESS;
}

/* ---- what is asked for */

/* The name that the message has for one of the text's. */
static const char *renamed(const ftb_grad *g, const char *name)
{
    if (strcmp(name, "a") == 0)
        return g->on_edges ? "dst" : "edge";
    return strcmp(name, "b") == 0 ? "src" : name;
}

static const ftb_bound *find_bound(const ftb_grad *g, const char *name)
{
    for (int b = 0; b < g->semiring->nbound; b++)
        if (strcmp(g->semiring->bound[b].name, name) == 0)
            return &g->semiring->bound[b];
    return NULL;
}

/* The operand's shape and dtype. */
static GrB_Info operand_of(target *t, const ftb_grad *g, FtB_Type *type)
{
    const ftb_bound *bound = find_bound(g, t->name);
    FtB_Block X = strcmp(t->name, "src") == 0 ? g->src : strcmp(t->name, "dst") == 0 ? g->dst : NULL;
    if (!X && bound)
        X = bound->block;
    if (X) {
        *type = X->type;
        t->nrows = X->nrows;
        t->ncols = X->ncols;
        return GrB_SUCCESS;
    }
    *type = FTB_FP64;
    t->nrows = t->ncols = 1;
    if (bound)
        return GrB_SUCCESS;
    if (strcmp(t->name, "edge") != 0)
        return ftb_fail(GrB_INVALID_VALUE, "gradients: '%s' is neither src, dst, edge nor a bound name",
                        t->name);
    if (g->A->width == 0)
        return ftb_fail(GrB_INVALID_VALUE, "gradients: '%s': the matrix has no values", t->name);
    *type = g->A->type;
    t->nrows = g->A->pattern->nvals;
    t->ncols = g->A->width;
    t->by_entry = true;
    return GrB_SUCCESS;
}

static GrB_Info read_output(target *t, const ftb_grad *g, FtB_Arg output)
{
    if (!t->by_entry || output.kind != FTB_KIND_MATRIX)
        return ftb_arg_block_anywhere(&t->block, output, t->name, false);
    FtB_Matrix E;
    GrB_Info info = ftb_arg_matrix_anywhere(&E, output, t->name, false);
    if (info == GrB_SUCCESS && !same_pattern(E->pattern, g->A->pattern))
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "its pattern is not that of the operand");
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_values(&t->view, E);
    t->block = t->view;
    return info;
}

static GrB_Info read_target(target *t, const ftb_grad *g, const FtB_Gradient *asked)
{
    FtB_Type type = FTB_FP64;
    if (!asked->name)
        return ftb_fail(GrB_NULL_POINTER, "gradients: a name is NULL");
    snprintf(t->name, sizeof t->name, "%s", renamed(g, asked->name));
    t->accumulate = asked->accumulate;
    GrB_Info info = operand_of(t, g, &type);
    if (info != GrB_SUCCESS)
        return info;
    if (!ftb_type_float(type))
        return ftb_fail(GrB_DOMAIN_MISMATCH,
                        "gradients: '%s' is of dtype %s; only real operands have gradients", t->name,
                        FtB_Type_name(type));
    info = read_output(t, g, asked->output);
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "gradients: the output of '%s': ", t->name);
    if (t->block->nrows != t->nrows || t->block->ncols != t->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "gradients: the output of '%s' is %lld x %lld; expected %lld x %lld", t->name,
                        (long long)t->block->nrows, (long long)t->block->ncols, (long long)t->nrows,
                        (long long)t->ncols);
    if (!t->block->owner->writable)
        return ftb_fail(GrB_DOMAIN_MISMATCH,
                        "gradients: the output of '%s' is read-only; expected memory for reals", t->name);
    if (!ftb_type_float(t->block->type))
        return ftb_fail(GrB_DOMAIN_MISMATCH, "gradients: the output of '%s' is %s; expected memory for reals",
                        t->name, FtB_Type_name(t->block->type));
    return GrB_SUCCESS;
}

/* ---- computing */

/* norm of norm[i]. */
static bool is_feed_of(const ftb_feed *feed, const char *name)
{
    size_t length = strlen(name);
    return strncmp(feed->name, name, length) == 0 &&
           (feed->name[length] == '\0' || feed->name[length] == '[');
}

/* *sum, which is freed, becomes what it is and, on its first rows, more than that, in FP64, from 0 on: one
 * block can be read by rows, by columns and by entries. */
static GrB_Info join(FtB_Block *sum, FtB_Block more)
{
    const bool longer = more->nrows > (*sum)->nrows;
    const FtB_Block x = longer ? more : *sum, y = longer ? *sum : more;
    FtB_Block all = NULL;
    GrB_Info info = ftb_grad_text(&all, FTB_FP64, "x + 0", x, NULL, 1);
    if (info != GrB_SUCCESS)
        return info;
    struct FtB_Block_opaque first = *all;
    first.nrows = y->nrows;
    info = ftb_grad_add(&first, y);
    FtB_Block_free(info == GrB_SUCCESS ? sum : &all);
    if (info == GrB_SUCCESS)
        *sum = all;
    return info;
}

static GrB_Info compute(target *t, ftb_grad *g)
{
    GrB_Info info = GrB_SUCCESS;
    for (int f = 0; f < g->nfeeds && info == GrB_SUCCESS; f++) {
        FtB_Block more = NULL;
        if (!is_feed_of(&g->forward.feeds[f], t->name))
            continue;
        info = ftb_grad_feed(&more, g, f);
        if (info == GrB_SUCCESS && !t->sum) {
            t->sum = more;
            more = NULL;
        }
        if (more)
            info = join(&t->sum, more);
        FtB_Block_free(&more);
    }
    return info;
}

/* Scores src + dst have both gradients at once: which will be asked for. */
static void foresee(grad_call *c)
{
    for (int f = 0; f < c->g.nfeeds; f++)
        for (int t = 0; t < c->count; t++)
            if (is_feed_of(&c->g.forward.feeds[f], c->targets[t].name)) {
                c->g.wants_columns |= c->g.forward.feeds[f].side == FTB_SIDE_COL;
                c->g.wants_rows |= c->g.forward.feeds[f].side == FTB_SIDE_ROW;
            }
}

/* ---- writing */

static bool is_plain(const target *t) { return t->block->type == FTB_FP32 || t->block->type == FTB_FP64; }

/* Whether another output shares memory with t's. */
static bool is_shared(const grad_call *c, const target *t)
{
    for (int n = 0; n < c->count; n++)
        if (&c->targets[n] != t && ftb_block_alias(c->targets[n].block, t->block) != FTB_ALIAS_NONE)
            return true;
    return false;
}

/* The sum as of the output's type, on a device, which only copies when outputs change. */
static GrB_Info convert(target *t, const grad_call *c)
{
    const FtB_Block X = t->block;
    FtB_Block made = NULL;
    if (!t->sum || t->sum->type == X->type || !is_plain(t) || !FTB_WHO(c->g.ctx, map_rows) ||
        !FTB_WHO(c->g.ctx, copy) || (t->accumulate && is_shared(c, t)))
        return GrB_SUCCESS;
    struct FtB_Block_opaque first = *X;
    first.nrows = t->sum->nrows;
    GrB_Info info = t->accumulate ? ftb_grad_text(&made, X->type, "fp64(x) + fp64(y)", t->sum, &first, 1)
                                  : ftb_grad_text(&made, X->type, "x", t->sum, NULL, 1);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Block_free(&t->sum);
    t->sum = made;
    t->added = t->accumulate;
    return info;
}

enum { COPIES = 2, PLACES = 2 };
static void places_of(ftb_place places[PLACES], target *t, int n)
{
    places[0] = (ftb_place){.X = n ? NULL : t->sum, .read = &t->copy[n].x};
    places[1] =
        (ftb_place){.X = &t->rows[n], .write = &t->copy[n].y, .whole = !t->copy[n].add, .name = t->name};
}

/* Rows that are put, or added to their like, and zeros behind them, unless all is added. */
static void describe_copy(target *t, FtB_Context ctx)
{
    const FtB_Block X = t->block;
    const int64_t present = t->sum ? t->sum->nrows : 0;
    for (int n = 0; n < COPIES; n++) {
        t->rows[n] = *X;
        t->copy[n] = (ftb_copy_product){
            .ctx = ctx, .type = X->type, .nrows = present, .ncols = t->ncols, .ldx = t->ncols, .ldy = X->ld};
    }
    t->copy[0].add = t->accumulate && !t->added;
    t->copy[1].nrows = t->accumulate ? 0 : t->nrows - present;
    t->rows[0].nrows = present;
    t->rows[1].nrows = t->copy[1].nrows;
    t->rows[1].offset += present * X->ld * (int64_t)FtB_Type_size(X->type);
}

/* Outputs may be views of one memory, which is valid in one place when it is written: where the host writes
 * one of them it writes them all. */
static const ftb_backend *who_writes(const grad_call *c, const target *t)
{
    for (int n = 0; n < c->count; n++)
        if (c->targets[n].block->owner == t->block->owner && !c->targets[n].copied)
            return NULL;
    return FTB_WHO(c->g.ctx, copy);
}

static GrB_Info ask_target(target *t, const grad_call *c)
{
    GrB_Info info = GrB_SUCCESS;
    if (t->copied) {
        describe_copy(t, c->g.ctx);
        for (int n = 0; n < COPIES && info == GrB_SUCCESS; n++) {
            ftb_place places[PLACES];
            places_of(places, t, n);
            if (t->copy[n].nrows > 0)
                info = ftb_places_ask(t->who, places, PLACES);
        }
        return info;
    }
    info = t->sum ? ftb_buffer_ask(t->sum->owner, FTB_READ) : GrB_SUCCESS;
    return info == GrB_SUCCESS ? ftb_buffer_ask_as(t->block->owner, FTB_UPDATE, t->name) : info;
}

/* What can fail, but for a device. */
static GrB_Info ask_targets(grad_call *c, bool by_host)
{
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < c->count && info == GrB_SUCCESS; n++) {
        c->targets[n].who = by_host ? NULL : who_writes(c, &c->targets[n]);
        info = ask_target(&c->targets[n], c);
    }
    return info;
}

static GrB_Info copy_target(target *t)
{
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < COPIES && info == GrB_SUCCESS; n++) {
        ftb_place places[PLACES];
        places_of(places, t, n);
        if (t->copy[n].nrows > 0)
            FTB_RUN(info, t->who, copy, places, &t->copy[n]);
    }
    return info;
}

static GrB_Info write_target(target *t, FtB_Context ctx)
{
    const FtB_Block X = t->block;
    if (t->copied)
        return copy_target(t);
    ftb_buffer_write(X->owner);
    const ftb_plain_rows to = {ftb_block_data(X), X->type, t->nrows, t->ncols, X->ld};
    ftb_plain_rows sum = {.ncols = t->ncols, .ld = t->ncols};
    if (t->sum) {
        sum.data = ftb_block_data(t->sum);
        sum.type = t->sum->type;
        sum.nrows = t->sum->nrows;
    }
    ftb_rows_put(ctx, &to, &sum, t->accumulate);
    return GrB_SUCCESS;
}

static GrB_Info write_all(grad_call *c)
{
    GrB_Info info = GrB_SUCCESS;
    for (int t = 0; t < c->count && info == GrB_SUCCESS; t++)
        info = convert(&c->targets[t], c);
    for (int n = 0; n < c->count; n++) {
        target *t = &c->targets[n];
        t->copied = is_plain(t) && (!t->sum || t->sum->type == t->block->type);
    }
    if (info == GrB_SUCCESS)
        info = ask_targets(c, false);
    if (ftb_device_failed(info))
        info = ask_targets(c, true);
    for (int t = 0; t < c->count && info == GrB_SUCCESS; t++)
        info = write_target(&c->targets[t], c->g.ctx);
    return info;
}

/* ---- the call */

/* A product without columns: every gradient is 0. Whether this is one, by its shapes. */
static bool without_columns(const grad_call *c, FtB_Arg dC)
{
    FtB_Block X = NULL;
    return !c->g.on_edges && c->g.src->ncols == 0 && dC.kind == FTB_KIND_BLOCK &&
           ftb_arg_block_anywhere(&X, dC, "dC", false) == GrB_SUCCESS && X->ncols == 0 &&
           X->nrows == c->g.p->nrows;
}

static GrB_Info read_targets(grad_call *c, const FtB_Gradient *gradients, size_t count)
{
    GrB_Info info = GrB_SUCCESS;
    c->targets = ftb_new0(c->g.ctx, (int64_t)count, sizeof *c->targets);
    if (!c->targets)
        return ftb_nomem();
    for (; c->count < (int)count; c->count++) {
        info = read_target(&c->targets[c->count], &c->g, &gradients[c->count]);
        if (info != GrB_SUCCESS) {
            FtB_Block_free(&c->targets[c->count].view);
            break;
        }
    }
    return info;
}

static FtB_Context context_of(const FtB_Gradient *gradients, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        const FtB_Arg out = gradients[n].output;
        FtB_Block X = NULL;
        if (out.kind == FTB_KIND_BLOCK && ftb_arg_block_anywhere(&X, out, "output", false) == GrB_SUCCESS)
            return X->ctx;
    }
    return ftb_context();
}

static GrB_Info read_all(grad_call *c, FtB_Arg dC, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg M,
                         FtB_Arg saved, const FtB_Gradient *gradients, size_t count, FtB_Arg desc)
{
    GrB_Info info;
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(ftb_arg_semiring(&c->g.semiring, semiring, "semiring"));
    FTB_CHECK(A.kind == FTB_KIND_BLOCK ? read_dense(c, A, B, M) : read_sparse(c, A, B, M));
    if (without_columns(c, dC)) {
        info = read_targets(c, gradients, count);
        goto done;
    }
    FTB_CHECK(ftb_grad_begin(&c->g));
    FTB_CHECK(read_result(c, dC, saved));
    info = read_targets(c, gradients, count);
done:
    return info;
}

GrB_Info FtB_mxm_grad(FtB_Arg dC, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg M, FtB_Arg saved,
                      const FtB_Gradient *gradients, size_t count, FtB_Arg desc)
{
    if ((!gradients && count > 0) || count > INT32_MAX)
        return ftb_fail(GrB_NULL_POINTER, "gradients: NULL; expected what is asked for");
    FtB_Context ctx = context_of(gradients, count);
    grad_call *c = ftb_new0(ctx, 1, sizeof *c);
    if (!c)
        return ftb_nomem();
    c->g.ctx = ctx;
    GrB_Info info = read_all(c, dC, semiring, A, B, M, saved, gradients, count, desc);
    foresee(c);
    for (int t = 0; t < c->count && info == GrB_SUCCESS; t++)
        info = compute(&c->targets[t], &c->g);
    if (info == GrB_SUCCESS)
        info = write_all(c);
    for (int t = 0; t < c->count; t++) {
        FtB_Block_free(&c->targets[t].view);
        FtB_Block_free(&c->targets[t].sum);
    }
    ftb_delete(c->targets);
    ftb_grad_end(&c->g);
    FtB_Semiring_free(&c->g.semiring);
    ftb_delete(c);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}
