/* What the writers of CSR arrays (raw CSR, npz) share: row pointers at a known place, then two arrays that
 * grow side by side; without a count of the entries the second begins far up and is moved down at the end. */
#ifndef FTB_ARRAYS_SINK_H
#define FTB_ARRAYS_SINK_H

#include "io/target.h"

typedef struct ftb_growing { /* an array in the file */
    int64_t at, bytes;
    uint32_t crc;      /* of its bytes, if `checked` */
    ftb_stream stream; /* to its end */
} ftb_growing;

typedef struct ftb_arrays_target {
    ftb_target target; /* first, as in every file sink */
    ftb_file *spool;   /* instead of a pipe */
    ftb_growing rowptr, colidx, values;
    int64_t gap_end;  /* the columns must stay below it; 0: there is room for just what was announced */
    bool checked;     /* CRCs are wanted */
    bool tuples;      /* in place of row pointers there is a row for every entry, of 8 bytes */
    int rowptr_bytes; /* 4 or 8 */
    FtB_Type stored;  /* dtype in the file */
    int64_t next;     /* rows below it have their row pointer */
    int64_t nvals;
    int64_t block_bytes;
    void *block; /* scratch for row pointers and cast values */
} ftb_arrays_target;

ftb_file *ftb_arrays_file(ftb_arrays_target *t); /* where to write */
GrB_Info ftb_arrays_open(FtB_Sink sink);         /* creates the file, or the spool, and the scratch */
/* A methods.rows. */
GrB_Info ftb_arrays_rows(FtB_Sink sink, const FtB_Rows *rows);
int64_t ftb_arrays_least(FtB_Sink sink, const ftb_sink_shape *shape); /* a methods.least */
/* Row pointers of the rows that did not come; then all arrays are in the file. */
GrB_Info ftb_arrays_last_rows(FtB_Sink sink);
GrB_Info ftb_arrays_commit(FtB_Sink sink, int64_t size);
void ftb_arrays_abort(FtB_Sink sink); /* a methods.abort */
uint32_t ftb_crc(FtB_Context ctx, uint32_t crc, const void *bytes, int64_t count);

#endif
