/* The table of vertices (ftb_sample_table): a place for each, claimed by one exchange of a compared word. */
#ifndef FTB_SAMPLE_TABLE_CUH
#define FTB_SAMPLE_TABLE_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/sample_steps.h"

namespace
{

constexpr unsigned long long NOBODY = ~0ull;

__device__ __forceinline__ unsigned long long seen(const unsigned long long *word)
{
    return *const_cast<const volatile unsigned long long *>(word);
}

__device__ __forceinline__ unsigned long long word_of(unsigned vertex, unsigned number)
{
    return static_cast<unsigned long long>(vertex) << 32 | number;
}

/* The vertex's place, whose number becomes `number` where it was larger; *claimed: the place was nobody's. */
__device__ __forceinline__ unsigned claim(const ftb_sample_table &t, unsigned vertex, unsigned number,
                                          bool *claimed)
{
    const unsigned long long word = word_of(vertex, number);
    unsigned at = (vertex * 0x9E3779B1u ^ vertex * 0x85EBCA77u >> 15) & t.mask;
    for (;; at = (at + 1) & t.mask) {
        unsigned long long was = seen(t.words + at);
        if (was == NOBODY)
            was = atomicCAS(t.words + at, NOBODY, word);
        *claimed = was == NOBODY;
        if (*claimed)
            return at;
        if (static_cast<unsigned>(was >> 32) == vertex) {
            if (was > word)
                atomicMin(t.words + at, word);
            return at;
        }
    }
}

/* A vertex of a tree, as a table whose numbers are apart has it. */
__device__ __forceinline__ unsigned long long word_of_tree(const ftb_sample_table &t, int tree,
                                                           unsigned vertex)
{
    return static_cast<unsigned long long>(tree) << t.shift | vertex;
}

/* Its place there; *claimed: that was nobody's. */
__device__ __forceinline__ unsigned claim_word(const ftb_sample_table &t, unsigned long long word,
                                               bool *claimed)
{
    unsigned at = static_cast<unsigned>(word * 0x9E3779B97F4A7C15ull >> 32) & t.mask;
    for (;; at = (at + 1) & t.mask) {
        unsigned long long was = seen(t.words + at);
        if (was == NOBODY)
            was = atomicCAS(t.words + at, NOBODY, word);
        *claimed = was == NOBODY;
        if (*claimed || was == word)
            return at;
    }
}

/* Room for what some of the warp's lanes have found, one each, of all lanes together. */
template <class T> __device__ __forceinline__ long long room_for(T *count, bool mine)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned all = __ballot_sync(FTB_FULL_WARP, mine);
    T first = 0;
    if (lane == 0 && all)
        first = atomicAdd(count, static_cast<T>(__popc(all)));
    first = __shfl_sync(FTB_FULL_WARP, first, 0);
    return static_cast<long long>(first) + __popc(all & ((1u << lane) - 1));
}

} // namespace

#endif
