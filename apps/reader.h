/* Reading the input of a subcommand whose row says `reads`. */
#ifndef APP_READER_H
#define APP_READER_H

#include "app.h"

/* What a file turned out to be. */
typedef struct reader_found {
    FtB_Format format;
    FtB_Edge_layout layout; /* of an edge list */
} reader_found;

/* Reads a matrix as the input options say, and says what was guessed of an edge list; labels are its ids, or
 * NULL. */
int reader_read(const reader_values *v, const char *path, FtB_Matrix *R, FtB_Labels *rows, FtB_Labels *cols,
                reader_found *found);
/* Reads a matrix that is no edge list; *base: what the file numbers rows and columns from. `kind` is for
 * messages: "square matrix". */
int reader_matrix(const reader_values *v, const char *path, const char *kind, FtB_Matrix *A, int64_t *base);
/* Reads a square matrix of n vertices. */
int reader_graph(const reader_values *v, const char *path, FtB_Matrix *A, int64_t *n, int64_t *base);
/* A file of whole numbers, `cols` a line at most, into *list, malloc()ed; *width: so many a line. *base: what
 * such a file numbers vertices from, which is 0 in .npy, and left
 * alone in others; NULL: these are none. */
int reader_numbers(const char *path, int64_t cols, int64_t **list, int64_t *count, int64_t *width,
                   int64_t *base);
/* "commas; a header; row 1, column 2, value 3"; room for READER_TEXT characters. Returns the buffer. */
#define READER_TEXT 160
char *reader_describe(char *buffer, const FtB_Edge_layout *layout);
/* The character that --delimiter names; 0 for NULL: to be guessed. */
int reader_delimiter(const char *word, char *delimiter);

/* The fields of the file's first line, kept in `t` (text_free); 0 for standard input and for files that are
 * no tables. */
struct text;
int reader_header(const reader_values *v, const char *path, struct text *t, char **fields, int room);

#endif
