/* The library's own calls on a GPU, timed beside what a user has today: cases, each with those who do it in
 * turn. */
#ifndef PRODUCTS_H
#define PRODUCTS_H

#include "featblas_nn.h"
#include "featblas_vertex.h"
#include "gen/gen.h"

#include <stdbool.h>
#include <stdio.h>

enum { PRODUCTS_ROUNDS = 15, PRODUCTS_WHO = 10, PRODUCTS_TEXT = 240, PRODUCTS_PLANS = 6 };

typedef struct products_settings {
    const char *json, *only, *graphs, *python; /* graphs: a folder for the peer's; python: NULL: no PyTorch */
    const char *torch_device;
    const char *serve;                 /* torch_serve.py */
    const char *plans[PRODUCTS_PLANS]; /* "[tf32:]key=value[,...]", each a column of its own beside the
                                          planner's choice */
    int nplans, rounds;
    double budget; /* seconds */
    bool toy;
} products_settings;

/* What is done: a row of products_operations. */
typedef enum products_what {
    PRODUCTS_SUM,
    PRODUCTS_MAX,
    PRODUCTS_MEAN,
    PRODUCTS_WEIGHTED,
    PRODUCTS_HEADS,
    PRODUCTS_DOT,
    PRODUCTS_SOFTMAX,
    PRODUCTS_ATTENTION,
    PRODUCTS_STAGED, /* attention in three calls */
    PRODUCTS_GCN,
    PRODUCTS_GAT,
    PRODUCTS_COUNT,  /* statistics of the triangle of a projection */
    PRODUCTS_SAMPLE, /* three hops of d seeds, `heads` picks each */
    PRODUCTS_RANKS,  /* PageRank */
    PRODUCTS_LEVELS, /* breadth-first search from d sources */
    PRODUCTS_LENGTHS /* shortest paths from d sources */
} products_what;

typedef struct products_case {
    const char *graph;
    products_what what;
    int64_t d, heads;
    const char *against; /* whose time ours is compared with; NULL: nobody's */
    double wanted;       /* that over ours, at least; without `against`: seconds, at most; 0: no bar */
} products_case;

/* The graph in use, and its forms. Only one is held. */
typedef struct products_graph {
    const char *name;
    gen_graph g;
    FtB_Matrix A;
} products_graph;

/* One who does a case. `time` does it so many times and waits for the last; false: `status` says why not. */
typedef struct products_who {
    char name[80];
    char status[PRODUCTS_TEXT]; /* "ok", "skipped: why", "failed: why" */
    bool (*time)(struct products_who *who, int calls, double *seconds); /* of one call */
    void *state;
    void (*end)(void *state); /* frees it; NULL: there is nothing */
    int count;
    double seconds[PRODUCTS_ROUNDS];
} products_who;

/* What is known of a case beside its times. */
typedef struct products_result {
    products_case of;
    bool toy; /* whose times say nothing */
    products_who who[PRODUCTS_WHO];
    int nwho;
    double bytes;              /* gathered */
    double first;              /* seconds of ours before anything is compiled or on the device */
    double to_device, to_host; /* seconds of operands' and of the result's way */
    double moved;              /* bytes between host and device inside of what was timed */
    double error; /* the largest of sampled rows, over the sum of magnitudes; -1: not looked at */
} products_result;

/* "sum", ... */
const char *products_name(products_what what);
double products_now(void);
double products_median(const products_who *who);
void products_say(products_who *who, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A failed call of the library's: what it says is the status. */
bool products_ok(products_who *who, GrB_Info info);
/* Adds one who does it; NULL: there are too many. */
products_who *products_add(products_result *r, const char *name);
/* Those that GPUs take, 0 .. count - 1, which is returned as *count. */
const products_case *products_cases(int *count);

/* ours.c: FeatBLAS, as `what` has it; plan: as of settings, or NULL. The first of a case fills in its facts.
 */
void products_ours(products_result *r, const products_graph *g, products_what what, const char *plan);
/* epochs.c: PRODUCTS_GCN and PRODUCTS_GAT; PRODUCTS_COUNT. */
void products_epoch(products_result *r, const products_graph *g);
void products_projection(products_result *r, const products_graph *g);
/* samples.c: PRODUCTS_SAMPLE */
void products_samples(products_result *r, const products_graph *g);
/* vertex.c: PRODUCTS_RANKS, _LEVELS and _LENGTHS */
void products_programs(products_result *r, const products_graph *g);
/* cusparse.c: SpMM and SDDMM at their best; of operations that cuSPARSE has. */
void products_cusparse(products_result *r, const products_graph *g);
/* torch.c: a process of Python's that times the same in turn; of operations that it has. */
void products_torch(products_result *r, const products_graph *g, const products_settings *s);
void products_torch_end(void);

/* The device that work is placed on, and what is there. */
GrB_Info products_wait(void);        /* fails where the device was lost: the host would go on without it */
void *products_alloc(int64_t bytes); /* NULL: no room */
void products_free(void *device, int64_t bytes);
/* Gives back to the driver what was freed, which others need. */
void products_trim(void);
bool products_put(void *device, const void *host, int64_t bytes);
bool products_get(void *host, const void *device, int64_t bytes);

/* report.c */
void products_print_head(const products_settings *s);
void products_print(const products_result *r);
/* The lines below the table; how many bars were missed. */
int products_print_end(const products_result *results, int count);
/* The file as far as it is known: written anew after every case. */
bool products_write(const products_settings *s, const products_result *results, int count, double elapsed);
/* Whether a bar is met: 1, 0; -1: nothing to compare, or a toy's. *value: what was reached. */
int products_met(const products_result *r, double *value);

#endif
