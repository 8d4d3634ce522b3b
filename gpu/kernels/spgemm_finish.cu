/* Sparse x sparse products without an epilogue: the sums are the values, less than the least of which are
 * dropped (spgemm_finish.cuh); and what operands are read as. */
#include "gpu/kernels/spgemm_finish.cuh"
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

template <class T, class STORED> __device__ __forceinline__ T cast_value(const void *stored, long long at)
{
    return static_cast<T>(static_cast<const STORED *>(stored)[at]);
}

/* As C casts, where the host does. */
template <class T> __device__ __forceinline__ T value_of(const ftb_spgemm_values_arguments &a, long long at)
{
    switch (a.type) {
    case FTB_STORED_I8:
        return cast_value<T, signed char>(a.stored, at);
    case FTB_STORED_I16:
        return cast_value<T, short>(a.stored, at);
    case FTB_STORED_I32:
        return cast_value<T, int>(a.stored, at);
    case FTB_STORED_I64:
        return cast_value<T, long long>(a.stored, at);
    case FTB_STORED_U16:
        return cast_value<T, unsigned short>(a.stored, at);
    case FTB_STORED_U32:
        return cast_value<T, unsigned>(a.stored, at);
    case FTB_STORED_U64:
        return cast_value<T, unsigned long long>(a.stored, at);
    case FTB_STORED_F32:
        return cast_value<T, float>(a.stored, at);
    case FTB_STORED_F64:
        return cast_value<T, double>(a.stored, at);
    case FTB_STORED_F16:
        return static_cast<T>(value_of(static_cast<const f16 *>(a.stored)[at]));
    case FTB_STORED_BF16:
        return static_cast<T>(value_of(static_cast<const bf16 *>(a.stored)[at]));
    default: /* one byte */
        return cast_value<T, unsigned char>(a.stored, at);
    }
}

template <class T> __device__ __forceinline__ void values(const ftb_spgemm_values_arguments &a)
{
    const long long place =
        static_cast<long long>(blockIdx.x) * FTB_SPGEMM_STEP_BLOCK + static_cast<int>(threadIdx.x);
    if (place < a.nvals)
        static_cast<T *>(a.to)[place] = value_of<T>(a, a.from ? __ldg(a.from + place) : place);
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
