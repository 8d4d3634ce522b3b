/* Atomic operations under contention, in shared and in global memory.
 *
 * All threads of a full device make as many operations each, on `addresses` distinct targets: one; 32, lane l
 * of each warp on target l, so that warps meet but lanes do not; or more, drawn at random. Types: additions
 * (whole, single precision, 64 bits), `or`, and the largest float by compare-and-swap, which looks before it
 * swaps as a reduction would; `ticket` is an addition of one whose old value is used, as a queue's head is.
 * operations / seconds is the rate. The host makes the same operations one after the other, in wider types,
 * and compares every target; of an `or` on few targets that shows little, as all bits are soon set. */
#include "words.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace facts
{

namespace
{

constexpr int BLOCK = 256;
constexpr uint32_t SEED = 41, MOST_SHARED = 1024;

struct Operation {
    uint32_t address, word;
};

/* The k-th of a thread's operations. */
__host__ __device__ inline Operation operation_of(uint32_t thread, uint32_t k, uint32_t each,
                                                  uint32_t addresses)
{
    const uint32_t word = word_at(thread * each + k, SEED);
    const uint32_t address = addresses <= WARP ? thread % addresses : scaled(word, addresses);
    return {address, mixed(word)};
}

/* Each type: what a target is, what an operation does on the device and on the host, and what ends up in
 * `used`. */
struct AddWhole {
    using Target = unsigned;
    using Wide = uint64_t;
    static constexpr const char *name = "int add";
    static __device__ uint32_t apply(Target *at, uint32_t word)
    {
        atomicAdd(at, word);
        return 0;
    }
    static uint32_t host(Wide &at, uint32_t word)
    {
        at += word;
        return 0;
    }
    static double off(Target got, Wide expected, double)
    {
        return got == static_cast<Target>(expected) ? 0 : 1;
    }
};

struct Ticket {
    using Target = unsigned;
    using Wide = uint64_t;
    static constexpr const char *name = "ticket";
    static __device__ uint32_t apply(Target *at, uint32_t) { return atomicAdd(at, 1u); }
    static uint32_t host(Wide &at, uint32_t) { return static_cast<uint32_t>(at++); }
    static double off(Target got, Wide expected, double) { return got == expected ? 0 : 1; }
};

struct AddFloat {
    using Target = float;
    using Wide = double;
    static constexpr const char *name = "float add";
    static __device__ uint32_t apply(Target *at, uint32_t word)
    {
        atomicAdd(at, unit(word));
        return 0;
    }
    static uint32_t host(Wide &at, uint32_t word)
    {
        at += static_cast<double>(unit(word));
        return 0;
    }
    static double off(Target got, Wide expected, double magnitudes)
    {
        return std::abs(static_cast<double>(got) - expected) / std::max(magnitudes, 1e-30);
    }
};

struct AddLong {
    using Target = unsigned long long;
    using Wide = unsigned long long;
    static constexpr const char *name = "64-bit add";
    static constexpr unsigned long long SPREAD = 0x100000001ull; /* both halves change, with carries */
    static __device__ uint32_t apply(Target *at, uint32_t word)
    {
        atomicAdd(at, word * SPREAD);
        return 0;
    }
    static uint32_t host(Wide &at, uint32_t word)
    {
        at += word * SPREAD;
        return 0;
    }
    static double off(Target got, Wide expected, double) { return got == expected ? 0 : 1; }
};

struct Or {
    using Target = unsigned;
    using Wide = unsigned;
    static constexpr const char *name = "or";
    static __device__ uint32_t apply(Target *at, uint32_t word)
    {
        atomicOr(at, 1u << (word & 31));
        return 0;
    }
    static uint32_t host(Wide &at, uint32_t word)
    {
        at |= 1u << (word & 31);
        return 0;
    }
    static double off(Target got, Wide expected, double) { return got == expected ? 0 : 1; }
};

/* Targets start at +0: the largest of those below it is not looked for. */
struct MaxFloat {
    using Target = unsigned; /* the bits of a float */
    using Wide = double;
    static constexpr const char *name = "float max by CAS";
    static __device__ uint32_t apply(Target *at, uint32_t word)
    {
        const float mine = unit(word);
        unsigned seen = *static_cast<volatile unsigned *>(at);
        for (int turn = 0; turn < 1 << 20 && __uint_as_float(seen) < mine; turn++)
            seen = atomicCAS(at, seen, __float_as_uint(mine));
        return 0;
    }
    static uint32_t host(Wide &at, uint32_t word)
    {
        at = std::max(at, static_cast<double>(unit(word)));
        return 0;
    }
    static double off(Target got, Wide expected, double)
    {
        float value;
        std::memcpy(&value, &got, sizeof value);
        return static_cast<double>(value) == expected ? 0 : 1;
    }
};

template <class Op>
__global__ void __launch_bounds__(BLOCK)
    hit_global(typename Op::Target *targets, uint32_t addresses, uint32_t each, uint32_t *used)
{
    const uint32_t thread = blockIdx.x * BLOCK + threadIdx.x;
    uint32_t sum = 0;
    for (uint32_t k = 0; k < each; k++) {
        const Operation o = operation_of(thread, k, each, addresses);
        sum += Op::apply(targets + o.address, o.word);
    }
    used[thread] = sum;
}

/* Each block on targets of its own, all blocks alike. */
template <class Op>
__global__ void __launch_bounds__(BLOCK)
    hit_shared(typename Op::Target *targets, uint32_t addresses, uint32_t each, uint32_t *used)
{
    __shared__ typename Op::Target mine[MOST_SHARED];
    for (uint32_t k = threadIdx.x; k < MOST_SHARED; k += BLOCK)
        mine[k] = 0;
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t k = 0; k < each; k++) {
        const Operation o = operation_of(threadIdx.x, k, each, addresses);
        sum += Op::apply(mine + o.address, o.word);
    }
    used[blockIdx.x * BLOCK + threadIdx.x] = sum;
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < addresses; k += BLOCK)
        targets[blockIdx.x * addresses + k] = mine[k];
}

