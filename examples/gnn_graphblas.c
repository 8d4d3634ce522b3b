/* A graph neural network on a GrB_Matrix, which is graph and features: GraphSAGE learns from four labels who
 * went where when the karate club split; GraphBLAS counts the friendships that were cut. */
#include <GraphBLAS.h>

#include "example.h"
#include "karate.h"

#include <featblas_nn.h>

enum { N = KARATE };
static const uint8_t told[N] = {[0] = 1, [1] = 1, [32] = 1, [33] = 1};

static void learn(GrB_Vector second, GrB_Matrix graph)
{
    FtB_Matrix A;
    FtB_Layer sage;
    FtB_Tape tape;
    FtB_Optimizer adam;
    FtB_Block Y;
    OK(FtB_Matrix_import(&A, graph));
    OK(FtB_Layer_new(&sage, "sage", N, 2, NULL));
    OK(FtB_Tape_new(&tape, 1));
    FtB_Var scores = FtB_sage(sage, A, FtB_input(tape, A));
    FtB_Var loss = FtB_cross_entropy(scores, karate_club, told);
    OK(FtB_Optimizer_new(&adam, FTB_ADAM, NULL));
    OK(FtB_Optimizer_add_layer(adam, sage, NULL));
    for (int epoch = 0; epoch < 100; epoch++) {
        OK(FtB_backward(loss));
        OK(FtB_Optimizer_step(adam));
    }
    OK(FtB_evaluate(&Y, scores));
    for (GrB_Index v = 0; v < N; v++)
        OK(GrB_Vector_setElement_BOOL(second, floats(Y)[2 * v + 1] > floats(Y)[2 * v], v));
    OK(FtB_Block_free(&Y));
    OK(FtB_Optimizer_free(&adam));
    OK(FtB_Tape_free(&tape));
    OK(FtB_Layer_free(&sage));
    OK(FtB_Matrix_free(&A));
}

int main(void)
{
    GrB_Matrix graph;
    GrB_Vector second, cut;
    float count;
    OK(GrB_init(GrB_NONBLOCKING));
    OK(GrB_Matrix_new(&graph, GrB_FP32, N, N));
    OK(GrB_Vector_new(&second, GrB_BOOL, N));
    OK(GrB_Vector_new(&cut, GrB_FP32, N));
    for (GrB_Index i = 0; i < N; i++)
        for (int64_t e = karate_rowptr[i]; e < karate_rowptr[i + 1]; e++)
            OK(GrB_Matrix_setElement_FP32(graph, 1, i, (GrB_Index)karate_friends[e]));
    learn(second, graph);
    OK(GrB_mxv(cut, second, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, graph, second, GrB_DESC_C));
    OK(GrB_Vector_reduce_FP32(&count, NULL, GrB_PLUS_MONOID_FP32, cut, NULL));
    printf("%g of 78 friendships are between the two groups\n", (double)count);
    CHECK(count > 5 && count < 15);
    OK(GrB_Vector_free(&second));
    OK(GrB_Vector_free(&cut));
    OK(GrB_Matrix_free(&graph));
    return 0;
}
