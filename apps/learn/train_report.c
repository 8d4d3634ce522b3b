/* What train says: lines for people, a JSON object for programs, a picture of the learning curve. */
#include "learn/train.h"

#include "cpu/dense_run.h"
#include "picture.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines */

static void announce_data(const train *t)
{
    char a[32], b[32], c[32], d[32];
    const dataset *set = &t->set;
    app_print(stderr, "%s: %s vertices, %s edges, %s features%s, ", t->path, app_thousands(a, set->nvertices),
              app_thousands(b, set->nedges), app_thousands(c, set->nfeatures),
              t->model.rows == MODEL_ROWS_NORMALISED ? " (rows normalised)" : "");
    if (t->model.task == MODEL_CLASSES)
        fprintf(stderr, "%s classes", app_thousands(d, set->nclasses));
    else
        fprintf(stderr, "%s %stargets", app_thousands(d, set->ntargets),
                t->model.task == MODEL_BINARY ? "binary " : "");
    fprintf(stderr, "; %s to train, %s to validate, %s to test\n",
            app_thousands(a, set->part_count[DATASET_TRAIN]), app_thousands(b, set->part_count[DATASET_VAL]),
            app_thousands(c, set->part_count[DATASET_TEST]));
}

void train_announce(const train *t)
{
    const model_options *o = &t->model;
    if (t->values->learn.common.quiet)
        return;
    announce_data(t);
    fprintf(stderr, "%s: %lld layer%s", o->kind->name, (long long)o->layers, o->layers == 1 ? "" : "s");
    if (o->layers > 1 && o->heads > 1)
        fprintf(stderr, ", %lld x %lld hidden", (long long)o->heads, (long long)o->hidden);
    else if (o->layers > 1)
        fprintf(stderr, ", %lld hidden", (long long)o->hidden);
    if (o->hops > 0)
        fprintf(stderr, ", %lld hops", (long long)o->hops);
    fprintf(stderr, ", dropout %g, learning rate %g, weight decay %g, at most %lld epochs\n", o->dropout,
            t->plan.lr, t->plan.weight_decay, (long long)t->plan.epochs);
    if (t->plan.sampling.nhops > 0) {
        fprintf(stderr, "mini-batches of %lld", (long long)t->plan.sampling.batch);
        for (int h = 0; h < t->plan.sampling.nhops; h++)
            if (t->plan.sampling.fanouts[h] < 0)
                fprintf(stderr, "%s all", h > 0 ? "," : ", neighbours:");
            else
                fprintf(stderr, "%s %lld",
                        h > 0 ? "," : ", neighbours:", (long long)t->plan.sampling.fanouts[h]);
        fputc('\n', stderr);
    }
    if (t->plan.sampling.clusters > 0)
        fprintf(stderr, "mini-batches of %lld of %lld clusters\n", (long long)t->plan.sampling.each,
                (long long)t->plan.sampling.clusters);
    if (ftb_dense_slow())
        fprintf(stderr, "%s\n", ftb_dense_slow());
}

void train_report_run(const train *t, const train_run *run)
{
    char memory[32];
    const int64_t here = run->count - run->first;
    const train_score *k = run->kept;
    if (t->values->learn.common.quiet)
        return;
    if (app_signal())
        fputs("interrupted; ", stderr);
    fprintf(stderr, "seed %llu: %lld epochs, %s %.4f", (unsigned long long)run->seed, (long long)run->count,
            train_score_name(t), k[DATASET_TRAIN].score);
    if (!isnan(k[DATASET_VAL].score))
        fprintf(stderr, ", validation %.4f", k[DATASET_VAL].score);
    if (!isnan(k[DATASET_TEST].score))
        fprintf(stderr, ", test %.4f", k[DATASET_TEST].score);
    if (run->count > 0)
        fprintf(stderr, " (epoch %lld)", (long long)run->best + 1);
    fprintf(stderr, "; %.2f s", run->seconds);
    if (here > 0)
        fprintf(stderr, ", %.2f ms an epoch", 1e3 * run->seconds / (double)here);
    fprintf(stderr, ", peak %s\n", app_bytes(memory, (double)app_peak_memory()));
    if (run->gathered > 0)
        fprintf(stderr, "features: %lld rows on the device, hit rate %.4f of %lld gathered\n",
                (long long)run->cached, (double)run->hits / (double)run->gathered, (long long)run->gathered);
}

