/* Least squares of a row's factors x:
 *
 *     (sum of y y' + lambda n I) x = sum of value y
 *
 * over the n ratings of the row, y the factors of the column. The factors of some ratings are packed, to stay
 * in L1 from tile to tile, while those of the next are fetched; their products are added to tiles of 8 rows
 * and a vector of the upper triangle, two side by side where there are registers for them. Work is k^2 / 2
 * products a rating, of which tiles make k^2 / 2 + 8 k.
 *
 * Up to FTB_FACTORS_ABREAST factors, as many rows as a vector has lanes are then solved side by side
 * (factorize_abreast.h): k^3 / 6 products a row. Of more factors, rows are solved alone: the matrix is made
 * R' D R in its place, Cholesky's factorization without roots, by tiles, too; a division is all that a row
 * waits for. The right side is a column of it.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/factorize_abreast.h"

enum { TILE = 8, FOUR = 4 }; /* rows of a vector, in registers; ratings between two fetches */
enum { ASIDE = FTB_VECTOR_BYTES == 64 ? 2 : 1 }; /* tiles at a time, of 8 registers each */

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

/* Ratings that are summed together: their factors, side by side, with zeros up to a multiple of FOUR, and
 * their values, of which those that meet zeros may be anything finite. */
typedef struct batch {
    real *factors;
    const real *value;
    int64_t count;
    const int32_t
        *soon; /* columns of those some way behind, whose factors are fetched meanwhile; NULL: none */
} batch;

/* Ratings e to e + count - 1; `copy` is room for their values. */
FTB_INLINE void pack(batch *b, real *copy, const ftb_factors *f, int64_t e, int64_t count, int64_t limit,
                     int64_t pitch)
{
    const int32_t *column = f->ratings.column + e;
    const real *value = (const real *)f->ratings.value + e;
    b->count = (count + FOUR - 1) / FOUR * FOUR;
    for (int64_t n = 0; n < count; n++)
        for (int64_t c = 0; c < pitch; c += PART_LANES)
            part_store(b->factors + n * pitch + c, part_load((const real *)f->other + column[n] * pitch + c));
    memset(b->factors + count * pitch, 0, (size_t)((b->count - count) * pitch) * sizeof(real));
    b->value = value;
    if (e + b->count > limit) {
        memset(copy, 0, FTB_FACTORS_BATCH * sizeof(real));
        memcpy(copy, value, (size_t)count * sizeof(real));
        b->value = copy;
    }
    b->soon = e + FTB_FACTORS_BATCH + b->count <= limit ? column + FTB_FACTORS_BATCH : NULL;
}

FTB_INLINE void fetch(const real *row, int64_t pitch)
{
    for (int64_t at = 0; at < pitch * FTB_REAL_SIZE; at += 64)
        __builtin_prefetch((const char *)row + at);
}

/* The tiles from (i, c) on, `aside` side by side. For every FOUR ratings the factors of `fetched` ones behind
 * are fetched, so that none waits for the others. */
FTB_INLINE void add_tiles(const equations *q, const real *other, batch *b, int64_t i, int64_t c,
                          int64_t aside, int64_t pitch, int64_t fetched)
{
    real *to = q->matrix + i * pitch + c;
    tile t[ASIDE];
    for (int64_t s = 0; s < aside; s++)
        t[s] = load_tile(to + s * PART_LANES, pitch);
    for (int64_t n = 0; n < b->count; n += FOUR) {
        for (int64_t k = 0; k < fetched; k++)
            fetch(other + *b->soon++ * pitch, pitch);
#pragma GCC unroll 4
        for (int64_t k = 0; k < FOUR; k++) {
            const real *y = b->factors + (n + k) * pitch;
            for (int64_t s = 0; s < aside; s++)
                add_products(&t[s], y + i, part_load(y + c + s * PART_LANES));
        }
    }
    for (int64_t s = 0; s < aside; s++)
        store_tile(to + s * PART_LANES, pitch, &t[s]);
}

/* Four sums, so that an addition need not wait for the one before. */
FTB_INLINE void add_right(const equations *q, const batch *b, int64_t c, int64_t pitch)
{
    part sum[FOUR] = {part_load(q->right + c)};
    for (int64_t n = 0; n < b->count; n += FOUR)
        for (int64_t k = 0; k < FOUR; k++)
            sum[k] =
                part_madd(part_all(b->value[n + k]), part_load(b->factors + (n + k) * pitch + c), sum[k]);
    part_store(q->right + c, (sum[0] + sum[1]) + (sum[2] + sum[3]));
}

