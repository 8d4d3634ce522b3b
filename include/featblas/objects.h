/* Matrices, blocks, semirings, operators, descriptors. Part of featblas.h. */
#ifndef FEATBLAS_OBJECTS_H
#define FEATBLAS_OBJECTS_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------- matrix */

/** How FtB_Matrix_build and the readers merge entries that share a row and a column. */
typedef enum FtB_Dup {
    FTB_DUP_SUM = 0,
    FTB_DUP_MAX,
    FTB_DUP_MIN,
    FTB_DUP_FIRST,
    FTB_DUP_LAST,
    FTB_DUP_COUNT, /**< the value becomes the number of merged entries */
    FTB_DUP_ERROR, /**< duplicates are refused with GrB_INVALID_VALUE */
    FTB_DUP_KEEP   /**< parallel edges are kept */
} FtB_Dup;

/** Makes a matrix without entries.
 *  @param[out] A the new matrix, NULL on failure. @param type dtype of the values.
 *  @param nrows,ncols dimensions, 0 to 2^63 - 2. @param width values per entry, less than 2^60; 0: pattern
 * only, every entry counts as 1. @return GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Matrix_new(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width);

/** Builds a matrix from tuples in any order. Parallel; bits do not depend on the threads.
 *  @param[out] A the new matrix, NULL on failure. @param type dtype of @p X and of the values.
 *  @param nrows,ncols dimensions. @param width values per entry (0, or rule count: @p X may be NULL).
 *  @param nvals number of tuples. @param I,J row and column of each tuple, nvals each.
 *  @param X values, nvals x width, row-major; copied. @param dup rule for equal (row, column); sums and
 *  counts are made in @p type, in which integers wrap (readers widen the values, or refuse the file).
 *  @param[out] perm where each input tuple went: perm[t] is the entry (position in CSR order) that
 *  tuple t became part of; nvals long; NULL if not wanted.
 *  @return GrB_INDEX_OUT_OF_BOUNDS (the message names the tuple), GrB_INVALID_VALUE,
 *  GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Matrix_build(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                          int64_t nvals, const int64_t *I, const int64_t *J, const void *X, FtB_Dup dup,
                          int64_t *perm);

/** Wraps the caller's CSR arrays. Nothing is copied when columns are strictly ascending in every
 *  row, else a sorted copy is made; a wrapped array must stay valid while the matrix or anything that shares
 *  its pattern lives, rowptr and colidx unchanged; who changes values says FtB_Matrix_changed.
 *  @param[out] A the new matrix, NULL on failure. @param type dtype of @p values.
 *  @param nrows,ncols dimensions. @param width values per entry. @param rowptr nrows + 1 positions,
 *  rowptr[0] = 0, not falling. @param colidx rowptr[nrows] columns: int32_t if ncols < 2^31, else
 *  int64_t. @param values rowptr[nrows] x width. @return as FtB_Matrix_build; duplicates are refused. */
GrB_Info FtB_Matrix_wrap_csr(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                             const int64_t *rowptr, const void *colidx, const void *values);

/** Makes a matrix that shares the pattern of @p A; its values are zero.
 *  @param[out] S the new matrix, NULL on failure. @param A any matrix. @param width values per entry.
 *  @param type dtype. @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Matrix_like(FtB_Matrix *S, FtB_Matrix A, int64_t width, FtB_Type type);

/** Copies a matrix; the immutable pattern is shared. @param[out] B the copy, NULL on failure.
 *  @param A any matrix. @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Matrix_dup(FtB_Matrix *B, FtB_Matrix A);

/** A view of the values, nvals x width; writing to it changes @p A. It stays valid after A is freed. Who
 * writes through its pointer says FtB_Matrix_changed. @param[out] V NULL on failure. @param A width >= 1.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE (width 0), GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Matrix_values(FtB_Block *V, FtB_Matrix A);

/** Says that the values of @p A were written through a pointer: that of FtB_Block_shape or FtB_Matrix_csr, or
 *  the caller's own memory. Layers and tapes keep what they made of values, and make it again after this
 * call, as they do after every call of the library that writes values. A build with assertions notices most
 * calls that were forgotten. @param A any; its views, and other matrices over the same values, are meant,
 * too.
 *  @return GrB_NULL_POINTER. */
