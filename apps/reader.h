/* Reading the input of a subcommand whose row says `reads`. */
#ifndef APP_READER_H
#define APP_READER_H

#include "app.h"
#include "text.h"

/* Reads a matrix as the input options say; `found` is its format, labels are an edge list's ids or NULL. */
int reader_read(const reader_values *v, const char *path, FtB_Matrix *R, FtB_Labels *rows, FtB_Labels *cols,
                FtB_Format *found);
/* The character that --delimiter names; 0 for NULL: to be guessed. */
int reader_delimiter(const char *word, char *delimiter);

/* The fields of the file's first line, kept in `t` (text_free); 0 for standard input and for files that are
 * no tables. */
int reader_header(const reader_values *v, const char *path, text *t, char **fields, int room);

#endif
