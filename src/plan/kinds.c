/* The rows: from unions to each kind's own functions. */
#include "plan/kinds.h"

/* ---- sparse x sparse */

static bool spgemm_rule(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine)
{
    return ftb_rule_spgemm(&plan->spgemm, &facts->spgemm, machine);
}

static const char *spgemm_set(ftb_any_plan *plan, const ftb_any_facts *facts, const char *key,
                              const char *value)
{
    (void)facts;
    return ftb_spgemm_plan_set(&plan->spgemm, key, value);
}

static bool spgemm_get(const ftb_any_plan *plan, const ftb_any_facts *facts, const char *key, double *value)
{
    return ftb_spgemm_plan_get(&plan->spgemm, &facts->spgemm, key, value);
}

static void spgemm_explain(const ftb_any_plan *plan, const ftb_any_facts *facts,
                           const ftb_machine_facts *machine, FILE *file)
{
    ftb_explain_spgemm(&plan->spgemm, &facts->spgemm, machine, file);
}

/* A product whose winners are wanted, too, is not mirrored, and takes the plan that was made without. */
static bool spgemm_same(const ftb_any_facts *made, const ftb_any_facts *here)
{
    const ftb_spgemm_facts *a = &made->spgemm, *b = &here->spgemm;
    return a->nrows == b->nrows && a->ncols == b->ncols && a->ninner == b->ninner && a->avals == b->avals &&
           a->bvals == b->bvals && a->products <= b->products && a->products >= b->products &&
           a->longest_row == b->longest_row && (a->symmetric == b->symmetric || b->winner_bytes > 0) &&
           a->masked == b->masked && a->half_wanted == b->half_wanted && a->value_bytes == b->value_bytes;
}

static void spgemm_describe(char *text, size_t size, const ftb_any_facts *facts, bool here)
{
    const ftb_spgemm_facts *f = &facts->spgemm;
    snprintf(text, size, "%lld x %lld%s %.0f products", (long long)f->nrows, (long long)f->ncols,
             here ? " with" : ",", f->products);
}

static ftb_plan_case spgemm_case(const ftb_any_facts *facts)
{
    const ftb_spgemm_facts *f = &facts->spgemm;
    const bool flags[] = {f->self,       f->symmetric, f->masked,  f->half_wanted,
                          f->stats_only, f->counted,   f->widened, f->winner_bytes > 0};
    int64_t bits = 0;
    for (int b = 0; b < (int)(sizeof flags / sizeof *flags); b++)
        bits |= (int64_t)flags[b] << b;
    return (ftb_plan_case){.kernel = f->kernel,
                           .fact = {f->nrows, f->ncols, f->ninner, f->avals, f->bvals, (int64_t)f->products,
                                    f->longest_row, f->width, f->cell_bytes, f->value_bytes, bits,
                                    f->threads}};
}

static ftb_choice spgemm_chosen(const ftb_any_plan *plan) { return ftb_spgemm_chosen(&plan->spgemm); }

static bool spgemm_choose(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine,
                          const ftb_choice *choice, ftb_origin origin)
{
    return ftb_spgemm_choose(&plan->spgemm, &facts->spgemm, machine, choice, origin);
}

static unsigned spgemm_forced(const ftb_any_plan *plan) { return plan->spgemm.forced & ~plan->spgemm.chosen; }

static int64_t spgemm_most(const ftb_any_facts *facts, ftb_choice_number number)
{
    (void)facts;
    (void)number;
    return 0;
}

/* ---- sparse x block */

static bool spmm_rule(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine)
{
    ftb_rule_spmm(&plan->spmm, &facts->spmm, machine);
    return true;
}

static const char *spmm_set(ftb_any_plan *plan, const ftb_any_facts *facts, const char *key,
                            const char *value)
{
    (void)facts;
    return ftb_spmm_plan_set(&plan->spmm, key, value);
}

static bool spmm_get(const ftb_any_plan *plan, const ftb_any_facts *facts, const char *key, double *value)
{
    return ftb_spmm_plan_get(&plan->spmm, &facts->spmm, key, value);
}

static void spmm_explain(const ftb_any_plan *plan, const ftb_any_facts *facts,
                         const ftb_machine_facts *machine, FILE *file)
{
    ftb_explain_spmm(&plan->spmm, &facts->spmm, machine, file);
}

static bool spmm_same(const ftb_any_facts *made, const ftb_any_facts *here)
{
    const ftb_spmm_facts *a = &made->spmm, *b = &here->spmm;
    return a->nrows == b->nrows && a->ncols == b->ncols && a->nvals == b->nvals &&
           a->features == b->features && a->listed == b->listed && a->tuned == b->tuned &&
           a->value_bytes == b->value_bytes;
}

