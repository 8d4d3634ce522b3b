/* A generated graph as a matrix of the library: nothing is copied. */
#include "gen/gen.h"

GrB_Info gen_matrix(FtB_Matrix *A, const gen_graph *g)
{
    return FtB_Matrix_wrap_csr(A, FTB_FP32, g->nrows, g->ncols, g->values ? 1 : 0, g->rowptr, g->colidx,
                               g->values);
}
