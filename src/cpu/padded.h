/* Rows of a message's feeds, laid out for kernels over edges (cpu/kernels/heads.h): of a compute type, the
 * heads one after another, each padded with zeros to the lanes of a vector. */
#ifndef FTB_PADDED_H
#define FTB_PADDED_H

#include "cpu/kernels/heads.h"
#include "expr/message.h"

typedef struct ftb_padded {
    ftb_feed feed;
    int64_t heads;
    int64_t width;    /* of a head, padded */
    FtB_Type type;    /* FP32 or FP64 */
    const void *data; /* all rows, after ftb_padded_all; else NULL */
    int64_t ld;
    void *copy; /* ours, or NULL where the feed's own memory will do */
} ftb_padded;

/* Describes a feed (one without `at`); nothing is read yet. A feed of one head is repeated for each. */
ftb_padded ftb_padded_of(const ftb_feed *feed, int64_t heads, FtB_Type type);
static inline int64_t ftb_padded_row(const ftb_padded *p) { return p->heads * p->width; }
/* Lays out features first .. first + count - 1 (of a padded row; all if there are several heads) of `rows`
 * rows from `row` on, `count` values apart. */
void ftb_padded_pack(const ftb_padded *p, void *to, int64_t row, int64_t rows, int64_t first, int64_t count);
/* The same in parallel. */
void ftb_padded_pack_all(const ftb_padded *p, void *to, int64_t row, int64_t rows, int64_t first,
                         int64_t count, int threads);
/* Makes all of the feed's first `rows` rows readable at data. */
GrB_Info ftb_padded_all(ftb_padded *p, FtB_Context ctx, int64_t rows, int threads);
void ftb_padded_clear(ftb_padded *p);

#endif
