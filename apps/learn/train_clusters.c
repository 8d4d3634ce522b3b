/* Clusters to train on: read from a file, or made by METIS. */
#include "learn/train.h"
#include "partition_file.h"

#include "core/draws.h"

#include <stdlib.h>

double train_partition_mark(const train *t)
{
    uint64_t mark = 0;
    for (int64_t v = 0; t->partition && v < t->set.nvertices; v++)
        mark = ftb_random_mix(mark, (uint64_t)t->partition[v], (uint64_t)v);
    return (double)(mark >> 11);
}

int train_partition(train *t)
{
    train_sampling *how = &t->plan.sampling;
    const char *file = t->values->partition;
    int code = APP_OK;
    if (file && how->clusters == 0)
        return app_fail(APP_USAGE, "--partition means nothing to the training that %s has",
                        t->values->resume);
    if (how->clusters == 0)
        return APP_OK;
    if (!file && how->clusters > t->set.nvertices)
        return app_fail(APP_USAGE, "--clusters: %lld clusters of %lld vertices", (long long)how->clusters,
                        (long long)t->set.nvertices);
    t->partition = malloc(sizeof *t->partition * (size_t)(t->set.nvertices + 1));
    if (!t->partition)
        return app_fail(APP_MEMORY, "out of memory");
    if (file)
        code = partition_read(t->partition, t->set.nvertices, &how->clusters, file);
    else
        code = app_library_error(FtB_partition(t->partition, t->set.graph, how->clusters, NULL), APP_USAGE);
    if (code == APP_OK && t->resume && train_partition_mark(t) != t->resumed_mark)
        code = app_fail(APP_INPUT, "%s: was trained on other clusters than %s", t->values->resume,
                        file ? file : "METIS gives here; expected --partition FILE");
    return code;
}
