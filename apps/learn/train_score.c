/* Losses and scores of a model's outputs: cross-entropy and accuracy of classes, mean squared error and its
 * root of targets, binary cross-entropy and accuracy of binary targets. Vertices without a label are passed
 * over. */
#include "learn/train.h"

#include "core/core.h"

#include <math.h>

static void add_class(train_sums *s, const float *y, int64_t n, int32_t label, bool loss)
{
    int64_t largest = 0;
    double sum = 0;
    for (int64_t c = 1; c < n; c++)
        if (y[c] > y[largest])
            largest = c;
    for (int64_t c = 0; c < n && loss; c++)
        sum += exp((double)y[c] - (double)y[largest]);
    s->loss += loss ? log(sum) + (double)y[largest] - (double)y[label] : 0;
    s->score += largest == label;
    s->count++;
}

static void add_targets(train_sums *s, const float *y, const float *targets, int64_t n, bool binary)
{
    for (int64_t c = 0; c < n; c++) {
        double x = (double)y[c], t = (double)targets[c];
        if (isnan(t))
            continue;
        s->loss += binary ? log1p(exp(-fabs(x))) + fmax(x, 0) - x * t : (x - t) * (x - t);
        s->score += binary ? (x > 0) == (t > 0.5) : (x - t) * (x - t);
        s->count++;
    }
}

void train_score_rows(train_sums s[DATASET_PARTS], FtB_Block Y, const int64_t *vertices, const dataset *set,
                      model_task task, unsigned losses)
{
    for (int64_t r = 0; r < Y->nrows; r++)
        for (int p = 0; p < DATASET_PARTS; p++) {
            const float *y = (const float *)ftb_block_data(Y) + r * Y->ld;
            const int64_t i = vertices ? vertices[r] : r;
            if (!set->part[p] || !set->part[p][i])
                continue;
            if (task != MODEL_CLASSES)
                add_targets(&s[p], y, (const float *)ftb_block_data(set->targets) + i * set->targets->ld,
                            Y->ncols, task == MODEL_BINARY);
            else if (set->labels[i] >= 0)
                add_class(&s[p], y, Y->ncols, set->labels[i], losses >> p & 1);
        }
}

void train_score_end(train_score scores[DATASET_PARTS], const train_sums s[DATASET_PARTS], model_task task,
                     unsigned losses)
{
    for (int p = 0; p < DATASET_PARTS; p++) {
        double mean = s[p].score / s[p].count; /* NaN: of nothing */
        scores[p].loss = losses >> p & 1 ? s[p].loss / s[p].count : NAN;
        scores[p].score = task == MODEL_TARGETS ? sqrt(mean) : mean;
    }
}

void train_scores(train_score scores[DATASET_PARTS], FtB_Block Y, const dataset *set, model_task task,
                  unsigned losses)
{
    train_sums s[DATASET_PARTS] = {{0}};
    train_score_rows(s, Y, NULL, set, task, losses);
    train_score_end(scores, s, task, losses);
}
