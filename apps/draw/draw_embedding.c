/* Points in the plane, such as two components of an embedding, coloured by class. */
#include "draw/draw_canvas.h"

#include <math.h>
#include <stdio.h>

#define SIDE 620.0
#define LEFT 40.0
#define TOP 78.0
#define LEGEND 150.0
enum { LEGEND_LINES = 30 };

typedef struct frame {
    double x, y, scale; /* middle of the points, units per value */
} frame;

static frame frame_for(const draw_points *d)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t k = 0; k < d->count; k++) {
        low[0] = fmin(low[0], d->x[k]);
        high[0] = fmax(high[0], d->x[k]);
        low[1] = fmin(low[1], d->y[k]);
        high[1] = fmax(high[1], d->y[k]);
    }
    double span = fmax(fmax(high[0] - low[0], high[1] - low[1]), 1e-12);
    return (frame){(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (SIDE - 24) / span};
}

/* Points of every class in turn would hide the first class; in their own order they mix. */
static void draw_all(canvas *c, const draw_points *d)
{
    const frame f = frame_for(d);
    const double radius = d->count > 20000 ? 1.2 : d->count > 2000 ? 2 : d->count > 200 ? 3 : 5;
    for (int64_t k = 0; k < d->count; k++) {
        double x = LEFT + SIDE / 2 + f.scale * (d->x[k] - f.x),
               y = TOP + SIDE / 2 - f.scale * (d->y[k] - f.y);
        int32_t class = d->classes ? d->classes[k] : 0;
        set_colour(c, class < 0 ? colour_grid : palette(class), 0.75);
        cairo_arc(c->cr, x, y, radius, 0, 2 * M_PI);
        cairo_fill(c->cr);
    }
}

static void draw_legend(canvas *c, const draw_points *d)
{
    for (int64_t k = 0; k < d->nclasses && k < LEGEND_LINES; k++) {
        char label[48];
        double x = LEFT + SIDE + 24, y = TOP + 14 + 20 * (double)k;
        bool more = k == LEGEND_LINES - 1 && d->nclasses > LEGEND_LINES;
        snprintf(label, sizeof label, more ? "and more, to %lld" : "class %lld",
                 (long long)(more ? d->nclasses - 1 : k));
        set_colour(c, palette(k), 1);
        cairo_arc(c->cr, x, y - 4, 5, 0, 2 * M_PI);
        cairo_fill(c->cr);
        text(c, x + 14, y, 12, ALIGN_LEFT, colour_text, label);
    }
}

bool draw_embedding(const draw_request *r, unsigned char **bytes, size_t *size)
{
    const draw_points *d = r->points;
    canvas c;
    const bool legend = d->classes != NULL;
    if (!canvas_begin(&c, r, LEFT + SIDE + (legend ? LEGEND : LEFT), TOP + SIDE + LEFT)) {
        canvas_discard(&c);
        return false;
    }
    heading(&c, LEFT, 34, d->title, d->subtitle);
    set_colour(&c, colour_quiet, 1);
    cairo_set_line_width(c.cr, 0.8);
    cairo_rectangle(c.cr, LEFT, TOP, SIDE, SIDE);
    cairo_stroke(c.cr);
    draw_all(&c, d);
    if (legend)
        draw_legend(&c, d);
    return canvas_end(&c, bytes, size);
}
