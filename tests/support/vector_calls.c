/* Calls of sparse vectors (vector_calls.h). */
#include <GraphBLAS.h>

#include "support/vector_calls.h"

#include "support/check.h"
#include "support/vectors.h"

enum { SIZE = 300000 };

void vector_objects(void)
{
    rng r = {5};
    FtB_Vector few = rng_vector(&r, FTB_FP32, SIZE, 0.05), many = rng_vector(&r, FTB_FP32, SIZE, 0.5), copy;
    FtB_Block X;
    GrB_Vector G;
    FtB_Vector *const all[] = {&few, &many};
    assert_ok(FtB_Block_new(&X, SIZE, 1, FTB_FP64));
    for (int v = 0; v < 2; v++) {
        assert_ok(FtB_Vector_dup(&copy, *all[v]));
        assert_ok(FtB_Vector_to_block(X, copy, 1));
        FtB_Vector_free(&copy);
        assert_ok(FtB_Vector_export(&G, *all[v]));
        assert_ok(FtB_Vector_import(&copy, G));
        assert_same_vector(copy, *all[v]);
        FtB_Vector_free(&copy);
        GrB_Vector_free(&G);
    }
    assert_ok(FtB_Vector_from_block(&copy, X));
    FtB_Vector_free(&copy);
    FtB_Vector_free(&few);
    FtB_Vector_free(&many);
    FtB_Block_free(&X);
}
