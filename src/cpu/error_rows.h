/* Sums of messages (y - dot(x, z)) x: of a value of the entry, less a product of the source's row and the
 * receiver's, times the source's row. That is a step of factors along the gradient, and their like. */
#ifndef FTB_ERROR_ROWS_H
#define FTB_ERROR_ROWS_H

#include "core/isa.h"
#include "expr/message.h"

typedef struct ftb_error_rows {
    /* Rows first .. last - 1 of the pattern, or of the list. NULL: the message is none of these. */
    void (*run)(const struct ftb_error_rows *f, int64_t first, int64_t last);
    const ftb_pattern *p;
    const int64_t *rows;   /* NULL: all */
    const void *x, *y, *z; /* of sources, entries and receivers */
    int64_t ldx, ldy, ldz; /* values between their rows */
    const int64_t *at;     /* y of entry e is at at[e]; NULL: at e */
    int64_t width;         /* a multiple of FTB_LANES */
    void *out;             /* ld values apart */
    int64_t ld;
} ftb_error_rows;

/* What the message and its feeds say; rows, out and ld are the caller's to fill in. (error_rows.c) */
ftb_error_rows ftb_error_rows_of(const ftb_message *m, const ftb_message_type *type, const ftb_pattern *p);

/* (kernels/error_sums.c) */
FTB_CELLS(void, ftb_error_sums_f32, (const ftb_error_rows *f, int64_t first, int64_t last))
FTB_CELLS(void, ftb_error_sums_f64, (const ftb_error_rows *f, int64_t first, int64_t last))

#endif
