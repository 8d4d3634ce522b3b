/* Sparse x sparse products without an epilogue: the sums are the values, less than the least of which are
 * dropped (spgemm_finish.cuh); and what operands are read as. */
#include "gpu/kernels/spgemm_finish.cuh"
#include "gpu/kernels/stored.cuh"
#include "gpu/kernels/vectors.cuh"

namespace
{

template <class T> __device__ __forceinline__ void finish(const ftb_spgemm_finish_arguments &a)
{
    finish_units(
        a,
        [&](int, int, long long at) {
            return !a.use_least || static_cast<double>(value_at<T>(a, at, 0)) >= a.least;
        },
        [&](long long at, long long to) {
            for (int v = 0; v < a.width; v++)
                static_cast<T *>(a.values)[to * a.width + v] = value_at<T>(a, at, v);
        });
}

template <class T> __device__ __forceinline__ void values(const ftb_spgemm_values_arguments &a)
{
    const long long place =
        static_cast<long long>(blockIdx.x) * FTB_SPGEMM_STEP_BLOCK + static_cast<int>(threadIdx.x);
    if (place < a.nvals)
        static_cast<T *>(a.to)[place] =
            stored_value<T>(a.stored, a.type, a.from ? __ldg(a.from + place) : place);
}

} // namespace

#define FINISH(type, c_type)                                                                                 \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK, 4)                                   \
        spgemm_finish_##type(ftb_spgemm_finish_arguments a)                                                  \
    {                                                                                                        \
        finish<c_type>(a);                                                                                   \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_SPGEMM_STEP_BLOCK, 4)                                   \
        spgemm_values_##type(ftb_spgemm_values_arguments a)                                                  \
    {                                                                                                        \
        values<c_type>(a);                                                                                   \
    }                                                                                                        \
    FTB_KERNEL(spgemm_finish_##type);                                                                        \
    FTB_KERNEL(spgemm_values_##type);
FTB_SPGEMM_VALUES(FINISH)
