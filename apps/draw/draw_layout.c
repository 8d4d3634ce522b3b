/* Where the vertices of a graph are drawn: graphviz's stress majorisation (neato) for small graphs, its
 * multilevel springs (sfdp) for larger ones. Reference: Gansner, Koren, North, "Graph drawing by stress
 * majorization", GD 2004. */
#include "draw/draw_canvas.h"

#include <graphviz/gvc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NEATO_LIMIT 400 /* stress majorisation takes time quadratic in the vertices */

static Agraph_t *make_graph(Agnode_t **nodes, int n, int nedges, const int *from, const int *to,
                            const double *length)
{
    Agraph_t *g = agopen("picture", Agundirected, NULL);
    char value[32];
    if (!g)
        return NULL;
    /* Vertices are points to the layout: names are placed afterwards. */
    agattr(g, AGNODE, "label", "");
    agattr(g, AGNODE, "shape", "circle");
    agattr(g, AGNODE, "fixedsize", "true");
    agattr(g, AGNODE, "width", n <= NEATO_LIMIT ? "0.35" : "0.05");
    agattr(g, AGRAPH, "start", "7");
    agattr(g, AGRAPH, "overlap", n <= NEATO_LIMIT ? "prism" : "true");
    agattr(g, AGRAPH, "splines", "false");
    agattr(g, AGEDGE, "len", "1");
    for (int v = 0; v < n; v++) {
        snprintf(value, sizeof value, "%d", v);
        nodes[v] = agnode(g, value, 1);
    }
    for (int e = 0; e < nedges; e++) {
        Agedge_t *edge = agedge(g, nodes[from[e]], nodes[to[e]], NULL, 1);
        snprintf(value, sizeof value, "%.4f", length[e]);
        agset(edge, "len", value);
    }
    return g;
}

static void normalise(int n, double *x, double *y)
{
    double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
    for (int v = 0; v < n; v++) {
        x0 = fmin(x0, x[v]);
        x1 = fmax(x1, x[v]);
        y0 = fmin(y0, y[v]);
        y1 = fmax(y1, y[v]);
    }
    double range = fmax(fmax(x1 - x0, y1 - y0), 1e-9);
    for (int v = 0; v < n; v++) {
        x[v] = (x[v] - x0) / range;
        y[v] = (y[v] - y0) / range;
    }
}

bool draw_layout(int n, int nedges, const int *from, const int *to, const double *length, double *x,
                 double *y)
{
    Agnode_t **nodes = calloc((size_t)n + 1, sizeof *nodes);
    GVC_t *gvc = nodes ? gvContext() : NULL;
    Agraph_t *g = gvc ? make_graph(nodes, n, nedges, from, to, length) : NULL;
    bool good = g && (n == 0 || gvLayout(gvc, g, n <= NEATO_LIMIT ? "neato" : "sfdp") == 0);
    if (good) {
        for (int v = 0; v < n; v++) {
            x[v] = ND_coord(nodes[v]).x;
            y[v] = -ND_coord(nodes[v]).y;
        }
        normalise(n, x, y);
        if (n > 0)
            gvFreeLayout(gvc, g);
    }
    if (g)
        agclose(g);
    if (gvc)
        gvFreeContext(gvc);
    free(nodes);
    return good;
}