GrB_Info FtB_Matrix_changed(FtB_Matrix A);

/** Copies a GraphBLAS matrix of a built-in type, in whatever form it is stored; @p G keeps its
 *  content. Width 1, dtype of G. A caller that shares G between threads materialises it first.
 *  @param[out] A the new matrix, NULL on failure. @param G any. @return GrB_NULL_POINTER,
 *  GrB_DOMAIN_MISMATCH (user-defined type), GrB_NOT_IMPLEMENTED (built without GraphBLAS, or it is not
 *  installed), GrB_OUT_OF_MEMORY, FTB_LIMIT (row pointers), GraphBLAS's own. */
GrB_Info FtB_Matrix_import(FtB_Matrix *A, GrB_Matrix G);

/** Copies a matrix to a new GraphBLAS matrix: width 0 as BOOL true, FP16 and BF16 as FP32.
 *  @param[out] G the new matrix, NULL on failure. @param A any without parallel edges.
 *  @param plane which of the width values of an entry, 0 for width <= 1.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_NOT_IMPLEMENTED (as FtB_Matrix_import),
 *  GrB_OUT_OF_MEMORY, GraphBLAS's own. */
GrB_Info FtB_Matrix_export(GrB_Matrix *G, FtB_Matrix A, int64_t plane);

/** Shape of a matrix; any output may be NULL. @param A any. @param[out] nrows,ncols dimensions.
 *  @param[out] nvals entries. @param[out] width values per entry. @param[out] type dtype.
 *  @return GrB_NULL_POINTER. */
GrB_Info FtB_Matrix_shape(FtB_Matrix A, int64_t *nrows, int64_t *ncols, int64_t *nvals, int64_t *width,
                          FtB_Type *type);

/** Copies the entries out, row by row, columns ascending: what FtB_Matrix_build takes. Of a matrix of far
 * more rows than entries, too, it takes as long as there are entries. @param A any. @param[out] I,J rows and
 *  columns, nvals of them (FtB_Matrix_shape); NULL if not wanted. @param[out] X nvals x width values of A's
 *  dtype; NULL if not wanted. @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT, FTB_NO_DEVICE. */
GrB_Info FtB_Matrix_tuples(FtB_Matrix A, int64_t *I, int64_t *J, void *X);

/** Reads the arrays in place; any output may be NULL. They live as long as @p A is not changed. Of a
 *  hypersparse matrix (docs/vectors.md) row pointers of all rows are made when they are first asked for.
 *  @param A any. @param[out] rowptr nrows + 1. @param[out] colidx nvals columns, ascending in a row:
 *  int32_t if ncols < 2^31, else int64_t. @param[out] values nvals x width. @return GrB_NULL_POINTER,
 *  GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Matrix_csr(FtB_Matrix A, const int64_t **rowptr, const void **colidx, const void **values);

/** Releases a matrix. @param[in,out] A set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Matrix_free(FtB_Matrix *A);

/* -------------------------------------------------------------------------------------- block */

/** Makes a block of zeros. @param[out] X the new block, NULL on failure. @param nrows,ncols
 *  dimensions, >= 0; nrows ncols (of wrapped memory, nrows ld) is less than 2^60. @param type dtype. @return
 * GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Block_new(FtB_Block *X, int64_t nrows, int64_t ncols, FtB_Type type);

/** Wraps the caller's memory without copying; it must outlive the block and its views. Who writes there says
 *  FtB_Block_changed. @param[out] X the new block, NULL on failure. @param data nrows rows of ld values.
 *  @param nrows,ncols dimensions. @param ld values from one row to the next, >= ncols.
 *  @param type dtype. @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Block_wrap(FtB_Block *X, void *data, int64_t nrows, int64_t ncols, int64_t ld, FtB_Type type);

/** As FtB_Block_wrap, for memory that must not be written: refused as an output.
 *  @param[out] X the new block. @param data memory. @param nrows,ncols dimensions.
 *  @param ld leading dimension. @param type dtype. @return as FtB_Block_wrap. */
