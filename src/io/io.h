/* Files, their formats, and the sinks of matrices and files. */
#ifndef FTB_IO_H
#define FTB_IO_H

#include "core/sink.h"

/* A sink that collects a matrix: *A is made (with `type`, 0: the rows' own) by ftb_sink_end. Room grows
 * in place (one realloc of each array), so the peak is the result plus one chunk. */
/* A's rows go to the sink, which is begun and ended. (sink_file.c) */
GrB_Info ftb_sink_take(FtB_Sink sink, FtB_Matrix A);
GrB_Info ftb_sink_matrix(FtB_Sink *sink, FtB_Context ctx, FtB_Matrix *A, FtB_Type type);

/* ---- formats (formats.c): rows of FTB_FORMATS, and what reads and writes them (format.h) */

typedef struct ftb_codec ftb_codec;
typedef struct ftb_format {
    FtB_Format value;
    const char *name, *endings, *title; /* "tsv", ".tsv .txt", "edge list (TSV)" */
    const ftb_codec *codec;
} ftb_format;
typedef enum ftb_format_use {
    FTB_READ_MATRIX,
    FTB_WRITE_MATRIX,
    FTB_READ_BLOCK,
    FTB_WRITE_BLOCK
} ftb_format_use;
const ftb_format *ftb_format_next(const ftb_format *f); /* NULL starts, and ends */
const ftb_format *ftb_format_of(FtB_Format format);     /* NULL: none, FTB_FORMAT_AUTO too */
bool ftb_format_can(const ftb_format *f, ftb_format_use use);
bool ftb_format_has_ids(const ftb_format *f); /* in place of positions */
int ftb_format_base(const ftb_format *f);     /* where positions count from */
int ftb_format_rank(const ftb_format *f);     /* ftb_codec.rank */
bool ftb_format_text(const ftb_format *f);
/* The format that a name's ending says; FTB_FORMAT_AUTO: none. "-": TSV. */
FtB_Format ftb_format_by_ending(const char *path);
/* The same, NULL for none, and how long the ending is. */
size_t ftb_format_ending(const ftb_format **f, const char *path);
/* The endings of a format, with their points, one after another; NULL starts, and ends. */
const char *ftb_ending_next(const ftb_format *f, const char *ending, size_t *length);
/* Names of all formats that can do that, or their endings: "mtx, tsv or csv", the last behind `conjunction`.
 * Returns the text. */
#define FTB_FORMAT_LIST 256
char *ftb_format_list(char text[FTB_FORMAT_LIST], ftb_format_use use, bool endings, const char *conjunction);

/* ---- files and values */

/* Writes a value as text and returns its end, at most FTB_NUMBER_ROOM on; digits as FtB_Sink_set_precision.
 * (write_text.c) */
char *ftb_format_value(char *out, const void *values, FtB_Type type, int64_t at, int digits);

/* The absolute path of the file that is, or will be, at `path` (names.c), through links, also those whose
 * target is not there yet. free()d by the caller; NULL with errno set. */
char *ftb_resolve(const char *path);
/* Two names of one file, or of what will be one. Only what is made of bytes that stay is a file: not devices
 * and pipes. */
bool ftb_same_file(const char *a, const char *b);
/* "a/b/" of "a/b/c", "." of "c"; free()d by the caller; NULL: out of memory. */
char *ftb_folder_of(const char *path);

/* Files that appear whole or not at all (file.c). On SIGINT/SIGTERM the command calls
 * ftb_file_remove_temporaries(), which is async-signal-safe. */
typedef struct ftb_file ftb_file;
GrB_Info ftb_file_create(ftb_file **f, FtB_Context ctx, const char *path); /* "-": standard output */
GrB_Info ftb_file_write(ftb_file *f, const void *bytes, int64_t count);    /* behind what it wrote before */
GrB_Info ftb_file_write_at(ftb_file *f, int64_t offset, const void *bytes, int64_t count); /* not for "-" */
GrB_Info ftb_file_failed(const ftb_file *f, int error); /* the message for an errno */
bool ftb_file_seekable(const ftb_file *f);              /* false: a pipe or the like, only written in order */
/* Bytes written in order, one stream or several side by side in a file; one thread at a time. A large file
 * goes past the page cache (writer.c); then what was appended is only there after ftb_file_settle. */
typedef struct ftb_stream {
    int64_t at;  /* of the next byte; pipes ignore it */
    char *block; /* being filled; NULL: none */
    int64_t fill;
} ftb_stream;
#define FTB_STREAMS 3                                                              /* at most, per file */
int ftb_file_append(ftb_file *f, ftb_stream *s, const void *bytes, int64_t count); /* an errno, or 0 */
GrB_Info ftb_file_settle(ftb_file *f, ftb_stream *const *streams, int count);
/* Appended bytes from which on a file is large; -1: a sixteenth of the machine's memory. Tests lower it. */
extern int64_t ftb_file_large;
/* A nameless file in the temporary directory, for what a pipe must get in another order; ftb_file_send
 * appends its first `count` bytes to `to`. Ends with ftb_file_discard. */
GrB_Info ftb_file_spool(ftb_file **f, FtB_Context ctx);
GrB_Info ftb_file_send(ftb_file *to, ftb_file *spool, int64_t count);
/* Two arrays of unknown length grow in one file, the second from *tail up. Moves the second, tail_bytes
 * long, down to the first block boundary at or above `end`, mostly without copying, and cuts the file. */
GrB_Info ftb_file_close_gap(ftb_file *f, int64_t end, int64_t *tail, int64_t tail_bytes);
/* A place for the second array, at or below `want` and as high as the file system allows. */
GrB_Info ftb_file_reserve(ftb_file *f, int64_t want, int64_t *tail);
/* What was written is on the disk, unless the context does not care; ftb_file_commit does it, too. Files that
 * belong together are all synced before the first is committed. */
GrB_Info ftb_file_sync(ftb_file *f);
GrB_Info ftb_file_commit(ftb_file **f); /* sync, rename, sync of the folder */
void ftb_file_discard(ftb_file **f);
/* A whole file of so many bytes. */
GrB_Info ftb_file_put(FtB_Context ctx, const char *path, const void *bytes, int64_t count);
void ftb_file_remove_temporaries(void);

#endif
