/* Dropout over threads, chunk after chunk of the values in row-major order (dropout_run.h). */
#include "cpu/nn/dropout_run.h"

#include "cpu/kernels/dropout.h"
#include "cpu/kernels/rows.h"

#include <math.h>

#define CHUNK (8 * FTB_DROPOUT_BLOCK) /* values between two looks at how rows lie */

GrB_Info ftb_dropout_run(const ftb_dropout_product *p)
{
    const int64_t count = p->nrows * p->ncols, chunks = (count + CHUNK - 1) / CHUNK;
    const size_t size = FtB_Type_size(p->type);
    const uint32_t threshold = (uint32_t)lrint(p->probability * 65536);
    const float keep = (float)(1 / (1 - threshold / 65536.0));
    const bool flat = p->ldy == p->ncols && p->ldx == p->ncols;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, count))
    for (int64_t c = 0; c < chunks; c++) {
        float factor[CHUNK];
        int64_t first = c * CHUNK, end = ftb_min(count, first + CHUNK);
        for (int64_t k = first; k < end; k += FTB_DROPOUT_BLOCK)
            FTB_PICK(ftb_dropout_factors)
        (factor + (k - first), p->seed, (uint64_t)(k / FTB_DROPOUT_BLOCK), threshold, keep);
        for (int64_t k = first; k < end;) {
            int64_t i = k / p->ncols, j = k % p->ncols, run = flat ? end - k : ftb_min(end - k, p->ncols - j);
            FTB_PICK_REAL(ftb_row_scale, p->type)
            ((char *)p->y + (size_t)(i * p->ldy + j) * size,
             (const char *)p->x + (size_t)(i * p->ldx + j) * size, factor + (k - first), run, p->add);
            k += run;
        }
    }
    return GrB_SUCCESS;
}
