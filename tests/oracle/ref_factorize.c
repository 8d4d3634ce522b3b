/* Factors of ratings by their definitions (ref_factorize.h). */
#include "oracle/ref_factorize.h"

#include "support/check.h"

#include <math.h>
#include <stdlib.h>

typedef long double real;

ref_ratings ref_ratings_of(FtB_Matrix R, int64_t k, double offset)
{
    ref_ratings r = {.k = k};
    const int64_t *rowptr;
    const void *columns, *values;
    int64_t width;
    FtB_Type type;
    assert_ok(FtB_Matrix_shape(R, &r.nrows, &r.ncols, &r.count, &width, &type));
    assert_ok(FtB_Matrix_csr(R, &rowptr, &columns, &values));
    r.i = malloc((size_t)(r.count + 1) * sizeof *r.i);
    r.j = malloc((size_t)(r.count + 1) * sizeof *r.j);
    r.x = malloc((size_t)(r.count + 1) * sizeof *r.x);
    for (int64_t i = 0; i < r.nrows; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            r.i[e] = i;
            r.j[e] = ((const int32_t *)columns)[e];
            r.x[e] = (width == 0         ? 1
                      : type == FTB_FP64 ? ((const double *)values)[e]
                      : type == FTB_FP32 ? (double)((const float *)values)[e]
                                         : (double)((const int8_t *)values)[e]) -
                     offset;
        }
    return r;
}

void ref_ratings_free(ref_ratings *r)
{
    free(r->i);
    free(r->j);
    free(r->x);
}

static real error_of(const ref_ratings *r, const double *U, const double *V, int64_t e)
{
    real x = r->x[e];
    for (int64_t f = 0; f < r->k; f++)
        x -= (real)U[r->i[e] * r->k + f] * (real)V[r->j[e] * r->k + f];
    return x;
}

double ref_ratings_rmse(const ref_ratings *r, const double *U, const double *V)
{
    real sum = 0;
    for (int64_t e = 0; e < r->count; e++)
        sum += error_of(r, U, V, e) * error_of(r, U, V, e);
    return r->count ? (double)sqrtl(sum / (real)r->count) : 0;
}

static int64_t count_of(const ref_ratings *r, bool columns, int64_t v)
{
    int64_t count = 0;
    for (int64_t e = 0; e < r->count; e++)
        count += (columns ? r->j[e] : r->i[e]) == v;
    return count;
}

double ref_ratings_objective(const ref_ratings *r, const double *U, const double *V, double lambda, bool once)
{
    real sum = 0;
    for (int64_t e = 0; e < r->count; e++)
        sum += error_of(r, U, V, e) * error_of(r, U, V, e);
    for (int side = 0; side < 2; side++)
        for (int64_t v = 0; v < (side ? r->ncols : r->nrows); v++) {
            const int64_t n = count_of(r, side, v);
            for (int64_t f = 0; f < r->k; f++) {
                const real x = (side ? V : U)[v * r->k + f];
                sum += (real)lambda * (once ? n > 0 : n) * x * x;
            }
        }
    return (double)sum;
}

/* A x = b, of k + 1 values a row of A. */
static void eliminate(real *A, int64_t k, double *x)
{
    for (int64_t c = 0; c < k; c++) {
        int64_t best = c;
        for (int64_t i = c + 1; i < k; i++)
            best = fabsl(A[i * (k + 1) + c]) > fabsl(A[best * (k + 1) + c]) ? i : best;
        for (int64_t f = 0; f <= k; f++) {
            const real swap = A[c * (k + 1) + f];
            A[c * (k + 1) + f] = A[best * (k + 1) + f];
            A[best * (k + 1) + f] = swap;
        }
        for (int64_t i = 0; i < k; i++) {
            const real by = i == c ? 0 : A[i * (k + 1) + c] / A[c * (k + 1) + c];
            for (int64_t f = c; f <= k; f++)
                A[i * (k + 1) + f] -= by * A[c * (k + 1) + f];
        }
    }
    for (int64_t c = 0; c < k; c++)
        x[c] = (double)(A[c * (k + 1) + k] / A[c * (k + 1) + c]);
}

void ref_ratings_solve(const ref_ratings *r, double *U, double *V, bool columns, double lambda, bool once)
{
    const int64_t k = r->k;
    real *A = malloc((size_t)(k * (k + 1)) * sizeof *A);
    for (int64_t v = 0; v < (columns ? r->ncols : r->nrows); v++) {
        double *x = (columns ? V : U) + v * k;
        const int64_t n = count_of(r, columns, v);
        for (int64_t at = 0; at < k * (k + 1); at++)
            A[at] = at / (k + 1) == at % (k + 1) ? (real)lambda * (once ? 1 : n) : 0;
        for (int64_t e = 0; e < r->count; e++) {
            const double *y = columns ? U + r->i[e] * k : V + r->j[e] * k;
            for (int64_t f = 0; f < k && (columns ? r->j[e] : r->i[e]) == v; f++) {
                for (int64_t g = 0; g < k; g++)
                    A[f * (k + 1) + g] += (real)y[f] * (real)y[g];
                A[f * (k + 1) + k] += (real)r->x[e] * (real)y[f];
            }
        }
        if (n > 0)
            eliminate(A, k, x);
        else
            memset(x, 0, (size_t)k * sizeof *x);
    }
    free(A);
}

void ref_ratings_step(const ref_ratings *r, double *U, double *V, double rate, double lambda, bool once)
{
    const int64_t k = r->k, nu = r->nrows * k, nv = r->ncols * k;
    real *du = calloc((size_t)nu + 1, sizeof *du), *dv = calloc((size_t)nv + 1, sizeof *dv);
    for (int64_t e = 0; e < r->count; e++)
        for (int64_t f = 0; f < k; f++) {
            const int64_t u = r->i[e] * k + f, v = r->j[e] * k + f;
            const real x = error_of(r, U, V, e);
            du[u] += x * V[v] - (once ? 0 : (real)lambda * U[u]);
            dv[v] += x * U[u] - (once ? 0 : (real)lambda * V[v]);
        }
    for (int64_t u = 0; u < nu; u++)
        U[u] += (double)((real)rate * (du[u] - (once ? (real)lambda * U[u] : 0)));
    for (int64_t v = 0; v < nv; v++)
        V[v] += (double)((real)rate * (dv[v] - (once ? (real)lambda * V[v] : 0)));
    free(du);
    free(dv);
}

void ref_ratings_descend(const ref_ratings *r, double *U, double *V, double rate, double lambda)
{
    const int64_t k = r->k;
    for (int64_t e = 0, next; e < r->count; e = next) {
        real x[4];
        for (next = e; next < r->count && r->i[next] == r->i[e] && next - e < 4; next++)
            x[next - e] = error_of(r, U, V, next);
        for (int64_t f = 0; f < k; f++) {
            const real u = U[r->i[e] * k + f];
            real sum = 0;
            for (int64_t t = e; t < next; t++) {
                double *v = &V[r->j[t] * k + f];
                sum += x[t - e] * *v - (real)lambda * u;
                *v += (double)((real)rate * (x[t - e] * u - (real)lambda * *v));
            }
            U[r->i[e] * k + f] += (double)((real)rate * sum);
        }
    }
}
