/* How many rows and columns have how many entries, both axes logarithmic. Degrees below 10 are points of
 * their own; larger ones are gathered in ten bins a decade, drawn at the mean number per degree, so that a
 * power law is a straight line. */
#include "draw/draw_canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 760.0
#define HEIGHT 566.0
#define LEFT 74.0
#define TOP 124.0 /* below the heading and the legend */
#define RIGHT 30.0
#define BOTTOM 62.0
enum { BINS = 220 }; /* 9 + 10 a decade: enough for 10^22 */

typedef struct series {
    const char *name;
    colour k;
    int64_t vertices, empty, largest;
    double mean;
    double at[BINS], count[BINS]; /* degree and vertices per degree */
} series;

static int bin_of(int64_t degree)
{
    return degree < 10 ? (int)degree - 1 : 9 + (int)floor(10 * log10((double)degree / 10) + 1e-9);
}

/* Whole degrees within a bin, and their geometric middle. */
static void bin_range(int bin, double *first, double *width)
{
    double low = ceil(10 * pow(10, (bin - 9) / 10.0) - 1e-6),
           next = ceil(10 * pow(10, (bin - 8) / 10.0) - 1e-6);
    *first = bin < 9 ? bin + 1 : low;
    *width = bin < 9 ? 1 : fmax(next - low, 1);
}

static void gather(series *s, const int64_t *degree, int64_t n)
{
    double sum = 0;
    s->vertices = n;
    for (int64_t v = 0; v < n; v++) {
        sum += (double)degree[v];
        s->largest = degree[v] > s->largest ? degree[v] : s->largest;
        s->empty += degree[v] == 0;
        if (degree[v] > 0)
            s->count[bin_of(degree[v])]++;
    }
    s->mean = n > 0 ? sum / (double)n : 0;
    for (int b = 0; b < BINS; b++) {
        double first, width;
        bin_range(b, &first, &width);
        s->at[b] = sqrt(first * (first + width - 1));
        s->count[b] /= width;
    }
}

/* Both series of a matrix; a symmetric pattern has one. */
static int gather_both(series s[2], const draw_matrix *m)
{
    int64_t n = m->nrows + m->ncols, *degree = calloc((size_t)n + 1, sizeof *degree);
    if (!degree)
        return 0;
    for (int64_t i = 0; i < m->nrows; i++) {
        degree[i] = m->rowptr[i + 1] - m->rowptr[i];
        for (int64_t e = m->rowptr[i]; e < m->rowptr[i + 1]; e++)
            degree[m->nrows + m->colidx[e]]++;
    }
    bool same = m->nrows == m->ncols;
    for (int64_t i = 0; same && i < m->nrows; i++)
        same = degree[i] == degree[m->nrows + i];
    s[0] = (series){.name = same ? "vertices" : m->row_kind ? m->row_kind : "rows", .k = colour_rows};
    s[1] = (series){.name = m->col_kind ? m->col_kind : "columns", .k = colour_cols};
    gather(&s[0], degree, m->nrows);
    gather(&s[1], degree + m->nrows, m->ncols);
    free(degree);
    return same ? 1 : 2;
}

typedef struct axes {
    double low_x, high_x, low_y, high_y; /* logarithms */
} axes;

static double place_x(const axes *a, double value)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (log10(value) - a->low_x) / (a->high_x - a->low_x);
}

static double place_y(const axes *a, double value)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (log10(value) - a->low_y) / (a->high_y - a->low_y);
}

static void power_of_ten(canvas *c, double x, double y, align a, int exponent)
{
    char label[32], digits[16];
    if (exponent >= 0 && exponent <= 3) {
        text(c, x, y, 11, a, colour_quiet, with_commas(label, (int64_t)(pow(10, exponent) + 0.5)));
        return;
    }
    snprintf(digits, sizeof digits, "%d", exponent);
    double small = text_width(c, 8, digits), base = text_width(c, 11, "10");
    double left = a == ALIGN_CENTRE ? x - (base + small) / 2 : x - base - small;
    text(c, left, y, 11, ALIGN_LEFT, colour_quiet, "10");
    text(c, left + base, y - 4, 8, ALIGN_LEFT, colour_quiet, digits);
}

