/* What kernels stand on. They are CUDA C++ that nvcc and NVRTC compile for a device, and a C++ compiler
 * against the emulator (tests/support/simt/simt_cuda.h, included before, defines FTB_EMULATED). They include
 * this and no other header of CUDA or of C++: NVRTC has none. PTX stands here, beside what the emulator has
 * for it, and nowhere else. */
#ifndef FTB_KERNEL_CUH
#define FTB_KERNEL_CUH

#define FTB_FULL_WARP 0xffffffffu

/* As kernels' names have them. */
typedef float f32;
typedef double f64;

#ifndef FTB_EMULATED

/* At the end of a source: a line for each kernel, an extern "C" function, that the host launches by name. */
#define FTB_KERNEL(name) static_assert(true, #name)
/* Dynamic shared memory of a block, as an array of `type` called `name`, aligned to 128 bytes. */
extern __shared__ __align__(128) unsigned char ftb_dynamic_shared[];
#define FTB_DYNAMIC_SHARED(type, name) type *const name = reinterpret_cast<type *>(ftb_dynamic_shared)

/* 16-bit reals are their bits. Rounded to nearest, ties to even; NaN is 0x7fff. */
static __device__ __forceinline__ float ftb_half_to_float(unsigned short bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
static __device__ __forceinline__ unsigned short ftb_float_to_half(float value)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
static __device__ __forceinline__ float ftb_bfloat16_to_float(unsigned short bits)
{
    return __uint_as_float(static_cast<unsigned>(bits) << 16);
}
static __device__ __forceinline__ unsigned short ftb_float_to_bfloat16(float value)
{
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

/* A word through which threads of any block hand over what they wrote: all that came before the store is seen
 * after a load that finds its value. */
static __device__ __forceinline__ int ftb_load_acquire(const int *at)
{
    int value;
    asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
static __device__ __forceinline__ void ftb_store_release(int *at, int value)
{
    asm volatile("st.release.gpu.b32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

/* A word of shared memory that others may be changing by atomic operations: it is read anew, and whole. */
static __device__ __forceinline__ int ftb_load_shared(const int *at)
{
    return *static_cast<const volatile int *>(at);
}

/* Copies SIZE bytes (4, 8 or 16, of which both addresses are multiples) from global to shared memory while
 * the thread goes on. Copies up to a commit are a group; a wait is for all groups of the thread but the last
 * BUT. What the thread has waited for is as if it had written it: others need a barrier. */
template <int SIZE> static __device__ __forceinline__ void ftb_copy_async(void *to, const void *from)
{
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(shared), "l"(from), "n"(SIZE)
                 : "memory");
}
static __device__ __forceinline__ void ftb_copy_commit()
{
    asm volatile("cp.async.commit_group;" : : : "memory");
}
template <int BUT> static __device__ __forceinline__ void ftb_copy_wait()
{
    asm volatile("cp.async.wait_group %0;" : : "n"(BUT) : "memory");
}

#else

#define FTB_DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(simt_dynamic_shared())
#define ftb_half_to_float simt_half_to_float
#define ftb_float_to_half simt_float_to_half
#define ftb_bfloat16_to_float(bits) __uint_as_float(static_cast<unsigned>(bits) << 16)
#define ftb_float_to_bfloat16 simt_float_to_bfloat16
#define ftb_load_acquire simt_load_acquire
#define ftb_store_release simt_store_release
#define ftb_load_shared(at) atomicOr((at), 0)
#define ftb_copy_async simt_copy_async_of
#define ftb_copy_commit simt_copy_commit
template <int BUT> inline void ftb_copy_wait() { simt_copy_wait(BUT); }

#endif

#endif