static void spmm_describe(char *text, size_t size, const ftb_any_facts *facts, bool here)
{
    const ftb_spmm_facts *f = &facts->spmm;
    snprintf(text, size, "%lld x %lld%s %lld entries, %lld features", (long long)f->nrows,
             (long long)f->ncols, here ? " with" : ",", (long long)f->nvals, (long long)f->features);
}

static ftb_plan_case spmm_case(const ftb_any_facts *facts)
{
    const ftb_spmm_facts *f = &facts->spmm;
    return (ftb_plan_case){.kernel = f->kernel,
                           .fact = {f->nrows, f->ncols, f->nvals, f->listed, f->entries, f->features,
                                    f->value_bytes, f->stored_bytes, f->edge_bytes, f->threads},
                           .degrees = &f->degrees};
}

static ftb_choice spmm_chosen(const ftb_any_plan *plan) { return ftb_spmm_chosen(&plan->spmm); }

static bool spmm_choose(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine,
                        const ftb_choice *choice, ftb_origin origin)
{
    return ftb_spmm_choose(&plan->spmm, &facts->spmm, machine, choice, origin);
}

static unsigned spmm_forced(const ftb_any_plan *plan)
{
    return plan->spmm.asked.forced & ~(plan->spmm.asked.chosen | FTB_SPMM_SET_USES);
}

static int64_t spmm_most(const ftb_any_facts *facts, ftb_choice_number number)
{
    const ftb_spmm_facts *f = &facts->spmm;
    const int64_t parts = f->nrows < FTB_MOST_PARTS ? f->nrows : FTB_MOST_PARTS;
    return number == FTB_SEGMENT ? FTB_MOST_SEGMENT : number == FTB_TILE ? f->features : parts;
}

/* ---- the same on a GPU */

static bool gpu_spmm_rule(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine)
{
    (void)machine;
    ftb_rule_gpu_spmm(&plan->spmm.gpu, &facts->spmm, &facts->spmm.gpu, &plan->spmm.asked);
    ftb_rule_gpu_tensor(&plan->spmm.gpu, &facts->spmm, &facts->spmm.gpu, &plan->spmm.asked);
    return true;
}

static ftb_plan_case gpu_spmm_case(const ftb_any_facts *facts)
{
    const ftb_spmm_facts *f = &facts->spmm;
    const bool flags[] = {f->gpu.exact, f->gpu.relaxed};
    int64_t bits = (int64_t)f->gpu.at_once << 2 | (int64_t)f->gpu.precision << 6;
    for (int b = 0; b < (int)(sizeof flags / sizeof *flags); b++)
        bits |= (int64_t)flags[b] << b;
    return (ftb_plan_case){.kernel = f->value_bytes > 4 ? "f64" : "f32",
                           .fact = {f->nrows, f->ncols, f->nvals, f->features, f->stored_bytes, f->edge_bytes,
                                    bits, f->gpu.device},
                           .degrees = &f->degrees};
}

static ftb_choice gpu_spmm_chosen(const ftb_any_plan *plan) { return ftb_gpu_spmm_chosen(&plan->spmm.gpu); }

static bool gpu_spmm_choose(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine,
                            const ftb_choice *choice, ftb_origin origin)
{
    (void)machine;
    return ftb_gpu_spmm_choose(&plan->spmm, &facts->spmm, choice, origin);
}

static unsigned gpu_spmm_forced(const ftb_any_plan *plan)
{
    ftb_spmm_asked by_hand = plan->spmm.asked;
    by_hand.forced &= ~by_hand.chosen;
    return ftb_gpu_spmm_asked(&by_hand);
}

/* Each threshold is a form of the pattern's, which stays: tiles are left to the rule. */
static int64_t gpu_spmm_most(const ftb_any_facts *facts, ftb_choice_number number)
{
    (void)facts;
    return number == FTB_SEGMENT ? 1 << (FTB_GPU_USES - 1) : 0;
}

/* ---- over the entries of a pattern */

static bool sddmm_rule(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine)
{
    ftb_rule_sddmm(&plan->sddmm, &facts->sddmm, machine);
    return true;
}

static const char *sddmm_set(ftb_any_plan *plan, const ftb_any_facts *facts, const char *key,
                             const char *value)
{
    return ftb_sddmm_plan_set(&plan->sddmm, &facts->sddmm, key, value);
}

