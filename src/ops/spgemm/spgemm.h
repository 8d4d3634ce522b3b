/* Sparse x sparse products, from arguments to a planned product, which cpu/spgemm_run.h runs:
 *
 *     setup (spgemm_setup.c)       operands and semiring -> kernel operands, facts, plan
 *     range (spgemm_range.c)       whether whole numbers may leave their 64 bits
 *     table (spgemm_table.c)       messages of few distinct operands, tabulated
 *     estimate (spgemm_estimate.c) entries, from sampled rows
 *     measure (spgemm_measure.c)   choices by trial */
#ifndef FTB_OPS_SPGEMM_H
#define FTB_OPS_SPGEMM_H

#include "cpu/spgemm_run.h"
#include "ops/ops.h"

/* -- setup. `project` says that C = R' R and names like si are known; then A == B == R read by descriptor. */
GrB_Info ftb_product_new(ftb_product **product, FtB_Context ctx, FtB_Semiring *semiring, FtB_Matrix A,
                         bool transpose_a, FtB_Matrix B, bool transpose_b);
GrB_Info ftb_product_message(ftb_product *product, const ftb_vertices *rows, const ftb_vertices *cols,
                             const ftb_vertices *inner, bool project); /* picks kernel and types */
GrB_Info ftb_product_plan(ftb_product *product, const ftb_spgemm_plan *forced, bool estimate);
void ftb_product_delete(ftb_product *product);
GrB_Info ftb_product_table(ftb_product *product, bool *done); /* spgemm_table.c: TABLE if it pays */
GrB_Info ftb_product_range(ftb_product *product);             /* spgemm_range.c: h, and facts.wraps */
GrB_Info ftb_product_estimate(ftb_product *product);          /* spgemm_estimate.c: facts about entries */
/* Whether messages depend on a and b alone (and on figures that are the same for all). */
bool ftb_product_uses_only_values(const ftb_product *product);
/* Most messages that one result can sum. */
double ftb_product_most_messages(const ftb_product *product);
/* Whether sums of whole-numbered messages of at most this magnitude are exact in FP64. */
bool ftb_product_exact_in_fp64(const ftb_product *product, double largest_message);

/* Only these rows are wanted (NULL: all), and facts are theirs; `rows` outlives the product. */
void ftb_product_want(ftb_product *product, const uint8_t *rows);

/* What the product will announce to its sink. */
ftb_sink_shape ftb_product_shape(const ftb_product *product, bool symmetric);
/* Begins the sink, runs the product and ends it. */
GrB_Info ftb_product_to_sink(const ftb_product *product, FtB_Sink sink, bool symmetric);
/* The same into a new matrix of `type`; 0: h's own. */
GrB_Info ftb_product_to_matrix(FtB_Matrix *T, const ftb_product *product, FtB_Type type);
/* Plans the product, by `plan` where it is not NULL (refused if it was made for another product), else by
 * wisdom or the rule. (spgemm_measure.c) */
GrB_Info ftb_spgemm_plan_take(ftb_product *product, FtB_Plan plan, bool estimate);
GrB_Info ftb_spgemm_plan_make(FtB_Plan *plan, const ftb_product *product);
GrB_Info ftb_spgemm_measure(ftb_product *product); /* FTB_MEASURE */

#endif
