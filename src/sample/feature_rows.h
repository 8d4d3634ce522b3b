/* How a loader's batches get the rows of their features: as FtB_gather does it, or, where the features do not
 * fit a device, of rows that it keeps and the host's memory. */
#ifndef FTB_FEATURE_ROWS_H
#define FTB_FEATURE_ROWS_H

#include "sample/batch.h"

enum { FTB_FEATURES_TEXT = 200 };

/* What is decided when the first batch is made, and again where the device is another one. */
typedef struct ftb_feature_rows {
    pthread_mutex_t lock;
    bool decided;
    const struct ftb_backend *where; /* NULL: the host */
    struct ftb_kept_rows *kept;      /* NULL: */
    bool here;                       /* rows are picked on the host and sent; or the device has them all */
    int64_t gathered;                /* rows, on this device */
    char text[FTB_FEATURES_TEXT];    /* for people */
} ftb_feature_rows;

GrB_Info ftb_features_new(ftb_feature_rows **made, const ftb_batches *of);
void ftb_features_delete(ftb_feature_rows *f); /* NULL is allowed */
/* Y = rows of of->features; Y is all of its memory, and new. */
GrB_Info ftb_features_gather(FtB_Block Y, const ftb_batches *of, const int64_t *rows, int64_t count);
/* Rows that a device has, rows gathered there, and those of them that it had; 0 where none gathers. */
GrB_Info ftb_features_count(ftb_feature_rows *f, int64_t nrows, int64_t *kept, int64_t *gathered,
                            int64_t *hits);

/* What was decided, as it is now. */
void ftb_features_say(char to[FTB_FEATURES_TEXT], ftb_feature_rows *f);

/* The `most` most wanted vertices, the first before all, into an ftb_new()ed list, as options.cache_by has
 * it; ties: the first. (feature_rank.c) */
GrB_Info ftb_features_rank(int64_t **list, const ftb_batches *of, int64_t most);

#endif
