/* The write rule on rows of plain memory, piece by piece, on the host. */
#ifndef FTB_WRITE_RUN_H
#define FTB_WRITE_RUN_H

#include "cpu/block/apply_run.h"

/* nrows x ncols values; row i is at data + i * ld values. */
typedef struct ftb_plain_rows {
    void *data;
    FtB_Type type;
    int64_t nrows, ncols, ld;
} ftb_plain_rows;

/* All of x, cast, to packed rows. */
void ftb_rows_cast(FtB_Context ctx, void *to, FtB_Type type, const ftb_plain_rows *x);
/* The same to packed rows of ncols values, all of which are a row's one where x has one column. */
void ftb_rows_spread(FtB_Context ctx, void *to, FtB_Type type, int64_t ncols, const ftb_plain_rows *x);
/* Whole numbers become what a domain of fewer bits has of them, in place; domain 0: they stay. */
void ftb_rows_wrap(FtB_Context ctx, const ftb_plain_rows *x, FtB_Type domain);
/* All rows become `value`, cast. */
void ftb_rows_fill(FtB_Context ctx, const ftb_plain_rows *x, double value);
/* Rows without entries become `value`, cast. */
void ftb_rows_fill_empty(FtB_Context ctx, const ftb_plain_rows *x, const int64_t *rowptr, double value);
/* Row numbers[r] of `to`, each once, becomes row r of x, of the same type. */
void ftb_rows_return(FtB_Context ctx, const ftb_plain_rows *to, const ftb_plain_rows *x,
                     const int64_t *numbers);
/* x, cast, and zeros in the rows of `to` behind those of x; or `to` with x added to its rows, in FP64. */
void ftb_rows_put(FtB_Context ctx, const ftb_plain_rows *to, const ftb_plain_rows *x, bool add);
/* admitted[i]: 1 where a mask of one column admits row i, else 0. */
void ftb_rows_admitted(FtB_Context ctx, uint8_t *admitted, const ftb_plain_rows *mask, bool complement);

/* What is written where: made and checked by src/ops/block/block_write.c, so that nothing here can fail. */
typedef struct ftb_block_writer {
    ftb_plain_rows to;
    bool admits_all, replace, accumulates;
    uint8_t *admitted; /* of each row; NULL: all or none */
    const int64_t *present;
    FtB_Type type;
    int64_t ld;  /* of T */
    double fill; /* bytes of C's type */
    ftb_block_map *accum;
    char *scratch; /* per thread: what accum gives for a piece */
    size_t room;   /* bytes of scratch per thread */
} ftb_block_writer;

void ftb_block_writer_delete(ftb_block_writer *writer); /* NULL is allowed */
bool ftb_block_writer_splits(const ftb_block_writer *writer);
/* Whether all rows of T go to C as they are. */
bool ftb_block_writer_plain(const ftb_block_writer *writer);
/* T: the piece's first value. */
void ftb_block_writer_run(const ftb_block_writer *writer, int thread, const ftb_block_piece *piece,
                          const void *T);
/* All of T, or all that `map` makes, in `room` bytes of scratch per thread of it. */
void ftb_block_writer_all(const ftb_block_writer *writer, const void *T, int threads);
void ftb_block_writer_map(const ftb_block_writer *writer, const ftb_block_map *map, char *scratch,
                          size_t room);

#endif
