/* What docs/sampling.md's fragments take for granted. */
#include "common.h"

enum { n = 6, count = 4, nseeds = 2, h = 1 };
static float features[n * 64];
static FtB_Matrix A, S;
static FtB_Block X, Xs, Hs;
static FtB_Sample hop;
static int64_t targets;
static const int64_t rows[count] = {3, 0, 3, 5}, seeds[nseeds] = {1, 4};

static void before(void)
{
    A = ring(n);
    OK(FtB_Block_wrap(&X, features, n, 64, 64, FTB_FP32));
    OK(FtB_Matrix_new(&S, FTB_FP32, count, n, 1));
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
