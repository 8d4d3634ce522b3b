/* Schedules of multi-hop sampling that keep every vertex of the tree, however often it occurs: level by level
 * over all places, level by level over a list whose length the host reads back, one block per seed, and one
 * persistent kernel with a queue (which can also skip what was reached before, UNIQUE). */
#pragma once

#include "sampler.cuh"

namespace facts
{
namespace sampler
{

/* The places of one hop; `vertices` are the picks of the hop before, -1 where there is none. Needs no count.
 */
template <int LANES, int METHOD>
__global__ __launch_bounds__(SAMPLER_BLOCK) void level_by_places(const Sampling s, int hop,
                                                                 const int *vertices, int nplaces, int *picks)
{
    DYNAMIC_SHARED(memory);
    const int place = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / LANES);
    if (place >= nplaces)
        return;
    const Group32<LANES> g;
    const Where w = {s.first_batch + static_cast<uint32_t>(place / s.places(hop)), vertices[place], hop};
    int pick[slots<LANES>];
    pick_neighbours<LANES, METHOD>(s, g, w, own_list<LANES>(memory), pick);
    store_picks<LANES>(g, s.fanout(hop), pick, picks + place * s.fanout(hop));
}

/* A vertex to sample from: the vertex (or its key), the hop, the place in the hop. Never all ones. */
using Task = unsigned long long;
constexpr Task NO_TASK = ~Task{0};
__host__ __device__ inline Task task_of(int vertex, int hop, int place)
{
    return static_cast<Task>(static_cast<uint32_t>(vertex)) << 32 | static_cast<uint32_t>(hop) << 30 |
           static_cast<uint32_t>(place);
}
__host__ __device__ inline int vertex_of(Task t) { return static_cast<int>(t >> 32); }
__host__ __device__ inline int hop_of(Task t) { return static_cast<int>(t >> 30 & 3); }
__host__ __device__ inline int place_of(Task t) { return static_cast<int>(t & 0x3fffffff); }

/* The tasks of a list; appends those of the next hop to `next`. Two counters take turns: this launch appends
 * to one and clears the other, whose value has been read. */
template <int LANES, int METHOD>
__global__ __launch_bounds__(SAMPLER_BLOCK) void level_by_list(const Sampling s, int hop, const int *seeds,
                                                               const Task *tasks, int ntasks, int *picks,
                                                               Task *next, int *counters)
{
    DYNAMIC_SHARED(memory);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        counters[hop & 1] = 0;
    const int index = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / LANES);
    const Group32<LANES> g;
    const int k = s.fanout(hop);
    int vertex = -1, place = 0, pick[slots<LANES>];
    if (index < ntasks) {
        vertex = hop == 0 ? seeds[index] : vertex_of(tasks[index]);
        place = hop == 0 ? index : place_of(tasks[index]);
    }
    const Where w = {s.first_batch + static_cast<uint32_t>(place / s.places(hop)), vertex, hop};
    pick_neighbours<LANES, METHOD>(s, g, w, own_list<LANES>(memory), pick);
    if (index < ntasks)
        store_picks<LANES>(g, k, pick, picks + place * k);
    if (hop + 1 == s.hops)
        return;
    int mine = 0, total, position = 0;
#pragma unroll
    for (int slot = 0; slot < slots<LANES>; slot++)
        mine += pick[slot] >= 0;
    const int offset = warp_offset(mine, total);
    if (threadIdx.x % WARP == 0 && total > 0)
        position = atomicAdd(&counters[(hop + 1) & 1], total);
    position = __shfl_sync(FULL_WARP, position, 0) + offset;
#pragma unroll
    for (int slot = 0; slot < slots<LANES>; slot++)
        if (pick[slot] >= 0)
            next[position++] = task_of(pick[slot], hop + 1, place * k + slot * LANES + g.lane);
}

/* The whole tree of one seed in one block; the vertices of all but the last hop lie in shared memory. */
template <int LANES, int METHOD>
__global__ __launch_bounds__(SAMPLER_BLOCK) void block_per_seed(const Sampling s, const int *seeds,
                                                                int nbatches, int *picks)
{
    DYNAMIC_SHARED(memory);
    const Group32<LANES> g;
    const int block = static_cast<int>(blockDim.x), seed = static_cast<int>(blockIdx.x);
    const uint32_t batch = s.first_batch + static_cast<uint32_t>(seed / s.batch_size);
    int *level = reinterpret_cast<int *>(memory) + block / LANES * MAX_FANOUT;
    if (threadIdx.x == 0)
        level[0] = seeds[seed];
    __syncthreads();
    for (int hop = 0, nplaces = 1; hop < s.hops; hop++) {
        const int k = s.fanout(hop);
        int *out = picks + s.first_pick(hop, nbatches) + seed * nplaces * k;
        for (int place = static_cast<int>(threadIdx.x) / LANES; place < nplaces; place += block / LANES) {
            int pick[slots<LANES>];
            pick_neighbours<LANES, METHOD>(s, g, {batch, level[place], hop}, own_list<LANES>(memory), pick);
            store_picks<LANES>(g, k, pick, out + place * k);
            if (hop + 1 < s.hops)
                store_picks<LANES>(g, k, pick, level + nplaces + place * k);
        }
        __syncthreads();
        level += nplaces;
        nplaces *= k;
    }
}
inline size_t seed_block_bytes(const Sampling &s, int block, int lanes)
{
    return list_bytes(block, lanes) +
           static_cast<size_t>(1 + s.fanout0 + s.fanout0 * s.fanout1) * sizeof(int);
}

