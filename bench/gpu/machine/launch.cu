/* What it costs to start work on the device, to wait for it, and to hand it on.
 *
 * `clock` says whose time a record is: `device` for events on the stream around the work, `host` for the
 * host's clock around the calls. A record's seconds are those of all its `count` launches. The kernels add
 * one to a number for each of their blocks, so that a launch left out, or one that did not wait for the one
 * before, shows in the sums. The telling pairs: kernels in a stream beside the same captured in a graph and
 * beside programmatic launches, which may begin while the one before ends; a kernel beside a barrier over the
 * whole grid; cudaMalloc beside a memory pool. */
#include "host_clock.cuh"

#include <cooperative_groups.h>

namespace facts
{

namespace
{

constexpr int CHAIN = 20, BLOCK = 256, SAMPLES = 11;

__global__ void add_one(unsigned *cells) /* one cell a block */
{
    if (threadIdx.x == 0)
        cells[blockIdx.x] += 1;
}

__global__ void nothing() {}

__global__ void add_one_early(unsigned *cells)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    if (threadIdx.x == 0)
        cells[blockIdx.x] += 1;
}

/* Each turn has two barriers: before the next block's cell is read, and before it changes. */
__global__ void meet_often(unsigned *cells, unsigned turns, unsigned *wrong)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const unsigned next = (blockIdx.x + 1) % gridDim.x;
    for (unsigned k = 1; k <= turns; k++) {
        if (threadIdx.x == 0)
            *static_cast<volatile unsigned *>(cells + blockIdx.x) = k;
        grid.sync();
        if (threadIdx.x == 0 && *static_cast<volatile unsigned *>(cells + next) != k)
            atomicAdd(wrong, 1u);
        grid.sync();
    }
}

struct Stream {
    Stream() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream"); }
    ~Stream() { (void)cudaStreamDestroy(stream); }
    Stream(const Stream &) = delete;
    void wait() const { check(cudaStreamSynchronize(stream), "kernel"); }
    cudaStream_t stream;
};

struct Event {
    explicit Event(unsigned flags = cudaEventDefault)
    {
        check(cudaEventCreateWithFlags(&event, flags), "event");
    }
    ~Event() { (void)cudaEventDestroy(event); }
    Event(const Event &) = delete;
    cudaEvent_t event;
};

struct Graph {
    explicit Graph(cudaGraph_t made) : graph(made) {}
    ~Graph()
    {
        if (ready)
            (void)cudaGraphExecDestroy(ready);
        (void)cudaGraphDestroy(graph);
    }
    Graph(const Graph &) = delete;
    void instantiate() { check(cudaGraphInstantiate(&ready, graph, 0), "making a graph ready"); }
    cudaGraph_t graph;
    cudaGraphExec_t ready = nullptr;
};

/* Seconds per call, by events on the stream. */
template <class Work> std::vector<double> device_times(const Stream &s, const Work &work, int calls)
{
    const Event from, to;
    std::vector<double> taken;
    const double start = now();
    for (int k = -1; k < SAMPLES && (k < 3 || now() - start < 0.5); k++) {
        float milliseconds = 0;
        check(cudaEventRecord(from.event, s.stream), "event");
        for (int call = 0; call < calls; call++)
            work();
        check(cudaEventRecord(to.event, s.stream), "event");
        check(cudaGetLastError(), "launch");
        check(cudaEventSynchronize(to.event), "kernel");
        check(cudaEventElapsedTime(&milliseconds, from.event, to.event), "event");
        if (k >= 0) /* the first one warms up */
            taken.push_back(milliseconds * 1e-3 / calls);
    }
    return taken;
}

