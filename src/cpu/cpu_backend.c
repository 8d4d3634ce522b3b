/* The host's row in the table of backends: its memory needs no asking, and drivers are its verbs. */
#include "cpu/cpu_backend.h"

#include "cpu/attention_run.h"
#include "cpu/dense_run.h"
#include "cpu/spmm_run.h"
#include "verbs/verbs.h"

static const ftb_verbs verbs = {
    .spmm = ftb_spmm_run,
    .dense = ftb_dense_run,
    .attention = ftb_attention_run,
    .attention_grad = ftb_attention_grad_run,
};

const ftb_backend ftb_cpu = {.name = "cpu", .about = "the processor's cores", .verbs = &verbs};