GrB_Info FtB_Block_wrap_const(FtB_Block *X, const void *data, int64_t nrows, int64_t ncols, int64_t ld,
                              FtB_Type type);

/** Wraps memory of the engaged context's device without copying, such as a tensor of PyTorch or CuPy
 * (docs/blocks.md says what DLPack's fields are here). It must outlive the block and its views. What a call
 * of that context's device writes is there; what was computed on the host is brought there by
 * FtB_Block_to_device, and who writes there says FtB_Block_changed. The address that FtB_Block_shape gives is
 * that of a copy on the host, to be read. @param[out] X the new block, NULL on failure. @param data nrows
 * rows of ld values, on the device, at a multiple of a value's bytes; a GPU's driver is asked whether it is
 * memory there. @param nrows,ncols dimensions. @param ld values from one row to the next, >= ncols. @param
 * type dtype. @return FTB_NO_DEVICE if the context works on the host; as FtB_Block_wrap; FTB_LIMIT, since
 * room for a copy on the host is counted, though nothing touches it before it is needed. */
GrB_Info FtB_Block_wrap_device(FtB_Block *X, void *data, int64_t nrows, int64_t ncols, int64_t ld,
                               FtB_Type type);

/** Sends the values of @p X to its context's device, if they are not there; without one, to the host. The
 * host's copy stays valid. Of FtB_Block_wrap_device's memory they go to where that is, and are there when the
 * call returns. @param X any; all views of the same memory are meant.
 *  @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_NO_DEVICE (the device has no room, or was lost). */
GrB_Info FtB_Block_to_device(FtB_Block X);

/** Brings the values of @p X to the host, and gives the device's memory back unless that is the caller's.
 *  @param X any; all views of the same memory are meant.
 *  @return as FtB_Block_to_device. */
GrB_Info FtB_Block_to_host(FtB_Block X);

/** Shape of a block; any output may be NULL. @param X any. @param[out] nrows,ncols dimensions. @param[out] ld
 * values from row to row. @param[out] type dtype. @param[out] data the memory (FtB_Block_changed).
 *  @return GrB_NULL_POINTER. */
GrB_Info FtB_Block_shape(FtB_Block X, int64_t *nrows, int64_t *ncols, int64_t *ld, FtB_Type *type,
                         void **data);

/** FtB_Matrix_changed of a block; of FtB_Block_wrap_device's memory, it was written on its device. @param X
 * any; all views of the same memory are meant.
 *  @return GrB_NULL_POINTER. */
GrB_Info FtB_Block_changed(FtB_Block X);

/** A view of the same memory whose columns are @p heads heads, ncols / heads columns each. Products work head
 * by head on such views; it stays valid after @p X is freed. @param[out] V the view, NULL on failure.
 *  @param X any. @param heads >= 1, divides the columns.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Block_heads(FtB_Block *V, FtB_Block X, int64_t heads);

/** A view of columns first to first + count - 1, with one head. @param[out] V the view, NULL on failure.
 *  @param X any. @param first,count inside X's columns.
 *  @return as FtB_Block_heads; GrB_INDEX_OUT_OF_BOUNDS. */
GrB_Info FtB_Block_columns(FtB_Block *V, FtB_Block X, int64_t first, int64_t count);

/** Releases a block. @param[in,out] X set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Block_free(FtB_Block *X);

/* ------------------------------------------------------------------------ semirings, operators */

/** A name and what it stands for in an expression; made by FTB_BIND(name, x). */
typedef struct FtB_Binding {
    const char *name; /**< an identifier */
    FtB_Arg value;    /**< a scalar or an FtB_Block */
} FtB_Binding;

