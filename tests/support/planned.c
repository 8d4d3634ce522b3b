#include "support/planned.h"

#include "core/core.h"
#include "support/check.h"

GrB_Info planned_force(FtB_Plan plan, const planned *choices)
{
    const char *const set[][2] = {
        {"kernel", choices->kernel}, {"segment", choices->segment}, {"tile", choices->tile}};
    GrB_Info info = GrB_SUCCESS;
    for (int c = 0; c < 3 && info == GrB_SUCCESS; c++)
        if (set[c][1])
            info = FtB_Plan_set(plan, set[c][0], set[c][1]);
    return info;
}

GrB_Info planned_descriptor(FtB_Descriptor *desc, FtB_Descriptor like, FtB_Plan plan)
{
    ftb_flags flags;
    GrB_Info info;
    FTB_CHECK(FtB_Descriptor_new(desc));
    FTB_CHECK(ftb_arg_descriptor(&flags, FTB_ARG(like)));
    FTB_CHECK(FtB_Descriptor_set(*desc, FTB_TRANSPOSE0, flags.transpose0));
    FTB_CHECK(FtB_Descriptor_set(*desc, FTB_TRANSPOSE1, flags.transpose1));
    FTB_CHECK(FtB_Descriptor_set(*desc, FTB_STRUCTURAL, flags.structural));
    FTB_CHECK(FtB_Descriptor_set(*desc, FTB_COMPLEMENT, flags.complement));
    FTB_CHECK(FtB_Descriptor_set(*desc, FTB_REPLACE, flags.replace));
    FTB_CHECK(FtB_Descriptor_set(*desc, FTB_FILL, flags.fill));
    info = FtB_Descriptor_set(*desc, FTB_PLAN, plan);
done:
    return info;
}

double planned_figure(FtB_Plan plan, const char *key)
{
    double figure;
    assert_ok(FtB_Plan_get(plan, key, &figure));
    return figure;
}

static void explain(char *text, size_t room, FtB_Plan plan)
{
    memset(text, 0, room);
    FILE *file = fmemopen(text, room - 1, "w");
    assert_non_null(file);
    assert_ok(FtB_Plan_explain(plan, file));
    assert_int_equal(fclose(file), 0);
}

bool planned_says(FtB_Plan plan, const char *words)
{
    char text[4096];
    explain(text, sizeof text, plan);
    return strstr(text, words) != NULL;
}

void assert_plan_says(FtB_Plan plan, const char *words)
{
    char text[4096];
    explain(text, sizeof text, plan);
    if (!strstr(text, words))
        fail_msg("'%s' is not in: %s", words, text);
}
