/* What docs/vectors.md's fragments take for granted. */
#include <GraphBLAS.h>

#include "common.h"

enum { n = 40, source = 3 };
static FtB_Matrix A, B, C, R;
static int64_t nvals;
static float x;
static FtB_Vector v, u, w, frontier, next, seen, level, small;
static FtB_Block X;
static GrB_Vector G;

static void before(void)
{
    const int64_t at = 3;
    const float one = 1;
    A = ring(n);
    OK(FtB_Vector_build(&u, FTB_FP32, n, 1, &at, &one, FTB_DUP_ERROR));
    OK(FtB_Vector_new(&w, FTB_FP32, n));
    OK(FtB_Vector_new(&frontier, FTB_BOOL, n));
    OK(FtB_Vector_new(&next, FTB_BOOL, n));
    OK(FtB_Vector_new(&seen, FTB_BOOL, n));
    OK(FtB_Vector_new(&level, FTB_INT32, n));
    OK(FtB_Vector_new(&small, FTB_FP32, 3));
    OK(FtB_Matrix_new(&B, FTB_FP32, 2, 2, 1));
    OK(FtB_Matrix_new(&C, FTB_FP32, 3, 2, 1));
    OK(FtB_Matrix_new(&R, FTB_FP32, 1, n, 1));
    OK(FtB_Block_new(&X, n, 1, FTB_FP32));
    OK(FtB_Vector_build(&v, FTB_FP32, n, 1, &at, &one, FTB_DUP_ERROR));
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
