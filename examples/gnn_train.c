/* Trains a graph convolutional network on Zachary's karate club (1977). Its 34 members have no features; of
 * four it is told whom they followed when the club split, their friendships tell the rest. */
#include "example.h"
#include "karate.h"

#include <featblas_nn.h>

enum { N = KARATE, HIDDEN = 16, EPOCHS = 100 };

static const uint8_t told[N] = {[0] = 1, [1] = 1, [32] = 1, [33] = 1};

int main(void)
{
    FtB_Matrix A, X;
    FtB_Layer conv1, conv2;
    FtB_Tape tape;
    FtB_Optimizer adam;
    FtB_Block Y;
    int64_t self[N];
    double value;
    OK(FtB_Context_set_threads(NULL, 1)); /* more would wait for one another on so small a graph */
    for (int v = 0; v < N; v++)
        self[v] = v;
    OK(FtB_Matrix_wrap_csr(&A, FTB_FP32, N, N, 0, karate_rowptr, karate_friends, NULL));
    OK(FtB_Matrix_build(&X, FTB_FP32, N, N, 0, N, self, self, NULL, FTB_DUP_ERROR, NULL)); /* one-hot */

    OK(FtB_Layer_new(&conv1, "gcn", N, HIDDEN, FTB_LAYER_OPTIONS(.name = "conv1", .seed = 1)));
    OK(FtB_Layer_new(&conv2, "gcn", HIDDEN, 2, FTB_LAYER_OPTIONS(.name = "conv2", .seed = 1)));
    OK(FtB_Tape_new(&tape, 1));
    FtB_Var x = FtB_relu(FtB_gcn(conv1, A, FtB_input(tape, X)));
    FtB_Var scores = FtB_gcn(conv2, A, FtB_dropout(x, 0.5));
    FtB_Var loss = FtB_cross_entropy(scores, karate_club, told);
    OK(FtB_Optimizer_new(&adam, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.lr = 0.01, .weight_decay = 5e-4)));
    OK(FtB_Optimizer_add_layer(adam, conv1, NULL));
    OK(FtB_Optimizer_add_layer(adam, conv2, NULL));
    for (int epoch = 0; epoch < EPOCHS; epoch++) { /* what was recorded runs again */
        OK(FtB_backward(loss));
        OK(FtB_Optimizer_step(adam));
        OK(FtB_scalar(&value, loss));
        if (epoch % 25 == 0)
            printf("epoch %2d: loss %.3f\n", epoch, value);
    }

    int right = 0;
    OK(FtB_evaluate(&Y, scores)); /* without dropout */
    for (int v = 0; v < N; v++)
        right += (floats(Y)[2 * v + 1] > floats(Y)[2 * v]) == karate_club[v];
    printf("%d of %d members where they went\n", right, N);
    CHECK(right >= 31);
    OK(FtB_Block_free(&Y));
    OK(FtB_Optimizer_free(&adam));
    OK(FtB_Tape_free(&tape));
    OK(FtB_Layer_free(&conv1));
    OK(FtB_Layer_free(&conv2));
    OK(FtB_Matrix_free(&A));
    OK(FtB_Matrix_free(&X));
    return 0;
}
