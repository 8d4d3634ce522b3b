/* Data that both sides know by formula, and the plain kernels that compare with it. */
#pragma once

#include "support/facts.cuh"

namespace facts
{

/* A word of mixed bits: the multipliers and shifts of Wellons' search for hash functions of low bias. */
__host__ __device__ inline uint32_t mixed(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

__host__ __device__ inline uint32_t word_at(uint32_t place, uint32_t seed)
{
    return mixed(place ^ mixed(seed));
}

/* In (-1, 1), exact in single precision. */
__host__ __device__ inline float unit(uint32_t word)
{
    return (static_cast<float>(word >> 9) + 0.5f) * (1.0f / (1 << 22)) - 1.0f;
}

/* Less than `bound`, from a word. */
__host__ __device__ inline uint32_t scaled(uint32_t word, uint32_t bound)
{
    return static_cast<uint32_t>(uint64_t{word} * bound >> 32);
}

/* words[i] = word_at(i, seed), on the device. */
Buffer<uint32_t> random_words(size_t count, uint32_t seed);
/* values[i] = unit(word_at(i, seed)). */
Buffer<float> random_floats(size_t count, uint32_t seed);
/* The sum of all words modulo 2^32, by one thread per share of them. */
uint32_t plain_sum(const uint32_t *words, size_t count);
/* How many of the words are not word_at(i, seed). */
size_t wrong_words(const uint32_t *words, size_t count, uint32_t seed);

/* Throws unless the two are equal: for results that are exact. */
Fields exact(uint64_t got, uint64_t expected);
/* The same for many; `expected` repeats where it is shorter. */
Fields all_exact(const std::vector<uint32_t> &got, const std::vector<uint32_t> &expected);

} // namespace facts