static bool sddmm_get(const ftb_any_plan *plan, const ftb_any_facts *facts, const char *key, double *value)
{
    return ftb_sddmm_plan_get(&plan->sddmm, &facts->sddmm, key, value);
}

static void sddmm_explain(const ftb_any_plan *plan, const ftb_any_facts *facts,
                          const ftb_machine_facts *machine, FILE *file)
{
    ftb_explain_sddmm(&plan->sddmm, &facts->sddmm, facts->sddmm.standard ? ftb_machine_standard() : machine,
                      file);
}

static bool sddmm_same(const ftb_any_facts *made, const ftb_any_facts *here)
{
    const ftb_sddmm_facts *a = &made->sddmm, *b = &here->sddmm;
    return a->nrows == b->nrows && a->ncols == b->ncols && a->nvals == b->nvals && a->heads == b->heads &&
           a->features == b->features && a->source_bytes == b->source_bytes &&
           a->entry_bytes == b->entry_bytes && a->program == b->program;
}

static void sddmm_describe(char *text, size_t size, const ftb_any_facts *facts, bool here)
{
    const ftb_sddmm_facts *f = &facts->sddmm;
    snprintf(text, size, "%lld x %lld%s %lld entries, %lld features in %lld heads, %s", (long long)f->nrows,
             (long long)f->ncols, here ? " with" : ",", (long long)f->nvals, (long long)f->features,
             (long long)f->heads, f->kernel);
}

static ftb_plan_case sddmm_case(const ftb_any_facts *facts)
{
    const ftb_sddmm_facts *f = &facts->sddmm;
    return (ftb_plan_case){.kernel = f->kernel,
                           .fact = {f->nrows, f->ncols, f->nvals, f->heads, f->features, f->value_features,
                                    f->source_bytes, f->row_bytes, f->entry_bytes, f->one_piece, f->can_stage,
                                    f->threads},
                           .degrees = &f->degrees};
}

static ftb_choice sddmm_chosen(const ftb_any_plan *plan) { return ftb_sddmm_chosen(&plan->sddmm); }

static bool sddmm_choose(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine,
                         const ftb_choice *choice, ftb_origin origin)
{
    return ftb_sddmm_choose(&plan->sddmm, &facts->sddmm, machine, choice, origin);
}

static unsigned sddmm_forced(const ftb_any_plan *plan)
{
    return plan->sddmm.asked.forced & ~plan->sddmm.asked.chosen;
}

static int64_t sddmm_most(const ftb_any_facts *facts, ftb_choice_number number)
{
    return number == FTB_SEGMENT ? FTB_MOST_SEGMENT : number == FTB_TILE ? facts->sddmm.source_bytes : 0;
}

/* ---- the same on a GPU: dot products */

static bool gpu_sddmm_rule(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine)
{
    (void)machine;
    ftb_rule_gpu_sddmm(&plan->sddmm.gpu, &facts->sddmm.gpu, &plan->sddmm.asked);
    return true;
}

static ftb_plan_case gpu_sddmm_case(const ftb_any_facts *facts)
{
    const ftb_sddmm_facts *f = &facts->sddmm;
    return (ftb_plan_case){.kernel = "f32",
                           .fact = {f->nrows, f->ncols, f->nvals, f->heads, f->features, f->gpu.device},
                           .degrees = &f->degrees};
}

static ftb_choice gpu_sddmm_chosen(const ftb_any_plan *plan)
{
    return ftb_gpu_sddmm_chosen(&plan->sddmm.gpu);
}

static bool gpu_sddmm_choose(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine,
                             const ftb_choice *choice, ftb_origin origin)
{
    (void)machine;
    return ftb_gpu_sddmm_choose(&plan->sddmm, &facts->sddmm, choice, origin);
}

static unsigned gpu_sddmm_forced(const ftb_any_plan *plan)
{
    return sddmm_forced(plan) & FTB_SDDMM_SET_KERNEL;
}

/* ---- sparse x vector */

static bool mxv_rule(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine)
{
    (void)machine;
    ftb_rule_mxv(&plan->mxv, &facts->mxv);
    return true;
}

static const char *mxv_set(ftb_any_plan *plan, const ftb_any_facts *facts, const char *key, const char *value)
{
    (void)facts;
    return ftb_mxv_plan_set(&plan->mxv, key, value);
}

static bool mxv_get(const ftb_any_plan *plan, const ftb_any_facts *facts, const char *key, double *value)
{
    return ftb_mxv_plan_get(&plan->mxv, &facts->mxv, key, value);
}

