/* One layer of a graph convolutional network (Kipf and Welling 2017) without its dense product:
 * H = D^-1/2 A D^-1/2 X, where the degrees are read off the matrix and nothing is stored per edge. */
#include "example.h"

#include <math.h>

enum { N = 6, E = 12, D = 3 };

int main(void)
{
    /* A path of 6 vertices with a chord 1 - 4, both ways. */
    const int64_t from[E] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 1, 4},
                  to[E] = {1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 4, 1};
    float features[N][D], result[N][D];
    int degree[N] = {0};
    for (int i = 0; i < N; i++)
        for (int f = 0; f < D; f++)
            features[i][f] = (float)(i - f);
    for (int e = 0; e < E; e++)
        degree[from[e]]++;

    FtB_Matrix A;
    FtB_Block X, H;
    OK(FtB_Matrix_build(&A, FTB_FP32, N, N, 0, E, from, to, NULL, FTB_DUP_ERROR, NULL));
    OK(FtB_Block_wrap(&X, features, N, D, D, FTB_FP32));
    OK(FtB_Block_wrap(&H, result, N, D, D, FTB_FP32));

    /* di and dj: entries in row i and in column j. The library takes both factors out of the sum over edges.
     */
    OK(FtB_mxm(H, NULL, NULL, "plus : src / sqrt(fp32(di) * fp32(dj))", A, X, NULL));

    for (int i = 0; i < N; i++)
        for (int f = 0; f < D; f++) {
            double sum = 0;
            for (int e = 0; e < E; e++)
                if (from[e] == i)
                    sum += (double)features[to[e]][f] / sqrt((double)degree[i] * degree[to[e]]);
            CHECK(fabs((double)result[i][f] - sum) < 1e-5);
        }
    for (int i = 0; i < N; i++)
        printf("vertex %d: %8.4f %8.4f %8.4f\n", i, (double)result[i][0], (double)result[i][1],
               (double)result[i][2]);
    OK(FtB_Matrix_free(&A));
    OK(FtB_Block_free(&X));
    OK(FtB_Block_free(&H));
    return 0;
}
