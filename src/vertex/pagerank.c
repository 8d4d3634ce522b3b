/* PageRank by the definitions of GAP, networkx and LDBC Graphalytics, for all vertices alike or personalised:
 * what is asked for is checked, and what a vertex gives to each of its links is found out. In GAP's and
 * LDBC's that is one by their number, in networkx's one by the sum of their values, times the value. */
#include "vertex/pagerank.h"

#include "core/buffer.h"
#include "core/hypersparse.h"
#include "core/options.h"
#include "io/input.h"
#include "ops/block/block_map.h"

#include <math.h>

static GrB_Info check_options(FtB_Pagerank_options *o, const FtB_Pagerank_options *given)
{
    GrB_Info info = ftb_options_read(o, sizeof *o, given, "FtB_pagerank", "FTB_PAGERANK");
    if (info != GrB_SUCCESS)
        return info;
    if ((int)o->kind < FTB_PAGERANK_GAP || (int)o->kind > FTB_PAGERANK_LDBC)
        return ftb_fail(GrB_INVALID_VALUE, "options: kind is %d; expected one of FTB_PAGERANK_*",
                        (int)o->kind);
    if ((int)o->method < FTB_PAGERANK_ROUNDS || (int)o->method > FTB_PAGERANK_SWEEPS)
        return ftb_fail(GrB_INVALID_VALUE, "options: method is %d; expected one of FTB_PAGERANK_*",
                        (int)o->method);
    if (!(o->damping >= 0 && o->damping <= 1) || !(o->tolerance >= 0) || o->rounds < 0)
        return ftb_fail(
            GrB_INVALID_VALUE,
            "options: damping %g, tolerance %g, rounds %lld; expected 0 to 1, 0 or more, 0 or more",
            o->damping, o->tolerance, (long long)o->rounds);
    const bool fixed = o->kind == FTB_PAGERANK_LDBC;
    if (fixed && o->tolerance > 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: tolerance is %g; LDBC's has none, but rounds",
                        o->tolerance);
    if (o->method != FTB_PAGERANK_ROUNDS && (fixed || o->damping == 1))
        return ftb_fail(GrB_INVALID_VALUE, "options: %s; expected FTB_PAGERANK_ROUNDS of that",
                        fixed ? "LDBC's definition is one of rounds" : "damping is 1");
    if (o->sources.at && o->teleport)
        return ftb_fail(GrB_INVALID_VALUE, "options: both sources and teleport; expected one of them");
    o->damping = o->damping > 0 ? o->damping : 0.85;
    if (!fixed)
        o->tolerance = o->tolerance > 0 ? o->tolerance : o->kind == FTB_PAGERANK_GAP ? 1e-4 : 1e-6;
    const int64_t rounds = fixed ? 10 : o->method == FTB_PAGERANK_CHANGES ? 1000 : 100;
    o->rounds = o->rounds > 0 ? ftb_min(o->rounds, INT64_MAX - 1) : rounds; /* a run has one more */
    return GrB_SUCCESS;
}

/* A block of a row for each vertex, of k columns, or, where that is 0, of any; `what` it is among options. */
static GrB_Info check_block(FtB_Block X, const char *what, int64_t n, int64_t k)
{
    GrB_Info info = ftb_arg_block_anywhere(&X, FTB_ARG(X), what, false);
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "options: ");
    if (X->nrows != n || (k > 0 && X->ncols != k))
        return ftb_fail(GrB_DIMENSION_MISMATCH, "options: %s is %lld x %lld; expected %lld x %lld", what,
                        (long long)X->nrows, (long long)X->ncols, (long long)n,
                        (long long)(k > 0 ? k : X->ncols));
    if (X->type != FTB_FP32 && X->type != FTB_FP64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "options: %s: dtype %s; expected fp32 or fp64", what,
                        FtB_Type_name(X->type));
    return GrB_SUCCESS;
}

