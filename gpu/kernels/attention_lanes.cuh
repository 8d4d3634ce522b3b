/* What attention (attention.cu) and its gradients (attention_grad.cu) have in common: the kinds of scores,
 * and what a lane does. */
#ifndef FTB_ATTENTION_LANES_CUH
#define FTB_ATTENTION_LANES_CUH

#include "gpu/kernels/kernel.cuh"

enum Score { DOT, ADD };

static __device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

/* What exponentials are less: of -infinity alone, 0. */
static __device__ __forceinline__ float base_of(float most) { return most == -infinity() ? 0 : most; }

/* A lane's place: its group, the part of a span that it is, and of which head it has features from f on, of
 * heads that are `width` wide. The grid is (pieces, blocks of heads times tiles). */
struct Lane {
    unsigned group;
    int part, span, head, f; /* span: its first lane in the group */
    bool mine;               /* the head is there, */
    bool values;             /* and so are the features */
};

template <int LANES, int SPAN, int VALUES>
static __device__ __forceinline__ Lane lane_of(int heads, int width)
{
    Lane l;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % LANES;
    const int tiles = (width + SPAN * VALUES - 1) / (SPAN * VALUES);
    const int block = static_cast<int>(blockIdx.y) / tiles, tile = static_cast<int>(blockIdx.y) % tiles;
    l.group = (FTB_FULL_WARP >> (32 - LANES)) << (thread % 32 - lane);
    l.part = lane % SPAN;
    l.span = lane - l.part;
    l.head = block * (LANES / SPAN) + lane / SPAN;
    l.f = (tile * SPAN + l.part) * VALUES;
    l.mine = l.head < heads;
    l.values = l.mine && l.f < width;
    return l;
}

#endif
