/* Steps of optimisers over threads, piece after piece of a parameter (update_run.h). Updates are independent
 * value by value, and a norm is the sum of its pieces in their order: bits do not depend on threads. */
#include "cpu/nn/update_run.h"

#include "cpu/kernels/update.h"

#define PIECE 16384 /* values; part of the bits of a norm */

static void *behind(void *values, int64_t begin, FtB_Type type)
{
    return values ? (char *)values + (size_t)begin * FtB_Type_size(type) : NULL;
}

static void update(const ftb_update_product *p, int64_t begin, int64_t count)
{
    void *values = behind(p->values, begin, p->type), *first = behind(p->first, begin, p->type),
         *second = behind(p->second, begin, p->type);
    const void *gradient = (const char *)p->gradient + (size_t)begin * FtB_Type_size(p->type);
    if (p->adam)
        FTB_PICK_REAL(ftb_update_adam, p->type)(&p->how, values, gradient, first, second, count);
    else
        FTB_PICK_REAL(ftb_update_sgd, p->type)(&p->how, values, gradient, first, count);
}

GrB_Info ftb_update_run(const ftb_update_product *p)
{
    const int64_t pieces = (p->count + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, p->count))
    for (int64_t piece = 0; piece < pieces; piece++)
        update(p, piece * PIECE, ftb_min(PIECE, p->count - piece * PIECE));
    return GrB_SUCCESS;
}

GrB_Info ftb_sum_squares_run(const ftb_sum_squares_product *p)
{
    const int64_t pieces = (p->count + PIECE - 1) / PIECE;
    double total = 0, *sums = ftb_new(p->ctx, pieces, sizeof *sums);
    if (!sums)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, p->count))
    for (int64_t piece = 0; piece < pieces; piece++) {
        const int64_t begin = piece * PIECE;
        const char *from = (const char *)p->gradient + (size_t)begin * FtB_Type_size(p->type);
        sums[piece] =
            FTB_PICK_REAL(ftb_sum_squares, p->type)(from, ftb_min(PIECE, p->count - begin), p->clip);
    }
    for (int64_t piece = 0; piece < pieces; piece++)
        total += sums[piece];
    *(double *)p->sum = total;
    ftb_delete(sums);
    return GrB_SUCCESS;
}