/** Makes a semiring from text, "reducer : message", such as "plus : a / (a + b)". docs/semirings.md
 *  is the language. @param[out] s the new semiring, NULL on failure. @param text copied.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE (syntax; the message has the column), GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Semiring_new(FtB_Semiring *s, const char *text);

/** A message as a C function, z = f(src, dst, edge), of one edge and head. In a product of two sparse
 * matrices src is B's entry and edge is A's. @param[out] z as many values as FtB_Semiring_new_function was
 * told.
 *  @param src,dst,edge width values each, one that broadcasts being repeated; dst is NULL where there is none
 *  (of a sparse matrix and a block: where none is bound). @param width values. @param theta the caller's. */
typedef void (*FtB_Message_function)(float *z, const float *src, const float *dst, const float *edge,
                                     int64_t width, const void *theta);

/** Makes a semiring whose message is a C function (FP32; thread-safe; called in any order).
 *  @param[out] s the new semiring, NULL on failure. @param reducer "plus", "min", ...
 *  @param f the message. @param width of z. @param theta handed to @p f; must outlive the semiring.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Semiring_new_function(FtB_Semiring *s, const char *reducer, FtB_Message_function f,
                                   int64_t width, const void *theta);

/** The gradient of a message that is a C function, of one edge and head: given the gradient of z, that of one
 *  operand. @param[out] dsrc,ddst,dedge width values each, zeros before; NULL where it is not asked for: one
 *  of them is. Of an operand that broadcasts, the gradient is what they sum up to. @param grad of z, as many
 *  values as z. @param src,dst,edge,width,theta as the function has them. */
typedef void (*FtB_Message_gradient)(float *dsrc, float *ddst, float *dedge, const float *grad,
                                     const float *src, const float *dst, const float *edge, int64_t width,
                                     const void *theta);

/** Gives a message that is a C function its gradient, for FtB_mxm_grad; to be called before @p s is bound or
 *  used in another thread. @param s made by FtB_Semiring_new_function. @param gradient thread-safe; NULL
 *  takes it away. @return GrB_NULL_POINTER, GrB_INVALID_VALUE (text, whose gradient is derived). */
GrB_Info FtB_Semiring_set_gradient(FtB_Semiring s, FtB_Message_gradient gradient);

/** Binds names of a semiring (of a C function: "dst" alone); the last binding of a name wins. Bound blocks
 * are referenced.
 *  @param[out] bound the new handle, NULL on failure. @param s stays as it was.
 *  @param bindings names and values. @param count how many.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE (unknown name, wrong kind), GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Semiring_bind(FtB_Semiring *bound, FtB_Semiring s, const FtB_Binding *bindings, size_t count);

/** Prints what becomes of a semiring's text in a product of a sparse matrix with blocks: the form that
 * kernels know, what is computed once per vertex instead of once per edge, what is done to the result, and
 * the gradients.
 *  @param s any. @param file where. @return GrB_NULL_POINTER, FTB_IO, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Semiring_explain(FtB_Semiring s, FILE *file);

/** Releases a semiring. @param[in,out] s set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Semiring_free(FtB_Semiring *s);

/** Makes an elementwise operator from text over x, y and the indices i, j (and di, dj, the entries in
 *  the row and the column of a matrix). @param[out] op the new operator, NULL on failure.
 *  @param text copied. @return as FtB_Semiring_new. */
GrB_Info FtB_Op_new(FtB_Op *op, const char *text);

/** Binds names of an operator. @param[out] bound the new handle, NULL on failure. @param op stays as
 *  it was. @param bindings names and values. @param count how many. @return as FtB_Semiring_bind. */
GrB_Info FtB_Op_bind(FtB_Op *bound, FtB_Op op, const FtB_Binding *bindings, size_t count);

/** Releases an operator. @param[in,out] op set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Op_free(FtB_Op *op);

/** @name Named semirings, such as FTB_PLUS_TIMES; immortal. The rows of featblas/semirings.def.
 *  @{ */
