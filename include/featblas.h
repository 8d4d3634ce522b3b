/*
 * FeatBLAS: products of sparse matrices whose entries carry features, over semirings written as text.
 *
 * Conventions. Every function returns a GrB_Info: GrB_SUCCESS (0) or an error, whose message
 * FtB_error() returns. Outputs come first and change only on success. Objects are made by
 * FtB_X_new(&x, ...) and released by FtB_X_free(&x), which sets the handle to NULL and may be called
 * twice. Arguments documented as "slots" take objects of several kinds, and NULL where they are
 * optional; function-like macros of the same names (featblas/slots.h) wrap them.
 *
 * This file has the conventions, types and contexts; it includes featblas/objects.h, vector.h, operations.h,
 * extract.h, project.h, sample.h, negative.h, relations.h, walk.h, subgraph.h, clusters.h, loader.h, plan.h
 * and files.h, which document the rest.
 *
 * GrB_Info and GraphBLAS's handles come from <GraphBLAS.h>, or, where this FeatBLAS was built without it,
 * from featblas/graphblas_types.h; objects of GraphBLAS are refused with GrB_NOT_IMPLEMENTED then.
 *
 * Dimensions, indices and counts are int64_t and start at 0. A matrix is m x n, its entry (i, j)
 * holds `width` values of one dtype.
 */
#ifndef FEATBLAS_H
#define FEATBLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* GrB_Info and the handles: GraphBLAS's own, where this FeatBLAS was built with it. */
#ifndef FEATBLAS_NO_GRAPHBLAS
#include "featblas/config.h"
#endif
#if defined(FEATBLAS_NO_GRAPHBLAS) && !defined(GRB_VERSION)
#include "featblas/graphblas_types.h"
#else
#include <GraphBLAS.h>
#endif

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
typedef struct FtB_Vector_opaque *FtB_Vector;         /**< sparse vector */
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
    FTB_KIND_IDS, /**< an FtB_Ids: handle and, as integer, the count */
    FTB_KIND_VECTOR,
    FTB_KIND_UNKNOWN /**< an untyped pointer, which every function refuses */
} FtB_Kind;

/** An argument of one of several kinds; made by FTB_ARG(x). */
typedef struct FtB_Arg {
    FtB_Kind kind;      /**< which of the fields below is meant */
    const void *handle; /**< the object, or the text */
    double real;        /**< FTB_KIND_REAL */
    int64_t integer;    /**< FTB_KIND_INTEGER */
} FtB_Arg;

/** A list of numbers that somebody else owns. */
typedef struct FtB_Ids {
    const int64_t *at; /**< the first */
    int64_t count;     /**< how many */
} FtB_Ids;

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

/** Sets whether arrays of 1 MB and more that are freed stay with the context, for calls to come: who makes
 * results of much the same sizes again and again, sample after sample, finds them there, where fresh memory
 * is cleared page by page first. Kept arrays count (FtB_Context_memory), and give way: to the memory limit,
 * to an allocation that the system has no room for, and before they are a quarter more than the most in use.
 * Tapes and loaders have it so while there are any. @param ctx NULL for the engaged one. @param on whether;
 * false in a new context, and false frees what is kept. @return GrB_SUCCESS. */
GrB_Info FtB_Context_set_reuse(FtB_Context ctx, bool on);

/** Sets the seed of everything random. @param ctx NULL for the engaged one. @param seed any value.
 *  @return GrB_SUCCESS. */
GrB_Info FtB_Context_set_seed(FtB_Context ctx, uint64_t seed);

/** Makes bits independent of the machine's caches, too. They never depend on threads or the memory limit.
 * With this, what bits do depend on is decided as on one fixed machine (1 MiB of L2, 32 MiB of L3), not on
 * this one: how attention is cut and whether it is done in steps, and the order in which a layer multiplies;
 * on a GPU, products with blocks are not hybrid.
 *  FTB_MEASURE plans attention as FTB_ESTIMATE does, its wisdom is not looked at, and messages are not
 *  compiled (FEATBLAS_JIT). A plan in a descriptor is still followed. What is left: the instruction set, and
 *  the CBLAS. Set it before plans, layers and tapes are made. @param ctx NULL for the engaged one.
 *  @param on whether. @return GrB_SUCCESS. */
