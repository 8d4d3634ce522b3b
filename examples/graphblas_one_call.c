/* A GraphBLAS program that gains one FeatBLAS call: it builds a graph, finds the vertices within two steps of
 * a source with GraphBLAS, and then averages 16 features per vertex over their neighbours. */
#include <GraphBLAS.h>

#include "example.h"

#include <math.h>

enum { N = 100, D = 16 };

int main(void)
{
    GrB_Matrix graph;
    GrB_Vector reached;
    OK(GrB_init(GrB_NONBLOCKING));
    OK(GrB_Matrix_new(&graph, GrB_FP32, N, N));
    for (GrB_Index i = 0; i < N; i++)
        for (GrB_Index step = 1; step <= 3; step++)
            OK(GrB_Matrix_setElement_FP32(graph, 1, i, (i * step + step) % N));
    OK(GrB_Vector_new(&reached, GrB_BOOL, N));
    OK(GrB_Vector_setElement_BOOL(reached, true, 7));
    for (int step = 0; step < 2; step++)
        OK(GrB_vxm(reached, NULL, GrB_LOR, GrB_LOR_LAND_SEMIRING_BOOL, reached, graph, NULL));

    static float x[N][D], h[N][D];
    uint8_t mask[N] = {0};
    for (int i = 0; i < N; i++)
        for (int f = 0; f < D; f++)
            x[i][f] = (float)(i * f % 11);
    for (GrB_Index i = 0; i < N; i++) {
        bool yes = false;
        if (GrB_Vector_extractElement_BOOL(&yes, reached, i) == GrB_SUCCESS)
            mask[i] = yes;
    }

    /* The one call, over the program's own arrays: H<mask> = mean of the neighbours' features. */
    FtB_Matrix A;
    FtB_Block X, H, M;
    OK(FtB_Matrix_import(&A, graph));
    OK(FtB_Block_wrap(&X, x, N, D, D, FTB_FP32));
    OK(FtB_Block_wrap(&H, h, N, D, D, FTB_FP32));
    OK(FtB_Block_wrap(&M, mask, N, 1, 1, FTB_BOOL));
    OK(FtB_mxm(H, M, NULL, FTB_MEAN_SRC, A, X, NULL));

    for (int i = 0; i < N; i++)
        for (int f = 0; f < D; f++) {
            const int to[] = {(i + 1) % N, (2 * i + 2) % N, (3 * i + 3) % N};
            int count = 1 + (to[1] != to[0]) + (to[2] != to[0] && to[2] != to[1]);
            float sum = x[to[0]][f] + (to[1] != to[0] ? x[to[1]][f] : 0);
            sum += to[2] != to[0] && to[2] != to[1] ? x[to[2]][f] : 0;
            CHECK(fabsf(h[i][f] - (mask[i] ? sum / (float)count : 0)) < 1e-5f);
        }
    OK(FtB_Matrix_free(&A));
    FtB_Block *const blocks[] = {&X, &H, &M};
    for (int b = 0; b < 3; b++)
        OK(FtB_Block_free(blocks[b]));
    OK(GrB_Vector_free(&reached));
    OK(GrB_Matrix_free(&graph));
    return 0;
}
