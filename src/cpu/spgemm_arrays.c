/* The arrays that the plan asks for: ids of the right operand's columns, values in their compute types,
 * and, for a triangle, where in the right operand each left entry starts. */
#include "core/hypersparse.h"
#include "core/search.h"
#include "cpu/spgemm_run.h"

void ftb_row_products(const ftb_spgemm *p, int64_t *counts)
{
#pragma omp parallel for schedule(dynamic, 256)                                                              \
    num_threads(ftb_threads(p->ctx)) if (p->arow[p->nrows] > 65536)
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t n = 0;
        for (int64_t x = p->arow[i]; x < p->arow[i + 1]; x++)
            n += ftb_spgemm_last(p, x) - ftb_spgemm_first(p, x);
        counts[i] = n;
    }
}

/* Whether columns of 32 bits get other numbers: far more of them than entries of listed rows, unless the text
 * speaks of them, or of the mask, by the old ones. */
static bool has_few_columns(const ftb_spgemm_product *product)
{
    const ftb_pattern *right = product->right;
    const ftb_expr *text = product->semiring->message;
    return right->numbers && ftb_listed_fits(right->ncols, right->nvals) &&
           !(text && (ftb_expr_uses(text, "dj") || ftb_expr_uses(text, "m")));
}

/* Columns of 64 bits, or few of many: dense numbers for those that occur. Called before planning, which needs
 * their number. */
GrB_Info ftb_product_compact(ftb_spgemm_product *product)
{
    ftb_spgemm *p = &product->p;
    const ftb_pattern *right = product->right;
    const int64_t nvals = right->nvals;
    if (!right->wide && !has_few_columns(product))
        return GrB_SUCCESS;
    ftb_pattern *both = NULL; /* the columns of listed rows are numbered once, and kept */
    if (right->numbers && ftb_pattern_both(product->right, &both) != GrB_SUCCESS)
        return ftb_nomem();
    if (both && !both->wide) {
        p->column = both->columns;
        p->bid = both->colidx;
        p->nids = both->ncols;
        return GrB_SUCCESS;
    }
    uint32_t *id = ftb_arena_new(&product->arena, nvals, sizeof *id);
    int64_t *ranks = NULL;
    GrB_Info info =
        id ? ftb_rows_list(&product->columns, &ranks, product->ctx, right->colidx, nvals) : ftb_nomem();
    if (info == GrB_SUCCESS) {
        for (int64_t e = 0; e < nvals; e++)
            id[e] = (uint32_t)ranks[e];
        p->column = ftb_buffer_data(product->columns);
        p->bid = id;
        p->nids = product->columns->bytes / (int64_t)sizeof *p->column;
    }
    ftb_delete(ranks);
    return info;
}

/* ---- listed rows */

/* Where A's column of entry e is in the list; -1: nowhere. */
static int64_t place_of(const ftb_pattern *right, const ftb_pattern *left, int64_t e)
{
    const int64_t k = ftb_col(left, e), at = ftb_first_not_below(right->numbers, right->nrows, k);
    return at < right->nrows && right->numbers[at] == k ? at : -1;
}

/* place[c]: where in the list column c of `both` is, which are merged as they ascend. */
static void merge_columns(int64_t *place, const ftb_pattern *both, const ftb_pattern *right)
{
    int64_t at = 0;
    for (int64_t c = 0; c < both->ncols; c++) {
        while (at < right->nrows && right->numbers[at] < both->columns[c])
            at++;
        place[c] = at < right->nrows && right->numbers[at] == both->columns[c] ? at : -1;
    }
}

GrB_Info ftb_join_find(const ftb_pattern *left, const ftb_pattern *both, const ftb_pattern *right,
                       int64_t *places, int64_t *rowptr)
{
    int64_t *place = both ? ftb_new(left->ctx, both->ncols, sizeof *place) : NULL;
    if (both && !place)
        return ftb_nomem();
    if (both)
        merge_columns(place, both, right);
#pragma omp parallel for num_threads(ftb_threads_for(left->ctx, left->nvals)) schedule(dynamic, 256)
    for (int64_t r = 0; r < left->nrows; r++) {
        int64_t count = 0;
        for (int64_t e = left->rowptr[r]; e < left->rowptr[r + 1]; e++) {
            places[e] = both ? place[ftb_col(both, e)] : place_of(right, left, e);
            count += places[e] >= 0;
        }
        rowptr[r + 1] = count;
    }
    for (int64_t r = 0; r < left->nrows; r++)
        rowptr[r + 1] += rowptr[r];
    ftb_delete(place);
    return GrB_SUCCESS;
}

