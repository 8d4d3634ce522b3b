/* Data by formula: fills, and the plain kernels of words.cuh. */
#include "words.cuh"

namespace facts
{

namespace
{

constexpr int BLOCK = 256;
constexpr size_t SHARE = 4096; /* words of one thread of a plain kernel */

__global__ void fill_words(uint32_t *words, size_t count, uint32_t seed)
{
    const size_t stride = size_t{gridDim.x} * blockDim.x;
    for (size_t k = size_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count; k += stride)
        words[k] = word_at(static_cast<uint32_t>(k), seed);
}

__global__ void fill_floats(float *values, size_t count, uint32_t seed)
{
    const size_t stride = size_t{gridDim.x} * blockDim.x;
    for (size_t k = size_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count; k += stride)
        values[k] = unit(word_at(static_cast<uint32_t>(k), seed));
}

/* Share s of `shares` has words s, s + shares, ...: lanes read neighbours. */
__global__ void sum_shares(const uint32_t *words, size_t count, size_t shares, uint32_t *sums)
{
    const size_t s = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (s >= shares)
        return;
    uint64_t sum = 0;
    for (size_t k = s; k < count; k += shares)
        sum += words[k];
    sums[s] = static_cast<uint32_t>(sum);
}

__global__ void count_wrong(const uint32_t *words, size_t count, size_t shares, uint32_t seed,
                            uint32_t *wrong)
{
    const size_t s = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (s >= shares)
        return;
    uint32_t mine = 0;
    for (size_t k = s; k < count; k += shares)
        mine += words[k] != word_at(static_cast<uint32_t>(k), seed);
    wrong[s] = mine;
}

int fill_blocks(size_t count)
{
    return static_cast<int>(std::min<size_t>((count + BLOCK - 1) / BLOCK, EMULATED ? 2 : 4096));
}

size_t shares_of(size_t count) { return (count + SHARE - 1) / SHARE; }

} // namespace

Buffer<uint32_t> random_words(size_t count, uint32_t seed)
{
    Buffer<uint32_t> words(count);
    LAUNCH(fill_words, fill_blocks(count), BLOCK, 0, words.data(), count, seed);
    synchronize();
    return words;
}

Buffer<float> random_floats(size_t count, uint32_t seed)
{
    Buffer<float> values(count);
    LAUNCH(fill_floats, fill_blocks(count), BLOCK, 0, values.data(), count, seed);
    synchronize();
    return values;
}

uint32_t plain_sum(const uint32_t *words, size_t count)
{
    const size_t shares = shares_of(count);
    const Buffer<uint32_t> sums(shares);
    LAUNCH(sum_shares, divide_up(static_cast<int64_t>(shares), BLOCK), BLOCK, 0, words, count, shares,
           sums.data());
    synchronize();
    uint32_t all = 0;
    for (const uint32_t sum : sums.download())
        all += sum;
    return all;
}

size_t wrong_words(const uint32_t *words, size_t count, uint32_t seed)
{
    const size_t shares = shares_of(count);
    const Buffer<uint32_t> wrong(shares);
    LAUNCH(count_wrong, divide_up(static_cast<int64_t>(shares), BLOCK), BLOCK, 0, words, count, shares, seed,
           wrong.data());
    synchronize();
    size_t all = 0;
    for (const uint32_t w : wrong.download())
        all += w;
    return all;
}

Fields exact(uint64_t got, uint64_t expected)
{
    if (got != expected)
        throw Failure("wrong result: " + std::to_string(got) + " where " + std::to_string(expected) +
                      " is right");
    return {{"error", 0.0}};
}

Fields all_exact(const std::vector<uint32_t> &got, const std::vector<uint32_t> &expected)
{
    for (size_t k = 0; k < got.size(); k++)
        if (got[k] != expected[k % expected.size()])
            throw Failure("wrong result at " + std::to_string(k) + " of " + std::to_string(got.size()));
    return {{"error", 0.0}};
}

} // namespace facts
