/* What reads and writes a format. A format is a row of FTB_FORMATS (featblas/files.h) and the ftb_codec of
 * its name, defined where its files are read; names, endings, guesses, options and messages come from these.
 */
#ifndef FTB_FORMAT_H
#define FTB_FORMAT_H

#include "io/dense.h"
#include "io/target.h"

/* What FtB_Block_write hands to a writer. */
typedef struct ftb_block_writer {
    FtB_Block X;
    ftb_file *file;
    ftb_stream stream;
    FtB_Format format;
    int digits;
} ftb_block_writer;

struct ftb_codec {
    const char *magic[2]; /* what its files begin with; NULL: nothing of its own */
    bool (*tells)(
        const ftb_input *in); /* that the input is of this format, where no magic does; NULL: it does not */
    bool text;                /* a byte-order mark may come before that */
    bool ids;                 /* of rows and columns are in its files; else positions, */
    int base;                 /* which count from this */
    int rank; /* a format's own: of files of one name, a data set reads the one of the least */
    /* Matrices. labels: of rows and columns, where the file has ids. options.found and options.layout are for
     * formats whose reader finds out more than the format's name; both are there. */
    GrB_Info (*matrix)(FtB_Matrix *A, FtB_Labels labels[2], FtB_Context ctx, ftb_input *in,
                       const FtB_Read_options *options);
    const ftb_format_kind *sink;
    /* Blocks; those that have no reader, or not for these bytes, are read as matrices, which become dense. */
    GrB_Info (*block)(ftb_dense *d, ftb_input *in, const FtB_Block_read_options *options);
    bool (*is_block)(const char *bytes, int64_t count); /* NULL: all are */
    GrB_Info (*write_block)(ftb_block_writer *w, FtB_Context ctx);
};
#define FTB_CODEC(constant, name, endings, title) extern const ftb_codec ftb_codec_##name;
FTB_FORMATS(FTB_CODEC)
#undef FTB_CODEC

/* Opens a file and finds its format: `wanted`, or what its first bytes say; where these say nothing, which an
 * edge list's do not, and the name's ending is that of a binary format, it is that, whose reader says what is
 * wrong. An empty file has none. */
GrB_Info ftb_format_open(ftb_input **in, const ftb_format **f, FtB_Context ctx, const char *path,
                         FtB_Format wanted);
/* By content alone: names lie, and a pipe has none. What nothing tells is a text. */
const ftb_format *ftb_format_guess(const ftb_input *in);
/* Whether the file, of this format, holds what FtB_Block_read reads without a matrix. */
bool ftb_format_is_block(const ftb_format *f, const ftb_input *in);
/* The options of `call` name a format that can do that, and a type. */
GrB_Info ftb_format_check(const char *call, FtB_Format format, ftb_format_use use, FtB_Type type);
/* The format that is asked for, or that the path's ending says; an error that lists what can be written,
 * `what`. */
GrB_Info ftb_format_choose(const ftb_format **f, const char *path, FtB_Format wanted, ftb_format_use use,
                           const char *what);

/* npy, texts (write_block.c) */
GrB_Info ftb_write_block_npy(ftb_block_writer *w, FtB_Context ctx);
GrB_Info ftb_write_block_text(ftb_block_writer *w, FtB_Context ctx);

#endif
