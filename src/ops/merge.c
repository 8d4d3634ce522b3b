/* Row-wise merge of two sparse matrices under a mask: what src/cpu/entries/merge_run.c is told, and the
 * matrix that is made of it. Where all list their rows, those that any of them has are merged. */
#include "ops/merge.h"

#include "cpu/entries/merge_run.h"

static ftb_entries entries_of(FtB_Matrix A)
{
    return (ftb_entries){A->pattern, ftb_values(A), A->type, A->width};
}

/* The rule over the same rows: those that are listed, where all list theirs, as views in `held`; else all. */
static GrB_Info hold_rows(FtB_Matrix held[3], ftb_merge_rule *rule)
{
    static const char *const names[] = {"the left matrix", "the right matrix", "the mask"};
    const FtB_Matrix all[] = {rule->left, rule->right, rule->mask};
    GrB_Info info = GrB_SUCCESS;
    bool listed = true;
    for (int n = 0; n < 3; n++)
        listed = listed && (!all[n] || all[n]->pattern->listed);
    for (int n = 0; n < 3 && !listed && info == GrB_SUCCESS; n++)
        if (all[n])
            info = ftb_pattern_all_rows(all[n]->pattern, names[n]);
    if (!listed)
        return info;
    info = ftb_matrix_align(held, rule->left, rule->right, rule->mask);
    if (info == GrB_SUCCESS) {
        rule->left = held[0];
        rule->right = held[1];
        rule->mask = held[2];
    }
    return info;
}

static GrB_Info prepare(ftb_merge_job *w, FtB_Context ctx, const ftb_merge_rule *rule)
{
    ftb_map_input x = ftb_map_entries(rule->left), y = ftb_map_entries(rule->right);
    GrB_Info info = GrB_SUCCESS;
    w->ctx = ctx;
    w->left = rule->left->pattern;
    w->right = rule->right->pattern;
    w->threads = ftb_threads_for(ctx, w->left->nvals + w->right->nvals + w->left->nrows);
    w->sides[0] = entries_of(rule->left);
    w->sides[1] = entries_of(rule->right);
    w->complement = rule->complement;
    w->lone_left = rule->lone_left;
    w->lone_right = rule->lone_right;
    w->outside = rule->outside;
    w->combine = rule->combine;
    if (rule->mask) {
        w->mask = rule->mask->pattern;
        w->admits = ftb_mask_of(rule->mask, rule->structural);
    }
    if (rule->combine && rule->op)
        info = ftb_map_new(&w->map, ctx, rule->op, &x, &y, NULL, w->threads);
    if (info == GrB_SUCCESS && w->map)
        info = ftb_map_check_rows(w->map, ftb_rows_in_all(w->left), w->left->ncols);
    if (info == GrB_SUCCESS && w->map)
        w->map->numbers = w->left->numbers;
    if (info == GrB_SUCCESS) {
        w->type = rule->type ? rule->type : w->map->type;
        w->width = rule->width >= 0 ? rule->width : w->map->width;
        for (int side = 0; side < 2; side++)
            w->word[side] = w->sides[side].type == w->type && w->sides[side].width == 1 && w->width == 1 &&
                            FtB_Type_size(w->type) == 8;
    }
    return info;
}

/* The merge of what is held. */
static GrB_Info merge_rows(FtB_Matrix *out, int *same, FtB_Context ctx, const ftb_merge_rule *rule)
{
    GrB_Info info = GrB_SUCCESS;
    int64_t taken[2], nrows = rule->left->pattern->nrows, ncols = rule->left->pattern->ncols;
    ftb_buffer *rowptr = NULL, *colidx = NULL, *values = NULL;
    ftb_pattern *pattern = NULL;
    ftb_merge_job w = {0};
    FTB_CHECK(prepare(&w, ctx, rule));
    rowptr = ftb_buffer_new(ctx, nrows + 1, sizeof(int64_t));
    if (!rowptr)
        FTB_CHECK(ftb_nomem());
    w.rowptr = ftb_buffer_data(rowptr);
    FTB_CHECK(ftb_merge_count(&w, taken));
    int64_t nvals = ftb_rows_sum(w.rowptr, nrows);
    if (same && taken[0] == nvals && w.left->nvals == nvals && rule->left->width == w.width)
        *same = 1;
    else if (same && taken[1] == nvals && w.right->nvals == nvals && rule->right->width == w.width)
        *same = 2;
    if (same && *same)
        goto done;
    colidx = ftb_buffer_new(ctx, nvals, ftb_col_size(ncols));
    if (!colidx || (w.width > 0 && !(values = ftb_values_new(ctx, nvals, w.width, w.type))))
        FTB_CHECK(ftb_nomem());
    w.colidx = ftb_buffer_data(colidx);
    w.values = values ? ftb_buffer_data(values) : NULL;
    if (w.map)
        ftb_map_output(w.map, w.values, w.type);
    FTB_CHECK(ftb_merge_fill(&w));
    pattern = ftb_pattern_number_as(ftb_pattern_new(ctx, nrows, ncols, rowptr, colidx), rule->left->pattern);
    rowptr = colidx = NULL;
    if (!pattern)
        FTB_CHECK(ftb_nomem());
    pattern->multi = w.left->multi || w.right->multi;
    info = ftb_matrix_make(out, ctx, w.type, w.width, pattern, values);
    values = NULL;
done:
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    ftb_buffer_release(values);
    ftb_map_delete(w.map);
    return info;
}

GrB_Info ftb_merge(FtB_Matrix *out, int *same, FtB_Context ctx, const ftb_merge_rule *rule)
{
    FtB_Matrix held[3] = {NULL};
    ftb_merge_rule over = *rule;
    *out = NULL;
    if (same)
        *same = 0;
    GrB_Info info = hold_rows(held, &over);
    if (info == GrB_SUCCESS)
        info = merge_rows(out, same, ctx, &over);
    for (int n = 0; n < 3; n++)
        FtB_Matrix_free(&held[n]);
    return info;
}
