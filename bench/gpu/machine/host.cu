/* What goes between host and device, by the host's clock from the call to its end: copies from pinned and
 * from ordinary memory, both directions at once, and kernels that read or write mapped pinned memory
 * themselves, in order and by rows of 512 bytes at random. Then what it costs to pin memory. These decide
 * which products are worth sending. */
#include "host_clock.cuh"
#include "words.cuh"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace facts
{

namespace
{

constexpr int BLOCK = 256, SAMPLES = 9;
constexpr uint32_t SEED = 61;
constexpr size_t MB = 1 << 20;

/* Pinned memory that the device can reach, too. */
class Pinned
{
  public:
    explicit Pinned(size_t bytes)
    {
        void *made = nullptr;
        check(cudaHostAlloc(&made, bytes, cudaHostAllocMapped), "pinned memory");
        words = static_cast<uint32_t *>(made);
    }
    ~Pinned() { (void)cudaFreeHost(words); }
    Pinned(const Pinned &) = delete;
    uint32_t *data() const { return words; }
    uint32_t *on_device() const
    {
        void *there = nullptr;
        check(cudaHostGetDevicePointer(&there, words, 0), "mapped memory");
        return static_cast<uint32_t *>(there);
    }

  private:
    uint32_t *words = nullptr;
};

void fill_host(uint32_t *words, size_t count)
{
    for (size_t k = 0; k < count; k++)
        words[k] = word_at(static_cast<uint32_t>(k), SEED);
}

size_t wrong_on_host(const uint32_t *words, size_t count)
{
    size_t wrong = 0;
    for (size_t k = 0; k < count; k++)
        wrong += words[k] != word_at(static_cast<uint32_t>(k), SEED);
    return wrong;
}

/* A copy, and what it must have brought. */
template <class Check>
void measure_copy(Group &group, const char *what, bool pinned, void *to, const void *from, size_t bytes,
                  const Check &arrived)
{
    const Fields parameters = {{"what", what}, {"pinned", pinned}, {"clock", "host"}};
    group.attempt(parameters, [&] {
        const auto copy = [&] {
            check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr), "copy");
            check(cudaStreamSynchronize(nullptr), "copy");
        };
        copy();
        (void)exact(arrived(), 0);
        const std::vector<double> samples = host_times(copy, bytes < MB ? 20 : 1, SAMPLES, 1.5);
        group.record(parameters, samples, {{"bytes", bytes}, {"error", 0.0}});
    });
}

/* There and back: what came back is checked after the host's copy was cleared. */
void measure_both_ways(Group &group, bool pinned, uint32_t *host, const Buffer<uint32_t> &device,
                       size_t bytes)
{
    const size_t count = bytes / 4;
    check(cudaMemset(device.data(), 0xff, bytes), "poison");
    measure_copy(group, "copy to device", pinned, device.data(), host, bytes,
                 [&] { return wrong_words(device.data(), count, SEED); });
    std::memset(host, 0xff, bytes);
    measure_copy(group, "copy from device", pinned, host, device.data(), bytes,
                 [&] { return wrong_on_host(host, count); });
    fill_host(host, count); /* whatever failed */
}

void measure_at_once(Group &group, const Pinned &host, const Buffer<uint32_t> &device, size_t bytes)
{
    const Fields parameters = {
        {"what", "copies in both directions at once"}, {"pinned", true}, {"clock", "host"}};
    group.attempt(parameters, [&] {
        cudaStream_t there = nullptr, back = nullptr;
        check(cudaStreamCreateWithFlags(&there, cudaStreamNonBlocking), "stream");
        check(cudaStreamCreateWithFlags(&back, cudaStreamNonBlocking), "stream");
        const size_t half = bytes / 8; /* in words: the first half goes, the second comes */
        const auto both = [&] {
            check(cudaMemcpyAsync(device.data(), host.data(), bytes / 2, cudaMemcpyHostToDevice, there),
                  "copy");
            check(cudaMemcpyAsync(host.data() + half, device.data() + half, bytes / 2, cudaMemcpyDeviceToHost,
                                  back),
                  "copy");
            check(cudaStreamSynchronize(there), "copy");
            check(cudaStreamSynchronize(back), "copy");
        };
        check(cudaMemcpy(device.data(), host.data(), bytes, cudaMemcpyHostToDevice), "copy");
        check(cudaMemset(device.data(), 0xff, bytes / 2), "poison");
        std::memset(host.data() + half, 0xff, bytes / 2);
        synchronize();
        both();
        (void)exact(wrong_words(device.data(), bytes / 4, SEED) + wrong_on_host(host.data(), bytes / 4), 0);
        group.record(parameters, host_times(both, 1, SAMPLES, 1.5), {{"bytes", bytes}, {"error", 0.0}});
        check(cudaStreamDestroy(there), "stream");
        check(cudaStreamDestroy(back), "stream");
    });
}

