/* Initial values of parameters: what is asked for, and how far values are spread (cpu/nn/initial.h). */
#include "cpu/nn/initial.h"
#include "nn/training/optimizer.h"

#include <math.h>

static GrB_Info check(FtB_Block X, FtB_Init how, const FtB_Init_options *o)
{
    GrB_Info info = FtB_Block_shape(X, NULL, NULL, NULL, NULL, NULL);
    if (info != GrB_SUCCESS)
        return info;
    if (X->type != FTB_FP32 && X->type != FTB_FP64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "FtB_init: X is %s; expected fp32 or fp64",
                        FtB_Type_name(X->type));
    if (!ftb_buffer_write(X->owner))
        return ftb_fail(GrB_INVALID_VALUE, "FtB_init: X wraps memory that must not be written");
    if (how < FTB_INIT_ZEROS || how > FTB_INIT_KAIMING_NORMAL)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_init: how is %d, which is not an FtB_Init", (int)how);
    if (o->fan_in < 0 || o->fan_out < 0 || !isfinite(o->gain))
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_init: fan_in %lld, fan_out %lld, gain %g; expected numbers >= 0",
                        (long long)o->fan_in, (long long)o->fan_out, o->gain);
    return ftb_buffer_ask_as(X->owner, FTB_UPDATE, "FtB_init: X");
}

GrB_Info FtB_init(FtB_Block X, FtB_Init how, uint64_t seed, const FtB_Init_options *options)
{
    FtB_Init_options o = {.size = sizeof o};
    GrB_Info info = ftb_options_read(&o, sizeof o, options, "FtB_init", "FTB_INIT_OPTIONS");
    if (info == GrB_SUCCESS)
        info = check(X, how, &o);
    if (info != GrB_SUCCESS)
        return info;
    bool kaiming = how == FTB_INIT_KAIMING_UNIFORM || how == FTB_INIT_KAIMING_NORMAL;
    double in = (double)(o.fan_in ? o.fan_in : X->nrows);
    double out = (double)(o.fan_out ? o.fan_out : X->ncols);
    double gain = o.gain != 0 ? o.gain : kaiming ? sqrt(2) : 1;
    double fan = ftb_max(1, kaiming ? in : in + out); /* of an empty block none is needed */
    switch (how) {
    case FTB_INIT_ZEROS:
        ftb_initial_fill(X, 0);
        break;
    case FTB_INIT_ONES:
        ftb_initial_fill(X, 1);
        break;
    case FTB_INIT_UNIFORM:
    case FTB_INIT_NORMAL:
        ftb_initial_draw(X, seed, gain, how == FTB_INIT_NORMAL);
        break;
    case FTB_INIT_GLOROT_UNIFORM:
    case FTB_INIT_GLOROT_NORMAL:
        ftb_initial_draw(X, seed, gain * sqrt((how == FTB_INIT_GLOROT_UNIFORM ? 6 : 2) / fan),
                         how == FTB_INIT_GLOROT_NORMAL);
        break;
    case FTB_INIT_KAIMING_UNIFORM:
    case FTB_INIT_KAIMING_NORMAL:
        ftb_initial_draw(X, seed, gain * sqrt((how == FTB_INIT_KAIMING_UNIFORM ? 3 : 1) / fan),
                         how == FTB_INIT_KAIMING_NORMAL);
        break;
    }
    return GrB_SUCCESS;
}
