/* Working copies of factors and ratings: rows of factors are padded to whole vectors of zeros, which every
 * step leaves 0; ratings are less their offset, and of the factors' type. */
#include "cpu/graph/factorize_run.h"

#include "core/column_counts.h"
#include "core/draws.h"

#include <math.h>

enum { PARTS = 256 }; /* of sums, which are added in their order */

GrB_Info ftb_factorize_new(ftb_factorize *w)
{
    const size_t size = FtB_Type_size(w->type);
    int64_t values;
    w->pitch = (w->nfactors + FTB_LANES - 1) / FTB_LANES * FTB_LANES;
    if (__builtin_mul_overflow(ftb_max(w->nrows, w->ncols), w->pitch, &values))
        return ftb_fail(FTB_LIMIT, "R is %lld x %lld; there is no room for its factors", (long long)w->nrows,
                        (long long)w->ncols);
    w->U = ftb_new0(w->ctx, w->nrows * w->pitch, size);
    w->V = ftb_new0(w->ctx, w->ncols * w->pitch, size);
    return w->U && w->V ? GrB_SUCCESS : ftb_nomem();
}

GrB_Info ftb_factorize_new_next(ftb_factorize *w)
{
    w->nextU = ftb_new0(w->ctx, w->nrows * w->pitch, FtB_Type_size(w->type));
    w->nextV = ftb_new0(w->ctx, w->ncols * w->pitch, FtB_Type_size(w->type));
    return w->nextU && w->nextV ? GrB_SUCCESS : ftb_nomem();
}

void ftb_factorize_delete(ftb_factorize *w)
{
    ftb_delete(w->U);
    ftb_delete(w->V);
    ftb_delete(w->nextU);
    ftb_delete(w->nextV);
    ftb_delete(w->column_counts);
    ftb_delete(w->rows.value);
    ftb_delete(w->columns.value);
    ftb_rating_blocks_delete(&w->blocks);
}

void ftb_factorize_take(const ftb_factorize *w, void *to, FtB_Block X)
{
    const size_t size = FtB_Type_size(w->type);
    const char *from = ftb_block_data(X);
    for (int64_t i = 0; i < X->nrows; i++)
        memcpy((char *)to + (size_t)(i * w->pitch) * size, from + (size_t)(i * X->ld) * size,
               (size_t)w->nfactors * size);
}

void ftb_factorize_give(const ftb_factorize *w, FtB_Block X, const void *from)
{
    const size_t size = FtB_Type_size(w->type);
    char *to = ftb_block_data(X);
    for (int64_t i = 0; i < X->nrows; i++)
        memcpy(to + (size_t)(i * X->ld) * size, (const char *)from + (size_t)(i * w->pitch) * size,
               (size_t)w->nfactors * size);
}

/* ---- the first guess */

/* Rows of about `middle`, each value up to `spread` / 2 beside it. */
static void draw_rows(const ftb_factorize *w, void *X, int64_t nrows, double middle, double spread,
                      uint64_t seed, uint64_t side)
{
    const uint64_t key = ftb_random_mix(seed, side, FTB_DRAW_FACTORS);
#pragma omp parallel for num_threads(ftb_threads_for_values(w->ctx, nrows * w->nfactors)) schedule(static)
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t f = 0; f < w->nfactors; f++) {
            uint32_t words[4];
            ftb_random_words(words, key, (uint64_t)i, (uint64_t)f / 4);
            const double x = middle + spread * ((double)words[f % 4] * 0x1p-32 - 0.5);
            if (w->type == FTB_FP32)
                ((float *)X)[i * w->pitch + f] = (float)x;
            else
                ((double *)X)[i * w->pitch + f] = x;
        }
}

void ftb_factorize_draw(const ftb_factorize *w, uint64_t seed)
{
    const int64_t nvals = w->rows.p->nvals;
    const double k = (double)w->nfactors, count = (double)ftb_max(nvals, 1);
    double sum = 0, squares = 0;
    for (int64_t e = 0; e < nvals; e++) {
        const double x = w->type == FTB_FP32 ? (double)((const float *)w->rows.value)[e]
                                             : ((const double *)w->rows.value)[e];
        sum += x;
        squares += x * x;
    }
    /* dot products have this mean, and a tenth of the deviation: spread^2 / 12 is a value's variance */
    const double mean = sum / count, deviation = sqrt(ftb_max(squares / count - mean * mean, 0)),
                 middle = sqrt(fabs(mean) / k), spread = sqrt(1.2 * ftb_max(deviation, 1e-3) / sqrt(k));
    draw_rows(w, w->U, w->nrows, middle, spread, seed, 0);
    draw_rows(w, w->V, w->ncols, mean < 0 ? -middle : middle, spread, seed, 1);
}