/* Rows of 32 pieces of 16 bytes, a warp each: row r as it is, or one at random. */
__global__ void __launch_bounds__(BLOCK)
    sum_rows(const uint4 *words, uint32_t rows, bool gathered, uint32_t *sums)
{
    const uint32_t warps = gridDim.x * (BLOCK / WARP), lane = threadIdx.x % WARP;
    uint32_t sum = 0;
    for (uint32_t r = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP; r < rows; r += warps) {
        const uint32_t row = gathered ? scaled(mixed(r), rows) : r;
        const uint4 v = __ldcg(words + size_t{row} * WARP + lane);
        sum += v.x + v.y + v.z + v.w;
    }
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void __launch_bounds__(BLOCK) write_rows(uint4 *words, uint32_t pieces)
{
    for (uint32_t p = blockIdx.x * BLOCK + threadIdx.x; p < pieces; p += gridDim.x * BLOCK)
        words[p] = make_uint4(word_at(4 * p, SEED), word_at(4 * p + 1, SEED), word_at(4 * p + 2, SEED),
                              word_at(4 * p + 3, SEED));
}

uint32_t host_sum(const uint32_t *words, uint32_t rows, bool gathered)
{
    uint32_t sum = 0;
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t w = 0; w < 128; w++)
            sum += words[size_t{gathered ? scaled(mixed(r), rows) : r} * 128 + w];
    return sum;
}

void measure_mapped(Group &group, const Pinned &host, size_t bytes)
{
    const int grid = 4 * multiprocessors();
    const uint32_t rows = static_cast<uint32_t>(bytes / 512);
    uint32_t *const there = host.on_device();
    const Buffer<uint32_t> sums(static_cast<size_t>(grid) * BLOCK);
    for (const bool gathered : {false, true}) {
        Case c;
        c.parameters = {{"what", gathered ? "mapped read, rows of 512 bytes at random" : "mapped read"},
                        {"pinned", true},
                        {"clock", "device"}};
        c.bytes = static_cast<double>(bytes);
        c.seconds = 1;
        check(cudaMemset(sums.data(), 0xff, sums.bytes()), "poison");
        c.launch = [&] {
            LAUNCH(sum_rows, grid, BLOCK, 0, reinterpret_cast<const uint4 *>(there), rows, gathered,
                   sums.data());
        };
        c.check = [&] {
            uint32_t sum = 0;
            for (const uint32_t x : sums.download())
                sum += x;
            return exact(sum, host_sum(host.data(), rows, gathered));
        };
        group.run(c);
    }
    std::memset(host.data(), 0xff, bytes);
    Case c;
    c.parameters = {{"what", "mapped write"}, {"pinned", true}, {"clock", "device"}};
    c.bytes = static_cast<double>(bytes);
    c.seconds = 1;
    c.launch = [&] {
        LAUNCH(write_rows, grid, BLOCK, 0, reinterpret_cast<uint4 *>(there),
               static_cast<uint32_t>(bytes / 16));
    };
    c.check = [&] { return exact(wrong_on_host(host.data(), bytes / 4), 0); };
    group.run(c);
}

/* What it costs to have pinned memory, and to make memory so that is already there. */
void measure_pinning(Group &group, uint32_t *ordinary, size_t bytes)
{
    const std::string of = " of " + std::to_string(bytes / MB) + " MB";
    const auto record = [&](const std::string &what, const std::vector<double> &samples) {
        group.record({{"what", what + of}, {"clock", "host"}}, samples);
    };
    group.attempt({{"what", "cudaHostRegister" + of}}, [&] {
        std::vector<double> taken, given_back;
        for (int k = 0; k < 3; k++) {
            taken.push_back(host_times(
                [&] { check(cudaHostRegister(ordinary, bytes, cudaHostRegisterDefault), "pinning"); }, 1,
                1)[0]);
            given_back.push_back(
                host_times([&] { check(cudaHostUnregister(ordinary), "unpinning"); }, 1, 1)[0]);
        }
        record("cudaHostRegister", taken);
        record("cudaHostUnregister", given_back);
    });
    group.attempt({{"what", "cudaHostAlloc" + of}}, [&] {
        record("cudaHostAlloc and cudaFreeHost", host_times([&] { const Pinned one(bytes); }, 1, 3, 5));
    });
}

} // namespace

void machine_host(Group &group)
{
    const size_t largest = group.toy() ? MB : 1024 * MB;
    std::vector<size_t> sizes = {64 * MB, 1024 * MB, MB, 4096};
    if (group.toy())
        sizes = {MB, 4096};
    struct Free {
        void operator()(uint32_t *words) const { std::free(words); }
    };
    const std::unique_ptr<uint32_t, Free> ordinary(
        static_cast<uint32_t *>(std::aligned_alloc(4096, largest)));
    if (!ordinary)
        throw Failure("no memory on the host");
    const Buffer<uint32_t> device(largest / 4);
    fill_host(ordinary.get(), largest / 4);
    group.attempt({{"what", "pinned"}}, [&] {
        const Pinned pinned(largest);
        std::memcpy(pinned.data(), ordinary.get(), largest);
        for (const size_t bytes : sizes)
            measure_both_ways(group, true, pinned.data(), device, bytes);
        measure_at_once(group, pinned, device, group.toy() ? MB : 64 * MB);
        fill_host(pinned.data(), largest / 4);
        measure_mapped(group, pinned, group.toy() ? MB : 64 * MB);
    });
    for (const size_t bytes : sizes)
        measure_both_ways(group, false, ordinary.get(), device, bytes);
    measure_pinning(group, ordinary.get(), largest);
}

} // namespace facts