FTB_INLINE int64_t count_tiles(int64_t nfactors)
{
    int64_t count = 0;
    for (int64_t i = 0; i < nfactors; i += TILE)
        count += ((nfactors - i / PART_LANES * PART_LANES + PART_LANES - 1) / PART_LANES + ASIDE - 1) / ASIDE;
    return count;
}

FTB_INLINE void add_batch(const equations *q, const real *other, batch *b, int64_t nfactors, int64_t pitch)
{
    const int64_t all = count_tiles(nfactors);
    int64_t number = 0;
    for (int64_t i = 0; i < nfactors; i += TILE)
        for (int64_t c = i / PART_LANES * PART_LANES; c < nfactors; c += ASIDE * PART_LANES, number++) {
            const int64_t fetched = b->soon ? FOUR * (number + 1) / all - FOUR * number / all : 0;
            if (ASIDE > 1 && c + PART_LANES < nfactors)
                add_tiles(q, other, b, i, c, ASIDE, pitch, fetched);
            else
                add_tiles(q, other, b, i, c, 1, pitch, fetched);
        }
    for (int64_t c = 0; c < nfactors; c += PART_LANES)
        add_right(q, b, c, pitch);
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

/* The equations of row v, of ratings before `limit`; without ratings 1 x = 0. */
FTB_INLINE void add_row(const equations *q, const ftb_factors *f, real *packed, int64_t v, int64_t limit,
                        int64_t nfactors, int64_t pitch)
{
    const int64_t first = f->ratings.start[v], end = f->ratings.start[v + 1];
    const double weight = f->once ? 1 : (double)(end - first);
    const real shift = end > first ? (real)(f->lambda * weight) : 1;
    batch b = {.factors = packed};
    memset(q->matrix, 0, (size_t)(pitch * pitch + pitch) * sizeof *q->matrix); /* and the right side */
    for (int64_t e = first; e < end; e += FTB_FACTORS_BATCH) {
        pack(&b, packed + FTB_FACTORS_BATCH * pitch, f, e, ftb_min(FTB_FACTORS_BATCH, end - e), limit, pitch);
        add_batch(q, f->other, &b, nfactors, pitch);
    }
    for (int64_t j = 0; j < nfactors; j++)
        q->matrix[j * pitch + j] += shift;
}

/* ---- rows */

FTB_INLINE int64_t rows(const ftb_factors *f, int64_t first, int64_t last, real *room, int64_t nfactors,
                        int64_t pitch)
{
    const equations q = lay_out(room + FTB_FACTORS_BATCH * (pitch + 1), pitch);
    for (int64_t v = first; v < last; v++) {
        add_row(&q, f, room, v, f->ratings.start[last], nfactors, pitch);
        if (!solve(&q, nfactors, pitch))
            return v;
        memcpy((real *)f->own + (f->ratings.row ? f->ratings.row[v] : v) * pitch, q.x,
               (size_t)nfactors * sizeof(real));
    }
    return -1;
}

/* As many at a time as a vector has lanes. */
FTB_INLINE int64_t rows_abreast(const ftb_factors *f, int64_t first, int64_t last, real *room,
                                int64_t nfactors, int64_t pitch)
{
    const int64_t apart = pitch * pitch + pitch, ld = (pitch + 1) * PART_LANES;
    real *const matrices = room + FTB_FACTORS_BATCH * (pitch + 1);
    const abreast a = {matrices + PART_LANES * apart, matrices + PART_LANES * apart + pitch * ld, ld};
    for (int64_t v = first; v < last; v += PART_LANES) {
        const int64_t count = ftb_min(PART_LANES, last - v);
        for (int64_t r = 0; r < count; r++) {
            const equations q = lay_out(matrices + r * apart, pitch);
            add_row(&q, f, room, v + r, f->ratings.start[last], nfactors, pitch);
        }
        spread_all(&a, matrices, apart, count, nfactors, pitch);
        const int64_t solved = solve_abreast(&a, count, nfactors);
        for (int64_t r = 0; r < solved; r++) {
            real *own = (real *)f->own + (f->ratings.row ? f->ratings.row[v + r] : v + r) * pitch;
            for (int64_t c = 0; c < nfactors; c++)
                own[c] = 0 - a.scaled[c * ld + nfactors * PART_LANES + r]; /* no -0 */
        }
        if (solved < count)
            return v + solved;
    }
    return -1;
}

int64_t FTB_REAL_CELL(ftb_factorize_solve)(const ftb_factors *f, int64_t first, int64_t last, void *room)
{
    if (f->nfactors == 32)
        return rows_abreast(f, first, last, room, 32, 32);
    return f->pitch <= FTB_FACTORS_ABREAST ? rows_abreast(f, first, last, room, f->nfactors, f->pitch)
                                           : rows(f, first, last, room, f->nfactors, f->pitch);
}
