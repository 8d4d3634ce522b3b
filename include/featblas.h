/*
 * FeatBLAS: products of sparse matrices whose entries carry features, over semirings written as text.
 *
 * Conventions. Every function returns a GrB_Info: GrB_SUCCESS (0) or an error, whose message
 * FtB_error() returns. Outputs come first and change only on success. Objects are made by
 * FtB_X_new(&x, ...) and released by FtB_X_free(&x), which sets the handle to NULL and may be called
 * twice. Arguments documented as "slots" take objects of several kinds, and NULL where they are
 * optional; the function-like macros at the end of this file wrap them.
 *
 * Dimensions, indices and counts are int64_t and start at 0. A matrix is m x n, its entry (i, j)
 * holds `width` values of one dtype.
 */
#ifndef FEATBLAS_H
#define FEATBLAS_H

#include <GraphBLAS.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTB_VERSION_MAJOR 0
#define FTB_VERSION_MINOR 1
#define FTB_VERSION_PATCH 0

/* ------------------------------------------------------------------------------------- status */

#ifdef __cplusplus
/* Not GrB_Info: in C++, values beyond an enumeration's bits are undefined. */
#define FTB_STATUS(code) (code)
#else
#define FTB_STATUS(code) ((GrB_Info)(code))
#endif

/** @name Errors beside those of GrB_Info
 *  @{ */
#define FTB_IO FTB_STATUS(-1001)        /**< a file could not be read or written */
#define FTB_FORMAT FTB_STATUS(-1002)    /**< a file's content is wrong; the message has file:line:column */
#define FTB_LIMIT FTB_STATUS(-1003)     /**< the context's memory limit is too small */
#define FTB_CANCELLED FTB_STATUS(-1004) /**< FtB_Context_cancel was called, or progress returned false */
#define FTB_NO_DEVICE FTB_STATUS(-1005) /**< no GPU, or it cannot do this */
/** @} */

/** The message of this thread's last failed call: names the argument, its shape and what was
 *  expected. Never NULL; "" before the first failure. Valid until the thread's next failing call. */
const char *FtB_error(void);

/** The library's version, "major.minor.patch". */
const char *FtB_version(void);

/* -------------------------------------------------------------------------------------- types */

/** The dtype of an entry's or a block's values. 0 in an option means "choose for me". */
typedef enum FtB_Type {
    FTB_BOOL = 1,
    FTB_INT8,
    FTB_INT16,
    FTB_INT32,
    FTB_INT64,
    FTB_UINT8,
    FTB_UINT16,
    FTB_UINT32,
    FTB_UINT64,
    FTB_FP32,
    FTB_FP64,
    FTB_FP16, /**< IEEE binary16: storage only, arithmetic in FP32 */
    FTB_BF16  /**< bfloat16: storage only, arithmetic in FP32 */
} FtB_Type;

/** Bytes of one value of @p type; 0 for a value that is not an FtB_Type. */
size_t FtB_Type_size(FtB_Type type);

/** Lower-case name of @p type, such as "fp32"; "unknown" for a value that is not an FtB_Type. */
const char *FtB_Type_name(FtB_Type type);

typedef struct FtB_Context_opaque *FtB_Context;       /**< threads, limits, seed, callbacks */
typedef struct FtB_Matrix_opaque *FtB_Matrix;         /**< sparse matrix, CSR */
typedef struct FtB_Block_opaque *FtB_Block;           /**< dense rows x cols, row-major */
typedef struct FtB_Semiring_opaque *FtB_Semiring;     /**< reducer and message */
typedef struct FtB_Op_opaque *FtB_Op;                 /**< elementwise expression */
typedef struct FtB_Descriptor_opaque *FtB_Descriptor; /**< how to read the arguments */
typedef struct FtB_Plan_opaque *FtB_Plan;             /**< what the planner decided */
typedef struct FtB_Sink_opaque *FtB_Sink;             /**< where the rows of a result go */
typedef struct FtB_Labels_opaque *FtB_Labels;         /**< names of rows or columns */

