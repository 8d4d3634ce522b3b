/* What trials vary of a product and wisdom remembers, and where a plan's choices come
 * from.
 */
#ifndef FTB_PLAN_CHOICE_H
#define FTB_PLAN_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#define FTB_MOST_SEGMENT 65536 /* columns are 16 bits, counted from the segment's first */
#define FTB_MOST_PARTS 65536

/* In units of the operation's plan. Without padding, so that choices are compared and kept as bytes. */
typedef struct ftb_choice {
    int32_t family;
    int32_t ordered;     /* 0, 1; counts where parts do */
    int64_t segment;     /* 0: none */
    int64_t tile, parts; /* 0: left to the rule */
    int64_t nanoseconds; /* that it took */
} ftb_choice;

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
