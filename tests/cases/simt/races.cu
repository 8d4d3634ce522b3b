/* Kernels with a mistake each in how they use memory. All take (in, out), of 128 words each. */
#include "gpu/kernels/kernel.cuh"

/* ---- nothing orders a write and what another lane does with the same bytes */

extern "C" __global__ void no_barrier(const int *in, int *out)
{
    __shared__ int part[128];
    const int t = static_cast<int>(threadIdx.x);
    part[t] = in[t];
    __syncthreads();
    if (t < 64)
        part[t] += part[t + 64];
    /* here */
    if (t < 32)
        part[t] += part[t + 32];
    __syncthreads();
    out[t] = part[0];
}

/* The second round overwrites what the first may still read. */
extern "C" __global__ void no_barrier_behind(const int *in, int *out)
{
    __shared__ int word;
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int round = 0; round < 2; round++) {
        if (t == 37)
            word = in[round];
        __syncthreads();
        sum += word;
        /* here */
    }
    out[t] = sum;
}

extern "C" __global__ void no_syncwarp(const int *in, int *out)
{
    __shared__ int words[32];
    const int t = static_cast<int>(threadIdx.x);
    words[t] = in[t];
    /* here */
    out[t] = words[t ^ 1];
}

extern "C" __global__ void shuffle_orders_nothing(const int *in, int *out)
{
    __shared__ int words[32];
    const int t = static_cast<int>(threadIdx.x);
    words[t] = in[t];
    const int zero = __shfl_sync(FTB_FULL_WARP, 0, 5);
    out[t] = words[t ^ 1] + zero;
}

extern "C" __global__ void syncwarp_of_halves(const int *in, int *out)
{
    __shared__ int words[32];
    const int t = static_cast<int>(threadIdx.x);
    words[t] = in[t];
    __syncwarp(t < 16 ? 0xffffu : 0xffff0000u);
    out[t] = words[t ^ 16];
}

extern "C" __global__ void syncwarp_between_warps(const int *in, int *out)
{
    __shared__ int words[64];
    const int t = static_cast<int>(threadIdx.x);
    words[t] = in[t];
    __syncwarp();
    out[t] = words[63 - t];
}

/* Lanes 0 and 1 write the same byte, others their own. */
extern "C" __global__ void one_byte_twice(const int *in, int *out)
{
    __shared__ unsigned char bytes[32];
    const int t = static_cast<int>(threadIdx.x);
    bytes[t == 1 ? 0 : t] = static_cast<unsigned char>(in[t]);
    __syncwarp();
    out[t] = bytes[t ^ 2] + 0 * bytes[0];
}

/* A word that contains the byte that another lane writes. */
extern "C" __global__ void word_over_bytes(const int *in, int *out)
{
    FTB_DYNAMIC_SHARED(unsigned char, bytes);
    const int t = static_cast<int>(threadIdx.x);
    if (t == 7)
        *reinterpret_cast<int *>(bytes + 4) = in[0];
    if (t == 9)
        bytes[6] = 1;
    __syncwarp();
    out[t] = bytes[6];
}

/* Two blocks add to one word, each with a sum of its own: one is lost. */
extern "C" __global__ void lost_partial(const int *in, int *out)
{
    const int sum = __reduce_add_sync(FTB_FULL_WARP, in[threadIdx.x]);
    if (threadIdx.x == 0)
        out[0] += sum;
}

extern "C" __global__ void atomic_beside_plain(const int *in, int *out)
{
    if (threadIdx.x == 3)
        out[0] = in[0];
    else
        atomicAdd(out, 1);
}

extern "C" __global__ void reads_atomic_too_soon(const int *in, int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (in[threadIdx.x] >= 0)
        atomicAdd(&count, 1);
    /* here */
    out[threadIdx.x] = count;
}

/* ---- nothing was written */

extern "C" __global__ void reads_unwritten(const int *in, int *out)
{
    __shared__ int words[33];
    const int t = static_cast<int>(threadIdx.x);
    words[t] = in[t];
    __syncwarp();
    out[t] = words[t + 1];
}

