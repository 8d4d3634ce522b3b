/* Messages over random graphs and blocks. */
#ifndef TESTS_MESSAGES_H
#define TESTS_MESSAGES_H

#include "expr/message.h"
#include "support/rng.h"

typedef struct message_fixture {
    FtB_Matrix A;
    FtB_Block src, dst, norm;
    FtB_Semiring semiring, bound;
    ftb_message m;
    int64_t heads, width, edge_heads;
} message_fixture;

/* Rows: some empty, short ones, and with `hub` one that has an entry in every column. */
FtB_Matrix random_graph(rng *r, int64_t nrows, int64_t ncols, FtB_Type type, int64_t width, bool hub);
/* A block whose rows are not packed. */
FtB_Block random_block(rng *r, int64_t rows, int64_t columns, FtB_Type type);
/* A text over src, dst and edge, and a bound block "norm" or a bound number "scale" (0.5), if it names them.
 */
void make_message(message_fixture *f, rng *r, const char *reducer, const char *message, FtB_Type type,
                  int64_t nrows, int64_t ncols, int64_t heads, int64_t src_heads, int64_t width,
                  int64_t edge_width, bool hub);
void release_message(message_fixture *f);

#endif
