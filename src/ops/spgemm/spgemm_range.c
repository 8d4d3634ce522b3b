/* Whether whole numbers of a product may leave their 64 bits and wrap: bounds of the values, of the messages
 * made of them, of sums of as many messages as the longest row can meet, of what epilogue and filter make of
 * these. A named weight is carried in FP64 then; a text keeps the types that it documents, and the plan says
 * so. */
#include "cpu/scan_run.h"
#include "ops/spgemm/spgemm.h"

#include <math.h>

static ftb_range up_to(double most) { return (ftb_range){0, fmax(most, 0)}; }

static ftb_range values_of(FtB_Matrix A, int threads)
{
    return A->width == 0 ? (ftb_range){1, 1}
                         : ftb_scan_range(ftb_values(A), A->type, A->pattern->nvals * A->width, threads);
}

/* Of the names of a message; those of reals do not matter. */
static void name_ranges(const ftb_spgemm_product *product, ftb_range *ranges)
{
    const ftb_sparse_message *m = &product->message;
    const int threads = ftb_threads(product->ctx);
    const struct {
        int name;
        double most;
    } counts[] = {{FTB_NAME_I, (double)ftb_rows_in_all(product->left) - 1},
                  {FTB_NAME_J, (double)product->right->ncols - 1},
                  {FTB_NAME_K, (double)ftb_rows_in_all(product->right) - 1},
                  {FTB_NAME_DI, (double)product->left->nvals},
                  {FTB_NAME_DJ, (double)product->right->nvals},
                  {FTB_NAME_DK, (double)product->right->nvals},
                  {FTB_NAME_NROWS, (double)product->finish.nrows},
                  {FTB_NAME_NCOLS, (double)product->finish.ncols}};
    for (size_t t = 0; t < sizeof counts / sizeof *counts; t++)
        if (m->index[counts[t].name] >= 0)
            ranges[m->index[counts[t].name]] = up_to(counts[t].most);
    ftb_range a = m->used[FTB_NAME_A] ? values_of(product->A, threads) : up_to(0);
    ranges[m->index[FTB_NAME_A]] = a;
    if (m->used[FTB_NAME_B])
        ranges[m->index[FTB_NAME_B]] =
            m->used[FTB_NAME_A] && product->A == product->B ? a : values_of(product->B, threads);
    if (m->used[FTB_NAME_M])
        ranges[m->index[FTB_NAME_M]] = values_of(product->mask, threads);
    for (int n = 0; n < m->count; n++) /* bound scalars */
        if (m->names[n].constant)
            ranges[n] = ftb_range_of(m->fixed[n].data, FTB_INT64, 1);
}

/* Of h, from that of one message. */
static ftb_range reduced(const ftb_spgemm_product *product, ftb_range x)
{
    double most = ftb_product_most_messages(product), magnitude = fmax(fabs(x.least), fabs(x.most));
    if (product->reducer.monoid == FTB_PLUS)
        return (ftb_range){fmin(x.least * most, 0), fmax(x.most * most, 0)};
    if (product->reducer.monoid != FTB_TIMES || magnitude <= 1)
        return x;
    magnitude = pow(magnitude, most);
    return (ftb_range){x.least < 0 ? -magnitude : 0, magnitude};
}

GrB_Info ftb_product_range(ftb_spgemm_product *product)
{
    ftb_sparse_message *m = &product->message;
    ftb_range names[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM];
    bool wraps = false;
    product->facts.wraps = NULL;
    if (product->semiring->domain) /* a built-in of GraphBLAS's wraps by definition */
        return GrB_SUCCESS;
    for (int n = 0; n < m->count; n++)
        names[n] = up_to(0);
    name_ranges(product, names);
    GrB_Info info = ftb_program_range(m->program, names, FTB_ROW_H7, product->h, &wraps);
    if (wraps)
        product->facts.wraps = "messages";
    if (!ftb_type_integer(product->sum_type))
        return info;
    for (int c = 0; c <= FTB_ROW_H7; c++)
        product->h[c] = reduced(product, product->h[c]);
    if (!wraps && !ftb_range_fits(product->h[FTB_ROW_H], product->sum_type))
        product->facts.wraps = "sums";
    return info;
}
