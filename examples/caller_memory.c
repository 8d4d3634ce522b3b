/* Blocks over memory that the caller owns: a layer of features inside rows that also hold something else. */
#include "example.h"

enum { N = 5, D = 4 };

typedef struct vertex { /* the caller's own layout: 4 features in a row of 6 floats */
    float x[D];
    float degree;
    float mark;
} vertex;

int main(void)
{
    vertex v[N];
    float bias[D] = {0, 1, 0, -1}, length[N];
    for (int i = 0; i < N; i++)
        v[i] = (vertex){{(float)i, 1, -1, 2}, (float)(i + 1), (float)(i % 2)};

    /* Nothing is copied: 6 floats lead from a row to the next. The bias must not be written. */
    FtB_Block all, X, degree, mark, b, L;
    OK(FtB_Block_wrap(&all, v, N, 6, 6, FTB_FP32));
    OK(FtB_Block_columns(&X, all, 0, D));
    OK(FtB_Block_columns(&degree, all, D, 1));
    OK(FtB_Block_columns(&mark, all, D + 1, 1));
    OK(FtB_Block_wrap_const(&b, bias, 1, D, D, FTB_FP32));
    OK(FtB_Block_wrap(&L, length, N, 1, 1, FTB_FP32));
    OK(FtB_Block_free(&all)); /* its views live on */

    /* In place, in rows whose mark is set only: x / degree, then + bias in every row, then relu. */
    OK(FtB_eWiseMult(X, mark, NULL, "x / y", X, degree, NULL));
    OK(FtB_eWiseAdd(X, NULL, NULL, "relu(x + y)", X, b, NULL));
    OK(FtB_apply(L, NULL, NULL, "sqrt(dot(x, x))", X, NULL));

    for (int i = 0; i < N; i++) {
        float square = 0;
        for (int f = 0; f < D; f++) {
            const float start[D] = {(float)i, 1, -1, 2};
            float y = (i % 2 ? start[f] / (float)(i + 1) : start[f]) + bias[f];
            y = y > 0 ? y : 0;
            CHECK(v[i].x[f] == y);
            square += y * y;
        }
        CHECK(v[i].degree == (float)(i + 1) && v[i].mark == (float)(i % 2)); /* not ours, not touched */
        CHECK(length[i] * length[i] > 0.999f * square && length[i] * length[i] < 1.001f * square);
        printf("vertex %d: %g %g %g %g, length %g\n", i, (double)v[i].x[0], (double)v[i].x[1],
               (double)v[i].x[2], (double)v[i].x[3], (double)length[i]);
    }
    CHECK(FtB_apply(b, NULL, NULL, "x + 1", b, NULL) == GrB_INVALID_VALUE); /* refused */
    FtB_Block *const blocks[] = {&X, &degree, &mark, &b, &L};
    for (int n = 0; n < 5; n++)
        OK(FtB_Block_free(blocks[n]));
    return 0;
}
