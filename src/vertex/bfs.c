/* Breadth-first search: whoever was reached in the last superstep tells its neighbours its number; who was
 * not reached takes the least. Columns of several sources are reached at different times: there the message
 * says whether the sender just was, in each. */
#include "vertex/algorithm.h"

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
    FTB_CHECK(ftb_set_sources(levels, -1, 0, false, sources, nsources));
    if (parents)
        FTB_CHECK(ftb_set_sources(parents, -1, 0, true, sources, nsources));
    if (nsources > 0)
        info = parents ? FtB_run(program, A, FTB_STATE("level", levels, "parent", parents), &o)
                       : FtB_run(program, A, FTB_STATE("level", levels), &o);
done:
    FtB_Program_free(&program);
    return info;
}
