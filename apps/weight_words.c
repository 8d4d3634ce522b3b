/* Names of weights in options; see weight_words.h. */
#include "weight_words.h"

#include "app.h"
#include "ops/ops.h"

enum { MOST = 64 };

const char *const *weight_words(int *count)
{
    static const char *names[MOST];
    const ftb_weight *weights = ftb_weights(count);
    *count = *count < MOST ? *count : MOST;
    for (int w = 0; w < *count; w++)
        names[w] = weights[w].name;
    return names;
}

int weight_check(const char *name)
{
    int count = 0;
    if (ftb_weight_find(name))
        return APP_OK;
    const char *const *names = weight_words(&count);
    return app_unknown("weight", name, count, names, "featblas project --help-weights lists them");
}