GrB_Info FtB_Context_set_deterministic(FtB_Context ctx, bool on);

/** What products of FP32 may round their operands to, for a GPU's tensor cores: sums stay in FP32. */
typedef enum FtB_Precision {
    FTB_PRECISION_FP32 = 0, /**< nothing: all of FP32 */
    FTB_PRECISION_TF32,     /**< 10 bits and the first, FP32's range */
    FTB_PRECISION_FP16,     /**< as many, to 65504; or TF32 */
    FTB_PRECISION_BF16      /**< 7 bits and the first, FP32's range; or TF32 */
} FtB_Precision;

/** Allows tensor cores of a GPU for products of FP32, for speed: operands of a multiplication are rounded
 * first, by at most u = 2^-10 of their size (BF16: 2^-8; FP16 below 2^-14: by 2^-24), and what is multiplied
 * is added in FP32. A sum of n terms is off by no more than
 *     (2 u + u^2 + n 2^-22) x the sum of the terms' sizes.
 * It is no command: products take the form that is predicted to be fastest; of these dense products by cuBLAS
 * and sums over graphs by "tensor" (docs/plans.md) round, nothing on the host, nor of FP64. The same GPU
 * gives the same bits at every run; nothing is rounded under FtB_Context_set_deterministic. Beyond FP16's
 * 65504 dense products are infinite, others are made in FP32. What a tape recorded with another precision is
 * made anew.
 *  @param ctx NULL for the engaged one. @param precision FTB_PRECISION_FP32 in a new context.
 *  @return GrB_INVALID_VALUE of what is none. */
GrB_Info FtB_Context_set_matmul_precision(FtB_Context ctx, FtB_Precision precision);

/** Allows bits that differ from run to run, where another library's product that gives such is measured to be
 *  faster: on a GPU, cuSPARSE's algorithms but CSR_ALG3. Not with FtB_Context_set_deterministic.
 *  @param ctx NULL for the engaged one. @param on whether; false in a new context. @return GrB_SUCCESS. */
GrB_Info FtB_Context_set_relaxed(FtB_Context ctx, bool on);

/** Sets how long FTB_MEASURE may try plans of one product; what was found by then is used. One trial is ended
 *  before it stops, so it may take longer. @param ctx NULL for the engaged one. @param seconds more than 0;
 * 10 in a new context. @return GrB_INVALID_VALUE. */
GrB_Info FtB_Context_set_measure_seconds(FtB_Context ctx, double seconds);

/** Sets the folder for temporary files (default: beside the output, else TMPDIR, else /tmp).
 *  @param ctx NULL for the engaged one. @param path copied; NULL for the default.
 *  @return GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Context_set_tmpdir(FtB_Context ctx, const char *path);

/** Sets whether files outlive a loss of power: with it, what any call of this context writes under a name
 *  (matrices, blocks, tables of ids, sinks, tensors, wisdom) is on the disk before the file takes its name,
 * and the name is before the call returns, so that the file is the old one or the whole new one, whatever
 * happens. Without, that is so only while the machine runs, and the call does not wait for the disk. A folder
 * that cannot be read, or that its file system does not sync, is not waited for. @param ctx NULL for the
 * engaged one. @param on whether; true in a new context. @return GrB_SUCCESS. */
GrB_Info FtB_Context_set_sync(FtB_Context ctx, bool on);

/** Chooses the device that operands of this context's calls are placed on. What a call needs elsewhere is
 * moved, and what moved is counted (FtB_Context_moved). Memory whose address the caller has (FtB_Block_wrap,
 * FtB_Block_shape, FtB_Matrix_csr) holds the results when a call returns, wherever that ran. @param ctx NULL
 * for the engaged one.
 *  @param device a name that FtB_Device_describe gives, such as "cpu"; NULL: the host. A stream of
 * FtB_Context_set_stream is given back.
 *  @return FTB_NO_DEVICE if there is no such device. */
GrB_Info FtB_Context_set_device(FtB_Context ctx, const char *device);

