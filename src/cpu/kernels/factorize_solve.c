/* Least squares of a row's factors x:
 *
 *     (sum of y y' + lambda n I) x = sum of value y
 *
 * over the n ratings of the row, y the factors of the column. Products are added to tiles of 8 rows and a
 * vector of the upper triangle, in registers, for so many ratings at a time that their factors stay in L1
 * from tile to tile. Then the matrix is made R' D R in its place, Cholesky's factorization without roots, by
 * tiles, too: a division is all that a row waits for. The right side is a column of it. Work is k^2 / 2
 * products a rating, of which tiles make k^2 / 2 + 8 k, and k^3 / 6 a row.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/factorize_lanes.h"

enum { TILE = 8, BATCH = 32 }; /* rows of a vector, in registers; ratings, whose factors stay in L1 */

typedef struct equations {
    real *matrix;    /* pitch x pitch, of which what is right of the diagonal counts */
    real *scaled;    /* its rows times -1 / D, once they are solved */
    real *right, *x; /* pitch each */
} equations;

static equations lay_out(real *room, int64_t pitch)
{
    equations q;
    q.matrix = room;
    q.right = q.matrix + pitch * pitch;
    q.scaled = q.right + pitch;
    q.x = q.scaled + pitch * pitch;
    return q;
}

/* ---- tiles: TILE rows of a vector each */

typedef struct tile {
    part row[TILE];
} tile;

FTB_INLINE tile load_tile(const real *from, int64_t pitch)
{
    tile t;
#pragma GCC unroll 8
    for (int r = 0; r < TILE; r++)
        t.row[r] = part_load(from + r * pitch);
    return t;
}

FTB_INLINE void store_tile(real *to, int64_t pitch, const tile *t)
{
#pragma GCC unroll 8
    for (int r = 0; r < TILE; r++)
        part_store(to + r * pitch, t->row[r]);
}

FTB_INLINE void add_products(tile *t, const real *left, part right)
{
#pragma GCC unroll 8
    for (int r = 0; r < TILE; r++)
        t->row[r] = part_madd(part_all(left[r]), right, t->row[r]);
}

/* ---- sums of products */

/* Ratings that are summed together, while the factors of those behind them are fetched. */
typedef struct batch {
    const int32_t *column;
    const real *value;
    int64_t count, after; /* after: so many are behind them */
} batch;

/* What is fetched in the course of a tile: a line each of the factors of some ratings behind, one here and
 * one there, so that none waits for the others. */
typedef struct fetch {
    int64_t line, first, step;
} fetch;

FTB_INLINE fetch plan_fetch(int64_t number, int64_t ntiles, int64_t pitch)
{
    const int64_t lines = pitch * FTB_REAL_SIZE / 64, turns = ftb_max(1, ntiles / lines);
    return (fetch){number % lines * 64, number / lines < turns ? number / lines : INT64_MAX, turns};
}

/* The tile from (i, c) on. */
FTB_INLINE void add_tile(const equations *q, const real *other, const batch *b, int64_t i, int64_t c,
                         int64_t pitch, fetch f)
{
    real *to = q->matrix + i * pitch + c;
    tile t = load_tile(to, pitch);
    for (int64_t n = 0; n < b->count; n++) {
        const real *y = other + b->column[n] * pitch;
        if (n == f.first && n < b->after) {
            __builtin_prefetch((const char *)(other + b->column[b->count + n] * pitch) + f.line);
            f.first += f.step;
        }
        add_products(&t, y + i, part_load(y + c));
    }
    store_tile(to, pitch, &t);
}

/* Four sums, so that an addition need not wait for the one before. */
FTB_INLINE void add_right(const equations *q, const real *other, const batch *b, int64_t c, int64_t pitch)
{
    part sum[4] = {part_load(q->right + c)};
    int64_t n = 0;
    for (; n + 4 <= b->count; n += 4)
        for (int k = 0; k < 4; k++)
            sum[k] =
                part_madd(part_all(b->value[n + k]), part_load(other + b->column[n + k] * pitch + c), sum[k]);
    for (; n < b->count; n++)
        sum[0] = part_madd(part_all(b->value[n]), part_load(other + b->column[n] * pitch + c), sum[0]);
    part_store(q->right + c, (sum[0] + sum[1]) + (sum[2] + sum[3]));
}

FTB_INLINE void add_batch(const equations *q, const real *other, const batch *b, int64_t nfactors,
                          int64_t pitch)
{
    int64_t ntiles = 0, number = 0;
    for (int64_t i = 0; i < nfactors; i += TILE)
        ntiles += (nfactors - i / PART_LANES * PART_LANES + PART_LANES - 1) / PART_LANES;
    for (int64_t i = 0; i < nfactors; i += TILE)
        for (int64_t c = i / PART_LANES * PART_LANES; c < nfactors; c += PART_LANES) {
            add_tile(q, other, b, i, c, pitch, plan_fetch(number, ntiles, pitch));
            number++;
        }
    for (int64_t c = 0; c < nfactors; c += PART_LANES)
        add_right(q, other, b, c, pitch);
}