void ftb_join_keep(void *colidx, bool wide, int64_t *from, const int64_t *places, const int64_t *before,
                   int64_t nvals)
{
    int64_t at = 0;
    for (int64_t e = 0; e < nvals; e++) {
        if (places[e] < 0)
            continue;
        if (wide)
            ((int64_t *)colidx)[at] = places[e];
        else
            ((int32_t *)colidx)[at] = (int32_t)places[e];
        from[at++] = before ? before[e] : e;
    }
}

/* ---- forms */

static GrB_Info make_ids(ftb_spgemm_form *form)
{
    ftb_spgemm *p = &form->p;
    const ftb_pattern *right = form->product->right;
    int64_t nvals = right->nvals;
    if (p->column)
        return GrB_SUCCESS; /* compact: made already */
    if (form->plan.relabel) {
        GrB_Info info = ftb_spgemm_form_name_columns(form);
        if (info != GrB_SUCCESS)
            return info;
    }
    const int32_t *col = right->colidx;
    const uint32_t *rank = p->rank;
    p->id16 = form->plan.id16;
    if (!p->id16 && !rank) {
        p->bid = right->colidx;
        return GrB_SUCCESS;
    }
    void *ids = ftb_arena_new(&form->arena, nvals, p->id16 ? 2 : 4);
    if (!ids)
        return ftb_nomem();
#pragma omp parallel for num_threads(form->plan.threads)
    for (int64_t e = 0; e < nvals; e++) {
        uint32_t id = rank ? rank[col[e]] : (uint32_t)col[e];
        if (p->id16)
            ((uint16_t *)ids)[e] = (uint16_t)id;
        else
            ((uint32_t *)ids)[e] = id;
    }
    p->bid = ids;
    return GrB_SUCCESS;
}

/* Values of operand A as `type`, after the semiring's domain; entry t comes from from[t]. */
static GrB_Info make_values(const void **out, ftb_spgemm_form *form, FtB_Matrix A, const char *values,
                            const int64_t *from, FtB_Type type)
{
    FtB_Type domain = form->product->semiring->domain ? form->product->semiring->domain : A->type;
    int64_t width = A->width, n = A->pattern->nvals;
    size_t size = FtB_Type_size(type);
    *out = NULL;
    if (width == 0)
        return GrB_SUCCESS;
    if (domain != A->type || type != A->type) {
        char *cast = ftb_arena_new(&form->arena, n * width, 8);
        if (!cast)
            return ftb_nomem();
        ftb_cast(cast, domain, values, A->type, n * width);
        ftb_cast(cast, type, cast, domain, n * width);
        values = cast;
    }
    if (from) {
        size_t entry = size * (size_t)width;
        char *moved = ftb_arena_new(&form->arena, n, entry);
        if (!moved)
            return ftb_nomem();
#pragma omp parallel for num_threads(form->plan.threads)
        for (int64_t e = 0; e < n; e++)
            memcpy(moved + (size_t)e * entry, values + (size_t)from[e] * entry, entry);
        values = moved;
    }
    *out = values;
    return GrB_SUCCESS;
}

/* Left entry x of row i is entry bstart[x] of the right operand, in column i: columns from i up follow. */
static GrB_Info make_starts(ftb_spgemm_form *form)
{
    ftb_spgemm *p = &form->p;
    if (form->product->left_from) {
        p->bstart = form->product->left_from;
    } else {
        int64_t n = form->product->right->nvals;
        int64_t *start = ftb_arena_new(&form->arena, n, sizeof *start);
        if (!start)
            return ftb_nomem();
        for (int64_t e = 0; e < n; e++)
            start[form->product->right_from[e]] = e;
        p->bstart = start;
    }
    p->skip = form->product->finish.drop_diagonal;
    return GrB_SUCCESS;
}