/* sums, of 0s: of each column; all values are `least` or more, and finite. */
static GrB_Info sum_columns(double *sums, FtB_Block X, const char *what, double least)
{
    GrB_Info info = ftb_buffer_ask(X->owner, FTB_READ);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t v = 0; v < X->nrows; v++)
        for (int64_t c = 0; c < X->ncols; c++) {
            const double x = ftb_get_real(ftb_block_data(X), X->type, v * X->ld + c);
            if (!(x >= least) || isinf(x))
                return ftb_fail(GrB_INVALID_VALUE,
                                "options: %s(%lld, %lld) is %g; expected %sa finite number", what,
                                (long long)v, (long long)c, x, least == 0 ? "0 or more, and " : "");
            sums[c] += x;
        }
    return GrB_SUCCESS;
}

/* Of what somebody's links are worth no share can be given, if one is not finite. */
static GrB_Info check_values(FtB_Matrix A)
{
    if (!A->values || !ftb_type_float(A->type))
        return GrB_SUCCESS;
    const GrB_Info info = ftb_buffer_ask(A->values, FTB_READ);
    const int64_t at =
        info == GrB_SUCCESS ? ftb_find_not_finite(A->ctx, ftb_values(A), A->type, A->pattern->nvals) : -1;
    if (at < 0)
        return info;
    return ftb_fail(GrB_INVALID_VALUE, "A(%lld, %lld) is %g; expected a finite number",
                    (long long)ftb_row_of_entry(A->pattern, at), (long long)ftb_col(A->pattern, at),
                    ftb_get_real(ftb_values(A), A->type, at));
}

/* ---- to whom surfers come back */

/* unit: one by each column's sum. */
static GrB_Info sum_teleport(const ftb_pages *p, double *unit)
{
    GrB_Info info = sum_columns(unit, p->o.teleport, "teleport", 0);
    for (int64_t c = 0; c < p->k && info == GrB_SUCCESS; c++) {
        if (!(unit[c] > 0) || isinf(unit[c]))
            info = ftb_fail(GrB_INVALID_VALUE,
                            "options: column %lld of teleport sums up to %g; expected more than 0",
                            (long long)c, unit[c]);
        unit[c] = 1 / unit[c];
    }
    return info;
}

GrB_Info ftb_pages_back(const ftb_pages *p, const double *lost)
{
    const double d = p->o.damping;
    GrB_Info info = ftb_buffer_ask(p->back->owner, FTB_UPDATE);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t c = 0; c < p->k; c++) {
        const double back = (1 - d + (lost ? d * lost[c] : 0)) * p->unit[c];
        ftb_cast((char *)ftb_block_data(p->back) + (size_t)c * FtB_Type_size(p->back->type), p->back->type,
                 &back, FTB_FP64, 1);
    }
    return FtB_Block_changed(p->back);
}

static GrB_Info make_back(ftb_pages *p, double *unit)
{
    GrB_Info info = GrB_SUCCESS;
    p->unit = unit;
    if (p->o.teleport)
        FTB_CHECK(sum_teleport(p, unit));
    for (int64_t c = 0; c < p->k && !p->o.teleport; c++)
        unit[c] = p->o.sources.at ? 1 : 1 / (double)p->n;
    if (p->o.sources.at) {
        FTB_CHECK(FtB_Block_new(&p->source, 1, p->k, FTB_INT64));
        FTB_CHECK(ftb_buffer_ask(p->source->owner, FTB_UPDATE));
        memcpy(ftb_block_data(p->source), p->o.sources.at, (size_t)p->k * sizeof *p->o.sources.at);
        FTB_CHECK(FtB_Block_changed(p->source));
    }
    info = FtB_Block_new(&p->back, 1, p->k, p->rank->type);
done:
    return info;
}