/* Mean and deviation (of a sample) of a part's score over the runs. */
static void summarise(const train *t, dataset_part part, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    const double n = (double)t->nruns;
    for (int64_t r = 0; r < t->nruns; r++)
        sum += t->runs[r].kept[part].score;
    *mean = sum / n;
    for (int64_t r = 0; r < t->nruns; r++)
        squares += pow(t->runs[r].kept[part].score - *mean, 2);
    *deviation = t->nruns > 1 ? sqrt(squares / (n - 1)) : 0;
}

void train_report(const train *t)
{
    static const char *const names[] = {"training", "validation", "test"};
    for (int p = 0; p < DATASET_PARTS; p++) {
        double mean, deviation;
        summarise(t, (dataset_part)p, &mean, &deviation);
        if (isnan(mean))
            continue;
        printf("%-10s %s %.4f", names[p], train_score_name(t), mean);
        if (t->nruns > 1)
            printf(" +- %.4f over %lld seeds", deviation, (long long)t->nruns);
        putchar('\n');
    }
}

/* ---- JSON */

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *scores_json(const train_score scores[DATASET_PARTS])
{
    json_t *all = json_object();
    for (int p = 0; p < DATASET_PARTS && all; p++)
        json_object_set_new(
            all, dataset_part_name((dataset_part)p),
            json_pack("{s:o, s:o}", "loss", number(scores[p].loss), "score", number(scores[p].score)));
    return all;
}

static json_t *epochs_json(const train_run *run)
{
    json_t *list = json_array();
    for (int64_t e = 0; e < run->count - run->first && list; e++) {
        const train_epoch *at = &run->epochs[e];
        json_array_append_new(list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "epoch",
                                              (json_int_t)(run->first + e + 1), "loss", number(at->loss),
                                              "train", number(at->part[DATASET_TRAIN].score), "val_loss",
                                              number(at->part[DATASET_VAL].loss), "val",
                                              number(at->part[DATASET_VAL].score), "test",
                                              number(at->part[DATASET_TEST].score)));
    }
    return list;
}

static json_t *runs_json(const train *t)
{
    json_t *list = json_array();
    for (int64_t r = 0; r < t->nruns && list; r++) {
        const train_run *run = &t->runs[r];
        json_t *one =
            json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "seed", (json_int_t)run->seed, "epochs_done",
                      (json_int_t)run->count, "best_epoch", (json_int_t)(run->best + 1), "seconds",
                      number(run->seconds), "scores", scores_json(run->kept), "epochs", epochs_json(run));
        if (one && run->gathered > 0)
            json_object_set_new(one, "features",
                                json_pack("{s:I, s:I, s:I}", "kept", (json_int_t)run->cached, "gathered",
                                          (json_int_t)run->gathered, "hits", (json_int_t)run->hits));
        json_array_append_new(list, one);
    }
    return list;
}

int train_report_json(const train *t)
{
    const model_options *o = &t->model;
    json_t *root = json_pack(
        "{s:s, s:{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f}, s:{s:I, s:I, s:I, s:I}, s:f, s:f, s:s, s:b, s:I}",
        "data", t->path, "model", "kind", o->kind->name, "layers", (json_int_t)o->layers, "hidden",
        (json_int_t)o->hidden, "heads", (json_int_t)o->heads, "features", (json_int_t)o->nfeatures, "outputs",
        (json_int_t)o->noutputs, "parameters", (json_int_t)t->parameters, "dropout", o->dropout, "vertices",
        "all", (json_int_t)t->set.nvertices, "train", (json_int_t)t->set.part_count[DATASET_TRAIN], "val",
        (json_int_t)t->set.part_count[DATASET_VAL], "test", (json_int_t)t->set.part_count[DATASET_TEST], "lr",
        t->plan.lr, "weight_decay", t->plan.weight_decay, "score", train_score_name(t), "interrupted",
        app_signal() != 0, "peak_bytes", (json_int_t)app_peak_memory());
    for (int p = 0; p < DATASET_PARTS && root; p++) {
        double mean, deviation;
        summarise(t, (dataset_part)p, &mean, &deviation);
        json_object_set_new(root, dataset_part_name((dataset_part)p),
                            json_pack("{s:o, s:o}", "mean", number(mean), "deviation", number(deviation)));
    }
    if (root)
        json_object_set_new(root, "runs", runs_json(t));
    return app_print_json(root);
}

