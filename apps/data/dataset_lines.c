/* Lines of small texts, and which line a row of numbers was on. */
#include "data/dataset_parts.h"

#include <stdio.h>

GrB_Info dataset_lines_open(dataset_lines *l, const char *path)
{
    FtB_Context ctx = ftb_context();
    *l = (dataset_lines){.line = 0};
    GrB_Info info = ftb_input_open(&l->in, ctx, path);
    if (info == GrB_SUCCESS)
        info = ftb_text_open(&l->text, ctx, l->in);
    if (info == GrB_SUCCESS)
        info = ftb_text_next(&l->text, 0, &l->first, &l->end);
    if (info != GrB_SUCCESS) {
        dataset_lines_close(l);
        return info;
    }
    l->at = l->first;
    if (l->end - l->at >= 3 && memcmp(l->at, FTB_UTF8_MARK, 3) == 0)
        l->at += 3;
    return GrB_SUCCESS;
}

GrB_Info dataset_lines_next(dataset_lines *l, const char **word, int64_t *length)
{
    *word = NULL;
    for (;;) {
        if (l->at == l->end) {
            GrB_Info info = l->first < l->end ? ftb_text_next(&l->text, ftb_count_lines(l->first, l->end),
                                                              &l->first, &l->end)
                                              : GrB_SUCCESS;
            if (info != GrB_SUCCESS || l->first == l->end)
                return info;
            l->at = l->first;
        }
        char *p = l->at, *stop = memchr(p, '\n', (size_t)(l->end - p));
        l->at = stop + 1;
        l->line++;
        while (p < stop && strchr(" \t\r", *p))
            p++;
        while (stop > p && strchr(" \t\r", stop[-1]))
            stop--;
        if (p == stop || *p == '#' || *p == '%')
            continue;
        *word = p;
        *length = stop - p;
        return GrB_SUCCESS;
    }
}

void dataset_lines_close(dataset_lines *l)
{
    ftb_text_close(&l->text);
    ftb_input_close(&l->in);
}

char *dataset_where(char buffer[DATASET_PATH + 64], const char *path, int64_t row, int64_t nrows)
{
    /* In tables and arrays the rows are the last lines: before them come a header, or a size line. */
    dataset_lines l;
    const ftb_format *format;
    bool dense;
    const char *word;
    int64_t length, lines = 0, found = -1;
    bool text = dataset_probe(path, &format, &dense) == GrB_SUCCESS && dense && ftb_format_text(format);
    if (text && dataset_lines_open(&l, path) == GrB_SUCCESS) {
        while (dataset_lines_next(&l, &word, &length) == GrB_SUCCESS && word)
            lines++;
        dataset_lines_close(&l);
    }
    if (lines >= nrows && text && dataset_lines_open(&l, path) == GrB_SUCCESS) {
        for (int64_t at = 0; at <= lines - nrows + row; at++)
            if (dataset_lines_next(&l, &word, &length) != GrB_SUCCESS)
                break;
        found = l.line;
        dataset_lines_close(&l);
    }
    if (found > 0)
        snprintf(buffer, DATASET_PATH + 64, "%s:%lld", path, (long long)found);
    else
        snprintf(buffer, DATASET_PATH + 64, "%s: row %lld", path, (long long)row);
    return buffer;
}
