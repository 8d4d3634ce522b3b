/* What the library says of its arguments, as one says it of the files that they were read from. */
#include "graph_names.h"

#include "core/core.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Vertex `at`, as the file names it. */
static const char *id_of(char number[24], FtB_Labels labels, int64_t base, int64_t at)
{
    if (labels)
        return FtB_Labels_get(labels, at);
    snprintf(number, 24, "%lld", (long long)(at + base));
    return number;
}

static const char *path_of(const graph_names *g)
{
    return strcmp(g->path, "-") == 0 ? "standard input" : g->path;
}

/* All numbers in the text are vertices. */
static void put_vertices(FILE *out, const char *text, int64_t base)
{
    while (*text) {
        char *end;
        if (isdigit((unsigned char)*text)) {
            fprintf(out, "%lld", strtoll(text, &end, 10) + (long long)base);
            text = end;
        } else {
            fputc(*text++, out);
        }
    }
}

/* What the library says of functions is nothing to who has files. */
static void put_hypersparse(FILE *out, const char *text, const graph_names *g)
{
    const char *wants = strstr(text, "wants "), *limit = strstr(text, "memory limit: ");
    char bytes[32] = "";
    if (limit) {
        fputs(limit, out);
        return;
    }
    if (wants)
        sscanf(wants, "wants %31[^ ]", bytes);
    fprintf(out,
            "%s: far more rows than entries: work over all rows takes %s for their numbers alone; expected "
            "rows and columns without gaps%s",
            path_of(g), bytes,
            g->lists ? ", or an edge list (.tsv, .csv), whose ids are numbered as they come" : "");
}

static void put(FILE *out, const char *text, const graph_names *g)
{
    static const char cycle[] = "A: the cycle ";
    const char *rating = strstr(text, ": the rating ("), *entry = strstr(text, "A("),
               *weights = strstr(text, "the weights of row ");
    char side[8], row[24], col[24];
    long long i, j;
    int end = 0;
    if (strncmp(text, cycle, strlen(cycle)) == 0) {
        fprintf(out, "%s", path_of(g));
        put_vertices(out, text + 1, g->base);
    } else if (strstr(text, " is hypersparse, and ")) {
        put_hypersparse(out, text, g);
    } else if (rating && sscanf(rating, ": the rating (%lld, %lld)%n", &i, &j, &end) == 2 && end > 0) {
        fprintf(out, "%s: the rating of %s for %s%s", path_of(g), id_of(row, g->rows, g->base, i),
                id_of(col, g->cols, g->base, j), rating + end);
    } else if (entry && sscanf(entry, "A(%lld, %lld)%n", &i, &j, &end) == 2 && end > 0) {
        fprintf(out, "%s: %.*sthe entry of %s and %s%s", path_of(g), (int)(entry - text), text,
                id_of(row, g->rows, g->base, i), id_of(col, g->cols, g->base, j), entry + end);
    } else if (weights && sscanf(weights, "the weights of row %lld of A%n", &i, &end) == 1 && end > 0) {
        fprintf(out, "%s: %.*sthe weights of row %s%s", path_of(g), (int)(weights - text), text,
                id_of(row, g->rows, g->base, i), weights + end);
    } else if (sscanf(text, "%7s %lld of R%n", side, &i, &end) == 2 && end > 0) {
        fprintf(out, "%s: %s %s", path_of(g), side,
                id_of(row, strcmp(side, "row") == 0 ? g->rows : g->cols, g->base, i));
        fputs(text + end, out);
    } else if (strncmp(text, "ranks still changed ", 20) == 0) {
        fprintf(out, "%s; --rounds allows more", text);
    } else if (strncmp(text, "A ", 2) == 0 || strncmp(text, "A: ", 3) == 0 || strncmp(text, "R ", 2) == 0) {
        fprintf(out, "%s%s", path_of(g), text + 1);
    } else {
        fputs(text, out);
    }
}

int graph_error(GrB_Info info, int stage, const graph_names *g)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = info == GrB_SUCCESS ? NULL : open_memstream(&text, &size);
    if (out) {
        put(out, FtB_error(), g);
        if (fclose(out) == 0)
            info = ftb_fail(info, "%s", text);
        free(text);
    }
    return app_library_error(info, stage);
}
