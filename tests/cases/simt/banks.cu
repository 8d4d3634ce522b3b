/* Accesses whose sectors and passes are known. */
#include "gpu/kernels/kernel.cuh"

/* A word for each lane, `stride` words apart, from global and from shared memory of 1,024 words. One warp. */
extern "C" __global__ void strided(const float *in, int stride, float *out)
{
    __shared__ float words[1024];
    const int t = static_cast<int>(threadIdx.x);
    for (int k = t; k < 1024; k += 32)
        words[k] = 0;
    __syncwarp();
    out[t] = words[t * stride & 1023] + in[t * stride & 1023];
}

/* 8 and 16 bytes for each lane of shared memory, one next to the other; then all lanes the same. */
extern "C" __global__ void wide(int together, float *out)
{
    __shared__ float4 fours[32];
    __shared__ float2 twos[32];
    const int t = static_cast<int>(threadIdx.x), at = together ? 5 : t;
    fours[t] = make_float4(1, 2, 3, 4);
    twos[t] = make_float2(1, 2);
    __syncwarp();
    const float4 a = fours[at];
    const float2 b = twos[at];
    out[t] = a.x + a.w + b.x + b.y;
}

FTB_KERNEL(strided);
FTB_KERNEL(wide);
