/* S(r,:) = some entries of A(rows[r],:): FtB_select_sample. */
#include "core/draws.h"
#include "core/options.h"
#include "sample/selector.h"

/* The slots' macro is for callers: this is the function. */
#undef FtB_select_sample

typedef struct call {
    FtB_Matrix S, A;
    FtB_Select_options options;
    const int64_t *rows; /* NULL: all */
    int64_t nrows, k;
    ftb_selector selector;
    ftb_picks picks;
    FtB_Matrix made, edges;
} call;

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
        info = ftb_selector_rows(&c->rows, &c->nrows, rows, c->A);
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
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.S->ctx);
    return info;
}
