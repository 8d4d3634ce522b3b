/* Serves a model that was trained elsewhere: reads a state dict that PyG saved as safetensors, evaluates the
 * model on a graph. The file is made first (pyg_model.h), so that there is one. */
#include "example.h"
#include "karate.h"
#include "pyg_model.h"

#include <featblas_nn.h>
#include <math.h>

/* Every parameter from the tensor of its name; matrices are transposed. */
static void load(FtB_Layer layer, const char *path)
{
    FtB_Tensors t;
    OK(FtB_Tensors_read(&t, path));
    for (int64_t k = 0; k < FtB_Layer_count(layer); k++) {
        FtB_Parameter p = FtB_Layer_parameter(layer, k);
        FtB_Block to, from;
        int64_t nrows;
        OK(FtB_Parameter_value(&to, p));
        OK(FtB_Tensors_get(&from, t, FtB_Parameter_name(p), NULL, NULL));
        OK(FtB_Block_shape(to, &nrows, NULL, NULL, NULL, NULL));
        for (int64_t i = 0; i < nrows; i++)
            for (int64_t j = 0; j < OUT; j++)
                floats(to)[i * OUT + j] = floats(from)[nrows == 1 ? j : j * nrows + i];
        OK(FtB_Block_free(&to));
        OK(FtB_Block_free(&from));
    }
    OK(FtB_Tensors_free(&t));
}

int main(void)
{
    float x[KARATE][IN];
    FtB_Matrix A;
    FtB_Block X, Y;
    FtB_Layer conv1;
    FtB_Tape tape;
    for (int v = 0; v < KARATE; v++) /* so that propagation keeps x: the roots of degrees, and twice them */
        x[v][1] = 2 * (x[v][0] = sqrtf((float)(karate_rowptr[v + 1] - karate_rowptr[v] + 1)));
    pyg_save();
    OK(FtB_Layer_new(&conv1, "gcn", IN, OUT, FTB_LAYER_OPTIONS(.name = "conv1")));
    load(conv1, pyg_file);
    remove(pyg_file);
    OK(FtB_Matrix_wrap_csr(&A, FTB_FP32, KARATE, KARATE, 0, karate_rowptr, karate_friends, NULL));
    OK(FtB_Block_wrap(&X, x, KARATE, IN, IN, FTB_FP32));
    OK(FtB_Tape_new(&tape, 0));
    OK(FtB_Tape_inference(tape));
    OK(FtB_evaluate(&Y, FtB_gcn(conv1, A, FtB_input(tape, X))));
    for (int v = 0; v < KARATE; v++)
        for (int c = 0; c < OUT; c++) {
            float z = weight[c][0] * x[v][0] + weight[c][1] * x[v][1] + bias[c];
            CHECK(fabsf(floats(Y)[v * OUT + c] - z) < 1e-5f);
        }
    OK(FtB_Block_free(&Y));
    OK(FtB_Tape_free(&tape));
    OK(FtB_Layer_free(&conv1));
    OK(FtB_Block_free(&X));
    OK(FtB_Matrix_free(&A));
    return 0;
}
