/* Pictures of matrices, learning curves and embeddings. Drawing lives in a module, featblas_draw, that is
 * opened only when a picture is asked for, so that cairo, graphviz and what they load cost the other commands
 * nothing. What passes between the two is plain data. */
#ifndef DRAW_H
#define DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A matrix in CSR. Names are NULL, or one per row and column. */
typedef struct draw_matrix {
    const char *title;
    const char *row_kind, *col_kind; /* "women", "events"; NULL: "rows", "columns" */
    int64_t nrows, ncols;
    const int64_t *rowptr;
    const int32_t *colidx;
    const double *values; /* NULL: pattern only */
    const char *const *row_names, *const *col_names;
    int64_t row_base, col_base; /* id of the first row and column, where ids are consecutive numbers */
    bool row_texts, col_texts;  /* they are not: axes show positions, from 0 */
} draw_matrix;

typedef enum draw_kind {
    DRAW_PATTERN, /* entries of the first matrix; of both, side by side, if there are two */
    DRAW_DEGREES, /* how many rows and columns have how many entries, both axes logarithmic */
    DRAW_GRAPH,   /* vertices and edges; rows and columns are two kinds of vertices unless square */
    DRAW_CURVES,  /* numbers that change from epoch to epoch, in two panels */
    DRAW_POINTS   /* points in the plane, coloured by class */
} draw_kind;

/* Numbers of consecutive epochs; NaN leaves a gap. */
typedef struct draw_numbers {
    const char *name;
    int panel;  /* 0 or 1: above or below */
    int colour; /* of the palette */
    int64_t count;
    const double *values;
} draw_numbers;

typedef struct draw_curves {
    const char *title, *subtitle;
    const char *panels[2]; /* what their axes show */
    int64_t first;         /* epoch of the first numbers */
    int64_t marked;        /* epoch that a line is drawn at, 0: none */
    int count;
    const draw_numbers *series;
} draw_curves;

typedef struct draw_points {
    const char *title, *subtitle;
    int64_t count;
    const double *x, *y;
    const int32_t *classes; /* of each point; -1: none. NULL: there are no classes */
    int64_t nclasses;
} draw_points;

typedef struct draw_request {
    draw_kind kind;
    int png;      /* else SVG */
    double width; /* pixels; 0: the picture's own */
    int count;    /* matrices: 1, or 2 for DRAW_PATTERN */
    draw_matrix matrix[2];
    const draw_curves *curves; /* DRAW_CURVES */
    const draw_points *points; /* DRAW_POINTS */
} draw_request;

#define DRAW_MAX_VERTICES 3000 /* a layout of more takes minutes, and shows nothing */
#define DRAW_MAX_EDGES 100000

/* The module's only symbol: makes the file's bytes, malloc()ed. Returns 0, or 1 with a message. */
typedef int draw_function(const draw_request *request, unsigned char **bytes, size_t *size, char *message,
                          size_t room);
draw_function featblas_draw;

#endif
