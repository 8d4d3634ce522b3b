/* What was made of values is good while they are the same: each buffer has a version, which every call that
 * writes it raises (ftb_buffer_write; ftb_buffer_written, of a device), and FtB_Matrix_changed and
 * FtB_Block_changed for those who write through pointers. Where assertions are on, a sum of the values finds
 * writes that nobody told. */
#ifndef FTB_WATCH_H
#define FTB_WATCH_H

#include "core/core.h"

/* To be asked before the host writes a buffer's data, of which it has a valid copy: whether they may be
 * written. The version rises, and a device's copy is no longer valid. (buffer.c) */
bool ftb_buffer_write(ftb_buffer *b);
int64_t ftb_buffer_version(const ftb_buffer *b);

/* ftb_buffer_written, but what was lent is not brought home: the caller asks for it before anybody can look
 * at it. (buffer.c) */
GrB_Info ftb_buffer_written_there(ftb_buffer *b);

typedef struct ftb_watch {
    ftb_buffer *owner; /* retained; NULL: of no values, which never change */
    const char *data;
    int64_t nrows;
    size_t bytes, pitch; /* of a row, and from one to the next */
    int64_t version;
    uint64_t sum;
} ftb_watch;

/* Begins to watch the values of a matrix, or of a block, in place of what was watched before. */
void ftb_watch_matrix(ftb_watch *w, FtB_Matrix A);
void ftb_watch_block(ftb_watch *w, FtB_Block X);
void ftb_watch_end(ftb_watch *w);
/* The values are taken as they are now. */
void ftb_watch_renew(ftb_watch *w);
/* *same: whether the values are as they were then. GrB_INVALID_VALUE, in builds with assertions: they were
 * written, and nobody said so; `name` is that of the values in the message. */
GrB_Info ftb_watch_look(const ftb_watch *w, bool *same, const char *name);

/* The sum, which is 0 in builds without assertions; the error. */
uint64_t ftb_watch_sum(const void *data, int64_t nrows, size_t bytes, size_t pitch);
GrB_Info ftb_watch_missed(const char *name);

#endif
