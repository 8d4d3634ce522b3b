/* CUDA's names for a C++ compiler: included before a kernel's source (-include), which stays as nvcc takes
 * it. What is not here, kernels do not use yet. */
#ifndef SIMT_CUDA_H
#define SIMT_CUDA_H

#include "simt_calls.h"
#include "simt_vectors.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#define FTB_EMULATED 1
#define __global__
#define __device__
#define __host__
#define __constant__ const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ /* nothing: headers of C++ say __attribute__((__noinline__)) */
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)
/* A variable of a function: one that a block finds again where another left its own. Its name says whose it
 * is (program.cpp). */
#define __shared__ thread_local

#define threadIdx (simt_thread_index())
#define blockIdx (simt_block_index())
#define blockDim (simt_block_size())
#define gridDim (simt_grid_size())
constexpr int warpSize = 32;

#define SIMT_HERE simt_site here = {__builtin_FILE(), __builtin_LINE()}

/* Values as their bits, in registers: an instrumented copy through memory would count as an access. */
template <class T> inline uint64_t simt_bits(T value)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "values of 4 or 8 bytes");
    if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(uint32_t, value);
    else
        return __builtin_bit_cast(uint64_t, value);
}
template <class T> inline T simt_value(uint64_t bits)
{
    if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(T, static_cast<uint32_t>(bits));
    else
        return __builtin_bit_cast(T, bits);
}

/* ---- warps and blocks */

inline void __syncthreads(SIMT_HERE) { (void)simt_barrier(SIMT_SYNCTHREADS, 0, here); }
inline int __syncthreads_count(int p, SIMT_HERE) { return simt_barrier(SIMT_SYNCTHREADS_COUNT, p, here); }
inline int __syncthreads_and(int p, SIMT_HERE) { return simt_barrier(SIMT_SYNCTHREADS_AND, p, here); }
inline int __syncthreads_or(int p, SIMT_HERE) { return simt_barrier(SIMT_SYNCTHREADS_OR, p, here); }
inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_HERE)
{
    (void)simt_warp(SIMT_SYNCWARP, mask, 0, 0, 32, here);
}
template <class T> inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32, SIMT_HERE)
{
    return simt_value<T>(simt_warp(SIMT_SHUFFLE_INDEX, mask, simt_bits(v), lane, width, here));
}
template <class T> inline T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32, SIMT_HERE)
{
    return simt_value<T>(simt_warp(SIMT_SHUFFLE_UP, mask, simt_bits(v), static_cast<int>(by), width, here));
}
template <class T> inline T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32, SIMT_HERE)
{
    return simt_value<T>(simt_warp(SIMT_SHUFFLE_DOWN, mask, simt_bits(v), static_cast<int>(by), width, here));
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32, SIMT_HERE)
{
    return simt_value<T>(simt_warp(SIMT_SHUFFLE_XOR, mask, simt_bits(v), with, width, here));
}
inline unsigned __ballot_sync(unsigned mask, int p, SIMT_HERE)
{
    return static_cast<unsigned>(simt_warp(SIMT_BALLOT, mask, p != 0, 0, 32, here));
}
inline int __any_sync(unsigned mask, int p, SIMT_HERE)
{
    return simt_warp(SIMT_BALLOT, mask, p != 0, 0, 32, here) != 0;
}
inline int __all_sync(unsigned mask, int p, SIMT_HERE)
{
    return simt_warp(SIMT_ALL, mask, p != 0, 0, 32, here) != 0;
}
template <class T> inline unsigned __match_any_sync(unsigned mask, T v, SIMT_HERE)
{
    return static_cast<unsigned>(simt_warp(SIMT_MATCH_ANY, mask, simt_bits(v), 0, 32, here));
}
/* Which lanes run together is nobody's promise since Volta: the caller alone is always a true answer. */
inline unsigned __activemask() { return 1u << simt_lane(); }

#define SIMT_REDUCE(name, type, kind)                                                                        \
    inline type name(unsigned mask, type v, SIMT_HERE)                                                       \
    {                                                                                                        \
        return static_cast<type>(simt_warp(kind, mask, static_cast<unsigned>(v), 0, 32, here));              \
    }
SIMT_REDUCE(__reduce_add_sync, unsigned, SIMT_REDUCE_ADD)
SIMT_REDUCE(__reduce_add_sync, int, SIMT_REDUCE_ADD)
SIMT_REDUCE(__reduce_min_sync, unsigned, SIMT_REDUCE_MIN_UNSIGNED)
SIMT_REDUCE(__reduce_min_sync, int, SIMT_REDUCE_MIN)
SIMT_REDUCE(__reduce_max_sync, unsigned, SIMT_REDUCE_MAX_UNSIGNED)
SIMT_REDUCE(__reduce_max_sync, int, SIMT_REDUCE_MAX)
SIMT_REDUCE(__reduce_and_sync, unsigned, SIMT_REDUCE_AND)
SIMT_REDUCE(__reduce_or_sync, unsigned, SIMT_REDUCE_OR)
SIMT_REDUCE(__reduce_xor_sync, unsigned, SIMT_REDUCE_XOR)
#undef SIMT_REDUCE