GrB_Info ftb_pages_base(const ftb_pages *p, FtB_Block base)
{
    const double back = 1 - p->o.damping;
    GrB_Info info = ftb_pages_back(p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    if (p->o.teleport)
        return FtB_eWiseMult(base, NULL, NULL, "x * y", p->o.teleport, p->back, NULL);
    return ftb_set_sources(base, p->source ? 0 : back / (double)p->n, back, false, p->o.sources.at,
                           p->source ? p->k : 0);
}

GrB_Info ftb_pages_divide(const ftb_pages *p)
{
    FtB_Block sums = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&sums, 1, p->k, FTB_FP64));
    FTB_CHECK(ftb_buffer_ask(sums->owner, FTB_UPDATE));
    FTB_CHECK(sum_columns(ftb_block_data(sums), p->rank, "ranks", -INFINITY));
    FTB_CHECK(FtB_Block_changed(sums));
    info = FtB_eWiseMult(p->rank, NULL, NULL, "x / y", p->rank, sums, NULL);
done:
    FtB_Block_free(&sums);
    return info;
}

/* ---- links */

/* Who has no links: entries of one row. */
static GrB_Info find_loose(ftb_pages *p)
{
    const FtB_Context ctx = p->rank->ctx;
    int64_t count = 0, *I = NULL, *J = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_buffer_ask(p->share->owner, FTB_READ));
    for (int64_t v = 0; v < p->n; v++)
        count += ftb_get_real(ftb_block_data(p->share), p->share->type, v) == 0;
    if (count == 0)
        goto done;
    I = ftb_new0(ctx, count, sizeof *I);
    J = ftb_new(ctx, count, sizeof *J);
    if (!I || !J)
        FTB_CHECK(ftb_nomem());
    for (int64_t v = 0, at = 0; v < p->n; v++)
        if (ftb_get_real(ftb_block_data(p->share), p->share->type, v) == 0)
            J[at++] = v;
    info = FtB_Matrix_build(&p->loose, FTB_FP32, 1, p->n, 0, count, I, J, NULL, FTB_DUP_ERROR, NULL);
done:
    ftb_delete(I);
    ftb_delete(J);
    return info;
}

/* How many links a vertex has. */
static GrB_Info count_links(const ftb_pages *p)
{
    const int64_t *rowptr = p->A->pattern->rowptr;
    const FtB_Block X = p->share;
    GrB_Info info = ftb_buffer_ask(X->owner, FTB_UPDATE);
    if (info != GrB_SUCCESS)
        return info;
    float *few = ftb_block_data(X);
    double *wide = ftb_block_data(X);
    for (int64_t v = 0; v < p->n && X->type == FTB_FP32; v++)
        few[v] = (float)(rowptr[v + 1] - rowptr[v]);
    for (int64_t v = 0; v < p->n && X->type == FTB_FP64; v++)
        wide[v] = (double)(rowptr[v + 1] - rowptr[v]);
    return FtB_Block_changed(X);
}

/* 1 over the sum of a vertex's links, 0 where that is 0; and who has none, unless what they have is lost. */
static GrB_Info make_shares(ftb_pages *p)
{
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&p->share, p->n, 1, p->rank->type));
    FTB_CHECK(ftb_pages_weighted(p) ? FtB_mxm(p->share, NULL, NULL, "plus : edge", p->A, p->share, NULL)
                                    : count_links(p));
    if (p->o.kind != FTB_PAGERANK_GAP)
        FTB_CHECK(find_loose(p));
    info = FtB_apply(p->share, NULL, NULL, "x == 0 ? 0 : 1 / x", p->share, NULL);
done:
    return info;
}

/* Ranks that are far too large would lose what is added to them on their way down: columns whose greatest is
 * more than FAR are divided by it. Where ranks end does not depend on where they begin. */
static GrB_Info shrink(const ftb_pages *p)
{
    enum { FAR = 64 };
    FtB_Block most = NULL;
    bool far = false;
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&most, 1, p->k, FTB_FP64));
    FTB_CHECK(ftb_buffer_ask(p->rank->owner, FTB_READ));
    FTB_CHECK(ftb_buffer_ask(most->owner, FTB_UPDATE));
    double *row = ftb_block_data(most);
    for (int64_t c = 0; c < p->k; c++) {
        row[c] = FAR;
        for (int64_t v = 0; v < p->n; v++)
            row[c] = ftb_max(row[c],
                             fabs(ftb_get_real(ftb_block_data(p->rank), p->rank->type, v * p->rank->ld + c)));
        if (isinf(row[c]))
            FTB_CHECK(ftb_fail(GrB_INVALID_VALUE, "options: column %lld of start has numbers beyond %s",
                               (long long)c, FtB_Type_name(p->rank->type)));
        far = far || row[c] > FAR;
        row[c] = row[c] > FAR ? row[c] : 1;
    }
    FTB_CHECK(FtB_Block_changed(most));
    if (far)
        info = FtB_eWiseMult(p->rank, NULL, NULL, "x / y", p->rank, most, NULL);
