/* A small graph: vertices as discs whose area grows with the weight of their edges, edges whose width and
 * shade grow with their weight, names where there is room. */
#include "draw/draw_canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 900.0
#define HEIGHT 720.0
#define TOP 84.0
#define BOTTOM 84.0
#define SIDE 76.0
#define LARGE 400 /* vertices, above which only the largest component is drawn, without names */

typedef struct graph {
    const draw_matrix *m;
    int n, nedges;
    int total_edges;
    int left_out; /* vertices not drawn */
    bool bipartite, large;
    int *from, *to;
    double *weight, *length, *x, *y, *radius, *size; /* size: sum of the weights of a vertex's edges */
    int *degree, *id; /* id: of a vertex, before those without edges were left out */
    int *order;       /* edges by rising weight */
    double low, high; /* weights */
} graph;

typedef struct box {
    double x0, y0, x1, y1;
} box;

static void release(graph *g)
{
    free(g->from);
    free(g->to);
    free(g->weight);
    free(g->length);
    free(g->x);
    free(g->y);
    free(g->radius);
    free(g->size);
    free(g->degree);
    free(g->id);
    free(g->order);
}

static bool allocate(graph *g, size_t n, size_t e)
{
    g->from = calloc(e + 1, sizeof *g->from);
    g->to = calloc(e + 1, sizeof *g->to);
    g->weight = calloc(e + 1, sizeof *g->weight);
    g->length = calloc(e + 1, sizeof *g->length);
    g->order = calloc(e + 1, sizeof *g->order);
    g->x = calloc(n + 1, sizeof *g->x);
    g->y = calloc(n + 1, sizeof *g->y);
    g->radius = calloc(n + 1, sizeof *g->radius);
    g->size = calloc(n + 1, sizeof *g->size);
    g->degree = calloc(n + 1, sizeof *g->degree);
    g->id = calloc(n + 1, sizeof *g->id);
    return g->from && g->to && g->weight && g->length && g->order && g->x && g->y && g->radius && g->size &&
           g->degree && g->id;
}

static bool has(const draw_matrix *m, int64_t i, int64_t j)
{
    for (int64_t e = m->rowptr[i]; e < m->rowptr[i + 1]; e++)
        if (m->colidx[e] == j)
            return true;
    return false;
}

/* A square matrix is a graph of one kind of vertices: (i, j) and (j, i) are one edge, the diagonal none. */
static void gather_edges(graph *g)
{
    const draw_matrix *m = g->m;
    for (int64_t i = 0; i < m->nrows; i++)
        for (int64_t e = m->rowptr[i]; e < m->rowptr[i + 1]; e++) {
            int64_t j = m->colidx[e];
            if (!g->bipartite && (j == i || (j < i && has(m, j, i))))
                continue;
            int at = g->nedges++;
            g->from[at] = (int)i;
            g->to[at] = (int)(g->bipartite ? m->nrows + j : j);
            g->weight[at] = m->values && isfinite(m->values[e]) ? m->values[e] : 1;
            g->degree[g->from[at]]++;
            g->degree[g->to[at]]++;
            g->size[g->from[at]] += fabs(g->weight[at]);
            g->size[g->to[at]] += fabs(g->weight[at]);
        }
}

