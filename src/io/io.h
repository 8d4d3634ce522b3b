/* Sinks and file formats. */
#ifndef FTB_IO_H
#define FTB_IO_H

#include "core/core.h"

/* What a sink is told before the rows come. */
typedef struct ftb_sink_shape {
    FtB_Context ctx; /* of the operation */
    int64_t nrows, ncols;
    int64_t nvals; /* entries to come, -1: unknown */
    FtB_Type type; /* compute type of the values */
    int64_t width;
    int64_t base;   /* text formats count ids from here (1; edge lists without labels 0) */
    bool symmetric; /* rows hold one triangle of a symmetric result */
} ftb_sink_shape;

typedef struct ftb_sink_methods {
    const char *name;
    GrB_Info (*begin)(FtB_Sink sink, const ftb_sink_shape *shape);
    GrB_Info (*rows)(FtB_Sink sink,
                     const FtB_Rows *rows); /* ascending, one thread at a time; may use threads */
    GrB_Info (*end)(FtB_Sink sink);         /* commit */
    void (*abort)(FtB_Sink sink);           /* roll back; also after a failed end */
    void (*destroy)(FtB_Sink sink);         /* frees state; begin may never have been called */
} ftb_sink_methods;

struct FtB_Sink_opaque {
    uint32_t magic;
    FtB_Context ctx;
    const ftb_sink_methods *methods;
    FtB_Stats stats; /* kept by the wrappers below for every kind of sink */
    bool open, used;
    int digits;
    ftb_sink_shape shape;
    void *state;
};

/* Every producer of rows calls these, which check order, keep the statistics and call the methods. */
GrB_Info ftb_sink_begin(FtB_Sink sink, const ftb_sink_shape *shape);
GrB_Info ftb_sink_rows(FtB_Sink sink, const FtB_Rows *rows);
GrB_Info ftb_sink_end(FtB_Sink sink);
void ftb_sink_abort(FtB_Sink sink);
/* A sink that collects a matrix: *A is made (with `type`, 0: the rows' own) by ftb_sink_end. Room grows
 * in place (one realloc of each array), so the peak is the result plus one chunk. */
GrB_Info ftb_sink_matrix(FtB_Sink *sink, FtB_Context ctx, FtB_Matrix *A, FtB_Type type);

/* Files that appear whole or not at all (file.c). On SIGINT/SIGTERM the command calls
 * ftb_file_remove_temporaries(), which is async-signal-safe. */
typedef struct ftb_file ftb_file;
GrB_Info ftb_file_create(ftb_file **f, FtB_Context ctx, const char *path); /* "-": standard output */
GrB_Info ftb_file_write(ftb_file *f, const void *bytes, int64_t count);
GrB_Info ftb_file_write_at(ftb_file *f, int64_t offset, const void *bytes, int64_t count); /* not for "-" */
GrB_Info ftb_file_commit(ftb_file **f); /* flush, fsync-free rename */
void ftb_file_discard(ftb_file **f);
void ftb_file_remove_temporaries(void);

#endif
