/* Writes a layer as one expression, neighbours' features through a gate that both ends open:
 * y_i = sum over neighbours j of x_j sigmoid(gate . (x_i + x_j)). Its gradients are derived from the text. */
#include "example.h"
#include "karate.h"

#include <featblas_nn.h>
#include <math.h>

enum { N = KARATE, WIDTH = 4 };

static FtB_Var gated(FtB_Matrix A, FtB_Var x, FtB_Parameter gate)
{
    return FtB_multiply("plus : src * sigmoid(dot(src + dst, gate))", A, FTB_OPERAND("src", x),
                        FTB_OPERAND("dst", x), FTB_OPERAND("gate", FtB_parameter(x.tape, gate)));
}

static double loss_at(FtB_Var loss, double *weight, double step)
{
    double value;
    *weight += step;
    OK(FtB_backward(loss));
    *weight -= step;
    OK(FtB_scalar(&value, loss));
    return value;
}

int main(void)
{
    FtB_Matrix A;
    FtB_Block X, value, gradient;
    FtB_Tape tape;
    FtB_Parameter gate;
    double *w, *g;
    OK(FtB_Matrix_wrap_csr(&A, FTB_FP64, N, N, 0, karate_rowptr, karate_friends, NULL));
    OK(FtB_Block_new(&X, N, WIDTH, FTB_FP64));
    OK(FtB_init(X, FTB_INIT_NORMAL, 1, NULL));
    OK(FtB_Parameter_new(&gate, "gate", 1, WIDTH, FTB_FP64));

    OK(FtB_Tape_new(&tape, 0));
    FtB_Var x = FtB_input(tape, X), loss = FtB_squared_error(gated(A, x, gate), x, NULL);
    OK(FtB_Parameter_value(&value, gate)); /* views: what changes is seen by the record */
    OK(FtB_Parameter_gradient(&gradient, gate));
    OK(FtB_Block_shape(value, NULL, NULL, NULL, NULL, (void **)&w));
    OK(FtB_Block_shape(gradient, NULL, NULL, NULL, NULL, (void **)&g));
    for (int k = 0; k < WIDTH; k++) {
        double slope = (loss_at(loss, &w[k], 1e-5) - loss_at(loss, &w[k], -1e-5)) / 2e-5;
        OK(FtB_backward(loss));
        printf("d loss / d gate[%d] = %9.6f, by differences %9.6f\n", k, g[k], slope);
        CHECK(fabs(g[k] - slope) < 1e-7);
    }
    OK(FtB_Block_free(&value));
    OK(FtB_Block_free(&gradient));
    OK(FtB_Parameter_free(&gate));
    OK(FtB_Tape_free(&tape));
    OK(FtB_Block_free(&X));
    OK(FtB_Matrix_free(&A));
    return 0;
}
