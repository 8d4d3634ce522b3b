/* What docs/gradients.md's fragments take for granted. */
#include "common.h"

enum { n = 6 };
static FtB_Matrix A;
static FtB_Block X, W, H, E, dH, dX, dW;
static FtB_Semiring s, mlp;

static void closeness(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                      const void *theta)
{
    (void)dst, (void)width;
    z[0] = expf(-fabsf(src[0] - edge[0]) / *(const float *)theta);
}

static void before(void)
{
    static const float theta = 1;
    A = ring(n);
    OK(FtB_Block_new(&X, n, 8, FTB_FP32));
    OK(FtB_Block_new(&W, 8, 5, FTB_FP32));
    OK(FtB_Block_new(&H, n, 5, FTB_FP32));
    OK(FtB_Block_new(&E, n, 5, FTB_INT64));
    OK(FtB_Block_new(&dH, n, 5, FTB_FP32));
    OK(FtB_Block_new(&dX, n, 8, FTB_FP32));
    OK(FtB_Block_new(&dW, 8, 5, FTB_FP32));
    OK(FtB_Semiring_new_function(&s, "plus", closeness, 1, &theta));
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
