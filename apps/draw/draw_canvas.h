/* What the pictures share: a cairo surface in memory, text, colours and number formats. */
#ifndef DRAW_CANVAS_H
#define DRAW_CANVAS_H

#include "draw/draw.h"

#include <cairo.h>
#include <stdbool.h>

typedef struct colour {
    double red, green, blue;
} colour;

extern const colour colour_text, colour_quiet, colour_grid, colour_rows, colour_cols, colour_edge;

typedef struct canvas {
    cairo_t *cr;
    cairo_surface_t *surface;
    double width, height; /* in the picture's own units */
    bool png, failed;
    unsigned char *bytes; /* of the file so far */
    size_t size, room;
    char *words; /* SVG: what text() wrote, once more, for programs (canvas_end) */
    size_t words_size, words_room;
} canvas;

typedef enum align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT } align;

/* A white canvas whose width x height units become request->width pixels wide. */
bool canvas_begin(canvas *c, const draw_request *request, double width, double height);
bool canvas_end(canvas *c, unsigned char **bytes, size_t *size);
/* A throw-away context for measuring text before the size of the canvas is known. */
bool canvas_measure(canvas *c);
void canvas_discard(canvas *c);

void set_colour(canvas *c, colour k, double alpha);
/* The first `most` characters of s, which may hold any bytes, as UTF-8 without controls; an ellipsis if there
 * are more. buffer: CLIP_ROOM(most). */
const char *clip(char *buffer, int most, const char *s);
#define CLIP_ROOM(most) (4 * (most) + 4)
#define MOST_TEXT 120 /* characters of a title */
#define MOST_NAME 28  /* characters of a row's, column's or vertex's name */
double text_width(canvas *c, double size, const char *s);
/* The baseline is at y. */
void text(canvas *c, double x, double y, double size, align a, colour k, const char *s);
void text_turned(canvas *c, double x, double y, double size, double radians, align a, colour k,
                 const char *s);
void heading(canvas *c, double x, double y, const char *title, const char *subtitle);
/* Colours that are told apart, repeated after the tenth. */
colour palette(int64_t k);
/* Light to dark for t from 0 to 1. */
colour shade(double t);
/* 12345 as "12,345"; buffer of 32. */
const char *with_commas(char *buffer, int64_t n);
/* A step of 1, 2 or 5 times a power of ten that cuts range into at most `most` pieces. */
double nice_step(double range, int most);
/* A number as short as it can be shown; buffer of 32. */
const char *short_number(char *buffer, double x);
/* A number on an axis, with as many digits as tell it from one `step` away; buffer of 32. */
const char *tick_number(char *buffer, double x, double step);

/* The pictures: return false after running out of memory. */
bool draw_pattern(const draw_request *r, unsigned char **bytes, size_t *size);
bool draw_degrees(const draw_request *r, unsigned char **bytes, size_t *size);
bool draw_graph(const draw_request *r, unsigned char **bytes, size_t *size);
bool draw_learning(const draw_request *r, unsigned char **bytes, size_t *size);
bool draw_embedding(const draw_request *r, unsigned char **bytes, size_t *size);

/* Positions of a graph's vertices, by graphviz (draw_layout.c), scaled to 0..1 on the longer axis. `length`
 * is the wanted length of each edge, from 0.3 or so to 3. */
bool draw_layout(int n, int nedges, const int *from, const int *to, const double *length, double *x,
                 double *y);

#endif
