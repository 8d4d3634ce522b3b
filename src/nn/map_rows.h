/* Expressions over rows: what map.c records and map_rows.c runs. */
#ifndef FTB_NN_MAP_H
#define FTB_NN_MAP_H

#include "expr/message.h"
#include "nn/nn.h"

/* Y(i,:) = program over rows i of the feeds, or that added; `fold` heads of it are summed into one. A feed
 * may be in Y's memory, row for row. (map_rows.c) */
GrB_Info ftb_nn_map_rows(const ftb_message *m, const ftb_program *program, int64_t nrows, FtB_Block Y,
                         bool add, int64_t fold);
/* Y, of one row, = the sum over all rows of the same, or that added. */
GrB_Info ftb_nn_map_sum(const ftb_message *m, const ftb_program *program, int64_t nrows, FtB_Block Y,
                        bool add, int64_t fold);

#endif
