/* Plain loops; see plain.h. Nothing here is blocked, tiled or prefetched. */
#include "plain.h"

#include <math.h>
#include <string.h>

#define ROWS _Pragma("omp parallel for schedule(dynamic, 64) num_threads(g->threads)")

void plain_sum(const plain_graph *g, const float *restrict X, float *restrict C, int64_t d)
{
    ROWS for (int64_t i = 0; i < g->nrows; i++)
    {
        float *restrict c = C + i * d;
        memset(c, 0, (size_t)d * sizeof *c);
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            const float *restrict x = X + g->colidx[e] * d;
            for (int64_t f = 0; f < d; f++)
                c[f] += x[f];
        }
    }
}

void plain_mean(const plain_graph *g, const float *restrict X, float *restrict C, int64_t d)
{
    plain_sum(g, X, C, d);
    ROWS for (int64_t i = 0; i < g->nrows;
              i++) if (g->rowptr[i + 1] > g->rowptr[i]) for (int64_t f = 0; f < d; f++) C[i * d + f] /=
        (float)(g->rowptr[i + 1] - g->rowptr[i]);
}

void plain_max(const plain_graph *g, const float *restrict X, float *restrict C, int64_t d)
{
    ROWS for (int64_t i = 0; i < g->nrows; i++)
    {
        float *restrict c = C + i * d;
        if (g->rowptr[i] < g->rowptr[i + 1])
            memcpy(c, X + g->colidx[g->rowptr[i]] * d, (size_t)d * sizeof *c);
        else
            memset(c, 0, (size_t)d * sizeof *c);
        for (int64_t e = g->rowptr[i] + 1; e < g->rowptr[i + 1]; e++) {
            const float *restrict x = X + g->colidx[e] * d;
            for (int64_t f = 0; f < d; f++)
                c[f] = x[f] > c[f] ? x[f] : c[f];
        }
    }
}

void plain_weighted(const plain_graph *g, const float *restrict w, int64_t heads, const float *restrict X,
                    float *restrict C, int64_t d)
{
    const int64_t width = d / heads;
    ROWS for (int64_t i = 0; i < g->nrows; i++)
    {
        float *restrict c = C + i * d;
        memset(c, 0, (size_t)d * sizeof *c);
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            const float *restrict x = X + g->colidx[e] * d;
            for (int64_t h = 0; h < heads; h++)
                for (int64_t f = h * width; f < (h + 1) * width; f++)
                    c[f] += w[e * heads + h] * x[f];
        }
    }
}

void plain_tanh(const plain_graph *g, const float *restrict w, const float *restrict X,
                const float *restrict Y, float *restrict C, int64_t d)
{
    ROWS for (int64_t i = 0; i < g->nrows; i++)
    {
        float *restrict c = C + i * d;
        const float *restrict y = Y + i * d;
        memset(c, 0, (size_t)d * sizeof *c);
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            const float *restrict x = X + g->colidx[e] * d;
            for (int64_t f = 0; f < d; f++)
                c[f] += tanhf(x[f] * y[f] + w[e]);
        }
    }
}

void plain_mlp(const plain_graph *g, const float *restrict X, const float *restrict Y,
               const float *restrict W, float *restrict C, int64_t d, int64_t dout)
{
    ROWS for (int64_t i = 0; i < g->nrows; i++)
    {
        float *restrict c = C + i * dout;
        memset(c, 0, (size_t)dout * sizeof *c); /* relu is never below */
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            const float *restrict x = X + g->colidx[e] * d, *restrict y = Y + i * d;
            float z[512] = {0};
            for (int64_t k = 0; k < d; k++) {
                const float t = x[k] + y[k];
                for (int64_t f = 0; f < dout; f++)
                    z[f] += t * W[k * dout + f];
            }
            for (int64_t f = 0; f < dout; f++)
                c[f] = z[f] > c[f] ? z[f] : c[f];
        }
    }
}

void plain_dot(const plain_graph *g, const float *restrict Y, const float *restrict X, float *restrict S,
               int64_t heads, int64_t d)
{
    const int64_t width = d / heads;
    ROWS for (int64_t i = 0; i < g->nrows; i++)
    {
        const float *restrict y = Y + i * d;
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            const float *restrict x = X + g->colidx[e] * d;
            for (int64_t h = 0; h < heads; h++) {
                float sum = 0;
                for (int64_t f = h * width; f < (h + 1) * width; f++)
                    sum += y[f] * x[f];
                S[e * heads + h] = sum;
            }
        }
    }
}

void plain_softmax(const plain_graph *g, const float *restrict A, float *restrict S, int64_t heads)
{
    ROWS for (int64_t i = 0; i < g->nrows; i++) for (int64_t h = 0; h < heads; h++)
    {
        float most = -INFINITY, sum = 0;
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
            most = A[e * heads + h] > most ? A[e * heads + h] : most;
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
            sum += S[e * heads + h] = expf(A[e * heads + h] - most);
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
            S[e * heads + h] /= sum;
    }
}
