/* The named weights of FtB_project: semirings/weights.def as a table. */
#include "ops/ops.h"

#define FTB_WEIGHT(name, unweighted, prepare, semiring, epilogue, formula, summary)                          \
    {name, unweighted, prepare, semiring, epilogue, formula, summary},
static const ftb_weight weights[] = {
#include "weights.def"
};
#undef FTB_WEIGHT
#define COUNT ((int)(sizeof weights / sizeof *weights))

const ftb_weight *ftb_weights(int *count)
{
    *count = COUNT;
    return weights;
}

const ftb_weight *ftb_weight_find(const char *name)
{
    for (int n = 0; n < COUNT; n++)
        if (strcmp(weights[n].name, name) == 0)
            return &weights[n];
    return NULL;
}
