#include "support/gradients.h"

#include "nn/nn.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#define STEP 1e-5

void fill_random(FtB_Block X, uint64_t seed)
{
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t j = 0; j < X->ncols; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            double value = (double)(seed >> 33) / 2147483648.0 - 0.5;
            ftb_cast((char *)block_values(X) + (size_t)(i * X->ld + j) * FtB_Type_size(X->type), X->type,
                     &value, FTB_FP64, 1);
        }
    assert_ok(FtB_Block_changed(X));
}

static double loss_at(FtB_Var loss, FtB_Block X, double *value, double at)
{
    FtB_Block L;
    *value = at;
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_evaluate(&L, loss));
    double result = *(double *)block_values(L);
    FtB_Block_free(&L);
    return result;
}

void assert_gradients(FtB_Var loss, const FtB_Parameter *parameters, int64_t count, double tolerance)
{
    assert_ok(FtB_backward(loss));
    for (int64_t p = 0; p < count; p++) {
        FtB_Block X, G;
        assert_ok(FtB_Parameter_value(&X, parameters[p]));
        assert_ok(FtB_Parameter_gradient(&G, parameters[p]));
        assert_int_equal(X->type, FTB_FP64);
        for (int64_t k = 0; k < X->nrows * X->ncols; k++) {
            double *value = (double *)block_values(X) + k, old = *value,
                   given = ((double *)block_values(G))[k];
            double up = loss_at(loss, X, value, old + STEP), down = loss_at(loss, X, value, old - STEP);
            double wanted = (up - down) / (2 * STEP);
            *value = old;
            assert_ok(FtB_Block_changed(X));
            if (!(fabs(given - wanted) <= tolerance * fmax(1, fabs(wanted))))
                fail_msg("%s[%lld]: gradient %.9g; differences say %.9g", FtB_Parameter_name(parameters[p]),
                         (long long)k, given, wanted);
        }
        FtB_Block_free(&X);
        FtB_Block_free(&G);
    }
}

void assert_layer_gradients(FtB_Var loss, FtB_Layer layer, double tolerance)
{
    for (int64_t k = 0; k < FtB_Layer_count(layer); k++) {
        FtB_Parameter p = FtB_Layer_parameter(layer, k);
        if (p->trained)
            assert_gradients(loss, &p, 1, tolerance);
    }
}
