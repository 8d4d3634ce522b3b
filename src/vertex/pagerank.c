/* PageRank by the definitions of GAP, networkx and LDBC Graphalytics. A vertex sends its rank times what it
 * gives to each link: one by the number of its links, or, in networkx's, by the sum of their values. What
 * vertices without links have is lost in GAP's, and goes to all in the others: it is summed up between
 * supersteps, and is a constant in the next. */
#include "core/options.h"
#include "vertex/algorithm.h"

#define RANK "(1 - damping) / n + damping * (received + lost / n)"

typedef struct pages {
    FtB_Pagerank_options o;
    FtB_Matrix A;
    FtB_Block rank, share, loose, lost, lose; /* share: of a link; loose: 1 without links; lost: of all, one
                                                 value; lose: of each */
    int64_t n;
} pages;

static GrB_Info check_options(FtB_Pagerank_options *o, const FtB_Pagerank_options *given)
{
    GrB_Info info = ftb_options_read(o, sizeof *o, given, "FtB_pagerank", "FTB_PAGERANK");
    if (info != GrB_SUCCESS)
        return info;
    if ((int)o->kind < FTB_PAGERANK_GAP || (int)o->kind > FTB_PAGERANK_LDBC)
        return ftb_fail(GrB_INVALID_VALUE, "options: kind is %d; expected one of FTB_PAGERANK_*",
                        (int)o->kind);
    if (!(o->damping >= 0 && o->damping <= 1) || !(o->tolerance >= 0) || o->rounds < 0)
        return ftb_fail(
            GrB_INVALID_VALUE,
            "options: damping %g, tolerance %g, rounds %lld; expected 0 to 1, 0 or more, 0 or more",
            o->damping, o->tolerance, (long long)o->rounds);
    const bool fixed = o->kind == FTB_PAGERANK_LDBC;
    if (fixed && o->tolerance > 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: tolerance is %g; LDBC's has none, but rounds",
                        o->tolerance);
    o->damping = o->damping > 0 ? o->damping : 0.85;
    if (!fixed)
        o->tolerance = o->tolerance > 0 ? o->tolerance : o->kind == FTB_PAGERANK_GAP ? 1e-4 : 1e-6;
    o->rounds = o->rounds > 0 ? ftb_min(o->rounds, INT64_MAX - 1) : fixed ? 10 : 100; /* a run has one more */
    return GrB_SUCCESS;
}

/* 1 over the sum of a vertex's links, 0 where that is 0; and who has none. */
static GrB_Info make_shares(pages *p)
{
    const bool weighted = p->o.kind == FTB_PAGERANK_NETWORKX && p->A->width > 0;
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&p->share, p->n, 1, p->rank->type));
    FTB_CHECK(FtB_Block_new(&p->loose, p->n, 1, p->rank->type));
    FTB_CHECK(FtB_Block_new(&p->lose, p->n, 1, p->rank->type));
    FTB_CHECK(FtB_Block_new(&p->lost, 1, 1, p->rank->type));
    FTB_CHECK(FtB_mxm(p->share, NULL, NULL, weighted ? "plus : edge" : "plus : 1", p->A, p->rank, NULL));
    FTB_CHECK(FtB_apply(p->loose, NULL, NULL, "x == 0", p->share, NULL));
    FTB_CHECK(FtB_apply(p->share, NULL, NULL, "x == 0 ? 0 : 1 / x", p->share, NULL));
    FTB_CHECK(ftb_set_sources(p->rank, 1 / (double)p->n, 0, false, NULL, 0));
done:
    return info;
}

static GrB_Info sum_lost(const pages *p)
{
    GrB_Info info = GrB_SUCCESS;
    if (p->o.kind == FTB_PAGERANK_GAP)
        return info;
    FTB_CHECK(FtB_eWiseMult(p->lose, NULL, NULL, "x * y", p->rank, p->loose, NULL));
    info = FtB_reduce(p->lost, NULL, NULL, "plus", p->lose, FTB_DESC_T0);
done:
    return info;
}

static GrB_Info run(const pages *p, FtB_Program program)
{
    const double limit = p->o.tolerance * (p->o.kind == FTB_PAGERANK_NETWORKX ? (double)p->n : 1);
    FtB_Superstep about = {.round = 0};
    FtB_Run steps = NULL;
    bool more = true;
    GrB_Info info;
    FTB_CHECK(FtB_Run_new(&steps, program, p->A,
                          FTB_STATE("rank", p->rank, "share", p->share, "lost", p->lost, "damping",
                                    p->o.damping, "limit", limit),
                          FTB_RUN_OPTIONS(.rounds = p->o.rounds + 1, .explain = p->o.explain)));
    while (more && about.round < p->o.rounds) {
        FTB_CHECK(sum_lost(p));
        FTB_CHECK(FtB_Run_step(steps, &more));
        FTB_CHECK(FtB_Run_about(steps, &about));
    }
    if (more && p->o.kind != FTB_PAGERANK_LDBC)
        info = ftb_fail(GrB_NO_VALUE, "ranks still changed by more than %g after %lld rounds", limit,
                        (long long)about.round);
done:
    if (p->o.supersteps)
        *p->o.supersteps = about.round;
    FtB_Run_free(&steps);
    return info;
}

GrB_Info FtB_pagerank(FtB_Block ranks, FtB_Matrix A, const FtB_Pagerank_options *options)
{
    pages p = {.A = A, .rank = ranks};
    FtB_Program program = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_check_result(ranks, "ranks", A, 1, FTB_TYPE_BIT(FTB_FP32) | FTB_TYPE_BIT(FTB_FP64)));
    if (A->width > 1)
        FTB_CHECK(ftb_fail(GrB_DIMENSION_MISMATCH, "A has %lld values per entry; expected 1 or none",
                           (long long)A->width));
    FTB_CHECK(check_options(&p.o, options));
    if (p.o.supersteps)
        *p.o.supersteps = 0;
    p.n = ranks->nrows;
    if (p.n == 0)
        goto done;
    FTB_CHECK(make_shares(&p));
    FTB_CHECK(FtB_Program_new(
        &program,
        FTB_PROGRAM(.send = "rank * share",
                    .combine = p.o.kind == FTB_PAGERANK_NETWORKX ? "plus : message * edge" : "plus : message",
                    .apply = "rank = " RANK,
                    .until =
                        p.o.kind == FTB_PAGERANK_LDBC ? NULL : "sum(abs(new.rank - old.rank)) < limit")));
    info = run(&p, program);
done:
    FtB_Program_free(&program);
    FtB_Block_free(&p.share);
    FtB_Block_free(&p.loose);
    FtB_Block_free(&p.lose);
    FtB_Block_free(&p.lost);
    return info;
}
