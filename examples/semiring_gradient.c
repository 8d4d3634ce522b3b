/* A semiring of one's own and its gradient, which the library derives from the text: gated messages
 * "plus : sigmoid(gain * edge) * tanh(src * dst)", checked by moving every input a little. */
#include "example.h"

#include <math.h>

enum { N = 6, E = 9, D = 3 };

static double x[N * D], y[N * D], w[E], h[N * D], r[N * D]; /* the loss is the sum of r h */
static FtB_Matrix A, dA;
static FtB_Block X, Y, H, R, dX, dY;
static FtB_Semiring gated, bound;

static double loss(double *moved, double by)
{
    double sum = 0, before = *moved;
    *moved += by;
    OK(FtB_mxm(H, NULL, NULL, bound, A, X, NULL));
    *moved = before;
    for (int t = 0; t < N * D; t++)
        sum += h[t] * r[t];
    return sum;
}

static void check(double *input, int count, const double *gradient)
{
    for (int t = 0; t < count; t++)
        CHECK(fabs((loss(&input[t], 1e-5) - loss(&input[t], -1e-5)) / 2e-5 - gradient[t]) < 1e-8);
}

int main(void)
{
    const int64_t rowptr[N + 1] = {0, 2, 3, 3, 5, 7, 9};
    const int32_t to[E] = {1, 4, 0, 2, 5, 3, 4, 0, 1};
    double dx[N * D], dy[N * D], *const memory[] = {x, y, h, r, dx, dy};
    FtB_Block *const blocks[] = {&X, &Y, &H, &R, &dX, &dY};
    const void *dw;
    for (int b = 0; b < 6; b++)
        OK(FtB_Block_wrap(blocks[b], memory[b], N, D, D, FTB_FP64));
    for (int t = 0; t < 4 * N * D; t++) /* x, y, h, r, and w */
        memory[t / N / D][t % (N * D)] = w[t % E] = sin(t);
    OK(FtB_Matrix_wrap_csr(&A, FTB_FP64, N, N, 1, rowptr, to, w));
    OK(FtB_Matrix_like(&dA, A, 1, FTB_FP64));
    OK(FtB_Semiring_new(&gated, "plus : sigmoid(gain * edge) * tanh(src * dst)"));
    OK(FtB_Semiring_bind(&bound, gated, FTB_BIND("dst", Y), FTB_BIND("gain", 1.5)));
    OK(FtB_mxm_grad(R, bound, A, X, NULL, NULL, NULL, FTB_GRAD("src", dX), FTB_GRAD("dst", dY),
                    FTB_GRAD("edge", dA)));
    OK(FtB_Matrix_csr(dA, NULL, NULL, &dw));
    check(x, N * D, dx);
    check(y, N * D, dy);
    check(w, E, dw);
    for (int b = 0; b < 6; b++)
        OK(FtB_Block_free(blocks[b]));
    OK(FtB_Matrix_free(&A));
    OK(FtB_Matrix_free(&dA));
    OK(FtB_Semiring_free(&gated));
    OK(FtB_Semiring_free(&bound));
    return 0;
}