/** What an FtB_Arg holds. */
typedef enum FtB_Kind {
    FTB_KIND_NONE = 0,
    FTB_KIND_MATRIX,
    FTB_KIND_BLOCK,
    FTB_KIND_SEMIRING,
    FTB_KIND_OP,
    FTB_KIND_DESCRIPTOR,
    FTB_KIND_SINK,
    FTB_KIND_TEXT,           /**< const char *: an expression or a name */
    FTB_KIND_REAL,           /**< a double */
    FTB_KIND_INTEGER,        /**< an int64_t */
    FTB_KIND_GRB_SEMIRING,   /**< a GraphBLAS built-in GrB_Semiring */
    FTB_KIND_GRB_MONOID,     /**< a GraphBLAS built-in GrB_Monoid */
    FTB_KIND_GRB_BINARY,     /**< a GraphBLAS built-in GrB_BinaryOp */
    FTB_KIND_GRB_DESCRIPTOR, /**< one of the predefined GrB_DESC_* */
    FTB_KIND_PLAN,
    FTB_KIND_UNKNOWN /**< an untyped pointer, which every function refuses */
} FtB_Kind;

/** An argument of one of several kinds; made by FTB_ARG(x). */
typedef struct FtB_Arg {
    FtB_Kind kind;      /**< which of the fields below is meant */
    const void *handle; /**< the object, or the text */
    double real;        /**< FTB_KIND_REAL */
    int64_t integer;    /**< FTB_KIND_INTEGER */
} FtB_Arg;

/* ------------------------------------------------------------------------------------ context */

/** Reports progress. @param done units done. @param total units in all, 0 while unknown.
 *  @param what unit and stage, such as "products". @param arg the caller's.
 *  @return false to cancel. Called from one thread at a time, at most about ten times a second. */
typedef bool (*FtB_Progress_function)(double done, double total, const char *what, void *arg);

/** Makes a context: all cores, no memory limit, seed 0.
 *  @param[out] ctx the new context; NULL on failure. @return GrB_OUT_OF_MEMORY, GrB_NULL_POINTER. */
GrB_Info FtB_Context_new(FtB_Context *ctx);

/** Releases a context; objects made in it keep it alive. If the calling
 *  thread has it engaged, the default context is engaged instead. @param[in,out] ctx set to NULL.
 *  @return GrB_SUCCESS. */
GrB_Info FtB_Context_free(FtB_Context *ctx);

/** Makes @p ctx the context of objects that this thread makes from now on.
 *  @param ctx NULL for the default context. @return GrB_SUCCESS. */
GrB_Info FtB_Context_engage(FtB_Context ctx);

/** Sets the number of threads. @param ctx NULL for the engaged one.
 *  @param threads 0 for all cores, or as many as OMP_NUM_THREADS says. @return GrB_INVALID_VALUE if negative.
 */
GrB_Info FtB_Context_set_threads(FtB_Context ctx, int threads);

/** Sets the limit on the bytes that objects and operations of this context hold together.
 *  @param ctx NULL for the engaged one. @param bytes 0 for none. @return GrB_INVALID_VALUE if negative. */
GrB_Info FtB_Context_set_memory_limit(FtB_Context ctx, int64_t bytes);

/** Sets the seed of everything random. @param ctx NULL for the engaged one. @param seed any value.
 *  @return GrB_SUCCESS. */
GrB_Info FtB_Context_set_seed(FtB_Context ctx, uint64_t seed);

/** Sets the folder for temporary files (default: beside the output, else TMPDIR, else /tmp).
 *  @param ctx NULL for the engaged one. @param path copied; NULL for the default.
 *  @return GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Context_set_tmpdir(FtB_Context ctx, const char *path);

/** Sets the progress callback. @param ctx NULL for the engaged one. @param f NULL for none.
 *  @param arg handed to @p f. @return GrB_SUCCESS. */
