/* Loops of a pull: rows in parts of about equal work, and lists of what was found in them. */
#ifndef FTB_VERTEX_PARTS_H
#define FTB_VERTEX_PARTS_H

#include "cpu/vertex/vertex_work.h"

enum { FTB_VERTEX_LISTS = 3 };

typedef struct ftb_vertex_parts {
    const ftb_vertex_work *w;
    const ftb_vertex_edges *by;
    /* Rows begin .. end - 1: what is found is put from place `begin` of the lists on; how many. */
    int64_t (*rows)(const void *arg, int64_t begin, int64_t end);
    const void *arg;
    int64_t *lists[FTB_VERTEX_LISTS]; /* room for a place per vertex; NULL: no such */
    bool whole;                       /* what was begun cannot be left */
} ftb_vertex_parts;

/* *count: what all parts found, which the lists then have side by side, in the order of rows.
 * (vertex_parts.c) */
GrB_Info ftb_vertex_by_parts(const ftb_vertex_parts *x, int64_t *count);

#endif