static void mxv_explain(const ftb_any_plan *plan, const ftb_any_facts *facts,
                        const ftb_machine_facts *machine, FILE *file)
{
    ftb_explain_mxv(&plan->mxv, &facts->mxv, machine, file);
}

/* The vector is another one in every step of a search. */
static bool mxv_same(const ftb_any_facts *made, const ftb_any_facts *here)
{
    const ftb_mxv_facts *a = &made->mxv, *b = &here->mxv;
    return a->receivers == b->receivers && a->senders == b->senders && a->nvals == b->nvals;
}

static void mxv_describe(char *text, size_t size, const ftb_any_facts *facts, bool here)
{
    const ftb_mxv_facts *f = &facts->mxv;
    snprintf(text, size, "from %lld to %lld places%s %lld entries", (long long)f->senders,
             (long long)f->receivers, here ? " with" : ",", (long long)f->nvals);
}

static ftb_plan_case mxv_case(const ftb_any_facts *facts)
{
    const ftb_mxv_facts *f = &facts->mxv;
    const int64_t made = (f->push_made ? 1 : 0) | (f->pull_made ? 2 : 0);
    return (ftb_plan_case){
        .kernel = f->first ? "first"
                  : f->all ? "all"
                           : "some",
        .fact = {f->receivers, f->senders, f->nvals, f->entries, f->edges, made, f->threads}};
}

static ftb_choice mxv_chosen(const ftb_any_plan *plan)
{
    return (ftb_choice){.family = (int32_t)plan->mxv.way};
}

static bool mxv_choose(ftb_any_plan *plan, const ftb_any_facts *facts, const ftb_machine_facts *machine,
                       const ftb_choice *choice, ftb_origin origin)
{
    (void)machine;
    return ftb_mxv_choose(&plan->mxv, &facts->mxv, (ftb_mxv_way)choice->family, origin);
}

static unsigned mxv_forced(const ftb_any_plan *plan) { return plan->mxv.forced & ~plan->mxv.chosen; }

/* ---- the table */

#define OVER_ENTRIES                                                                                         \
    .case_names = {"nrows",  "ncols", "nvals", "heads",  "features", "values",                               \
                   "source", "row",   "entry", "pieces", "steps",    "threads"},                             \
    .rule = sddmm_rule, .set = sddmm_set, .get = sddmm_get, .explain = sddmm_explain, .same = sddmm_same,    \
    .describe = sddmm_describe, .describe_case = sddmm_case, .chosen = sddmm_chosen, .choose = sddmm_choose, \
    .forced = sddmm_forced, .most = sddmm_most

