/* Products and what is done entry by entry. Part of featblas.h. */
#ifndef FEATBLAS_OPERATIONS_H
#define FEATBLAS_OPERATIONS_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------- products */

/** C<M> = accum(C, A (x) B): a product over a semiring. What the operands are says which:
 *
 *  - sparse m x p times sparse p x n: C is a matrix m x n, or a sink; C(i,j) = reducer over k of the message,
 *    which may name a = A(i,k), b = B(k,j), and m, the mask's entry;
 *  - sparse m x p times block p x d: C is a block m x d'; C(i,:) = reducer over the entries (i,k) of A of the
 *    message, which may name src = B(k,:), edge = A(i,k), and dst;
 *  - block m x d times block n x d, read transposed: C is a matrix m x n, masked; C(i,j) = the message
 *    for every (i,j) that M admits, which may name dst = A(i,:), src = B(j,:), edge = M(i,j);
 *  - sparse m x n times vector of n places, a column: C is a vector of m places; vector of m places, a row,
 *    times sparse m x n: C is a vector of n places. C(i) = reducer over the entries of the matrix that meet
 *    one of the vector's, of the message, which may name a and b, as of two matrices, or src, the vector's
 *    entry, and edge, the matrix's. Of a column j is 0 and dj the number of its entries, of a row i and di;
 *    dk counts the matrix's. Reducers are monoids. FtB_mxv and FtB_vxm are other names for these.
 *
 *  All may name the indices i, j, k, the degrees di, dj, dk, and what FtB_Semiring_bind bound; for blocks, k
 *  and j both name the source's vertex. Transposes of the descriptor come first.
 *  @param C slot: may alias any input. A matrix keeps its dtype (one cast at the end) and gets the message's
 *  width, which must be its own where accum or a mask without replace keeps old entries; a block keeps dtype
 *  and shape. With a sink, accum must be NULL.
 *  @param M slot: mask, or NULL. For a matrix: FtB_Matrix m x n; width 0 is structural, width > 1 needs the
 *  structural flag. For a vector: FtB_Vector of C's size. For a block: row mask, FtB_Block m x 1. The
 * complement of no mask admits nothing, into a sink neither; a sink takes no other complement. Block x block'
 * needs one that is not complemented; into an empty C, or under replace, a structural mask's pattern becomes
 * C's own, shared.
 *  @param accum slot: GrB_BinaryOp, FtB_Op over x (old) and y (new), or NULL.
 *  @param semiring slot: FtB_Semiring, GrB_Semiring, or text. Block x block' has one message per entry and
 *  does not reduce. A GraphBLAS semiring reduces its products over each head's features there.
 *  @param A slot: FtB_Matrix, FtB_Block or FtB_Vector. @param B slot: the same. Widths of two matrices:
 * equal, or one <= 1. An entry's width and a block's columns broadcast: one value, one per head, or as many
 * as the block has columns. Heads (FtB_Block_heads) are those of all operands, read or not: equal, or one.
 *  @param desc slot: FtB_Descriptor, a predefined GrB_Descriptor, or NULL. FTB_FILL is what rows of a block
 *  get that receive no message (0 if not set; with accum they keep their own). Block x block' is written with
 *  FTB_DESC_T1 or its like. Blocks may have no columns: sparse x block then gives C without columns, and
 * block x block' 0 for dot products of reals. A vector's TRANSPOSE does nothing. Bits depend on the operands
 * and the numeric plan alone, not on threads, chunks or the memory limit. Cost: products + entries; for
 * blocks, entries x columns; for vectors, what the vector's entries meet, or all of the matrix where that is
 * less work. @return GrB_NULL_POINTER, GrB_DIMENSION_MISMATCH, GrB_DOMAIN_MISMATCH, GrB_INVALID_VALUE,
 * GrB_OUT_OF_MEMORY, FTB_LIMIT, FTB_CANCELLED. Source: Davis, "Algorithm 1000: SuiteSparse:GraphBLAS", TOMS
 * 2019; Hu et al., "FeatGraph", SC 2020. */