static int root_of(int *parent, int v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* Marks in g->id the vertices to draw. Those without edges would only push the others together; and a large
 * graph's small components would take its largest one's room. */
static void choose_vertices(graph *g)
{
    int *parent = g->id, largest = 0;
    double *members = g->x, *drawn = g->y; /* not in use yet */
    for (int v = 0; v < g->n; v++)
        parent[v] = v;
    for (int e = 0; e < g->nedges; e++)
        parent[root_of(parent, g->from[e])] = root_of(parent, g->to[e]);
    for (int v = 0; v < g->n; v++)
        members[root_of(parent, v)]++;
    for (int v = 0; v < g->n; v++)
        largest = members[v] > members[largest] ? v : largest;
    for (int v = 0; v < g->n; v++)
        drawn[v] = g->n > LARGE ? root_of(parent, v) == largest : g->degree[v] > 0;
    for (int v = 0; v < g->n; v++)
        g->id[v] = drawn[v] > 0;
}

/* Renumbers what is to be drawn. */
static void drop_others(graph *g)
{
    int kept = 0, kept_edges = 0;
    for (int v = 0; v < g->n; v++)
        g->id[v] = g->id[v] ? kept++ : -1;
    for (int e = 0; e < g->nedges; e++)
        if (g->id[g->from[e]] >= 0) {
            g->from[kept_edges] = g->id[g->from[e]];
            g->to[kept_edges] = g->id[g->to[e]];
            g->weight[kept_edges++] = g->weight[e];
        }
    g->total_edges = g->nedges;
    g->nedges = kept_edges;
    kept = 0;
    for (int v = 0; v < g->n; v++)
        if (g->id[v] >= 0) {
            g->degree[kept] = g->degree[v];
            g->size[kept] = g->size[v];
            g->id[kept++] = v;
        }
    g->left_out = g->n - kept;
    g->large = g->n > LARGE;
    g->n = kept;
}

static void weight_range(graph *g)
{
    g->low = INFINITY;
    g->high = -INFINITY;
    for (int e = 0; e < g->nedges; e++) {
        g->low = fmin(g->low, g->weight[e]);
        g->high = fmax(g->high, g->weight[e]);
    }
}

/* 0 for the lightest edge, 1 for the heaviest; all 0.5 where there is no difference. */
static double strength(const graph *g, int e)
{
    return g->high > g->low ? (g->weight[e] - g->low) / (g->high - g->low) : 0.5;
}

static const double *sort_by;
static int by_weight(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return sort_by[a] != sort_by[b] ? (sort_by[a] > sort_by[b]) - (sort_by[a] < sort_by[b])
                                    : (a > b) - (a < b);
}

static bool prepare(graph *g, const draw_matrix *m)
{
    g->m = m;
    g->bipartite = m->nrows != m->ncols;
    g->n = (int)(m->nrows + (g->bipartite ? m->ncols : 0));
    if (!allocate(g, (size_t)g->n, (size_t)m->rowptr[m->nrows]))
        return false;
    gather_edges(g);
    choose_vertices(g);
    drop_others(g);
    weight_range(g);
    for (int e = 0; e < g->nedges; e++) {
        g->order[e] = e;
        g->length[e] = 0.8 + 1.7 * (1 - strength(g, e)); /* heavy edges are short */
    }
    sort_by = g->weight;
    qsort(g->order, (size_t)g->nedges, sizeof *g->order, by_weight);
    return draw_layout(g->n, g->nedges, g->from, g->to, g->length, g->x, g->y);
}

/* Fits the layout into the frame, and gives each disc its size. */
static void place(graph *g)
{
    double right = 0, bottom = 0, most = 1e-300;
    for (int v = 0; v < g->n; v++) {
        right = fmax(right, g->x[v]);
        bottom = fmax(bottom, g->y[v]);
        most = fmax(most, g->size[v]);
    }
    const double wide = WIDTH - 2 * SIDE, high = HEIGHT - TOP - BOTTOM - 20;
    /* A layout may be stretched a little to fill the frame, never so much that it looks it. */
    double sx = right > 0 ? wide / right : 1, sy = bottom > 0 ? high / bottom : 1;
    sx = fmin(sx, 1.35 * sy);
    sy = fmin(sy, 1.35 * sx);
    double x0 = SIDE + (wide - sx * right) / 2, y0 = TOP + 10 + (high - sy * bottom) / 2;
    double largest = fmin(fmax(0.22 * sqrt(wide * high / fmax(g->n, 1)), 1.6), 17);
    for (int v = 0; v < g->n; v++) {
        g->x[v] = x0 + sx * g->x[v];
        g->y[v] = y0 + sy * g->y[v];
        g->radius[v] = largest * (0.45 + 0.55 * sqrt(g->size[v] / most));
    }
}

static double edge_width(const graph *g, double s) { return g->n > 400 ? 0.3 + 0.7 * s : 0.6 + 3.6 * s * s; }
static double edge_alpha(const graph *g, double s)
{
    double crowd = fmin(1, 8.0 * fmax(g->n, 1) / fmax(g->nedges, 1)); /* many edges: fainter ones */
    return fmin(1, (0.22 + 0.63 * s) * (0.4 + 0.6 * crowd));
}

static void draw_edges(canvas *c, const graph *g)
{
    for (int k = 0; k < g->nedges; k++) {
        int e = g->order[k];
        double s = strength(g, e);
        set_colour(c, colour_edge, edge_alpha(g, s));
        cairo_set_line_width(c->cr, edge_width(g, s));
        cairo_move_to(c->cr, g->x[g->from[e]], g->y[g->from[e]]);
        cairo_line_to(c->cr, g->x[g->to[e]], g->y[g->to[e]]);
        cairo_stroke(c->cr);
    }
}

static void draw_vertices(canvas *c, const graph *g)
{
    cairo_set_line_width(c->cr, g->n > 400 ? 0.4 : 1.3);
    for (int v = 0; v < g->n; v++) {
        bool column = g->bipartite && g->id[v] >= g->m->nrows;
        if (column) /* squares, so that the kinds differ without colour too */
            cairo_rectangle(c->cr, g->x[v] - 0.88 * g->radius[v], g->y[v] - 0.88 * g->radius[v],
                            1.76 * g->radius[v], 1.76 * g->radius[v]);
        else
            cairo_arc(c->cr, g->x[v], g->y[v], g->radius[v], 0, 2 * M_PI);
        set_colour(c, column ? colour_cols : colour_rows, 1);
        cairo_fill_preserve(c->cr);
        cairo_set_source_rgb(c->cr, 1, 1, 1);
        cairo_stroke(c->cr);
    }
}

static double overlap(box a, box b)
{
    double w = fmin(a.x1, b.x1) - fmax(a.x0, b.x0), h = fmin(a.y1, b.y1) - fmax(a.y0, b.y0);
    return w > 0 && h > 0 ? w * h : 0;
}

static const char *name_of(const graph *g, int v)
{
    int64_t id = g->id[v];
    if (id < g->m->nrows)
        return g->m->row_names ? g->m->row_names[id] : NULL;
    return g->m->col_names ? g->m->col_names[id - g->m->nrows] : NULL;
}

/* The box of a name at one of eight places around its vertex. */
static box candidate(const graph *g, int v, int place, double width, double size)
{
    static const double across[] = {1, -1, 0, 0, 1, -1, 1, -1}, down[] = {0, 0, 1, -1, 0.8, 0.8, -0.8, -0.8};
    double gap = g->radius[v] + 4;
    double x = g->x[v] + across[place] * (place >= 4 ? 0.72 : 1) * gap;
    double y = g->y[v] + down[place] * (gap + size * 0.4);
    double x0 = across[place] > 0 ? x : across[place] < 0 ? x - width : x - width / 2;
    return (box){x0, y - size * 0.55, x0 + width, y + size * 0.55};
}

/* Names in order of degree, each where it covers least; a name that would cover another is left out. Returns
 * how many are. */
static int draw_names(canvas *c, const graph *g)
{
    const double size = g->n <= 40 ? 12.5 : g->n <= 120 ? 10.5 : 9;
    box *taken = calloc((size_t)(2 * g->n) + 1, sizeof *taken);
    int ntaken = 0, left_out = 0;
    if (!taken)
        return g->n;
    for (int v = 0; v < g->n; v++)
        taken[ntaken++] = (box){g->x[v] - g->radius[v], g->y[v] - g->radius[v], g->x[v] + g->radius[v],
                                g->y[v] + g->radius[v]};
    for (int v = 0; v < g->n; v++) {
        char clipped[CLIP_ROOM(MOST_NAME)];
        const char *name = name_of(g, v) ? clip(clipped, MOST_NAME, name_of(g, v)) : NULL;
        box best = {0};
        double least = INFINITY, width = name ? text_width(c, size, name) : 0;
        for (int p = 0; p < 8 && name; p++) {
            box b = candidate(g, v, p, width, size);
            double cover = 0.01 * p; /* the first places are the better ones */
            for (int t = 0; t < ntaken; t++)
                cover += overlap(b, taken[t]);
            cover += b.x0 < 8 || b.x1 > WIDTH - 8 || b.y0 < TOP - 14 || b.y1 > HEIGHT - BOTTOM + 14 ? 1e3 : 0;
            if (cover < least) {
                least = cover;
                best = b;
            }
        }
        if (!name || least > 0.12 * width * size) {
            left_out += name != NULL;
            continue;
        }
        taken[ntaken++] = best;
        cairo_set_source_rgba(c->cr, 1, 1, 1, 0.85); /* a halo keeps names legible on edges */
        cairo_set_line_width(c->cr, 3.5);
        cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
        cairo_set_font_size(c->cr, size);
        cairo_move_to(c->cr, best.x0, best.y1 - size * 0.2);
        cairo_text_path(c->cr, name);
        cairo_stroke(c->cr);
        text(c, best.x0, best.y1 - size * 0.2, size, ALIGN_LEFT, colour_text, name);
    }
    free(taken);
    return left_out;
}

/* What the marks mean, along the bottom. */
static double legend_disc(canvas *c, double x, double y, colour k, bool square, const char *label)
{
    if (square)
        cairo_rectangle(c->cr, x, y - 6, 12, 12);
    else
        cairo_arc(c->cr, x + 6, y, 6.5, 0, 2 * M_PI);
    set_colour(c, k, 1);
    cairo_fill(c->cr);
    text(c, x + 20, y + 4, 12, ALIGN_LEFT, colour_text, label);
    return x + 20 + text_width(c, 12, label) + 28;
}

static void draw_legend(canvas *c, const graph *g)
{
    double x = 36, y = HEIGHT - 30;
    char label[80], number[32];
    snprintf(label, sizeof label, "%s", g->m->row_kind ? g->m->row_kind : g->bipartite ? "rows" : "vertices");
    x = legend_disc(c, x, y, colour_rows, false, label);
    if (g->bipartite)
        x = legend_disc(c, x, y, colour_cols, true, g->m->col_kind ? g->m->col_kind : "columns");
    const char *larger = g->high > g->low ? "larger: more weight" : "larger: more edges";
    text(c, x, y + 4, 12, ALIGN_LEFT, colour_quiet, larger);
    x += text_width(c, 12, larger) + 28;
    if (!(g->high > g->low))
        return;
    text(c, x, y + 4, 12, ALIGN_LEFT, colour_quiet, "weight");
    x += text_width(c, 12, "weight") + 14;
    for (int k = 0; k < 3; k++) {
        double s = k / 2.0;
        set_colour(c, colour_edge, edge_alpha(g, s));
        cairo_set_line_width(c->cr, edge_width(g, s));
        cairo_move_to(c->cr, x, y);
        cairo_line_to(c->cr, x + 30, y);
        cairo_stroke(c->cr);
        tick_number(number, g->low + s * (g->high - g->low), (g->high - g->low) / 2);
        text(c, x + 38, y + 4, 12, ALIGN_LEFT, colour_text, number);
        x += 38 + text_width(c, 12, number) + 20;
    }
}

static void subtitle_of(char *out, size_t room, const graph *g, int names_left_out)
{
    const draw_matrix *m = g->m;
    char names[64] = "";
    if (names_left_out)
        snprintf(names, sizeof names, "; names left out: %d", names_left_out);
    char rows[32], cols[32], edges[32], others[32], left_out[96] = "";
    with_commas(cols, m->ncols);
    if (g->left_out)
        snprintf(left_out, sizeof left_out,
                 g->large ? "; drawn is the largest component, without %s other vertices"
                          : "; %s without edges are left out",
                 with_commas(others, g->left_out));
    snprintf(out, room, "%s %s%s%s%s%s, %s edges%s%s", with_commas(rows, m->nrows),
             m->row_kind    ? m->row_kind
             : g->bipartite ? "rows"
                            : "vertices",
             g->bipartite ? ", " : "", g->bipartite ? cols : "", g->bipartite ? " " : "",
             !g->bipartite ? ""
             : m->col_kind ? m->col_kind
                           : "columns",
             with_commas(edges, g->total_edges), left_out, names);
}

bool draw_graph(const draw_request *r, unsigned char **bytes, size_t *size)
{
    graph g = {0};
    canvas c;
    char subtitle[240];
    bool good = prepare(&g, &r->matrix[0]) && canvas_begin(&c, r, WIDTH, HEIGHT);
    if (good) {
        place(&g);
        draw_edges(&c, &g);
        draw_vertices(&c, &g);
        const int left_out = g.n <= LARGE ? draw_names(&c, &g) : name_of(&g, 0) ? g.n : 0;
        subtitle_of(subtitle, sizeof subtitle, &g, left_out);
        heading(&c, 36, 40, r->matrix[0].title, subtitle);
        draw_legend(&c, &g);
        good = canvas_end(&c, bytes, size);
    }
    release(&g);
    return good;
}
