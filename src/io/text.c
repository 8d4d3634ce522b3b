/* Texts in batches of whole lines, cut into pieces for the threads. */
#include "io/input.h"

#include <stdarg.h>
#include <stdio.h>

/* Text of Windows' programs: a mark, or characters of which every second byte is zero. */
static bool is_utf16(const char *bytes, int64_t count)
{
    if (count < 4)
        return false;
    return memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0 ||
           (bytes[0] && !bytes[1] && bytes[2] && !bytes[3]) ||
           (!bytes[0] && bytes[1] && !bytes[2] && bytes[3]);
}

GrB_Info ftb_text_check(const ftb_input *in)
{
    int64_t count;
    const char *bytes = ftb_input_peek(in, &count);
    return is_utf16(bytes, count)
               ? ftb_fail(FTB_FORMAT, "%s: is UTF-16; expected UTF-8, as iconv -f UTF-16 -t UTF-8 makes it",
                          ftb_input_name(in))
               : GrB_SUCCESS;
}

GrB_Info ftb_text_open(ftb_text *t, FtB_Context ctx, ftb_input *in)
{
    *t = (ftb_text){.in = in, .ctx = ctx, .line = 1};
    GrB_Info info = ftb_text_check(in);
    if (info != GrB_SUCCESS)
        return info;
    /* What is parsed from a piece takes up to eight times its size: an eighth of the memory at most. */
    int64_t affordable = ftb_max(ftb_memory_left(ctx) / 64 / FTB_PIECE_BYTES, 1);
    t->threads = (int)ftb_min(ftb_threads(ctx), affordable);
    t->pieces = t->threads == 1 ? 2 : (int)ftb_min(16 * (int64_t)t->threads, affordable);
    int64_t size = ftb_input_size(in), piece = FTB_PIECE_BYTES;
    if (size >= 0) { /* small files: small buffers */
        t->pieces = (int)ftb_min(t->pieces, size / FTB_PIECE_BYTES + 1);
        piece = ftb_min(piece, size);
    }
    t->room = piece * t->pieces + 1; /* + 1: the end of a file of just that size shows at once */
    t->entries = piece / 4 + 2;      /* "1 1\n" is the shortest; a piece is longer than its share by a line */
    t->buffer = ftb_new(ctx, t->room + 1, 1); /* + 1: a newline may be missing at the very end */
    return t->buffer ? GrB_SUCCESS : ftb_nomem();
}

void ftb_text_close(ftb_text *t)
{
    ftb_delete(t->buffer);
    t->buffer = NULL;
}

/* The first line end at or after `p` that is outside quotes; `p` begins a line. NULL: there is none. */
static char *line_end(const ftb_text *t, char *p, char *end)
{
    char *newline = memchr(p, '\n', (size_t)(end - p));
    if (!t->crossing || !newline || !memchr(p, '"', (size_t)(newline - p)))
        return newline;
    bool start = true; /* of a field */
    for (; p < end; p++) {
        if (start && *p == '"') { /* skip to the quote that closes the field */
            for (p++; p < end; p++) {
                if (*p == '"' && p + 1 < end && p[1] == '"')
                    p++;
                else if (*p == '"')
                    break;
            }
            if (p >= end)
                return NULL;
            start = false;
        } else if (*p == '\n') {
            return p;
        } else {
            start = *p == t->delimiter || (start && *p == ' ');
        }
    }
    return NULL;
}

/* Bytes of the buffer that form whole lines. */
static int64_t whole_lines(const ftb_text *t)
{
    char *end = t->buffer + t->size;
    if (!t->crossing || !memchr(t->buffer, '"', (size_t)t->size)) {
        char *last = memrchr(t->buffer, '\n', (size_t)t->size);
        return last ? last + 1 - t->buffer : 0;
    }
    char *p = t->buffer;
    for (char *q = p; q; p = q ? q + 1 : p)
        q = p < end ? line_end(t, p, end) : NULL;
    return p - t->buffer;
}

static bool has_quotes(const ftb_text *t, const char *first, const char *end)
{
    return t->crossing && memchr(first, '"', (size_t)(end - first));
}

/* Where among the whole lines one begins that is too long; NULL: nowhere. Looked for, since how many lines
 * fit the buffer depends on the threads. */