/* Records a chain: once for its sums, then by both clocks, the host's with the wait for its end. */
template <class Work>
void measure_chain(Group &group, const std::string &what, int count, int blocks, const Stream &s,
                   const Buffer<unsigned> &cells, const Work &work)
{
    const auto parameters = [&](const char *clock) {
        return Fields{{"what", what}, {"count", count}, {"blocks", blocks}, {"clock", clock}};
    };
    group.attempt(parameters("device"), [&] {
        check(cudaMemset(cells.data(), 0, cells.bytes()), "clearing");
        synchronize();
        work();
        check(cudaGetLastError(), "launch");
        s.wait();
        for (const unsigned cell : cells.download())
            if (cell != static_cast<unsigned>(count))
                throw Failure("a launch is missing: " + std::to_string(cell) + " of " +
                              std::to_string(count));
        group.record(parameters("device"), device_times(s, work, 20), {{"error", 0.0}});
        const auto and_wait = [&] {
            work();
            s.wait();
        };
        group.record(parameters("host"), host_times(and_wait, 20, SAMPLES), {{"error", 0.0}});
    });
}

void check_launch(cudaError_t error) { check(error, "launch"); }

template <class Work> Graph captured(const Stream &s, const Work &work)
{
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal), "capture");
    work();
    check(cudaStreamEndCapture(s.stream, &graph), "capture");
    return Graph(graph);
}

void launch_early(const Stream &s, int blocks, unsigned *cells)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(BLOCK);
    config.stream = s.stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check_launch(cudaLaunchKernelEx(&config, add_one_early, cells));
}

void measure_chains(Group &group, int blocks)
{
    const Stream s;
    const Buffer<unsigned> cells(static_cast<size_t>(blocks));
    const auto one = [&] { add_one<<<blocks, BLOCK, 0, s.stream>>>(cells.data()); };
    const auto chain = [&] {
        for (int k = 0; k < CHAIN; k++)
            one();
    };
    measure_chain(group, "one kernel", 1, blocks, s, cells, one);
    measure_chain(group, "20 kernels in a stream", CHAIN, blocks, s, cells, chain);
    group.attempt({{"what", "20 kernels in a graph"}}, [&] {
        Graph graph = captured(s, chain);
        graph.instantiate();
        measure_chain(group, "20 kernels in a graph", CHAIN, blocks, s, cells,
                      [&] { check_launch(cudaGraphLaunch(graph.ready, s.stream)); });
    });
    measure_chain(group, "20 kernels launched programmatically", CHAIN, blocks, s, cells, [&] {
        for (int k = 0; k < CHAIN; k++)
            launch_early(s, blocks, cells.data());
    });
}

/* Calls that only the host's clock can time; `calls` of them between two waits. */
template <class Work> void measure_calls(Group &group, const char *what, int calls, const Work &work)
{
    const Fields parameters = {{"what", what}, {"count", 1}, {"clock", "host"}};
    group.attempt(parameters, [&] {
        work();
        synchronize();
        std::vector<double> samples;
        for (int k = 0; k < SAMPLES; k++) {
            samples.push_back(host_times(work, calls, 1)[0]);
            synchronize();
        }
        group.record(parameters, samples);
    });
}

void measure_empty(Group &group)
{
    const Stream s;
    const Fields parameters = {
        {"what", "empty kernel, one after the other"}, {"count", 1}, {"clock", "device"}};
    const auto empty = [&] { nothing<<<1, WARP, 0, s.stream>>>(); };
    group.attempt(parameters, [&] { group.record(parameters, device_times(s, empty, 200)); });
    measure_calls(group, "empty kernel: the call", 100, empty);
    measure_calls(group, "empty kernel, then cudaStreamSynchronize", 20, [&] {
        empty();
        s.wait();
    });
}

