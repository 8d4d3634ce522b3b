/* Dense products C = A B, A' B, A B', or C += these, by fused multiply-adds.
 *
 * A block has a tile of C, and its threads R x S values each, 16 apart: 4 x 4, or one along a side of 16 or
 * less. It walks over the terms 16 at a time: its rows of A and columns of B go to shared memory, where each
 * value is read by 16 threads. A sum's terms
 * are added in order; what was cut into parts is joined in order, by a kernel of its own. The cut depends on
 * the shapes alone (gpu/dense.c), so that bits do, too.
 *
 * Of 4 x 4 a value of C and 16 terms take 16 / 64 values of A and of B from memory, and a thread reads 8
 * values from shared memory for 16 multiply-adds: the limit is shared memory's bandwidth, a third of what the
 * multiply-adds would take where there are no tensor cores. */
#include "gpu/kernels/dense_tiles.h"
#include "gpu/kernels/kernel.cuh"

namespace
{

enum Form { AB, ATB, ABT };
enum { SIDE = 16 }; /* of a block's threads */

__device__ __forceinline__ float fused(float x, float y, float z) { return fmaf(x, y, z); }
__device__ __forceinline__ double fused(double x, double y, double z) { return fma(x, y, z); }

/* STEP terms of 16 N rows of an operand, to shared[term][row]; 0 where there is nothing. `along`: a row's
 * terms lie side by side in memory, else a term's rows do. */
template <int N, class T>
__device__ __forceinline__ void load(T (*shared)[SIDE * N + 1], const T *x, long long ld, bool along,
                                     long long row0, long long nrows, long long term0, long long nterms)
{
    const int thread = static_cast<int>(threadIdx.x);
    for (int k = 0; k < N; k++) {
        const int row = along ? thread / SIDE + SIDE * k : thread % (SIDE * N),
                  term = along ? thread % SIDE : thread / (SIDE * N) + SIDE / N * k;
        const long long i = row0 + row, t = term0 + term;
        shared[term][row] = i < nrows && t < nterms ? x[along ? i * ld + t : t * ld + i] : T(0);
    }
}

template <class T, int FORM, int R, int S>
__device__ __forceinline__ void multiply(const ftb_dense_arguments &g)
{
    __shared__ T left[FTB_DENSE_STEP][SIDE * R + 1], right[FTB_DENSE_STEP][SIDE * S + 1];
    const int thread = static_cast<int>(threadIdx.x), x = thread % SIDE, y = thread / SIDE;
    const long long row0 = static_cast<long long>(blockIdx.x / g.tiles) * (SIDE * R),
                    col0 = static_cast<long long>(blockIdx.x % g.tiles) * (SIDE * S);
    const long long steps = (g.inner + FTB_DENSE_STEP - 1) / FTB_DENSE_STEP, part = blockIdx.y;
    T sum[R][S] = {};
    for (long long step = steps * part / g.parts; step < steps * (part + 1) / g.parts; step++) {
        const long long term0 = step * FTB_DENSE_STEP;
        load<R>(left, static_cast<const T *>(g.a), g.lda, FORM != ATB, row0, g.nrows, term0, g.inner);
        load<S>(right, static_cast<const T *>(g.b), g.ldb, FORM == ABT, col0, g.ncols, term0, g.inner);
        __syncthreads();
        for (int t = 0; t < FTB_DENSE_STEP; t++) {
            T l[R], q[S];
            for (int r = 0; r < R; r++)
                l[r] = left[t][y + SIDE * r];
            for (int s = 0; s < S; s++)
                q[s] = right[t][x + SIDE * s];
            for (int r = 0; r < R; r++)
                for (int s = 0; s < S; s++)
                    sum[r][s] = fused(l[r], q[s], sum[r][s]);
        }
        __syncthreads();
    }
    for (int r = 0; r < R; r++)
        for (int s = 0; s < S; s++) {
            const long long i = row0 + y + SIDE * r, j = col0 + x + SIDE * s;
            if (i >= g.nrows || j >= g.ncols)
                continue;
            if (g.parts > 1) {
                static_cast<T *>(g.partial)[(part * g.nrows + i) * g.ncols + j] = sum[r][s];
            } else {
                T *const to = static_cast<T *>(g.c) + i * g.ldc + j;
                *to = g.add ? *to + sum[r][s] : sum[r][s];
            }
        }
}

template <class T> __device__ __forceinline__ void join(const ftb_dense_arguments &g)
{
    const long long at = static_cast<long long>(blockIdx.x) * FTB_DENSE_BLOCK + threadIdx.x,
                    count = g.nrows * g.ncols;
    if (at >= count)
        return;
    const T *const partial = static_cast<const T *>(g.partial) + at;
    T sum = partial[0];
    for (int part = 1; part < g.parts; part++)
        sum += partial[part * count];
    T *const to = static_cast<T *>(g.c) + at / g.ncols * g.ldc + at % g.ncols;
    *to = g.add ? *to + sum : sum;
}

} // namespace

#define MULTIPLY(type, form, r, s)                                                                           \
    extern "C" __global__ void __launch_bounds__(FTB_DENSE_BLOCK)                                            \
        dense_##type##_##form##_##r##x##s(ftb_dense_arguments g)                                             \
    {                                                                                                        \
        multiply<type, form, r, s>(g);                                                                       \
    }                                                                                                        \
    FTB_KERNEL(dense_##type##_##form##_##r##x##s);
#define JOIN(type)                                                                                           \
    extern "C" __global__ void __launch_bounds__(FTB_DENSE_BLOCK) dense_##type##_join(ftb_dense_arguments g) \
    {                                                                                                        \
        join<type>(g);                                                                                       \
    }                                                                                                        \
    FTB_KERNEL(dense_##type##_join);
FTB_DENSE(MULTIPLY)
FTB_DENSE_JOIN(JOIN)
