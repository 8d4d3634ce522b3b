/* Which kernels sources of sparse x block have (spmm_names.h). */
#include "support/spmm_names.h"

#include "gpu/kernels/spmm_direct.h"
#include "gpu/kernels/spmm_hybrid.h"
#include "gpu/kernels/spmm_tensor.h"
#include "support/check.h"
#include "support/cubin.h"

#include <string.h>

bool assert_has_spmm_kernels(const char *source, const char *image)
{
    if (strcmp(source, "gpu/kernels/spmm_direct.cu") == 0) {
#define NAMED(stored, reduce, edge, lanes, values)                                                           \
    assert_names(image, "spmm_direct_" #stored "_" #reduce "_" #edge "_" #lanes "x" #values);
        FTB_SPMM_DIRECT_F32(NAMED)
        assert_names(image, "spmm_direct_f32_PLUS_merge");
        assert_names(image, "spmm_direct_f32_BEST_merge");
    } else if (strcmp(source, "gpu/kernels/spmm_direct_16.cu") == 0) {
        FTB_SPMM_DIRECT_16(NAMED)
#define NAMED_HYBRID(stored, reduce, edge, lanes, values)                                                    \
    assert_names(image, "spmm_hybrid_" #stored "_" #reduce "_" #edge "_" #lanes "x" #values);
    } else if (strcmp(source, "gpu/kernels/spmm_direct_64.cu") == 0) {
        FTB_SPMM_DIRECT_64(NAMED)
        assert_names(image, "spmm_direct_f64_PLUS_merge");
        assert_names(image, "spmm_direct_f64_BEST_merge");
    } else if (strcmp(source, "gpu/kernels/spmm_hybrid.cu") == 0) {
        FTB_SPMM_HYBRID_F32(NAMED_HYBRID)
        assert_names(image, "spmm_hybrid_weights");
    } else if (strcmp(source, "gpu/kernels/spmm_hybrid_16.cu") == 0) {
        FTB_SPMM_HYBRID_16(NAMED_HYBRID)
#define NAMED_BULK(stored, reduce, edge, lanes, values)                                                      \
    assert_names(image, "spmm_hybrid_" #stored "_" #reduce "_" #edge "_" #lanes "x" #values "_bulk");
    } else if (strcmp(source, "gpu/kernels/spmm_hybrid_bulk.cu") == 0) {
        FTB_SPMM_HYBRID_BULK(NAMED_BULK)
#define NAMED_TENSOR(stored, operand, edge)                                                                  \
    assert_names(image, "spmm_tensor_" #stored "_" #operand "_PLUS_" #edge);
    } else if (strcmp(source, "gpu/kernels/spmm_tensor.cu") == 0) {
        FTB_SPMM_TENSOR_F32(NAMED_TENSOR)
    } else if (strcmp(source, "gpu/kernels/spmm_tensor_16.cu") == 0) {
        FTB_SPMM_TENSOR_16(NAMED_TENSOR)
    } else {
        return false;
    }
    return true;
}
