/* Kernels with a mistake each in how blocks hand over to each other: thread 0 of block 0 writes data, that of
 * block 1 reads it. */
#include "gpu/kernels/kernel.cuh"

/* One thread, and one block, on each side. */
template <int MISTAKE> static __device__ void hand_over(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[0] = 7;
        if (MISTAKE == 1)
            __threadfence_block();
        else if (MISTAKE != 0 && MISTAKE != 3)
            __threadfence();
        atomicExch(flag, 1);
        if (MISTAKE == 3)
            __threadfence();
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        if (MISTAKE != 2)
            __threadfence();
        out[0] = data[0];
    }
}
extern "C" __global__ void no_release(int *data, int *flag, int *out) { hand_over<0>(data, flag, out); }
extern "C" __global__ void release_to_block(int *data, int *flag, int *out) { hand_over<1>(data, flag, out); }
extern "C" __global__ void no_acquire(int *data, int *flag, int *out) { hand_over<2>(data, flag, out); }
extern "C" __global__ void fence_behind_flag(int *data, int *flag, int *out)
{
    hand_over<3>(data, flag, out);
}

/* The fence that counts is that of the thread which raises the flag. */
extern "C" __global__ void fence_of_another(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(flag, 0) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        atomicAdd(out, data[threadIdx.x]);
    }
}

/* Without a fence. Both words are volatile, so that it is no race; but the second may be seen before the
 * first. */
extern "C" __global__ void volatile_alone(volatile int *data, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[0] = 7;
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        out[0] = data[0];
    }
}

extern "C" __global__ void volatile_with_fence(volatile int *data, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[0] = 7;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        out[0] = data[0];
    }
}

FTB_KERNEL(no_release);
FTB_KERNEL(release_to_block);
FTB_KERNEL(no_acquire);
FTB_KERNEL(fence_behind_flag);
FTB_KERNEL(fence_of_another);
FTB_KERNEL(volatile_alone);
FTB_KERNEL(volatile_with_fence);