GrB_Info FtB_mxm(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

/** As FtB_mxm with a min or max reducer, and tells who won (ties: the smallest k; NaN loses to every number,
 *  -0 is less than 0). Two matrices: width 1; E gets C's pattern and, per entry, the winning product's k.
 *  Sparse x block: E gets, per value of C, the entry of A (its position in CSR order; of A' in its own under
 *  TRANSPOSE0), -1 where there was no message. No mask keeps old entries: with M, replace is implied.
 *  @param C slot: FtB_Matrix or FtB_Block. @param E slot: INT64, FtB_Matrix m x n or FtB_Block of C's shape.
 *  @param M slot: mask or NULL. @param semiring slot. @param A,B slots: as FtB_mxm. @param desc slot.
 *  @return as FtB_mxm. */
GrB_Info FtB_mxm_arg(FtB_Arg C, FtB_Arg E, FtB_Arg M, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

/** One gradient that FtB_mxm_grad is asked for; made by FTB_GRAD(name, output) or
 *  FTB_GRAD_ADD(name, output), which adds to what the output holds. */
typedef struct FtB_Gradient {
    const char *name; /**< "src", "dst", "edge" or a bound name */
    FtB_Arg output;   /**< block or matrix of the named operand's shape; a scalar's: block 1 x 1 */
    bool accumulate;  /**< add to the output instead of replacing it */
} FtB_Gradient;

/** Gradients of C = FtB_mxm(semiring, A, B) without mask and accum, given the gradient of C: for every asked
 *  name x, output = (dC/dx)' dC. Derived from the semiring's text; where operands broadcast, gradients are
 *  summed over what was broadcast; at ties of min and max the winner alone gets the gradient; at kinks the
 *  derivative is that of docs/gradients.md.
 *  @param dC slot: FtB_Block (sparse x block) or FtB_Matrix with the mask's pattern (block x block').
 *  @param semiring slot. @param A,B slots: as in the product. @param M slot: the mask of block x block', else
 * NULL.
 *  @param saved slot: what FtB_mxm_arg wrote to E, for min and max; else NULL.
 *  @param gradients what is asked for. @param count how many. @param desc slot: as in the product.
 *  @return as FtB_mxm; GrB_DOMAIN_MISMATCH for integers, C functions without a gradient and texts that have
 * none. */
GrB_Info FtB_mxm_grad(FtB_Arg dC, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg M, FtB_Arg saved,
                      const FtB_Gradient *gradients, size_t count, FtB_Arg desc);

/* ---------------------------------------------------------------------------------- attention */

/** Which entries are normalised together. */
typedef enum FtB_By { FTB_BY_ROW = 0, FTB_BY_COLUMN = 1 } FtB_By;

/** S(e,h) = exp(A(e,h)) / sum of exp(A(f,h)) over the entries f of the same row (or column): softmax on
 * edges, for each of the width values, safe for large scores. @param S slot: FtB_Matrix, floating; gets A's
 * pattern and width; may be A. @param A slot: FtB_Matrix of width >= 1. @param by row or column.
 *  @return as FtB_mxm. */
GrB_Info FtB_softmax(FtB_Arg S, FtB_Arg A, FtB_By by);

/** dA = S (dS - sum of S dS over the row (or column)): gradient of S = FtB_softmax(A).
 *  @param dA slot: FtB_Matrix, gets S's pattern and width; may be dS. @param S,dS slots: FtB_Matrix of one
 * pattern and width. @param by row or column. @return as FtB_mxm. */
GrB_Info FtB_softmax_grad(FtB_Arg dA, FtB_Arg S, FtB_Arg dS, FtB_By by);

/** Options of FtB_attention; made by FTB_ATTENTION_OPTIONS(...). Zero means the default. */
typedef struct FtB_Attention_options {
    size_t size; /**< set by the macro */
    double
        dropout;   /**< probability that an entry's weight becomes 0 (the others grow by 1 / (1 - dropout)) */
    uint64_t seed; /**< of dropout: entry e and head h draw Philox4x32-10 (seed; e, h) */
    FtB_Block lse; /**< [out] m x heads, FP32 or FP64: log of the sum of exponentials; NULL if not wanted */
} FtB_Attention_options;

/** C = accum(C, softmax by row of S<A> = Q (x) K', times V), head by head: in one pass that stores nothing
 * per entry, or, where that is faster and weights take no more than operands, C and pattern, in three steps
 * (FtB_attention_plan; kernel = fused or staged). Rows without entries get the fill value. @param C slot:
 * FtB_Block m x (heads * dv), not an input.
 *  @param A slot: FtB_Matrix m x n, whose entries attend; its values are `edge` in the semiring's text.
 *  @param accum slot or NULL. @param semiring slot: the score, such as FTB_PLUS_DOT or
 *  "plus : dot(src, dst) * scale": one value per head (of Q, K, V). @param Q slot: m x (heads * d), `dst`.
 *  @param K slot: FtB_Block n x (heads * d), `src`. @param V slot: FtB_Block n x (heads * dv).
 *  @param options NULL for the defaults. @param desc slot; transposes and COMPLEMENT are refused: for A' give
 * the transposed matrix (FtB_transpose). @return as FtB_mxm.
 *  Source: Dao et al., "FlashAttention", NeurIPS 2022. */
GrB_Info FtB_attention(FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring, FtB_Arg Q, FtB_Arg K, FtB_Arg V,
                       const FtB_Attention_options *options, FtB_Arg desc);

/** Gradients of C = FtB_attention without accum; nothing is stored per entry. Scores are dot(src, dst), times
 * a number, or leaky_relu(src + dst) of one value per head; of others, take the gradients of FtB_mxm and
 * FtB_softmax.
 *  @param dQ,dK,dV slots: FtB_Block of Q's, K's and V's shape, or NULL if not wanted. @param dC slot:
 * FtB_Block, the gradient of C. @param A,semiring,Q,K,V,desc as in the forward call. @param C slot: its
 * result.
 *  @param options as in the forward call, with lse as it was written. @return as FtB_mxm. */
GrB_Info FtB_attention_grad(FtB_Arg dQ, FtB_Arg dK, FtB_Arg dV, FtB_Arg dC, FtB_Arg A, FtB_Arg semiring,
                            FtB_Arg Q, FtB_Arg K, FtB_Arg V, FtB_Arg C, const FtB_Attention_options *options,
                            FtB_Arg desc);

/* ----------------------------------------------------------------------------- entry by entry */

/** C<M> = accum(C, f(A)). A matrix keeps A's pattern, a vector A's places. Of a block, op sees a row (of a
 * block with heads: one head of a row) as x, and its index as i, but not j; a text without vectors, sums and
 * products by blocks is applied to every value. Cost of a block: one pass over memory; nothing of C's size is
 * stored in between.
 *  @param C slot: FtB_Matrix, FtB_Block or FtB_Vector. @param M slot: mask (a block's: m x 1) or NULL.
 *  @param accum slot: GrB_BinaryOp, FtB_Op, or NULL. @param op slot: FtB_Op over x (all values of an entry or
 *  a row), i, j, di, dj, or text; of a vector, x and its place i. @param A slot: as C.
 *  @param desc slot (TRANSPOSE0 reads a matrix A transposed; blocks are not). @return as FtB_mxm. */
GrB_Info FtB_apply(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg desc);

/** C<M> = accum(C, entries of A whose expression is not zero). @param C slot: FtB_Matrix or
 * FtB_Vector. @param M slot: mask or NULL. @param accum slot. @param op slot: FtB_Op over x, i, j, di, dj, or
 * text; of a vector, x and i. @param A slot: as C. @param desc slot. @return as FtB_mxm. */
GrB_Info FtB_select(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg desc);

/** C<M> = accum(C, the k largest entries of each row of A); ties: larger value, then smaller column;
 *  NaN is never selected. @param C slot: FtB_Matrix. @param M slot: mask or NULL. @param accum slot.
 *  @param k entries per row, >= 0. @param A slot: FtB_Matrix of width <= 1. @param desc slot.
 *  @return as FtB_mxm. */
GrB_Info FtB_select_topk(FtB_Arg C, FtB_Arg M, FtB_Arg accum, int64_t k, FtB_Arg A, FtB_Arg desc);

/** C<M> = accum(C, A + B). Matrices and vectors: union of the patterns, op where both have an entry. Blocks:
 * op on every value. A block of one row stands for every row, one of one column for every column. Beside a
 * block with heads (FtB_Block_heads), one without has as many columns as the other, one per head, or one
 * head's for all.
 *  @param C slot: FtB_Matrix m x n, FtB_Block or FtB_Vector. @param M slot: mask (a block's: m x 1) or NULL.
 *  @param accum slot. @param op slot: GrB_BinaryOp, FtB_Op over x (A's) and y (B's), or text. Blocks: also
 *  over whole rows, as of FtB_apply. @param A,B slots: as C. @param desc slot. @return as FtB_mxm. */
GrB_Info FtB_eWiseAdd(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

/** C<M> = accum(C, A .* B). Matrices and vectors: intersection of the patterns. Blocks: as FtB_eWiseAdd.
 *  @param C slot: FtB_Matrix m x n, FtB_Block or FtB_Vector. @param M slot: mask (a block's: m x 1) or NULL.
 *  @param accum slot.
 *  @param op slot: as FtB_eWiseAdd.
 *  @param A,B slots: as C. @param desc slot. @return as FtB_mxm. */
GrB_Info FtB_eWiseMult(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

/** y<M> = accum(y, rows of A reduced by a monoid). A matrix: y(i,f) = reduce over j of A(i,j)[f]; rows
 * without entries keep y with accum, else get the fill value; of a vector y they have no entry. A block m x
 * n: y(i,h) = reduce over the values of head h.
 *  @param y slot: FtB_Block; of a matrix m x max(width, 1), of a block m x heads (TRANSPOSE0: 1 x n, its
 * columns reduced); or, of a matrix of width <= 1, FtB_Vector. @param M slot: row mask, FtB_Block m x 1, or,
 * of a vector, FtB_Vector; NULL.
 *  @param accum slot. @param monoid slot: text such as "plus", or a GrB_Monoid. @param A slot:
 *  FtB_Matrix m x n (TRANSPOSE0: columns are reduced) or FtB_Block. @param desc slot. @return as FtB_mxm. */
GrB_Info FtB_reduce(FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg monoid, FtB_Arg A, FtB_Arg desc);

/** s = all entries of A reduced by a monoid; the identity if there are none.
 *  @param[out] s max(width, 1) values of @p type. @param type dtype of s. @param monoid slot: text or
 *  GrB_Monoid. @param A slot: FtB_Matrix or FtB_Vector. @return as FtB_mxm. */
GrB_Info FtB_reduce_scalar(void *s, FtB_Type type, FtB_Arg monoid, FtB_Arg A);

/** Y(t,:) = X(rows[t],:): picks rows. At the speed of memory.
 *  @param Y slot: FtB_Block count x d; what of X or of the list lies inside its memory is copied first.
 *  @param X slot: FtB_Block n x d. @param rows 0 to n - 1, in any order, repeated or not; the macro takes an
 * FtB_Ids in place of both. @param count how many.
 *  @return GrB_INDEX_OUT_OF_BOUNDS (the message names the position), as FtB_mxm. */
GrB_Info FtB_gather(FtB_Arg Y, FtB_Arg X, const int64_t *rows, int64_t count);

/** Y(rows[t],:) = accum(Y(rows[t],:), X(t,:)) for t = 0, 1, ...: other rows stay. A row that is listed
 * several times sees its positions in this order, whatever the number of threads, and holds Y's dtype after
 * each.
 *  @param Y slot: FtB_Block n x d; as of FtB_gather. @param accum slot: GrB_BinaryOp, FtB_Op over x (old) and
 * y (new), text, or NULL: the last one wins. @param X slot: FtB_Block count x d. @param rows 0 to n - 1.
 *  @param count how many. Memory: 8 bytes per position with more than one thread. @return as FtB_gather. */
GrB_Info FtB_scatter(FtB_Arg Y, FtB_Arg accum, FtB_Arg X, const int64_t *rows, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
