/* Breadth-first search: whoever was reached in the last superstep tells its neighbours its number; who was
 * not reached takes the least. Columns of several sources are reached at different times: there the message
 * says whether the sender just was, in each. */
#include "vertex/algorithm.h"
#include "vertex/run.h"

#define LEVELS (FTB_TYPE_BIT(FTB_INT32) | FTB_TYPE_BIT(FTB_INT64) | FTB_TYPE_BIT(FTB_FP64))

static const FtB_Program_texts one_source = {.size = sizeof one_source,
                                             .send = "id",
                                             .combine = "min : message",
                                             .apply = "level = round",
                                             .settled = "level >= 0"};
static const FtB_Program_texts one_with_parents = {.size = sizeof one_with_parents,
                                                   .send = "id",
                                                   .combine = "min : message",
                                                   .apply = "level = round; parent = received",
                                                   .settled = "level >= 0"};
static const FtB_Program_texts levels_only = {.size = sizeof levels_only,
                                              .send = "level == round - 1",
                                              .combine = "or : message",
                                              .apply = "level = level < 0 && received ? round : level",
                                              .settled = "level >= 0"};
static const FtB_Program_texts with_parents = {.size = sizeof with_parents,
                                               .send = "level == round - 1 ? id : n",
                                               .combine = "min : message",
                                               .apply =
                                                   "level = level < 0 && received < n ? round : level; "
                                                   "parent = level < 0 && received < n ? received : parent",
                                               .settled = "level >= 0"};

enum { AT_ONCE = 64 }; /* columns, which are bits then */

/* What columns are before the first superstep. */
static GrB_Info begin(FtB_Block levels, FtB_Block parents, FtB_Ids from)
{
    GrB_Info info = ftb_set_sources(levels, -1, 0, false, from.at, from.count);
    if (info == GrB_SUCCESS && parents)
        info = ftb_set_sources(parents, -1, 0, true, from.at, from.count);
    return info;
}

/* Columns of o->start.count sources. What they are to begin with is written where the search does not itself.
 */
static GrB_Info search(FtB_Block levels, FtB_Block parents, FtB_Program program, FtB_Matrix A,
                       const FtB_Run_options *o)
{
    const FtB_Ids from = o->start;
    FtB_Run run;
    GrB_Info info = ftb_vertex_run_new(
        &run, program, A,
        parents ? FTB_STATE("level", levels, "parent", parents) : FTB_STATE("level", levels), o, "FtB_bfs");
    if (info != GrB_SUCCESS) {
        (void)begin(levels, parents, from);
        return info;
    }
    run->closed = true;
    if (!ftb_vertex_begin_blank(run, from.at))
        info = begin(levels, parents, from);
    if (info == GrB_SUCCESS)
        return ftb_vertex_run_to_end(run);
    FtB_Run_free(&run);
    return info;
}

/* Columns first .. first + o->start.count - 1. */
static GrB_Info search_some(FtB_Block levels, FtB_Block parents, int64_t first, FtB_Program program,
                            FtB_Matrix A, const FtB_Run_options *o)
{
    FtB_Block some = NULL, theirs = NULL;
    GrB_Info info = FtB_Block_columns(&some, levels, first, o->start.count);
    if (info == GrB_SUCCESS && parents)
        info = FtB_Block_columns(&theirs, parents, first, o->start.count);
    if (info == GrB_SUCCESS)
        info = search(some, theirs, program, A, o);
    FtB_Block_free(&some);
    FtB_Block_free(&theirs);
    return info;
}

/* Columns that nobody has searched from are as before the first superstep. */
static void begin_rest(FtB_Block levels, FtB_Block parents, FtB_Ids all, int64_t first)
{
    const FtB_Ids rest = {all.at + first, all.count - first};
    FtB_Block some = NULL, theirs = NULL;
    if (FtB_Block_columns(&some, levels, first, rest.count) == GrB_SUCCESS &&
        (!parents || FtB_Block_columns(&theirs, parents, first, rest.count) == GrB_SUCCESS))
        (void)begin(some, theirs, rest);
    FtB_Block_free(&some);
    FtB_Block_free(&theirs);
}

/* All of them, AT_ONCE columns after the other; supersteps are those of the longest run. */
static GrB_Info search_all(FtB_Block levels, FtB_Block parents, FtB_Program program, FtB_Matrix A,
                           const FtB_Run_options *given)
{
    const FtB_Ids all = given->start;
    FtB_Run_options o = *given;
    int64_t taken = 0, most = 0, c = 0;
    GrB_Info info = GrB_SUCCESS;
    o.supersteps = &taken;
    for (; c < all.count && info == GrB_SUCCESS; c += AT_ONCE) {
        o.start = (FtB_Ids){all.at + c, ftb_min(AT_ONCE, all.count - c)};
        info = search_some(levels, parents, c, program, A, &o);
        most = ftb_max(most, taken);
    }
    if (c < all.count)
        begin_rest(levels, parents, all, c);
    if (given->supersteps)
        *given->supersteps = most;
    return info;
}

GrB_Info FtB_bfs(FtB_Block levels, FtB_Block parents, FtB_Matrix A, const int64_t *sources, int64_t nsources,
                 const FtB_Run_options *options)
{
    FtB_Program program = NULL;
    FtB_Run_options o;
    GrB_Info info;
    FTB_CHECK(ftb_check_result(levels, "levels", A, nsources, LEVELS));
    if (parents)
        FTB_CHECK(ftb_check_result(parents, "parents", A, nsources, FTB_TYPE_BIT(FTB_INT64)));
    FTB_CHECK(ftb_check_sources(A, sources, nsources));
    FTB_CHECK(ftb_start_at(&o, options, sources, nsources, "FtB_bfs"));
    const bool one = nsources == 1;
    const FtB_Program_texts *texts =
        parents ? (one ? &one_with_parents : &with_parents) : (one ? &one_source : &levels_only);
    FTB_CHECK(FtB_Program_new(&program, texts));
    if (nsources > 0)
        info = nsources <= AT_ONCE ? search(levels, parents, program, A, &o)
                                   : search_all(levels, parents, program, A, &o);
done:
    FtB_Program_free(&program);
    return info;
}
