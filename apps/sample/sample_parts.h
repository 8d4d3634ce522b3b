/* What the parts of `featblas sample` share: its options, what it reads, where it writes. */
#ifndef APP_SAMPLE_PARTS_H
#define APP_SAMPLE_PARTS_H

#include "app.h"
#include "fanouts.h"
#include "graph_names.h"

typedef struct sample_values {
    reader_values reader;
    const char *graph, *seeds, *type, *fanout, *output, *key, *times, *until, *exclude;
    option_texts relations;
    int64_t random, batch, seed, iterations, negative, walk, walks;
    int sampler, format, replace, disjoint, once, self, edges, reverse, global, loops;
    double threshold, restart, p, q;
} sample_values;

/* A relation as --relation names it: NAME:SOURCE:DESTINATION=FILE. */
typedef struct sample_relation {
    char *text; /* ours, of which the next four are parts */
    const char *name, *source, *destination, *file;
    FtB_Matrix A;
    int64_t base; /* of the file's numbers */
} sample_relation;

typedef struct sample_work {
    const sample_values *v;
    FtB_Matrix A; /* --graph's */
    sample_relation relation[OPTION_TEXTS_MOST];
    int nrelations;
    FtB_Relations list; /* of the same; NULL: there are none */
    int type;           /* of the seeds */
    int64_t n;          /* vertices of that type */
    graph_names names;  /* of --graph's file, or of the first relation's */
    int64_t *seeds, nseeds;
    int64_t fanouts[OPTION_TEXTS_MOST * FANOUTS]; /* of each relation, one after the other */
    int nhops;
    int64_t *times, ntimes, *until, *excluded, nexcluded;
    int64_t batches;
    int64_t found[FANOUTS + 1], picked[FANOUTS]; /* of all batches; of all relations and types */
    int64_t negatives, steps, ended; /* the same: pairs; steps of walks, and walks that ended early */
    double seconds;
    char *path; /* of what is written, so far */
    size_t room;
} sample_work;

/* Seeds of a batch. */
static inline int64_t sample_batch_size(const sample_work *w, int64_t batch)
{
    const int64_t rest = w->nseeds - batch * w->v->batch;
    return rest < w->v->batch ? rest : w->v->batch;
}

/* ---- input (sample_input.c); all return exit codes */

int sample_read(sample_work *w); /* graphs, seeds, fanouts, times, exclusions */
void sample_end(sample_work *w);
/* What a type's numbers in texts begin with: as all files that have it number it; else a message that says
 * where they are wanted, and what was expected. */
int sample_base(const sample_work *w, int type, int64_t *base, const char *where, const char *expected);

/* ---- output (sample_write.c) */

int sample_make_folder(sample_work *w);
/* --output's file of a batch: "000000.WHAT", or, of a hop that is not -1, "000000.WHATn", and its ending. */
const char *sample_path(sample_work *w, int64_t batch, const char *what, int hop, const char *ending);
bool sample_is_text(const sample_work *w);
/* A list as a column; `base` is added to what is not -1. */
GrB_Info sample_write_list(const char *path, FtB_Ids list, int64_t base);
/* A matrix, as npz or tsv. */
GrB_Info sample_write_matrix(sample_work *w, FtB_Matrix A, int64_t batch, const char *what, int hop);
int sample_write(sample_work *w, FtB_Sample s, int64_t batch);
int sample_write_relations(sample_work *w, FtB_Relation_sample s, int64_t batch);
void sample_print(const sample_work *w);

/* ---- what a batch draws beside neighbourhoods (sample_draw.c) */

int sample_batch_negative(sample_work *w, int64_t batch);
int sample_batch_walks(sample_work *w, int64_t batch);

#endif
