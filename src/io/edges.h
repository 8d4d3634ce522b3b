/* Lines of an edge list: fields, header, columns. */
#ifndef FTB_EDGES_H
#define FTB_EDGES_H

#include "io/input.h"

/* A field of a line. */
typedef struct ftb_field {
    const char *text, *end;
    bool quoted, doubled; /* doubled: "" inside stands for " */
} ftb_field;

/* How to read the lines. */
typedef struct ftb_edges_layout {
    char delimiter; /* ' ': any run of blanks and tabs */
    bool quotes;    /* fields may be quoted (RFC 4180) */
    bool header;
    bool lists;          /* adjacency lists: a row and its columns, without values */
    int row, col, value; /* fields, from 0; value -1: none */
    int64_t fields;      /* of every line; unused for lists; 0: the first line shows a quote that is wrong */
} ftb_edges_layout;

/* What ftb_next_field found. */
typedef enum ftb_field_end { FTB_FIELD_MORE, FTB_FIELD_LAST, FTB_FIELD_OPEN } ftb_field_end;
/* Reads the field at *p, up to `end` (before which there is a newline). MORE: *p is at the next field; LAST:
 * *p is at the newline; OPEN: a quote is never closed, or something follows it: f->text is the place. */
ftb_field_end ftb_next_field(const ftb_edges_layout *l, const char **p, const char *end, ftb_field *f);
/* A field without content that a run of blanks leaves at the end of a line does not count. */
bool ftb_skip_line(const char **p, const char *end, bool comments); /* blank lines, and comments if wanted */

/* Finds out the layout from the first lines, [first, end), and the options; *data is the first line of
 * data. The delimiter is known. */
GrB_Info ftb_edges_detect(ftb_edges_layout *l, const ftb_text *t, const FtB_Read_options *options,
                          const char *first, const char *end, const char **data);
/* An integer written as we write integers, so that its text need not be kept. */
bool ftb_field_integer(const ftb_field *f, int64_t *value);
bool ftb_field_real(const ftb_field *f, bool single, double *value);

#endif
