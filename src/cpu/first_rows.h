/* Rows of which the first message that says all is enough: `any` and `or` of a single value of the sources.
 */
#ifndef FTB_FIRST_ROWS_H
#define FTB_FIRST_ROWS_H

#include "expr/message.h"

typedef struct ftb_first_rows {
    /* Rows first .. last - 1 of the pattern, or of the list. NULL: the message is none of these. */
    void (*run)(const struct ftb_first_rows *f, int64_t first, int64_t last);
    const ftb_pattern *p;
    const int64_t *rows; /* NULL: all */
    const void *x;       /* the sources' values, ldx apart, as they are stored */
    FtB_Type stored, reduced;
    int64_t ldx;
    char *out; /* of `reduced`, ld apart */
    int64_t ld;
    char none[8]; /* what rows without entries get */
} ftb_first_rows;

/* What the message and its feeds say; rows, out and ld are the caller's to fill in. (first_rows.c) */
ftb_first_rows ftb_first_rows_of(const ftb_message *m, const ftb_message_type *type, const ftb_pattern *p);

#endif
