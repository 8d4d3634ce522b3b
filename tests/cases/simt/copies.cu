/* Tiles that are copied to shared memory while those before are worked on. Each thread copies 16 bytes of a
 * tile, and adds up what all of them copied; out[t] = sum over tiles of a value that another thread brought.
 */
#include "gpu/kernels/kernel.cuh"

enum { RIGHT, NO_WAIT, WAITS_FOR_FEWER, NO_COMMIT, NO_BARRIER, REFILLED_TOO_SOON, SOURCE_OVERWRITTEN };

template <int MISTAKE> static __device__ void tiles(int ntiles, float4 *in, float *out)
{
    FTB_DYNAMIC_SHARED(float4, buffers); /* two, of as many as there are threads */
    const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
    float sum = 0;
    ftb_copy_async<16>(buffers + t, in + t);
    ftb_copy_commit();
    for (int k = 0; k < ntiles; k++) {
        float4 *const mine = buffers + k % 2 * n, *const next = buffers + (k + 1) % 2 * n;
        if (k + 1 < ntiles) {
            ftb_copy_async<16>(next + t, in + (k + 1) * n + t);
            if (MISTAKE != NO_COMMIT || k + 2 < ntiles)
                ftb_copy_commit();
            if (MISTAKE != NO_WAIT)
                ftb_copy_wait<1>();
        } else if (MISTAKE == WAITS_FOR_FEWER) {
            ftb_copy_wait<1>();
        } else {
            ftb_copy_wait<0>();
        }
        if (MISTAKE == SOURCE_OVERWRITTEN && k == 0)
            in[n + t] = make_float4(0, 0, 0, 0);
        if (MISTAKE != NO_BARRIER)
            __syncthreads();
        const float4 v = mine[n - 1 - t];
        sum += v.x + v.y * 2 + v.z * 3 + v.w * 4;
        if (MISTAKE != REFILLED_TOO_SOON)
            __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void tiles_right(int ntiles, float4 *in, float *out) { tiles<RIGHT>(ntiles, in, out); }
extern "C" __global__ void tiles_no_wait(int ntiles, float4 *in, float *out)
{
    tiles<NO_WAIT>(ntiles, in, out);
}
extern "C" __global__ void tiles_waits_for_fewer(int ntiles, float4 *in, float *out)
{
    tiles<WAITS_FOR_FEWER>(ntiles, in, out);
}
extern "C" __global__ void tiles_no_commit(int ntiles, float4 *in, float *out)
{
    tiles<NO_COMMIT>(ntiles, in, out);
}
extern "C" __global__ void tiles_no_barrier(int ntiles, float4 *in, float *out)
{
    tiles<NO_BARRIER>(ntiles, in, out);
}
extern "C" __global__ void tiles_refilled_too_soon(int ntiles, float4 *in, float *out)
{
    tiles<REFILLED_TOO_SOON>(ntiles, in, out);
}
extern "C" __global__ void tiles_source_overwritten(int ntiles, float4 *in, float *out)
{
    tiles<SOURCE_OVERWRITTEN>(ntiles, in, out);
}
/* From shared to global memory, which there is not. */
extern "C" __global__ void tiles_wrong_way(int, float4 *in, float *)
{
    FTB_DYNAMIC_SHARED(float4, buffers);
    buffers[threadIdx.x] = make_float4(0, 0, 0, 0);
    ftb_copy_async<16>(in + threadIdx.x, buffers + threadIdx.x);
}

FTB_KERNEL(tiles_right);
FTB_KERNEL(tiles_no_wait);
FTB_KERNEL(tiles_waits_for_fewer);
FTB_KERNEL(tiles_no_commit);
FTB_KERNEL(tiles_no_barrier);
FTB_KERNEL(tiles_refilled_too_soon);
FTB_KERNEL(tiles_source_overwritten);
FTB_KERNEL(tiles_wrong_way);
