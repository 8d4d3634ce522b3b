/* The pattern of a matrix, or of two side by side. Small ones cell by cell, with names and values where they
 * fit; large ones as a raster whose shade is the share of the entries present under each point. */
#include "draw/draw_canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PLOT 520.0        /* longer side of a plot */
#define MARGIN 28.0       /* around everything */
#define BAR 118.0         /* room right of a plot for the colour bar of shares */
#define VALUE_BAR 78.0    /* and of values */
#define BETWEEN 44.0      /* from one panel to the next */
#define HEADING 54.0      /* room for title and subtitle */
#define CELL 26.0         /* largest side of a cell */
#define SMALLEST_CELL 3.0 /* below, a raster is drawn */
#define NAMED 60          /* most rows and columns whose names are shown */

typedef struct panel {
    const draw_matrix *m;
    double left, top;     /* room for names or ticks beside and above the plot */
    double width, height; /* of the plot */
    double low, high;     /* of the values, or logarithms of the shares */
    bool cells, named, bar, numbers;
    float *share; /* raster: filled part of each point, gridw x gridh */
    int gridw, gridh;
} panel;

static double columns_room(canvas *c, const char *const *names, int64_t count, double size)
{
    double most = 0;
    char name[CLIP_ROOM(MOST_NAME)];
    for (int64_t k = 0; k < count; k++)
        most = fmax(most, text_width(c, size, clip(name, MOST_NAME, names[k])));
    return most;
}

/* Shares on a raster of at most two points per unit. */
static bool rasterise(panel *p)
{
    const draw_matrix *m = p->m;
    p->gridw = (int)fmin((double)m->ncols, p->width);
    p->gridh = (int)fmin((double)m->nrows, p->height);
    p->share = calloc((size_t)p->gridw * (size_t)p->gridh + 1, sizeof *p->share);
    if (!p->share)
        return false;
    for (int64_t i = 0; i < m->nrows; i++) {
        float *row = p->share + (int64_t)((double)i * p->gridh / (double)m->nrows) * p->gridw;
        for (int64_t e = m->rowptr[i]; e < m->rowptr[i + 1]; e++)
            row[(int64_t)m->colidx[e] * p->gridw / m->ncols]++;
    }
    double cells = (double)m->nrows / p->gridh * ((double)m->ncols / p->gridw), low = 1, high = 0;
    for (int64_t g = 0; g < (int64_t)p->gridw * p->gridh; g++) {
        p->share[g] = (float)fmin(1, p->share[g] / cells);
        if (p->share[g] > 0) {
            low = fmin(low, (double)p->share[g]);
            high = fmax(high, (double)p->share[g]);
        }
    }
    p->low = fmax(floor(log10(low) + 1e-6), -6);
    p->high = high > 0 ? ceil(log10(high) - 1e-6) : 0;
    p->low = fmin(p->low, p->high - 1);
    return true;
}

static void value_range(panel *p)
{
    const draw_matrix *m = p->m;
    p->low = INFINITY;
    p->high = -INFINITY;
    for (int64_t e = 0; m->values && e < m->rowptr[m->nrows]; e++)
        if (isfinite(m->values[e])) {
            p->low = fmin(p->low, m->values[e]);
            p->high = fmax(p->high, m->values[e]);
        }
    p->bar = p->high > p->low;
}

/* Whether every value can be written into its cell: all are, or none. */
static bool numbers_fit(canvas *c, const draw_matrix *m, double side)
{
    char number[32];
    bool fit = side >= 18;
    for (int64_t e = 0; e < m->rowptr[m->nrows] && fit; e++)
        fit = text_width(c, side * 0.42, short_number(number, m->values[e])) <= side - 4;
    return fit;
}

/* Chooses the way of drawing and the sizes. */
static bool plan(panel *p, canvas *c, const draw_matrix *m)
{
    double rows = fmax((double)m->nrows, 1), cols = fmax((double)m->ncols, 1);
    double side = fmin(PLOT / fmax(rows, cols), CELL);
    *p = (panel){.m = m, .left = 58, .top = 30};
    p->cells = side >= SMALLEST_CELL;
    if (p->cells) {
        p->width = side * cols;
        p->height = side * rows;
        value_range(p);
        p->numbers = p->bar && numbers_fit(c, m, side);
        p->named = m->row_names && m->col_names && rows <= NAMED && cols <= NAMED && side >= 9;
        if (p->named) {
            p->left = columns_room(c, m->row_names, m->nrows, fmin(side * 0.62, 12)) + 8;
            p->top = columns_room(c, m->col_names, m->ncols, fmin(side * 0.62, 12)) + 10;
        }
        return true;
    }
    /* Very long or very wide matrices are shown less so: a strip of a few points shows nothing. */
    double aspect = fmin(fmax(cols / rows, 0.4), 2.5);
    p->width = aspect >= 1 ? PLOT : floor(PLOT * aspect);
    p->height = aspect >= 1 ? floor(PLOT / aspect) : PLOT;
    p->bar = true;
    return rasterise(p);
}

