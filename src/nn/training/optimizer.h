/* Insides of an optimiser. */
#ifndef FTB_NN_OPTIMIZER_H
#define FTB_NN_OPTIMIZER_H

#include "core/options.h"
#include "nn/nn.h"
#include "ops/replay.h"
#include "verbs/update_product.h"

#define FTB_MAGIC_OPTIMIZER 0x4654426f

typedef struct ftb_group {
    double lr, decay; /* lr before the schedule */
} ftb_group;

typedef struct ftb_moments {
    FtB_Parameter parameter;    /* retained */
    int64_t group, count;       /* count: values */
    int64_t steps;              /* that it took: it takes part where it has a gradient */
    bool part;                  /* whether it did in the last step */
    ftb_buffer *first, *second; /* of its dtype; NULL where the rule needs none */
} ftb_moments;

/* Where a schedule is. (rate.c) */
typedef struct ftb_schedule_state {
    int64_t epoch;
    int64_t bad;   /* epochs since the metric improved, or the last reduction */
    double best;   /* NaN: no metric yet */
    double factor; /* of plateaus, so far */
} ftb_schedule_state;

struct FtB_Optimizer_opaque {
    uint32_t magic;
    FtB_Context ctx;
    FtB_Update rule;
    FtB_Optimizer_options options; /* defaults filled in */
    int64_t ngroups;
    ftb_group *groups;
    int64_t count;
    ftb_moments *moments;
    ftb_update *how;               /* what a step does to each */
    int64_t done;                  /* how many of them it was done to */
    ftb_replay replay;             /* of steps */
    ftb_buffer *sums;              /* of the squares of each gradient, FP64 */
    FtB_Schedule_options schedule; /* defaults filled in */
    ftb_schedule_state at;
};

GrB_Info ftb_optimizer_check(FtB_Optimizer o);
/* What the learning rates are multiplied by now. */
double ftb_schedule_factor(const FtB_Schedule_options *schedule, const ftb_schedule_state *at);
ftb_schedule_state ftb_schedule_begin(void);
/* Whether a metric is better than the best (NaN: none yet) by more than `least`. NaN never is. */
bool ftb_metric_improves(double metric, double best, double least, bool maximise);

#endif
