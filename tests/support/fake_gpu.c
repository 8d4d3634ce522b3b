/* Work on a GPU that does not exist (fake_gpu.h). */
#include "support/fake_gpu.h"

#include "support/check.h"

#include "core/core.h"
#include "gpu/pieces.h"
#include "support/fakes.h"
#include "support/real_gpu.h"

#include <stdlib.h>

static struct {
    int (*launches)(void), (*emulates)(void);
    const char *(*misuse)(void);
} fake;

int fake_gpu_start(void **state)
{
    (void)state;
    if (real_gpu()) {
        real_gpu_begin();
    } else {
        setenv("FEATBLAS_CUDA_DRIVER", fake_path("fake_cuda"), 1);
        setenv("FEATBLAS_NVRTC", fake_path("fake_nvrtc"), 1);
        setenv("FEATBLAS_CUBLAS", "", 0);
        setenv("FEATBLAS_CUSPARSE", "", 0);
        setenv("FEATBLAS_CACHE", "0", 1); /* what another test compiled is not counted on */
    }
    fake_find("fake_cuda", "fake_cuda_launches", &fake.launches);
    fake_find("fake_cuda", "fake_cuda_emulates", &fake.emulates);
    fake_find("fake_cuda", "fake_cuda_misuse", &fake.misuse);
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    return 0;
}

int fake_gpu_clean(void **state)
{
    (void)state;
    if (fake.misuse())
        fail_msg("%s", fake.misuse());
    return 0;
}

int fake_gpu_launches(void) { return fake.launches(); }

bool fake_gpu_emulates(void)
{
    const char *fails = getenv("FAKE_CUDA_FAILS");
    return fake.emulates() != 0 && !(fails && strcmp(fails, "cuModuleLoadData") == 0);
}

typedef struct list {
    int64_t *I, *J, n;
    bool *there;
} list;

static void add(list *l, int64_t ncols, int64_t i, int64_t j)
{
    if (l->there[i * ncols + j])
        return;
    l->there[i * ncols + j] = true;
    l->I[l->n] = i;
    l->J[l->n++] = j;
}

FtB_Matrix fake_gpu_matrix(rng *r, int64_t nrows, int64_t ncols, int64_t width, int64_t hub)
{
    const int hubs = hub > FTB_GPU_PIECE ? 2 : 1;
    const size_t most = (size_t)(nrows * 8 + 2 * hubs * hub + 1);
    list l = {malloc(most * sizeof *l.I), malloc(most * sizeof *l.J), 0,
              calloc((size_t)(nrows * ncols + 1), sizeof *l.there)};
    FtB_Matrix A;
    for (int which = 0; which < hubs; which++) {
        for (int64_t k = 0; nrows > 0 && k < hub && k < ncols; k++)
            add(&l, ncols, which ? nrows - 1 : nrows / 2, k);
        for (int64_t k = 0; k < hub && k < nrows; k++)
            add(&l, ncols, k, which ? ncols - 1 : ncols / 3);
    }
    for (int64_t i = 0; i < nrows && hub > 0; i++)
        for (int64_t few = rng_below(r, 8); few > 0; few--)
            add(&l, ncols, i, rng_below(r, ncols));
    float *w = malloc((size_t)(l.n * width + 1) * sizeof *w);
    rng_reals(r, w, FTB_FP32, l.n * width);
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, nrows, ncols, width, l.n, l.I, l.J, width ? w : NULL,
                               FTB_DUP_ERROR, NULL));
    free(l.I);
    free(l.J);
    free(l.there);
    free(w);
    return A;
}

FtB_Block fake_gpu_block(rng *r, int64_t nrows, int64_t heads, int64_t width, int64_t offset, int64_t gap,
                         bool whole)
{
    const int64_t d = heads * width, ld = offset + d + gap;
    FtB_Block all, part, X;
    assert_ok(FtB_Block_new(&all, nrows, ld, FTB_FP32));
    if (whole)
        rng_values(r, ftb_block_data(all), FTB_FP32, nrows * ld);
    else
        rng_reals(r, ftb_block_data(all), FTB_FP32, nrows * ld);
    assert_ok(FtB_Block_columns(&part, all, offset, d));
    assert_ok(FtB_Block_heads(&X, part, heads));
    FtB_Block_free(&part);
    FtB_Block_free(&all);
    return X;
}

FtB_Block fake_gpu_wide(FtB_Block X)
{
    FtB_Block flat, W;
    const float *x = block_values(X);
    assert_ok(FtB_Block_new(&flat, X->nrows, X->ncols, FTB_FP64));
    double *to = block_values(flat);
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            to[i * flat->ld + f] = x[i * X->ld + f];
    assert_ok(FtB_Block_heads(&W, flat, X->heads));
    FtB_Block_free(&flat);
    return W;
}

FtB_Matrix fake_gpu_wide_matrix(FtB_Matrix A)
{
    FtB_Matrix W;
    const float *from = matrix_values(A);
    assert_ok(FtB_Matrix_like(&W, A, A->width, FTB_FP64));
    double *to = matrix_values(W);
    for (int64_t k = 0; k < A->pattern->nvals * A->width; k++)
        to[k] = from[k];
    return W;
}