static void draw_axes(canvas *c, const axes *a)
{
    const double bottom = HEIGHT - BOTTOM, right = WIDTH - RIGHT;
    cairo_set_line_width(c->cr, 0.8);
    for (int k = (int)a->low_x; k <= (int)a->high_x; k++) {
        double x = place_x(a, pow(10, k));
        set_colour(c, colour_grid, 1);
        cairo_move_to(c->cr, x, TOP);
        cairo_line_to(c->cr, x, bottom);
        cairo_stroke(c->cr);
        power_of_ten(c, x, bottom + 18, ALIGN_CENTRE, k);
    }
    for (int k = (int)a->low_y; k <= (int)a->high_y; k++) {
        double y = place_y(a, pow(10, k));
        set_colour(c, colour_grid, 1);
        cairo_move_to(c->cr, LEFT, y);
        cairo_line_to(c->cr, right, y);
        cairo_stroke(c->cr);
        power_of_ten(c, LEFT - 8, y + 4, ALIGN_RIGHT, k);
    }
    set_colour(c, colour_quiet, 1);
    cairo_rectangle(c->cr, LEFT, TOP, right - LEFT, bottom - TOP);
    cairo_stroke(c->cr);
    text(c, (LEFT + right) / 2, HEIGHT - 20, 12, ALIGN_CENTRE, colour_text,
         "degree: entries of a row or column");
    text_turned(c, 24, (TOP + bottom) / 2, 12, -M_PI / 2, ALIGN_CENTRE, colour_text, "number per degree");
}

static void draw_series(canvas *c, const axes *a, const series *s)
{
    set_colour(c, s->k, 0.45);
    cairo_set_line_width(c->cr, 1.4);
    for (int b = 0; b < BINS; b++)
        if (s->count[b] > 0)
            cairo_line_to(c->cr, place_x(a, s->at[b]), place_y(a, s->count[b]));
    cairo_stroke(c->cr);
    set_colour(c, s->k, 1);
    for (int b = 0; b < BINS; b++)
        if (s->count[b] > 0) {
            cairo_arc(c->cr, place_x(a, s->at[b]), place_y(a, s->count[b]), 3.2, 0, 2 * M_PI);
            cairo_fill(c->cr);
        }
}

/* Above the plot, where no point is. */
static void draw_legend(canvas *c, const series *s, int count)
{
    char line[160], n[32], most[32], none[32];
    for (int k = 0; k < count; k++) {
        const double y = 76 + 20 * k;
        snprintf(line, sizeof line, "%s %s: mean %.3g, largest %s, %s empty", with_commas(n, s[k].vertices),
                 s[k].name, s[k].mean, with_commas(most, s[k].largest), with_commas(none, s[k].empty));
        set_colour(c, s[k].k, 1);
        cairo_arc(c->cr, LEFT + 5, y, 4, 0, 2 * M_PI);
        cairo_fill(c->cr);
        text(c, LEFT + 17, y + 4, 12, ALIGN_LEFT, colour_text, line);
    }
}

static axes axes_for(const series *s, int count)
{
    axes a = {.high_x = 1, .high_y = 1};
    for (int k = 0; k < count; k++) {
        a.high_x = fmax(a.high_x, ceil(log10((double)s[k].largest + 1)));
        for (int b = 0; b < BINS; b++)
            if (s[k].count[b] > 0) {
                a.high_y = fmax(a.high_y, ceil(log10(s[k].count[b] * 1.1)));
                a.low_y = fmin(a.low_y, floor(log10(s[k].count[b])));
            }
    }
    return a;
}

bool draw_degrees(const draw_request *r, unsigned char **bytes, size_t *size)
{
    series *s = calloc(2, sizeof *s);
    canvas c;
    char subtitle[160], rows[32], cols[32], entries[32];
    const draw_matrix *m = &r->matrix[0];
    int count = s ? gather_both(s, m) : 0;
    bool good = count > 0 && canvas_begin(&c, r, WIDTH, HEIGHT);
    if (good) {
        axes a = axes_for(s, count);
        snprintf(subtitle, sizeof subtitle, "degree distribution of %s x %s, %s entries",
                 with_commas(rows, m->nrows), with_commas(cols, m->ncols),
                 with_commas(entries, m->rowptr[m->nrows]));
        heading(&c, LEFT, 34, m->title, subtitle);
        draw_axes(&c, &a);
        for (int k = 0; k < count; k++)
            draw_series(&c, &a, &s[k]);
        draw_legend(&c, s, count);
        good = canvas_end(&c, bytes, size);
    }
    free(s);
    return good;
}
