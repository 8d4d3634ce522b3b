/* The product itself: C<M> += A B over a semiring of one's own, and what the planner thinks of it. */
#include "example.h"

int main(void)
{
    /* Distances in a ring of 6 with two chords; 0 -> 3 is far. */
    const int64_t from[] = {0, 1, 2, 3, 4, 5, 0, 2}, to[] = {1, 2, 3, 4, 5, 0, 4, 5};
    const double length[] = {1, 1, 1, 1, 1, 1, 5, 4};
    FtB_Matrix A, D, far;
    FtB_Semiring shortest;
    FtB_Plan plan;
    OK(FtB_Matrix_build(&A, FTB_FP64, 6, 6, 1, 8, from, to, length, FTB_DUP_MIN, NULL));
    OK(FtB_Semiring_new(&shortest, "min : a + b"));

    /* D = min(A, A A): the shortest paths of at most two steps. */
    OK(FtB_Matrix_dup(&D, A));
    OK(FtB_mxm_plan(&plan, D, NULL, "min(x, y)", shortest, A, A, NULL, FTB_ESTIMATE));
    OK(FtB_Plan_explain(plan, stdout));
    OK(FtB_mxm(D, NULL, "min(x, y)", shortest, A, A, NULL));

    /* Only the pairs that A itself does not have: a complemented structural mask. */
    OK(FtB_Matrix_new(&far, FTB_FP64, 6, 6, 1));
    OK(FtB_mxm(far, A, NULL, shortest, A, A, FTB_DESC_SC));

    int64_t pairs, two_steps;
    OK(FtB_Matrix_shape(D, NULL, NULL, &pairs, NULL, NULL));
    OK(FtB_Matrix_shape(far, NULL, NULL, &two_steps, NULL, NULL));
    printf("%lld pairs within two steps, %lld of them exactly two\n", (long long)pairs, (long long)two_steps);
    OK(FtB_Plan_free(&plan));
    OK(FtB_Semiring_free(&shortest));
    OK(FtB_Matrix_free(&far));
    OK(FtB_Matrix_free(&D));
    OK(FtB_Matrix_free(&A));
    return 0;
}
