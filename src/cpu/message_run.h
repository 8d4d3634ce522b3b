/* Messages over the edges of a pattern, run by the interpreter or by compiled texts. */
#ifndef FTB_MESSAGE_RUN_H
#define FTB_MESSAGE_RUN_H

#include "verbs/aggregate_product.h"
#include "verbs/messages_product.h"

/* Where a message's results go. Loops over edges in batches that stay in L1; the program runs on (edge, head)
 * pairs. Any message; the slow way, beside kernels that know a form. Parallel; bits do not depend on threads.
 * (message_run.c) */
/* T(i,:) = reduce over the entries of row i, in order: heads x width values of type.reduced, ld of T. Rows
 * without entries get the identity. rows: only these (count of them; the other rows of T stay), NULL: all.
 * arg (or NULL): p->nrows x ldarg, the winning entry of p, -1 for none; min and max only. No finish (mean).
 */
GrB_Info ftb_message_reduce(const ftb_message *m, const ftb_pattern *p, void *T, int64_t ld, int64_t *arg,
                            int64_t ldarg, const int64_t *rows, int64_t nrows);
/* The verb `aggregate`. Allocates all that it needs, and computes what is added, before out is written. */
GrB_Info ftb_aggregate_run(const ftb_aggregate_product *product);
GrB_Info ftb_messages_run(const ftb_messages_product *product);

#endif
