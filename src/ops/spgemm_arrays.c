/* The arrays that the plan asks for: ids of the right operand's columns, values in their compute types,
 * and, for a triangle, where in the right operand each left entry starts. */
#include "ops/spgemm.h"

#include <stdlib.h>

static int compare_columns(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* 64-bit columns: dense numbers for those that occur. Called before planning, which needs their number. */
GrB_Info ftb_product_compact(ftb_product *product)
{
    ftb_spgemm *p = &product->p;
    const ftb_pattern *right = product->right;
    FtB_Context ctx = product->ctx;
    if (!right->wide)
        return GrB_SUCCESS;
    int64_t *column = ftb_product_own(product, ftb_new(ctx, right->nvals, sizeof *column));
    uint32_t *id = ftb_product_own(product, ftb_new(ctx, right->nvals, sizeof *id));
    if (!column || !id)
        return ftb_nomem();
    memcpy(column, right->colidx, (size_t)right->nvals * sizeof *column);
    qsort(column, (size_t)right->nvals, sizeof *column, compare_columns);
    int64_t n = 0;
    for (int64_t e = 0; e < right->nvals; e++)
        if (e == 0 || column[e] != column[n - 1])
            column[n++] = column[e];
    for (int64_t e = 0; e < right->nvals; e++) {
        const int64_t *at =
            bsearch((const int64_t *)right->colidx + e, column, (size_t)n, sizeof *column, compare_columns);
        id[e] = (uint32_t)(at - column);
    }
    p->column = column;
    p->bid = id;
    p->nids = n;
    return GrB_SUCCESS;
}

static GrB_Info make_ids(ftb_product *product)
{
    ftb_spgemm *p = &product->p;
    const ftb_pattern *right = product->right;
    int64_t nvals = right->nvals;
    if (p->column)
        return GrB_SUCCESS; /* compact: made already */
    if (product->plan.relabel) {
        GrB_Info info = ftb_product_name_columns(product);
        if (info != GrB_SUCCESS)
            return info;
    }
    const int32_t *col = right->colidx;
    const uint32_t *rank = p->rank;
    p->id16 = product->plan.id16;
    if (!p->id16 && !rank) {
        p->bid = right->colidx;
        return GrB_SUCCESS;
    }
    void *ids = ftb_product_own(product, ftb_new(product->ctx, nvals, p->id16 ? 2 : 4));
    if (!ids)
        return ftb_nomem();
#pragma omp parallel for num_threads(product->plan.threads)
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

/* Values of an operand as `type`, after the semiring's domain; entry t comes from from[t]. */
static GrB_Info make_values(const void **out, ftb_product *product, FtB_Matrix A, const int64_t *from,
                            FtB_Type type)
{
    FtB_Type domain = product->semiring->domain ? product->semiring->domain : A->type;
    int64_t width = A->width, n = A->pattern->nvals;
    size_t size = FtB_Type_size(type);
    *out = NULL;
    if (width == 0)
        return GrB_SUCCESS;
    const char *values = A->values->data;
    if (domain != A->type || type != A->type) {
        char *cast = ftb_new(product->ctx, n * width, 8);
        if (!cast)
            return ftb_nomem();
        ftb_cast(cast, domain, values, A->type, n * width);
        ftb_cast(cast, type, cast, domain, n * width);
        values = ftb_product_own(product, cast);
    }
    if (from) {
        size_t entry = size * (size_t)width;
        char *moved = ftb_product_own(product, ftb_new(product->ctx, n, entry));
        if (!moved)
            return ftb_nomem();
#pragma omp parallel for num_threads(product->plan.threads)
        for (int64_t e = 0; e < n; e++)
            memcpy(moved + (size_t)e * entry, values + (size_t)from[e] * entry, entry);
        values = moved;
    }
    *out = values;
    return GrB_SUCCESS;
}

/* Left entry x of row i is entry bstart[x] of the right operand, in column i: columns from i up follow. */
static GrB_Info make_starts(ftb_product *product)
{
    ftb_spgemm *p = &product->p;
    if (product->left_from) {
        p->bstart = product->left_from;
    } else {
        int64_t n = product->right->nvals;
        int64_t *start = ftb_product_own(product, ftb_new(product->ctx, n, sizeof *start));
        if (!start)
            return ftb_nomem();
        for (int64_t e = 0; e < n; e++)
            start[product->right_from[e]] = e;
        p->bstart = start;
    }
    p->skip = product->finish.drop_diagonal;
    return GrB_SUCCESS;
}

/* Codes are in the operands' order: the right ones in that of the right entries. */
static GrB_Info make_codes(ftb_product *product)
{
    ftb_spgemm *p = &product->p;
    if (!product->right_from)
        return GrB_SUCCESS;
    uint8_t *codes = ftb_product_own(product, ftb_new(product->ctx, product->right->nvals, 1));
    if (!codes)
        return ftb_nomem();
#pragma omp parallel for num_threads(product->plan.threads)
    for (int64_t e = 0; e < product->right->nvals; e++)
        codes[e] = ((const uint8_t *)p->bval)[product->right_from[e]];
    p->bval = codes;
    return GrB_SUCCESS;
}

GrB_Info ftb_product_prepare(ftb_product *product)
{
    ftb_spgemm *p = &product->p;
    GrB_Info info = make_ids(product);
    if (info == GrB_SUCCESS && p->message == FTB_MESSAGE_TABLE)
        info = make_codes(product);
    if (info == GrB_SUCCESS && product->plan.triangle)
        info = make_starts(product);
    if (info == GrB_SUCCESS && product->plan.triangle)
        ftb_product_count(product);
    if (info == GrB_SUCCESS && product->plan.hot > 0)
        info = ftb_product_hot(product);
    if (info != GrB_SUCCESS || p->message == FTB_MESSAGE_PAIR)
        return info;
    if (product->plan.mirror && product->dual_table) {
        product->dual = true;
        product->single_table = p->table;
        product->single_row = p->table_row;
        p->table = product->dual_table;
        p->table_row = product->dual_row;
        p->cell_width = 2;
    }
    if (p->message == FTB_MESSAGE_TABLE)
        return GrB_SUCCESS;
    bool times = p->message == FTB_MESSAGE_TIMES;
    info = make_values(&p->aval, product, product->A, NULL, times ? p->cell : product->message.atype);
    if (info == GrB_SUCCESS && product->A == product->B && !product->right_from)
        p->bval = p->aval;
    else if (info == GrB_SUCCESS)
        info = make_values(&p->bval, product, product->B, product->right_from,
                           times ? p->cell : product->message.btype);
    return info;
}

void ftb_product_unhalve(ftb_product *product)
{
    ftb_spgemm *p = &product->p;
    product->plan.triangle = product->plan.mirror = false;
    product->plan.hot = 0; /* the cold part is a triangle's, too */
    p->bstart = NULL;
    if (product->dual) {
        product->dual = false;
        p->table = product->single_table;
        p->table_row = product->single_row;
        p->cell_width = 1;
    }
    ftb_product_count(product);
}
