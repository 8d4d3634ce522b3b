/* Tiles that the copy engine brings to shared memory while those before are worked on (bulk copies), and
 * products of matrices that a warp makes. */
#include "gpu/kernels/kernel.cuh"

enum {
    RIGHT,
    NO_WAIT,
    EXPECTS_LESS,
    EXPECTS_MORE,
    BEGUN_UNSEEN,
    REFILLED_TOO_SOON,
    ANOTHER_PHASE,
    HALF_A_GRAIN,
    LEFT_ALONE,
    ONE_WAITS,
    SOURCE_OVERWRITTEN
};
enum { RUN = 128 }; /* bytes of a copy; of every eighth thread */

template <int MISTAKE>
static __device__ void bring(float4 *to, const float4 *from, unsigned long long *barrier)
{
    const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
    if (t == n - 1)
        ftb_barrier_expect(barrier, static_cast<unsigned>(n) * 16 - (MISTAKE == EXPECTS_LESS ? RUN : 0) +
                                        (MISTAKE == EXPECTS_MORE ? RUN : 0));
    if (t % 8 == 0)
        ftb_copy_bulk(to + t, from + t, MISTAKE == HALF_A_GRAIN ? RUN - 8 : RUN, barrier);
}

/* out[t] = sum over tiles of a value that another thread brought. */
template <int MISTAKE> static __device__ void bulk(int ntiles, float4 *in, float *out)
{
    FTB_DYNAMIC_SHARED(float4, buffers); /* two, of as many as there are threads */
    __shared__ unsigned long long barriers[2];
    const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
    float sum = 0;
    if (t == 0) {
        ftb_barrier_begin(&barriers[0]);
        ftb_barrier_begin(&barriers[1]);
    }
    if (MISTAKE != BEGUN_UNSEEN)
        __syncthreads();
    bring<MISTAKE>(buffers, in, &barriers[0]);
    for (int k = 0; k < ntiles; k++) {
        if (k + 1 < ntiles || MISTAKE == LEFT_ALONE)
            bring<MISTAKE>(buffers + (k + 1) % 2 * n, in + (k + 1) % ntiles * n, &barriers[(k + 1) % 2]);
        const unsigned phase = static_cast<unsigned>(k / 2 % 2);
        if (MISTAKE == SOURCE_OVERWRITTEN && k == 0 && t % 8 == 0)
            in[n + t] = make_float4(0, 0, 0, 0);
        if (MISTAKE != NO_WAIT && (MISTAKE != ONE_WAITS || t == 0))
            ftb_barrier_wait(&barriers[k % 2], MISTAKE == ANOTHER_PHASE ? 1 - phase : phase);
        const float4 v = buffers[k % 2 * n + n - 1 - t];
        sum += v.x + v.y * 2 + v.z * 3 + v.w * 4;
        if (MISTAKE != REFILLED_TOO_SOON)
            __syncthreads();
    }
    out[t] = sum;
}

#define BULK(name, mistake)                                                                                  \
    extern "C" __global__ void bulk_##name(int ntiles, float4 *in, float *out)                               \
    {                                                                                                        \
        bulk<mistake>(ntiles, in, out);                                                                      \
    }                                                                                                        \
    FTB_KERNEL(bulk_##name);
BULK(right, RIGHT)
BULK(no_wait, NO_WAIT)
BULK(expects_less, EXPECTS_LESS)
BULK(expects_more, EXPECTS_MORE)
BULK(begun_unseen, BEGUN_UNSEEN)
BULK(refilled_too_soon, REFILLED_TOO_SOON)
BULK(another_phase, ANOTHER_PHASE)
BULK(half_a_grain, HALF_A_GRAIN)
BULK(left_alone, LEFT_ALONE)
BULK(one_waits, ONE_WAITS)
BULK(source_overwritten, SOURCE_OVERWRITTEN)

/* What lane l has: 4 registers of A, 2 of B, and 4 values of D, which it adds to. */
#define MATRICES(type)                                                                                       \
    extern "C" __global__ void matrices_##type(const unsigned *a, const unsigned *b, float *d, int lanes)    \
    {                                                                                                        \
        const int l = static_cast<int>(threadIdx.x);                                                         \
        const unsigned mine[4] = {a[4 * l], a[4 * l + 1], a[4 * l + 2], a[4 * l + 3]},                       \
                       other[2] = {b[2 * l], b[2 * l + 1]};                                                  \
        float sum[4] = {d[4 * l], d[4 * l + 1], d[4 * l + 2], d[4 * l + 3]};                                 \
        if (l < lanes)                                                                                       \
            ftb_multiply_##type(sum, mine, other);                                                           \
        for (int k = 0; k < 4; k++)                                                                          \
            d[4 * l + k] = sum[k];                                                                           \
    }                                                                                                        \
    FTB_KERNEL(matrices_##type);
MATRICES(tf32)
MATRICES(fp16)
MATRICES(bf16)

/* Rounded to TF32, for the host to look at. */
extern "C" __global__ void rounded_tf32(const float *x, unsigned *to)
{
    to[threadIdx.x] = ftb_float_to_tf32(x[threadIdx.x]);
}
FTB_KERNEL(rounded_tf32);
