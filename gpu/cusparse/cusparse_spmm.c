/* Sparse x block by cuSPARSE (cusparse_spmm.h): C = A X, or C = A X + C, of row-major blocks; where entries
 * have no weights, these are ones.
 *
 * By its documentation CSR_ALG3 gives the same bits at every run, of a matrix that is not transposed, and the
 * others need not: who may use them the plan knows (plan/rule_gpu_spmm.c). */
#include "gpu/cusparse/cusparse_spmm.h"

#include "gpu/cusparse/cusparse.h"

#include <limits.h>

static const unsigned algorithms[FTB_GPU_SPARSE_ALGORITHMS] = {
    [FTB_GPU_SPARSE_DEFAULT] = FTB_CUSPARSE_SPMM_DEFAULT,
    [FTB_GPU_SPARSE_CSR_ALG1] = FTB_CUSPARSE_SPMM_CSR_ALG1,
    [FTB_GPU_SPARSE_CSR_ALG2] = FTB_CUSPARSE_SPMM_CSR_ALG2,
    [FTB_GPU_SPARSE_CSR_ALG3] = FTB_CUSPARSE_SPMM_CSR_ALG3};

bool ftb_gpu_cusparse_spmm_fits(const ftb_spmm_product *s)
{
    const bool copy = s->form == FTB_FORM_COPY;
    return s->kind.type == FTB_FP32 && s->stored == FTB_FP32 && !s->kind.best && !s->mean && !s->rows &&
           !s->p->wide && s->p->nvals > 0 && s->p->nvals <= INT_MAX && s->p->nrows < INT_MAX &&
           (copy || (s->form == FTB_FORM_MUL && s->ystored == FTB_FP32 && s->yheads == 1 && s->ywidth == 1 &&
                     s->ldy == 1 && !s->at));
}

static const char kind_of_ones; /* its address names what is made here */

static GrB_Info make_ones(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    (void)arg;
    to->buffers[0] = ftb_buffer_new(p->ctx, p->nvals, sizeof(float));
    if (!to->buffers[0])
        return ftb_nomem();
    float *ones = ftb_buffer_data(to->buffers[0]);
    for (int64_t e = 0; e < p->nvals; e++)
        ones[e] = 1;
    return GrB_SUCCESS;
}

static GrB_Info values_ask(void **values, ftb_gpu_device *d, const ftb_spmm_product *s)
{
    const ftb_derived *of;
    *values = (void *)(uintptr_t)s->y;
    if (s->form != FTB_FORM_COPY)
        return GrB_SUCCESS;
    const GrB_Info info = ftb_derived_ask(&of, s->p, &kind_of_ones, 0, make_ones, NULL);
    return info == GrB_SUCCESS ? ftb_buffer_ask_at(of->buffers[0], &d->row, FTB_READ, values) : info;
}

GrB_Info ftb_gpu_cusparse_spmm(ftb_gpu_device *d, const ftb_spmm_product *s,
                               ftb_gpu_sparse_algorithm algorithm)
{
    const int64_t features = s->heads * s->width;
    ftb_gpu_sparse_product product = {
        .ctx = s->ctx,
        .p = s->p,
        .left = {.nrows = s->p->ncols, .ncols = features, .ld = s->ldx, .at = (void *)(uintptr_t)s->x},
        .right = {.nrows = s->p->nrows, .ncols = features, .ld = s->ldo, .at = s->out},
        .algorithm = algorithms[algorithm],
        .alpha = 1,
        .beta = s->add ? 1 : 0};
    const GrB_Info info = values_ask(&product.values, d, s);
    return info == GrB_SUCCESS ? ftb_gpu_cusparse_run(d, &product) : info;
}
