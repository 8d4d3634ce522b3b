/* Reals, 4 at a time or one, as FP32 wherever they are stored. What is loaded is not written by the kernel:
 * it goes through the read-only cache.
 */
#ifndef FTB_VECTORS_CUH
#define FTB_VECTORS_CUH

#include "gpu/kernels/kernel.cuh"

static __device__ __forceinline__ void load(float (&v)[4], const float *at)
{
    const float4 q = __ldg(reinterpret_cast<const float4 *>(at));
    v[0] = q.x;
    v[1] = q.y;
    v[2] = q.z;
    v[3] = q.w;
}
static __device__ __forceinline__ void load(float (&v)[1], const float *at) { v[0] = __ldg(at); }

/* How reals of 16 bits are stored. */
struct f16 {
    unsigned short bits;
};
struct bf16 {
    unsigned short bits;
};
static __device__ __forceinline__ float value_of(f16 x) { return ftb_half_to_float(x.bits); }
static __device__ __forceinline__ float value_of(bf16 x) { return ftb_bfloat16_to_float(x.bits); }

/* 8 bytes. */
template <class STORED> static __device__ __forceinline__ void load(float (&v)[4], const STORED *at)
{
    const ushort4 q = __ldg(reinterpret_cast<const ushort4 *>(at));
    v[0] = value_of(STORED{q.x});
    v[1] = value_of(STORED{q.y});
    v[2] = value_of(STORED{q.z});
    v[3] = value_of(STORED{q.w});
}
template <class STORED> static __device__ __forceinline__ void load(float (&v)[1], const STORED *at)
{
    v[0] = value_of(STORED{__ldg(reinterpret_cast<const unsigned short *>(at))});
}

static __device__ __forceinline__ void store(float *at, const float (&v)[4])
{
    *reinterpret_cast<float4 *>(at) = make_float4(v[0], v[1], v[2], v[3]);
}
static __device__ __forceinline__ void store(float *at, const float (&v)[1]) { *at = v[0]; }

#endif