GrB_Info FtB_Context_progress(FtB_Context ctx, FtB_Progress_function f, void *arg);

/** Asks the calls that run in @p ctx to stop with FTB_CANCELLED; cleared when the call that stops
 *  returns. Async-signal-safe. @param ctx NULL for the default context. @return GrB_SUCCESS. */
GrB_Info FtB_Context_cancel(FtB_Context ctx);

/** Bytes counted. @param ctx NULL for the engaged one. @param[out] now bytes held, may be NULL.
 *  @param[out] peak most bytes held since the context was made, may be NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Context_memory(FtB_Context ctx, int64_t *now, int64_t *peak);

/** Replaces malloc, realloc and free for all later allocations of the library; call before any
 *  object exists. NULLs restore the C library's.
 *  @param m as malloc. @param r as realloc. @param f as free. @return GrB_SUCCESS. */
GrB_Info FtB_set_allocator(void *(*m)(size_t), void *(*r)(void *, size_t), void (*f)(void *));

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
 *  @param nrows,ncols dimensions, >= 0. @param width values per entry; 0: pattern only, every entry
 *  counts as 1. @return GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Matrix_new(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width);

/** Builds a matrix from tuples in any order. Parallel; bits do not depend on the threads.
 *  @param[out] A the new matrix, NULL on failure. @param type dtype of @p X and of the values.
 *  @param nrows,ncols dimensions. @param width values per entry (0, or rule count: @p X may be NULL).
 *  @param nvals number of tuples. @param I,J row and column of each tuple, nvals each.
 *  @param X values, nvals x width, row-major; copied. @param dup rule for equal (row, column).
 *  @param[out] perm where each input tuple went: perm[t] is the entry (position in CSR order) that
 *  tuple t became part of; nvals long; NULL if not wanted.
 *  @return GrB_INDEX_OUT_OF_BOUNDS (the message names the tuple), GrB_INVALID_VALUE,
 *  GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Matrix_build(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                          int64_t nvals, const int64_t *I, const int64_t *J, const void *X, FtB_Dup dup,
                          int64_t *perm);

/** Wraps the caller's CSR arrays. Nothing is copied when columns are strictly ascending in every
 *  row, else a sorted copy is made; a wrapped array must stay valid and unchanged while the matrix
 *  or anything that shares its pattern lives.
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

/** A view of the values, nvals x width; writing to it changes @p A. It stays valid after A is freed.
 *  @param[out] V the view, NULL on failure. @param A a matrix of width >= 1.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE (width 0), GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Matrix_values(FtB_Block *V, FtB_Matrix A);

/** Copies a GraphBLAS matrix of a built-in type, in whatever form it is stored; @p G keeps its
 *  content. Width 1, dtype of G. A caller that shares G between threads materialises it first.
 *  @param[out] A the new matrix, NULL on failure. @param G any. @return GrB_NULL_POINTER,
 *  GrB_DOMAIN_MISMATCH (user-defined type), GrB_OUT_OF_MEMORY, FTB_LIMIT (row pointers), GraphBLAS's own. */
GrB_Info FtB_Matrix_import(FtB_Matrix *A, GrB_Matrix G);

/** Copies a matrix to a new GraphBLAS matrix: width 0 as BOOL true, FP16 and BF16 as FP32.
 *  @param[out] G the new matrix, NULL on failure. @param A any without parallel edges.
 *  @param plane which of the width values of an entry, 0 for width <= 1.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, GraphBLAS's own. */
GrB_Info FtB_Matrix_export(GrB_Matrix *G, FtB_Matrix A, int64_t plane);

/** Shape of a matrix; any output may be NULL. @param A any. @param[out] nrows,ncols dimensions.
 *  @param[out] nvals entries. @param[out] width values per entry. @param[out] type dtype.
 *  @return GrB_NULL_POINTER. */
