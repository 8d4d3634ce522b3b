/* What a stranger's program does first; compiled as C and as C++. */
#include <featblas.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#define NONE nullptr
#else
#define NONE NULL
#endif

#define OK(call)                                                                                             \
    if ((call) != GrB_SUCCESS) {                                                                             \
        fprintf(stderr, "line %d: %s\n", __LINE__, FtB_error());                                             \
        return 1;                                                                                            \
    }

int main(void)
{
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", FTB_VERSION_MAJOR, FTB_VERSION_MINOR, FTB_VERSION_PATCH);
    if (strcmp(FtB_version(), version) != 0) {
        fprintf(stderr, "library %s, header %s\n", FtB_version(), version);
        return 1;
    }
    /* Three people, two films; two people know both. */
    const int64_t person[] = {0, 0, 1, 1, 2}, film[] = {0, 1, 0, 1, 1};
    FtB_Matrix R = NULL, C = NULL;
    int64_t pairs = 0, both = 0;
    OK(FtB_Matrix_build(&R, FTB_BOOL, 3, 2, 0, 5, person, film, NULL, FTB_DUP_SUM, NULL));
    OK(FtB_Matrix_new(&C, FTB_INT64, 2, 2, 1));
    OK(FtB_project(C, R, "count", NULL));
    OK(FtB_Matrix_shape(C, NULL, NULL, &pairs, NULL, NULL));
    OK(FtB_mxm(C, NONE, NONE, FTB_PLUS_PAIR, R, R, FTB_DESC_T0));
    OK(FtB_reduce_scalar(&both, FTB_INT64, "min", C));
    OK(FtB_Matrix_free(&C));
    OK(FtB_Matrix_free(&R));
    if (pairs != 2 || both != 2) {
        fprintf(stderr, "%d pairs, at least %d in common; 2 and 2 expected\n", (int)pairs, (int)both);
        return 1;
    }
    return 0;
}
