/* Bytes and lines of input files, and the tuples that readers collect. */
#ifndef FTB_INPUT_H
#define FTB_INPUT_H

#include "io/io.h"

/* ---- bytes (input.c): a file or standard input, gunzipped if it is gzip by content */

typedef struct ftb_input ftb_input;
GrB_Info ftb_input_open(ftb_input **in, FtB_Context ctx, const char *path); /* "-": standard input */
const char *ftb_input_name(const ftb_input *in);                            /* for messages */
/* The first bytes, at least 512 of them unless the input is shorter; they are read again later. */
const char *ftb_input_peek(const ftb_input *in, int64_t *count);
int64_t ftb_input_size(const ftb_input *in); /* bytes in all; -1: unknown (compressed, or a pipe) */
/* *got < count only at the end of the input. */
GrB_Info ftb_input_read(ftb_input *in, void *bytes, int64_t count, int64_t *got);
/* As ftb_input_read, but an early end is an error: "file: ends early, in the `what`". */
GrB_Info ftb_input_exactly(ftb_input *in, void *bytes, int64_t count, const char *what);
/* There must be no more: "file: goes on after its `what`". */
GrB_Info ftb_input_end(ftb_input *in, const char *what);
void ftb_input_close(ftb_input **in); /* NULL is allowed */

/* ---- lines (text.c): a text in batches of whole lines, cut into pieces for the threads */

#define FTB_UTF8_MARK "\xef\xbb\xbf" /* the byte-order mark that some editors begin a text with */
#define FTB_PIECE_BYTES (128 * 1024)
#define FTB_LINE_LIMIT (16 << 20) /* a longer line is refused */

typedef struct ftb_text {
    ftb_input *in;
    FtB_Context ctx;
    char *buffer;
    int64_t room, size, used; /* used: bytes of `size` that the last batch held */
    int64_t line;             /* of the batch's first byte, from 1 */
    int64_t entries;          /* the most that lines of a piece can be */
    double done;              /* bytes handed out */
    bool ended, crossing;     /* crossing: a quoted field may hold newlines */
    char delimiter;           /* of fields, where `crossing` */
    int threads,
        pieces; /* pieces: of a round; several per thread, so that an interrupted thread holds up less */
} ftb_text;

GrB_Info ftb_text_check(const ftb_input *in); /* names what is no UTF-8 but UTF-16 */
GrB_Info ftb_text_open(ftb_text *t, FtB_Context ctx, ftb_input *in);
void ftb_text_close(ftb_text *t);
/* The next whole lines, each ended by '\n'; *first == *end at the end of the text. `lines`: in the batch
 * before, which the line number is moved on by. */
GrB_Info ftb_text_next(ftb_text *t, int64_t lines, char **first, char **end);
/* A batch is parsed in rounds of `pieces` pieces: where the round that begins at `first` ends, and its
 * cuts at line ends. Piece p is cut[p] .. cut[p + 1]; but for its last line it is at most FTB_PIECE_BYTES
 * long. */
char *ftb_text_round(const ftb_text *t, char *first, char *end);
void ftb_text_cut(const ftb_text *t, char *first, char *end, char **cut);
int64_t ftb_count_lines(const char *first, const char *end);

/* What separates the fields of the lines [first, end): a tab, comma or semicolon, or ' ', runs of blanks and
 * tabs. Line ends and delimiters within quotes do not count. (delimiter.c) */
char ftb_guess_delimiter(const char *first, const char *end);
const char *ftb_delimiter_name(char delimiter); /* "commas" */
/* Text that a header has, but not what is in place of a value: neither a number that is spelt in a way that
 * we do not read, nor what stands for a value that is missing. */
bool ftb_is_name(const char *text, const char *end);

