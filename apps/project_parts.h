/* featblas project: what its files share. */
#ifndef APP_PROJECT_H
#define APP_PROJECT_H

#include "app.h"
#include "io/io.h"
#include "reader.h"

typedef struct project_values { /* the options */
    reader_values reader;
    const char *onto, *weight, *semiring, *epilogue, *where, *sources, *targets;
    int unweighted, self_loops, triangle;
    double min_weight; /* NaN: not given */
    int64_t top_k, min_degree, max_degree;
    const char *output, *labels, *labels_delimiter;
    int format, stats; /* stats -1: not wanted */
    int64_t precision;
    int check, explain, dry_run, help_weights;
} project_values;

typedef struct project {
    const project_values *values;
    const char *input;
    const char *input_name; /* for messages */
    reader_found found;     /* what the input is */
    bool named;             /* --onto names a column of its first line, which then is a header */
    FtB_Matrix R;
    int64_t nrows, ncols, nvals;
    FtB_Labels rows, cols; /* ids of an edge list, or NULL */
    FtB_Labels titles;     /* from --labels, or NULL */
    char *ids_path;        /* of the table beside an output that has positions; NULL: none */
    char onto[64];         /* what is projected onto, for people */
    int64_t vertices;      /* how many of them */
    int64_t *sources, *targets;
    const char *weight; /* name or semiring text */
    FtB_Project_options options;
    FtB_Plan plan;
    double read_seconds, seconds; /* seconds: of planning and projecting */
} project;

/* project_input.c */
int project_read(project *p); /* the matrix, the side, labels, sources, targets */
void project_free(project *p);
bool project_has_positions(const project_values *v); /* the output, in place of ids */
FtB_Labels project_ids(const project *p);            /* of the vertices projected onto; NULL: numbers */
int64_t project_base(const project *p);              /* those numbers count from here */

/* project_report.c */
void project_help_weights(void);
void project_warn(const project *p);                              /* of what the plan found, likewise */
void project_announce(const project *p);                          /* before the work, on standard error */
void project_summarise(const project *p, const FtB_Stats *stats); /* after it */
int project_print_stats(const project *p, const FtB_Stats *stats);
int project_dry_run(const project *p);
double project_figure(const project *p, const char *key); /* of the plan; NaN: it has none */

/* project_check.c */
int project_check(const project *p);

#endif
