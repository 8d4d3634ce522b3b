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

/* The bits of an FP32 whose last 13 are 0: to nearest, ties away from zero. */
static __device__ __forceinline__ unsigned ftb_float_to_tf32(float value)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
}

/* Products of matrices that a warp makes on its tensor cores, d += a b, of 16 x 8 values: over 8 of TF32 or
 * 16 of 16 bits. Which values a lane has is said in tests/support/simt/matrices.cpp. */
#define FTB_MULTIPLY(name, shape)                                                                            \
    static __device__ __forceinline__ void name(float(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2])  \
    {                                                                                                        \
        asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "             \
                     "{%0, %1, %2, %3};"                                                                     \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                        \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                    \
    }
FTB_MULTIPLY(ftb_multiply_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
FTB_MULTIPLY(ftb_multiply_fp16, "m16n8k16.row.col.f32.f16.f16.f32")
FTB_MULTIPLY(ftb_multiply_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
#undef FTB_MULTIPLY

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

/* Copies of whole runs, by the copy engine of a multiprocessor, since compute capability 9.0: 16 bytes or
 * multiples, of which both addresses are multiples, too. They complete on a barrier in shared memory: a phase
 * of it ends when one thread has said how many bytes are expected, and these are there; who has waited for
 * the phase (the first is 0, then 1, then 0 ...) sees them. One thread makes the barrier, before a
 * __syncthreads. What is written to next must have been read by all, before a __syncthreads, too. */
#if __CUDA_ARCH__ >= 900
static __device__ __forceinline__ unsigned ftb_shared_address(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
static __device__ __forceinline__ void ftb_barrier_begin(unsigned long long *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.proxy.async.shared::cta;"
                 :
                 : "r"(ftb_shared_address(barrier))
                 : "memory");
}
static __device__ __forceinline__ void ftb_barrier_expect(unsigned long long *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(ftb_shared_address(barrier)), "r"(bytes)
                 : "memory");
}
static __device__ __forceinline__ void ftb_copy_bulk(void *to, const void *from, unsigned bytes,
                                                     unsigned long long *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(ftb_shared_address(to)), "l"(from), "r"(bytes), "r"(ftb_shared_address(barrier))
                 : "memory");
}
static __device__ __forceinline__ void ftb_barrier_wait(unsigned long long *barrier, unsigned phase)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(ftb_shared_address(barrier)), "r"(phase)
                     : "memory");
}
#else /* never run there */
static __device__ __forceinline__ void ftb_barrier_begin(unsigned long long *) {}
static __device__ __forceinline__ void ftb_barrier_expect(unsigned long long *, unsigned) {}
static __device__ __forceinline__ void ftb_copy_bulk(void *, const void *, unsigned, unsigned long long *) {}
static __device__ __forceinline__ void ftb_barrier_wait(unsigned long long *, unsigned) {}
#endif

#else

#define FTB_DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(simt_dynamic_shared())
#define ftb_half_to_float simt_half_to_float
#define ftb_float_to_half simt_float_to_half
#define ftb_bfloat16_to_float(bits) __uint_as_float(static_cast<unsigned>(bits) << 16)
#define ftb_float_to_bfloat16 simt_float_to_bfloat16
#define ftb_float_to_tf32 simt_float_to_tf32
#define ftb_multiply_tf32 simt_multiply_of<SIMT_MULTIPLY_TF32>
#define ftb_multiply_fp16 simt_multiply_of<SIMT_MULTIPLY_FP16>
#define ftb_multiply_bf16 simt_multiply_of<SIMT_MULTIPLY_BF16>
#define ftb_load_acquire simt_load_acquire
#define ftb_store_release simt_store_release
#define ftb_load_shared(at) atomicOr((at), 0)
#define ftb_copy_async simt_copy_async_of
#define ftb_copy_commit simt_copy_commit
#define ftb_barrier_begin simt_barrier_begin
#define ftb_barrier_expect simt_barrier_expect
#define ftb_copy_bulk simt_copy_bulk_of
#define ftb_barrier_wait simt_barrier_wait
template <int BUT> inline void ftb_copy_wait() { simt_copy_wait(BUT); }

#endif

#endif
