/* Whether a superstep pushes from a list or pulls over the graph: by the work of each. Messages cost the same
 * either way; a push gathers and sorts their edges, on one thread, a pull looks at every entry and vertex. */
#include "plan/vertex_plan.h"

/* Nanoseconds; orders of magnitude on one Zen 3 core, which rest on no measurement of a machine. */
#define GATHER 3.0     /* an edge to be brought together */
#define SORT 9.0       /* and sorted: three passes of a radix sort */
#define LOOK 1.2       /* an entry of a pull: its column, and a bit */
#define VERTEX 2.5     /* a vertex of a pull: its row, a byte and a place of the list of receivers */
#define TRANSPOSE 10.0 /* an entry of a pattern that is not there yet */

FtB_Way ftb_rule_vertex(const ftb_vertex_facts *f)
{
    const double threads = f->threads;
    const double push = (double)f->edges * (GATHER / threads + SORT);
    double pull = ((double)f->nvals * LOOK + (double)f->n * VERTEX) / threads;
    if (!f->pull_made)
        pull += (double)f->nvals * TRANSPOSE / threads;
    if (f->all && (!f->any_way || f->wanted == FTB_WAY_AUTO || f->wanted >= FTB_WAY_ALL))
        return FTB_WAY_ALL;
    if (!f->may_push)
        return FTB_WAY_PULL;
    if (f->wanted == FTB_WAY_PUSH || f->wanted == FTB_WAY_PULL)
        return f->wanted;
    return push <= pull ? FTB_WAY_PUSH : FTB_WAY_PULL;
}