GrB_Info FtB_Matrix_shape(FtB_Matrix A, int64_t *nrows, int64_t *ncols, int64_t *nvals, int64_t *width,
                          FtB_Type *type);

/** Reads the arrays in place; any output may be NULL. They live as long as @p A is not changed.
 *  @param A any. @param[out] rowptr nrows + 1. @param[out] colidx nvals columns, ascending in a row:
 *  int32_t if ncols < 2^31, else int64_t. @param[out] values nvals x width. @return GrB_NULL_POINTER. */
GrB_Info FtB_Matrix_csr(FtB_Matrix A, const int64_t **rowptr, const void **colidx, const void **values);

/** Releases a matrix. @param[in,out] A set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Matrix_free(FtB_Matrix *A);

/* -------------------------------------------------------------------------------------- block */

/** Makes a block of zeros. @param[out] X the new block, NULL on failure. @param nrows,ncols
 *  dimensions. @param type dtype. @return GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Block_new(FtB_Block *X, int64_t nrows, int64_t ncols, FtB_Type type);

/** Wraps the caller's memory without copying; it must outlive the block and its views.
 *  @param[out] X the new block, NULL on failure. @param data nrows rows of ld values.
 *  @param nrows,ncols dimensions. @param ld values from one row to the next, >= ncols.
 *  @param type dtype. @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Block_wrap(FtB_Block *X, void *data, int64_t nrows, int64_t ncols, int64_t ld, FtB_Type type);

/** As FtB_Block_wrap, for memory that must not be written: refused as an output.
 *  @param[out] X the new block. @param data memory. @param nrows,ncols dimensions.
 *  @param ld leading dimension. @param type dtype. @return as FtB_Block_wrap. */
GrB_Info FtB_Block_wrap_const(FtB_Block *X, const void *data, int64_t nrows, int64_t ncols, int64_t ld,
                              FtB_Type type);

/** Shape of a block; any output may be NULL. @param X any. @param[out] nrows,ncols dimensions.
 *  @param[out] ld values from one row to the next. @param[out] type dtype. @param[out] data the memory.
 *  @return GrB_NULL_POINTER. */
GrB_Info FtB_Block_shape(FtB_Block X, int64_t *nrows, int64_t *ncols, int64_t *ld, FtB_Type *type,
                         void **data);

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

/** A message as a C function on one pair of entries: z = f(src, dst, edge). In a product of two
 *  sparse matrices src is B's entry, edge is A's, dst is NULL. @param[out] z width values.
 *  @param src,dst,edge width values each, or NULL. @param width values. @param theta the caller's. */
typedef void (*FtB_Message_function)(float *z, const float *src, const float *dst, const float *edge,
                                     int64_t width, const void *theta);

/** Makes a semiring whose message is a C function (FP32; thread-safe; called in any order).
 *  @param[out] s the new semiring, NULL on failure. @param reducer "plus", "min", ...
 *  @param f the message. @param width of z. @param theta handed to @p f; must outlive the semiring.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Semiring_new_function(FtB_Semiring *s, const char *reducer, FtB_Message_function f,
                                   int64_t width, const void *theta);

/** Binds names of a semiring; the last binding of a name wins. Bound blocks are referenced.
 *  @param[out] bound the new handle, NULL on failure. @param s stays as it was.
 *  @param bindings names and values. @param count how many.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE (unknown name, wrong kind), GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Semiring_bind(FtB_Semiring *bound, FtB_Semiring s, const FtB_Binding *bindings, size_t count);

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

/* --------------------------------------------------------------------------------- operations */

