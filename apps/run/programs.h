/* What the parts of `featblas run` share: its options, its work, and the table of programs. */
#ifndef APP_RUN_PROGRAMS_H
#define APP_RUN_PROGRAMS_H

#include "app.h"
#include "featblas_vertex.h"
#include "graph_names.h"

typedef struct run_values {
    reader_values reader;
    const char *sources, *from, *output, *items;
    const char *send, *combine, *apply, *init, *active, *settled, *until, *priority;
    int64_t rounds, samples, seed, factors;
    int direction, definition, explain, undirected, normalized, method, stats;
    double damping, tolerance, delta, lambda, rate, offset, held_out;
} run_values;

enum { RUN_STATS_JSON = 1 }; /* choice of --stats */
enum { RUN_SGD = 3 };        /* of --method's choices the first one of cf; those before it are pagerank's */

typedef struct run_work {
    const run_values *values;
    const struct run_program *program; /* one of the library's; NULL: the user's own */
    graph_names names;                 /* of the graph: its file, and what that numbers vertices from */
    FtB_Matrix A;
    int64_t n, nvals; /* vertices, entries */
    double held;      /* bytes, once the graph is there; of runs with a memory limit */
    int64_t *sources, nsources;
    int64_t ncolumns; /* of the state: sources, or fields of one's own texts; else 1 */
    FILE *explain;    /* NULL: nobody wants to know */
    /* results */
    int64_t supersteps; /* 0: it has none */
    double read_seconds, seconds;
    const char *what; /* what they are, for people; NULL: supersteps */
    FtB_Block X;      /* what is written, INT64 or FP64: a row for each vertex, or one */
    int64_t vertices; /* columns from here on are vertices, which output numbers as the file does; run_run
                         sets it to "none" */
} run_work;

/* What a program takes beside the graph. */
typedef struct run_bytes {
    double vertex, column, entry; /* of each vertex, of each column of a vertex, of each entry */
} run_bytes;

/* A program that comes with the library. (programs.c) */
typedef struct run_program {
    const char *name;
    const char *options; /* of those that few programs have, the names, with a space around each */
    bool starts;         /* somewhere: --sources must be there */
    run_bytes bytes;
    GrB_Info (*run)(run_work *w); /* NULL: it is of ratings, and run_cf does all of it */
} run_program;

extern const run_program run_programs[];
extern const int run_programs_count;

/* Bytes that are held now, with a memory limit, and that a run may take beside. (room.c) */
double run_held(const run_values *v);
double run_room(const run_work *w);
double run_cf_room(const run_values *v, int64_t nrows, int64_t ncols, int64_t nvals);
/* As graph_error; where the memory limit was too small, says that `need` would do. */
int run_error(GrB_Info info, int stage, const graph_names *names, const run_values *v, double need);

/* Factors of ratings, which are no graph. (factorize.c) */
int run_cf(const run_values *v, const char *path);

/* A program of the user's texts. (own.c) */
int run_own(run_work *w);
/* What ratings are predicted with: roots of mean squares, and what they are about. */
typedef struct run_errors {
    double trained, held_out, offset;
    int64_t ntrained, nheld_out;
} run_errors;

/* What --stats prints of a run. */
typedef struct run_facts {
    const char *path, *program, *what; /* what its supersteps are called */
    FtB_Matrix A;
    FtB_Block X, items; /* what is written; items: of cf */
    int64_t supersteps;
    double read_seconds, seconds;
    const run_errors *errors; /* of cf; NULL: it is a graph */
    bool json;
} run_facts;
/* table: what `explain` was told. (stats.c) */
int run_stats(const run_facts *f, const char *table);

#endif
