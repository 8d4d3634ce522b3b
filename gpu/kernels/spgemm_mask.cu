/* Rows of sparse x sparse products under a mask (spgemm_mask.cuh) for the messages that kernels know. */
#include "gpu/kernels/spgemm_mask.cuh"

#define SUMS(name, message, type, values)                                                                    \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_HASH_BLOCK, 8)                                   \
        spgemm_##name##_mask(ftb_spgemm_arguments a)                                                         \
    {                                                                                                        \
        mask_unit<message<type, values>>(a);                                                                 \
    }                                                                                                        \
    FTB_KERNEL(spgemm_##name##_mask);
FTB_SPGEMM_SUMS(SUMS)

extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_HASH_BLOCK, 8)
    spgemm_pair_mask(ftb_spgemm_arguments a)
{
    mask_unit<Pair>(a);
}
FTB_KERNEL(spgemm_pair_mask);
