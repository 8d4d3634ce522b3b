/* Where a plan's choices come from. */
#ifndef FTB_PLAN_ORIGIN_H
#define FTB_PLAN_ORIGIN_H

#include <stdbool.h>

typedef enum ftb_origin {
    FTB_ORIGIN_MODEL, /* the cost model, but for what was asked for */
    FTB_ORIGIN_TRIAL, /* FTB_MEASURE */
    FTB_ORIGIN_WISDOM /* FTB_MEASURE of an earlier call */
} ftb_origin;

/* What stands beside the choice in a plan for people. */
static inline const char *ftb_origin_mark(ftb_origin origin, bool asked)
{
    return origin == FTB_ORIGIN_WISDOM  ? "measured, from wisdom"
           : origin == FTB_ORIGIN_TRIAL ? "measured"
           : asked                      ? "asked for"
                                        : "chosen";
}

#endif
