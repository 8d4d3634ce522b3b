/* A learning curve: losses above, scores below, over the same epochs. */
#include "draw/draw_canvas.h"

#include <math.h>
#include <stdio.h>

#define WIDTH 920.0
#define HEIGHT 560.0
#define LEFT 80.0
#define RIGHT 190.0 /* with the legends */
#define TOP 78.0
#define PANEL 200.0 /* height of each */
#define GAP 22.0

typedef struct panel {
    double top, low, high; /* where it is, and the numbers at its ends */
    int64_t first, last;   /* epochs */
} panel;

static double place_x(const panel *p, double epoch)
{
    double span = p->last > p->first ? (double)(p->last - p->first) : 1;
    return LEFT + (WIDTH - LEFT - RIGHT) * (epoch - (double)p->first) / span;
}

static double place_y(const panel *p, double value)
{
    return p->top + PANEL * (p->high - value) / (p->high - p->low);
}

static panel panel_for(const draw_curves *d, int at)
{
    panel p = {.top = TOP + at * (PANEL + GAP),
               .low = INFINITY,
               .high = -INFINITY,
               .first = d->first,
               .last = d->first};
    for (int s = 0; s < d->count; s++) {
        const draw_numbers *one = &d->series[s];
        if (d->first + one->count - 1 > p.last)
            p.last = d->first + one->count - 1;
        for (int64_t e = 0; e < one->count && one->panel == at; e++)
            if (isfinite(one->values[e])) {
                p.low = fmin(p.low, one->values[e]);
                p.high = fmax(p.high, one->values[e]);
            }
    }
    if (!(p.low <= p.high))
        p.low = 0, p.high = 1;
    double step = nice_step(fmax(p.high - p.low, 1e-3 * fmax(fabs(p.high), 1e-6)), 4);
    p.low = floor(p.low / step) * step;
    p.high = fmax(ceil(p.high / step) * step, p.low + step);
    return p;
}

static void draw_axes(canvas *c, const draw_curves *d, const panel *p, int at)
{
    const double right = WIDTH - RIGHT, bottom = p->top + PANEL, step = nice_step(p->high - p->low, 5);
    char label[32];
    cairo_set_line_width(c->cr, 0.8);
    const int lines = (int)floor((p->high - p->low) / step + 0.5);
    for (int k = 0; k <= lines; k++) {
        double v = p->low + k * step, y = place_y(p, v);
        set_colour(c, colour_grid, 1);
        cairo_move_to(c->cr, LEFT, y);
        cairo_line_to(c->cr, right, y);
        cairo_stroke(c->cr);
        text(c, LEFT - 8, y + 4, 11, ALIGN_RIGHT, colour_quiet, tick_number(label, v, step));
    }
    const double epochs = nice_step(fmax((double)(p->last - p->first), 1), 8), every = fmax(epochs, 1);
    const double first = ceil((double)p->first / every) * every;
    for (int k = 0; first + k * every <= (double)p->last; k++) {
        double e = first + k * every, x = place_x(p, e);
        set_colour(c, colour_grid, 1);
        cairo_move_to(c->cr, x, p->top);
        cairo_line_to(c->cr, x, bottom);
        cairo_stroke(c->cr);
        if (at == 1)
            text(c, x, bottom + 18, 11, ALIGN_CENTRE, colour_quiet, short_number(label, e));
    }
    set_colour(c, colour_quiet, 1);
    cairo_rectangle(c->cr, LEFT, p->top, right - LEFT, PANEL);
    cairo_stroke(c->cr);
    text_turned(c, 20, p->top + PANEL / 2, 12, -M_PI / 2, ALIGN_CENTRE, colour_text, d->panels[at]);
}

static void draw_line(canvas *c, const panel *p, const draw_numbers *s, int64_t first)
{
    set_colour(c, palette(s->colour), 1);
    cairo_set_line_width(c->cr, 1.5);
    cairo_new_path(c->cr);
    bool pen = false; /* down */
    for (int64_t e = 0; e < s->count; e++) {
        if (isfinite(s->values[e]))
            (pen ? cairo_line_to : cairo_move_to)(c->cr, place_x(p, (double)(first + e)),
                                                  place_y(p, s->values[e]));
        pen = isfinite(s->values[e]);
    }
    cairo_stroke(c->cr);
    if (s->count == 1 && isfinite(s->values[0])) {
        cairo_arc(c->cr, place_x(p, (double)first), place_y(p, s->values[0]), 2.5, 0, 2 * M_PI);
        cairo_fill(c->cr);
    }
}

/* Right of the panel, where no curve is. */
static void draw_legend(canvas *c, const draw_curves *d, const panel *p, int at)
{
    const double x = WIDTH - RIGHT + 14;
    double y = p->top;
    for (int s = 0; s < d->count; s++) {
        if (d->series[s].panel != at)
            continue;
        set_colour(c, palette(d->series[s].colour), 1);
        cairo_set_line_width(c->cr, 2.5);
        cairo_move_to(c->cr, x, y + 9);
        cairo_line_to(c->cr, x + 20, y + 9);
        cairo_stroke(c->cr);
        text(c, x + 28, y + 13, 12, ALIGN_LEFT, colour_text, d->series[s].name);
        y += 18;
    }
}

static void draw_panel(canvas *c, const draw_curves *d, int at)
{
    const panel p = panel_for(d, at);
    draw_axes(c, d, &p, at);
    if (d->marked >= p.first && d->marked <= p.last) {
        const double dashes[] = {4, 3};
        set_colour(c, colour_quiet, 1);
        cairo_set_line_width(c->cr, 1);
        cairo_set_dash(c->cr, dashes, 2, 0);
        cairo_move_to(c->cr, place_x(&p, (double)d->marked), p.top);
        cairo_line_to(c->cr, place_x(&p, (double)d->marked), p.top + PANEL);
        cairo_stroke(c->cr);
        cairo_set_dash(c->cr, NULL, 0, 0);
    }
    cairo_save(c->cr);
    cairo_rectangle(c->cr, LEFT, p.top, WIDTH - LEFT - RIGHT, PANEL);
    cairo_clip(c->cr);
    for (int s = 0; s < d->count; s++)
        if (d->series[s].panel == at)
            draw_line(c, &p, &d->series[s], d->first);
    cairo_restore(c->cr);
    draw_legend(c, d, &p, at);
}

bool draw_learning(const draw_request *r, unsigned char **bytes, size_t *size)
{
    const draw_curves *d = r->curves;
    canvas c;
    char label[80];
    if (!canvas_begin(&c, r, WIDTH, HEIGHT)) {
        canvas_discard(&c);
        return false;
    }
    heading(&c, LEFT, 34, d->title, d->subtitle);
    draw_panel(&c, d, 0);
    draw_panel(&c, d, 1);
    snprintf(label, sizeof label, d->marked ? "epoch; dashed: the one whose weights are kept" : "epoch");
    text(&c, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, 12, ALIGN_CENTRE, colour_text, label);
    return canvas_end(&c, bytes, size);
}