done:
    FtB_Block_free(&most);
    return info;
}

/* Ranks as they begin. */
static GrB_Info begin(const ftb_pages *p)
{
    if (!p->o.start)
        return ftb_set_sources(p->rank, 1 / (double)p->n, 0, false, NULL, 0);
    double *sums = ftb_new0(p->rank->ctx, p->k, sizeof *sums);
    if (!sums)
        return ftb_nomem();
    GrB_Info info = sum_columns(sums, p->o.start, "start", -INFINITY);
    if (info == GrB_SUCCESS && p->o.start != p->rank)
        info = FtB_apply(p->rank, NULL, NULL, "x", p->o.start, NULL);
    if (info == GrB_SUCCESS && p->o.kind != FTB_PAGERANK_LDBC)
        info = shrink(p);
    ftb_delete(sums);
    return info;
}

GrB_Info FtB_pagerank(FtB_Block ranks, FtB_Matrix A, const FtB_Pagerank_options *options)
{
    static GrB_Info (*const ways[])(ftb_pages *) = {[FTB_PAGERANK_ROUNDS] = ftb_pages_rounds,
                                                    [FTB_PAGERANK_CHANGES] = ftb_pages_changes,
                                                    [FTB_PAGERANK_SWEEPS] = ftb_pages_sweeps};
    ftb_pages p = {.A = A, .rank = ranks, .more = true};
    double *unit = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_check_graph(A));
    FTB_CHECK(check_options(&p.o, options));
    p.n = A->pattern->nrows;
    if (p.o.sources.at)
        FTB_CHECK(ftb_check_sources(A, p.o.sources.at, p.o.sources.count));
    if (p.o.teleport)
        FTB_CHECK(check_block(p.o.teleport, "teleport", p.n, 0));
    p.k = p.o.sources.at ? p.o.sources.count : p.o.teleport ? p.o.teleport->ncols : 1;
    FTB_CHECK(ftb_check_result(ranks, "ranks", A, p.k, FTB_TYPE_BIT(FTB_FP32) | FTB_TYPE_BIT(FTB_FP64)));
    if (p.o.teleport && ftb_block_alias(ranks, p.o.teleport) != FTB_ALIAS_NONE)
        FTB_CHECK(ftb_fail(GrB_INVALID_VALUE, "options: teleport shares memory with ranks"));
    if (p.o.start)
        FTB_CHECK(check_block(p.o.start, "start", p.n, p.k));
    if (A->width > 1)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH, "A has %lld values per entry; expected 1 or none",
                           (long long)A->width));
    if (p.o.kind == FTB_PAGERANK_NETWORKX)
        FTB_CHECK(check_values(A));
    if (p.n == 0 || p.k == 0)
        goto done;
    unit = ftb_new0(ranks->ctx, p.k, sizeof *unit);
    if (!unit)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(make_back(&p, unit));
    FTB_CHECK(make_shares(&p));
    FTB_CHECK(begin(&p));
    FTB_CHECK(ways[p.o.method](&p));
    if (p.more)
        info = ftb_fail(GrB_NO_VALUE, "ranks still changed by more than %g after %lld rounds",
                        ftb_pages_limit(&p), (long long)p.supersteps);
done:
    if (p.o.supersteps)
        *p.o.supersteps = p.supersteps;
    ftb_delete(unit);
    FtB_Block_free(&p.share);
    FtB_Block_free(&p.back);
    FtB_Block_free(&p.source);
    FtB_Matrix_free(&p.loose);
    return info;
}
