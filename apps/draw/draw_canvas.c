/* A cairo surface in memory, text, colours and number formats. */
#include "draw/draw_canvas.h"

#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const colour colour_text = {0.13, 0.15, 0.19}, colour_quiet = {0.42, 0.45, 0.50},
             colour_grid = {0.88, 0.89, 0.91}, colour_rows = {0.13, 0.40, 0.67},
             colour_cols = {0.87, 0.47, 0.13}, colour_edge = {0.35, 0.41, 0.49};

static cairo_status_t append(void *closure, const unsigned char *data, unsigned int length)
{
    canvas *c = closure;
    if (c->size + length > c->room) {
        size_t room = 2 * (c->size + length);
        unsigned char *bytes = realloc(c->bytes, room);
        if (!bytes)
            return CAIRO_STATUS_NO_MEMORY;
        c->bytes = bytes;
        c->room = room;
    }
    memcpy(c->bytes + c->size, data, length);
    c->size += length;
    return CAIRO_STATUS_SUCCESS;
}

static void prepare(canvas *c)
{
    c->cr = cairo_create(c->surface);
    cairo_select_font_face(c->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
}

static void add_words(canvas *c, const char *s)
{
    const size_t length = strlen(s);
    if (c->words_size + length + 1 > c->words_room) {
        const size_t room = 2 * (c->words_size + length) + 1024;
        char *words = realloc(c->words, room);
        c->failed = c->failed || !words;
        if (!words)
            return;
        c->words = words;
        c->words_room = room;
    }
    memcpy(c->words + c->words_size, s, length + 1);
    c->words_size += length;
}

/* A text as an element of its own, which readers of the file can search and read aloud. */
static void say(canvas *c, double x, double y, double size, double radians, align a, const char *s)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    char element[200], turn[80] = "", letter[2] = "";
    if (!c->words)
        return;
    if (radians < 0 || radians > 0)
        snprintf(turn, sizeof turn, " transform=\"rotate(%g %.1f %.1f)\"", radians * 180 / M_PI, x, y);
    snprintf(element, sizeof element, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%g\" text-anchor=\"%s\"%s>", x,
             y, size, anchors[a], turn);
    add_words(c, element);
    for (; *s; s++) {
        letter[0] = *s;
        add_words(c, *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : *s == '&' ? "&amp;" : letter);
    }
    add_words(c, "</text>\n");
}

bool canvas_begin(canvas *c, const draw_request *request, double width, double height)
{
    /* A PNG has two pixels per unit unless asked otherwise: it is looked at on dense screens. */
    double scale = request->width > 0 ? request->width / width : request->png ? 2 : 1;
    *c = (canvas){.width = width, .height = height, .png = request->png};
    if (c->png)
        c->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width * scale),
                                                (int)ceil(height * scale));
    else
        c->surface = cairo_svg_surface_create_for_stream(append, c, width * scale, height * scale);
    prepare(c);
    cairo_scale(c->cr, scale, scale);
    if (!c->png) { /* invisible: what is seen are cairo's glyphs, which are only shapes */
        char group[120];
        snprintf(group, sizeof group,
                 "<g transform=\"scale(%g)\" font-family=\"sans-serif\" fill=\"none\">\n", scale);
        add_words(c, group);
    }
    cairo_set_source_rgb(c->cr, 1, 1, 1);
    cairo_paint(c->cr);
    return cairo_status(c->cr) == CAIRO_STATUS_SUCCESS;
}

bool canvas_measure(canvas *c)
{
    *c = (canvas){.png = true};
    c->surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    prepare(c);
    return cairo_status(c->cr) == CAIRO_STATUS_SUCCESS;
}

void canvas_discard(canvas *c)
{
    cairo_destroy(c->cr);
    cairo_surface_destroy(c->surface);
    free(c->bytes);
    free(c->words);
    *c = (canvas){0};
}

/* The words go before the file's last line. */
static bool put_words(canvas *c)
{
    static const unsigned char last[] = "</g>\n</svg>\n";
    if (c->png)
        return true;
    if (c->failed || c->size < 7 || memcmp(c->bytes + c->size - 7, "</svg>\n", 7) != 0)
        return false;
    c->size -= 7;
    return append(c, (const unsigned char *)c->words, (unsigned)c->words_size) == CAIRO_STATUS_SUCCESS &&
           append(c, last, sizeof last - 1) == CAIRO_STATUS_SUCCESS;
}

bool canvas_end(canvas *c, unsigned char **bytes, size_t *size)
{
    bool good = cairo_status(c->cr) == CAIRO_STATUS_SUCCESS;
    if (c->png)
        good = good && cairo_surface_write_to_png_stream(c->surface, append, c) == CAIRO_STATUS_SUCCESS;
    cairo_surface_finish(c->surface);
    good = good && cairo_surface_status(c->surface) == CAIRO_STATUS_SUCCESS && put_words(c);
    if (good) {
        *bytes = c->bytes;
        *size = c->size;
        c->bytes = NULL;
    }
    canvas_discard(c);
    return good;
}

void set_colour(canvas *c, colour k, double alpha)
{
    cairo_set_source_rgba(c->cr, k.red, k.green, k.blue, alpha);
}

