/* Two hops of neighbours of a few vertices, and a layer on what was drawn. */
#include "example.h"
#include "karate.h"

enum { WIDTH = 4 };

int main(void)
{
    static const int64_t seeds[] = {0, 33, 11}, fanouts[] = {3, 2};
    static float features[KARATE][WIDTH];
    FtB_Matrix A;
    FtB_Block X, Xs, Hs;
    FtB_Sample hop;
    int64_t targets;
    for (int i = 0; i < KARATE; i++)
        features[i][0] = (float)i;
    OK(FtB_Matrix_wrap_csr(&A, FTB_FP32, KARATE, KARATE, 0, karate_rowptr, karate_friends, NULL));
    OK(FtB_Block_wrap(&X, features, KARATE, WIDTH, WIDTH, FTB_FP32));
    OK(FtB_sample(&hop, A, seeds, 3, fanouts, 2, FTB_SAMPLE_OPTIONS(.seed = 7, .edges = true)));
    const FtB_Ids vertices = FtB_Sample_vertices(hop), found = FtB_Sample_vertex_counts(hop);
    const FtB_Ids picked = FtB_Sample_edge_counts(hop);
    for (int h = 0; h < 2; h++)
        printf("hop %d: %lld edges to %lld new vertices\n", h, (long long)picked.at[h],
               (long long)found.at[h + 1]);

    /* The layer next to the features: row r is the mean of what was picked of vertex r. */
    OK(FtB_Matrix_shape(FtB_Sample_layer(hop, 1), &targets, NULL, NULL, NULL, NULL));
    OK(FtB_Block_new(&Xs, vertices.count, WIDTH, FTB_FP32));
    OK(FtB_Block_new(&Hs, targets, WIDTH, FTB_FP32));
    OK(FtB_gather(Xs, X, vertices));
    OK(FtB_mxm(Hs, NULL, NULL, FTB_MEAN_SRC, FtB_Sample_layer(hop, 1), Xs, NULL));
    printf("vertex 11's neighbours have mean %g\n", (double)floats(Hs)[2 * WIDTH]);
    CHECK(floats(Hs)[2 * WIDTH] == 0); /* it has one, vertex 0 */
    CHECK(targets == 3 + found.at[1] && vertices.count == targets + found.at[2]);

    OK(FtB_Sample_free(&hop));
    OK(FtB_Block_free(&X));
    OK(FtB_Block_free(&Xs));
    OK(FtB_Block_free(&Hs));
    OK(FtB_Matrix_free(&A));
    return 0;
}