/* What a parser found wrong, at a place in the batch. */
typedef struct ftb_complaint {
    const char *at;   /* NULL: nothing */
    const char *line; /* where its line begins */
    char text[200];
} ftb_complaint;
void ftb_complain(ftb_complaint *c, const char *at, const char *line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ftb_complain_more(ftb_complaint *c, const char *more); /* behind its text */
/* FTB_FORMAT with "file:line:column: text". first: of the batch. */
GrB_Info ftb_text_failed(const ftb_text *t, const char *first, const ftb_complaint *c);

/* ---- tuples (tuples.c): what a reader collects. As long as entries come in strictly ascending order they
 * are stored as CSR at once, since half of the time goes into touching new memory; else as tuples. */

typedef struct ftb_tuples {
    FtB_Context ctx;
    int64_t nrows, ncols;
    int64_t nvals, room, expected; /* expected: in all, as far as can be told; 0: cannot */
    int64_t *I;                    /* tuples: rows */
    void *J;                       /* columns: int64_t; CSR: as the pattern has them */
    uint64_t *X;                   /* 8 bytes each; NULL: none */
    int64_t *line; /* of the text, where duplicates are refused, to name it; NULL: not wanted */
    bool valued, csr, lined;
    int64_t *rowptr;        /* CSR: filled up to last_i */
    int64_t last_i, last_j; /* CSR: of the last entry, -1: none */
} ftb_tuples;

/* What one thread parsed. */
typedef struct ftb_piece {
    int64_t *I, *J;
    uint64_t *X;   /* NULL: no values */
    int64_t *line; /* of each entry, from 0; NULL: not wanted */
    int64_t room;  /* entries that fit */
    int64_t count, lines;
    bool ascending; /* strictly */
} ftb_piece;

/* csr: try it; else tuples from the start. */
GrB_Info ftb_tuples_start(ftb_tuples *t, FtB_Context ctx, int64_t nrows, int64_t ncols, bool valued, bool csr,
                          bool lined);
GrB_Info ftb_tuples_reserve(ftb_tuples *t, int64_t room);
/* line: of the first piece's first line. */
GrB_Info ftb_tuples_append(ftb_tuples *t, int count, const ftb_piece *pieces, int64_t line);
/* Makes the matrix; values are of `type`, and cast to what the options ask for. `name`: of the file. */
GrB_Info ftb_tuples_build(FtB_Matrix *A, ftb_tuples *t, FtB_Type type, const FtB_Read_options *options,
                          const char *name);
void ftb_tuples_clear(ftb_tuples *t);

/* ---- rounds (rounds.c): what readers of texts do around parsing */

typedef struct ftb_rounds {
    ftb_text text;
    ftb_tuples tuples;
    int64_t lines; /* in the batch, so far */
    ftb_piece *pieces;
    char **cut; /* of the round: piece p is parsed from cut[p] .. cut[p + 1] */
} ftb_rounds;
/* Pieces for the tuples, which were started, and workers: zeroed structs of `size` bytes, one per piece. */
GrB_Info ftb_rounds_start(ftb_rounds *r, void **workers, size_t size);
/* Calls take(state, first) for every round of the batch [first, end) from `rest` on, and of those that
 * follow. take parses the pieces, which then say how many lines they have, and appends what they hold. */
GrB_Info ftb_rounds_run(ftb_rounds *r, char *first, char *rest, char *end,
                        GrB_Info (*take)(void *state, char *first), void *state);
/* Room in every piece of the round for entries that are at least `bytes` of text each. */
GrB_Info ftb_rounds_reserve(ftb_rounds *r, int64_t bytes);
GrB_Info ftb_rounds_append(ftb_rounds *r);
void ftb_rounds_stop(ftb_rounds *r); /* frees what only parsing needs */

/* ---- limits (need.c) */

/* What is known of a text that did not fit. */
typedef struct ftb_need {
    int64_t left;                /* bytes of the limit, before the text was opened */
    int64_t nrows, ncols, nvals; /* as announced; unused where there are labels */
    int mirror;                  /* entries that are made of one */
    bool valued, lined;
    bool labels, texts; /* an edge list: its lines are counted by reading on; texts: some ids may be */
    char lists; /* not lines but what this separates are entries, nvals of them before the batch; 0: no */
} ftb_need;
#define FTB_ANY_DELIMITER '\1' /* not known yet */
/* FTB_LIMIT, with a limit that is enough to read it. The text cannot be read any more. */
GrB_Info ftb_text_too_large(ftb_text *t, const ftb_need *need);
/* The same for a reader that needs `need` bytes. */
GrB_Info ftb_too_large(FtB_Context ctx, int64_t left, double need, const char *name);
/* What build.c takes at most beside n tuples with `entry` bytes of values: records, sorting, the result. */
double ftb_build_bytes(FtB_Context ctx, double n, double nrows, double col_size, double entry);

/* ---- CSR arrays of a file (assemble.c) */

typedef struct ftb_arrays {
    FtB_Context ctx;
    const char *name; /* of the file, for messages */
    int64_t nrows, ncols, nvals, width;
    FtB_Type type;
    int64_t *rowptr; /* ftb_new()ed, like the others */
    void *colidx;    /* of column_bytes each, 4 or 8 */
    int column_bytes;
    void *values; /* NULL if width is 0 */
} ftb_arrays;
/* Checks the arrays and makes a matrix of them; they are used in place where columns ascend. Empties `a`. */
GrB_Info ftb_arrays_build(FtB_Matrix *A, ftb_arrays *a, const FtB_Read_options *options);
/* The row pointers rise from 0 to nvals; else an error that calls them `what`. */
GrB_Info ftb_arrays_check_rowptr(const ftb_arrays *a, const char *what);
/* The same of tuples, with the values of `a`, in any order. Where sums and counts of duplicates are beyond
 * the type, values become INT64, UINT64 or FP64; an error is that where a type was asked for, or 64 bits are
 * too few. */
GrB_Info ftb_build_merged(FtB_Matrix *A, ftb_arrays *a, const int64_t *I, const int64_t *J,
                          const FtB_Read_options *options);
void ftb_arrays_clear(ftb_arrays *a);
/* An array of count x size bytes that comes next in `in`; one that an input of unknown size only claims to
 * have does not make us allocate it. */
GrB_Info ftb_read_array(void **array, FtB_Context ctx, ftb_input *in, int64_t count, size_t size,
                        const char *what);

/* ---- formats */

/* The head of a raw CSR file; docs/formats.md. */
#define FTB_CSR_MAGIC                                                                                        \
    "\x93"                                                                                                   \
    "FTBCSR\n" /* the first byte is not text, the last shows line-end conversion */
#define FTB_CSR_ORDER UINT32_C(0x01020304)
typedef struct ftb_csr_head {
    char magic[8];
    uint32_t order;  /* FTB_CSR_ORDER in the writer's byte order */
    uint8_t version; /* 1 */
    uint8_t type;    /* FtB_Type */
    uint8_t column_bytes;
    uint8_t zero;
    int64_t nrows, ncols, nvals, width;
    int64_t columns_at, values_at; /* bytes from the start of the file */
} ftb_csr_head;
_Static_assert(sizeof(ftb_csr_head) == 64, "the head of a raw CSR file");

/* Place of a value of a floating type that is NaN or infinite; -1: none. (read_block.c) */
int64_t ftb_find_not_finite(FtB_Context ctx, const void *values, FtB_Type type, int64_t count);

#endif
