/* Calls of sparse vectors (vector_calls.h). */
#include <GraphBLAS.h>

#include "support/check.h"

#include "support/planned.h"
#include "support/some_vectors.h"

#include "support/vector_calls.h"
#include <stdlib.h>

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

/* Each way, with a mask and an accumulator. */
void vector_products(FtB_Matrix A)
{
    static const char *const ways[] = {"push", "pull", "all"};
    int64_t n;
    rng r = {6};
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    for (int way = 0; way < 3; way++) {
        FtB_Vector u = rng_vector(&r, FTB_FP32, n, way == 2 ? 2 : 0.5), w = rng_vector(&r, FTB_FP32, n, 0.5);
        FtB_Plan plan;
        FtB_Descriptor desc;
        assert_ok(FtB_mxm_plan(&plan, w, w, "x + y", "min : a + b", A, u, NULL, FTB_ESTIMATE));
        assert_ok(FtB_Plan_set(plan, "way", ways[way]));
        assert_ok(planned_descriptor(&desc, NULL, plan));
        assert_ok(FtB_mxv(w, w, "x + y", "min : a + b", A, u, desc));
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
        FtB_Vector_free(&u);
        FtB_Vector_free(&w);
    }
}

/* Extract, assign and transpose. */
void vector_parts(FtB_Matrix A)
{
    rng r = {7};
    FtB_Vector u = rng_vector(&r, FTB_FP32, SIZE, 0.4), w = rng_vector(&r, FTB_FP32, SIZE, 0.4);
    FtB_Matrix B;
    int64_t n, some[1000], *places = malloc(SIZE * sizeof *places);
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    for (int64_t t = 0; t < 1000; t++)
        some[t] = (t * 7) % n;
    for (int64_t t = 0; t < SIZE; t++)
        places[t] = SIZE - 1 - t;
    const FtB_Ids few = FtB_Ids_of(some, 1000), all = FtB_Ids_of(places, SIZE);
    assert_ok(FtB_Matrix_new(&B, FTB_FP64, 1000, 1000, 1));
    assert_ok(FtB_extract(B, NULL, NULL, A, few, few, NULL));
    FtB_Matrix_free(&B);
    assert_ok(FtB_Matrix_dup(&B, A));
    assert_ok(FtB_assign(B, NULL, "x + y", A, NULL, NULL, NULL));
    assert_ok(FtB_assign(B, NULL, NULL, 1, few, few, NULL));
    assert_ok(FtB_transpose(B, A, "x + y", A, NULL));
    assert_ok(FtB_extract(w, NULL, NULL, u, all, NULL, NULL));
    assert_ok(FtB_assign(w, u, "x + y", u, all, NULL, NULL));
    assert_ok(FtB_assign(w, u, NULL, 2, NULL, NULL, NULL));
    FtB_Matrix_free(&B);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
    free(places);
}

/* Entry by entry: lists that are long enough, and a bitmap. */
void vector_elementwise(FtB_Matrix A)
{
    rng r = {8};
    FtB_Vector few = rng_vector(&r, FTB_FP32, SIZE, 0.06), many = rng_vector(&r, FTB_FP32, SIZE, 0.6), w, y;
    int64_t n;
    float sum;
    assert_ok(FtB_Vector_new(&w, FTB_FP64, SIZE));
    assert_ok(FtB_apply(w, few, "x + y", "x * 2", many, NULL));
    assert_ok(FtB_select(w, NULL, NULL, "x > 1", many, NULL));
    assert_ok(FtB_eWiseMult(w, NULL, NULL, "x * y", few, few, NULL));
    assert_ok(FtB_eWiseAdd(w, many, "x + y", "x * y", few, many, NULL));
    assert_ok(FtB_reduce_scalar(&sum, FTB_FP32, "plus", many));
    assert_ok(FtB_Matrix_shape(A, &n, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Vector_new(&y, FTB_FP64, n));
    assert_ok(FtB_reduce(y, NULL, NULL, "plus", A, NULL));
    FtB_Vector_free(&few);
    FtB_Vector_free(&many);
    FtB_Vector_free(&w);
    FtB_Vector_free(&y);
}
