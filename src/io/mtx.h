/* What the readers of Matrix Market files share: the header, and blanks. */
#ifndef FTB_MTX_H
#define FTB_MTX_H

#include "core/number.h"
#include "io/input.h"

/* In this order: the real ones last. MTX_UNSIGNED, MTX_SINGLE: where such values are asked for. */
typedef enum ftb_mtx_field { MTX_PATTERN, MTX_INTEGER, MTX_UNSIGNED, MTX_REAL, MTX_SINGLE } ftb_mtx_field;
typedef enum ftb_mtx_symmetry { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW } ftb_mtx_symmetry;

typedef struct ftb_mtx_head {
    bool array;      /* the dense format, which must be asked for; else coordinates */
    bool finite;     /* NaN and infinities are refused */
    FtB_Type wanted; /* the dtype that was asked for; 0: none was */
    ftb_mtx_field field;
    ftb_mtx_symmetry symmetry;
    int64_t nrows, ncols, nvals; /* nvals: values that follow; of an array, those that it stores */
} ftb_mtx_head;

/* Reads up to the size line, of h->array or of a coordinate file; *rest is what follows it in its batch. */
GrB_Info ftb_mtx_head_read(ftb_mtx_head *h, ftb_text *t, char **first, char **rest, char **end);
/* Whether a file that begins with these bytes says that it is an array. */
bool ftb_mtx_is_array(const char *bytes, int64_t count);

static inline const char *ftb_skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static inline bool ftb_blank(char c) { return c == ' ' || c == '\t'; }

/* The newline that nothing but blanks and a carriage return precede, or NULL. */
static inline const char *ftb_line_end(const char *p)
{
    p = ftb_skip_blanks(p);
    if (*p == '\r')
        p++;
    return *p == '\n' ? p : NULL;
}

/* Whether the double of these bits is neither NaN nor infinite. */
static inline bool ftb_finite_word(uint64_t word) { return (word >> 52 & 0x7ff) != 0x7ff; }

#endif