/* One counter a cache line, so that each is in a slice of the L2 of its own. */
struct alignas(128) Counter {
    int value;
};
struct Counters {
    Counter head, tail, pending;
};

/* The queue: seeds are tickets 0 .. nseeds - 1, what is pushed follows. A warp draws tickets from `head`, and
 * waits for each to be filled in; a word is task and flag in one, and its taker empties it again.
 *
 * The end: `pending` counts tasks that are neither done nor taken off, seeds included. Children are added
 * before they can be seen and their parent is taken off no earlier, so that it is 0 only when nothing is
 * left; and a ticket that is filled in is itself pending, so that a warp that sees 0 has no ticket that it
 * could still have to serve. (To end on head < tail alone would lose tasks that a running one has yet to
 * push.) */
struct Queue {
    const int *seeds;
    int nseeds, capacity;
    Task *tasks;
    Counters *now, *next; /* this launch's, and the next one's, which this one sets */
    int *stuck; /* set by a warp that has waited `patience` times: a mistake, not a state that is meant */
    int patience;
    int batch;       /* tickets that a group takes at once */
    unsigned *marks; /* UNIQUE: a bit for each (hop - 1, batch, vertex) that was pushed */
    int mark_words;  /* of a hop */
    Task *served;    /* UNIQUE: the task of each ticket, whose picks are MAX_FANOUT words */
};

/* What a task pushes: by lane, one for each slot and, in lane 0 under UNIQUE, the vertex itself at the next
 * hop. */
template <int LANES> struct Children {
    Task task[slots<LANES> + 1];
};

/* Whether this is the first to reach a vertex at a hop. */
__device__ inline bool first_to_mark(const Queue &q, int hop, int key)
{
    const unsigned bit = 1u << (key & 31);
    unsigned *word = q.marks + (hop - 1) * q.mark_words + (key >> 5);
    return !(*const_cast<volatile unsigned *>(word) & bit) && !(atomicOr(word, bit) & bit);
}

template <int LANES, int METHOD, bool UNIQUE>
__device__ void serve(const Sampling &s, const Queue &q, const Group32<LANES> &g, Task task, int ticket,
                      int nbatches, int *list, int *picks, Children<LANES> &children)
{
    const int hop = hop_of(task), place = place_of(task), k = s.fanout(hop);
    const int batch = UNIQUE ? vertex_of(task) / s.nvertices : place / s.places(hop);
    const int vertex = vertex_of(task) - (UNIQUE ? batch * s.nvertices : 0);
    int pick[slots<LANES>];
    pick_neighbours<LANES, METHOD>(s, g, {s.first_batch + static_cast<uint32_t>(batch), vertex, hop}, list,
                                   pick);
    const bool last = hop + 1 == s.hops;
#pragma unroll
    for (int slot = 0; slot < slots<LANES>; slot++) {
        const int key = UNIQUE && pick[slot] >= 0 ? pick[slot] + batch * s.nvertices : pick[slot];
        const bool push = !last && key >= 0 && (!UNIQUE || first_to_mark(q, hop + 1, key));
        children.task[slot] =
            push ? task_of(key, hop + 1, UNIQUE ? 0 : place * k + slot * LANES + g.lane) : NO_TASK;
        pick[slot] = key;
    }
    if (UNIQUE) {
        const bool push = !last && g.lane == 0 && first_to_mark(q, hop + 1, vertex_of(task));
        children.task[slots<LANES>] = push ? task_of(vertex_of(task), hop + 1, 0) : NO_TASK;
        if (g.lane == 0)
            q.served[ticket] = task;
        store_picks<LANES>(g, k, pick, picks + static_cast<int64_t>(ticket) * MAX_FANOUT);
    } else {
        store_picks<LANES>(g, k, pick, picks + s.first_pick(hop, nbatches) + place * k);
    }
}

