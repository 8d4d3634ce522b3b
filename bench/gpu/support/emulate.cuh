/* Enough of CUDA for a C++ compiler to compile the kernels of this folder and run them at toy size: each lane
 * is a fiber; lanes run in random order between the places where they wait for each other, as lanes of real
 * hardware may since Volta. A shuffle whose mask names a lane that has left, a barrier that part of a block
 * never reaches and a wait for ever are reported. Blocks run one after the other, so that a static variable
 * serves as shared memory; LAUNCH_TOGETHER runs all of a grid at once, for kernels without. Device memory is
 * malloc's, so that the address sanitizer sees what leaves it. */
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __grid_constant__

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
#define EMULATE_VECTORS(type, name)                                                                          \
    struct alignas(2 * sizeof(type)) name##2 { type x, y; };                                                 \
    struct alignas(4 * sizeof(type) > 16 ? 16 : 4 * sizeof(type)) name##4 { type x, y, z, w; };              \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                         \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
EMULATE_VECTORS(float, float)
EMULATE_VECTORS(int, int)
EMULATE_VECTORS(unsigned, uint)
EMULATE_VECTORS(unsigned short, ushort)
#undef EMULATE_VECTORS

namespace emulate
{

/* Where the running lane is. */
struct Place {
    uint3 thread, block;
    dim3 threads, blocks;
};
extern Place here;

enum Kind { SHUFFLE, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, BALLOT, SYNC_WARP };

void launch(dim3 grid, dim3 block, size_t shared, int resident_blocks, const std::function<void()> &kernel);
unsigned char *shared();
uint64_t warp_operation(Kind kind, unsigned mask, uint64_t value, int argument, int width);
void barrier();
/* Lets other lanes run: at atomics and in loops that wait. */
void give_way();

template <class T> T shuffle(Kind kind, unsigned mask, T value, int argument, int width)
{
    static_assert(sizeof(T) <= 8, "shuffles carry up to 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = warp_operation(kind, mask, bits, argument, width);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T, class Change> T atomic(T *at, Change change)
{
    give_way();
    const T old = *at;
    *at = change(old);
    return old;
}

} // namespace emulate

#define threadIdx (emulate::here.thread)
#define blockIdx (emulate::here.block)
#define blockDim (emulate::here.threads)
#define gridDim (emulate::here.blocks)
#define LAUNCH(kernel, grid, block, shared, ...)                                                             \
    emulate::launch((grid), (block), (shared), 1, [&] { (kernel)(__VA_ARGS__); })
#define LAUNCH_TOGETHER(kernel, grid, block, shared, ...)                                                    \
    emulate::launch((grid), (block), (shared), 1 << 30, [&] { (kernel)(__VA_ARGS__); })
#define DYNAMIC_SHARED(name) unsigned char *const name = emulate::shared()

inline void __syncthreads() { emulate::barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    emulate::warp_operation(emulate::SYNC_WARP, mask, 0, 0, 32);
}
template <class T> T __shfl_sync(unsigned mask, T v, int lane, int width = 32)
{
    return emulate::shuffle(emulate::SHUFFLE, mask, v, lane, width);
}
template <class T> T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32)
{
    return emulate::shuffle(emulate::SHUFFLE_UP, mask, v, static_cast<int>(by), width);
}
template <class T> T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32)
{
    return emulate::shuffle(emulate::SHUFFLE_DOWN, mask, v, static_cast<int>(by), width);
}
template <class T> T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32)
{
    return emulate::shuffle(emulate::SHUFFLE_XOR, mask, v, with, width);
}
inline unsigned __ballot_sync(unsigned mask, int p)
{
    return static_cast<unsigned>(emulate::warp_operation(emulate::BALLOT, mask, p != 0, 0, 32));
}
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, p) == mask; }
template <class T> T atomicAdd(T *at, T v)
{
    return emulate::atomic(at, [&](T old) { return static_cast<T>(old + v); });
}
template <class T> T atomicMax(T *at, T v)
{
    return emulate::atomic(at, [&](T old) { return std::max(old, v); });
}
template <class T> T atomicMin(T *at, T v)
{
    return emulate::atomic(at, [&](T old) { return std::min(old, v); });
}
template <class T> T atomicOr(T *at, T v)
{
    return emulate::atomic(at, [&](T old) { return static_cast<T>(old | v); });
}
template <class T> T atomicExch(T *at, T v)
{
    return emulate::atomic(at, [&](T) { return v; });
}
template <class T> T atomicCAS(T *at, T expected, T v)
{
    return emulate::atomic(at, [&](T old) { return old == expected ? v : old; });
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __nanosleep(unsigned) { emulate::give_way(); }
template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
template <class T> T __ldcg(const T *p) { return *p; }
template <class T> void __stcs(T *p, T v) { *p = v; }
template <class T> void __stcg(T *p, T v) { *p = v; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline float __expf(float x) { return std::exp(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline unsigned __float_as_uint(float x)
{
    unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float __uint_as_float(unsigned bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
using std::max;
using std::min;

typedef int cudaError_t;
typedef void *cudaStream_t;
enum { cudaSuccess, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
inline const char *cudaGetErrorString(cudaError_t) { return "out of memory"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaMalloc(void **at, size_t bytes)
{
    *at = std::malloc(bytes);
    if (*at)
        std::memset(*at, 0xa5, bytes); /* what was never written is nonsense */
    return *at ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void *at)
{
    std::free(at);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    if (bytes > 0)
        std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *at, int byte, size_t bytes)
{
    if (bytes > 0)
        std::memset(at, byte, bytes);
    return cudaSuccess;
}
template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel *, int, int) { return cudaSuccess; }
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int, size_t)
{
    *blocks = 2;
    return cudaSuccess;
}