static void draw_cells(canvas *c, const panel *p, double x0, double y0)
{
    const draw_matrix *m = p->m;
    double side = p->width / fmax((double)m->ncols, 1), gap = side > 8 ? 1 : side * 0.06;
    char number[32];
    for (int64_t i = 0; i < m->nrows; i++)
        for (int64_t e = m->rowptr[i]; e < m->rowptr[i + 1]; e++) {
            double x = x0 + side * m->colidx[e], y = y0 + side * (double)i;
            double t = p->bar ? (m->values[e] - p->low) / (p->high - p->low) : 0.6;
            set_colour(c, shade(t), 1);
            cairo_rectangle(c->cr, x + gap / 2, y + gap / 2, side - gap, side - gap);
            cairo_fill(c->cr);
            if (p->numbers)
                text(c, x + side / 2, y + side * 0.65, side * 0.42, ALIGN_CENTRE,
                     t > 0.45 ? (colour){1, 1, 1} : colour_text, short_number(number, m->values[e]));
        }
}

/* Points become pixels of an image; blank ones stay white. */
static bool draw_raster(canvas *c, const panel *p, double x0, double y0)
{
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, p->gridw, p->gridh);
    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS)
        return false;
    unsigned char *data = cairo_image_surface_get_data(image);
    int stride = cairo_image_surface_get_stride(image);
    for (int y = 0; y < p->gridh; y++) {
        uint32_t *line = (uint32_t *)(void *)(data + (ptrdiff_t)y * stride);
        for (int x = 0; x < p->gridw; x++) {
            double share = (double)p->share[(int64_t)y * p->gridw + x];
            colour k = share > 0 ? shade((log10(share) - p->low) / (p->high - p->low)) : (colour){1, 1, 1};
            line[x] =
                (uint32_t)(k.red * 255) << 16 | (uint32_t)(k.green * 255) << 8 | (uint32_t)(k.blue * 255);
        }
    }
    cairo_surface_mark_dirty(image);
    cairo_save(c->cr);
    cairo_translate(c->cr, x0, y0);
    cairo_scale(c->cr, p->width / p->gridw, p->height / p->gridh);
    cairo_set_source_surface(c->cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(c->cr), CAIRO_FILTER_NEAREST);
    cairo_paint(c->cr);
    cairo_restore(c->cr);
    cairo_surface_destroy(image);
    return true;
}

static void draw_names(canvas *c, const panel *p, double x0, double y0)
{
    const draw_matrix *m = p->m;
    double side = p->width / (double)m->ncols, size = fmin(side * 0.62, 12);
    char name[CLIP_ROOM(MOST_NAME)];
    for (int64_t i = 0; i < m->nrows; i++)
        text(c, x0 - 6, y0 + side * ((double)i + 0.5) + size * 0.36, size, ALIGN_RIGHT, colour_text,
             clip(name, MOST_NAME, m->row_names[i]));
    for (int64_t j = 0; j < m->ncols; j++)
        text_turned(c, x0 + side * ((double)j + 0.5) + size * 0.36, y0 - 6, size, -M_PI / 2, ALIGN_LEFT,
                    colour_text, clip(name, MOST_NAME, m->col_names[j]));
}

/* Ids at round numbers along both axes, counted as in the input; or positions, where ids are no numbers. */
static void draw_ticks(canvas *c, const panel *p, double x0, double y0)
{
    char number[32];
    const double rows = (double)p->m->nrows, cols = (double)p->m->ncols;
    double step = fmax(1, nice_step(fmax(cols, 1), (int)(p->width / 85) + 1)), base = (double)p->m->col_base;
    double first = ceil(base / step) * step - base;
    cairo_set_line_width(c->cr, 0.8);
    double half = p->cells ? 0.5 : 0; /* a cell's tick points at its middle */
    for (int t = 0; first + t * step < cols; t++) {
        double at = first + t * step;
        double x = x0 + p->width * (at + half) / cols;
        text(c, x, y0 - 8, 10.5, ALIGN_CENTRE, colour_quiet,
             with_commas(number, p->m->col_base + (int64_t)at));
        cairo_move_to(c->cr, x, y0 - 4);
        cairo_line_to(c->cr, x, y0);
        cairo_stroke(c->cr);
    }
    step = fmax(1, nice_step(fmax(rows, 1), (int)(p->height / 50) + 1));
    base = (double)p->m->row_base;
    first = ceil(base / step) * step - base;
    for (int t = 0; first + t * step < rows; t++) {
        double at = first + t * step;
        double y = y0 + p->height * (at + half) / rows;
        text(c, x0 - 7, y + 3.5, 10.5, ALIGN_RIGHT, colour_quiet,
             with_commas(number, p->m->row_base + (int64_t)at));
        cairo_move_to(c->cr, x0 - 4, y);
        cairo_line_to(c->cr, x0, y);
        cairo_stroke(c->cr);
    }
}

