/* What extract, assign and transpose share. */
#ifndef FTB_OPS_LINES_H
#define FTB_OPS_LINES_H

#include "ops/parts/index_list.h"
#include "ops/vector/vectors.h"

/* T = A, with the same pattern and values of its own. (extract.c) */
GrB_Info ftb_matrix_copy(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A);
/* T = A(I, J), new: its rows by `rows`, its columns by `columns`. (extract.c) */
GrB_Info ftb_extract_matrix(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A, const ftb_index_list *rows,
                            const ftb_index_list *columns);
/* The entries of a matrix of one row, or of one column, as those of a vector, of width <= 1; refuses parallel
 * edges. `name`: of the matrix, for messages. (extract.c) */
GrB_Info ftb_line_of(ftb_vector *v, FtB_Context ctx, FtB_Matrix A, bool row, const char *name);
/* The reverse: a matrix of one row or column. (transpose.c) */
GrB_Info ftb_matrix_of_line(FtB_Matrix *A, FtB_Context ctx, const ftb_vector *v, bool row);

#endif