/* Codes are in the operands' order: the right ones in that of the right entries. */
static GrB_Info make_codes(ftb_spgemm_form *form)
{
    ftb_spgemm *p = &form->p;
    if (!form->product->right_from)
        return GrB_SUCCESS;
    uint8_t *codes = ftb_arena_new(&form->arena, form->product->right->nvals, 1);
    if (!codes)
        return ftb_nomem();
#pragma omp parallel for num_threads(form->plan.threads)
    for (int64_t e = 0; e < form->product->right->nvals; e++)
        codes[e] = ((const uint8_t *)p->bval)[form->product->right_from[e]];
    p->bval = codes;
    return GrB_SUCCESS;
}

/* Cells of pairs (i, j), (j, i), from which a mirrored triangle is read. */
static void take_both(ftb_spgemm_form *form)
{
    form->dual = true;
    form->p.table = form->product->dual_table;
    form->p.table_row = form->product->dual_row;
    form->p.cell_width = 2;
}

static GrB_Info count_triangle(ftb_spgemm_form *form)
{
    int64_t *counts = ftb_arena_new(&form->arena, form->p.nrows, sizeof *counts);
    if (!counts)
        return ftb_nomem();
    ftb_row_products(&form->p, counts);
    form->row_products = counts;
    return GrB_SUCCESS;
}

/* Operands in the message's types. */
static GrB_Info make_operands(ftb_spgemm_form *form)
{
    const ftb_spgemm_product *product = form->product;
    ftb_spgemm *p = &form->p;
    bool times = p->message == FTB_MESSAGE_TIMES;
    GrB_Info info =
        make_values(&p->aval, form, product->A, product->a, NULL, times ? p->cell : product->message.atype);
    if (info == GrB_SUCCESS && product->A == product->B && !product->right_from)
        p->bval = p->aval;
    else if (info == GrB_SUCCESS)
        info = make_values(&p->bval, form, product->B, product->b, product->right_from,
                           times ? p->cell : product->message.btype);
    return info;
}

static GrB_Info fill(ftb_spgemm_form *form)
{
    const ftb_spgemm_kind message = form->p.message;
    GrB_Info info;
    FTB_CHECK(make_ids(form));
    if (message == FTB_MESSAGE_TABLE)
        FTB_CHECK(make_codes(form));
    if (form->plan.triangle) {
        FTB_CHECK(make_starts(form));
        FTB_CHECK(count_triangle(form));
    }
    if (form->plan.hot > 0)
        FTB_CHECK(ftb_spgemm_form_hot(form));
    if (message != FTB_MESSAGE_PAIR && form->plan.mirror && form->product->dual_table)
        take_both(form);
    if (message != FTB_MESSAGE_PAIR && message != FTB_MESSAGE_TABLE)
        info = make_operands(form);
done:
    return info;
}

GrB_Info ftb_spgemm_form_new(ftb_spgemm_form **out, const ftb_spgemm_product *product,
                             const ftb_spgemm_plan *plan)
{
    *out = NULL;
    ftb_spgemm_form *form = ftb_new0(product->ctx, 1, sizeof *form);
    if (!form)
        return ftb_nomem();
    *form = (ftb_spgemm_form){.product = product,
                              .plan = *plan,
                              .arena = {.ctx = product->ctx},
                              .p = product->p,
                              .row_products = product->row_products};
    GrB_Info info = fill(form);
    if (info != GrB_SUCCESS) {
        ftb_spgemm_form_delete(form);
        return info;
    }
    *out = form;
    return GrB_SUCCESS;
}

void ftb_spgemm_form_delete(ftb_spgemm_form *form)
{
    if (!form)
        return;
    ftb_arena_free(&form->arena);
    ftb_delete(form);
}

void ftb_spgemm_form_unhalve(ftb_spgemm_form *form)
{
    const ftb_spgemm *whole = &form->product->p;
    form->plan.triangle = form->plan.mirror = form->dual = false;
    form->plan.hot = 0; /* the cold part is a triangle's, too */
    form->p.bstart = NULL;
    form->p.table = whole->table;
    form->p.table_row = whole->table_row;
    form->p.cell_width = whole->cell_width;
    form->row_products = form->product->row_products;
}
