/* S(r,:) = some entries of A(rows[r],:): FtB_select_sample. */
#include "core/draws.h"
#include "core/hypersparse.h"
#include "core/options.h"
#include "sample/selector.h"

/* The slots' macro is for callers: this is the function. */
#undef FtB_select_sample
#undef FtB_mxm

typedef struct call {
    FtB_Matrix S, A;
    FtB_Select_options options;
    const int64_t *rows; /* NULL: all */
    int64_t nrows, k;
    ftb_selector selector;
    ftb_picks picks;
    FtB_Matrix made, edges;
    int64_t *named;     /* rows that a matrix names; NULL: none does */
    FtB_Matrix product; /* of it and A, where it adds rows up */
} call;

/* ---- rows of a product Q A */

/* The one column of each row of Q, into rows. false: rows have others, or values that are not 1. */
static bool name_rows(int64_t *rows, FtB_Matrix Q)
{
    const ftb_pattern *p = Q->pattern;
    bool ones = Q->width <= 1;
    for (int64_t r = 0; r < p->nrows && ones; r++)
        ones = p->rowptr[r + 1] == r + 1;
    for (int64_t e = 0; e < p->nvals && ones; e++) {
        ones = Q->width == 0 || ftb_get_real(ftb_values(Q), Q->type, e) == 1;
        rows[e] = ftb_col(p, e);
    }
    return ones;
}

/* Where Q names a row of A by each of its own, Q A is these rows; else it is made, and stands for A. */
static GrB_Info read_matrix(call *c, FtB_Arg rows)
{
    FtB_Matrix Q;
    GrB_Info info = ftb_arg_matrix(&Q, rows, "rows", false);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_pattern *p = Q->pattern, *of = c->A->pattern;
    if (p->ncols != of->nrows)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "rows is %lld x %lld and A %lld x %lld; expected as many columns as A "
                        "has rows",
                        (long long)p->nrows, (long long)p->ncols, (long long)of->nrows, (long long)of->ncols);
    c->nrows = p->nrows;
    c->named = ftb_new(c->S->ctx, p->nvals, sizeof *c->named);
    if (!c->named)
        return ftb_nomem();
    if (name_rows(c->named, Q)) {
        c->rows = c->named;
        return GrB_SUCCESS;
    }
    if (c->options.edges || c->options.times.at || c->options.exclude.count > 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: edges, times and exclude are of A's entries; expected rows with one "
                        "entry each, of value 1");
    const FtB_Type type = c->A->width > 0 && ftb_type_float(c->A->type) ? c->A->type : FTB_FP64;
    info = FtB_Matrix_new(&c->product, type, c->nrows, of->ncols, 1);
    if (info == GrB_SUCCESS)
        info = FtB_mxm(FTB_ARG(c->product), FtB_Arg_none(), FtB_Arg_none(), FTB_ARG("plus : a * b"),
                       FTB_ARG(Q), FTB_ARG(c->A), FtB_Arg_none());
    if (info == GrB_SUCCESS) /* which may list its rows, where A does */
        info = ftb_pattern_all_rows(c->product->pattern, "A");
    c->A = c->product;
    return info;
}

/* ---- arguments */

static GrB_Info check_shape(const call *c, FtB_Matrix S, const char *name)
{
    const ftb_pattern *p = S->pattern;
    if (p->nrows == c->nrows && p->ncols == c->A->pattern->ncols)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld; expected %lld x %lld, a row for each of rows",
                    name, (long long)p->nrows, (long long)p->ncols, (long long)c->nrows,
                    (long long)c->A->pattern->ncols);
}

static GrB_Info check_edges(const call *c)
{
    FtB_Matrix E;
    GrB_Info info = ftb_arg_matrix_anywhere(&E, FTB_ARG(c->options.edges), "options: edges", true);
    if (info != GrB_SUCCESS || !E)
        return info;
    if (E == c->S || E == c->A)
        return ftb_fail(GrB_INVALID_VALUE, "options: edges is %s; expected another matrix",
                        E == c->S ? "S" : "A");
    if (E->type != FTB_INT64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "options: edges has type %s; expected int64",
                        FtB_Type_name(E->type));
    return check_shape(c, E, "options: edges");
}