extern "C" __global__ void counts_from_nothing(const int *in, int *out)
{
    __shared__ int count;
    atomicAdd(&count, in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = count;
}

/* ---- outside */

extern "C" __global__ void reads_one_past(const int *in, int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    if (t < 127)
        out[t] = in[t + 1] + in[t + 2];
}

extern "C" __global__ void writes_before(const int *in, int *out)
{
    out[static_cast<int>(threadIdx.x) - 1] = in[threadIdx.x];
}

extern "C" __global__ void index_past_shared(const int *in, int *out)
{
    __shared__ int words[32];
    const int t = static_cast<int>(threadIdx.x);
    words[t] = in[t];
    __syncwarp();
    out[t] = words[t + in[1]];
}

static __device__ __noinline__ void put(int *at, int value) { *at = value; }

extern "C" __global__ void pointer_past_shared(const int *in, int *out)
{
    __shared__ int words[32];
    const int t = static_cast<int>(threadIdx.x);
    put(words + t * 4096, in[t]); /* a wrong stride */
    __syncwarp();
    out[t] = words[0];
}

extern "C" __global__ void past_dynamic_shared(const int *in, int *out)
{
    FTB_DYNAMIC_SHARED(int, words);
    const int t = static_cast<int>(threadIdx.x);
    words[t] = in[t]; /* 32 threads, of whose words there are 31 */
    __syncwarp();
    out[t] = words[t];
}

extern "C" __global__ void past_own_array(const int *in, int *out)
{
    int mine[4] = {1, 2, 3, 4};
    mine[in[0] & 3] = 5;
    out[threadIdx.x] = mine[in[2]];
}

extern "C" __global__ void wide_read_past_end(const int *in, int *out)
{
    const float4 v = reinterpret_cast<const float4 *>(in + 4 * (threadIdx.x / 4))[threadIdx.x];
    out[threadIdx.x] = static_cast<int>(v.x + v.w);
}

extern "C" __global__ void misaligned(const int *in, int *out)
{
    const int2 v = *reinterpret_cast<const int2 *>(in + threadIdx.x); /* of odd threads */
    out[threadIdx.x] = v.x + v.y;
}

static __device__ const int table[4] = {1, 2, 3, 4};

extern "C" __global__ void writes_constant(const int *in, int *out)
{
    put(const_cast<int *>(table) + (threadIdx.x & 3), in[0]);
    out[threadIdx.x] = table[0];
}

extern "C" __global__ void other_threads_array(const int *in, int *out)
{
    __shared__ int *address;
    int mine[2] = {in[0], in[1]};
    if (threadIdx.x == 0)
        address = mine;
    __syncthreads();
    out[threadIdx.x] = address[threadIdx.x & 1];
    __syncthreads();
}

FTB_KERNEL(no_barrier);
FTB_KERNEL(no_barrier_behind);
FTB_KERNEL(no_syncwarp);
FTB_KERNEL(shuffle_orders_nothing);
FTB_KERNEL(syncwarp_of_halves);
FTB_KERNEL(syncwarp_between_warps);
FTB_KERNEL(one_byte_twice);
FTB_KERNEL(word_over_bytes);
FTB_KERNEL(lost_partial);
FTB_KERNEL(atomic_beside_plain);
FTB_KERNEL(reads_atomic_too_soon);
FTB_KERNEL(reads_unwritten);
FTB_KERNEL(counts_from_nothing);
FTB_KERNEL(reads_one_past);
FTB_KERNEL(writes_before);
FTB_KERNEL(index_past_shared);
FTB_KERNEL(pointer_past_shared);
FTB_KERNEL(past_dynamic_shared);
FTB_KERNEL(past_own_array);
FTB_KERNEL(wide_read_past_end);
FTB_KERNEL(misaligned);
FTB_KERNEL(writes_constant);
FTB_KERNEL(other_threads_array);
