/* Asynchronous copies from global into shared memory: by each lane (since compute capability 8.0), and of a
 * whole run by the copy engine of a multiprocessor, completing on a barrier in shared memory (since 9.0).
 *
 * In the emulation a copy is made as late as it may be, when it is waited for: what is read too early is not
 * there. */
#pragma once

#include "ptx.cuh"

#if EMULATED
#include <deque>
#include <map>
#endif

namespace facts
{

constexpr int WAIT_TURNS = 1 << 18; /* each some tens of nanoseconds at least: then the wait is given up */

#if EMULATED

struct LateCopy {
    void *to;
    const void *from;
    size_t bytes;
};
using LateCopies = std::vector<LateCopy>;

inline void make_copies(LateCopies &copies)
{
    for (const LateCopy &c : copies)
        std::memcpy(c.to, c.from, c.bytes);
    copies.clear();
}

struct LaneCopies {
    LateCopies open;
    std::deque<LateCopies> groups;
};

inline LaneCopies &copies_of_lane()
{
    static std::map<unsigned, LaneCopies> lanes;
    return lanes[threadIdx.x];
}

inline void copy_async(void *to, const void *from) { copies_of_lane().open.push_back({to, from, 16}); }
inline void end_group()
{
    LaneCopies &mine = copies_of_lane();
    mine.groups.push_back(std::move(mine.open));
    mine.open.clear();
}
template <int LEFT> void wait_groups()
{
    LaneCopies &mine = copies_of_lane();
    for (; mine.groups.size() > LEFT; mine.groups.pop_front())
        make_copies(mine.groups.front());
    emulate::give_way();
}

/* Here a barrier is bytes that are awaited, and the phase as bit 63. */
inline std::map<uint64_t *, LateCopies> &copies_of_barriers()
{
    static std::map<uint64_t *, LateCopies> copies;
    return copies;
}
inline void barrier_begin(uint64_t *barrier)
{
    *barrier = 0;
    copies_of_barriers()[barrier].clear();
}
inline void barrier_expect(uint64_t *barrier, unsigned bytes) { *barrier += bytes; }
inline void copy_bulk(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
    copies_of_barriers()[barrier].push_back({to, from, bytes});
}
inline bool barrier_wait(uint64_t *barrier, unsigned phase)
{
    for (int turn = 0; turn < 1000; turn++) {
        if (*barrier >> 63 != phase)
            return true;
        LateCopies &copies = copies_of_barriers()[barrier];
        uint64_t bytes = 0;
        for (const LateCopy &c : copies)
            bytes += c.bytes;
        if (bytes > 0 && bytes == *barrier << 1 >> 1) {
            make_copies(copies);
            *barrier = (phase ^ 1ull) << 63;
        }
        emulate::give_way();
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
