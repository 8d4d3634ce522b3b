#include "support/messages.h"

#include <stdlib.h>

#include "support/check.h"

FtB_Matrix random_graph(rng *r, int64_t nrows, int64_t ncols, FtB_Type type, int64_t width, bool hub)
{
    int64_t n = 0, room = nrows * 6 + ncols;
    int64_t *I = malloc((size_t)room * 8), *J = malloc((size_t)room * 8);
    char *X = malloc((size_t)(room * ftb_max(width, 1)) * 8);
    for (int64_t i = 0; i < nrows && ncols > 0; i++)
        for (int64_t t = rng_below(r, 3) ? rng_below(r, 6) : 0; t > 0; t--, n++) {
            I[n] = i;
            J[n] = rng_below(r, ncols);
        }
    for (int64_t j = 0; hub && j < ncols && nrows > 0; j++, n++) {
        I[n] = nrows / 2;
        J[n] = j;
    }
    rng_values(r, X, type, n * ftb_max(width, 1));
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, type, nrows, ncols, width, n, I, J, X, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

FtB_Block random_block(rng *r, int64_t rows, int64_t columns, FtB_Type type)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, rows, columns + 3, type));
    rng_values(r, block_values(X), type, rows * (columns + 3));
    X->ncols = columns; /* rows that are not packed */
    X->offset = (int64_t)FtB_Type_size(type);
    return X;
}

void make_message(message_fixture *f, rng *r, const char *reducer, const char *message, FtB_Type type,
                  int64_t nrows, int64_t ncols, int64_t heads, int64_t src_heads, int64_t width,
                  int64_t edge_width, bool hub)
{
    char text[256];
    snprintf(text, sizeof text, "%s : %s", reducer, message);
    *f = (message_fixture){.heads = heads, .width = width};
    f->A = random_graph(r, nrows, ncols, type, edge_width, hub);
    f->src = random_block(r, ncols, src_heads * width, type);
    f->dst = random_block(r, nrows, heads * width, type);
    f->norm = random_block(r, nrows, 1, type);
    assert_ok(FtB_Semiring_new(&f->semiring, text));
    if (strstr(message, "norm"))
        assert_ok(FtB_Semiring_bind(&f->bound, f->semiring, FTB_BIND("norm", f->norm)));
    else if (strstr(message, "scale")) /* texts have one or the other */
        assert_ok(FtB_Semiring_bind(&f->bound, f->semiring, FTB_BIND("scale", 0.5)));
    else
        assert_ok((FtB_Semiring_bind)(&f->bound, f->semiring, NULL, 0));
    assert_ok(ftb_message_new(&f->m, ftb_context(), f->bound, NULL));
    assert_ok(ftb_message_block(&f->m, "src", FTB_SIDE_COL, f->src, src_heads));
    assert_ok(ftb_message_block(&f->m, "dst", FTB_SIDE_ROW, f->dst, heads));
    assert_ok(ftb_message_values(&f->m, "edge", f->A, NULL));
    assert_ok(ftb_message_indices(&f->m, f->A->pattern, false, NULL));
}

void release_message(message_fixture *f)
{
    ftb_message_clear(&f->m);
    FtB_Semiring_free(&f->semiring);
    FtB_Semiring_free(&f->bound);
    FtB_Matrix_free(&f->A);
    FtB_Block_free(&f->src);
    FtB_Block_free(&f->dst);
    FtB_Block_free(&f->norm);
}
