/* The queue of sampling (gpu/kernels/sample_queue.cuh) with its end, or its tasks, handed over wrongly: what
 * the emulator must show. */
#include "gpu/kernels/sample_queue.cuh"

namespace
{

/* Ends where tickets have reached the tail, as PGSampler does: tasks that are being done have yet to add
 * theirs.
 */
struct EndsAtTail : HandOver {
    static __device__ __forceinline__ bool ended(ftb_queue_counters *c, unsigned long long ticket, int done)
    {
        (void)done;
        return ticket >= seen(&c->tail.value);
    }
};

/* Takes its own tasks off before it counts what they have found. */
struct LowersFirst : HandOver {
    static __device__ __forceinline__ unsigned long long reserve(ftb_queue_counters *c, int count, int done)
    {
        const unsigned long long at = atomicAdd(&c->tail.value, static_cast<unsigned long long>(count));
        atomicAdd(&c->pending.value, static_cast<unsigned long long>(-static_cast<long long>(done)));
        __threadfence();
        atomicAdd(&c->pending.value, static_cast<unsigned long long>(count));
        return at;
    }
};

/* Writes a slot's word as any other. */
struct ShowsPlainly : HandOver {
    static __device__ __forceinline__ void show(unsigned long long *slot, unsigned long long task)
    {
        *slot = task;
    }
};

/* Counts all but one of a warp's tasks. */
struct ForgetsOne : HandOver {
    static __device__ __forceinline__ unsigned long long reserve(ftb_queue_counters *c, int count, int done)
    {
        return HandOver::reserve(c, count, done + (count > 1));
    }
};

} // namespace

#define MISTAKE(name, HOW)                                                                                   \
    extern "C" __global__ void name(ftb_queue_arguments a) { run_queue<8, HOW>(a); }                         \
    FTB_KERNEL(name);
MISTAKE(queue_ends_at_tail, EndsAtTail)
MISTAKE(queue_lowers_first, LowersFirst)
MISTAKE(queue_shows_plainly, ShowsPlainly)
MISTAKE(queue_forgets_one, ForgetsOne)
