/* Trains GraphSAGE on Zachary's karate club (1977) in mini-batches: a loader samples two hops of neighbours
 * and picks features and labels, one batch ahead of the network. Half of the members are told, the others
 * found. */
#include "example.h"
#include "karate.h"

#include <featblas_nn.h>

enum { N = KARATE, HIDDEN = 16, TOLD = N / 2, EPOCHS = 30 };

int main(void)
{
    FtB_Matrix A, X;
    FtB_Layer conv1, conv2;
    FtB_Tape tape;
    FtB_Optimizer adam;
    FtB_Loader loader;
    FtB_Block Y;
    int64_t self[N], told[TOLD];
    for (int v = 0; v < N; v++)
        self[v] = v;
    for (int t = 0; t < TOLD; t++)
        told[t] = 2 * t;
    OK(FtB_Matrix_wrap_csr(&A, FTB_FP32, N, N, 0, karate_rowptr, karate_friends, NULL));
    OK(FtB_Matrix_build(&X, FTB_FP32, N, N, 0, N, self, self, NULL, FTB_DUP_ERROR, NULL)); /* one-hot */
    OK(FtB_Layer_new(&conv1, "sage", N, HIDDEN, FTB_LAYER_OPTIONS(.name = "conv1", .seed = 1)));
    OK(FtB_Layer_new(&conv2, "sage", HIDDEN, 2, FTB_LAYER_OPTIONS(.name = "conv2", .seed = 1)));
    OK(FtB_Optimizer_new(&adam, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.lr = 0.01)));
    OK(FtB_Optimizer_add_layer(adam, conv1, NULL));
    OK(FtB_Optimizer_add_layer(adam, conv2, NULL));
    OK(FtB_Tape_new(&tape, 1));
    OK(FtB_Loader_new(&loader, A, X, karate_club, told, TOLD,
                      FTB_LOADER(.fanout = {4, 3}, .batch = 6, .seed = 7)));
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        for (FtB_Batch b; (b = FtB_Loader_next(loader)) != NULL;) {
            OK(FtB_Tape_reset(tape)); /* every batch is a graph of its own */
            FtB_Var x = FtB_input(tape, FtB_Batch_sparse_features(b));
            x = FtB_relu(FtB_sage(conv1, FtB_Batch_hop(b, 1), x));
            FtB_Var loss =
                FtB_cross_entropy(FtB_sage(conv2, FtB_Batch_hop(b, 0), x), FtB_Batch_labels(b), NULL);
            OK(FtB_backward(loss));
            OK(FtB_Optimizer_step(adam));
        }
        OK(FtB_Loader_status(loader)); /* the epoch's end, and no error */
    }
    int right = 0;
    OK(FtB_Tape_reset(tape)); /* the whole graph, with all neighbours */
    FtB_Var x = FtB_relu(FtB_sage(conv1, A, FtB_input(tape, X)));
    OK(FtB_evaluate(&Y, FtB_sage(conv2, A, x)));
    for (int v = 0; v < N; v++)
        right += (floats(Y)[2 * v + 1] > floats(Y)[2 * v]) == karate_club[v];
    printf("%d of %d members where they went\n", right, N);
    CHECK(right >= 31);
    OK(FtB_Block_free(&Y));
    OK(FtB_Loader_free(&loader));
    OK(FtB_Optimizer_free(&adam));
    OK(FtB_Tape_free(&tape));
    OK(FtB_Layer_free(&conv1));
    OK(FtB_Layer_free(&conv2));
    return FtB_Matrix_free(&A) || FtB_Matrix_free(&X);
}
