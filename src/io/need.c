/* What reading a text would have taken, once the memory limit was too small for it: a limit that is sure to
 * do, from the number of entries, in any order and of ids that are all different. Entries that come in the
 * order of rows, and few ids, take a third of it. */
#include "core/words.h"
#include "io/input.h"

#include <math.h>
#include <stdio.h>

/* Line ends, or where `lists` is not 0 the delimiters of lists; at most as many entries. */
static double count_entries(const char *first, const char *end, char lists)
{
    int64_t count = 0;
    if (lists == 0)
        return (double)ftb_count_lines(first, end);
    for (; first < end; first++)
        count += *first == lists || (lists == ' ' && *first == '\t') ||
                 (lists == FTB_ANY_DELIMITER && memchr("\t ,;", *first, 4));
    return (double)count;
}

/* Entries and bytes in all; what has not been read yet is read for them. */
static GrB_Info drain(ftb_text *t, const ftb_need *need, double *entries, double *bytes)
{
    char piece[16384];
    int64_t got = 0;
    GrB_Info info = GrB_SUCCESS;
    /* t->line: of the batch, from 1: the last line may not be ended */
    *entries = need->lists ? (double)need->nvals : (double)t->line;
    *bytes = t->done + (double)t->size;
    if (t->buffer)
        *entries += count_entries(t->buffer, t->buffer + t->size, need->lists);
    do {
        info = ftb_input_read(t->in, piece, sizeof piece, &got);
        *entries += count_entries(piece, piece + got, need->lists);
        *bytes += (double)got;
    } while (info == GrB_SUCCESS && got == (int64_t)sizeof piece && !ftb_cancelled(t->ctx));
    return info;
}

double ftb_build_bytes(FtB_Context ctx, double n, double nrows, double col_size, double entry)
{
    double hub = 16 * fmin(n, 131072), threads = ftb_threads(ctx);
    return n * (16 + entry + 16 + col_size + entry) + 8 * nrows + threads * (hub + 8 * 4096) + 65536;
}

GrB_Info ftb_too_large(FtB_Context ctx, int64_t left, double need, const char *name)
{
    char limit[FTB_WORDS], enough[FTB_WORDS];
    return ftb_fail(FTB_LIMIT, "memory limit: %s are too few to read %s; for that %s are enough",
                    ftb_bytes_text(limit, (double)ctx->limit), name,
                    ftb_bytes_text(enough, ceil(1.01 * (double)(ctx->limit - left) + need)));
}

GrB_Info ftb_text_too_large(ftb_text *t, const ftb_need *need)
{
    char message[256]; /* of the limit: it stays where the input cannot be read on */
    double n = (double)need->nvals, rows = (double)need->nrows, col_size = (double)ftb_col_size(need->ncols);
    double bytes = FTB_PIECE_BYTES, tables = 0, labels = 0;
    snprintf(message, sizeof message, "%s", FtB_error());
    if (need->labels) {
        if (drain(t, need, &n, &bytes) != GrB_SUCCESS)
            return ftb_fail(FTB_LIMIT, "%s", message);
        rows = n;
        col_size = 8;
        labels = need->texts ? 2 * (16 * n + 2 * bytes) : 2 * 29 * n; /* numbers have up to 21 characters */
        tables = need->texts ? 2 * 96 * n : 56 * n + 262144;          /* by hash, while they grow */
    }
    double tuple = 16 + (need->valued ? 8 : 0) + (need->lined ? 8 : 0), all = n * need->mirror;
    double parsing = 1.5 * n * tuple + col_size * n + 8 * rows + (need->texts ? labels + tables : 0);
    double numbering = n * tuple + labels + tables;
    double building =
        all * tuple + labels + ftb_build_bytes(t->ctx, all, rows, col_size, need->valued ? 8 : 0);
    parsing =
        parsing / 0.8 + 20 * fmin(bytes, FTB_PIECE_BYTES) + 65536; /* pieces take 0.15 of a large limit */
    return ftb_too_large(t->ctx, need->left, fmax(parsing, fmax(numbering, building)), ftb_input_name(t->in));
}