static char *long_line(const ftb_text *t)
{
    char *p = t->buffer, *end = p + t->used;
    bool quoted = has_quotes(t, p, end);
    while (end - p > FTB_LINE_LIMIT) {
        char *stop = quoted ? line_end(t, p, end) : memrchr(p, '\n', FTB_LINE_LIMIT + 1);
        if (!stop || stop - p > FTB_LINE_LIMIT)
            return p;
        p = stop + 1;
    }
    return NULL;
}

static GrB_Info too_long(const ftb_text *t, const char *line)
{
    return ftb_fail(FTB_FORMAT, "%s:%lld:1: a line, or a quoted field, of more than %d bytes",
                    ftb_input_name(t->in), (long long)(t->line + ftb_count_lines(t->buffer, line)),
                    FTB_LINE_LIMIT);
}

GrB_Info ftb_text_next(ftb_text *t, int64_t lines, char **first, char **end)
{
    t->line += lines;
    t->size -= t->used;
    memmove(t->buffer, t->buffer + t->used, (size_t)t->size);
    t->used = 0;
    for (;;) {
        int64_t got = 0;
        if (!t->ended) {
            GrB_Info info = ftb_input_read(t->in, t->buffer + t->size, t->room - t->size, &got);
            if (info != GrB_SUCCESS)
                return info;
            t->ended = got < t->room - t->size;
            t->size += got;
        }
        t->used = whole_lines(t);
        if (t->used > 0 || (t->ended && t->size == 0))
            break;
        if (t->ended) {
            if (t->buffer[t->size - 1] != '\n') /* else it is inside quotes that never end */
                t->buffer[t->size++] = '\n';
            t->used = t->size;
            break;
        }
        if (t->size > FTB_LINE_LIMIT)
            return too_long(t, t->buffer);
        if (!ftb_resize(t->ctx, (void **)&t->buffer, 2 * t->room + 1, 1))
            return ftb_nomem();
        t->room *= 2;
    }
    char *line = long_line(t);
    if (line)
        return too_long(t, line);
    *first = t->buffer;
    *end = t->buffer + t->used;
    t->done += (double)t->used;
    return ftb_progress(t->ctx, t->done, (double)ftb_max(ftb_input_size(t->in), 0), "bytes read");
}

/* The end of the line that `nominal` is in; `from` begins a line. */
static char *boundary(const ftb_text *t, bool quoted, char *from, char *nominal, char *end)
{
    if (nominal <= from)
        return from;
    if (nominal >= end)
        return end;
    if (!quoted)
        return (char *)memchr(nominal - 1, '\n', (size_t)(end - nominal + 1)) + 1;
    while (from < nominal) {
        char *newline = line_end(t, from, end);
        from = newline ? newline + 1 : end;
    }
    return from;
}

char *ftb_text_round(const ftb_text *t, char *first, char *end)
{
    int64_t size = (int64_t)FTB_PIECE_BYTES * t->pieces;
    if (end - first <= size)
        return end; /* as always, but for batches that grew for a long line */
    return boundary(t, has_quotes(t, first, end), first, first + size, end);
}

void ftb_text_cut(const ftb_text *t, char *first, char *end, char **cut)
{
    bool quoted = has_quotes(t, first, end);
    /* A long last line must not make the other shares longer than what a piece has room for. */
    int64_t share = ftb_min((end - first) / t->pieces, FTB_PIECE_BYTES);
    cut[0] = first;
    for (int p = 1; p < t->pieces; p++)
        cut[p] = boundary(t, quoted, cut[p - 1], first + share * p, end);
    cut[t->pieces] = end;
}

int64_t ftb_count_lines(const char *first, const char *end)
{
    int64_t lines = 0;
    for (; first < end; first++)
        lines += *first == '\n';
    return lines;
}

void ftb_complain(ftb_complaint *c, const char *at, const char *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->text, sizeof c->text, format, arguments);
    va_end(arguments);
    c->at = at;
    c->line = line;
}

void ftb_complain_more(ftb_complaint *c, const char *more)
{
    const size_t length = strlen(c->text);
    snprintf(c->text + length, sizeof c->text - length, "%s", more);
}

GrB_Info ftb_text_failed(const ftb_text *t, const char *first, const ftb_complaint *c)
{
    int64_t line = t->line + ftb_count_lines(first, c->line), column = c->at - c->line + 1;
    return ftb_fail(FTB_FORMAT, "%s:%lld:%lld: %s", ftb_input_name(t->in), (long long)line, (long long)column,
                    c->text);
}
