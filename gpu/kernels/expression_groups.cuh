/* Kernels around an expression whose vectors lanes share, as x of x @ W: a group of LANES threads takes a row
 * of results of one head, or, of wide ones, a tile of LANES x EACH values of it, and ITEMS entries or rows at
 * a time. Before this a generated text (gpu/texts/expression_text.c) has
 *
 *     Shared                                the vectors, value f of item t at x[f * ITEMS + t]
 *     share(a, shared, at, h, lane, mask)   makes them, lane by lane
 *     message(a, shared, at, h, f, out)     gives value f of head h of each item, as it is stored
 *
 * and WIDTH values of a head, HEADS. Of x @ W with FP32 a lane reads, for ITEMS products and sums, ITEMS
 * values of x from shared memory, all lanes the same, and one of W, side by side, which L1 has. */
enum { GROUPS = FTB_EXPRESSION_BLOCK / LANES, TILE = LANES * EACH };
#define TILES ((WIDTH + TILE - 1) / TILE)

struct Group {
    int number, lane; /* number: in the block */
    unsigned mask;    /* its lanes in the warp */
    long long unit;   /* of the launch's work */
};

static __device__ __forceinline__ Group group_of_thread()
{
    const int thread = static_cast<int>(threadIdx.x), number = thread / LANES;
    const unsigned lanes = 0xffffffffu >> (32 - LANES);
    return {number, thread % LANES, lanes << (thread % 32 / LANES * LANES),
            static_cast<long long>(blockIdx.x) * GROUPS + number};
}

#if KERNELS == FTB_EXPRESSION_ROWS

/* out(i, f) = message of row i; HEADS / (ncols / WIDTH) heads are summed. */
extern "C" __global__ void __launch_bounds__(FTB_EXPRESSION_BLOCK)
    NAMED(expression_rows)(ftb_expression_arguments a)
{
    FTB_DYNAMIC_SHARED(Shared, shared); /* of each group */
    const Group g = group_of_thread();
    const long long heads = a.ncols / WIDTH, head = g.unit / TILES % heads,
                    first = g.unit / TILES / heads * ITEMS;
    if (first >= a.nrows)
        return;
    Places at;
#pragma unroll
    for (int t = 0; t < ITEMS; t++)
        at.i[t] = at.j[t] = at.e[t] = first + t < a.nrows ? first + t : a.nrows - 1;
    S sum[EACH][ITEMS];
    for (long long h = head; h < HEADS; h += heads) {
        share(a, shared[g.number], at, h, g.lane, g.mask);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const long long f = g.unit % TILES * TILE + k * LANES + g.lane;
            S out[ITEMS];
            if (f >= WIDTH)
                continue;
            message(a, shared[g.number], at, h, f, out);
#pragma unroll
            for (int t = 0; t < ITEMS; t++)
                sum[k][t] = h == head ? out[t] : S(sum[k][t] + out[t]);
        }
        __syncwarp(g.mask);
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
#pragma unroll
        for (int t = 0; t < ITEMS; t++) {
            const long long f = g.unit % TILES * TILE + k * LANES + g.lane, i = first + t;
            if (f < WIDTH && i < a.nrows)
                put_row(a, i, head * WIDTH + f, sum[k][t]);
        }
}
KERNEL(NAMED(expression_rows));

#elif KERNELS == FTB_EXPRESSION_ENTRIES

/* out(e, v) = message of entry e. */
extern "C" __global__ void __launch_bounds__(FTB_EXPRESSION_BLOCK)
    NAMED(expression_entries)(ftb_expression_arguments a)
{
    FTB_DYNAMIC_SHARED(Shared, shared); /* of each group */
    const Group g = group_of_thread();
    const long long h = g.unit / TILES % HEADS, first = g.unit / TILES / HEADS * ITEMS;
    if (first >= a.nvals)
        return;
    Places at;
    const long long own = first + g.lane % ITEMS; /* lanes look for the rows of all items at once */
    const long long row = READS_ROWS ? row_of(a, own < a.nvals ? own : a.nvals - 1) : 0;
#pragma unroll
    for (int t = 0; t < ITEMS; t++) {
        const long long e = first + t < a.nvals ? first + t : a.nvals - 1;
        at.e[t] = e;
        at.j[t] = a.colidx[e];
        at.i[t] = READS_ROWS ? __shfl_sync(g.mask, row, t, LANES) : 0;
    }
    share(a, shared[g.number], at, h, g.lane, g.mask);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const long long f = g.unit % TILES * TILE + k * LANES + g.lane;
        S out[ITEMS];
        if (f >= WIDTH)
            continue;
        message(a, shared[g.number], at, h, f, out);
#pragma unroll
        for (int t = 0; t < ITEMS; t++)
            if (first + t < a.nvals)
                static_cast<S *>(a.out)[(first + t) * VALUES + h * WIDTH + f] = out[t];
    }
}
KERNEL(NAMED(expression_entries));

#else

/* What a piece gives, in the order of its entries, goes to its row or its slot; a row without entries is 0.
 */
extern "C" __global__ void __launch_bounds__(FTB_EXPRESSION_BLOCK)
    NAMED(expression_reduce)(ftb_expression_arguments a)
{
    FTB_DYNAMIC_SHARED(Shared, shared); /* of each group */
    const Group g = group_of_thread();
    const long long h = g.unit / TILES % HEADS, number = g.unit / TILES / HEADS;
    if (number >= a.npieces)
        return;
    const ftb_spmm_piece p = a.pieces[number];
    Reduced r[EACH];
    for (long long first = p.begin; first < p.end; first += ITEMS) {
        Places at;
#pragma unroll
        for (int t = 0; t < ITEMS; t++) {
            const long long e = first + t < p.end ? first + t : p.end - 1;
            at.e[t] = e;
            at.j[t] = a.colidx[e];
            at.i[t] = p.row;
        }
        share(a, shared[g.number], at, h, g.lane, g.mask);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const long long f = g.unit % TILES * TILE + k * LANES + g.lane;
            S out[ITEMS];
            if (f >= WIDTH)
                continue;
            message(a, shared[g.number], at, h, f, out);
#pragma unroll
            for (int t = 0; t < ITEMS; t++)
                if (first + t < p.end)
                    r[k].add(out[t], first + t);
        }
        __syncwarp(g.mask);
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const long long f = g.unit % TILES * TILE + k * LANES + g.lane;
        if (f < WIDTH)
            put_piece(a, p, h * WIDTH + f, r[k]);
    }
}
KERNEL(NAMED(expression_reduce));

#endif