void measure_waits(Group &group)
{
    const Stream s;
    const Event event(cudaEventDisableTiming), timed;
    check(cudaEventRecord(event.event, s.stream), "event");
    s.wait();
    measure_calls(group, "cudaStreamSynchronize, nothing under way", 100, [&] { s.wait(); });
    measure_calls(group, "cudaDeviceSynchronize, nothing under way", 100,
                  [&] { (void)cudaDeviceSynchronize(); });
    measure_calls(group, "cudaEventQuery, done", 100, [&] { (void)cudaEventQuery(event.event); });
    measure_calls(group, "cudaEventRecord", 100, [&] { (void)cudaEventRecord(event.event, s.stream); });
    measure_calls(group, "cudaEventRecord, timed", 100,
                  [&] { (void)cudaEventRecord(timed.event, s.stream); });
    measure_calls(group, "cudaMemsetAsync of 4 bytes and wait, nothing else", 20, [&, cell = Buffer<int>(1)] {
        check(cudaMemsetAsync(cell.data(), 0, 4, s.stream), "clearing");
        s.wait();
    });
}

/* A number that the host must know before it goes on: the size of a result, a queue's length. */
void measure_counts(Group &group)
{
    const Stream s;
    const Buffer<unsigned> cell(1);
    unsigned *pinned = nullptr, *mapped = nullptr;
    check(cudaHostAlloc(reinterpret_cast<void **>(&pinned), 64, cudaHostAllocMapped), "pinned memory");
    check(cudaHostGetDevicePointer(reinterpret_cast<void **>(&mapped), pinned, 0), "mapped memory");
    measure_calls(group, "a kernel, 4 bytes copied to pinned memory, wait", 20, [&] {
        add_one<<<1, WARP, 0, s.stream>>>(cell.data());
        check(cudaMemcpyAsync(pinned, cell.data(), 4, cudaMemcpyDeviceToHost, s.stream), "copy");
        s.wait();
    });
    measure_calls(group, "a kernel that writes 4 bytes of mapped memory, wait", 20, [&] {
        add_one<<<1, WARP, 0, s.stream>>>(mapped);
        s.wait();
    });
    check(cudaFreeHost(pinned), "pinned memory");
}

/* Two streams in turn, each waiting for the other's event. */
void measure_hand_over(Group &group)
{
    const Fields parameters = {{"what", "20 kernels, each in the other of two streams, by events"},
                               {"count", CHAIN},
                               {"clock", "device"}};
    group.attempt(parameters, [&] {
        const Stream one, two;
        const Event there(cudaEventDisableTiming), back(cudaEventDisableTiming);
        const Buffer<unsigned> cell(std::vector<unsigned>{0});
        const auto work = [&] {
            for (int k = 0; k < CHAIN / 2; k++) {
                add_one<<<1, WARP, 0, one.stream>>>(cell.data());
                check(cudaEventRecord(there.event, one.stream), "event");
                check(cudaStreamWaitEvent(two.stream, there.event, 0), "event");
                add_one<<<1, WARP, 0, two.stream>>>(cell.data());
                check(cudaEventRecord(back.event, two.stream), "event");
                check(cudaStreamWaitEvent(one.stream, back.event, 0), "event");
            }
        };
        work();
        synchronize();
        if (cell.download()[0] != CHAIN)
            throw Failure("a launch is missing");
        group.record(parameters, device_times(one, work, 5), {{"error", 0.0}});
    });
}

void measure_graph_calls(Group &group)
{
    const Stream s;
    const Buffer<unsigned> cells(1);
    unsigned *at = cells.data();
    const auto chain = [&] {
        for (int k = 0; k < CHAIN; k++)
            add_one<<<1, WARP, 0, s.stream>>>(at);
    };
    measure_calls(group, "capture of 20 kernels", 5, [&] { (void)captured(s, chain); });
    measure_calls(group, "capture and making ready of 20 kernels", 5,
                  [&] { captured(s, chain).instantiate(); });
    group.attempt({{"what", "new arguments of a graph's kernel"}}, [&] {
        Graph graph = captured(s, chain);
        graph.instantiate();
        cudaGraphNode_t nodes[CHAIN];
        size_t count = CHAIN;
        check(cudaGraphGetNodes(graph.graph, nodes, &count), "nodes of a graph");
        void *arguments[] = {&at};
        cudaKernelNodeParams kernel = {};
        kernel.func = reinterpret_cast<void *>(add_one);
        kernel.gridDim = dim3(1);
        kernel.blockDim = dim3(WARP);
        kernel.kernelParams = arguments;
        measure_calls(group, "new arguments of a graph's kernel", 100, [&] {
            check(cudaGraphExecKernelNodeSetParams(graph.ready, nodes[0], &kernel), "arguments in a graph");
        });
    });
}

