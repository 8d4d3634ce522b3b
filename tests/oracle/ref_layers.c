#include "oracle/ref_layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *zeros(int64_t count) { return calloc((size_t)count + 1, sizeof(double)); }

void ref_linear(double *y, const double *x, const double *w, const double *b, int64_t n, int64_t in,
                int64_t out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < out; o++) {
            double sum = b ? b[o] : 0;
            for (int64_t k = 0; k < in; k++)
                sum += x[i * in + k] * w[k * out + o];
            y[i * out + o] = sum;
        }
}

static void add(double *y, const double *x, double factor, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        y[k] += factor * x[k];
}

static double reduce(const double *message, const ref_graph *g, int64_t i, const char *how, int64_t d,
                     int64_t f)
{
    double sum = 0, squares = 0, best = 0;
    int64_t degree = 0;
    for (int64_t e = 0; e < g->count; e++) {
        if (g->i[e] != i)
            continue;
        double x = message[e * d + f];
        bool better = degree == 0 || (strcmp(how, "min") == 0 ? x < best : x > best);
        best = better ? x : best;
        sum += x;
        squares += x * x;
        degree++;
    }
    if (degree == 0 || strcmp(how, "sum") == 0)
        return sum;
    if (strcmp(how, "mean") == 0)
        return sum / (double)degree;
    if (strcmp(how, "std") == 0) {
        double mean = sum / (double)degree, variance = squares / (double)degree - mean * mean;
        return variance > 1e-5 ? sqrt(variance) : 0;
    }
    return best;
}

/* y from one message per edge, count x d. */
static void gather(double *y, const ref_graph *g, const char *how, const double *message, int64_t d)
{
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t f = 0; f < d; f++)
            y[i * d + f] = reduce(message, g, i, how, d, f);
}

void ref_aggregate(double *y, const ref_graph *g, const char *how, const double *x, int64_t d)
{
    double *message = zeros(g->count * d);
    for (int64_t e = 0; e < g->count; e++)
        memcpy(message + e * d, x + g->j[e] * d, (size_t)d * sizeof *x);
    gather(y, g, how, message, d);
    free(message);
}

void ref_propagate(double *y, const ref_graph *g, const double *x, int64_t d, bool loops)
{
    int64_t m = g->m, n = g->n;
    double *dense = zeros(m * n), *left = zeros(m), *right = zeros(n);
    for (int64_t i = 0; i < m && loops; i++)
        dense[i * n + i] = 1;
    for (int64_t e = 0; e < g->count; e++)
        dense[g->i[e] * n + g->j[e]] = g->value ? g->value[e] : 1;
    for (int64_t k = 0; k < m * n; k++)
        left[k / n] += dense[k];
    for (int64_t k = 0; k < m * n && m < n; k++)
        right[k % n] += dense[k];
    if (m == n)
        memcpy(right, left, (size_t)n * sizeof *right);
    memset(y, 0, (size_t)(m * d) * sizeof *y);
    for (int64_t k = 0; k < m * n; k++)
        if (dense[k] != 0 && left[k / n] > 0 && right[k % n] > 0)
            add(y + k / n * d, x + k % n * d, dense[k] / sqrt(left[k / n] * right[k % n]), d);
    free(dense);
    free(left);
    free(right);
}

void ref_gcn(double *y, const ref_graph *g, const double *x, const double *w, const double *b, int64_t in,
             int64_t out, bool loops)
{
    double *sum = zeros(g->m * in);
    ref_propagate(sum, g, x, in, loops);
    ref_linear(y, sum, w, b, g->m, in, out);
    free(sum);
}

void ref_sgc(double *y, const ref_graph *g, const double *x, const double *w, const double *b, int64_t in,
             int64_t out, int64_t hops)
{
    double *power = zeros(g->n * in), *next = zeros(g->n * in);
    memcpy(power, x, (size_t)(g->n * in) * sizeof *x);
    for (int64_t k = 0; k < hops; k++) {
        ref_propagate(next, g, power, in, true);
        memcpy(power, next, (size_t)(g->n * in) * sizeof *x);
    }
    ref_linear(y, power, w, b, g->m, in, out);
    free(power);
    free(next);
}

void ref_appnp(double *y, const ref_graph *g, const double *x, int64_t d, double teleport, int64_t hops)
{
    double *z = zeros(g->n * d), *next = zeros(g->n * d);
    memcpy(z, x, (size_t)(g->n * d) * sizeof *z);
    for (int64_t k = 0; k < hops; k++) {
        ref_propagate(next, g, z, d, true);
        for (int64_t t = 0; t < g->m * d; t++)
            z[t] = (1 - teleport) * next[t] + teleport * x[t];
    }
    memcpy(y, z, (size_t)(g->m * d) * sizeof *y);
    free(z);
    free(next);
}

static void relu(double *x, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        x[k] = fmax(x[k], 0);
}

void ref_sage(double *y, const ref_graph *g, const char *how, const double *src, const double *dst,
              const ref_sage_weights *w, int64_t in, int64_t in_dst, int64_t out)
{
    double *x = zeros(g->n * in), *sum = zeros(g->m * in), *own = zeros(g->m * out);
    memcpy(x, src, (size_t)(g->n * in) * sizeof *x);
    if (w->pool) {
        ref_linear(x, src, w->pool, w->pool_bias, g->n, in, in);
        relu(x, g->n * in);
    }
    ref_aggregate(sum, g, how, x, in);
    ref_linear(y, sum, w->left, w->bias, g->m, in, out);
    if (w->right) {
        ref_linear(own, dst, w->right, NULL, g->m, in_dst, out);
        add(y, own, 1, g->m * out);
    }
    free(x);
    free(sum);
    free(own);
}

