/* Instructions that CUDA C++ has no name for, each with its twin for the emulation. */
#pragma once

#include "support/device.cuh"

namespace facts
{

#if EMULATED

/* Clocks are the emulation's own, and no memory of the kernels'. */
__attribute__((no_sanitize("thread"))) inline long long ticks()
{
    static long long clock = 0;
    return clock += 7;
}
__attribute__((no_sanitize("thread"))) inline uint64_t nanoseconds()
{
    static uint64_t clock = 0;
    return clock += 1000;
}
inline unsigned multiprocessor_id() { return blockIdx.x; }
inline uint32_t load_kept(const uint32_t *at) { return *at; }
inline float4 load_passing(const float4 *at) { return *at; }
template <class T> T load_shared(const T *at) { return *at; }
inline void store_shared(uint32_t *at, uint32_t v) { *at = v; }

#else

/* Cycles of this multiprocessor. Volatile like the loads below: the order in which they are written stays. */
__device__ /* Clocks are the emulation's own, and no memory of the kernels'. */
    __attribute__((no_sanitize("thread"))) inline long long
    ticks()
{
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

/* Wall time of the device. */
__device__ inline uint64_t nanoseconds()
{
    uint64_t t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

__device__ inline unsigned multiprocessor_id()
{
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

/* A load through L1, made each time. */
__device__ inline uint32_t load_kept(const uint32_t *at)
{
    uint32_t v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

/* A load of what is not written meanwhile, that leaves no line in L1. */
__device__ inline float4 load_passing(const float4 *at)
{
    float4 v;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "l"(at));
    return v;
}

__device__ inline unsigned shared_address(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/* Loads from shared memory that are made each time, though the memory has not changed. */
__device__ inline uint32_t load_shared(const uint32_t *at)
{
    uint32_t v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(shared_address(at)));
    return v;
}

__device__ inline uint2 load_shared(const uint2 *at)
{
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(shared_address(at)));
    return v;
}

__device__ inline uint4 load_shared(const uint4 *at)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(shared_address(at)));
    return v;
}

/* Made each time; what follows in the program is after the value was there. */
__device__ inline void store_shared(uint32_t *at, uint32_t v)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address(at)), "r"(v) : "memory");
}

#endif

} // namespace facts
