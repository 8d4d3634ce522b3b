/* Ranks by what changes, as GraphMat's incremental PageRank has them: a vertex sends the difference that its
 * rank made, and only where that is more than a vertex may be off. Less waits in `rest` for more: so nothing
 * is lost, and what waits in the end says how far ranks are from those that stay: no more than its sum by 1 -
 * damping.
 *
 * Ranks begin as others, such as those before some links changed: to the others all of them are sent once,
 * and what is missing is what changes. Where ranks begin from nothing, only what comes from nowhere is sent.
 *
 * Where what vertices without links have goes to all, it is left out, as of sweeps (pagerank_sweeps.c). */
#include "vertex/pagerank.h"

#include "core/buffer.h"

#define NOW "rest + damping * received"
#define MOVES "abs(" NOW ") > near * (abs(rank) + least) ? "

typedef struct changes {
    const ftb_pages *p;
    FtB_Block base, delta, rest; /* n x k; what comes from nowhere, and of the program's state */
    double near, left;           /* a vertex may wait with `near` of its rank and of the least that one is */
} changes;

/* Ranks that nobody links to are known. The others' become what waits for what they do not receive. */
static GrB_Info begin_from_start(const changes *s)
{
    const ftb_pages *p = s->p;
    FtB_Block into = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&into, p->n, 1, FTB_FP32));
    FTB_CHECK(FtB_mxm(into, NULL, NULL, "any : 1", p->A, into, FTB_DESC_T0));
    FTB_CHECK(FtB_apply(p->rank, into, NULL, "x", s->base, FTB_DESC_C));
    FTB_CHECK(FtB_apply(s->delta, NULL, NULL, "x", p->rank, NULL));
    info = FtB_eWiseMult(s->rest, NULL, NULL, "x - y", s->base, p->rank, NULL);
done:
    FtB_Block_free(&into);
    return info;
}

/* Ranks of which what is lost came back are some multiple of those of which it did not. */
static GrB_Info scale_start(const ftb_pages *p)
{
    FtB_Block lost = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&lost, 1, p->k, FTB_FP64));
    FTB_CHECK(FtB_mxm(lost, NULL, NULL, "plus : fp64(src)", p->loose, p->rank, NULL));
    FTB_CHECK(ftb_buffer_ask(lost->owner, FTB_UPDATE));
    double *row = ftb_block_data(lost);
    for (int64_t c = 0; c < p->k; c++)
        row[c] = (1 - p->o.damping) / (1 - p->o.damping + p->o.damping * row[c]);
    FTB_CHECK(FtB_Block_changed(lost));
    info = FtB_eWiseMult(p->rank, NULL, NULL, "x * y", p->rank, lost, NULL);
done:
    FtB_Block_free(&lost);
    return info;
}

static GrB_Info begin(changes *s)
{
    const ftb_pages *p = s->p;
    GrB_Info info;
    FTB_CHECK(FtB_Block_new(&s->base, p->n, p->k, p->rank->type));
    FTB_CHECK(FtB_Block_new(&s->delta, p->n, p->k, p->rank->type));
    FTB_CHECK(FtB_Block_new(&s->rest, p->n, p->k, p->rank->type));
    FTB_CHECK(ftb_pages_base(p, s->base));
    if (p->o.start) {
        if (p->loose)
            FTB_CHECK(scale_start(p));
        info = begin_from_start(s);
    } else {
        FTB_CHECK(FtB_apply(p->rank, NULL, NULL, "x", s->base, NULL));
        info = FtB_apply(s->delta, NULL, NULL, "x", s->base, NULL);
    }
done:
    return info;
}

static GrB_Info run(const changes *s, FtB_Program program, ftb_pages *p)
{
    const FtB_Ids all = {NULL, 0};
    const double least = (1 - p->o.damping) / (double)p->n;
    const FtB_Binding states[] = {{"rank", FTB_ARG(p->rank)},         {"delta", FTB_ARG(s->delta)},
                                  {"rest", FTB_ARG(s->rest)},         {"share", FTB_ARG(p->share)},
                                  {"damping", FTB_ARG(p->o.damping)}, {"near", FTB_ARG(s->near)},
                                  {"least", FTB_ARG(least)},          {"left", FTB_ARG(s->left)}};
    FtB_Superstep about = {.round = 0};
    FtB_Run steps = NULL;
    GrB_Info info;
    FTB_CHECK(FtB_Run_new(&steps, program, p->A, (FtB_States){states, sizeof states / sizeof *states},
                          FTB_RUN_OPTIONS(.start = p->o.start ? all : p->o.sources, .rounds = p->o.rounds + 1,
                                          .explain = p->o.explain)));
    while (p->more && p->supersteps < p->o.rounds) {
        FTB_CHECK(FtB_Run_step(steps, &p->more));
        FTB_CHECK(FtB_Run_about(steps, &about));
        p->supersteps = about.round;
    }
done:
    FtB_Run_free(&steps);
    return info;
}

GrB_Info ftb_pages_changes(ftb_pages *p)
{
    changes s = {.p = p};
    FtB_Program program = NULL;
    GrB_Info info;
    FTB_CHECK(begin(&s));
    s.near = ftb_pages_limit(p) / 4;
    s.left = ftb_pages_limit(p) / 2 * (p->loose ? 1 - p->o.damping : 1);
    FTB_CHECK(FtB_Program_new(
        &program, FTB_PROGRAM(.send = "delta * share",
                              .combine = ftb_pages_weighted(p) ? "plus : message * edge" : "plus : message",
                              .apply = "rank = " MOVES "rank + (" NOW ") : rank; delta = " MOVES NOW
                                       " : 0; rest = " MOVES "0 : " NOW,
                              .active = "new.delta != 0",
                              .until = "sum(abs(new.rest) + damping * abs(new.delta)) < left",
                              .applies = FTB_APPLY_RECEIVERS)));
    FTB_CHECK(run(&s, program, p));
    if (p->loose)
        info = ftb_pages_divide(p);
done:
    FtB_Program_free(&program);
    FtB_Block_free(&s.base);
    FtB_Block_free(&s.delta);
    FtB_Block_free(&s.rest);
    return info;
}