static void mlp(double *y, const double *x, const ref_mlp_weights *w, int64_t n)
{
    int64_t hidden = w->w2 ? w->hidden : w->out;
    double *h = zeros(n * hidden);
    ref_linear(h, x, w->w1, w->b1, n, w->in, hidden);
    if (w->w2) {
        relu(h, n * hidden);
        ref_linear(y, h, w->w2, w->b2, n, hidden, w->out);
    } else {
        memcpy(y, h, (size_t)(n * hidden) * sizeof *y);
    }
    free(h);
}

void ref_gin(double *y, const ref_graph *g, const double *src, const double *dst, double eps,
             const ref_mlp_weights *w)
{
    double *sum = zeros(g->m * w->in);
    ref_aggregate(sum, g, "sum", src, w->in);
    add(sum, dst, 1 + eps, g->m * w->in);
    mlp(y, sum, w, g->m);
    free(sum);
}

void ref_edgeconv(double *y, const ref_graph *g, const char *how, const double *src, const double *dst,
                  const ref_mlp_weights *w)
{
    int64_t d = w->in / 2;
    double *pair = zeros(g->count * w->in), *message = zeros(g->count * w->out);
    for (int64_t e = 0; e < g->count; e++) {
        memcpy(pair + e * w->in, dst + g->i[e] * d, (size_t)d * sizeof *pair);
        memcpy(pair + e * w->in + d, src + g->j[e] * d, (size_t)d * sizeof *pair);
        add(pair + e * w->in + d, dst + g->i[e] * d, -1, d);
    }
    mlp(message, pair, w, g->count);
    gather(y, g, how, message, w->out);
    free(pair);
    free(message);
}

void ref_mlp(double *y, const ref_graph *g, const char *how, const double *src, const double *dst,
             const ref_mlp_weights *w)
{
    double *pair = zeros(g->count * w->in), *message = zeros(g->count * w->out);
    for (int64_t e = 0; e < g->count; e++) {
        add(pair + e * w->in, dst + g->i[e] * w->in, 1, w->in);
        add(pair + e * w->in, src + g->j[e] * w->in, 1, w->in);
    }
    mlp(message, pair, w, g->count);
    relu(message, g->count * w->out);
    gather(y, g, how, message, w->out);
    free(pair);
    free(message);
}

void ref_pna(double *y, const ref_graph *g, const double *src, const double *dst, const ref_pna_weights *w,
             int64_t in, int64_t out)
{
    static const char *const hows[] = {"mean", "min", "max", "std"};
    int64_t wide = 13 * in;
    double *pair = zeros(g->count * 2 * in), *message = zeros(g->count * in), *part = zeros(g->m * in),
           *all = zeros(g->m * wide), *post = zeros(g->m * out);
    for (int64_t e = 0; e < g->count; e++) {
        memcpy(pair + e * 2 * in, dst + g->i[e] * in, (size_t)in * sizeof *pair);
        memcpy(pair + e * 2 * in + in, src + g->j[e] * in, (size_t)in * sizeof *pair);
    }
    ref_linear(message, pair, w->pre, w->pre_bias, g->count, 2 * in, in);
    for (int64_t a = 0; a < 4; a++) {
        gather(part, g, hows[a], message, in);
        for (int64_t i = 0; i < g->m; i++) {
            double degree = 0;
            for (int64_t e = 0; e < g->count; e++)
                degree += g->i[e] == i;
            double scale[] = {1, log(degree + 1) / w->log_degree, w->log_degree / log(fmax(degree, 1) + 1)};
            for (int64_t s = 0; s < 3; s++)
                add(all + i * wide + (1 + 4 * s + a) * in, part + i * in, scale[s], in);
        }
    }
    for (int64_t i = 0; i < g->m; i++)
        add(all + i * wide, dst + i * in, 1, in);
    ref_linear(post, all, w->post, w->post_bias, g->m, wide, out);
    ref_linear(y, post, w->last, w->last_bias, g->m, out, out);
    free(pair);
    free(message);
    free(part);
    free(all);
    free(post);
}

void ref_rgcn(double *y, const ref_graph *g, const double *src, const double *dst, const double *w,
              const double *root, const double *b, int64_t relations, int64_t in, int64_t in_dst, int64_t out)
{
    double *part = zeros(g->m * in), *sent = zeros(g->m * out);
    int64_t *i = calloc((size_t)g->count + 1, sizeof *i), *j = calloc((size_t)g->count + 1, sizeof *j);
    if (root)
        ref_linear(y, dst, root, b, g->m, in_dst, out);
    else
        for (int64_t k = 0; k < g->m * out; k++)
            y[k] = b ? b[k % out] : 0;
    for (int64_t r = 0; r < relations; r++) {
        ref_graph of = {g->m, g->n, 0, i, j, NULL};
        for (int64_t e = 0; e < g->count; e++)
            if (g->value[e] == (double)r) {
                i[of.count] = g->i[e];
                j[of.count++] = g->j[e];
            }
        ref_aggregate(part, &of, "mean", src, in);
        ref_linear(sent, part, w + r * in * out, NULL, g->m, in, out);
        add(y, sent, 1, g->m * out);
    }
    free(part);
    free(sent);
    free(i);
    free(j);
}
