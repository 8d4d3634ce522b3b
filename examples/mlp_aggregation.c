/* MLP aggregation (Wang et al., FeatGraph): H(i,:) = max over the neighbours j of relu((x_j + x_i) W). The
 * text is the formula; the library sees that two products of X and W will do, instead of one for every edge.
 */
#include "example.h"

#include <math.h>

enum { N = 40, E = 3 * N, D1 = 8, D2 = 16 };

int main(void)
{
    int64_t from[E], to[E];
    float x[N][D1], w[D1][D2], h[N][D2];
    for (int e = 0; e < E; e++) {
        from[e] = e / 3;
        to[e] = (e / 3 + 1 + e % 3 * 7) % N;
    }
    for (int i = 0; i < N; i++)
        for (int p = 0; p < D1; p++)
            x[i][p] = sinf((float)(3 * i + p));
    for (int p = 0; p < D1; p++)
        for (int f = 0; f < D2; f++)
            w[p][f] = cosf((float)(5 * p + f));

    FtB_Matrix A;
    FtB_Block X, W, H;
    FtB_Semiring mlp, bound;
    OK(FtB_Matrix_build(&A, FTB_FP32, N, N, 0, E, from, to, NULL, FTB_DUP_ERROR, NULL));
    OK(FtB_Block_wrap(&X, x, N, D1, D1, FTB_FP32));
    OK(FtB_Block_wrap(&W, w, D1, D2, D2, FTB_FP32));
    OK(FtB_Block_wrap(&H, h, N, D2, D2, FTB_FP32));
    OK(FtB_Semiring_new(&mlp, "max : relu((src + dst) @ W)"));
    OK(FtB_Semiring_bind(&bound, mlp, FTB_BIND("dst", X), FTB_BIND("W", W)));
    OK(FtB_Semiring_explain(bound, stdout));
    OK(FtB_mxm(H, NULL, NULL, bound, A, X, NULL));

    for (int i = 0; i < N; i++)
        for (int f = 0; f < D2; f++) {
            double most = 0;
            for (int e = 3 * i; e < 3 * i + 3; e++) {
                double sum = 0;
                for (int p = 0; p < D1; p++)
                    sum += ((double)x[to[e]][p] + (double)x[i][p]) * (double)w[p][f];
                most = fmax(most, sum);
            }
            CHECK(fabs((double)h[i][f] - most) < 1e-4);
        }
    OK(FtB_Semiring_free(&mlp));
    OK(FtB_Semiring_free(&bound));
    OK(FtB_Matrix_free(&A));
    FtB_Block *const blocks[] = {&X, &W, &H};
    for (int b = 0; b < 3; b++)
        OK(FtB_Block_free(blocks[b]));
    return 0;
}
