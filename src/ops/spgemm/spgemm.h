/* Sparse x sparse products, from arguments to a planned product, which cpu/spgemm_run.h runs:
 *
 *     setup (spgemm_setup.c)       operands and semiring -> kernel operands, facts, plan
 *     listed (spgemm_listed.c)     operands that list their rows
 *     range (spgemm_range.c)       whether whole numbers may leave their 64 bits
 *     table (spgemm_table.c)       messages of few distinct operands, tabulated
 *     estimate (spgemm_estimate.c) entries, from sampled rows
 *     measure (spgemm_measure.c)   choices by trial
 *     call (spgemm_call.c)         what the two calls do alike around it */
#ifndef FTB_OPS_SPGEMM_H
#define FTB_OPS_SPGEMM_H

#include "core/hypersparse.h"
#include "cpu/spgemm_run.h"
#include "ops/ops.h"

/* -- setup. `project` says that C = R' R and names like si are known; then A == B == R read by descriptor.
 * listed: of which operands rows that are listed are taken as such; others have row pointers of all. */
typedef enum ftb_listed { FTB_LISTED_NONE, FTB_LISTED_LEFT, FTB_LISTED_BOTH } ftb_listed;
GrB_Info ftb_product_new(ftb_spgemm_product **product, FtB_Context ctx, FtB_Semiring *semiring, FtB_Matrix A,
                         bool transpose_a, FtB_Matrix B, bool transpose_b, ftb_listed listed);
/* Makes listed rows ordinary ones, of those, and row pointers of all of the others. (spgemm_listed.c) */
GrB_Info ftb_product_list(ftb_spgemm_product *product, ftb_listed listed);
/* M, which is not complemented, is looked at while rows are computed. (spgemm_listed.c) */
GrB_Info ftb_product_mask(ftb_spgemm_product *product, FtB_Matrix M);
GrB_Info ftb_product_message(ftb_spgemm_product *product, const ftb_vertices *rows, const ftb_vertices *cols,
                             const ftb_vertices *inner, bool project); /* picks kernel and types */
GrB_Info ftb_product_plan(ftb_spgemm_product *product, const ftb_spgemm_plan *forced, bool estimate);
void ftb_product_delete(ftb_spgemm_product *product);
GrB_Info ftb_product_table(ftb_spgemm_product *product, bool *done); /* spgemm_table.c: TABLE if it pays */
GrB_Info ftb_product_range(ftb_spgemm_product *product);             /* spgemm_range.c: h, and facts.wraps */
GrB_Info ftb_product_estimate(ftb_spgemm_product *product); /* spgemm_estimate.c: facts about entries */
/* Whether messages depend on a and b alone (and on figures that are the same for all). */
bool ftb_product_uses_only_values(const ftb_spgemm_product *product);
/* Most messages that one result can sum. */
double ftb_product_most_messages(const ftb_spgemm_product *product);
/* Whether sums of whole-numbered messages of at most this magnitude are exact in FP64. */
bool ftb_product_exact_in_fp64(const ftb_spgemm_product *product, double largest_message);

/* Only these rows are wanted (NULL: all), and facts are theirs; `rows` outlives the product. */
void ftb_product_want(ftb_spgemm_product *product, const uint8_t *rows);

/* -- around a product (spgemm_call.c). The slot of the result: *C, or *sink, and its context. */
GrB_Info ftb_product_output(FtB_Matrix *C, FtB_Sink *sink, FtB_Context *ctx, FtB_Arg slot);
/* Counts on what the sink will take, if there is one; symmetric: one triangle comes, for both. */
void ftb_product_reserve(ftb_spgemm_product *product, FtB_Sink sink, bool symmetric);
/* Begins the sink, and that of the winners, runs the product and ends them. */
GrB_Info ftb_product_to_sink(ftb_spgemm_product *product, FtB_Sink sink, bool symmetric);
/* The same into a new matrix of `type`; 0: h's own. */
GrB_Info ftb_product_to_matrix(FtB_Matrix *T, ftb_spgemm_product *product, FtB_Type type);
/* *T, new, of the product's rows, which were listed, becomes a matrix of all rows; freed on failure. */
GrB_Info ftb_product_number(FtB_Matrix *T, const ftb_spgemm_product *product);
/* Ends a call: the product, which may be NULL, is deleted; FTB_CANCELLED clears the flag. Returns `info`. */
GrB_Info ftb_product_end(ftb_spgemm_product *product, FtB_Context ctx, GrB_Info info);

/* Plans the product, by `plan` where it is not NULL (refused if it was made for another product), else by
 * wisdom or the rule. (spgemm_measure.c) */
GrB_Info ftb_spgemm_plan_take(ftb_spgemm_product *product, FtB_Plan plan, bool estimate);
/* Its plan as an object; with FTB_MEASURE after trials. */
GrB_Info ftb_spgemm_plan_make(FtB_Plan *plan, ftb_spgemm_product *product, FtB_Effort effort);

#endif
