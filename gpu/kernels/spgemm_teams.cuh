/* Who takes a unit or a row of entries that are there: a warp, or, where it is long, the block that the warp
 * is of. Kernels are written once for both. */
#ifndef FTB_SPGEMM_TEAMS_CUH
#define FTB_SPGEMM_TEAMS_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/spgemm_rows.h"

namespace
{

constexpr int STEP_WARPS = FTB_SPGEMM_STEP_BLOCK / 32;

/* before(): how many of those before this thread have something, and, as *all, of all. */
struct OneWarp {
    enum { SIZE = 32 };
    int rank;
    __device__ __forceinline__ void sync() const { __syncwarp(); }
    __device__ __forceinline__ int before(bool has, int *all) const
    {
        const unsigned found = __ballot_sync(FTB_FULL_WARP, has);
        *all = __popc(found);
        return __popc(found & ((1u << rank) - 1));
    }
};

struct WholeBlock {
    enum { SIZE = FTB_SPGEMM_STEP_BLOCK };
    int rank;
    int *sums; /* a word for each warp */
    __device__ __forceinline__ void sync() const { __syncthreads(); }
    __device__ __forceinline__ int before(bool has, int *all) const
    {
        const unsigned found = __ballot_sync(FTB_FULL_WARP, has);
        int mine = __popc(found & ((1u << rank % 32) - 1));
        if (rank % 32 == 0)
            sums[rank / 32] = __popc(found);
        __syncthreads();
        *all = 0;
        for (int w = 0; w < STEP_WARPS; w++) {
            mine += w < rank / 32 ? sums[w] : 0;
            *all += sums[w];
        }
        __syncthreads(); /* before the next */
        return mine;
    }
};

/* Calls one(number, team) for each of `many` things, a warp's or a block's, which length(number) says: of
 * more than FTB_SPGEMM_LONG entries it is the block's. All threads of the grid's blocks come here. */
template <class LENGTH, class ONE>
__device__ __forceinline__ void for_teams(long long many, LENGTH length, ONE one)
{
    FTB_DYNAMIC_SHARED(int, is_long); /* of FTB_SPGEMM_TEAM_BYTES */
    int *const sums = is_long + STEP_WARPS;
    const int thread = static_cast<int>(threadIdx.x);
    const long long first = static_cast<long long>(blockIdx.x) * STEP_WARPS, mine = first + thread / 32;
    const bool there = mine < many, longer = there && length(mine) > FTB_SPGEMM_LONG;
    if (thread % 32 == 0)
        is_long[thread / 32] = longer;
    if (there && !longer)
        one(mine, OneWarp{thread % 32});
    __syncthreads();
    for (int w = 0; w < STEP_WARPS; w++)
        if (is_long[w])
            one(first + w, WholeBlock{thread, sums});
}

} // namespace

#endif
