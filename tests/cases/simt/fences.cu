/* Blocks, and warps of a block, that hand over to each other while they run. out[0 .. n) are results, in as
 * many words as `data` has; flags begin with zeros. */
#include "gpu/kernels/kernel.cuh"

/* Block 0 writes data; the others wait for its word and read it. */
extern "C" __global__ void by_fence(int *data, int *flag, int *out)
{
    const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
    if (blockIdx.x == 0) {
        data[t] = t + 1;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
        return;
    }
    if (t == n - 1) {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    atomicAdd(out + t, data[n - 1 - t]);
}

extern "C" __global__ void by_volatile(int *data, volatile int *flag, int *out)
{
    const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
    if (blockIdx.x == 0) {
        data[t] = t + 1;
        __syncthreads();
        if (t == 1) {
            __threadfence();
            *flag = 1;
        }
        return;
    }
    if (t == 0) {
        while (*flag == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    atomicAdd(out + t, data[n - 1 - t]);
}

extern "C" __global__ void by_release(int *data, int *flag, int *out)
{
    const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
    if (blockIdx.x == 0) {
        data[t] = t + 1;
        __syncthreads();
        if (t == 0)
            ftb_store_release(flag, 1);
        return;
    }
    if (t == 0)
        while (ftb_load_acquire(flag) == 0) {
        }
    __syncthreads();
    atomicAdd(out + t, data[n - 1 - t]);
}

/* Each block waits for the one before it, adds its own, and tells the next: what the first wrote, the last
 * reads, though they never met. */
extern "C" __global__ void chain(int *data, int *flags, int *out)
{
    const int b = static_cast<int>(blockIdx.x), t = static_cast<int>(threadIdx.x),
              n = static_cast<int>(blockDim.x);
    if (b > 0 && t == 0)
        while (ftb_load_acquire(flags + b - 1) == 0) {
        }
    __syncthreads();
    data[b * n + t] = b;
    __syncthreads();
    if (t == 0)
        ftb_store_release(flags + b, 1);
    if (b == static_cast<int>(gridDim.x) - 1) {
        int sum = 0;
        for (int k = 0; k <= b; k++)
            sum += data[k * n + n - 1 - t];
        out[t] = sum;
    }
}

/* The block that comes last adds up what all have left. */
extern "C" __global__ void last_block(int *partial, int *tickets, int *out)
{
    __shared__ int last;
    const int t = static_cast<int>(threadIdx.x), blocks = static_cast<int>(gridDim.x);
    if (t == 0) {
        partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
        __threadfence();
        last = atomicAdd(tickets, 1) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t < 32) {
        int sum = 0;
        for (int k = t; k < blocks; k += 32)
            sum += partial[k];
        sum = __reduce_add_sync(FTB_FULL_WARP, sum);
        if (t == 0)
            out[0] = sum;
    }
}

/* From warp 0 to warp 1, without a barrier. */
extern "C" __global__ void between_warps(int *out)
{
    __shared__ int words[32];
    __shared__ int ready;
    const int t = static_cast<int>(threadIdx.x), lane = t & 31;
    if (t == 0)
        ready = 0;
    __syncthreads();
    if (t < 32) {
        words[lane] = lane + 1;
        __syncwarp();
        if (lane == 0) {
            __threadfence_block();
            atomicExch(&ready, 1);
        }
    } else {
        if (lane == 31) {
            while (atomicAdd(&ready, 0) == 0) {
            }
            __threadfence_block();
        }
        __syncwarp();
        out[lane] = words[31 - lane];
    }
}

FTB_KERNEL(by_fence);
FTB_KERNEL(by_volatile);
FTB_KERNEL(by_release);
FTB_KERNEL(chain);
FTB_KERNEL(last_block);
FTB_KERNEL(between_warps);
