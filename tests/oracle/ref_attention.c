#include "support/check.h"

#include "oracle/ref_attention.h"

#include "core/core.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>

static double kept(const ref_attention *r, int64_t e, int64_t h)
{
    if (r->dropout == 0)
        return 1;
    philox4x32_ctr_t counter = {{(uint32_t)e, (uint32_t)(e >> 32), (uint32_t)(h / 4), 0}};
    philox4x32_key_t key = {{(uint32_t)r->seed, (uint32_t)(r->seed >> 32)}};
    uint32_t draw = philox4x32(counter, key).v[h % 4];
    return draw < r->dropout * 0x1p32 ? 0 : 1 / (1 - r->dropout);
}

static double score(const ref_attention *r, int64_t i, int64_t e, int64_t h, double *slope)
{
    int64_t j = ftb_col(r->A->pattern, e), row = r->heads * r->width;
    const double *q = r->q + i * row + h * r->width, *k = r->k + j * row + h * r->width;
    double dot = 0;
    *slope = r->scale;
    if (r->form == REF_LEAKY) {
        *slope = q[0] + k[0] > 0 ? 1 : r->scale;
        return (q[0] + k[0]) * *slope;
    }
    for (int64_t f = 0; f < r->width; f++)
        dot += q[f] * k[f];
    return dot * r->scale + (r->form == REF_EDGE ? ftb_get_real(matrix_values(r->A), r->A->type, e) : 0);
}

/* Row i, head h: values forward, then gradients. */
static void one(ref_attention *r, int64_t i, int64_t h)
{
    const ftb_pattern *p = r->A->pattern;
    int64_t first = p->rowptr[i], last = p->rowptr[i + 1], vw = r->value_width, row = r->heads * r->width;
    double most = -INFINITY, sum = 0, delta = 0, slope, *c = r->c + (i * r->heads + h) * vw;
    for (int64_t e = first; e < last; e++)
        most = fmax(most, score(r, i, e, h, &slope));
    for (int64_t e = first; e < last; e++)
        sum += most == -INFINITY ? 0 : exp(score(r, i, e, h, &slope) - most);
    r->lse[i * r->heads + h] = sum == 0 ? -INFINITY : most + log(sum);
    for (int64_t f = 0; f < vw; f++)
        c[f] = first == last ? r->fill : 0;
    for (int64_t e = first; e < last && sum != 0; e++) {
        double weight = exp(score(r, i, e, h, &slope) - most) / sum * kept(r, e, h);
        for (int64_t f = 0; f < vw; f++)
            c[f] += weight * r->v[(ftb_col(p, e) * r->heads + h) * vw + f];
    }
    const double *d = r->d ? r->d + (i * r->heads + h) * vw : NULL;
    for (int64_t f = 0; d && f < vw; f++)
        delta += d[f] * c[f];
    for (int64_t e = first; d && e < last && sum != 0; e++) {
        int64_t j = ftb_col(p, e);
        double weight = exp(score(r, i, e, h, &slope) - most) / sum, keep = kept(r, e, h), dot = 0;
        for (int64_t f = 0; f < vw; f++) {
            dot += d[f] * r->v[(j * r->heads + h) * vw + f];
            r->of_v[(j * r->heads + h) * vw + f] += weight * keep * d[f];
        }
        double ds = weight * (dot * keep - delta) * slope;
        for (int64_t f = 0; f < r->width; f++) {
            int64_t qi = i * row + h * r->width + f, kj = j * row + h * r->width + f;
            r->of_q[qi] += r->form == REF_LEAKY ? ds : ds * r->k[kj];
            r->of_k[kj] += r->form == REF_LEAKY ? ds : ds * r->q[qi];
        }
    }
}

static double *zeros(int64_t count) { return calloc((size_t)(count + 1), sizeof(double)); }

void ref_attention_run(ref_attention *r)
{
    int64_t m = r->A->pattern->nrows, n = r->A->pattern->ncols;
    r->c = zeros(m * r->heads * r->value_width);
    r->lse = zeros(m * r->heads);
    r->of_q = zeros(m * r->heads * r->width);
    r->of_k = zeros(n * r->heads * r->width);
    r->of_v = zeros(n * r->heads * r->value_width);
    for (int64_t i = 0; i < m; i++)
        for (int64_t h = 0; h < r->heads; h++)
            one(r, i, h);
}

void ref_attention_free(ref_attention *r)
{
    double *all[] = {r->q, r->k, r->v, r->c, r->lse, r->of_q, r->of_k, r->of_v};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        free(all[t]);
}
