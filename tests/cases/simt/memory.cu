/* Memory as kernels use it: what lanes write next to each other, hand over, and share. */
#include "gpu/kernels/kernel.cuh"

/* Neighbours write neighbouring bytes, half-words and words, and read each other's: in global and in shared
 * memory, which begins at odd places. out[t] = sum of what the mirrored thread wrote. Of 64 threads. */
extern "C" __global__ void narrow(unsigned char *bytes, unsigned short *shorts, int *out)
{
    __shared__ unsigned char own_bytes[67];
    __shared__ unsigned short own_shorts[65];
    __shared__ unsigned char alone;
    FTB_DYNAMIC_SHARED(unsigned char, dynamic);
    const int t = static_cast<int>(threadIdx.x), mirrored = 63 - t;
    bytes[t] = static_cast<unsigned char>(t);
    shorts[t] = static_cast<unsigned short>(t + 1);
    own_bytes[t + 3] = static_cast<unsigned char>(t + 2);
    own_shorts[t + 1] = static_cast<unsigned short>(t + 3);
    dynamic[t + 1] = static_cast<unsigned char>(t + 4);
    if (t == 40)
        alone = 5;
    __syncthreads();
    out[t] = bytes[mirrored] + shorts[mirrored] + own_bytes[mirrored + 3] + own_shorts[mirrored + 1] +
             dynamic[mirrored + 1] + alone;
}

/* Halves of a warp hand over among themselves, then all of it; each word is written by one lane and read by
 * another. */
extern "C" __global__ void halves_of_warp(const int *in, int *out)
{
    __shared__ int words[32], sums[32];
    const int t = static_cast<int>(threadIdx.x);
    const unsigned mine = t < 16 ? 0xffffu : 0xffff0000u;
    words[t] = in[t];
    __syncwarp(mine);
    sums[t] = words[t] + words[t ^ 8];
    __syncwarp();
    out[t] = sums[t ^ 16];
}

/* y = a x, a warp for a row of 128 features, 16 bytes for a lane. Of n entries in r rows it reads
 *
 *     16 n + 2 n / 8 + 18 r
 *
 * sectors at least: features; columns and values, eight in a sector; two ends and a result for each row. */
extern "C" __global__ void __launch_bounds__(128)
    spmm(int nrows, const int *rowptr, const int *colidx, const float *values, const float4 *x, float4 *y)
{
    const int row = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    if (row >= nrows)
        return;
    float4 sum = make_float4(0, 0, 0, 0);
    const int end = __ldg(rowptr + row + 1);
    for (int base = __ldg(rowptr + row); base < end; base += 32) {
        int column = 0;
        float value = 0;
        if (base + lane < end) {
            column = __ldg(colidx + base + lane);
            value = __ldg(values + base + lane);
        }
        const int count = min(32, end - base);
        for (int k = 0; k < count; k++) {
            const int from = __shfl_sync(FTB_FULL_WARP, column, k);
            const float by = __shfl_sync(FTB_FULL_WARP, value, k);
            const float4 v = x[from * 32 + lane];
            sum.x += by * v.x;
            sum.y += by * v.y;
            sum.z += by * v.z;
            sum.w += by * v.w;
        }
    }
    y[row * 32 + lane] = sum;
}

/* Counts of distinct keys of a list: a hash table in shared memory, of `slots` (a power of 2), read out by
 * one warp. */
extern "C" __global__ void count_keys(int n, const int *keys, int slots, int *found, int *counts, int *nfound)
{
    FTB_DYNAMIC_SHARED(int, table);
    int *const times = table + slots;
    const int t = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
    for (int k = t; k < slots; k += step) {
        table[k] = -1;
        times[k] = 0;
    }
    __syncthreads();
    for (int i = t; i < n; i += step) {
        int at = keys[i] * 7 & (slots - 1);
        for (;;) {
            const int was = atomicCAS(table + at, -1, keys[i]);
            if (was == -1 || was == keys[i])
                break;
            at = (at + 1) & (slots - 1);
        }
        atomicAdd(times + at, 1);
    }
    __syncthreads();
    int done = 0;
    for (int base = 0; base < slots && t < 32; base += 32) {
        const bool here = base + t < slots && table[base + t] >= 0;
        const unsigned ballot = __ballot_sync(FTB_FULL_WARP, here);
        if (here) {
            const int at = done + __popc(ballot & ((1u << t) - 1));
            found[at] = table[base + t];
            counts[at] = times[base + t];
        }
        done += __popc(ballot);
    }
    if (t == 0)
        *nfound = done;
}

static __constant__ float weights[4] = {1, 2, 4, 8};

/* Arrays of a thread's own, and constants of the program. */
extern "C" __global__ void own_arrays(const int *in, float *out)
{
    const int t = static_cast<int>(threadIdx.x);
    float mine[8];
    for (int k = 0; k < 8; k++)
        mine[k] = static_cast<float>(in[(t + k) % 32]);
    out[t] = mine[in[t] & 7] * weights[in[t] & 3];
}

FTB_KERNEL(narrow);
FTB_KERNEL(halves_of_warp);
FTB_KERNEL(spmm);
FTB_KERNEL(count_keys);
FTB_KERNEL(own_arrays);
