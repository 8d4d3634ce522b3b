/* What docs/blocks.md's fragments take for granted. */
#include "common.h"

enum { n = 6, count = 4 };
static float features[n * 64];
static FtB_Matrix A, T;
static FtB_Block X, X8, H, left, bias, scale, s, t, d, Y, Q, K, V;
static FtB_Matrix S;
static FtB_Descriptor desc;
static const int64_t rows[count] = {3, 0, 3, 5};

static void before(void)
{
    A = ring(n);
    OK(FtB_Block_wrap(&X, features, n, 64, 64, FTB_FP32));
    OK(FtB_Block_heads(&X8, X, 8));
    OK(FtB_Block_new(&H, n, 64, FTB_FP32));
    OK(FtB_Block_new(&bias, 1, 64, FTB_FP32));
    OK(FtB_Block_new(&scale, n, 1, FTB_FP32));
    OK(FtB_Block_new(&s, n, 1, FTB_FP32));
    OK(FtB_Block_new(&t, 1, 64, FTB_FP32));
    OK(FtB_Block_new(&d, n, 1, FTB_FP32));
    OK(FtB_Block_new(&Y, count, 64, FTB_FP32));
    OK(FtB_Block_new(&V, n, 64, FTB_FP32));
    OK(FtB_Block_new(&Q, n, 16, FTB_FP32));
    OK(FtB_Block_new(&K, n, 16, FTB_FP32));
    OK(FtB_Matrix_new(&T, FTB_FP32, n, n, 1));
    OK(FtB_Matrix_new(&S, FTB_FP32, n, n, 8));
    OK(FtB_Descriptor_new(&desc));
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
