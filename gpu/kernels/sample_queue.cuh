/* Neighbourhoods of seeds in one kernel: tasks in a queue, which warps take and add to until there are none.
 *
 * A task is to pick entries of a vertex's row at a hop. What it picks, and the vertex itself, are tasks of
 * the next hop, unless somebody was there before: a vertex has one task a hop. Tasks are slots of an array
 * that only grows. A warp draws tickets, which are numbers of slots, and waits for each until its task is
 * there; no slot is taken twice, and none is passed over.
 *
 * The end. `pending` counts the tasks that are not done. It is raised by a task's children before the first
 * of them can be seen, and lowered by the task no earlier than that, so that it is 0 only when every task is
 * done, and stays so: who sees 0 has no ticket whose task is still to come. To end where tickets have reached
 * the tail is wrong: a task that is being done has yet to add its own, and the ticket that they would have
 * had is gone. A slot's word is written as a whole, after what it refers to, which a fence sees to; so it
 * needs no flag, and is never counted before it is there.
 *
 * What is picked depends on seed, hop and vertex alone: so the result is the same whoever takes what. The
 * idea of sampling all hops in one kernel with a queue is PGSampler's. */
#ifndef FTB_SAMPLE_QUEUE_CUH
#define FTB_SAMPLE_QUEUE_CUH

#include "gpu/kernels/sample_draws.cuh"
#include "gpu/kernels/sample_table.cuh"

namespace
{

constexpr unsigned long long NO_TASK = ~0ull;
constexpr unsigned HOP_BITS = 8;

/* How tasks are handed over, and when that ends. Called by a warp's first lane, but for `show`. */
struct HandOver {
    /* Slots for `count` tasks of a warp, which has done `done` itself. */
    static __device__ __forceinline__ unsigned long long reserve(ftb_queue_counters *c, int count, int done)
    {
        const unsigned long long at = atomicAdd(&c->tail.value, static_cast<unsigned long long>(count));
        atomicAdd(&c->pending.value, static_cast<unsigned long long>(static_cast<long long>(count - done)));
        __threadfence();
        return at;
    }
    static __device__ __forceinline__ void show(unsigned long long *slot, unsigned long long task)
    {
        *const_cast<volatile unsigned long long *>(slot) = task;
    }
    static __device__ __forceinline__ bool ended(ftb_queue_counters *c, unsigned long long ticket, int done)
    {
        (void)ticket;
        if (done > 0)
            atomicAdd(&c->pending.value, static_cast<unsigned long long>(-static_cast<long long>(done)));
        return seen(&c->pending.value) == 0;
    }
};

/* Whether this is the first to reach a place at a hop. */
__device__ __forceinline__ bool first_to_reach(const ftb_queue_arguments &a, unsigned place, int hop)
{
    const unsigned bit = 1u << hop;
    unsigned *const word = a.reached + place;
    return !(*const_cast<volatile unsigned *>(word) & bit) && !(atomicOr(word, bit) & bit);
}

__device__ __forceinline__ unsigned long long task_of(unsigned place, int hop)
{
    return static_cast<unsigned long long>(place) << HOP_BITS | static_cast<unsigned>(hop);
}

/* What a lane has found to do. */
struct Children {
    unsigned long long picked, again; /* the vertex picked; the task's own vertex */
};

/* Does the groups' tasks, of all lanes together: NO_TASK is none. Task `ticket` has its picks there. */
template <int LANES>
__device__ __forceinline__ Children serve(const ftb_queue_arguments &a, const Group<LANES> &g,
                                          unsigned long long task, unsigned long long ticket)
{
    const bool there = task != NO_TASK;
    const int hop = there ? static_cast<int>(task & ((1u << HOP_BITS) - 1)) : 0;
    const unsigned own = there ? static_cast<unsigned>(task >> HOP_BITS) : 0;
    const unsigned vertex = there ? static_cast<unsigned>(seen(a.table.words + own) >> 32) : 0;
    const long long begin = there ? a.rowptr[vertex] : 0, degree = there ? a.rowptr[vertex + 1] - begin : 0;
    const ftb_queue_hop h = a.hop[hop];
    const Picked p = pick_uniform(g, degree, h.k, a.replace != 0, h.seed, vertex, h.stream);
    const bool mine = there && g.lane < p.count, last = hop + 1 == a.nhops;
    Children c = {NO_TASK, NO_TASK};
    bool claimed = false;
    unsigned place = 0;
    if (mine) {
        const unsigned column = static_cast<unsigned>(__ldg(a.colidx + begin + p.position));
        place = claim(a.table, column, FTB_UNNUMBERED | static_cast<unsigned>(hop), &claimed);
        const unsigned long long at = ticket * static_cast<unsigned>(a.most) + static_cast<unsigned>(g.lane);
        a.places[at] = place;
        a.positions[at] = p.position;
        if (!last && first_to_reach(a, place, hop + 1))
            c.picked = task_of(place, hop + 1);
    }
    const long long at = room_for(&a.counters->found.value, claimed);
    if (claimed)
        a.found[at] = place;
    if (there && g.lane == 0 && !last && first_to_reach(a, own, hop + 1))
        c.again = task_of(own, hop + 1);
    return c;
}

/* Hands over what the warp has found; *done of its tasks are done and not taken off. */
template <class HOW>
__device__ __forceinline__ void push(const ftb_queue_arguments &a, const Children &c, int *done)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned picked = __ballot_sync(FTB_FULL_WARP, c.picked != NO_TASK),
                   again = __ballot_sync(FTB_FULL_WARP, c.again != NO_TASK), below = (1u << lane) - 1;
    const int total = __popc(picked) + __popc(again);
    if (total == 0)
        return;
    unsigned long long at = 0;
    __syncwarp();
    if (lane == 0)
        at = HOW::reserve(a.counters, total, *done);
    *done = 0;
    __syncwarp();
    __threadfence(); /* what tasks refer to is there before they are */
    at = __shfl_sync(FTB_FULL_WARP, at, 0);
    const unsigned long long to = at + static_cast<unsigned>(__popc(picked & below)),
                             also = at + static_cast<unsigned>(__popc(picked) + __popc(again & below));
    const unsigned long long capacity = static_cast<unsigned long long>(a.capacity);
    if (c.picked != NO_TASK && to < capacity)
        HOW::show(a.tasks + to, c.picked);
    if (c.again != NO_TASK && also < capacity)
        HOW::show(a.tasks + also, c.again);
    if (at + static_cast<unsigned>(total) > capacity && lane == 0)
        atomicExch(&a.counters->stuck.value, 1ull);
}

