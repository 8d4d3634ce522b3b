/* Ranks by supersteps over all vertices: a vertex sends its rank times what it gives to each link, and its
 * new one is what it receives, damped, and what comes from nowhere. What vertices without links have comes
 * back with it: it is summed up between supersteps, and is a constant in the next. Several columns go on
 * until each is near enough, which is looked at between supersteps, too. */
#include "vertex/pagerank.h"

#include "core/buffer.h"

typedef struct rounds {
    const ftb_pages *p;
    FtB_Block lost;           /* 1 x k, FP64: what vertices without links have */
    FtB_Block before, change; /* n x k, and of each column in FP64: of several columns */
} rounds;

/* A row of FP64 on the host. */
static GrB_Info row_of(const double **row, FtB_Block X)
{
    GrB_Info info = ftb_buffer_ask(X->owner, FTB_READ);
    *row = ftb_block_data(X);
    return info;
}

static GrB_Info set_back(const rounds *r)
{
    const double *lost = NULL;
    GrB_Info info;
    if (r->p->loose) {
        FTB_CHECK(FtB_mxm(r->lost, NULL, NULL, "plus : fp64(src)", r->p->loose, r->p->rank, NULL));
        FTB_CHECK(row_of(&lost, r->lost));
    }
    info = ftb_pages_back(r->p, lost);
done:
    return info;
}

/* *more: whether the ranks of a column changed by more than they may. */
static GrB_Info look(const rounds *r, bool *more)
{
    const double *change = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_eWiseMult(r->before, NULL, NULL, "abs(x - y)", r->p->rank, r->before, NULL));
    FTB_CHECK(FtB_reduce(r->change, NULL, NULL, "plus", r->before, FTB_DESC_T0));
    FTB_CHECK(row_of(&change, r->change));
    *more = false;
    for (int64_t c = 0; c < r->p->k; c++)
        *more = *more || !(change[c] < ftb_pages_limit(r->p));
done:
    return info;
}

static GrB_Info step(const rounds *r, FtB_Run steps, bool *more)
{
    GrB_Info info;
    FTB_CHECK(set_back(r));
    if (r->before)
        FTB_CHECK(FtB_apply(r->before, NULL, NULL, "x", r->p->rank, NULL));
    FTB_CHECK(FtB_Run_step(steps, more));
    if (r->before)
        FTB_CHECK(look(r, more));
done:
    return info;
}

static GrB_Info run(const rounds *r, FtB_Program program, ftb_pages *p)
{
    const FtB_Pagerank_options *o = &p->o;
    FtB_Superstep about = {.round = 0};
    FtB_Run steps = NULL;
    FtB_Binding states[] = {
        {"rank", FTB_ARG(p->rank)},
        {"share", FTB_ARG(p->share)},
        {"back", FTB_ARG(p->back)},
        {"damping", FTB_ARG(o->damping)},
        {"limit", FTB_ARG(ftb_pages_limit(r->p))},
        {p->source ? "source" : "teleport", FTB_ARG(p->source ? p->source : o->teleport)}};
    const size_t count = sizeof states / sizeof *states - !(p->source || o->teleport);
    GrB_Info info;
    FTB_CHECK(FtB_Run_new(&steps, program, p->A, (FtB_States){states, count},
                          FTB_RUN_OPTIONS(.rounds = o->rounds + 1, .explain = o->explain)));
    while (p->more && p->supersteps < o->rounds) {
        FTB_CHECK(step(r, steps, &p->more));
        FTB_CHECK(FtB_Run_about(steps, &about));
        p->supersteps = about.round;
    }
    p->more = p->more && o->kind != FTB_PAGERANK_LDBC;
done:
    FtB_Run_free(&steps);
    return info;
}

GrB_Info ftb_pages_rounds(ftb_pages *p)
{
    const bool fixed = p->o.kind == FTB_PAGERANK_LDBC;
    rounds r = {.p = p};
    FtB_Program program = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&r.lost, 1, p->k, FTB_FP64));
    if (!fixed && p->k > 1) {
        FTB_CHECK(FtB_Block_new(&r.change, 1, p->k, FTB_FP64));
        FTB_CHECK(FtB_Block_new(&r.before, p->n, p->k, p->rank->type));
    }
    FTB_CHECK(FtB_Program_new(
        &program, FTB_PROGRAM(.send = "rank * share",
                              .combine = ftb_pages_weighted(p) ? "plus : message * edge" : "plus : message",
                              .apply = p->source ? "rank = damping * received + (id == source ? back : 0)"
                                       : p->o.teleport ? "rank = damping * received + back * teleport"
                                                       : "rank = damping * received + back",
                              .until = fixed || r.before ? NULL : "sum(abs(new.rank - old.rank)) < limit")));
    info = run(&r, program, p);
done:
    FtB_Program_free(&program);
    FtB_Block_free(&r.lost);
    FtB_Block_free(&r.before);
    FtB_Block_free(&r.change);
    return info;
}
