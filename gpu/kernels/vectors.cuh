/* Reals, 4 at a time or one. What is loaded is not written by the kernel: it goes through the read-only
 * cache.
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

static __device__ __forceinline__ void store(float *at, const float (&v)[4])
{
    *reinterpret_cast<float4 *>(at) = make_float4(v[0], v[1], v[2], v[3]);
}
static __device__ __forceinline__ void store(float *at, const float (&v)[1]) { *at = v[0]; }

#endif
