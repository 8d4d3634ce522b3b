/* What the sinks that write files share. */
#ifndef FTB_TARGET_H
#define FTB_TARGET_H

#include "io/io.h"

/* The state of every sink that writes a file begins with this. */
typedef struct ftb_target {
    FtB_Format format;
    char *path;
    FtB_Labels rows, cols; /* NULL: none */
    ftb_file *file;        /* while open */
    ftb_file *beside[2];   /* tables of ids, while open; NULL: none */
} ftb_target;
typedef struct ftb_format_kind {
    ftb_sink_methods methods;
    size_t state; /* bytes */
} ftb_format_kind;
extern const ftb_format_kind ftb_text_kind;       /* Matrix Market, TSV, CSV */
extern const ftb_format_kind ftb_csr_kind;        /* raw CSR */
extern const ftb_format_kind ftb_npz_kind;        /* scipy.sparse.save_npz */
extern const ftb_format_kind ftb_serialized_kind; /* .sg, .wsg of GAP */

/* FtB_Sink_file with labels for each side. */
GrB_Info ftb_sink_file(FtB_Sink *sink, FtB_Context ctx, const char *path, FtB_Format format, FtB_Labels rows,
                       FtB_Labels cols);
/* Bytes that the longest label, or the longest id, may take; and one of them, quoted where CSV needs it.
 * Returns its end. (write_ids.c) */
int64_t ftb_label_room(FtB_Labels labels);
char *ftb_put_label(char *out, FtB_Format format, FtB_Labels labels, int64_t at);
/* "DIR/x.what.csv" for DIR/x.npz; free()d by the caller; NULL: out of memory. */
char *ftb_path_beside(const char *path, const char *what);
/* Writes such a table of labels, whose positions count from `base`; *file is open then, and to be committed
 * with the file that it belongs to. */
GrB_Info ftb_write_ids(ftb_file **file, FtB_Context ctx, const char *path, const char *what,
                       FtB_Labels labels, int64_t count, int64_t base);
/* There are as many labels as rows and columns. */
GrB_Info ftb_target_check_labels(const ftb_target *t, const ftb_sink_shape *shape);
/* Writes the tables of ids that belong to an open file of a format with positions, which count from `base`.
 */
GrB_Info ftb_target_write_ids(ftb_target *t, const ftb_sink_shape *shape, int64_t base);
/* The file, and what is beside it. */
GrB_Info ftb_target_commit(ftb_target *t);
/* A file sink's methods.abort and methods.destroy end with these. */
void ftb_target_abort(FtB_Sink sink);
void ftb_target_destroy(FtB_Sink sink);

#endif
