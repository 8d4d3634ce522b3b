/* Philox4x32-10 for many counters at once, in vectors of the instruction set. Gives what Random123's
 * philox4x32 gives, for FTB_PHILOX_LANES counters at a time. Salmon et al., SC 2011.
 *
 * Processors multiply every other 32-bit word into 64 bits: a round takes the even words of a vector and the
 * odd ones, and puts their halves together again. Compilers make full 64-bit products of plain loops, which
 * take more than twice the time. */
#ifndef FTB_CPU_PHILOX_H
#define FTB_CPU_PHILOX_H

#include <stdint.h>

#if defined(__AVX512F__) || defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

#define FTB_PHILOX_LANES 16

#if defined(__AVX512F__)
#define FTB_PHILOX_BYTES 64
#elif defined(__AVX2__)
#define FTB_PHILOX_BYTES 32
#else
#define FTB_PHILOX_BYTES 16
#endif
#define FTB_PHILOX_INLINE static inline __attribute__((always_inline))
typedef uint32_t ftb_philox_words __attribute__((vector_size(FTB_PHILOX_BYTES), aligned(4), may_alias));
typedef uint64_t ftb_philox_pairs __attribute__((vector_size(FTB_PHILOX_BYTES), aligned(4), may_alias));

/* The low 32 bits of each 64, times m. */
FTB_PHILOX_INLINE ftb_philox_pairs ftb_philox_products(ftb_philox_pairs x, uint64_t m)
{
#if defined(__AVX512F__)
    return (ftb_philox_pairs)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64((long long)m));
#elif defined(__AVX2__)
    return (ftb_philox_pairs)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x((long long)m));
#elif defined(__SSE2__)
    return (ftb_philox_pairs)_mm_mul_epu32((__m128i)x, _mm_set1_epi64x((long long)m));
#else
    return (x & UINT32_MAX) * m;
#endif
}

/* The halves of the products of all words with m. */
FTB_PHILOX_INLINE void ftb_philox_multiply(ftb_philox_words *high, ftb_philox_words *low, ftb_philox_words x,
                                           uint64_t m)
{
    const ftb_philox_pairs lows = (ftb_philox_pairs){0} + UINT32_MAX;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    ftb_philox_pairs even = ftb_philox_products((ftb_philox_pairs)x, m),
                     odd = ftb_philox_products((ftb_philox_pairs)x >> 32, m);
    *high = (ftb_philox_words)(even >> 32 | (odd & ~lows));
    *low = (ftb_philox_words)((even & lows) | odd << 32);
#else
    ftb_philox_pairs odd = ftb_philox_products((ftb_philox_pairs)x, m),
                     even = ftb_philox_products((ftb_philox_pairs)x >> 32, m);
    *high = (ftb_philox_words)(odd >> 32 | (even & ~lows));
    *low = (ftb_philox_words)((odd & lows) | even << 32);
#endif
}

/* words[w][t]: word w of a counter; becomes word w of what Philox gives of it under key (key[0][t],
 * key[1][t]). */
FTB_PHILOX_INLINE void ftb_philox_lanes(uint32_t words[4][FTB_PHILOX_LANES],
                                        const uint32_t key[2][FTB_PHILOX_LANES])
{
    for (int at = 0; at < FTB_PHILOX_LANES; at += FTB_PHILOX_BYTES / 4) {
        ftb_philox_words k0 = *(const ftb_philox_words *)&key[0][at],
                         k1 = *(const ftb_philox_words *)&key[1][at];
        ftb_philox_words w0 = *(const ftb_philox_words *)&words[0][at],
                         w1 = *(const ftb_philox_words *)&words[1][at],
                         w2 = *(const ftb_philox_words *)&words[2][at],
                         w3 = *(const ftb_philox_words *)&words[3][at];
        for (int round = 0; round < 10; round++) {
            ftb_philox_words high0, low0, high2, low2;
            ftb_philox_multiply(&high0, &low0, w0, UINT64_C(0xD2511F53));
            ftb_philox_multiply(&high2, &low2, w2, UINT64_C(0xCD9E8D57));
            w0 = high2 ^ w1 ^ k0;
            w1 = low2;
            w2 = high0 ^ w3 ^ k1;
            w3 = low0;
            k0 += 0x9E3779B9;
            k1 += 0xBB67AE85;
        }
        *(ftb_philox_words *)&words[0][at] = w0;
        *(ftb_philox_words *)&words[1][at] = w1;
        *(ftb_philox_words *)&words[2][at] = w2;
        *(ftb_philox_words *)&words[3][at] = w3;
    }
}

/* words[w][t]: word w of counter first + t. */
FTB_PHILOX_INLINE void ftb_philox(uint32_t words[4][FTB_PHILOX_LANES], uint64_t seed, uint64_t first,
                                  uint64_t stream)
{
    uint32_t key[2][FTB_PHILOX_LANES];
    for (int t = 0; t < FTB_PHILOX_LANES; t++) {
        words[0][t] = (uint32_t)(first + (uint64_t)t);
        words[1][t] = (uint32_t)((first + (uint64_t)t) >> 32);
        words[2][t] = (uint32_t)stream;
        words[3][t] = (uint32_t)(stream >> 32);
        key[0][t] = (uint32_t)seed;
        key[1][t] = (uint32_t)(seed >> 32);
    }
    ftb_philox_lanes(words, key);
}

#endif