/* ---- solving */

/* What rows i to last - 1 take from each other, and the right side from them, from column c on. Each waits
 * for the one before, whose vectors, if they are one or two, stay in registers. False: the matrix is
 * singular. */
FTB_INLINE bool eliminate(const equations *q, int64_t i, int64_t last, int64_t c, int64_t vectors,
                          int64_t pitch)
{
    for (int64_t j = i; j < last; j++) {
        const real *row = q->matrix + j * pitch;
        const real d = row[j];
        part scaled[FTB_FACTORS_MOST / PART_LANES];
        if (!(d > 0) || d > (FTB_REAL_SIZE == 4 ? (real)3e38F : (real)1e308))
            return false;
        const real inverse = 1 / d;
        const part y = part_all(q->right[j]);
        q->x[j] = q->right[j] * inverse;
        for (int64_t v = 0; v < vectors; v++) {
            const int64_t at = c + v * PART_LANES;
            scaled[v] = part_load(row + at) * part_all(-inverse);
            part_store(q->scaled + j * pitch + at, scaled[v]);
            part_store(q->right + at, part_madd(y, scaled[v], part_load(q->right + at)));
        }
        for (int64_t below = j + 1; below < last; below++) {
            real *to = q->matrix + below * pitch + c;
            for (int64_t v = 0; v < vectors; v++)
                part_store(to + v * PART_LANES,
                           part_madd(part_all(row[below]), scaled[v], part_load(to + v * PART_LANES)));
        }
    }
    return true;
}

FTB_INLINE bool solve(const equations *q, int64_t nfactors, int64_t pitch)
{
    for (int64_t i = 0; i < nfactors; i += TILE) {
        const int64_t last = ftb_min(i + TILE, nfactors);
        for (int64_t c = i / PART_LANES * PART_LANES; i > 0 && c < nfactors; c += PART_LANES) {
            real *to = q->matrix + i * pitch + c;
            tile t = load_tile(to, pitch);
            for (int64_t j = 0; j < i; j++)
                add_products(&t, q->matrix + j * pitch + i, part_load(q->scaled + j * pitch + c));
            store_tile(to, pitch, &t);
        }
        const int64_t c = i / PART_LANES * PART_LANES, vectors = (nfactors - c + PART_LANES - 1) / PART_LANES;
        if (!(vectors == 1   ? eliminate(q, i, last, c, 1, pitch)
              : vectors == 2 ? eliminate(q, i, last, c, 2, pitch)
                             : eliminate(q, i, last, c, vectors, pitch)))
            return false;
    }
    for (int64_t c = nfactors - 1; c > 0; c--)
        for (int64_t i = 0; i < c; i++)
            q->x[i] += q->scaled[i * pitch + c] * q->x[c];
    return true;
}

/* The equations of row v; without ratings 1 x = 0. */
FTB_INLINE void add_row(const equations *q, const ftb_factors *f, int64_t v, int64_t limit, int64_t nfactors,
                        int64_t pitch)
{
    const int64_t first = f->ratings.start[v], end = f->ratings.start[v + 1];
    const double weight = f->once ? 1 : (double)(end - first);
    const real shift = end > first ? (real)(f->lambda * weight) : 1;
    memset(q->matrix, 0, (size_t)(pitch * pitch + pitch) * sizeof *q->matrix); /* and the right side */
    for (int64_t e = first; e < end; e += BATCH) {
        const int64_t count = ftb_min(BATCH, end - e);
        const batch b = {f->ratings.column + e, (const real *)f->ratings.value + e, count, limit - e - count};
        add_batch(q, f->other, &b, nfactors, pitch);
    }
    for (int64_t j = 0; j < nfactors; j++)
        q->matrix[j * pitch + j] += shift;
}

FTB_INLINE int64_t rows(const ftb_factors *f, int64_t first, int64_t last, real *room, int64_t nfactors,
                        int64_t pitch)
{
    const equations q = lay_out(room, pitch);
    for (int64_t v = first; v < last; v++) {
        add_row(&q, f, v, f->ratings.start[last], nfactors, pitch);
        if (!solve(&q, nfactors, pitch))
            return v;
        memcpy((real *)f->own + (f->ratings.row ? f->ratings.row[v] : v) * pitch, q.x,
               (size_t)nfactors * sizeof(real));
    }
    return -1;
}

int64_t FTB_REAL_CELL(ftb_factorize_solve)(const ftb_factors *f, int64_t first, int64_t last, void *room)
{
    if (f->nfactors == 32)
        return rows(f, first, last, room, 32, 32);
    return rows(f, first, last, room, f->nfactors, f->pitch);
}
