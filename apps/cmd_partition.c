/* featblas partition: cuts a graph into parts, or looks at parts that a file says, and prints how good they
 * are. */
#include "app.h"
#include "format_words.h"
#include "graph_names.h"
#include "partition_file.h"
#include "reader.h"

#include <stdlib.h>

typedef struct partition_values {
    reader_values reader;
    const char *labels, *output;
    int64_t parts, seed;
} partition_values;

#define FIELD(name) .offset = offsetof(partition_values, name)

static const option partition_options[] = {
    {.heading = "Parts"},
    {.name = "parts",
     .kind = OPTION_INTEGER,
     FIELD(parts),
     .argument = "N",
     .low = 1,
     .high = INT32_MAX,
     .help = "Cut the graph into N parts of about as many vertices."},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     FIELD(seed),
     .argument = "S",
     .low = 0,
     .help = "Another partition for each. Default: 0."},
    {.name = "labels",
     .kind = OPTION_FILE,
     FIELD(labels),
     .argument = "FILE",
     .help = "In place of --parts: the part of each vertex, from 0, a number a line or .npy."},
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     FIELD(output),
     .written = true,
     .form = FORM_BLOCK,
     .argument = "FILE",
     .list = formats_block_endings,
     .help = "Write the part of each vertex, a number a line; the name's ending, {}, tells the format. "
             "Default: print how good they are alone."},
    {.name = NULL}};

typedef struct work {
    const partition_values *v;
    graph_names names;
    FtB_Matrix A;
    int64_t n, nparts;
    int32_t *labels;
} work;

static int check(const partition_values *v)
{
    if (!v->parts == !v->labels)
        return app_fail(APP_USAGE, "expected --parts N or --labels FILE%s", v->parts ? ", not both" : "");
    if (v->labels && v->seed > 0)
        return app_fail(APP_USAGE, "--seed means nothing with --labels");
    return APP_OK;
}

static int make_labels(work *w)
{
    if (w->v->parts > w->n)
        return app_fail(APP_USAGE, "--parts: %lld parts of %lld vertices", (long long)w->v->parts,
                        (long long)w->n);
    w->labels = malloc(sizeof *w->labels * (size_t)(w->n + 1));
    if (!w->labels)
        return app_fail(APP_MEMORY, "out of memory");
    w->nparts = w->v->labels ? INT32_MAX : w->v->parts;
    if (w->v->labels)
        return partition_read(w->labels, w->n, &w->nparts, w->v->labels);
    return graph_error(
        FtB_partition(w->labels, w->A, w->nparts, FTB_PARTITION_OPTIONS(.seed = (uint64_t)w->v->seed)),
        APP_USAGE, &w->names);
}

static int print(const work *w)
{
    char a[32], b[32];
    int64_t cut, largest, nvals;
    GrB_Info info = FtB_partition_measure(&cut, &largest, w->A, w->labels, w->nparts);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_shape(w->A, NULL, NULL, &nvals, NULL, NULL);
    if (info != GrB_SUCCESS)
        return graph_error(info, APP_OUTPUT, &w->names);
    app_end();
    printf("%s parts of %s vertices\n", app_thousands(a, w->nparts), app_thousands(b, w->n));
    printf("%-8s %15s of %s edges, %.2f %%\n", "cut", app_thousands(a, cut), app_thousands(b, nvals),
           nvals > 0 ? 100 * (double)cut / (double)nvals : 0);
    printf("%-8s %15s vertices, %.3f times the mean\n", "largest", app_thousands(a, largest),
           w->n > 0 ? (double)largest * (double)w->nparts / (double)w->n : 0);
    return APP_OK;
}

static int run_partition(const void *values, int count, char *const *operands)
{
    work w = {.v = values, .names.path = operands[0]};
    (void)count;
    int code = check(w.v);
    if (code == APP_OK)
        code = reader_graph(&w.v->reader, operands[0], &w.A, &w.n, &w.names.base);
    if (code == APP_OK)
        code = make_labels(&w);
    if (code == APP_OK && w.v->output)
        code = partition_write(w.labels, w.n, w.v->output);
    if (code == APP_OK)
        code = print(&w);
    FtB_Matrix_free(&w.A);
    free(w.labels);
    return code;
}

const command command_partition = {
    .name = "partition",
    .operands = "GRAPH|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "cut a graph into parts with few edges between them",
    .description =
        "Cuts a graph into parts of about as many vertices by METIS, and prints how many edges are "
        "between parts and how large the largest one is. featblas train --sampler cluster trains on "
        "them.",
    .examples = "  $ featblas partition products.npz --parts 1500 -o parts.npy\n"
                "  $ featblas partition products.npz --labels parts.npy\n",
    .reads = true,
    .options = partition_options,
    .writes = true,
    .size = sizeof(partition_values),
    .run = run_partition};
