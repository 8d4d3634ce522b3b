/* A thread that writes the blocks of a large file past the page cache. */
#ifndef FTB_WRITER_H
#define FTB_WRITER_H

#include "core/core.h"

typedef struct ftb_writer ftb_writer;

/* For an open, seekable file. NULL: not possible here (memory, threads, the file system); the caller then
 * writes as usual. */
ftb_writer *ftb_writer_start(FtB_Context ctx, int fd);
/* Places of blocks in the file are multiples of this. */
int64_t ftb_writer_unit(const ftb_writer *w);
int64_t ftb_writer_block_bytes(const ftb_writer *w);
/* An empty block, waiting until there is one. At most FTB_WRITER_HELD may be held at a time. */
char *ftb_writer_take(ftb_writer *w);
#define FTB_WRITER_HELD 3
/* Queues a full block for the bytes from `at` on. Returns the errno of an earlier block that failed, or 0. */
int ftb_writer_submit(ftb_writer *w, char *block, int64_t at);
/* Waits until all is written, or, with drop, only for what is being written; frees the writer with its
 * blocks. Returns an errno, or 0. NULL is allowed. */
int ftb_writer_stop(ftb_writer *w, bool drop);

#endif
