/* Rows of some hundreds and thousands of entries of sparse x sparse products (spgemm_large.cuh), for the
 * messages that kernels know. */
#include "gpu/kernels/spgemm_large.cuh"

#define SUMS(name, message, type, values)                                                                    \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_LARGE_BLOCK, 8)                                  \
        spgemm_##name##_large(ftb_spgemm_arguments a)                                                        \
    {                                                                                                        \
        large_unit<message<type, values>>(a);                                                                \
    }                                                                                                        \
    FTB_KERNEL(spgemm_##name##_large);
FTB_SPGEMM_SUMS(SUMS)

extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_LARGE_BLOCK, 8)
    spgemm_pair_large(ftb_spgemm_arguments a)
{
    large_unit<Pair>(a);
}
FTB_KERNEL(spgemm_pair_large);
