/* All hops in one kernel (sample_queue.cuh), and what becomes of its tasks:
 *
 *     seeds        places for the seeds, whose tasks are the first
 *     queue_8, queue_16, queue_32    lanes do a task, a pick each
 *     keys         new vertices by the hop that found them first; sorted, they are numbered
 *                  (sample_numbers.cu)
 *     tasks        which task each row of each layer is of
 *     counts       how many picks a row has
 *     totals       where layers begin
 *     rows_8, ...  lanes write a row: numbers, in their order */
#include "gpu/kernels/sample_queue.cuh"
#include "gpu/kernels/sample_rows.cuh"

namespace
{

/* The layer of a row, of all layers' rows. */
__device__ __forceinline__ int layer_of(const ftb_queue_layers &l, int nhops, long long row)
{
    int h = 0;
    while (h + 1 < nhops && l.first[h + 1] <= row)
        h++;
    return h;
}

__device__ __forceinline__ unsigned number_of(const ftb_sample_table &t, unsigned vertex)
{
    bool claimed;
    return static_cast<unsigned>(seen(t.words + claim(t, vertex, ~0u, &claimed)));
}

template <int LANES>
__device__ __forceinline__ void write_rows(const ftb_queue_arguments &a, const ftb_queue_layers &l)
{
    const Group<LANES> g;
    const long long row = thread_place() / LANES;
    const bool there = row < l.first[a.nhops];
    const int h = there ? layer_of(l, a.nhops, row) : 0;
    const long long r = row - l.first[h], start = l.to[l.first[h]];
    const long long to = there ? l.to[row] - start : 0;
    const int count = there ? static_cast<int>(l.to[row + 1] - start - to) : 0;
    unsigned number = 0;
    int position = 0;
    if (g.lane < count) {
        const long long at = static_cast<long long>(l.task[row]) * a.most + g.lane;
        number = static_cast<unsigned>(a.table.words[a.places[at]]);
        position = a.positions[at];
    }
    const int rank = rank_of(
        g, (static_cast<unsigned long long>(number) << 32) | static_cast<unsigned>(position), g.lane, count);
    if (g.lane < count) {
        l.columns[h][to + rank] = static_cast<int>(number);
        if (l.entries[h])
            l.entries[h][to + rank] = a.rowptr[l.vertices[r]] + position;
    }
    if (there && g.lane == 0) {
        l.rowptr[h][r] = to;
        if (r + 1 == l.known[h])
            l.rowptr[h][r + 1] = to + count;
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK) sample_queue_seeds(ftb_queue_arguments a)
{
    const long long n = thread_place();
    bool claimed = false;
    unsigned place = 0;
    if (n < a.nseeds) {
        place = claim(a.table, static_cast<unsigned>(a.seeds[n]), static_cast<unsigned>(n), &claimed);
        if (claimed)
            a.reached[place] = 1; /* nobody else's before the kernel's end */
    }
    const long long at = room_for(&a.counters->tail.value, claimed);
    (void)room_for(&a.counters->pending.value, claimed);
    if (claimed)
        a.tasks[at] = task_of(place, 0);
}
FTB_KERNEL(sample_queue_seeds);

#define QUEUE(lanes)                                                                                         \
    extern "C" __global__ void __launch_bounds__(FTB_QUEUE_BLOCK)                                            \
        sample_queue_##lanes(ftb_queue_arguments a)                                                          \
    {                                                                                                        \
        run_queue<lanes, HandOver>(a);                                                                       \
    }                                                                                                        \
    FTB_KERNEL(sample_queue_##lanes);
FTB_SAMPLE_QUEUE_KERNELS(QUEUE)

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK)
    sample_queue_keys(ftb_queue_arguments a, ftb_queue_layers l)
{
    const long long n = thread_place();
    const bool there = n < l.nfresh;
    const unsigned long long word = there ? a.table.words[a.found[n]] : 0;
    const unsigned hop = static_cast<unsigned>(word) & (FTB_UNNUMBERED - 1);
    if (there)
        l.keys[n] = static_cast<unsigned long long>(hop) << 32 | word >> 32;
    const unsigned same = __match_any_sync(FTB_FULL_WARP, there ? hop : ~0u);
    if (there && (same & ((1u << threadIdx.x % 32) - 1)) == 0)
        atomicAdd(l.news + hop, static_cast<unsigned long long>(__popc(same)));
}
FTB_KERNEL(sample_queue_keys);

extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK)
    sample_queue_tasks(ftb_queue_arguments a, ftb_queue_layers l)
{
    const long long t = thread_place();
    if (t >= l.ntasks)
        return;
    const unsigned long long task = a.tasks[t];
    const unsigned number = static_cast<unsigned>(a.table.words[task >> HOP_BITS]);
    l.task[l.first[task & ((1u << HOP_BITS) - 1)] + number] = static_cast<int>(t);
}
FTB_KERNEL(sample_queue_tasks);

/* A seed that comes again has the task of the first. */
extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK)
    sample_queue_counts(ftb_queue_arguments a, ftb_queue_layers l)
{
    const long long row = thread_place();
    if (row >= l.first[a.nhops])
        return;
    const int h = layer_of(l, a.nhops, row), k = a.hop[h].k;
    const long long r = row - l.first[h], vertex = l.vertices[r];
    const long long degree = a.rowptr[vertex + 1] - a.rowptr[vertex];
    if (r < a.nseeds) {
        const unsigned number = number_of(a.table, static_cast<unsigned>(vertex));
        if (number != static_cast<unsigned>(r))
            l.task[row] = l.task[l.first[h] + number];
    }
    l.to[row] = (a.replace ? degree > 0 : degree > k) ? k : degree;
}
FTB_KERNEL(sample_queue_counts);

extern "C" __global__ void sample_queue_totals(ftb_queue_arguments a, ftb_queue_layers l)
{
    const int h = static_cast<int>(threadIdx.x);
    if (h <= a.nhops)
        l.totals[h] = l.to[l.first[h]];
}
FTB_KERNEL(sample_queue_totals);

#define QUEUE_ROWS(lanes)                                                                                    \
    extern "C" __global__ void __launch_bounds__(FTB_SAMPLE_BLOCK)                                           \
        sample_queue_rows_##lanes(ftb_queue_arguments a, ftb_queue_layers l)                                 \
    {                                                                                                        \
        write_rows<lanes>(a, l);                                                                             \
    }                                                                                                        \
    FTB_KERNEL(sample_queue_rows_##lanes);
FTB_SAMPLE_QUEUE_KERNELS(QUEUE_ROWS)
