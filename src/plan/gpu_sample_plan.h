/* The planner's rule for neighbourhoods on a GPU: hop by hop, or all hops in one kernel. No GPU was there to
 * measure on: what it counts with that is no figure of the GPU's rests on no measurement (rule_gpu_sample.c).
 */
#ifndef FTB_PLAN_GPU_SAMPLE_H
#define FTB_PLAN_GPU_SAMPLE_H

#include "plan/machine.h"

enum { FTB_GPU_SAMPLE_HOPS = 16 };

typedef struct ftb_gpu_sample_facts {
    int64_t nseeds, nvertices, nvals;
    int64_t ntrees; /* that share no vertices; 0: one */
    int nhops;
    int64_t fanout[FTB_GPU_SAMPLE_HOPS]; /* < 0: all */
    bool weighted;                       /* picks go through tables, of 8 bytes an entry */
    bool fits;                           /* there is a kernel of all hops for it */
} ftb_gpu_sample_facts;

typedef struct ftb_gpu_sample_plan {
    bool queue;                           /* all hops in one kernel */
    double tasks, picks;                  /* expected */
    int64_t capacity, vertices;           /* of the queue: tasks and distinct vertices, at most */
    int64_t bytes;                        /* of the GPU's memory, that it takes */
    double levels_seconds, queue_seconds; /* predicted; infinite: it cannot be */
} ftb_gpu_sample_plan;

void ftb_rule_gpu_sample(ftb_gpu_sample_plan *plan, const ftb_gpu_sample_facts *facts,
                         const ftb_gpu_facts *gpu);

#endif