/* Bytes of the UTF-8 sequence at s, 0 if it is none. */
static int sequence(const unsigned char *s)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    unsigned code = length == 1 ? s[0] : length ? s[0] & (0x7fu >> length) : 0;
    for (int k = 1; k < length; k++) {
        if (s[k] >> 6 != 2)
            return 0;
        code = code << 6 | (s[k] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return length && code >= least[length] && code <= 0x10ffff && !surrogate ? length : 0;
}

const char *clip(char *buffer, int most, const char *s)
{
    const unsigned char *at = (const unsigned char *)s;
    size_t out = 0;
    for (int shown = 0; *at; shown++) {
        int length = sequence(at);
        if (shown == most) {
            memcpy(buffer + out, "\xe2\x80\xa6", 3); /* an ellipsis */
            out += 3;
            break;
        }
        if (length > 1 || (length == 1 && *at >= 0x20 && *at != 0x7f)) {
            memcpy(buffer + out, at, (size_t)length);
            out += (size_t)length;
        } else
            buffer[out++] = length ? ' ' : '?'; /* controls; bytes that are no UTF-8, which cairo refuses */
        at += length ? length : 1;
    }
    buffer[out] = '\0';
    return buffer;
}

double text_width(canvas *c, double size, const char *s)
{
    cairo_text_extents_t extents;
    char clean[CLIP_ROOM(MOST_TEXT)];
    cairo_set_font_size(c->cr, size);
    cairo_text_extents(c->cr, clip(clean, MOST_TEXT, s), &extents);
    return extents.x_advance;
}

void text_turned(canvas *c, double x, double y, double size, double radians, align a, colour k, const char *s)
{
    double width = text_width(c, size, s);
    char clean[CLIP_ROOM(MOST_TEXT)];
    cairo_save(c->cr);
    cairo_translate(c->cr, x, y);
    cairo_rotate(c->cr, radians);
    cairo_move_to(c->cr, a == ALIGN_LEFT ? 0 : a == ALIGN_RIGHT ? -width : -width / 2, 0);
    set_colour(c, k, 1);
    cairo_show_text(c->cr, clip(clean, MOST_TEXT, s));
    say(c, x, y, size, radians, a, clean);
    cairo_restore(c->cr);
    cairo_new_path(c->cr);
}

void text(canvas *c, double x, double y, double size, align a, colour k, const char *s)
{
    text_turned(c, x, y, size, 0, a, k, s);
}

void heading(canvas *c, double x, double y, const char *title, const char *subtitle)
{
    cairo_select_font_face(c->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    text(c, x, y, 17, ALIGN_LEFT, colour_text, title);
    cairo_select_font_face(c->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    text(c, x, y + 18, 12, ALIGN_LEFT, colour_quiet, subtitle);
}

colour palette(int64_t k)
{
    static const colour all[] = {
        {0.13, 0.40, 0.67}, {0.87, 0.47, 0.13}, {0.17, 0.58, 0.31}, {0.76, 0.20, 0.24}, {0.48, 0.34, 0.66},
        {0.55, 0.38, 0.26}, {0.84, 0.42, 0.67}, {0.42, 0.45, 0.50}, {0.65, 0.65, 0.13}, {0.10, 0.66, 0.72}};
    return all[k % (int64_t)(sizeof all / sizeof *all)];
}

colour shade(double t)
{
    static const colour stops[] = {{0.86, 0.92, 0.97}, {0.62, 0.79, 0.88}, {0.31, 0.60, 0.79},
                                   {0.11, 0.39, 0.65}, {0.04, 0.20, 0.42}, {0.02, 0.09, 0.22}};
    const int last = sizeof stops / sizeof *stops - 1;
    double at = fmin(fmax(t, 0), 1) * last;
    int k = at >= last ? last - 1 : (int)at;
    double f = at - k;
    return (colour){stops[k].red + f * (stops[k + 1].red - stops[k].red),
                    stops[k].green + f * (stops[k + 1].green - stops[k].green),
                    stops[k].blue + f * (stops[k + 1].blue - stops[k].blue)};
}

const char *with_commas(char *buffer, int64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n), out = 0;
    for (int d = 0; d < length; d++) {
        if (d > 0 && (length - d) % 3 == 0 && digits[d - 1] != '-')
            buffer[out++] = ',';
        buffer[out++] = digits[d];
    }
    buffer[out] = '\0';
    return buffer;
}

double nice_step(double range, int most)
{
    double step = pow(10, floor(log10(range / most)));
    while (range / step > most) {
        double digit = step / pow(10, floor(log10(step) + 1e-9));
        step *= digit > 1.5 && digit < 2.5 ? 2.5 : 2;
    }
    return step;
}

const char *tick_number(char *buffer, double x, double step)
{
    if (fabs(x) < step / 4)
        x = 0;
    if (x == floor(x) && fabs(x) < 1e15)
        return with_commas(buffer, (int64_t)x);
    const double digits = floor(log10(fabs(x)) + 1e-9) - floor(log10(step) + 1e-9) + 1;
    snprintf(buffer, 32, "%.*g", (int)fmin(fmax(digits, 1), 17), x);
    return buffer;
}

const char *short_number(char *buffer, double x)
{
    if (x == floor(x) && fabs(x) < 1e15)
        return with_commas(buffer, (int64_t)x);
    snprintf(buffer, 32, "%.3g", x);
    return buffer;
}
