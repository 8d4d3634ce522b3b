/* Rows of sparse x sparse products for the messages that kernels know (spgemm_rows.cuh): 1, a * b, and
 * tables. */
#include "gpu/kernels/spgemm_rows.cuh"

#define SUMS(name, message, type, values)                                                                    \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_BLOCK, 2)                                        \
        spgemm_##name##_dense(ftb_spgemm_arguments a)                                                        \
    {                                                                                                        \
        dense_unit<message<type, values>>(a);                                                                \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_HASH_BLOCK, 8)                                   \
        spgemm_##name##_hash(ftb_spgemm_arguments a)                                                         \
    {                                                                                                        \
        hash_unit<message<type, values>>(a);                                                                 \
    }                                                                                                        \
    FTB_KERNEL(spgemm_##name##_dense);                                                                       \
    FTB_KERNEL(spgemm_##name##_hash);
FTB_SPGEMM_SUMS(SUMS)

#define PAIRS(bits)                                                                                          \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_BLOCK, 2)                                        \
        spgemm_pair_dense_##bits(ftb_spgemm_arguments a)                                                     \
    {                                                                                                        \
        count_unit<bits>(a, [](const ftb_spgemm_unit &, unsigned *) {});                                     \
    }                                                                                                        \
    FTB_KERNEL(spgemm_pair_dense_##bits);
FTB_SPGEMM_PAIRS(PAIRS)

extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_HASH_BLOCK, 8)
    spgemm_pair_hash(ftb_spgemm_arguments a)
{
    hash_unit<Pair>(a);
}
FTB_KERNEL(spgemm_pair_hash);
