/* Values as they are stored (stored_types.h), read as another type. */
#ifndef FTB_STORED_CUH
#define FTB_STORED_CUH

#include "gpu/kernels/stored_types.h"
#include "gpu/kernels/vectors.cuh"

namespace
{

template <class T, class STORED> __device__ __forceinline__ T stored_cast(const void *stored, long long at)
{
    return static_cast<T>(static_cast<const STORED *>(stored)[at]);
}

/* As C casts, where the host does. */
template <class T> __device__ __forceinline__ T stored_value(const void *stored, int type, long long at)
{
    switch (type) {
    case FTB_STORED_I8:
        return stored_cast<T, signed char>(stored, at);
    case FTB_STORED_I16:
        return stored_cast<T, short>(stored, at);
    case FTB_STORED_I32:
        return stored_cast<T, int>(stored, at);
    case FTB_STORED_I64:
        return stored_cast<T, long long>(stored, at);
    case FTB_STORED_U16:
        return stored_cast<T, unsigned short>(stored, at);
    case FTB_STORED_U32:
        return stored_cast<T, unsigned>(stored, at);
    case FTB_STORED_U64:
        return stored_cast<T, unsigned long long>(stored, at);
    case FTB_STORED_F32:
        return stored_cast<T, float>(stored, at);
    case FTB_STORED_F64:
        return stored_cast<T, double>(stored, at);
    case FTB_STORED_F16:
        return static_cast<T>(value_of(static_cast<const f16 *>(stored)[at]));
    case FTB_STORED_BF16:
        return static_cast<T>(value_of(static_cast<const bf16 *>(stored)[at]));
    default: /* one byte */
        return stored_cast<T, unsigned char>(stored, at);
    }
}

} // namespace

#endif
