/* Plans in tests: forced over the entries of a pattern (kernel, segment and tile, NULL: as planned), and
 * read. */
#ifndef TEST_PLANNED_H
#define TEST_PLANNED_H

#include "featblas.h"

#include <stdbool.h>

typedef struct planned {
    const char *kernel, *segment, *tile;
} planned;

/* Forces the choices. */
GrB_Info planned_force(FtB_Plan plan, const planned *choices);
/* *desc: a new descriptor that reads as `like` (NULL: plain) and holds the plan. */
GrB_Info planned_descriptor(FtB_Descriptor *desc, FtB_Descriptor like, FtB_Plan plan);
/* A figure of the plan; a wrong name fails the test. */
double planned_figure(FtB_Plan plan, const char *key);
/* Whether the words are in what the plan says of itself. */
bool planned_says(FtB_Plan plan, const char *words);
/* The same, else the test fails and shows the plan. */
void assert_plan_says(FtB_Plan plan, const char *words);

#endif