/* ---- picture: of several runs their mean */

enum { CURVES = 5 };

static double value_of(const train_epoch *e, int curve)
{
    const double values[CURVES] = {e->loss, e->part[DATASET_VAL].loss, e->part[DATASET_TRAIN].score,
                                   e->part[DATASET_VAL].score, e->part[DATASET_TEST].score};
    return values[curve];
}

/* The mean over the runs that got as far; NAN where there is none. */
static void fill_series(const train *t, int curve, int64_t length, double *values)
{
    for (int64_t e = 0; e < length; e++) {
        double sum = 0, count = 0;
        for (int64_t r = 0; r < t->nruns; r++)
            if (e < t->runs[r].count - t->runs[r].first) {
                sum += value_of(&t->runs[r].epochs[e], curve);
                count++;
            }
        values[e] = sum / count;
    }
}

static bool any_number(const double *values, int64_t count)
{
    for (int64_t e = 0; e < count; e++)
        if (isfinite(values[e]))
            return true;
    return false;
}

/* The score of what is drawn: of one run that of the weights that are kept, of several their mean. */
static const char *curves_subtitle(char *out, size_t room, const train *t)
{
    const dataset_part part = isnan(t->runs[0].kept[DATASET_TEST].score) ? DATASET_TRAIN : DATASET_TEST;
    char runs[80] = "";
    double mean, deviation;
    summarise(t, part, &mean, &deviation);
    if (t->nruns > 1)
        snprintf(runs, sizeof runs, " (deviation %.4f); all are means of %lld runs", deviation,
                 (long long)t->nruns);
    snprintf(out, room, "%s, %lld parameters; %s %.4f on the %s vertices%s", t->model.kind->name,
             (long long)t->parameters, train_score_name(t), mean, part == DATASET_TRAIN ? "training" : "test",
             runs);
    return out;
}

int train_draw(const train *t, const char *path)
{
    static const char *const names[CURVES] = {"training, with dropout", "validation", "training",
                                              "validation", "test"};
    draw_numbers series[CURVES];
    draw_curves curves = {.title = t->path, .panels = {"loss", train_score_name(t)}, .series = series};
    draw_request request = {.kind = DRAW_CURVES, .curves = &curves};
    char subtitle[240];
    int64_t length = 0;
    for (int64_t r = 0; r < t->nruns; r++)
        length = t->runs[r].count - t->runs[r].first > length ? t->runs[r].count - t->runs[r].first : length;
    if (length == 0)
        return app_fail(APP_FAILURE, "%s: no epoch was done, so there is no curve to draw", path);
    double *values = malloc((size_t)(CURVES * length) * sizeof *values);
    if (!values)
        return app_fail(APP_MEMORY, "out of memory");
    const train_run *best = &t->runs[t->best_run];
    curves.subtitle = curves_subtitle(subtitle, sizeof subtitle, t);
    curves.first = best->first + 1;
    curves.marked = t->nruns == 1 ? best->best + 1 : 0;
    for (int k = 0; k < CURVES; k++) {
        fill_series(t, k, length, values + k * length);
        if (any_number(values + k * length, length))
            series[curves.count++] =
                (draw_numbers){names[k], k < 2 ? 0 : 1, k < 2 ? k : k - 2, length, values + k * length};
    }
    int code = picture_write(&request, path);
    free(values);
    return code;
}
