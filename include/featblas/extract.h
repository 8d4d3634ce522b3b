/* Parts of matrices and vectors: extract, assign, transpose. Part of featblas.h. */
#ifndef FEATBLAS_EXTRACT_H
#define FEATBLAS_EXTRACT_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** C<M> = accum(C, A(I,J)): rows and columns of a matrix, or places of a vector, picked by lists.
 *
 *  - A a matrix, C a matrix: C(s,t) = A(I[s],J[t]);
 *  - A a matrix, C a vector: one of the lists has one number, of a row or a column; the other says which of
 *    its entries: C(s) = A(I[s],J[0]), or C(t) = A(I[0],J[t]);
 *  - A a vector, C a vector: C(s) = A(I[s]).
 *
 *  @param C slot: FtB_Matrix or FtB_Vector; may be A. @param M slot: mask, of C's kind and shape, or NULL.
 *  @param accum slot: as of FtB_mxm. @param A slot: FtB_Matrix or FtB_Vector; an entry of width w is copied
 * as a whole, into a vector w <= 1 (a matrix's entries of width 0 are 1 there).
 *  @param I slot: FtB_Ids, rows in any order, repeated or not; NULL: all. @param J slot: the same, of
 * columns; of a vector NULL.
 *  @param desc slot: TRANSPOSE0 reads a matrix A transposed. Cost: the entries that are picked, and for each
 *  row times list of columns the smaller of the two.
 *  @return GrB_INDEX_OUT_OF_BOUNDS (the message names the position), as FtB_mxm. */
GrB_Info FtB_extract(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg I, FtB_Arg J, FtB_Arg desc);

/** C(I,J)<M> = accum(C(I,J), A): the reverse of FtB_extract, as GrB_assign has it: other entries of C stay,
 * those of C(I,J) that A has none for go, unless there is an accumulator; and the mask is C's, so that
 * replace takes away what it does not admit outside of C(I,J), too.
 *
 *  - C a matrix: A a matrix of as many rows and columns as I and J have numbers; a vector, for the row or
 *    column of which I or J has the only number, and then M is a vector that masks this row or column, and
 *    all else stays (where each has one number it is the column, unless M has a row's size); or a number, for
 * every place of C(I,J);
 *  - C a vector: A a vector of as many places as I has numbers, or a number.
 *
 *  @param C slot: FtB_Matrix (of width <= 1 for a vector or a number) or FtB_Vector; may be A. @param M slot:
 *  mask or NULL. @param accum slot: as of FtB_mxm. @param A slot: FtB_Matrix, FtB_Vector, a real or an
 * integer. A number where a mask that is not complemented says takes no memory for other
 * places.
 *  @param I slot: FtB_Ids in any order, none twice; NULL: all. @param J slot: the same, of columns; of a
 * vector NULL. @param desc slot: TRANSPOSE0 reads a matrix A transposed.
 *  @return GrB_INVALID_VALUE (a number twice), as FtB_extract. */
GrB_Info FtB_assign(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg I, FtB_Arg J, FtB_Arg desc);

/** C<M> = accum(C, A'). A vector is a matrix of one column, and its transpose a row: so C is a matrix of one
 * row, or, with TRANSPOSE0, of one column; and a vector C takes what is one column then.
 *  @param C slot: FtB_Matrix or FtB_Vector; may be A. @param M slot: mask, of C's kind and shape, or NULL.
 *  @param accum slot: as of FtB_mxm. @param A slot: FtB_Matrix or FtB_Vector. @param desc slot: TRANSPOSE0
 *  reads A transposed: then it is not turned. @return as FtB_mxm. */
GrB_Info FtB_transpose(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg desc);

#ifdef __cplusplus
}
#endif

#endif