GrB_Info ftb_factorize_clear_empty(ftb_factorize *w)
{
    const size_t bytes = (size_t)w->pitch * FtB_Type_size(w->type);
    const int64_t *start = w->rows.p->rowptr;
    if (!(w->column_counts = ftb_new(w->ctx, w->ncols, sizeof *w->column_counts)))
        return ftb_nomem();
    ftb_column_counts(w->column_counts, w->rows.p, w->ctx);
    for (int64_t i = 0; i < w->nrows; i++)
        if (start[i] == start[i + 1])
            memset((char *)w->U + (size_t)i * bytes, 0, bytes);
    for (int64_t j = 0; j < w->ncols; j++)
        if (w->column_counts[j] == 0)
            memset((char *)w->V + (size_t)j * bytes, 0, bytes);
    return GrB_SUCCESS;
}

/* ---- ratings */

static GrB_Info not_finite(FtB_Matrix R, const char *name, int64_t e)
{
    int64_t low = 0, high = R->pattern->nrows; /* the row of e */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (R->pattern->rowptr[middle] <= e)
            low = middle;
        else
            high = middle;
    }
    return ftb_fail(GrB_INVALID_VALUE, "%s: the rating (%lld, %lld) is %g; expected a finite one", name,
                    (long long)low, (long long)ftb_col(R->pattern, e),
                    ftb_get_real(ftb_values(R), R->type, e));
}

GrB_Info ftb_rated_new(ftb_rated *r, const ftb_factorize *w, FtB_Matrix R, double offset, const char *name)
{
    enum { PIECE = 4096 };
    const int64_t nvals = R->pattern->nvals, pieces = (nvals + PIECE - 1) / PIECE;
    const size_t size = FtB_Type_size(w->type), from = FtB_Type_size(R->type);
    int64_t wrong = INT64_MAX;
    r->p = R->pattern;
    if (!(r->value = ftb_new(w->ctx, nvals, size)))
        return ftb_nomem();
#pragma omp parallel for num_threads(ftb_threads_for(w->ctx, nvals)) schedule(static) reduction(min : wrong)
    for (int64_t piece = 0; piece < pieces; piece++) {
        double x[PIECE];
        const int64_t first = piece * PIECE, count = ftb_min(PIECE, nvals - first);
        if (R->width)
            ftb_cast(x, FTB_FP64, (const char *)ftb_values(R) + (size_t)first * from, R->type, count);
        for (int64_t t = 0; t < count; t++) {
            x[t] = (R->width ? x[t] : 1) - offset;
            if (!isfinite(x[t]))
                wrong = ftb_min(wrong, first + t);
        }
        ftb_cast((char *)r->value + (size_t)first * size, w->type, x, FTB_FP64, count);
    }
    return wrong == INT64_MAX ? GrB_SUCCESS : not_finite(R, name, wrong);
}

GrB_Info ftb_rated_turn(ftb_factorize *w)
{
    const int64_t nvals = w->rows.p->nvals, *at = NULL;
    GrB_Info info = ftb_pattern_transpose(w->rows.p, &w->columns.p, &at);
    if (info != GrB_SUCCESS)
        return info;
    if (!(w->columns.value = ftb_new(w->ctx, nvals, FtB_Type_size(w->type))))
        return ftb_nomem();
#pragma omp parallel for num_threads(ftb_threads_for(w->ctx, nvals)) schedule(static)
    for (int64_t e = 0; e < nvals; e++)
        if (w->type == FTB_FP32)
            ((float *)w->columns.value)[e] = ((const float *)w->rows.value)[at[e]];
        else
            ((double *)w->columns.value)[e] = ((const double *)w->rows.value)[at[e]];
    return GrB_SUCCESS;
}

/* ---- errors */

GrB_Info ftb_factorize_error_run(double *sum, const ftb_factorize *w, const ftb_rated *r)
{
    const ftb_factors f = {.ratings = {NULL, r->p->rowptr, r->p->colidx, r->value},
                           .own = w->U,
                           .other = w->V,
                           .nfactors = w->nfactors,
                           .pitch = w->pitch};
    double part_sum[PARTS];
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(ftb_threads_for(w->ctx, r->p->nvals)) schedule(dynamic, 1)
    for (int part = 0; part < PARTS; part++)
        part_sum[part] =
            ftb_stops(w->ctx, &stopped)
                ? 0
                : FTB_PICK_REAL(ftb_factorize_error, w->type)(&f, ftb_pattern_cut(r->p, part, PARTS),
                                                              ftb_pattern_cut(r->p, part + 1, PARTS));
    *sum = 0;
    for (int part = 0; part < PARTS; part++)
        *sum += part_sum[part];
    return ftb_check_stopped(w->ctx, &stopped);
}

static bool finite_rows(const ftb_factorize *w, const void *X, int64_t nrows)
{
    double sum = 0; /* what is not finite times 0 is NaN, and stays */
    for (int64_t at = 0; at < nrows * w->pitch; at++)
        sum += 0 * (w->type == FTB_FP32 ? (double)((const float *)X)[at] : ((const double *)X)[at]);
    return sum == 0;
}

bool ftb_factorize_finite(const ftb_factorize *w)
{
    return finite_rows(w, w->U, w->nrows) && finite_rows(w, w->V, w->ncols);
}
