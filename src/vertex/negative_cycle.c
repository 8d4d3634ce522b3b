/* Which cycle is negative: relaxing in place, with who came before whom. Along a negative cycle there is
 * always an edge to be relaxed, and as soon as those before form a cycle, that is one. A run looks for it
 * when it has taken long, and is given as many passes as it has taken itself. */
#include "vertex/algorithm.h"

#include <math.h>

typedef struct search {
    FtB_Matrix A;
    double *dist;
    int64_t *before, *mark;
} search;

static double length_of(const search *s, int64_t e)
{
    return s->A->width > 0 ? ftb_get_real(ftb_values(s->A), s->A->type, e) : 1;
}

/* Whether anything was relaxed. */
static bool relax(const search *s)
{
    const ftb_pattern *p = s->A->pattern;
    bool some = false;
    for (int64_t u = 0; u < p->nrows; u++)
        for (int64_t e = p->rowptr[u]; e < p->rowptr[u + 1] && s->dist[u] < INFINITY; e++) {
            const int64_t v = ftb_col(p, e);
            const double sum = s->dist[u] + length_of(s, e);
            if (sum < s->dist[v]) {
                s->dist[v] = sum;
                s->before[v] = u;
                some = true;
            }
        }
    return some;
}

/* The shortest entry from u to v. */
static double edge_between(const search *s, int64_t u, int64_t v)
{
    const ftb_pattern *p = s->A->pattern;
    double least = INFINITY;
    for (int64_t e = p->rowptr[u]; e < p->rowptr[u + 1]; e++)
        if (ftb_col(p, e) == v && length_of(s, e) < least)
            least = length_of(s, e);
    return least;
}

static long double length_of_cycle(const search *s, int64_t v)
{
    long double length = (long double)edge_between(s, s->before[v], v);
    for (int64_t u = s->before[v]; u != v; u = s->before[u])
        length += (long double)edge_between(s, s->before[u], u);
    return length;
}

GrB_Info ftb_negative_cycle(char **text, FtB_Matrix A, FtB_Block dist, int64_t c, double passes)
{
    const FtB_Context ctx = dist->ctx;
    const int64_t n = A->pattern->nrows;
    search s = {.A = A, .dist = ftb_new(ctx, n, sizeof(double))};
    int64_t v = -1;
    GrB_Info info = ftb_buffer_ask(A->values, FTB_READ);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(dist->owner, FTB_READ);
    s.before = ftb_new(ctx, n, sizeof *s.before);
    s.mark = ftb_new(ctx, n, sizeof *s.mark);
    *text = ftb_new0(ctx, FTB_CYCLE_TEXT, 1);
    if (info == GrB_SUCCESS && (!s.dist || !s.before || !s.mark || !*text))
        info = ftb_nomem();
    for (int64_t i = 0; i < n && info == GrB_SUCCESS; i++) {
        s.dist[i] = ftb_get_real(ftb_block_data(dist), dist->type, i * dist->ld + c);
        s.before[i] = -1;
    }
    for (double pass = 0; pass < passes && v < 0 && info == GrB_SUCCESS && relax(&s); pass++) {
        v = ftb_find_cycle(s.before, s.mark, n);
        info = ftb_check_cancelled(ctx);
    }
    if (info == GrB_SUCCESS && v >= 0 && length_of_cycle(&s, v) < 0) /* else: rounding alone */
        ftb_put_cycle(*text, s.before, v);
    ftb_delete(s.dist);
    ftb_delete(s.before);
    ftb_delete(s.mark);
    if (info != GrB_SUCCESS) {
        ftb_delete(*text);
        *text = NULL;
    }
    return info;
}
