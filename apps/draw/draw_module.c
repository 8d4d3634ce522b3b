/* The drawing module's only door. */
#include "draw/draw_canvas.h"

#include <stdio.h>

int featblas_draw(const draw_request *r, unsigned char **bytes, size_t *size, char *message, size_t room)
{
    const draw_matrix *m = &r->matrix[0];
    int64_t vertices = m->nrows == m->ncols ? m->nrows : m->nrows + m->ncols;
    if (r->kind == DRAW_GRAPH && (vertices > DRAW_MAX_VERTICES || m->rowptr[m->nrows] > DRAW_MAX_EDGES)) {
        snprintf(message, room,
                 "%lld x %lld with %lld entries is too large to draw as a graph (at most %d vertices and %d "
                 "edges); its pattern can be drawn",
                 (long long)m->nrows, (long long)m->ncols, (long long)m->rowptr[m->nrows], DRAW_MAX_VERTICES,
                 DRAW_MAX_EDGES);
        return 1;
    }
    bool good = r->kind == DRAW_PATTERN   ? draw_pattern(r, bytes, size)
                : r->kind == DRAW_DEGREES ? draw_degrees(r, bytes, size)
                : r->kind == DRAW_CURVES  ? draw_learning(r, bytes, size)
                : r->kind == DRAW_POINTS  ? draw_embedding(r, bytes, size)
                                          : draw_graph(r, bytes, size);
    if (!good)
        snprintf(message, room,
                 "the picture could not be drawn: not enough memory, or a plug-in of graphviz is "
                 "missing");
    return !good;
}