/** Orders what calls of this context do on its GPU on a CUDA stream of the caller's: behind what the stream
 * was given before a call, and before what it is given after; the calls need not have waited for it. What
 * calls of other contexts do there stays in the order of all calls, whatever their streams: where the next
 * call's is another, it waits for an event of the one before, so that an object written in one stream may be
 * read in any other, by calls. What the caller's own kernels do in other streams is the caller's to order.
 * The stream must live, and not be captured, until it is given back: by another call of this, by
 * FtB_Context_set_device, or with the context's last object.
 *  @param ctx NULL for the engaged one. @param stream a CUstream, or cudaStream_t, made on the context's GPU
 * in its primary context, as PyTorch, CuPy and cudaStreamCreate do; NULL: the library's own again. The legacy
 * default stream (CU_STREAM_LEGACY) and a thread's default (CU_STREAM_PER_THREAD) are refused.
 *  @return FTB_NO_DEVICE if the context works on no GPU; GrB_INVALID_VALUE, of a stream that is refused. */
GrB_Info FtB_Context_set_stream(FtB_Context ctx, void *stream);

/** What is known of a device. GPUs that the driver finds come last, as "gpu:0" and so on; values can be kept
 * there (FtB_Block_to_device), and products with blocks in FP32 run there. The first call that asks for one
 * opens the driver, libcuda.so.1, and the compiler of kernels, libnvrtc.so, the first large dense product
 * libcublas.so, or the libraries that the environment variables FEATBLAS_CUDA_DRIVER, FEATBLAS_NVRTC and
 * FEATBLAS_CUBLAS, FEATBLAS_CUSPARSE name ("" for none), for as long as the process runs. @param n from 0,
 * which is the host.
 * @param[out] name as FtB_Context_set_device takes it. @param[out] about what it is. @param[out] memory its
 * bytes; 0: the host's. Any may be NULL; texts are static.
 *  @return GrB_NO_VALUE behind the last; without a GPU the message says why there is none. */
GrB_Info FtB_Device_describe(int n, const char **name, const char **about, int64_t *memory);

/** Bytes that were moved between host and devices since the context was made. @param ctx NULL for the engaged
 * one.
 *  @param[out] to_host may be NULL. @param[out] to_device may be NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Context_moved(FtB_Context ctx, int64_t *to_host, int64_t *to_device);

/** Sets the progress callback. @param ctx NULL for the engaged one. @param f NULL for none.
 *  @param arg handed to @p f. @return GrB_SUCCESS. */
GrB_Info FtB_Context_progress(FtB_Context ctx, FtB_Progress_function f, void *arg);

/** Asks the calls that run in @p ctx to stop with FTB_CANCELLED; cleared when the call that stops
 *  returns. Async-signal-safe. @param ctx NULL for the default context. @return GrB_SUCCESS. */
GrB_Info FtB_Context_cancel(FtB_Context ctx);

/** Bytes counted: of objects, of calls that are under way, and of what is kept for later ones
 * (FtB_Context_set_reuse). @param ctx NULL for the engaged one. @param[out] now bytes held, may be NULL.
 *  @param[out] peak most bytes held since the context was made, may be NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Context_memory(FtB_Context ctx, int64_t *now, int64_t *peak);

/** Replaces malloc, realloc and free for all later allocations of the library; call before any
 *  object exists. NULLs restore the C library's.
 *  @param m as malloc. @param r as realloc. @param f as free. @return GrB_SUCCESS. */
GrB_Info FtB_set_allocator(void *(*m)(size_t), void *(*r)(void *, size_t), void (*f)(void *));

#ifdef __cplusplus
}
#endif

#include "featblas/objects.h"

#include "featblas/vector.h"

#include "featblas/operations.h"

#include "featblas/extract.h"

#include "featblas/project.h"

#include "featblas/sample.h"

#include "featblas/negative.h"

#include "featblas/relations.h"

#include "featblas/walk.h"

#include "featblas/subgraph.h"

#include "featblas/clusters.h"

#include "featblas/loader.h"

#include "featblas/plan.h"

#include "featblas/files.h"

#include "featblas/slots.h"

#endif
