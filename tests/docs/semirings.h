/* What docs/semirings.md's fragments take for granted. */
#include "common.h"

enum { n = 6 };
static FtB_Matrix A, B, C;
static FtB_Block N, X, H, attention;
static FtB_Semiring s, bound;
static const float theta = 1;

static void before(void)
{
    A = ring(n);
    B = ring(n);
    OK(FtB_Matrix_new(&C, FTB_FP64, n, n, 1));
    OK(FtB_Block_new(&X, n, 8, FTB_FP32));
    OK(FtB_Block_new(&H, n, 1, FTB_FP32));
    OK(FtB_Block_new(&attention, 1, 8, FTB_FP32));
    OK(FtB_Block_new(&N, n, 1, FTB_FP32));
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
