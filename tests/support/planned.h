/* Plans over the entries of a pattern that are forced by tests: kernel, segment and tile, NULL: as planned.
 */
#ifndef TEST_PLANNED_H
#define TEST_PLANNED_H

#include "featblas.h"

typedef struct planned {
    const char *kernel, *segment, *tile;
} planned;

/* Forces the choices. */
GrB_Info planned_force(FtB_Plan plan, const planned *choices);
/* *desc: a new descriptor that reads as `like` (NULL: plain) and holds the plan. */
GrB_Info planned_descriptor(FtB_Descriptor *desc, FtB_Descriptor like, FtB_Plan plan);

#endif
