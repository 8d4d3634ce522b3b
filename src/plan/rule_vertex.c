/* Whether a superstep pushes from a list or pulls over the graph: by the work of each. The transpose that a
 * pull may need is made once pulls would have saved as much as it takes: no run, and no series of runs, then
 * takes more than twice as long as it could. And whether a device does it: where all are active, as of any
 * product; else the state moves once it has lost as much by staying as moving takes. */
#include "plan/vertex_plan.h"

/* Nanoseconds on one core of an EPYC with 1 MB of L2 beside other work, Kronecker graph of scale 20 (the
 * least of ten, each superstep of a breadth-first search pushed and pulled). */
#define SENDER 15.0      /* of a push: a row of the graph, which is far away */
#define EDGE 2.2         /* and an edge: a mark of its receiver and the receiver's state */
#define CLAIM 10.0       /* a receiver that was found: its place in the order */
#define VERTEX 0.6       /* of a pull where the first message decides: a vertex, settled or not */
#define OPEN 15.0        /* one that is not: its row */
#define LOOK 1.2         /* an entry: its column, and a bit */
#define BITS_EDGE 4.5    /* of a push of bits: two words of its receiver */
#define BITS_VERTEX 2.0  /* of a pull: the word that it has */
#define BITS_LOOK 1.0    /* an entry: a word of its sender; many are not looked at */
#define BITS_SEND 2.5    /* of a push of many: one, and then both words of all vertices */
#define PLAIN_EDGE 3.3   /* of a push of plain messages: the receiver's mark and value */
#define PLAIN_VERTEX 1.5 /* of a pull: its row and its result */
#define PLAIN_LOOK 1.0   /* an entry: a bit */
#define PLAIN_TAKE 2.5   /* of an active vertex: its message */
#define PLAIN_GUESS                                                                                          \
    10.0               /* and what branches cost that turn out the other way, where half of them are active */
#define PLAIN_FAR 10.0 /* an edge's value that lies where the transpose has it from */
#define TRANSPOSE 7.0  /* an entry of a pattern that is not there yet */
/* The same for messages that texts make, which cost as much either way (R-MAT graph of scale 17, bench_mxv).
 */
#define GATHER 3.0 /* an edge to be brought together */
#define SORT 9.0   /* and sorted: three passes of a radix sort */
#define PULL_LOOK 1.2
#define PULL_VERTEX 2.5
/* A device's superstep: what the host does for it, 50 to 90 us (of 50 vertices on a device that does not
 * exist, whose verbs do next to nothing), its launches, and waiting for its counts; a byte of what it reads
 * and writes, of which fields take so many passes; and a byte that moves there or home, where the device does
 * not say. But for the first, orders of magnitude of a GPU, which rest on no measurement. */
#define THERE 100e3
#define THERE_BYTE 1e-3
#define PASSES 4
#define LINK_BYTE 0.08

static double at_most(double x, double y) { return x < y ? x : y; }

ftb_vertex_costs ftb_vertex_costs_of(const ftb_vertex_facts *f)
{
    const double threads = f->threads, n = (double)f->n, nvals = (double)f->nvals, left = (double)f->left,
                 edges = (double)f->edges, open = at_most((double)f->open, left),
                 senders = (double)f->active * SENDER;
    double push, pull;
    if (f->first) {
        /* A vertex finds an active one among nvals / edges entries. */
        const double looks = at_most(left, open * nvals / (edges > 1 ? edges : 1));
        push = senders + edges * EDGE + at_most(edges, open) * CLAIM;
        pull = (n * VERTEX + open * OPEN + looks * LOOK) / threads;
    } else if (f->bits) {
        push = senders + edges * BITS_EDGE;
        if (f->words)
            push = at_most(push, (edges * BITS_SEND + n * BITS_VERTEX) / threads + senders);
        pull = (n * BITS_VERTEX + nvals * BITS_LOOK) / threads;
    } else if (f->plain) {
        const double share = nvals > 0 ? at_most(1, edges / nvals) : 0;
        const double take = PLAIN_TAKE + PLAIN_GUESS * (1 - share) + (f->far ? PLAIN_FAR : 0);
        push = (senders + edges * PLAIN_EDGE) / threads;
        pull = (n * PLAIN_VERTEX + left * (PLAIN_LOOK + share * take)) / threads;
    } else {
        push = edges * (GATHER + SORT) / threads;
        pull = (left * PULL_LOOK + n * PULL_VERTEX) / threads;
    }
    return (ftb_vertex_costs){push, pull, nvals * TRANSPOSE / threads};
}

bool ftb_rule_vertex_there(const ftb_vertex_facts *f, const ftb_vertex_place *place, double *lost)
{
    const ftb_vertex_costs costs = ftb_vertex_costs_of(f);
    const double bytes = (double)f->nvals * (double)place->entry + PASSES * (double)place->state,
                 here = at_most(costs.push, costs.pull), there = THERE + bytes * THERE_BYTE,
                 link = place->rate > 0 ? 1e9 / place->rate : LINK_BYTE,
                 move = (double)place->state * link + (place->there || f->pull_made ? 0 : costs.transpose);
    if (f->all || (there < here) == place->there) {
        *lost = 0;
        return f->all || place->there;
    }
    *lost += there < here ? here - there : there - here;
    if (*lost < move)
        return place->there;
    *lost = 0;
    return !place->there;
}

FtB_Way ftb_rule_vertex(const ftb_vertex_facts *f, double *missed)
{
    const ftb_vertex_costs costs = ftb_vertex_costs_of(f);
    const double push = costs.push, pull = costs.pull, make = f->pull_made ? 0 : costs.transpose;
    *missed = 0;
    const bool apart = f->first || f->bits; /* loops of their own, which need no product */
    if (apart && f->all && f->any_way && f->wanted >= FTB_WAY_ALL)
        return FTB_WAY_ALL;
    if (!apart && f->all && (!f->any_way || f->wanted == FTB_WAY_AUTO || f->wanted >= FTB_WAY_ALL))
        return FTB_WAY_ALL;
    if (!f->may_push)
        return FTB_WAY_PULL;
    if (f->wanted == FTB_WAY_PUSH || f->wanted == FTB_WAY_PULL)
        return f->wanted;
    if (pull < push && !f->pull_made && f->missed + (push - pull) < make) {
        *missed = push - pull;
        return FTB_WAY_PUSH;
    }
    return push <= pull ? FTB_WAY_PUSH : FTB_WAY_PULL;
}
