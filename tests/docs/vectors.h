/* What docs/vectors.md's fragments take for granted. */
#include <GraphBLAS.h>

#include "common.h"

enum { n = 40 };
static FtB_Vector v, u, w;
static FtB_Block X;
static GrB_Vector G;

static void before(void)
{
    const int64_t at = 3;
    const float one = 1;
    OK(FtB_Block_new(&X, n, 1, FTB_FP32));
    OK(FtB_Vector_build(&v, FTB_FP32, n, 1, &at, &one, FTB_DUP_ERROR));
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
