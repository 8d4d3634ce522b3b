/* What the planner decided. Part of featblas.h. */
#ifndef FEATBLAS_PLAN_H
#define FEATBLAS_PLAN_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

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

/** Plans the same call of FtB_attention. Given to the descriptor of FtB_attention_grad, what was forced of it
 *  holds for the walks of the gradient. @param[out] plan the new plan, NULL on failure.
 *  @param C,A,accum,semiring,Q,K,V,options,desc as in FtB_attention. @param effort how hard to look;
 *  the result's bits depend on the plan, so keep what FTB_MEASURE found if they should come again.
 *  @return as FtB_mxm. */
GrB_Info FtB_attention_plan(FtB_Plan *plan, FtB_Arg C, FtB_Arg A, FtB_Arg accum, FtB_Arg semiring, FtB_Arg Q,
                            FtB_Arg K, FtB_Arg V, const FtB_Attention_options *options, FtB_Arg desc,
                            FtB_Effort effort);

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
 *  "bytes", "seconds", "chunks", "threads", "wraps" (1: whole numbers may leave their 64 bits),
 *  "moved_bytes" (of operands that are not where the product is run), "moved_seconds" (that takes), ...:
 * docs/plans.md lists them. @param[out] value the figure.
 *  @return GrB_INVALID_VALUE (unknown key). */
GrB_Info FtB_Plan_get(FtB_Plan plan, const char *key, double *value);

/** Measures what plans of products with feature blocks are counted with (reads of each cache, an entry, a
 * visit and a row of each kernel) on this machine, in less than a minute, on one thread. The context keeps it
 * as a part of its wisdom: saved, loaded and forgotten with that. Plans count with it, and calls without a
 * plan where no bit depends on it; without it they count with built-in costs of the instruction set. @param
 * ctx NULL: the engaged context. @return GrB_OUT_OF_MEMORY, FTB_LIMIT (it takes about 0.8 GB), FTB_CANCELLED.
 */
GrB_Info FtB_Wisdom_calibrate(FtB_Context ctx);

/** Writes what was calibrated, and what FTB_MEASURE found in this context (wisdom), to a file, which appears
 * whole or not at all. Wisdom is used by plans made with FTB_ESTIMATE, and by calls without a plan where no
 * bit depends on it, for exactly the cases that were measured. @param ctx NULL: the engaged context. @param
 * path the file; docs/plans.md describes it. @return FTB_IO, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Wisdom_save(FtB_Context ctx, const char *path);

/** Adds a file's wisdom to the context's, all or nothing. @param ctx NULL: the engaged context.
 *  @param path what FtB_Wisdom_save wrote. @return FTB_IO, FTB_FORMAT (the message says where it is damaged),
 *  GrB_INVALID_VALUE (measured on another machine), GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Wisdom_load(FtB_Context ctx, const char *path);

/** Forgets all wisdom of a context. @param ctx NULL: the engaged context. @return GrB_SUCCESS. */
GrB_Info FtB_Wisdom_forget(FtB_Context ctx);

/** Releases a plan. @param[in,out] plan set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Plan_free(FtB_Plan *plan);

#ifdef __cplusplus
}
#endif

#endif
