/* Dropout, y = x .* factor or that added, with the host's draws (src/cpu/kernels/dropout.h):
 *
 *     value number k = 128 b + r, of all rows one after the other, is dropped if half r / 64 of word
 *     r / 16 % 4 of Philox4x32-10's counter 16 b + r % 16 is below the threshold
 *
 * A thread takes a counter and its 8 values, which are 16 apart: sixteen threads side by side have all of
 * each sector that they touch, and a run of Philox is for eight values. The limit is the memory's bandwidth;
 * Philox takes some ten instructions a value. */
#include "gpu/kernels/draws.cuh"
#include "gpu/kernels/dropout_draws.h"
#include "gpu/kernels/items.cuh"

namespace
{

enum What { PUT, ADD };
enum { COUNTERS = 16, WORDS = 4, BLOCK = 128 }; /* values of so many counters are BLOCK */

template <class T, int WHAT> __device__ __forceinline__ void drop(const ftb_dropout_arguments &a)
{
    const long long counter = static_cast<long long>(blockIdx.x) * FTB_DROPOUT_THREADS + threadIdx.x;
    long long k = counter / COUNTERS * BLOCK + counter % COUNTERS;
    if (k >= a.count)
        return;
    const unsigned long long seed = a.seed_at ? *a.seed_at : a.seed;
    const PhiloxWords words = philox(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32),
                                     static_cast<unsigned long long>(counter), 0);
    long long i = k < a.ncols ? 0 : k / a.ncols, f = k - i * a.ncols;
    for (int n = 0; n < 2 * WORDS && k < a.count; n++, k += COUNTERS, f += COUNTERS) {
        for (; f >= a.ncols; f -= a.ncols)
            i++;
        const unsigned draw = words.word(n % WORDS) >> (n / WORDS * 16) & 0xffffu;
        const T factor = draw < a.threshold ? 0 : a.scale;
        T *const y = static_cast<T *>(a.y) + i * a.ldy + f;
        const T x = static_cast<const T *>(a.x)[i * a.ldx + f] * factor;
        *y = WHAT == ADD ? *y + x : x;
    }
}

} // namespace

#define DROPOUT(type, what)                                                                                  \
    extern "C" __global__ void __launch_bounds__(FTB_DROPOUT_THREADS)                                        \
        dropout_##type##_##what(ftb_dropout_arguments a)                                                     \
    {                                                                                                        \
        drop<type, what>(a);                                                                                 \
    }                                                                                                        \
    FTB_KERNEL(dropout_##type##_##what);
FTB_DROPOUT(DROPOUT)
