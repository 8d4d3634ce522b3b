/* Pictures of matrices. Drawing lives in a module, featblas_draw, that is opened only when a picture is asked
 * for, so that cairo, graphviz and what they load cost the other commands nothing. What passes between the
 * two is plain data. */
#ifndef DRAW_H
#define DRAW_H

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
} draw_matrix;

typedef enum draw_kind {
    DRAW_PATTERN, /* entries of the first matrix; of both, side by side, if there are two */
    DRAW_DEGREES, /* how many rows and columns have how many entries, both axes logarithmic */
    DRAW_GRAPH    /* vertices and edges; rows and columns are two kinds of vertices unless square */
} draw_kind;

typedef struct draw_request {
    draw_kind kind;
    int png;      /* else SVG */
    double width; /* pixels; 0: the picture's own */
    int count;    /* matrices: 1, or 2 for DRAW_PATTERN */
    draw_matrix matrix[2];
} draw_request;

#define DRAW_MAX_VERTICES 3000 /* a layout of more takes minutes, and shows nothing */
#define DRAW_MAX_EDGES 100000

/* The module's only symbol: makes the file's bytes, malloc()ed. Returns 0, or 1 with a message. */
typedef int draw_function(const draw_request *request, unsigned char **bytes, size_t *size, char *message,
                          size_t room);
draw_function featblas_draw;

#endif