/* A group's task, of its first lane; all lanes have it. */
template <int LANES>
__device__ __forceinline__ unsigned long long look(const ftb_queue_arguments &a, const Group<LANES> &g,
                                                   unsigned long long ticket, bool wanted)
{
    unsigned long long task = NO_TASK;
    if (g.lane == 0 && wanted && ticket < static_cast<unsigned long long>(a.capacity))
        task = seen(a.tasks + ticket);
    task = g.of(task, 0);
    __threadfence(); /* what it refers to is read after it */
    return task;
}

template <int LANES, class HOW> __device__ __forceinline__ void run_queue(const ftb_queue_arguments &a)
{
    constexpr int GROUPS = 32 / LANES;
    const Group<LANES> g;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int done = 0, waits = 0;
    for (;;) {
        unsigned long long first = 0;
        if (lane == 0)
            first = atomicAdd(&a.counters->head.value, static_cast<unsigned long long>(GROUPS));
        first = __shfl_sync(FTB_FULL_WARP, first, 0);
        const unsigned long long ticket = first + static_cast<unsigned>(lane / LANES);
        bool served = false;
        while (__any_sync(FTB_FULL_WARP, !served)) {
            const unsigned long long task = look(a, g, ticket, !served);
            const unsigned ready = __ballot_sync(FTB_FULL_WARP, task != NO_TASK && g.lane == 0);
            if (ready == 0) {
                int over = 0;
                if (lane == 0) {
                    over = HOW::ended(a.counters, first, done);
                    if (!over && (++waits >= a.patience || seen(&a.counters->stuck.value))) {
                        atomicExch(&a.counters->stuck.value, 1ull);
                        over = 1;
                    }
                }
                done = 0;
                if (__shfl_sync(FTB_FULL_WARP, over, 0))
                    return;
                __nanosleep(100);
                continue;
            }
            const Children c = serve(a, g, task, ticket);
            served |= task != NO_TASK;
            waits = 0;
            done += __popc(ready);
            push<HOW>(a, c, &done);
        }
    }
}

} // namespace

#endif
