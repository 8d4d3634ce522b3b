/* Least squares of a row's factors x:
 *
 *     (sum of y y' + lambda n I) x = sum of value y      over the n ratings of the row, y the column's
 * factors
 *
 * The factors of some ratings are copied side by side, and their products added to tiles of 8 rows and a
 * vector of the upper triangle, in registers. Then it is made R' D R row by row in its place, which is
 * Cholesky's factorization without roots: one division is all that a row waits for. The right side is a
 * column of it. Work is k^2 / 2 products a rating, of which tiles make k^2 / 2 + 8 k, and k^3 / 6 a row.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/factorize_lanes.h"

enum { TILE = 8, BATCH = FTB_FACTORIZE_BATCH };

typedef struct equations {
    real *matrix;              /* pitch x pitch, of which what is right of the diagonal counts */
    real *right, *x, *inverse; /* pitch each; inverse: of D */
    real *batch, *value;       /* BATCH x pitch, BATCH */
} equations;

static equations lay_out(real *room, int64_t pitch)
{
    equations q;
    q.matrix = room;
    q.right = q.matrix + pitch * pitch;
    q.x = q.right + pitch;
    q.inverse = q.x + pitch;
    q.batch = q.inverse + pitch;
    q.value = q.batch + BATCH * pitch;
    return q;
}

/* ---- sums of products */

FTB_INLINE void take_batch(const equations *q, const ftb_factors *f, int64_t e, int64_t count, int64_t limit)
{
    const int64_t pitch = f->pitch;
    const int32_t *column = f->ratings.column;
    for (int64_t n = 0; n < count; n++) {
        const real *from = (const real *)f->other + column[e + n] * pitch;
        if (e + n + BATCH < limit) {
            const char *soon = (const char *)((const real *)f->other + column[e + n + BATCH] * pitch);
            for (int64_t at = 0; at < pitch * FTB_REAL_SIZE; at += 64)
                __builtin_prefetch(soon + at);
        }
        for (int64_t c = 0; c < pitch; c += PART_LANES)
            part_store(q->batch + n * pitch + c, part_load(from + c));
        q->value[n] = ((const real *)f->ratings.value)[e + n];
    }
}

FTB_INLINE void add_tile(const equations *q, int64_t pitch, int64_t i, int64_t c, int64_t count)
{
    real *to = q->matrix + i * pitch + c;
    part sum[TILE];
#pragma GCC unroll 8
    for (int r = 0; r < TILE; r++)
        sum[r] = part_load(to + r * pitch);
    for (int64_t n = 0; n < count; n++) {
        const real *y = q->batch + n * pitch;
        const part right = part_load(y + c);
#pragma GCC unroll 8
        for (int r = 0; r < TILE; r++)
            sum[r] = part_madd(part_all(y[i + r]), right, sum[r]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < TILE; r++)
        part_store(to + r * pitch, sum[r]);
}

FTB_INLINE void add_batch(const equations *q, int64_t nfactors, int64_t pitch, int64_t count)
{
    for (int64_t i = 0; i < nfactors; i += TILE)
        for (int64_t c = i / PART_LANES * PART_LANES; c < nfactors; c += PART_LANES)
            add_tile(q, pitch, i, c, count);
    for (int64_t c = 0; c < nfactors; c += PART_LANES) {
        part sum = part_load(q->right + c);
        for (int64_t n = 0; n < count; n++)
            sum = part_madd(part_all(q->value[n]), part_load(q->batch + n * pitch + c), sum);
        part_store(q->right + c, sum);
    }
}

/* ---- solving */

/* What row j takes from the rows below it, and from the right side. False: the matrix is singular. */
FTB_INLINE bool eliminate(const equations *q, int64_t j, int64_t nfactors, int64_t pitch)
{
    const real *row = q->matrix + j * pitch;
    const real d = row[j];
    if (!(d > 0) || d > (FTB_REAL_SIZE == 4 ? (real)3e38F : (real)1e308))
        return false;
    const real inverse = 1 / d;
    const int64_t from = j / PART_LANES * PART_LANES;
    part scaled[FTB_FACTORS_MOST / PART_LANES];
    for (int64_t c = from; c < nfactors; c += PART_LANES)
        scaled[c / PART_LANES] = part_load(row + c) * part_all(-inverse);
    q->inverse[j] = inverse;
    q->x[j] = q->right[j];
    const part y = part_all(q->right[j]);
    for (int64_t c = from; c < nfactors; c += PART_LANES)
        part_store(q->right + c, part_madd(y, scaled[c / PART_LANES], part_load(q->right + c)));
    for (int64_t i = j + 1; i < nfactors; i++) {
        const part by = part_all(row[i]);
        real *to = q->matrix + i * pitch;
        for (int64_t c = i / PART_LANES * PART_LANES; c < nfactors; c += PART_LANES)
            part_store(to + c, part_madd(by, scaled[c / PART_LANES], part_load(to + c)));
    }
    return true;
}

FTB_INLINE bool solve(const equations *q, int64_t nfactors, int64_t pitch)
{
    for (int64_t j = 0; j < nfactors; j++)
        if (!eliminate(q, j, nfactors, pitch))
            return false;
    for (int64_t c = nfactors - 1; c >= 0; c--) {
        const real x = q->x[c] * q->inverse[c];
        q->x[c] = x;
        for (int64_t i = 0; i < c; i++)
            q->x[i] -= q->matrix[i * pitch + c] * x;
    }
    return true;
}

FTB_INLINE int64_t rows(const ftb_factors *f, int64_t first, int64_t last, real *room, int64_t nfactors,
                        int64_t pitch)
{
    const equations q = lay_out(room, pitch);
    const int64_t *start = f->ratings.start;
    for (int64_t v = first; v < last; v++) {
        real *own = (real *)f->own + (f->ratings.row ? f->ratings.row[v] : v) * pitch;
        const int64_t n = start[v + 1] - start[v];
        const real shift = (real)(f->lambda * (f->once ? 1 : (double)n));
        memset(q.matrix, 0, (size_t)(pitch * pitch + pitch) * sizeof *room); /* and the right side */
        for (int64_t e = start[v]; e < start[v + 1]; e += BATCH) {
            const int64_t count = ftb_min(BATCH, start[v + 1] - e);
            take_batch(&q, f, e, count, start[last]);
            add_batch(&q, nfactors, pitch, count);
        }
        for (int64_t j = 0; j < nfactors; j++)
            q.matrix[j * pitch + j] += shift;
        if (n > 0 && !solve(&q, nfactors, pitch))
            return v;
        for (int64_t j = 0; j < nfactors; j++)
            own[j] = n > 0 ? q.x[j] : 0;
    }
    return -1;
}

int64_t FTB_REAL_CELL(ftb_factorize_solve)(const ftb_factors *f, int64_t first, int64_t last, void *room)
{
    if (f->nfactors == 32)
        return rows(f, first, last, room, 32, 32);
    return rows(f, first, last, room, f->nfactors, f->pitch);
}