struct Setting {
    bool shared;
    uint32_t addresses, each;
    int grid;
};

template <class Op> void start(const Setting &s, const Buffer<typename Op::Target> &targets, uint32_t *used)
{
    if (s.shared) {
        LAUNCH((hit_shared<Op>), s.grid, BLOCK, 0, targets.data(), s.addresses, s.each, used);
    } else {
        check(cudaMemset(targets.data(), 0, targets.bytes()), "clearing targets");
        LAUNCH((hit_global<Op>), s.grid, BLOCK, 0, targets.data(), s.addresses, s.each, used);
    }
}

/* Every target, and the sum of what was used, against the host's loop over all operations. */
template <class Op>
Fields compared(const Setting &s, const std::vector<typename Op::Target> &targets,
                const std::vector<uint32_t> &used)
{
    std::vector<typename Op::Wide> expected(s.addresses);
    std::vector<double> magnitudes(s.addresses);
    const uint32_t threads = static_cast<uint32_t>(s.shared ? BLOCK : s.grid * BLOCK);
    uint32_t sum = 0, got = 0;
    for (uint32_t t = 0; t < threads; t++)
        for (uint32_t k = 0; k < s.each; k++) {
            const Operation o = operation_of(t, k, s.each, s.addresses);
            sum += Op::host(expected[o.address], o.word);
            magnitudes[o.address] += std::abs(static_cast<double>(unit(o.word)));
        }
    for (const uint32_t u : used)
        got += u;
    (void)exact(got, sum * (s.shared ? static_cast<uint32_t>(s.grid) : 1u));
    double worst = 0;
    for (size_t k = 0; k < targets.size(); k++) {
        const double off = Op::off(targets[k], expected[k % s.addresses], magnitudes[k % s.addresses]);
        if (!(off < 1e-5))
            throw Failure("a target is wrong: number " + std::to_string(k));
        worst = std::max(worst, off);
    }
    return {{"error", worst}};
}

/* As many operations of each thread as take some milliseconds. */
template <class Op>
uint32_t operations_each(Setting s, const Buffer<typename Op::Target> &targets, const Buffer<uint32_t> &used)
{
    const uint32_t most = s.shared ? 2048 : 64;
    s.each = most / 16;
    start<Op>(s, targets, used.data()); /* the kernel is loaded */
    synchronize();
    const double from = now();
    start<Op>(s, targets, used.data());
    synchronize();
    const double taken = now() - from;
    uint32_t each = s.each;
    for (double seconds = taken; each < most && seconds < 2e-3; seconds *= 2)
        each *= 2;
    return each;
}

template <class Op> void measure(Group &group, bool shared, uint32_t addresses)
{
    const Fields parameters = {{"where", shared ? "shared" : "global"},
                               {"type", Op::name},
                               {"addresses", static_cast<int>(addresses)}};
    group.attempt(parameters, [&] {
        const int resident =
            shared ? resident_blocks(hit_shared<Op>, BLOCK, 0) : resident_blocks(hit_global<Op>, BLOCK, 0);
        Setting s = {shared, addresses, 2, std::max(1, resident) * multiprocessors()};
        const Buffer<typename Op::Target> targets(size_t{addresses} *
                                                  (shared ? static_cast<size_t>(s.grid) : 1));
        const Buffer<uint32_t> used(static_cast<size_t>(s.grid) * BLOCK);
        if (!group.toy())
            s.each = operations_each<Op>(s, targets, used);
        check(cudaMemset(targets.data(), 0xff, targets.bytes()), "poison");
        Case c;
        c.parameters = parameters;
        c.parameters.push_back({"each", static_cast<int>(s.each)});
        c.operations = static_cast<double>(used.size()) * s.each;
        c.samples = 7;
        c.seconds = 0.2;
        c.launch = [&] { start<Op>(s, targets, used.data()); };
        c.check = [&] { return compared<Op>(s, targets.download(), used.download()); };
        group.run(c);
    });
}

template <class Op> void measure_type(Group &group)
{
    const uint32_t many = group.toy() ? 2000 : 1 << 20;
    for (const uint32_t addresses : {1u, 32u, 1024u, many})
        measure<Op>(group, false, addresses);
    for (const uint32_t addresses : {1u, 32u, MOST_SHARED})
        measure<Op>(group, true, addresses);
}

} // namespace

void machine_atomics(Group &group)
{
    measure_type<AddFloat>(group);
    measure_type<AddWhole>(group);
    measure_type<Ticket>(group);
    measure_type<MaxFloat>(group);
    measure_type<AddLong>(group);
    measure_type<Or>(group);
}

} // namespace facts