const ftb_plan_row ftb_plan_rows[FTB_PLAN_KINDS] = {
    [FTB_PLAN_SPGEMM] = {.name = "two sparse matrices",
                         .op = "spgemm",
                         .figures =
                             "products, entries_bound, entries_estimate, entries_error, result_bytes, bytes, "
                             "least_limit, limit, seconds, chunks, threads, triangle, mirror, relabel, hot, "
                             "cross, ids, widened, wraps, gpu_tile, gpu_hot, gpu_seconds",
                         .case_names = {"nrows", "ncols", "ninner", "avals", "bvals", "products", "longest",
                                        "width", "cell", "value", "flags", "threads"},
                         .ways = {{"renamed_hash", FTB_SPGEMM_RENAMED | FTB_SPGEMM_HASH, false, false},
                                  {"renamed", FTB_SPGEMM_RENAMED, false, false},
                                  {"named_hash", FTB_SPGEMM_HASH, false, false},
                                  {"named", 0, false, false}},
                         .rule = spgemm_rule,
                         .set = spgemm_set,
                         .get = spgemm_get,
                         .explain = spgemm_explain,
                         .same = spgemm_same,
                         .describe = spgemm_describe,
                         .describe_case = spgemm_case,
                         .chosen = spgemm_chosen,
                         .choose = spgemm_choose,
                         .forced = spgemm_forced,
                         .most = spgemm_most},
    [FTB_PLAN_SPMM] =
        {.name = "sparse x block",
         .op = "spmm",
         .figures = "segment, segments, tile, tiles, parts, ordered, partitioned, uses, threads, bytes, "
                    "partition_bytes, seconds, direct_seconds, partitioned_seconds, sliced, sliced_seconds, "
                    "hybrid, threshold, hot, gpu_seconds, cusparse",
         .case_names = {"nrows", "ncols", "nvals", "listed", "entries", "features", "value", "stored", "edge",
                        "threads"},
         .ways = {{"direct", FTB_SPMM_DIRECT, false, false},
                  {"partitioned", FTB_SPMM_PARTITIONED, true, true},
                  {"sliced", FTB_SPMM_SLICED, true, false}},
         .rule = spmm_rule,
         .set = spmm_set,
         .get = spmm_get,
         .explain = spmm_explain,
         .same = spmm_same,
         .describe = spmm_describe,
         .describe_case = spmm_case,
         .chosen = spmm_chosen,
         .choose = spmm_choose,
         .forced = spmm_forced,
         .most = spmm_most},
    [FTB_PLAN_SDDMM] = {.name = "block x block'",
                        .op = "sddmm",
                        .figures = "segment, segments, tile, threads, visits, seconds, direct_seconds, "
                                   "gpu_seconds, cusparse",
                        .ways = {{"rows", FTB_SDDMM_ROWS, false, false},
                                 {"segments", FTB_SDDMM_SEGMENTS, true, false}},
                        OVER_ENTRIES},
    [FTB_PLAN_ATTENTION] = {.name = "attention",
                            .op = "attention",
                            .figures =
                                "staged, segment, segments, tile, threads, visits, seconds, direct_seconds",
                            .ways = {{"rows", FTB_SDDMM_ROWS, false, false},
                                     {"segments", FTB_SDDMM_SEGMENTS, true, false},
                                     {"staged", FTB_SDDMM_STAGED, false, false}},
                            OVER_ENTRIES},
    [FTB_PLAN_GPU_SPMM] =
        {.name = "sparse x block on a GPU",
         .op = "gpu_spmm",
         .figures = "",
         .case_names = {"nrows", "ncols", "nvals", "features", "stored", "edge", "flags", "device"},
         .ways = {{"direct", FTB_SPMM_DIRECT, false, false},
                  {"hybrid", FTB_SPMM_HYBRID, true, false},
                  {"tensor", FTB_SPMM_TENSOR, true, false},
                  {"cusparse_default", FTB_GPU_SPMM_SPARSE + FTB_GPU_SPARSE_DEFAULT, false, false},
                  {"cusparse_csr_alg1", FTB_GPU_SPMM_SPARSE + FTB_GPU_SPARSE_CSR_ALG1, false, false},
                  {"cusparse_csr_alg2", FTB_GPU_SPMM_SPARSE + FTB_GPU_SPARSE_CSR_ALG2, false, false},
                  {"cusparse_csr_alg3", FTB_GPU_SPMM_SPARSE + FTB_GPU_SPARSE_CSR_ALG3, false, false}},
         .rule = gpu_spmm_rule,
         .set = spmm_set,
         .get = spmm_get,
         .explain = spmm_explain,
         .same = spmm_same,
         .describe = spmm_describe,
         .describe_case = gpu_spmm_case,
         .chosen = gpu_spmm_chosen,
         .choose = gpu_spmm_choose,
         .forced = gpu_spmm_forced,
         .most = gpu_spmm_most},
    [FTB_PLAN_GPU_SDDMM] = {.name = "block x block' on a GPU",
                            .op = "gpu_sddmm",
                            .figures = "",
                            .case_names = {"nrows", "ncols", "nvals", "heads", "features", "device"},
                            .ways = {{"direct", FTB_SDDMM_ROWS, false, false},
                                     {"cusparse", FTB_SDDMM_CUSPARSE, false, false}},
                            .rule = gpu_sddmm_rule,
                            .set = sddmm_set,
                            .get = sddmm_get,
                            .explain = sddmm_explain,
                            .same = sddmm_same,
                            .describe = sddmm_describe,
                            .describe_case = gpu_sddmm_case,
                            .chosen = gpu_sddmm_chosen,
                            .choose = gpu_sddmm_choose,
                            .forced = gpu_sddmm_forced,
                            .most = spgemm_most},
    [FTB_PLAN_MXV] = {.name = "sparse x vector",
                      .op = "mxv",
                      .figures =
                          "push, pull, all, entries, edges, threads, push_seconds, pull_seconds, seconds",
                      .case_names = {"receivers", "senders", "nvals", "entries", "edges", "made", "threads"},
                      .ways = {{"push", FTB_MXV_PUSH, false, false},
                               {"pull", FTB_MXV_PULL, false, false},
                               {"all", FTB_MXV_ALL, false, false}},
                      .rule = mxv_rule,
                      .set = mxv_set,
                      .get = mxv_get,
                      .explain = mxv_explain,
                      .same = mxv_same,
                      .describe = mxv_describe,
                      .describe_case = mxv_case,
                      .chosen = mxv_chosen,
                      .choose = mxv_choose,
                      .forced = mxv_forced,
                      .most = spgemm_most},
};
