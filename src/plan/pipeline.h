/* Graphicionado (Ham et al., MICRO 2016) as a described machine: cycles of its pipeline from what passes
 * through its stages. Counts come from vertex/pipeline_walk.h, which walks the graph. docs/plans.md, "A
 * pipeline in hardware", says what is left out. */
#ifndef FTB_PLAN_PIPELINE_H
#define FTB_PLAN_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The stages, in order: X(constant, name). The first half is of source streams, then come destination
 * streams; the last four are the apply phase. MEMORY is all that the stages before move to and from memory.
 */
#define FTB_PIPELINE_STAGES(X)                                                                               \
    X(FTB_PIPE_SOURCE, "S1 read source property")                                                            \
    X(FTB_PIPE_POINTER, "S2 read edge pointer")                                                              \
    X(FTB_PIPE_EDGES, "S3 read edges")                                                                       \
    X(FTB_PIPE_PROCESS, "S4 process edge")                                                                   \
    X(FTB_PIPE_SWITCH, "S4 to S5, crossbar")                                                                 \
    X(FTB_PIPE_UPDATE, "S5 control atomic update")                                                           \
    X(FTB_PIPE_READ, "S6 read temporary property")                                                           \
    X(FTB_PIPE_REDUCE, "S7 reduce")                                                                          \
    X(FTB_PIPE_WRITE, "S8 write temporary property")                                                         \
    X(FTB_PIPE_MEMORY, "memory of S1 to S8")                                                                 \
    X(FTB_PIPE_APPLY_READ, "A1 read property")                                                               \
    X(FTB_PIPE_APPLY_TEMPORARY, "A2 read temporary property")                                                \
    X(FTB_PIPE_APPLY, "A3 apply")                                                                            \
    X(FTB_PIPE_APPLY_WRITE, "A4 write property")                                                             \
    X(FTB_PIPE_APPLY_MEMORY, "memory of A1 to A4")
#define FTB_PIPELINE_STAGE(constant, name) constant,
typedef enum ftb_pipeline_stage {
    FTB_PIPELINE_STAGES(FTB_PIPELINE_STAGE) FTB_PIPE_STAGES
} ftb_pipeline_stage;
#undef FTB_PIPELINE_STAGE
extern const char *const ftb_pipeline_stage_names[FTB_PIPE_STAGES];

typedef struct ftb_pipeline_machine {
    char name[64];
    double clock;           /* cycles a second */
    double memory_rate;     /* bytes a second */
    int64_t streams;        /* of sources, and as many of destinations */
    int64_t scratchpad;     /* bytes on the chip for what destinations receive; 0: it is in memory */
    int64_t memory_latency; /* cycles of a read */
    int64_t outstanding;    /* reads that a stream has under way where nothing is read ahead */
    int64_t burst;          /* bytes that a read moves at least */
    int64_t update;         /* cycles from an update's start until its vertex takes another */
    int64_t lanes;          /* values of a property that a stage does in a cycle */
    int64_t pointer_bytes, edge_bytes; /* of an entry of the edge table, of an edge without its weight */
    int64_t weight_bytes, value_bytes; /* of a weight, of a value of a property */
    bool prefetch;                     /* S1 to S3 read ahead */
} ftb_pipeline_machine;

/* What a program does. */
typedef struct ftb_pipeline_program {
    const char *name;
    int64_t values;    /* of a property */
    int64_t constants; /* of a vertex, which apply reads */
    bool weighted;     /* edges have weights */
    bool destination;  /* process reads the destination's property, which is on the chip, too */
    bool all;          /* every vertex is active */
    bool both;         /* along edges in both directions: a bipartite graph */
} ftb_pipeline_program;
const ftb_pipeline_program *ftb_pipeline_program_of(const char *name); /* NULL: there is none of that name */

/* What passes through the stages in a slice of a superstep. "most": of the stream that has the most. */
typedef struct ftb_pipeline_counts {
    int64_t active, active_most; /* sources that are read */
    int64_t edges, edges_most;   /* that they send along into the slice, by source stream */
    int64_t received_most;       /* the same by destination stream */
    int64_t finish;              /* cycles until the last destination stream is done */
    int64_t stalls;              /* cycles that all of these waited for updates of the same vertex */
    int64_t bursts;              /* that S1 to S3 read */
    int64_t vertices;            /* of the slice */
    int64_t changed;             /* that apply changes, of the slice */
} ftb_pipeline_counts;

typedef struct ftb_pipeline_totals {
    int64_t slices; /* of a superstep */
    int64_t supersteps, active, edges, stalls;
    double cycles;                 /* in all */
    double fill;                   /* of these, until a phase's first vertex has come */
    double stage[FTB_PIPE_STAGES]; /* that each is busy, or waits */
    double bound[FTB_PIPE_STAGES]; /* of `cycles` those in which this stage took the longest */
    double bytes;                  /* to and from memory */
} ftb_pipeline_totals;

/* Destinations of a slice: all, or what fits the scratchpad. */
int64_t ftb_pipeline_slice(const ftb_pipeline_machine *m, const ftb_pipeline_program *p, int64_t n);
/* Cycles that a property takes in a stage. */
int64_t ftb_pipeline_beat(const ftb_pipeline_machine *m, const ftb_pipeline_program *p);
/* Adds a slice; returns its cycles. */
double ftb_pipeline_add(ftb_pipeline_totals *t, const ftb_pipeline_machine *m, const ftb_pipeline_program *p,
                        const ftb_pipeline_counts *c);

/* A description in JSON, an object of the keys that docs/plans.md lists; all must be there. False where it is
 * wrong: message, of `room` bytes, says where and what. (pipeline_text.c) */
bool ftb_pipeline_read(ftb_pipeline_machine *m, const char *path, char *message, size_t room);
void ftb_pipeline_print(const ftb_pipeline_totals *t, const ftb_pipeline_machine *m, FILE *out);

#endif
