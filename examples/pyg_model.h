/* What training elsewhere leaves behind: one GCN layer in a safetensors file, with PyG's names. Weights are
 * outputs x inputs there. */
#ifndef PYG_MODEL_H
#define PYG_MODEL_H

#include "example.h"

#include <featblas_nn.h>

enum { IN = 2, OUT = 3 };

static const char pyg_file[] = "gnn_serve.safetensors";
static float weight[OUT][IN] = {{1, 0}, {0, 1}, {0.5f, -2}}, bias[OUT] = {0.1f, 0, -1};

static inline void pyg_save(void)
{
    FtB_Tensors t;
    FtB_Block W, b;
    OK(FtB_Tensors_new(&t));
    OK(FtB_Block_wrap(&W, weight, OUT, IN, IN, FTB_FP32));
    OK(FtB_Block_wrap(&b, bias, 1, OUT, OUT, FTB_FP32));
    OK(FtB_Tensors_set(t, "conv1.lin.weight", W, -1, NULL));
    OK(FtB_Tensors_set(t, "conv1.bias", b, 1, (int64_t[]){OUT}));
    OK(FtB_Tensors_write(t, pyg_file));
    OK(FtB_Block_free(&W));
    OK(FtB_Block_free(&b));
    OK(FtB_Tensors_free(&t));
}

#endif
