/* Asynchronous copies from global into shared memory: by each lane (since compute capability 8.0), and of a
 * whole run by the copy engine of a multiprocessor, completing on a barrier in shared memory (since 9.0).
 *
 * In the emulation a lane's copies land late (tests/support/simt/copies.cpp). The engine's are made by the
 * lane that asks for them, at once; but nothing orders them before the others' reads but the barrier. */
#pragma once

#include "ptx.cuh"

namespace facts
{

constexpr int WAIT_TURNS = 1 << 18; /* each some tens of nanoseconds at least: then the wait is given up */

#if EMULATED

inline void copy_async(void *to, const void *from) { simt_copy_async_of<16>(to, from); }
inline void end_group() { simt_copy_commit(); }
template <int LEFT> void wait_groups() { simt_copy_wait(LEFT); }

/* Here a barrier is bytes that are awaited, and the phase as bit 63. */
inline void barrier_begin(uint64_t *barrier) { *barrier = 0; }
inline void barrier_expect(uint64_t *barrier, unsigned bytes) { atomicAdd(barrier, bytes); }
inline void copy_bulk(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
    for (unsigned k = 0; k < bytes / sizeof(uint4); k++)
        static_cast<uint4 *>(to)[k] = static_cast<const uint4 *>(from)[k];
    __threadfence_block();
    if ((atomicSub(barrier, bytes) & 0xffffffffu) == bytes)
        atomicXor(barrier, uint64_t{1} << 63);
}
inline bool barrier_wait(uint64_t *barrier, unsigned phase)
{
    for (int turn = 0; turn < WAIT_TURNS; turn++)
        if (atomicOr(barrier, 0) >> 63 != phase) {
            __threadfence_block();
            return true;
        }
    return false;
}

#else

/* 16 bytes of one lane, past L1. */
__device__ inline void copy_async(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

__device__ inline void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/* Until at most LEFT groups of this lane are under way. */
template <int LEFT> __device__ inline void wait_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

#if __CUDA_ARCH__ >= 900

/* One arrival ends a phase, once all bytes are there that it expects. */
__device__ inline void barrier_begin(uint64_t *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(
                     shared_address(barrier))
                 : "memory");
}

/* The arrival; by one lane, before the copies. */
__device__ inline void barrier_expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

/* A run of bytes, a multiple of 16 and so aligned, by one lane. */
__device__ inline void copy_bulk(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

/* Waits for the end of the phase; false when it did not come. */
__device__ inline bool barrier_wait(uint64_t *barrier, unsigned phase)
{
    for (int turn = 0; turn < WAIT_TURNS; turn++) {
        unsigned done;
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(phase)
                     : "memory");
        if (done)
            return true;
    }
    return false;
}

#else

/* Never run: older devices' cases are skipped. */
__device__ inline void barrier_begin(uint64_t *) {}
__device__ inline void barrier_expect(uint64_t *, unsigned) {}
__device__ inline void copy_bulk(void *, const void *, unsigned, uint64_t *) {}
__device__ inline bool barrier_wait(uint64_t *, unsigned) { return false; }

#endif
#endif

} // namespace facts
