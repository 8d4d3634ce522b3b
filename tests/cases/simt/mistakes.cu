/* Kernels with a mistake each, in out-of-the-way places, as people make them. */
#include "gpu/kernels/kernel.cuh"

extern "C" __global__ void barrier_in_branch(int *out)
{
    if (threadIdx.x < 40)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void waits_for_ever(int *out)
{
    if (threadIdx.x == 0)
        while (atomicAdd(out, 0) == 0) {
        }
    __syncthreads();
}

/* For a plain word, which a compiler reads once. */
extern "C" __global__ void waits_for_plain_word(const int *out)
{
    if (threadIdx.x == 0)
        while (out[0] == 0) {
        }
    __syncthreads();
}

extern "C" __global__ void waits_for_other_warp(int *out)
{
    if (threadIdx.x < 16)
        __syncwarp();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void mask_without_itself(const int *in, int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    out[t] = __shfl_sync(FTB_FULL_WARP >> 1, in[t], 0); /* 31 lanes */
}

extern "C" __global__ void masks_differ(const int *in, int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    const unsigned mask = t < 16 ? 0x1ffffu : 0xffff8000u; /* lanes 15 and 16 are in both */
    out[t] = static_cast<int>(__ballot_sync(mask, in[t]));
}

extern "C" __global__ void operations_differ(const int *in, int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    out[t] = t < 16 ? __any_sync(FTB_FULL_WARP, in[t]) : __all_sync(FTB_FULL_WARP, in[t]);
}

extern "C" __global__ void width_of_three(const int *in, int *out)
{
    out[threadIdx.x] = __shfl_down_sync(FTB_FULL_WARP, in[threadIdx.x], 1, 3);
}

extern "C" __global__ void reads_lane_outside(const int *in, int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    if (t < 16)
        out[t] = __shfl_sync(0xffffu, in[t], t + 8);
}

extern "C" __global__ void reads_lane_that_left(int n, const int *in, int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    if (t >= n)
        return;
    int sum = in[t];
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_down_sync(FTB_FULL_WARP, sum, static_cast<unsigned>(by));
    out[t] = sum;
}

/* Ends when it sees no task, though one may be on its way: some are never done, in some orders. */
extern "C" __global__ void loses_tasks(int *tasks, int *head, int *tail, int *done)
{
    for (;;) {
        const int at = atomicAdd(head, 1);
        if (at >= atomicAdd(tail, 0))
            return;
        int depth;
        while ((depth = atomicExch(tasks + at, 0)) == 0) {
        }
        for (int k = 0; k < 2 && depth > 1; k++)
            atomicExch(tasks + atomicAdd(tail, 1), depth - 1);
        atomicAdd(done, 1);
    }
}

FTB_KERNEL(barrier_in_branch);
FTB_KERNEL(waits_for_ever);
FTB_KERNEL(waits_for_plain_word);
FTB_KERNEL(waits_for_other_warp);
FTB_KERNEL(mask_without_itself);
FTB_KERNEL(masks_differ);
FTB_KERNEL(operations_differ);
FTB_KERNEL(width_of_three);
FTB_KERNEL(reads_lane_outside);
FTB_KERNEL(reads_lane_that_left);
FTB_KERNEL(loses_tasks);