static void tick_label(char *label, size_t room, const panel *p, double at, double step)
{
    if (p->cells)
        tick_number(label, at, step);
    else
        snprintf(label, room, "%.4g %%", 100 * pow(10, at));
}

static void draw_bar(canvas *c, const panel *p, double x, double y0)
{
    double height = fmin(p->height, 180), range = p->high - p->low;
    double step = p->cells ? nice_step(range, 5) : 1;
    char label[40];
    bool whole = p->cells && p->low == floor(p->low) && p->high == floor(p->high);
    step = whole ? fmax(step, 1) : step;
    text(c, x, y0 + 9, 10.5, ALIGN_LEFT, colour_quiet, p->cells ? "value" : "entries present");
    for (int s = 0; s < (int)height; s++) {
        set_colour(c, shade(1 - s / height), 1);
        cairo_rectangle(c->cr, x, y0 + 22 + s, 13, 1.5);
        cairo_fill(c->cr);
    }
    double first = ceil(p->low / step - 1e-9) * step;
    for (int t = 0; first + t * step <= p->high + 1e-9 * range; t++) {
        double at = first + t * step;
        double y = y0 + 22 + height * (1 - (at - p->low) / range);
        tick_label(label, sizeof label, p, at, step);
        text(c, x + 20, y + 3.5, 10.5, ALIGN_LEFT, colour_quiet, label);
    }
}

static void subtitle_of(char *out, size_t room, const panel *p)
{
    const draw_matrix *m = p->m;
    const bool positions = !p->named && (m->row_texts || m->col_texts);
    char rows[32], cols[32], entries[32];
    double cells = (double)m->nrows * (double)m->ncols;
    double filled = cells > 0 ? 100 * (double)m->rowptr[m->nrows] / cells : 0;
    snprintf(out, room, "%s %s x %s %s, %s entries, %.3g %% filled%s", with_commas(rows, m->nrows),
             m->row_kind ? m->row_kind : "rows", with_commas(cols, m->ncols),
             m->col_kind ? m->col_kind : "columns", with_commas(entries, m->rowptr[m->nrows]), filled,
             positions ? "; positions from 0, no room for ids" : "");
}

static bool draw_panel(canvas *c, const panel *p, double x, double y)
{
    double x0 = x + p->left, y0 = y + HEADING + p->top;
    char subtitle[200];
    subtitle_of(subtitle, sizeof subtitle, p);
    heading(c, x, y + 16, p->m->title, subtitle);
    if (!p->cells && !draw_raster(c, p, x0, y0))
        return false;
    if (p->cells)
        draw_cells(c, p, x0, y0);
    if (p->named)
        draw_names(c, p, x0, y0);
    else
        draw_ticks(c, p, x0, y0);
    set_colour(c, colour_quiet, 1);
    cairo_set_line_width(c->cr, 0.8);
    cairo_rectangle(c->cr, x0, y0, p->width, p->height);
    cairo_stroke(c->cr);
    if (p->bar)
        draw_bar(c, p, x0 + p->width + 16, y0);
    return true;
}

/* Room that a panel takes: its plot with all that is around it, or its heading. */
static double panel_width(canvas *c, const panel *p)
{
    char subtitle[200];
    subtitle_of(subtitle, sizeof subtitle, p);
    double words = fmax(text_width(c, 12, subtitle), 1.1 * text_width(c, 17, p->m->title));
    return fmax(p->left + p->width + (!p->bar ? 0 : p->cells ? VALUE_BAR : BAR), words);
}

/* Plots side by side begin at one height; rasters have one scale, so that shades compare. */
static void align_panels(panel p[2])
{
    p[0].top = p[1].top = fmax(p[0].top, p[1].top);
    if (p[0].cells || p[1].cells)
        return;
    p[0].low = p[1].low = fmin(p[0].low, p[1].low);
    p[0].high = p[1].high = fmax(p[0].high, p[1].high);
    p[0].bar = false;
}

bool draw_pattern(const draw_request *r, unsigned char **bytes, size_t *size)
{
    panel p[2] = {{0}};
    double width = 2 * MARGIN, height = 0, at = MARGIN, wide[2] = {0};
    canvas c;
    bool good = canvas_measure(&c);
    for (int k = 0; k < r->count && good; k++)
        good = plan(&p[k], &c, &r->matrix[k]);
    if (r->count == 2 && good)
        align_panels(p);
    for (int k = 0; k < r->count && good; k++) {
        wide[k] = panel_width(&c, &p[k]);
        width += wide[k] + (k ? BETWEEN : 0);
        height = fmax(height, HEADING + p[k].top + p[k].height);
    }
    canvas_discard(&c);
    good = good && canvas_begin(&c, r, ceil(width), ceil(height + 2 * MARGIN));
    for (int k = 0; k < r->count && good; k++) {
        good = draw_panel(&c, &p[k], at, MARGIN);
        at += wide[k] + BETWEEN;
    }
    if (good)
        good = canvas_end(&c, bytes, size);
    for (int k = 0; k < r->count; k++)
        free(p[k].share);
    return good;
}