static GrB_Info begin(call *c, FtB_Arg S, FtB_Arg rows, FtB_Arg key, FtB_Arg A,
                      const FtB_Select_options *options)
{
    GrB_Info info =
        ftb_options_read(&c->options, sizeof c->options, options, "FtB_select_sample", "FTB_SELECT_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix_anywhere(&c->S, S, "S", false);
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix_anywhere(&c->A, A, "A", false);
    if (info == GrB_SUCCESS)
        info = rows.kind == FTB_KIND_MATRIX ? read_matrix(c, rows)
                                            : ftb_selector_rows(&c->rows, &c->nrows, rows, c->A);
    if (info == GrB_SUCCESS)
        info = check_shape(c, c->S, "S");
    if (info == GrB_SUCCESS)
        info = check_edges(c);
    if (info != GrB_SUCCESS)
        return info;
    if (c->options.batch < 0 || c->options.hop < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: batch is %lld and hop %lld; expected 0 or more",
                        (long long)c->options.batch, (long long)c->options.hop);
    const ftb_selector_options how = {.key = key,
                                      .selector = c->options.selector,
                                      .replace = c->options.replace,
                                      .threshold = c->options.threshold,
                                      .iterations = c->options.iterations,
                                      .times = c->options.times,
                                      .until = c->options.until,
                                      .nuntil = c->nrows,
                                      .until_of = "rows",
                                      .exclude = c->options.exclude,
                                      .reverses = c->options.reverses,
                                      .seed = c->options.seed};
    info = ftb_selector_begin(&c->selector, c->S->ctx, c->A, &how);
    if (info == GrB_SUCCESS)
        info = ftb_selector_check(&c->selector, c->k, "k");
    ftb_sample_product *p = &c->selector.product;
    p->stream = ftb_draw_stream(&p->seed, (uint64_t)c->options.batch, (uint64_t)c->options.hop);
    return info;
}

/* S and the list of edges, of what was picked. */
static GrB_Info make(call *c)
{
    const FtB_Context ctx = c->S->ctx;
    const int64_t count = c->picks.rowptr[c->nrows];
    ftb_buffer *edges = NULL;
    ftb_picked_values picked;
    GrB_Info info = ftb_pick_values(
        &picked, &c->selector,
        &(ftb_pick_list){.entries = c->picks.entries, .scale = c->picks.scale, .count = count});
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer *rowptr = ftb_buffer_adopt(ctx, c->picks.rowptr),
               *colidx = ftb_buffer_adopt(ctx, c->picks.columns);
    c->picks.rowptr = NULL;
    c->picks.columns = NULL;
    ftb_pattern *pattern = ftb_pattern_new(ctx, c->nrows, c->A->pattern->ncols, rowptr, colidx);
    if (pattern) {
        pattern->multi = c->A->pattern->multi || c->options.replace;
        if (c->options.edges)
            ftb_pattern_retain(pattern);
    }
    info = ftb_matrix_make(&c->made, ctx, picked.type, picked.width, pattern, picked.values);
    if (!c->options.edges || !pattern)
        return info;
    if (info == GrB_SUCCESS) {
        edges = ftb_buffer_adopt(ctx, c->picks.entries);
        c->picks.entries = NULL;
    }
    const GrB_Info second = ftb_matrix_make(&c->edges, ctx, FTB_INT64, 1, pattern, edges);
    return info == GrB_SUCCESS ? second : info;
}

GrB_Info FtB_select_sample(FtB_Arg S, FtB_Arg rows, int64_t k, FtB_Arg key, FtB_Arg A,
                           const FtB_Select_options *options)
{
    call c = {.k = k};
    GrB_Info info = begin(&c, S, rows, key, A, options);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(ftb_check_cancelled(c.S->ctx));
    FTB_CHECK(ftb_pick(&c.picks, &c.selector, c.rows, c.nrows, k));
    FTB_CHECK(make(&c));
    FTB_CHECK(ftb_matrix_become(c.S, c.made));
    c.made = NULL;
    if (c.edges)
        FTB_CHECK(ftb_matrix_become(c.options.edges, c.edges));
    c.edges = NULL;
done:
    ftb_picks_delete(&c.picks);
    FtB_Matrix_free(&c.made);
    FtB_Matrix_free(&c.edges);
    ftb_selector_end(&c.selector);
    FtB_Matrix_free(&c.product);
    ftb_delete(c.named);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.S->ctx);
    return info;
}