/** C<M> = accum(C, A (x) B): product of two sparse matrices over a semiring.
 *
 *  C(i,j) = reducer over k of message(a = A(i,k), b = B(k,j)), after transposes.
 *  @param C slot: FtB_Matrix m x n, may alias any input; or FtB_Sink (then M's accum must be NULL).
 *  @param M slot: mask, FtB_Matrix m x n or NULL. Width 0 is structural, width > 1 needs the
 *  structural flag. @param accum slot: GrB_BinaryOp, FtB_Op over x (old) and y (new), or NULL.
 *  @param semiring slot: FtB_Semiring, GrB_Semiring, or text. @param A slot: FtB_Matrix m x p.
 *  @param B slot: FtB_Matrix p x n. Widths of A and B: equal, or one of them <= 1.
 *  @param desc slot: FtB_Descriptor, a predefined GrB_Descriptor, or NULL.
 *  C keeps its dtype (one cast at the end); its width becomes the message's, and must be that
 *  already where accum or a mask without replace keeps old entries. Bits depend on the operands and the
 *  numeric plan alone. Cost: products + entries. @return GrB_NULL_POINTER,
 *  GrB_DIMENSION_MISMATCH, GrB_DOMAIN_MISMATCH, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT,
 *  FTB_CANCELLED. Source: Davis, "Algorithm 1000: SuiteSparse:GraphBLAS", TOMS 2019. */