/* Pushes what the warp's tasks have found; `owed` tasks of the warp are done and not yet taken off. */
template <int LANES> __device__ void push(const Queue &q, const Children<LANES> &children, int &owed)
{
    int mine = 0, total, position = 0;
#pragma unroll
    for (int c = 0; c <= slots<LANES>; c++)
        mine += children.task[c] != NO_TASK;
    const int offset = warp_offset(mine, total);
    if (total == 0)
        return;
    if (threadIdx.x % WARP == 0) {
        position = atomicAdd(&q.now->tail.value, total);
        atomicAdd(&q.now->pending.value, total - owed);
        __threadfence(); /* counted before they are seen */
    }
    __syncwarp();
    owed = 0;
    position = __shfl_sync(FULL_WARP, position, 0) + offset;
#pragma unroll
    for (int c = 0; c <= slots<LANES>; c++)
        if (children.task[c] != NO_TASK) {
            if (position < q.capacity)
                *const_cast<volatile Task *>(q.tasks + position) = children.task[c];
            else
                *q.stuck = 1;
            position++;
        }
}

/* Nothing to do for the warp right now: takes its tasks off and says whether that is the end. */
__device__ inline bool ended(const Queue &q, int &owed, int &waits)
{
    int pending = 0;
    if (threadIdx.x % WARP == 0) {
        if (owed > 0)
            atomicAdd(&q.now->pending.value, -owed);
        pending = *const_cast<volatile int *>(&q.now->pending.value);
        if (pending != 0 && waits == q.patience) {
            *q.stuck = 1;
            pending = 0;
        }
    }
    owed = 0;
    waits++;
    __nanosleep(100);
    return __shfl_sync(FULL_WARP, pending, 0) == 0;
}

/* The task of a ticket, or NO_TASK while there is none. */
template <int LANES> __device__ Task take(const Queue &q, const Group32<LANES> &g, int ticket, bool wanted)
{
    Task task = NO_TASK;
    if (g.lane == 0 && wanted) {
        if (ticket < q.nseeds) {
            task = task_of(q.seeds[ticket], 0, ticket);
        } else if (ticket - q.nseeds < q.capacity) {
            volatile Task *const word = q.tasks + (ticket - q.nseeds);
            task = *word;
            if (task != NO_TASK)
                *word = NO_TASK;
        }
    }
    return __shfl_sync(g.mask, task, 0, LANES);
}

template <int LANES, int METHOD, bool UNIQUE>
__global__ __launch_bounds__(SAMPLER_BLOCK, 4) void persistent_queue(const Sampling s, const Queue q,
                                                                     int nbatches, int *picks)
{
    DYNAMIC_SHARED(memory);
    constexpr int GROUPS = WARP / LANES;
    const Group32<LANES> g;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        q.next->head.value = q.next->tail.value = 0;
        q.next->pending.value = q.nseeds;
    }
    for (int owed = 0, waits = 0;;) {
        int ticket = 0;
        if (threadIdx.x % WARP == 0)
            ticket = atomicAdd(&q.now->head.value, GROUPS * q.batch);
        ticket = __shfl_sync(FULL_WARP, ticket, 0) + g.shift / LANES;
        for (int round = 0; round < q.batch; round++, ticket += GROUPS) {
            bool served = false;
            while (__any_sync(FULL_WARP, !served)) {
                const Task task = take<LANES>(q, g, ticket, !served);
                const bool ready = task != NO_TASK;
                const unsigned leaders = __ballot_sync(FULL_WARP, ready && g.lane == 0);
                if (leaders == 0) {
                    if (ended(q, owed, waits))
                        return;
                    continue;
                }
                Children<LANES> children;
#pragma unroll
                for (int c = 0; c <= slots<LANES>; c++)
                    children.task[c] = NO_TASK;
                if (ready)
                    serve<LANES, METHOD, UNIQUE>(s, q, g, task, ticket, nbatches, own_list<LANES>(memory),
                                                 picks, children);
                __syncwarp();
                served |= ready;
                waits = 0;
                owed += __popc(leaders);
                push<LANES>(q, children, owed);
            }
        }
    }
}

/* The sum of the fingerprints of all picks of a queue's tasks, in whatever order they were served. */
static __global__ __launch_bounds__(SAMPLER_BLOCK) void sum_fingerprints(const Sampling s, const Task *served,
                                                                         const int *picks, int ntasks,
                                                                         unsigned long long *sum)
{
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    unsigned long long mine = 0;
    for (int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); t < ntasks; t += step)
        for (int j = 0; j < s.fanout(hop_of(served[t])); j++)
            mine += fingerprint(static_cast<uint32_t>(vertex_of(served[t])), hop_of(served[t]), j,
                                static_cast<uint32_t>(picks[static_cast<int64_t>(t) * MAX_FANOUT + j]));
    atomicAdd(sum, mine);
}

/* How many of `count` picks are not those expected. */
static __global__ __launch_bounds__(SAMPLER_BLOCK) void count_different(const int *picks, const int *expected,
                                                                        int count, int *different)
{
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    int mine = 0;
    for (int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); k < count; k += step)
        mine += picks[k] != expected[k];
    if (mine > 0)
        atomicAdd(different, mine);
}

} // namespace sampler
} // namespace facts