/* D += A B. The fragments are the lane's own, so that nothing is counted as an access. */
template <simt_call KIND>
inline void simt_multiply_of(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], SIMT_HERE)
{
    simt_fragments own = {{d[0], d[1], d[2], d[3]}, {a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
    simt_multiply(KIND, &own, here);
    for (int k = 0; k < 4; k++)
        d[k] = own.d[k];
}

/* ---- memory */

/* Both types of 64 bits are the one that CUDA has. */
template <class T> constexpr simt_type simt_type_of()
{
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "atomics of 4 or 8 bytes");
    if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? SIMT_FLOAT : SIMT_DOUBLE;
    else if constexpr (std::is_signed_v<T>)
        return sizeof(T) == 4 ? SIMT_INT : SIMT_INT64;
    else
        return sizeof(T) == 4 ? SIMT_UINT : SIMT_UINT64;
}
/* The value's type is that of the address: 0 and 1 are converted, as by CUDA's functions, which are no
 * templates. */
template <class T> struct simt_same {
    typedef T type;
};
#define SIMT_ATOMIC(name, change)                                                                            \
    template <class T> inline T name(T *at, typename simt_same<T>::type v)                                   \
    {                                                                                                        \
        return simt_value<T>(simt_atomic(change, simt_type_of<T>(), at, simt_bits(v), 0));                   \
    }
SIMT_ATOMIC(atomicAdd, SIMT_ATOMIC_ADD)
SIMT_ATOMIC(atomicMin, SIMT_ATOMIC_MIN)
SIMT_ATOMIC(atomicMax, SIMT_ATOMIC_MAX)
SIMT_ATOMIC(atomicAnd, SIMT_ATOMIC_AND)
SIMT_ATOMIC(atomicOr, SIMT_ATOMIC_OR)
SIMT_ATOMIC(atomicXor, SIMT_ATOMIC_XOR)
SIMT_ATOMIC(atomicExch, SIMT_ATOMIC_EXCH)
#undef SIMT_ATOMIC
template <class T> inline T atomicSub(T *at, typename simt_same<T>::type v)
{
    const T minus = static_cast<T>(T{} - v);
    return simt_value<T>(simt_atomic(SIMT_ATOMIC_ADD, simt_type_of<T>(), at, simt_bits(minus), 0));
}
template <class T>
inline T atomicCAS(T *at, typename simt_same<T>::type expected, typename simt_same<T>::type v)
{
    return simt_value<T>(
        simt_atomic(SIMT_ATOMIC_CAS, simt_type_of<T>(), at, simt_bits(v), simt_bits(expected)));
}
inline void __threadfence() { simt_fence(false); }
inline void __threadfence_block() { simt_fence(true); }
inline void __threadfence_system() { simt_fence(false); }
inline void __nanosleep(unsigned) { simt_give_way(); }
template <int SIZE> inline void simt_copy_async_of(void *to, const void *from, SIMT_HERE)
{
    static_assert(SIZE == 4 || SIZE == 8 || SIZE == 16, "copies of 4, 8 or 16 bytes");
    simt_copy_async(to, from, SIZE, here);
}
inline void simt_copy_bulk_of(void *to, const void *from, unsigned bytes, unsigned long long *barrier,
                              SIMT_HERE)
{
    simt_copy_bulk(to, from, bytes, barrier, here);
}
template <class T> inline T __ldg(const T *p) { return *p; }
template <class T> inline T __ldcs(const T *p) { return *p; }
template <class T> inline T __ldcg(const T *p) { return *p; }
template <class T> inline void __stcs(T *p, T v) { *p = v; }
template <class T> inline void __stcg(T *p, T v) { *p = v; }

/* ---- numbers */

using std::max;
using std::min;
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

/* ---- launches */

/* Calls a kernel with what the addresses point at, as the types of its parameters say. Not instrumented: what
 * it reads is the launch's. */
template <auto KERNEL> struct simt_entry;
template <class... P, void (*KERNEL)(P...)> struct simt_entry<KERNEL> {
    static constexpr size_t sizes[] = {sizeof(P)..., 0};
    __attribute__((no_sanitize("thread"))) static void run(void **arguments)
    {
        call(arguments, std::index_sequence_for<P...>());
    }

  private:
    template <size_t... I>
    __attribute__((no_sanitize("thread"))) static void call(void **arguments, std::index_sequence<I...>)
    {
        (void)arguments;
        KERNEL(*static_cast<std::remove_const_t<P> *>(arguments[I])...);
    }
};

/* A line at the end of a source for each kernel. */
#define FTB_KERNEL(name)                                                                                     \
    static simt_kernel simt_kernel_##name = {#name, simt_entry<&name>::run, simt_entry<&name>::sizes,        \
                                             nullptr};                                                       \
    [[maybe_unused]] static const bool simt_registered_##name = simt_register(&simt_kernel_##name)

#endif
