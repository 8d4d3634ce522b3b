/* Sinks and files. Part of featblas.h. */
#ifndef FEATBLAS_FILES_H
#define FEATBLAS_FILES_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------- sinks */

/** The file formats: X(constant, name in options, endings of files' names, what it is). TSV and CSV are edge
 * lists, a row, a column and a value a line, of matrices, and tables of numbers of blocks; Matrix Market is
 * coordinates of matrices and an array of blocks; npy holds blocks only, sg and wsg square matrices
 * only, of no values and of whole ones of 32 bits. docs/formats.md has them all. */
/* clang-format off */
#define FTB_FORMATS(X)                                                                                       \
    X(FTB_MTX, mtx, ".mtx", "Matrix Market")                                                                 \
    X(FTB_TSV, tsv, ".tsv .txt", "edge list (TSV)")                                                          \
    X(FTB_CSV, csv, ".csv", "edge list (CSV)")                                                               \
    X(FTB_NPZ, npz, ".npz", "npz")                                                                           \
    X(FTB_CSR, csr, ".csr", "raw CSR")                                                                       \
    X(FTB_NPY, npy, ".npy", "npy")                                                                           \
    X(FTB_SG, sg, ".sg", "serialized graph (GAP)")                                                           \
    X(FTB_WSG, wsg, ".wsg", "serialized weighted graph (GAP)")
/* clang-format on */

/** A file format: a row of FTB_FORMATS, which are counted from 1. */
#define FTB_FORMAT_VALUE(constant, name, endings, title) constant, /**< a row of FTB_FORMATS */
typedef enum FtB_Format {
    FTB_FORMAT_AUTO = 0, /**< by the name's ending; when reading, by content */
    FTB_FORMATS(FTB_FORMAT_VALUE)
} FtB_Format;
#undef FTB_FORMAT_VALUE

/** Consecutive rows of a result, as a callback sees them. Pointers are valid during the call. */
typedef struct FtB_Rows {
    int64_t row0;          /**< first row */
    int64_t nrows;         /**< how many rows */
    int64_t ncols;         /**< columns of the whole result */
    const int64_t *rowptr; /**< nrows + 1 positions, from 0 */
    const void *colidx;    /**< ascending in a row: int32_t if ncols < 2^31, else int64_t */
    const void *values;    /**< rowptr[nrows] x width */
    FtB_Type type;         /**< dtype of values: BOOL, INT64, UINT64, FP32 or FP64 */
    int64_t width;         /**< values per entry */
} FtB_Rows;

/** Takes rows, in ascending order, from one thread at a time. @return GrB_SUCCESS, or an error that
 *  ends the operation and that it returns. */
typedef GrB_Info (*FtB_Rows_function)(const FtB_Rows *rows, void *arg);

/** What a statistics sink saw. */
typedef struct FtB_Stats {
    int64_t nrows;         /**< rows */
    int64_t ncols;         /**< columns */
    int64_t nvals;         /**< entries */
    int64_t nonempty_rows; /**< rows with an entry */
    int64_t max_row;       /**< most entries in a row */
    double sum;            /**< of all values, deterministic */
    double min;            /**< least value; NaN if there are none */
    double max;            /**< greatest value; NaN if there are none */
} FtB_Stats;

/** A sink that writes a file, whole or not at all (temporary name, then rename). Single-use. Matrix Market,
 * npz, raw CSR, sg and wsg have positions in place of ids: with @p labels, what they stand for goes to a
 * table beside the file, DIR/x.ids.csv for DIR/x.npz, with the columns "position" (from 1 for Matrix Market,
 * else from 0) and "id"; not for standard output, pipes and devices.
 *  @param[out] sink the new one, NULL on failure. @param path copied; "-" is standard output.
 *  @param format FTB_FORMAT_AUTO: by ending. @param labels names of rows and columns, or NULL; referenced.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Sink_file(FtB_Sink *sink, const char *path, FtB_Format format, FtB_Labels labels);

/** A sink that computes statistics only. @param[out] sink the new one, NULL on failure.
 *  @return GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Sink_stats(FtB_Sink *sink);

/** A sink that calls the caller. @param[out] sink the new one, NULL on failure. @param f takes rows.
 *  @param arg handed to @p f. @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Sink_callback(FtB_Sink *sink, FtB_Rows_function f, void *arg);

/** Digits of reals in text files. @param sink of a text format. @param digits 1 to 17; 0: the fewest
 *  that read back to the same value. @return GrB_INVALID_VALUE. */
GrB_Info FtB_Sink_set_precision(FtB_Sink sink, int digits);

/** First id of rows and columns without labels in TSV and CSV files (Matrix Market always counts from
 *  1, npz, raw CSR, sg and wsg from 0). @param sink any. @param base 0 or 1, as a rule; the operation's
 * choice if never set. @return GrB_INVALID_VALUE if negative. */
GrB_Info FtB_Sink_set_base(FtB_Sink sink, int64_t base);

/** What went into a sink, of any kind, by the last operation. @param sink any.
 *  @param[out] stats filled. @return GrB_NULL_POINTER. */
GrB_Info FtB_Sink_get_stats(FtB_Sink sink, FtB_Stats *stats);

/** Releases a sink; a file that was not finished is removed. @param[in,out] sink set to NULL.
 *  @return GrB_SUCCESS. */
GrB_Info FtB_Sink_free(FtB_Sink *sink);

/* --------------------------------------------------------------------------------------- files */

