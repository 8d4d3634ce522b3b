/* Learning-rate schedules, by epochs. Linear warm-up: Goyal et al., "Accurate, large minibatch SGD", 2017;
 * cosine: Loshchilov and Hutter, "SGDR", ICLR 2017; plateaus: as PyTorch's ReduceLROnPlateau, relative to the
 * best. */
#include "nn/training/optimizer.h"

#include <math.h>

ftb_schedule_state ftb_schedule_begin(void) { return (ftb_schedule_state){.best = NAN, .factor = 1}; }

double ftb_schedule_factor(const FtB_Schedule_options *s, const ftb_schedule_state *at)
{
    if (at->epoch < s->warmup)
        return (double)(at->epoch + 1) / (double)s->warmup;
    double t = (double)(at->epoch - s->warmup), every = (double)s->every, factor = 1;
    switch (s->rate) {
    case FTB_RATE_CONSTANT:
        break;
    case FTB_RATE_STEP:
        factor = pow(s->factor, floor(t / every));
        break;
    case FTB_RATE_COSINE:
        factor = t < every ? s->least + (1 - s->least) * (1 + cos(M_PI * t / every)) / 2 : s->least;
        break;
    case FTB_RATE_PLATEAU:
        factor = at->factor;
        break;
    }
    return fmax(factor, s->least);
}

bool ftb_metric_improves(double metric, double best, double least, bool maximise)
{
    if (isnan(metric) || isnan(best))
        return !isnan(metric);
    return maximise ? metric > best + least : metric < best - least;
}

GrB_Info FtB_Optimizer_schedule(FtB_Optimizer o, const FtB_Schedule_options *options)
{
    GrB_Info info = ftb_optimizer_check(o);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Schedule_options s = {.size = sizeof s};
    info = ftb_options_read(&s, sizeof s, options, "FtB_Optimizer_schedule", "FTB_SCHEDULE_OPTIONS");
    if (info != GrB_SUCCESS)
        return info;
    if (s.rate < FTB_RATE_CONSTANT || s.rate > FTB_RATE_PLATEAU)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Optimizer_schedule: rate is %d, which is not an FtB_Rate",
                        (int)s.rate);
    if (s.warmup < 0 || s.every < 0 || (s.every == 0 && s.rate == FTB_RATE_COSINE))
        return ftb_fail(
            GrB_INVALID_VALUE,
            "FtB_Optimizer_schedule: warmup is %lld, every %lld; expected epochs >= 0, and every of a cosine",
            (long long)s.warmup, (long long)s.every);
    s.every = s.every ? s.every : 10;
    s.factor = s.factor != 0 ? s.factor : 0.1;
    s.threshold = s.threshold == 0 ? 1e-4 : s.threshold < 0 ? 0 : s.threshold;
    if (!(s.factor > 0 && s.factor < 1 && s.least >= 0 && s.least < 1 && isfinite(s.threshold)))
        return ftb_fail(
            GrB_INVALID_VALUE,
            "FtB_Optimizer_schedule: factor is %g, least %g, threshold %g; expected 0 < factor < 1, 0 <= "
            "least < 1 and a number",
            s.factor, s.least, s.threshold);
    o->schedule = s;
    o->at = ftb_schedule_begin();
    return GrB_SUCCESS;
}

static void see_metric(const FtB_Schedule_options *s, ftb_schedule_state *at, double metric)
{
    double least = isnan(at->best) || isinf(at->best) ? 0 : s->threshold * fabs(at->best);
    if (ftb_metric_improves(metric, at->best, least, s->maximise)) {
        at->best = metric;
        at->bad = 0;
    } else if (++at->bad > s->every) {
        at->factor = fmax(at->factor * s->factor, s->least);
        at->bad = 0;
    }
}

GrB_Info FtB_Optimizer_advance(FtB_Optimizer o, double metric)
{
    GrB_Info info = ftb_optimizer_check(o);
    if (info != GrB_SUCCESS)
        return info;
    if (o->at.epoch >= o->schedule.warmup)
        see_metric(&o->schedule, &o->at, metric);
    o->at.epoch++;
    return GrB_SUCCESS;
}
