#include "support/tapes.h"

#include "support/check.h"
#include "support/gradients.h"

FtB_Matrix small_graph(void)
{
    const int64_t from[SMALL_ENTRIES] = {0, 0, 0, 0, 0, 1, 2, 3, 4, 6, 6},
                  to[SMALL_ENTRIES] = {1, 2, 3, 4, 6, 0, 0, 3, 1, 4, 5};
    FtB_Matrix A = NULL;
    FtB_Matrix_build(&A, FTB_FP64, SMALL_VERTICES, SMALL_VERTICES, 0, SMALL_ENTRIES, from, to, NULL,
                     FTB_DUP_ERROR, NULL);
    return A;
}

FtB_Block drawn_block(int64_t nrows, int64_t ncols, FtB_Type type, uint64_t seed)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, nrows, ncols, type));
    fill_random(X, seed);
    return X;
}

FtB_Parameter drawn_parameter(const char *name, int64_t nrows, int64_t ncols, FtB_Type type, uint64_t seed)
{
    FtB_Parameter p;
    FtB_Block X;
    assert_ok(FtB_Parameter_new(&p, name, nrows, ncols, type));
    assert_ok(FtB_Parameter_value(&X, p));
    fill_random(X, seed);
    FtB_Block_free(&X);
    return p;
}
