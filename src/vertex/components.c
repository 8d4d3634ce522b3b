/* Weakly connected components: the least number spreads. */
#include "vertex/algorithm.h"

static GrB_Info number_all(FtB_Block labels)
{
    GrB_Info info = ftb_buffer_ask(labels->owner, FTB_UPDATE);
    if (info != GrB_SUCCESS)
        return info;
    void *to = ftb_block_data(labels);
    for (int64_t v = 0; v < labels->nrows; v++)
        if (labels->type == FTB_INT32)
            ((int32_t *)to)[v * labels->ld] = (int32_t)v;
        else
            ((int64_t *)to)[v * labels->ld] = v;
    return FtB_Block_changed(labels);
}

GrB_Info FtB_components(FtB_Block labels, FtB_Matrix A, const FtB_Run_options *options)
{
    FtB_Program program = NULL;
    FtB_Run_options o;
    GrB_Info info;
    FTB_CHECK(ftb_check_result(labels, "labels", A, 1, FTB_TYPE_BIT(FTB_INT32) | FTB_TYPE_BIT(FTB_INT64)));
    if (labels->type == FTB_INT32 && labels->nrows > FTB_INT32_LIMIT)
        FTB_CHECK(ftb_fail(GrB_DOMAIN_MISMATCH,
                           "labels: dtype int32 cannot hold the numbers of %lld vertices",
                           (long long)labels->nrows));
    FTB_CHECK(ftb_start_at(&o, options, NULL, -1, "FtB_components"));
    FTB_CHECK(FtB_Program_new(&program,
                              FTB_PROGRAM(.send = "label", .combine = "min : message",
                                          .apply = "label = min(label, received)", .direction = FTB_BOTH)));
    FTB_CHECK(number_all(labels));
    info = FtB_run(program, A, FTB_STATE("label", labels), &o);
done:
    FtB_Program_free(&program);
    return info;
}
