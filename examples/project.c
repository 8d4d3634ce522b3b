/* Projects a bipartite GrB_Matrix onto its columns: for each film, the films most like it.
 *
 *   cc project.c $(pkg-config --cflags --libs featblas) -o project */
#include <GraphBLAS.h>

#include "example.h"

enum { PEOPLE = 5, FILMS = 4 };
static const double ratings[PEOPLE][FILMS] = {
    {5, 4, 0, 0}, {4, 5, 1, 0}, {0, 4, 0, 2}, {5, 0, 2, 0}, {0, 0, 4, 5}};

/* What a program that uses GraphBLAS has already. */
static GrB_Matrix make_ratings(void)
{
    GrB_Matrix G;
    OK(GrB_Matrix_new(&G, GrB_FP64, PEOPLE, FILMS));
    for (GrB_Index i = 0; i < PEOPLE; i++)
        for (GrB_Index j = 0; j < FILMS; j++)
            if (ratings[i][j] > 0)
                OK(GrB_Matrix_setElement_FP64(G, ratings[i][j], i, j));
    return G;
}

static void print(FtB_Matrix C, const char *title)
{
    int64_t n;
    const int64_t *rowptr;
    const void *colidx, *values;
    OK(FtB_Matrix_shape(C, &n, NULL, NULL, NULL, NULL));
    OK(FtB_Matrix_csr(C, &rowptr, &colidx, &values));
    printf("%s\n", title);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
            printf("  %d  %d  %.3f\n", (int)i, ((const int32_t *)colidx)[e], ((const double *)values)[e]);
}

int main(void)
{
    OK(GrB_init(GrB_NONBLOCKING));
    GrB_Matrix G = make_ratings(), H;
    FtB_Matrix R, C;
    FtB_Semiring least;
    OK(FtB_Matrix_import(&R, G));
    OK(FtB_Matrix_new(&C, FTB_FP64, FILMS, FILMS, 1));

    /* A weight by its name. */
    OK(FtB_project(C, R, "jaccard", NULL));
    print(C, "jaccard");

    /* A weight of one's own: what two people who know both films agree on, the best two of each film. */
    OK(FtB_Semiring_new(&least, "plus : min(a, b)"));
    OK(FtB_project(C, R, least, FTB_PROJECT_OPTIONS(.epilogue = "h / (si + sj - h)", .top_k = 2)));
    print(C, "min over max, two best");

    OK(FtB_Matrix_export(&H, C, 0)); /* and back to GraphBLAS */
    OK(FtB_Semiring_free(&least));
    OK(FtB_Matrix_free(&C));
    OK(FtB_Matrix_free(&R));
    OK(GrB_Matrix_free(&H));
    OK(GrB_Matrix_free(&G));
    return 0;
}
