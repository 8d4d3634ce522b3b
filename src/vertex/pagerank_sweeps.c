/* Ranks in place, sweep after sweep (cpu/graph/sweep_run.c), a column after the other. Where what vertices
 * without links have goes to all, it is left out, and ranks are divided by their sum in the end: what comes
 * back to a vertex is some multiple of what is there for it either way, and so are the ranks. */
#include "cpu/graph/sweep_run.h"
#include "vertex/pagerank.h"

#include "core/buffer.h"

typedef struct sweeps {
    const ftb_pages *p;
    FtB_Matrix turned;          /* A's transpose, with its values; NULL: they do not matter */
    void *values;               /* of the ranks' type; NULL: 1 */
    FtB_Block base, rank, back; /* n x k, of what comes back; n x 1, of a column */
    ftb_sweep w;
    int64_t most; /* sweeps of a column */
    bool late;    /* a column's were over before its changes were small enough */
} sweeps;

static GrB_Info prepare_links(sweeps *s)
{
    const ftb_pages *p = s->p;
    ftb_pattern *t;
    GrB_Info info = GrB_SUCCESS;
    if (!ftb_pages_weighted(p)) {
        info = ftb_pattern_transpose(p->A->pattern, &t, NULL);
        s->w.t = t;
        return info;
    }
    FTB_CHECK(ftb_matrix_transpose(&s->turned, p->A));
    FTB_CHECK(ftb_buffer_ask(s->turned->values, FTB_READ));
    s->w.t = s->turned->pattern;
    s->values = ftb_new(s->w.ctx, s->w.t->nvals, FtB_Type_size(s->w.type));
    if (!s->values)
        FTB_CHECK(ftb_nomem());
    ftb_cast(s->values, s->w.type, ftb_values(s->turned), s->turned->type, s->w.t->nvals);
    s->w.values = s->values;
done:
    return info;
}

static GrB_Info prepare(sweeps *s)
{
    const ftb_pages *p = s->p;
    const FtB_Type type = p->rank->type;
    GrB_Info info;
    s->w = (ftb_sweep){.ctx = p->rank->ctx, .type = type, .damping = p->o.damping};
    if (p->A->pattern->wide)
        return ftb_fail(FTB_LIMIT, "A has %lld vertices; expected fewer than 2^31", (long long)p->n);
    FTB_CHECK(prepare_links(s));
    FTB_CHECK(FtB_Block_new(&s->base, p->n, p->k, type));
    FTB_CHECK(FtB_Block_new(&s->rank, p->n, 1, type));
    FTB_CHECK(FtB_Block_new(&s->back, p->n, 1, type));
    info = ftb_pages_base(p, s->base);
done:
    return info;
}

/* Sweeps of the column that is in s->rank. */
static GrB_Info sweep(sweeps *s)
{
    const FtB_Pagerank_options *o = &s->p->o;
    const double limit = ftb_pages_limit(s->p);
    ftb_sweep *w = &s->w;
    int64_t count = 0;
    bool more = true;
    GrB_Info info = ftb_sweep_new(w);
    while (info == GrB_SUCCESS && more && count < o->rounds) {
        const double start = ftb_seconds();
        info = ftb_progress(w->ctx, (double)count, 0, "sweeps");
        if (info == GrB_SUCCESS)
            info = ftb_sweep_run(w);
        if (info != GrB_SUCCESS)
            break;
        /* Of ranks that will be divided by their sum, that counts, too, by which the sum is off. */
        const double sum = s->p->loose ? w->sum / 2 : 1;
        more = !(w->changed < limit * sum);
        count++;
        if (o->explain)
            fprintf(o->explain, "%-9lld %14g %10.6f\n", (long long)count, w->changed / sum,
                    ftb_seconds() - start);
    }
    ftb_sweep_delete(w);
    s->late = s->late || more;
    s->most = ftb_max(s->most, count);
    return info;
}

static GrB_Info run_column(sweeps *s, int64_t c)
{
    FtB_Block rank = NULL, back = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Block_columns(&rank, s->p->rank, c, 1));
    FTB_CHECK(FtB_Block_columns(&back, s->base, c, 1));
    FTB_CHECK(FtB_apply(s->rank, NULL, NULL, "x", rank, NULL));
    FTB_CHECK(FtB_apply(s->back, NULL, NULL, "x", back, NULL));
    FTB_CHECK(ftb_buffer_ask(s->rank->owner, FTB_UPDATE));
    FTB_CHECK(ftb_buffer_ask(s->back->owner, FTB_READ));
    FTB_CHECK(ftb_buffer_ask(s->p->share->owner, FTB_READ));
    s->w.rank = ftb_block_data(s->rank);
    s->w.back = ftb_block_data(s->back);
    s->w.share = ftb_block_data(s->p->share);
    FTB_CHECK(sweep(s));
    FTB_CHECK(FtB_Block_changed(s->rank));
    info = FtB_apply(rank, NULL, NULL, "x", s->rank, NULL);
done:
    FtB_Block_free(&rank);
    FtB_Block_free(&back);
    return info;
}

GrB_Info ftb_pages_sweeps(ftb_pages *p)
{
    sweeps s = {.p = p};
    GrB_Info info;
    FTB_CHECK(prepare(&s));
    if (p->o.explain)
        fprintf(p->o.explain, "%-9s %14s %10s\n", "sweep", "changed", "seconds");
    for (int64_t c = 0; c < p->k; c++)
        FTB_CHECK(run_column(&s, c));
    if (p->loose)
        FTB_CHECK(ftb_pages_divide(p));
    p->more = s.late;
done:
    p->supersteps = s.most;
    FtB_Matrix_free(&s.turned);
    ftb_delete(s.values);
    FtB_Block_free(&s.base);
    FtB_Block_free(&s.rank);
    FtB_Block_free(&s.back);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(p->rank->ctx);
    return info;
}
