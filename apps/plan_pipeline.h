/* featblas plan --run: a vertex program in a pipeline that a file describes. */
#ifndef APP_PLAN_PIPELINE_H
#define APP_PLAN_PIPELINE_H

#include "reader.h"

typedef struct plan_pipeline {
    const reader_values *reader;
    const char *program, *machine, *graph; /* a name, and two files */
    int64_t source, rounds;                /* as the file numbers it, -1: its first vertex; 0: the default */
} plan_pipeline;

int plan_pipeline_run(const plan_pipeline *p); /* returns an exit code */

#endif
