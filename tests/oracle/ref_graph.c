/* Verbs of whole graphs, slowly (ref_graph.h). */
#include "oracle/ref_graph.h"

#include <math.h>
#include <stdlib.h>

/* Until no entry joins vertices of unequal labels. */
GrB_Info ref_components(const ftb_components_product *c)
{
    const ftb_pattern *p = c->p;
    const size_t size = FtB_Type_size(c->type);
    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; i < p->nrows; i++)
            for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
                char *a = (char *)c->labels + (size_t)(i * c->ld) * size;
                char *b = (char *)c->labels + (size_t)(ftb_col(p, e) * c->ld) * size;
                int64_t x, y;
                ftb_cast(&x, FTB_INT64, a, c->type, 1);
                ftb_cast(&y, FTB_INT64, b, c->type, 1);
                more = more || x != y;
                memcpy(x < y ? b : a, x < y ? a : b, size);
            }
    }
    return GrB_SUCCESS;
}

static double real_at(const void *x, FtB_Type type, int64_t at)
{
    double value;
    ftb_cast(&value, FTB_FP64, (const char *)x + (size_t)at * FtB_Type_size(type), type, 1);
    return value;
}

/* Vertices whose distance fell tell all they have edges to, round after round. */
static void ref_column(const ftb_paths_product *q, int64_t c, bool *tells)
{
    const ftb_pattern *p = q->p;
    const size_t size = FtB_Type_size(q->type);
    char *dist = (char *)q->dist + (size_t)c * size;
    for (int64_t v = 0; v < p->nrows; v++)
        tells[v] = !q->start;
    for (int64_t t = 0; q->start && t < q->nstart; t++)
        tells[q->start[t]] = true;
    for (bool more = true; more;) {
        more = false;
        for (int64_t u = 0; u < p->nrows; u++) {
            if (!tells[u])
                continue;
            tells[u] = false;
            for (int64_t e = p->rowptr[u]; e < p->rowptr[u + 1]; e++) {
                const int64_t v = ftb_col(p, e);
                double sum = real_at(dist, q->type, u * q->ld) +
                             (q->lengths ? real_at(q->lengths, q->ltype, q->at ? q->at[e] : e) : 1);
                sum = q->type == FTB_FP32 ? (double)(float)sum : sum;
                if (sum < real_at(dist, q->type, v * q->ld)) {
                    ftb_cast(dist + (size_t)(v * q->ld) * size, q->type, &sum, FTB_FP64, 1);
                    tells[v] = more = true;
                }
            }
        }
    }
}

GrB_Info ref_paths(const ftb_paths_product *q)
{
    const int64_t n = q->p->nrows;
    *q->fits = true;
    for (int64_t e = 0; q->lengths && e < q->p->nvals; e++)
        if (real_at(q->lengths, q->ltype, q->at ? q->at[e] : e) < 0)
            *q->fits = false;
    for (int64_t t = 0; t < n * q->ncols; t++) {
        const double x = real_at(q->dist, q->type, t / q->ncols * q->ld + t % q->ncols);
        if (isnan(x) || (isinf(x) && x < 0) || (x == 0 && signbit(x)))
            *q->fits = false;
    }
    bool *tells = calloc((size_t)n + 1, sizeof *tells);
    if (!tells)
        abort();
    for (int64_t t = 0; t < q->nstart; t++)
        tells[q->start ? q->start[t] : t] = true;
    for (int64_t t = 0; t < n * q->ncols && q->ncols > 1 && q->start; t++)
        if (!tells[t / q->ncols] && !isinf(real_at(q->dist, q->type, t / q->ncols * q->ld + t % q->ncols)))
            *q->fits = false;
    for (int64_t c = 0; c < q->ncols && *q->fits; c++)
        ref_column(q, c, tells);
    free(tells);
    return GrB_SUCCESS;
}