#define FTB_SEMIRING(name, text) extern FtB_Semiring const FTB_##name;
#include "featblas/semirings.def"
#undef FTB_SEMIRING
/** @} */

/* --------------------------------------------------------------------------------- descriptor */

/** What a descriptor says. */
typedef enum FtB_Field {
    FTB_TRANSPOSE0 = 1, /**< read the first matrix input transposed */
    FTB_TRANSPOSE1,     /**< read the second matrix input transposed */
    FTB_STRUCTURAL,     /**< the mask admits every position that it stores */
    FTB_COMPLEMENT,     /**< the mask admits what it would not */
    FTB_REPLACE,        /**< entries of the output that are not admitted go */
    FTB_FILL,           /**< what a block's row without messages gets (double) */
    FTB_PLAN            /**< an FtB_Plan to use */
} FtB_Field;

/** Makes a descriptor with nothing set. @param[out] d the new one, NULL on failure.
 *  @return GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Descriptor_new(FtB_Descriptor *d);

/** Sets a field. @param d not one of the constants. @param field which. @param value slot: integer 0
 *  or 1 for the flags, a number for FTB_FILL, an FtB_Plan (which must outlive @p d) or NULL for FTB_PLAN.
 * @return GrB_INVALID_VALUE. */
GrB_Info FtB_Descriptor_set(FtB_Descriptor d, FtB_Field field, FtB_Arg value);

/** Releases a descriptor. @param[in,out] d set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Descriptor_free(FtB_Descriptor *d);

/** The 31 constant descriptors: R replace, S structural, C complement, T0 T1 transposes. */
/* clang-format off */
#define FTB_DESCRIPTORS(X)                                                                         \
    X(T1, 0, 0, 0, 0, 1) X(T0, 0, 0, 0, 1, 0) X(T0T1, 0, 0, 0, 1, 1)                               \
    X(C, 0, 0, 1, 0, 0) X(CT1, 0, 0, 1, 0, 1) X(CT0, 0, 0, 1, 1, 0) X(CT0T1, 0, 0, 1, 1, 1)        \
    X(S, 0, 1, 0, 0, 0) X(ST1, 0, 1, 0, 0, 1) X(ST0, 0, 1, 0, 1, 0) X(ST0T1, 0, 1, 0, 1, 1)        \
    X(SC, 0, 1, 1, 0, 0) X(SCT1, 0, 1, 1, 0, 1) X(SCT0, 0, 1, 1, 1, 0) X(SCT0T1, 0, 1, 1, 1, 1)    \
    X(R, 1, 0, 0, 0, 0) X(RT1, 1, 0, 0, 0, 1) X(RT0, 1, 0, 0, 1, 0) X(RT0T1, 1, 0, 0, 1, 1)        \
    X(RC, 1, 0, 1, 0, 0) X(RCT1, 1, 0, 1, 0, 1) X(RCT0, 1, 0, 1, 1, 0) X(RCT0T1, 1, 0, 1, 1, 1)    \
    X(RS, 1, 1, 0, 0, 0) X(RST1, 1, 1, 0, 0, 1) X(RST0, 1, 1, 0, 1, 0) X(RST0T1, 1, 1, 0, 1, 1)    \
    X(RSC, 1, 1, 1, 0, 0) X(RSCT1, 1, 1, 1, 0, 1) X(RSCT0, 1, 1, 1, 1, 0) X(RSCT0T1, 1, 1, 1, 1, 1)
/* clang-format on */

/** @name FTB_DESC_T1 ... FTB_DESC_RSCT0T1; immortal
 *  @{ */
#define FTB_DESC_DECLARE(name, r, s, c, t0, t1) extern FtB_Descriptor const FTB_DESC_##name;
FTB_DESCRIPTORS(FTB_DESC_DECLARE)
#undef FTB_DESC_DECLARE
/** @} */

#ifdef __cplusplus
}
#endif

#endif