void measure_barriers(Group &group, int per_multiprocessor)
{
    constexpr unsigned turns = 50;
    const int most = resident_blocks(meet_often, BLOCK, 0);
    const int each = per_multiprocessor ? std::min(per_multiprocessor, most) : most;
    const Fields parameters = {{"what", "barrier over the grid"},
                               {"count", 1},
                               {"blocks", each * multiprocessors()},
                               {"clock", "device"}};
    group.attempt(parameters, [&] {
        const Stream s;
        const Buffer<unsigned> cells(static_cast<size_t>(each * multiprocessors()));
        const Buffer<unsigned> wrong(std::vector<unsigned>{0});
        unsigned *at = cells.data(), *bad = wrong.data(), n = turns;
        void *arguments[] = {&at, &n, &bad};
        const auto work = [&] {
            check_launch(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(meet_often),
                                                     dim3(static_cast<unsigned>(cells.size())), dim3(BLOCK),
                                                     arguments, 0, s.stream));
        };
        std::vector<double> samples = device_times(s, work, 1);
        if (wrong.download()[0] != 0)
            throw Failure("a barrier that does not hold");
        for (double &t : samples)
            t /= 2 * turns;
        group.record(parameters, samples, {{"error", 0.0}});
    });
}

void measure_allocation(Group &group, size_t bytes)
{
    const std::string of = " of " + std::to_string(bytes >> 20) + " MB";
    measure_calls(group, ("cudaMalloc and cudaFree" + of).c_str(), 5, [&] {
        void *made = nullptr;
        check(cudaMalloc(&made, bytes), "device memory");
        check(cudaFree(made), "device memory");
    });
    const Stream s;
    cudaMemPool_t pool = nullptr;
    uint64_t keep = UINT64_MAX, none = 0;
    check(cudaDeviceGetDefaultMemPool(&pool, 0), "memory pool");
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "memory pool");
    const auto from_pool = [&] {
        void *made = nullptr;
        check(cudaMallocAsync(&made, bytes, s.stream), "device memory");
        check(cudaFreeAsync(made, s.stream), "device memory");
    };
    measure_calls(group, ("cudaMallocAsync and cudaFreeAsync, from a pool that has it," + of).c_str(), 20,
                  from_pool);
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &none), "memory pool");
    check(cudaMemPoolTrimTo(pool, 0), "memory pool");
    measure_calls(group,
                  ("cudaMallocAsync, cudaFreeAsync and wait, from a pool that keeps nothing," + of).c_str(),
                  5, [&] {
                      from_pool();
                      s.wait();
                  });
}

} // namespace

void machine_launch(Group &group)
{
    group.attempt({{"what", "empty kernels"}}, [&] { measure_empty(group); });
    for (const int blocks : {1, 1024})
        group.attempt({{"what", "chains"}, {"blocks", blocks}}, [&] { measure_chains(group, blocks); });
    group.attempt({{"what", "waits"}}, [&] { measure_waits(group); });
    group.attempt({{"what", "counts"}}, [&] { measure_counts(group); });
    for (const int blocks : {1, 0})
        group.attempt({{"what", "barriers"}}, [&] { measure_barriers(group, blocks); });
    measure_hand_over(group);
    group.attempt({{"what", "graph calls"}}, [&] { measure_graph_calls(group); });
    for (const size_t bytes : {size_t{1} << 20, size_t{64} << 20, size_t{1} << 30})
        group.attempt({{"what", "allocation"}, {"bytes", bytes}}, [&] { measure_allocation(group, bytes); });
}

} // namespace facts
