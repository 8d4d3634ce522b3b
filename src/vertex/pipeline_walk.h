/* What passes through Graphicionado's stages (plan/pipeline.h), counted on a graph and a program's own
 * frontiers. */
#ifndef FTB_VERTEX_PIPELINE_WALK_H
#define FTB_VERTEX_PIPELINE_WALK_H

#include "core/core.h"
#include "plan/pipeline.h"

/* Time goes on from slice to slice, so that what is remembered of a vertex is never of the future. */
typedef struct ftb_pipeline_walk {
    FtB_Context ctx;
    const ftb_pipeline_machine *machine;
    const ftb_pipeline_program *program;
    const ftb_pattern *p;           /* row u: where u sends */
    int64_t clock;                  /* cycles */
    int64_t *ready;                 /* n: when a vertex takes another update */
    int64_t *sources;               /* n: the active vertices, stream by stream */
    int64_t *free;                  /* streams: when a destination stream takes another edge */
    int64_t *received;              /* streams: edges of each */
    struct ftb_pipeline_cursor *at; /* streams: where each source stream is */
} ftb_pipeline_walk;

GrB_Info ftb_pipeline_walk_new(ftb_pipeline_walk *w, FtB_Context ctx, const ftb_pipeline_machine *machine,
                               const ftb_pipeline_program *program, const ftb_pattern *p);
void ftb_pipeline_walk_free(ftb_pipeline_walk *w);
/* What the active vertices, which ascend, send to destinations first .. end - 1; list NULL: all are active.
 * `changed` is the caller's to say. (pipeline_count.c) */
ftb_pipeline_counts ftb_pipeline_count(ftb_pipeline_walk *w, const int64_t *list, int64_t count,
                                       int64_t first, int64_t end);

/* A whole run of a program over A, n x n: of one of which all vertices are active, `rounds` supersteps; else
 * those that it takes from `source`, by FtB_run. each: gets a line for each; NULL: nobody wants to know.
 * (pipeline_predict.c) */
GrB_Info ftb_pipeline_predict(ftb_pipeline_totals *t, const ftb_pipeline_machine *m,
                              const ftb_pipeline_program *p, FtB_Matrix A, int64_t source, int64_t rounds,
                              FILE *each);
/* The bipartite graph of a matrix: its rows, then its columns, and every entry in both directions. */
GrB_Info ftb_pipeline_bipartite(FtB_Matrix *G, FtB_Matrix A);

#endif
