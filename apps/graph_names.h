/* The graph that a subcommand works on, in messages. */
#ifndef APP_GRAPH_NAMES_H
#define APP_GRAPH_NAMES_H

#include "app.h"

typedef struct graph_names {
    const char *path;
    int64_t base;          /* what the file numbers rows and columns from */
    FtB_Labels rows, cols; /* the file's ids; NULL: numbers */
    bool lists;            /* the subcommand takes edge lists, too */
} graph_names;

/* As app_library_error, of a call that was given the graph as A, or as ratings R: says the file's name and
 * its ids where the library names its argument and counts from 0. */
int graph_error(GrB_Info info, int stage, const graph_names *g);

#endif
