/* Counts triangles by a masked product: C<L> = L L over (+, pair), where L is the lower triangle of the
 * adjacency matrix. Row i of L L has at column j the paths i > k > j; the mask keeps those that an edge
 * closes. */
#include "example.h"

enum { N = 60 }; /* i and j are adjacent unless i - j is a multiple of 3: three groups of 20 */

int main(void)
{
    static int64_t from[N * N], to[N * N];
    int64_t edges = 0, triangles = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if ((i - j) % 3 != 0) {
                from[edges] = i;
                to[edges++] = j;
            }

    FtB_Matrix A, L, C;
    OK(FtB_Matrix_build(&A, FTB_BOOL, N, N, 0, edges, from, to, NULL, FTB_DUP_ERROR, NULL));
    OK(FtB_Matrix_new(&L, FTB_BOOL, N, N, 0));
    OK(FtB_Matrix_new(&C, FTB_INT64, N, N, 1));
    OK(FtB_select(L, NULL, NULL, "j < i", A, NULL));
    OK(FtB_mxm(C, L, NULL, FTB_PLUS_PAIR, L, L, FTB_DESC_S));
    OK(FtB_reduce_scalar(&triangles, FTB_INT64, "plus", C));

    printf("%lld vertices, %lld edges, %lld triangles\n", (long long)N, (long long)edges / 2,
           (long long)triangles);
    OK(FtB_Matrix_free(&A));
    OK(FtB_Matrix_free(&L));
    OK(FtB_Matrix_free(&C));
    return triangles == 20 * 20 * 20 ? 0 : 1; /* one vertex of each group */
}
