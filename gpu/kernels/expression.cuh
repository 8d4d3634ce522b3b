/* Kernels around an expression: an element of a result is a thread's. A generated text
 * (gpu/texts/expression.c) includes this after
 *
 *     S message(const ftb_expression_arguments &a, int64_t i, int64_t j, int64_t e, int64_t v)
 *
 * which gives value v of 0 .. VALUES - 1 of entry e = (i, j), as it is stored; S combine(S x, S y) of two
 * such values; SUMS, whether that is their sum; KERNELS, which are wanted; NAMED(kernel), which makes names
 * that no other text's kernels have. Neighbouring threads take neighbouring values. With LANES another
 * `message` is there, of values that lanes make together (expression_groups.cuh). */
#define BLOCK_PLACE (static_cast<long long>(blockIdx.x) * FTB_EXPRESSION_BLOCK + threadIdx.x)
#define KERNEL(name) FTB_KERNEL(name)

#if KERNELS == FTB_EXPRESSION_ROWS

static __device__ __forceinline__ bool is_absent(const ftb_expression_arguments &a, long long i)
{
    return a.skips && a.rowptr[i] == a.rowptr[i + 1];
}

static __device__ __forceinline__ void put_row(const ftb_expression_arguments &a, long long i, long long f,
                                               S value)
{
    S *const to = static_cast<S *>(a.out) + i * a.ldo + f;
    if (!is_absent(a, i))
        *to = a.add ? S(*to + value) : value;
    else if (!a.add)
        *to = S(0);
}

#elif KERNELS == FTB_EXPRESSION_ENTRIES

/* The row of entry e: the last that begins at it or before, of those that have entries. */
static __device__ __forceinline__ long long row_of(const ftb_expression_arguments &a, long long e)
{
    long long low = 0, high = a.nrows - 1;
    while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (a.rowptr[middle + 1] <= e)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#elif KERNELS == FTB_EXPRESSION_REDUCE

/* x: of y and another value; what is no number is so of two that are none. */
static __device__ __forceinline__ bool differ(float x, float y)
{
    return __float_as_int(x) != __float_as_int(y) && x == x;
}
static __device__ __forceinline__ bool differ(double x, double y)
{
    return __double_as_longlong(x) != __double_as_longlong(y) && x == x;
}
template <class T> static __device__ __forceinline__ bool differ(T x, T y) { return x != y; }

/* What a row has come to, and the entry that won: the first of equal ones. */
struct Reduced {
    S all = S(0);
    long long won = -1;
    __device__ __forceinline__ void take(S one, long long entry)
    {
        const S next = won < 0 ? one : combine(all, one);
        if (won < 0 || differ(next, all))
            won = entry;
        all = next;
    }
    __device__ __forceinline__ void add(S one, long long entry)
    {
        if (SUMS)
            all = combine(all, one); /* from 0 on: it is no -0 */
        else
            take(one, entry);
    }
};

static __device__ __forceinline__ void put(const ftb_expression_arguments &a, long long row, long long v,
                                           const Reduced &r)
{
    S *const to = static_cast<S *>(a.out) + row * a.ldo + v;
    *to = a.add ? S(*to + r.all) : r.all;
    if (a.won)
        a.won[row * a.ldwon + v] = r.won;
}

/* What a piece gives goes to its row or its slot. */
static __device__ __forceinline__ void put_piece(const ftb_expression_arguments &a, const ftb_spmm_piece &p,
                                                 long long v, const Reduced &r)
{
    if (p.slot < 0) {
        put(a, p.row, v, r);
        return;
    }
    static_cast<S *>(a.partial)[p.slot * VALUES + v] = r.all;
    if (a.won)
        a.partial_won[p.slot * VALUES + v] = r.won;
}

/* The rows that were cut. */
extern "C" __global__ void __launch_bounds__(FTB_EXPRESSION_BLOCK)
    NAMED(expression_join)(ftb_expression_arguments a)
{
    const long long number = BLOCK_PLACE / VALUES, v = BLOCK_PLACE % VALUES;
    if (number >= a.ncuts)
        return;
    const ftb_spmm_cut *const cut = a.cuts + number;
    Reduced r;
    for (int k = 0; k < cut->count; k++) {
        const long long at = (cut->slot + k) * static_cast<long long>(VALUES) + v;
        r.take(static_cast<const S *>(a.partial)[at], a.won ? a.partial_won[at] : k);
    }
    put(a, cut->row, v, r);
}
KERNEL(NAMED(expression_join));

#endif

#if LANES > 0

#include "gpu/kernels/expression_groups.cuh"

#elif KERNELS == FTB_EXPRESSION_ROWS

/* out(i, f) = message of row i; VALUES / ncols heads are summed. */
extern "C" __global__ void __launch_bounds__(FTB_EXPRESSION_BLOCK)
    NAMED(expression_rows)(ftb_expression_arguments a)
{
    const long long i = BLOCK_PLACE / a.ncols, f = BLOCK_PLACE % a.ncols;
    if (i >= a.nrows)
        return;
    const bool absent = is_absent(a, i);
    S sum = absent ? S(0) : message(a, i, i, i, f);
    for (long long v = f + a.ncols; v < VALUES && !absent; v += a.ncols)
        sum = S(sum + message(a, i, i, i, v));
    put_row(a, i, f, sum);
}
KERNEL(NAMED(expression_rows));

#elif KERNELS == FTB_EXPRESSION_ENTRIES

/* out(e, v) = message of entry e. */
extern "C" __global__ void __launch_bounds__(FTB_EXPRESSION_BLOCK)
    NAMED(expression_entries)(ftb_expression_arguments a)
{
    const long long e = BLOCK_PLACE / VALUES, v = BLOCK_PLACE % VALUES;
    if (e >= a.nvals)
        return;
    const long long i = READS_ROWS ? row_of(a, e) : 0;
    static_cast<S *>(a.out)[e * VALUES + v] = message(a, i, a.colidx[e], e, v);
}
KERNEL(NAMED(expression_entries));

#else

/* What a piece gives, in the order of its entries; a row without entries is 0. */
extern "C" __global__ void __launch_bounds__(FTB_EXPRESSION_BLOCK)
    NAMED(expression_reduce)(ftb_expression_arguments a)
{
    const long long number = BLOCK_PLACE / VALUES, v = BLOCK_PLACE % VALUES;
    if (number >= a.npieces)
        return;
    const ftb_spmm_piece *const p = a.pieces + number;
    Reduced r;
    for (long long e = p->begin; e < p->end; e++)
        r.add(message(a, p->row, a.colidx[e], e, v), e);
    put_piece(a, *p, v, r);
}
KERNEL(NAMED(expression_reduce));

#endif
