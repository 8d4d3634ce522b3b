/* Writes a weight: a message over what is shared, an epilogue over the sum, a bound parameter, a filter.
 *
 *     w(i, j) = sum over shared k of d(k)^-alpha, over the root of d(i) d(j)
 *
 * d is the number of entries; h is the sum. The three strongest of each row are kept. */
#include "example.h"

int main(void)
{
    const int64_t event[] = {0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3, 3},
                  guest[] = {0, 1, 2, 0, 1, 2, 3, 4, 3, 4, 0, 1};
    FtB_Matrix R, C;
    FtB_Semiring weight, bound;
    OK(FtB_Matrix_build(&R, FTB_BOOL, 4, 5, 0, 12, event, guest, NULL, FTB_DUP_ERROR, NULL));
    OK(FtB_Matrix_new(&C, FTB_FP64, 5, 5, 1));

    OK(FtB_Semiring_new(&weight, "plus : pow(dk, -alpha)"));
    OK(FtB_Semiring_bind(&bound, weight, FTB_BIND("alpha", 0.5)));
    OK(FtB_project(C, R, bound,
                   FTB_PROJECT_OPTIONS(.epilogue = "h / sqrt(di * dj)", .where = "w > 0.2", .top_k = 3)));

    const int64_t *rowptr;
    const void *columns, *values;
    OK(FtB_Matrix_csr(C, &rowptr, &columns, &values));
    for (int i = 0; i < 5; i++) {
        printf("guest %d:", i);
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
            printf("  %d (%.3f)", ((const int32_t *)columns)[e], ((const double *)values)[e]);
        putchar('\n');
    }
    OK(FtB_Semiring_free(&bound));
    OK(FtB_Semiring_free(&weight));
    OK(FtB_Matrix_free(&R));
    OK(FtB_Matrix_free(&C));
    return 0;
}
