/* Reading the input of a subcommand by the input options. */
#include "reader.h"
#include "format_words.h"
#include "io/input.h"
#include "io/io.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 65536
#define MAX_FIELDS 256

int reader_delimiter(const char *word, char *delimiter)
{
    static const char *const words[] = {"tab", "comma", "semicolon", "space", "\\t"};
    static const char characters[] = "\t,; \t";
    *delimiter = 0;
    if (!word)
        return APP_OK;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strcmp(words[w], word) == 0)
            *delimiter = characters[w];
    if (!*delimiter && word[0] && !word[1])
        *delimiter = word[0];
    if (*delimiter)
        return APP_OK;
    return app_unknown("delimiter", word, 4, words, "or a single character");
}

int reader_header(const reader_values *v, const char *path, text *t, char **fields, int room)
{
    if (strcmp(path, "-") == 0 || text_read(t, path, HEADER_BYTES) != APP_OK)
        return 0;
    reader_delimiter(v->delimiter, &t->delimiter);
    bool table = memchr(t->bytes, 0, t->size) == NULL && strncmp(t->bytes, "%%MatrixMarket", 14) != 0;
    int count = table ? text_next(t, fields, room) : 0;
    return count > 0 ? count : 0;
}

/* Looks for a name in --columns that the header does not have; APP_OK if that is not what is wrong. */
static int unknown_column(const reader_values *v, const char *path)
{
    text t = {0};
    char *fields[MAX_FIELDS], *copy = strdup(v->columns), *rest = copy, *name;
    char hint[300];
    int code = APP_OK, count = reader_header(v, path, &t, fields, MAX_FIELDS);
    snprintf(hint, sizeof hint, "the first line of %.250s names them", path);
    while (count > 0 && code == APP_OK && (name = strsep(&rest, ",")) != NULL)
        if (text_column(name, count, fields) < 0 && strspn(name, "0123456789") != strlen(name))
            code = app_unknown("column", name, count, (const char *const *)fields, hint);
    text_free(&t);
    free(copy);
    return code;
}

char *reader_describe(char *buffer, const FtB_Edge_layout *l)
{
    const char *name = ftb_delimiter_name(l->delimiter);
    char value[32] = "no values";
    if (l->value > 0)
        snprintf(value, sizeof value, "value %d", l->value);
    if (l->adjacency)
        snprintf(buffer, READER_TEXT, "lists of a row and its columns; %s; %s header", name,
                 l->header ? "a" : "no");
    else
        snprintf(buffer, READER_TEXT, "%s; %s header; row %d, column %d, %s", name, l->header ? "a" : "no",
                 l->row, l->col, value);
    return buffer;
}

static int failed(const reader_values *v, const char *path, GrB_Info info)
{
    if (info == FTB_LIMIT && strstr(FtB_error(), "are enough"))
        return app_library_error(info, APP_MEMORY);
    if ((info == FTB_LIMIT || info == GrB_OUT_OF_MEMORY) && !app_signal())
        return app_library_error(ftb_wrap_error(info, "%s does not fit while it is read: ", path),
                                 APP_MEMORY);
    if (info != GrB_INVALID_VALUE)
        return app_library_error(info, APP_INPUT);
    const int code = v->columns ? unknown_column(v, path) : APP_OK;
    if (code != APP_OK)
        return code;
    return app_library_error(info, v->duplicates == FTB_DUP_ERROR ? APP_INPUT : APP_USAGE);
}

int reader_read(const reader_values *v, const char *path, FtB_Matrix *R, FtB_Labels *rows, FtB_Labels *cols,
                reader_found *found)
{
    char delimiter, how[READER_TEXT];
    int code = reader_delimiter(v->delimiter, &delimiter);
    *found = (reader_found){.format = FTB_FORMAT_AUTO};
    if (code != APP_OK)
        return code;
    GrB_Info info = FtB_Matrix_read(
        R, rows, cols, path,
        FTB_READ_OPTIONS(.format = format_of_word(formats_read, v->format), .columns = v->columns,
                         .delimiter = delimiter, .header = v->header, .duplicates = (FtB_Dup)v->duplicates,
                         .adjacency = v->adjacency != 0, .found = &found->format, .layout = &found->layout));
    if (info != GrB_SUCCESS)
        return failed(v, path, info);
    if (found->layout.delimiter && !v->common.quiet) {
        app_progress_clear();
        app_print(stderr, "%s: %s\n", strcmp(path, "-") == 0 ? "standard input" : path,
                  reader_describe(how, &found->layout));
    }
    return APP_OK;
}

int reader_matrix(const reader_values *v, const char *path, const char *kind, FtB_Matrix *A, int64_t *base)
{
    FtB_Labels rows = NULL, cols = NULL;
    reader_found found;
    const int code = reader_read(v, path, A, &rows, &cols, &found);
    const bool labels = rows || cols;
    FtB_Labels_free(&rows);
    FtB_Labels_free(&cols);
    if (code != APP_OK)
        return code;
    if (labels)
        return app_fail(APP_INPUT,
                        "%s: an edge list, whose rows and columns have numbers apart; expected a %s in mtx, "
                        "npz, csr or sg",
                        path, kind);
    *base = ftb_format_base(ftb_format_of(found.format));
    return APP_OK;
}

int reader_graph(const reader_values *v, const char *path, FtB_Matrix *A, int64_t *n, int64_t *base)
{
    int64_t ncols;
    int code = reader_matrix(v, path, "square matrix", A, base);
    if (code == APP_OK)
        code = app_library_error(FtB_Matrix_shape(*A, n, &ncols, NULL, NULL, NULL), APP_INPUT);
    if (code == APP_OK && *n != ncols)
        return app_fail(APP_INPUT, "%s: %lld x %lld; expected as many rows as columns", path, (long long)*n,
                        (long long)ncols);
    return code;
}

int reader_numbers(const char *path, int64_t cols, int64_t **list, int64_t *count, int64_t *width,
                   int64_t *base)
{
    FtB_Block X;
    FtB_Format found;
    int64_t rows, have, ld;
    void *values;
    GrB_Info info = FtB_Block_read(&X, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_INT64, .found = &found));
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(X, &rows, &have, &ld, NULL, &values);
    int code = app_library_error(info, APP_INPUT);
    if (code != APP_OK)
        return code;
    if (rows > 0 && (have < 1 || have > cols))
        code = app_fail(APP_INPUT, "%s: %lld columns; expected %s", path, (long long)have,
                        cols == 1 ? "a number a line" : "a number, or a row and a column, a line");
    else if (rows == 0 && found != FTB_NPY)
        code = app_fail(APP_INPUT, "%s: has no numbers", path);
    *width = rows > 0 ? have : 1;
    *count = rows;
    if (base && found == FTB_NPY)
        *base = 0;
    *list = malloc(sizeof **list * (size_t)(rows * *width + 1));
    if (code == APP_OK && !*list)
        code = app_fail(APP_MEMORY, "out of memory");
    for (int64_t i = 0; i < rows && code == APP_OK; i++)
        memcpy(*list + i * *width, (const int64_t *)values + i * ld, (size_t)*width * sizeof **list);
    FtB_Block_free(&X);
    return code;
}
