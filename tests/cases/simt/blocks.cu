/* Blocks whose threads meet at barriers, blocks that work together, and numbers. */
#include "gpu/kernels/kernel.cuh"

/* sum += all of in[0 .. n), and of each block how many are positive, whether one is, and whether all are. */
extern "C" __global__ void __launch_bounds__(128) sum_block(int n, const int *in, int *sum, int *positive)
{
    __shared__ int part[128];
    const int t = static_cast<int>(threadIdx.x);
    int mine = 0;
    for (int i = static_cast<int>(blockIdx.x) * 128 + t; i < n; i += static_cast<int>(gridDim.x) * 128)
        mine += in[i];
    part[t] = mine;
    for (int step = 64; step > 0; step /= 2) {
        __syncthreads();
        if (t < step)
            part[t] += part[t + step];
    }
    const int count = __syncthreads_count(mine > 0), one = __syncthreads_or(mine > 0),
              all = __syncthreads_and(mine > 0);
    if (t == 0) {
        atomicAdd(sum, part[0]);
        positive[3 * blockIdx.x] = count;
        positive[3 * blockIdx.x + 1] = one;
        positive[3 * blockIdx.x + 2] = all;
    }
}

/* Where each thread of a grid is, in a number that no other has. */
extern "C" __global__ void places(int *count)
{
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    FTB_DYNAMIC_SHARED(unsigned, seen);
    seen[thread] = block;
    __syncthreads();
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    atomicAdd(count + block * threads + thread, seen[threads - 1 - thread] == block ? 1 : 100);
}

/* Tasks in a queue: one of depth d puts two of depth d - 1 there. Blocks take from it until none is on its
 * way. */
extern "C" __global__ void __launch_bounds__(32)
    queue(int *tasks, int *head, int *tail, int *pending, int *done)
{
    __shared__ int task;
    for (;;) {
        if (threadIdx.x == 0) {
            int depth = 0;
            for (;;) {
                const int at = atomicAdd(head, 0);
                if (at < atomicAdd(tail, 0)) {
                    if (atomicCAS(head, at, at + 1) == at) {
                        while ((depth = atomicExch(tasks + at, 0)) == 0) {
                        }
                        break;
                    }
                } else if (atomicAdd(pending, 0) == 0) {
                    break;
                }
            }
            task = depth;
        }
        __syncthreads();
        const int depth = task;
        __syncthreads();
        if (depth == 0)
            return;
        if (threadIdx.x < 2 && depth > 1) {
            atomicAdd(pending, 1);
            atomicExch(tasks + atomicAdd(tail, 1), depth - 1);
        }
        __syncwarp();
        if (threadIdx.x == 0) {
            atomicAdd(done, 1);
            atomicSub(pending, 1);
        }
    }
}

/* Every atomic operation, by as many threads as there are, on values that the order does not matter to. */
extern "C" __global__ void atomics(int *i, unsigned *u, unsigned long long *w, float *f, double *d)
{
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const unsigned n = static_cast<unsigned>(t);
    atomicAdd(i, t);
    atomicSub(i + 1, t);
    atomicMin(i + 2, -t);
    atomicMax(i + 3, t);
    atomicMin(u, n);
    atomicMax(u + 1, n | 0x80000000u);
    atomicAnd(u + 2, ~n);
    atomicOr(u + 3, n);
    atomicXor(u + 4, n);
    atomicAdd(w, 0x100000000ull + n);
    atomicMax(w + 1, 0x100000000ull + n);
    atomicAdd(f, 0.5f * static_cast<float>(t));
    atomicAdd(d, 0.25 * t);
    unsigned long long seen = 0, old;
    while ((old = atomicCAS(w + 2, seen, seen + 3)) != seen)
        seen = old;
}

/* halves[k], bfloats[k] = in[k], rounded; back[2 k], back[2 k + 1] what these are */
extern "C" __global__ void convert(int n, const float *in, unsigned short *halves, unsigned short *bfloats,
                                   float *back)
{
    for (int k = static_cast<int>(threadIdx.x); k < n; k += static_cast<int>(blockDim.x)) {
        halves[k] = ftb_float_to_half(in[k]);
        bfloats[k] = ftb_float_to_bfloat16(in[k]);
        back[2 * k] = ftb_half_to_float(halves[k]);
        back[2 * k + 1] = ftb_bfloat16_to_float(bfloats[k]);
    }
}

FTB_KERNEL(sum_block);
FTB_KERNEL(places);
FTB_KERNEL(queue);
FTB_KERNEL(atomics);
FTB_KERNEL(convert);