/** Makes labels from strings. @param[out] labels the new ones, NULL on failure. @param count how many.
 *  @param strings copied. @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Labels_new(FtB_Labels *labels, int64_t count, const char *const *strings);

/** The label at a position; NULL outside. @param labels any. @param at 0 to count - 1. */
const char *FtB_Labels_get(FtB_Labels labels, int64_t at);

/** How many labels there are; 0 for NULL. @param labels any or NULL. */
int64_t FtB_Labels_count(FtB_Labels labels);

/** Releases labels. @param[in,out] labels set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Labels_free(FtB_Labels *labels);

/** How an edge list was read: what its options said, and what was guessed. */
typedef struct FtB_Edge_layout {
    char delimiter; /**< between fields; a blank: runs of blanks and tabs; 0: the file is no edge list */
    bool header;    /**< the first line was passed over, as names of the columns */
    bool adjacency; /**< a line is a row and its columns */
    int row;        /**< field of the row id, from 1 */
    int col;        /**< field of the column id, of adjacency lists the first of them */
    int value;      /**< field of the value; 0: there are none */
} FtB_Edge_layout;

/** Options of FtB_Matrix_read; made by FTB_READ_OPTIONS(...). Zero means the default. */
typedef struct FtB_Read_options {
    size_t size;         /**< set by the macro */
    FtB_Format format;   /**< FTB_FORMAT_AUTO: by content */
    FtB_Type type;       /**< dtype of the values, FTB_FORMAT where it cannot hold one; 0: as the file says */
    const char *columns; /**< edge lists: "row,column[,value]" by name or by number from 1; NULL: 1,2,3 */
    char delimiter;      /**< edge lists; 0: guessed from tab, comma, semicolon, blank */
    int header;          /**< edge lists; 0: guessed (adjacency: no), 1: yes, -1: no */
    FtB_Dup duplicates;  /**< equal (row, column) */
    FtB_Format *found;   /**< [out] the format of the file (FTB_TSV: an edge list of tabs or blanks, FTB_CSV:
                            any other); or NULL */
    bool finite;         /**< refuse NaN and infinities */
    bool adjacency;      /**< lines are "row column column ...", every column an entry without value */
    FtB_Edge_layout *layout; /**< [out] of an edge list, what was guessed and told; or NULL */
} FtB_Read_options;

/** Reads a matrix: Matrix Market, CSV/TSV edge list, npz, raw CSR, serialized graphs of GAP; gzip is
 * recognised by content.
 *  @param[out] A the new matrix, NULL on failure. @param[out] rows,cols labels of an edge list's ids
 *  (NULL handles for other formats); either may be NULL. @param path "-" is standard input.
 *  @param options NULL for the defaults. Where a sum or a count of duplicates is beyond the dtype that the
 * file says, all values become INT64, UINT64 or FP64; FTB_FORMAT where options.type says it, or 64 bits are
 * too few.
 *  @return FTB_IO, FTB_FORMAT (file:line:column in the message), GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY,
 * FTB_LIMIT. */
GrB_Info FtB_Matrix_read(FtB_Matrix *A, FtB_Labels *rows, FtB_Labels *cols, const char *path,
                         const FtB_Read_options *options);

/** Writes a matrix, whole or not at all. Labels go where FtB_Sink_file puts them; those of the rows, where
 * they are others than those of the columns, to x.rows.csv, and theirs to x.cols.csv.
 *  @param A any. @param path "-" is standard output.
 *  @param format FTB_FORMAT_AUTO: by ending. @param rows,cols labels or NULL.
 *  @param digits as FtB_Sink_set_precision. @return FTB_IO, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT.
 */
GrB_Info FtB_Matrix_write(FtB_Matrix A, const char *path, FtB_Format format, FtB_Labels rows, FtB_Labels cols,
                          int digits);

/** Options of FtB_Block_read; made by FTB_BLOCK_READ_OPTIONS(...). Zero means the default. */
typedef struct FtB_Block_read_options {
    size_t size;       /**< set by the macro */
    FtB_Format format; /**< FTB_FORMAT_AUTO: by content; FTB_TSV and FTB_CSV: a table of numbers */
    FtB_Type type; /**< dtype of the block, FTB_FORMAT where it cannot hold a value; 0: as the file says, FP64
                      for tables */
    char delimiter;    /**< tables; 0: guessed from tab, comma, semicolon, blank */
    int header;        /**< tables; 0: guessed, 1: yes, -1: no */
    bool finite;       /**< refuse NaN and infinities */
    FtB_Format *found; /**< [out] the format of the file (FTB_TSV: a table of tabs or blanks, FTB_CSV: any
                          other); or NULL */
} FtB_Block_read_options;

/** Reads a block: numpy's .npy (one or two dimensions, in either order), Matrix Market arrays, tables of
 * numbers (CSV, TSV, one row a line), and sparse files of FtB_Matrix_read with one value per entry, as dense.
 * gzip is recognised by content. A vector becomes n x 1. @param[out] X the new block, NULL on failure. @param
 * path "-" is standard input.
 *  @param options NULL for the defaults. @return FTB_IO, FTB_FORMAT (file:line:column in the message),
 *  GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Block_read(FtB_Block *X, const char *path, const FtB_Block_read_options *options);

/** Writes a block, whole or not at all. @param X any; BF16 becomes FP32 in .npy. @param path "-" is standard
 * output.
 *  @param format FTB_NPY, FTB_MTX (an array), FTB_TSV or FTB_CSV (no header); FTB_FORMAT_AUTO: by ending, TSV
 * for standard output. @param digits of reals in texts, as FtB_Sink_set_precision. @return FTB_IO,
 * GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Block_write(FtB_Block X, const char *path, FtB_Format format, int digits);

#ifdef __cplusplus
}
#endif

#endif
