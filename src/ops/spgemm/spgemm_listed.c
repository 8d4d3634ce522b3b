/* Operands of products that list their rows (core/hypersparse.h), as ordinary ones: A's rows that have
 * entries, of which those go that meet no row of B's, and whose columns become places in B's list. Rows of
 * the result have A's numbers; names of the message that are indices are translated where messages are made
 * (cpu/spgemm_batch.c). Only columns of B are not listed yet: ftb_product_compact does that. */
#include "ops/spgemm/spgemm.h"

/* The degrees of left's rows as they are in A, for texts that read di. */
static GrB_Info note_degrees(ftb_spgemm_product *product)
{
    const ftb_pattern *left = product->left;
    int64_t *degree = ftb_arena_new(&product->arena, left->nrows, sizeof *degree);
    if (!degree)
        return ftb_nomem();
    for (int64_t r = 0; r < left->nrows; r++)
        degree[r] = left->rowptr[r + 1] - left->rowptr[r];
    product->rows.degree = degree;
    return GrB_SUCCESS;
}

/* left becomes one whose columns are rows of right. */
static GrB_Info join(ftb_spgemm_product *product)
{
    ftb_pattern *left = product->left, *right = product->right, *both = NULL;
    const bool wide = ftb_col_size(right->nrows) == 8;
    FtB_Context ctx = product->ctx;
    ftb_buffer *rowptr = ftb_buffer_new(ctx, left->nrows + 1, sizeof(int64_t)), *colidx = NULL;
    int64_t *places = ftb_new(ctx, left->nvals, sizeof *places), *from = NULL;
    GrB_Info info = GrB_SUCCESS;
    if (!rowptr || !places)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(note_degrees(product));
    if (left->numbers)
        FTB_CHECK(ftb_pattern_both(left, &both));
    FTB_CHECK(ftb_join_find(left, both, right, places, ftb_buffer_data(rowptr)));
    const int64_t nvals = ((const int64_t *)ftb_buffer_data(rowptr))[left->nrows];
    colidx = ftb_buffer_new(ctx, nvals, ftb_col_size(right->nrows));
    from = ftb_arena_new(&product->arena, nvals, sizeof *from);
    if (!colidx || !from)
        FTB_CHECK(ftb_nomem());
    ftb_join_keep(ftb_buffer_data(colidx), wide, from, places, product->left_from, left->nvals);
    ftb_pattern *joined = ftb_pattern_new(ctx, left->nrows, right->nrows, ftb_buffer_retain(rowptr), colidx);
    colidx = NULL;
    if (!(joined = ftb_pattern_number_as(joined, left)))
        FTB_CHECK(ftb_nomem());
    joined->multi = left->multi;
    ftb_pattern_release(left);
    product->left = joined;
    product->left_from = from;
done:
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    ftb_delete(places);
    return info;
}

/* *p becomes the rows that it lists. */
static void take_listed(ftb_pattern **p)
{
    ftb_pattern *listed = ftb_pattern_retain((*p)->listed);
    ftb_pattern_release(*p);
    *p = listed;
}

GrB_Info ftb_product_list(ftb_spgemm_product *product, ftb_listed listed)
{
    const bool right = listed == FTB_LISTED_BOTH && product->right->listed;
    GrB_Info info = listed == FTB_LISTED_NONE ? ftb_pattern_all_rows(product->left, "A") : GrB_SUCCESS;
    if (info == GrB_SUCCESS && listed < FTB_LISTED_BOTH)
        info = ftb_pattern_all_rows(product->right, "B");
    if (info != GrB_SUCCESS)
        return info;
    if (listed != FTB_LISTED_NONE && product->left->listed)
        take_listed(&product->left);
    if (!right)
        return GrB_SUCCESS;
    take_listed(&product->right);
    return join(product);
}

GrB_Info ftb_product_mask(ftb_spgemm_product *product, FtB_Matrix M)
{
    const ftb_pattern *left = product->left;
    if (!left->numbers) {
        product->mask = M;
        return ftb_pattern_all_rows(M->pattern, "M");
    }
    GrB_Info info = ftb_matrix_at_rows(&product->own_mask, M, left->numbers_owner, left->nrows);
    product->mask = product->own_mask;
    return info;
}
