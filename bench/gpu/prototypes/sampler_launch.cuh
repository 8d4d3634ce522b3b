/* What launching the sampler's kernels needs: a recorded graph of launches, a queue's memory, a grid that is
 * resident. */
#pragma once

#include "../support/facts.cuh"
#include "sampler_tree.cuh"

#include <functional>

namespace facts
{
namespace sampler
{

/* Waits of a queue's warp: about a second in all. */
constexpr int PATIENCE = EMULATED ? 1 << 14 : 1 << 20;

/* Launches recorded once and replayed as one graph. */
class Recorded
{
  public:
    explicit Recorded(const std::function<void(cudaStream_t)> &work_) : work(work_)
    {
#if !EMULATED
        cudaGraph_t graph = nullptr;
        work(nullptr); /* kernels are loaded when they are first launched, which is better not recorded */
        synchronize();
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        work(stream);
        check(cudaStreamEndCapture(stream, &graph), "end of capture");
        const cudaError_t made = cudaGraphInstantiate(&replayed, graph, 0);
        (void)cudaGraphDestroy(graph);
        check(made, "graph");
#endif
    }
    Recorded(const Recorded &) = delete;
#if EMULATED
    void replay() const { work(nullptr); }
#else
    ~Recorded()
    {
        (void)cudaGraphExecDestroy(replayed);
        (void)cudaStreamDestroy(stream);
    }
    void replay() const { check(cudaGraphLaunch(replayed, nullptr), "launch of a graph"); }
#endif

  private:
    std::function<void(cudaStream_t)> work;
#if !EMULATED
    cudaStream_t stream = nullptr;
    cudaGraphExec_t replayed = nullptr;
#endif
};

/* What is swept. */
struct Choice {
    int method = FLOYD, lanes = 8, block = EMULATED ? 64 : 128;
    int blocks = 0; /* of a persistent kernel on a multiprocessor; 0: as many as fit */
    int queue_batch = 1;
};

/* The queue's memory: all empty, both sets of counters as at the start. */
struct QueueMemory {
    QueueMemory(int capacity, int nseeds)
        : tasks(static_cast<size_t>(capacity)), stuck(1),
          counters({{{0}, {0}, {nseeds}}, {{0}, {0}, {nseeds}}})
    {
        check(cudaMemset(tasks.data(), 0xff, tasks.bytes()), "clearing device memory");
        stuck.zero();
    }
    Queue queue(const int *seeds, int nseeds, int launch, int batch) const
    {
        Queue q = {};
        q.seeds = seeds;
        q.nseeds = nseeds;
        q.capacity = static_cast<int>(tasks.size());
        q.tasks = tasks.data();
        q.now = counters.data() + (launch & 1);
        q.next = counters.data() + (~launch & 1);
        q.stuck = stuck.data();
        q.patience = PATIENCE;
        q.batch = batch;
        return q;
    }
    void check_running() const
    {
        if (stuck.download()[0] != 0)
            throw Failure("the queue was stuck");
    }
    /* After a launch with these counters: nothing is pending, and so much was pushed. */
    void check_end(int launch, int64_t pushed) const
    {
        check_running();
        const Counters end = counters.download()[static_cast<size_t>(launch & 1)];
        if (end.pending.value != 0 || end.tail.value != pushed)
            throw Failure("the queue ended with " + std::to_string(end.pending.value) +
                          " tasks pending and " + std::to_string(end.tail.value) + " pushed, not " +
                          std::to_string(pushed));
    }
    Buffer<Task> tasks;
    Buffer<int> stuck;
    Buffer<Counters> counters;
};

/* Blocks of a persistent kernel. */
template <class Kernel> int persistent_grid(Kernel *kernel, const Choice &c, size_t shared)
{
    const int fit = resident_blocks(kernel, c.block, shared);
    if (fit < 1)
        throw Failure("no block of the kernel fits");
    if (c.blocks > fit)
        throw Failure("only " + std::to_string(fit) + " blocks fit on a multiprocessor");
    return multiprocessors() * (c.blocks > 0 ? c.blocks : fit);
}

} // namespace sampler
} // namespace facts