GrB_Info FtB_mxm(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

/** As FtB_mxm with a min or max reducer and width 1; E gets C's pattern and, per entry, the k of the
 *  winning product (INT64; ties: the smallest k; NaN loses to every number). No mask keeps old entries:
 *  with M, replace is implied. @param C slot: FtB_Matrix. @param E slot: FtB_Matrix m x n INT64.
 *  @param M slot: mask or NULL. @param semiring slot. @param A,B slots: FtB_Matrix. @param desc slot.
 *  @return as FtB_mxm. */
GrB_Info FtB_mxm_arg(FtB_Arg C, FtB_Arg E, FtB_Arg M, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

/** C<M> = accum(C, f(A)): keeps A's pattern. @param C slot: FtB_Matrix. @param M slot: mask or NULL.
 *  @param accum slot: GrB_BinaryOp, FtB_Op, or NULL. @param op slot: FtB_Op over x, i, j, di, dj, or text.
 *  @param A slot: FtB_Matrix. @param desc slot (TRANSPOSE0 reads A transposed). @return as FtB_mxm. */
GrB_Info FtB_apply(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg desc);

/** C<M> = accum(C, entries of A whose expression is not zero). @param C slot: FtB_Matrix.
 *  @param M slot: mask or NULL. @param accum slot. @param op slot: FtB_Op over x, i, j, di, dj, or text.
 *  @param A slot: FtB_Matrix. @param desc slot. @return as FtB_mxm. */
GrB_Info FtB_select(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg desc);

/** C<M> = accum(C, the k largest entries of each row of A); ties: larger value, then smaller column;
 *  NaN is never selected. @param C slot: FtB_Matrix. @param M slot: mask or NULL. @param accum slot.
 *  @param k entries per row, >= 0. @param A slot: FtB_Matrix of width <= 1. @param desc slot.
 *  @return as FtB_mxm. */
GrB_Info FtB_select_topk(FtB_Arg C, FtB_Arg M, FtB_Arg accum, int64_t k, FtB_Arg A, FtB_Arg desc);

/** C<M> = accum(C, A + B): union of the patterns, op where both have an entry.
 *  @param C slot: FtB_Matrix m x n. @param M slot: mask or NULL. @param accum slot.
 *  @param op slot: GrB_BinaryOp, FtB_Op over x (A's) and y (B's), or text.
 *  @param A,B slots: FtB_Matrix m x n. @param desc slot. @return as FtB_mxm. */
GrB_Info FtB_eWiseAdd(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

/** C<M> = accum(C, A .* B): intersection of the patterns. @param C slot: FtB_Matrix m x n.
 *  @param M slot: mask or NULL. @param accum slot. @param op slot: as FtB_eWiseAdd.
 *  @param A,B slots: FtB_Matrix m x n. @param desc slot. @return as FtB_mxm. */
GrB_Info FtB_eWiseMult(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg op, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

/** y<M> = accum(y, rows of A reduced by a monoid): y(i,f) = reduce over j of A(i,j)[f].
 *  Rows without entries keep y with accum, else get the fill value.
 *  @param y slot: FtB_Block m x max(width, 1). @param M slot: row mask, FtB_Block m x 1, or NULL.
 *  @param accum slot. @param monoid slot: text such as "plus", or a GrB_Monoid. @param A slot:
 *  FtB_Matrix m x n (TRANSPOSE0: columns are reduced). @param desc slot. @return as FtB_mxm. */
GrB_Info FtB_reduce(FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg monoid, FtB_Arg A, FtB_Arg desc);

/** s = all entries of A reduced by a monoid; the identity if there are none.
 *  @param[out] s max(width, 1) values of @p type. @param type dtype of s. @param monoid slot: text or
 *  GrB_Monoid. @param A slot: FtB_Matrix. @return as FtB_mxm. */
GrB_Info FtB_reduce_scalar(void *s, FtB_Type type, FtB_Arg monoid, FtB_Arg A);

/* --------------------------------------------------------------------------------- projection */

/** Onto which side FtB_project projects. */
typedef enum FtB_Side { FTB_COLS = 0, FTB_ROWS = 1 } FtB_Side;

/** Options of FtB_project; made by FTB_PROJECT_OPTIONS(.top_k = 20). Zero means the default. */
typedef struct FtB_Project_options {
    size_t size;            /**< set by the macro */
    FtB_Side onto;          /**< FTB_COLS: C = R' R; FTB_ROWS: C = R R' */
    const char *epilogue;   /**< expression over h, i, j, di, dj, si, sj, ...; NULL: h */
    const char *where;      /**< keep entries for which this is not zero; may use w, the weight */
    double min_weight;      /**< keep entries w >= min_weight, if use_min_weight */
    bool use_min_weight;    /**< whether min_weight counts */
    bool unweighted;        /**< every entry of R counts as 1 */
    bool self_loops;        /**< keep the diagonal */
    bool triangle;          /**< only j > i (j >= i with self_loops) */
    int64_t top_k;          /**< the k largest weights of each row; 0: all */
    int64_t min_degree;     /**< only vertices with at least this many entries in R */
    int64_t max_degree;     /**< only vertices with at most this many; 0: any */
    const int64_t *sources; /**< only these rows of C; NULL: all */
    int64_t nsources;       /**< how many */
    const int64_t *targets; /**< only these columns of C; NULL: all */
    int64_t ntargets;       /**< how many */
    FtB_Plan plan;          /**< a plan to use; NULL: make one */
} FtB_Project_options;

/** Projects a bipartite graph: C(i,j) = epilogue(reducer over k of message(R(k,i), R(k,j))).
 *  @param C slot: FtB_Matrix n x n (its content is replaced), or FtB_Sink. @param R slot: FtB_Matrix of
 *  width <= 1. @param weight slot: FtB_Semiring, GrB_Semiring, semiring text, or the name of a weight
 *  such as "jaccard" (docs/weights.md). @param options NULL for the defaults: full, no diagonal.
 *  @return as FtB_mxm. Source: Zhou et al., Phys. Rev. E 76, 046115 (2007); docs/weights.md. */
GrB_Info FtB_project(FtB_Arg C, FtB_Arg R, FtB_Arg weight, const FtB_Project_options *options);

/* ---------------------------------------------------------------------------------------- plan */

/** How much work planning may do. */
typedef enum FtB_Effort {
    FTB_ESTIMATE = 0, /**< the cost model alone */
    FTB_MEASURE = 1   /**< time the best candidates on scratch memory */
} FtB_Effort;

/** Plans the same call of FtB_mxm. @param[out] plan the new plan, NULL on failure.
 *  @param C,M,accum,semiring,A,B,desc as in FtB_mxm. @param effort how hard to look.
 *  @return as FtB_mxm. */
GrB_Info FtB_mxm_plan(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                      FtB_Arg B, FtB_Arg desc, FtB_Effort effort);

/** Plans the same call of FtB_project. @param[out] plan the new plan, NULL on failure.
 *  @param C,R,weight,options as in FtB_project. @param effort how hard to look. @return as FtB_mxm. */
GrB_Info FtB_project_plan(FtB_Plan *plan, FtB_Arg C, FtB_Arg R, FtB_Arg weight,
                          const FtB_Project_options *options, FtB_Effort effort);

/** Prints the plan and its reasons as a table. @param plan any. @param file where.
 *  @return GrB_NULL_POINTER, FTB_IO. */
GrB_Info FtB_Plan_explain(FtB_Plan plan, FILE *file);

/** Forces a choice. @param plan any. @param key such as "accumulator". @param value such as "hash";
 *  docs/plans.md lists them. @return GrB_INVALID_VALUE (the message lists what is known). */
GrB_Info FtB_Plan_set(FtB_Plan plan, const char *key, const char *value);

/** A figure of the plan. @param plan any. @param key "products", "entries_bound", "entries_estimate",
 *  "bytes", "seconds", "chunks", "threads", ... @param[out] value the figure.
 *  @return GrB_INVALID_VALUE (unknown key). */
GrB_Info FtB_Plan_get(FtB_Plan plan, const char *key, double *value);

/** Releases a plan. @param[in,out] plan set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Plan_free(FtB_Plan *plan);

/* --------------------------------------------------------------------------------------- sinks */

/** File formats. */
typedef enum FtB_Format {
    FTB_FORMAT_AUTO = 0, /**< by the name's ending; when reading, by content */
    FTB_MTX,             /**< Matrix Market coordinate, counts from 1 */
    FTB_TSV,             /**< row, column, value; labels where given */
    FTB_CSV,             /**< the same with commas, quoted where needed */
    FTB_NPZ,             /**< scipy.sparse.save_npz */
    FTB_CSR              /**< raw CSR, docs/formats.md */
} FtB_Format;

/** Consecutive rows of a result, as a callback sees them. Pointers are valid during the call. */
typedef struct FtB_Rows {
    int64_t row0;          /**< first row */
    int64_t nrows;         /**< how many rows */
    int64_t ncols;         /**< columns of the whole result */
    const int64_t *rowptr; /**< nrows + 1 positions, from 0 */
    const void *colidx;    /**< ascending in a row: int32_t if ncols < 2^31, else int64_t */
    const void *values;    /**< rowptr[nrows] x width */
    FtB_Type type;         /**< dtype of values: BOOL, INT64, UINT64, FP32 or FP64 */
    int64_t width;         /**< values per entry */
} FtB_Rows;

/** Takes rows, in ascending order, from one thread at a time. @return GrB_SUCCESS, or an error that
 *  ends the operation and that it returns. */
typedef GrB_Info (*FtB_Rows_function)(const FtB_Rows *rows, void *arg);

/** What a statistics sink saw. */
typedef struct FtB_Stats {
    int64_t nrows;         /**< rows */
    int64_t ncols;         /**< columns */
    int64_t nvals;         /**< entries */
    int64_t nonempty_rows; /**< rows with an entry */
    int64_t max_row;       /**< most entries in a row */
    double sum;            /**< of all values, deterministic */
    double min;            /**< least value; NaN if there are none */
    double max;            /**< greatest value; NaN if there are none */
} FtB_Stats;

/** A sink that writes a file, whole or not at all (temporary name, then rename). Single-use.
 *  @param[out] sink the new one, NULL on failure. @param path copied; "-" is standard output.
 *  @param format FTB_FORMAT_AUTO: by ending. @param labels names of rows and columns, or NULL; referenced.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Sink_file(FtB_Sink *sink, const char *path, FtB_Format format, FtB_Labels labels);

/** A sink that computes statistics only. @param[out] sink the new one, NULL on failure.
 *  @return GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Sink_stats(FtB_Sink *sink);

/** A sink that calls the caller. @param[out] sink the new one, NULL on failure. @param f takes rows.
 *  @param arg handed to @p f. @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Sink_callback(FtB_Sink *sink, FtB_Rows_function f, void *arg);

/** Digits of reals in text files. @param sink of a text format. @param digits 1 to 17; 0: the fewest
 *  that read back to the same value. @return GrB_INVALID_VALUE. */
GrB_Info FtB_Sink_set_precision(FtB_Sink sink, int digits);

/** First id of rows and columns without labels in TSV and CSV files (Matrix Market always counts from
 *  1, npz and raw CSR from 0). @param sink any. @param base 0 or 1, as a rule; the operation's choice if
 *  never set. @return GrB_INVALID_VALUE if negative. */
GrB_Info FtB_Sink_set_base(FtB_Sink sink, int64_t base);

/** What went into a sink, of any kind, by the last operation. @param sink any.
 *  @param[out] stats filled. @return GrB_NULL_POINTER. */
GrB_Info FtB_Sink_get_stats(FtB_Sink sink, FtB_Stats *stats);

/** Releases a sink; a file that was not finished is removed. @param[in,out] sink set to NULL.
 *  @return GrB_SUCCESS. */
GrB_Info FtB_Sink_free(FtB_Sink *sink);

/* --------------------------------------------------------------------------------------- files */

/** Makes labels from strings. @param[out] labels the new ones, NULL on failure. @param count how many.
 *  @param strings copied. @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Labels_new(FtB_Labels *labels, int64_t count, const char *const *strings);

/** The label at a position; NULL outside. @param labels any. @param at 0 to count - 1. */
const char *FtB_Labels_get(FtB_Labels labels, int64_t at);

/** How many labels there are; 0 for NULL. @param labels any or NULL. */
int64_t FtB_Labels_count(FtB_Labels labels);

/** Releases labels. @param[in,out] labels set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Labels_free(FtB_Labels *labels);

/** Options of FtB_Matrix_read; made by FTB_READ_OPTIONS(...). Zero means the default. */
typedef struct FtB_Read_options {
    size_t size;         /**< set by the macro */
    FtB_Format format;   /**< FTB_FORMAT_AUTO: by content */
    FtB_Type type;       /**< dtype of the values; 0: as the file says */
    const char *columns; /**< edge lists: "row,column[,value]" by name or by number from 1; NULL: 1,2,3 */
    char delimiter;      /**< edge lists; 0: guessed from tab, comma, semicolon, blank */
    int header;          /**< edge lists; 0: guessed, 1: yes, -1: no */
    FtB_Dup duplicates;  /**< equal (row, column) */
    FtB_Format *found;   /**< [out] the format of the file; NULL if not wanted */
} FtB_Read_options;

/** Reads a matrix: Matrix Market, CSV/TSV edge list, npz, raw CSR; gzip is recognised by content.
 *  @param[out] A the new matrix, NULL on failure. @param[out] rows,cols labels of an edge list's ids
 *  (NULL handles for other formats); either may be NULL. @param path "-" is standard input.
 *  @param options NULL for the defaults. @return FTB_IO, FTB_FORMAT (file:line:column in the message),
 *  GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Matrix_read(FtB_Matrix *A, FtB_Labels *rows, FtB_Labels *cols, const char *path,
                         const FtB_Read_options *options);

/** Writes a matrix, whole or not at all. @param A any. @param path "-" is standard output.
 *  @param format FTB_FORMAT_AUTO: by ending. @param rows,cols labels or NULL.
 *  @param digits as FtB_Sink_set_precision. @return FTB_IO, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT.
 */
GrB_Info FtB_Matrix_write(FtB_Matrix A, const char *path, FtB_Format format, FtB_Labels rows, FtB_Labels cols,
                          int digits);

#ifdef __cplusplus
}
#endif

#include "featblas/slots.h"

#endif
