// The public header from C++: slots, bindings and options, spelled as in C.
#include <featblas.h>

#include <cstdio>
#include <cstdlib>

static void check(int info, int expected, int line)
{
    if (info != expected) {
        std::fprintf(stderr, "line %d: %d, expected %d: %s\n", line, info, expected, FtB_error());
        std::exit(1);
    }
}

#define OK(call) check((call), GrB_SUCCESS, __LINE__)

int main()
{
    const int64_t I[] = {0, 0, 1, 2}, J[] = {0, 1, 1, 0};
    const double X[] = {1, 2, 3, 4};
    FtB_Matrix A, C;
    OK(FtB_Matrix_build(&A, FTB_FP64, 3, 2, 1, 4, I, J, X, FTB_DUP_SUM, nullptr));
    OK(FtB_Matrix_new(&C, FTB_FP64, 3, 3, 1));

    FtB_Semiring scaled, bound;
    OK(FtB_Semiring_new(&scaled, "plus : a * b * scale"));
    OK(FtB_Semiring_bind(&bound, scaled, FTB_BIND("scale", 0.5)));
    OK(FtB_mxm(C, NULL, nullptr, bound, A, A, FTB_DESC_T1));
    OK(FtB_mxm(C, 0, NULL, "plus : a * b", A, A, GrB_DESC_T1));
    OK(FtB_mxm(C, C, GrB_PLUS_FP64, FTB_PLUS_TIMES, A, A, FTB_DESC_ST1));
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&scaled);

    FtB_Op shift, by_one;
    OK(FtB_Op_new(&shift, "x + by"));
    OK(FtB_Op_bind(&by_one, shift, FTB_BIND("by", 1)));
    OK(FtB_apply(A, NULL, NULL, by_one, A, NULL));
    FtB_Op_free(&by_one);
    FtB_Op_free(&shift);

    FtB_Descriptor d;
    OK(FtB_Descriptor_new(&d));
    OK(FtB_Descriptor_set(d, FTB_TRANSPOSE0, true));
    OK(FtB_Descriptor_set(d, FTB_FILL, 1.5f));
    OK(FtB_Descriptor_set(d, FTB_FILL, sizeof I));
    FtB_Descriptor_free(&d);

    FtB_Matrix P, none;
    OK(FtB_Matrix_new(&P, FTB_FP64, 2, 2, 1));
    OK(FtB_project(P, A, "jaccard", FTB_PROJECT_OPTIONS(.onto = FTB_COLS, .top_k = 1)));
    OK(FtB_project(P, A, "jaccard", NULL));
    check(FtB_Matrix_read(&none, NULL, NULL, "/no/such/file", FTB_READ_OPTIONS(.format = FTB_MTX)), FTB_IO,
          __LINE__);
    check(FtB_mxm(P, NULL, NULL, 1.5, A, A, NULL), GrB_INVALID_VALUE, __LINE__);
    FtB_Matrix_free(&P);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&A);
}
