/* What is known of sparse x block without running it: plans for other rules and for blocks without columns;
 * the result's shape. */
#include "core/slices.h"
#include "ops/plan_object.h"
#include "ops/spmm.h"

int ftb_spmm_lanes_of(FtB_Type type, int64_t features)
{
    return FTB_PICK_OF(ftb_isa_for(features * (int64_t)FtB_Type_size(type)), ftb_spmm_lanes)(type);
}

static int64_t listed_entries(const ftb_spmm_request *request)
{
    const int64_t *rowptr = request->p->rowptr;
    int64_t entries = 0;
    for (int64_t t = 0; request->rows && t < request->nlisted; t++)
        entries += rowptr[request->rows[t] + 1] - rowptr[request->rows[t]];
    return request->rows ? entries : request->p->nvals;
}

ftb_spmm_facts ftb_spmm_facts_of(const ftb_spmm_request *request, const ftb_spmm_product *product,
                                 FtB_Context ctx, int64_t features, FtB_Type reduced)
{
    ftb_pattern *p = request->p;
    const FtB_Type type = product ? product->kind.type : reduced;
    const ftb_spmm_sums sums = product ? ftb_spmm_sums_of(product) : FTB_SUMS_PLAIN;
    ftb_spmm_facts facts = {.nrows = p->nrows,
                            .ncols = p->ncols,
                            .nvals = p->nvals,
                            .all_rows = p->all_rows,
                            .listed = request->rows ? request->nlisted : p->nrows,
                            .entries = listed_entries(request),
                            .features = features,
                            .value_bytes = (int64_t)FtB_Type_size(type),
                            .stored_bytes = (int64_t)FtB_Type_size(product ? product->stored : type),
                            .lanes = ftb_spmm_lanes_of(type, features),
                            .threads = ftb_threads(ctx),
                            .memory_left = ftb_memory_left(ctx),
                            .degrees = *ftb_pattern_degrees(p),
                            .cached_segment = ftb_partition_widest(p),
                            .tuned = product != NULL,
                            .vector = sums == FTB_SUMS_LANES,
                            .ordered = sums == FTB_SUMS_ORDERED,
                            .slices_bytes = ftb_slices_bytes(p->nrows, p->ncols, p->nvals),
                            .slices_there = ftb_slices_there(p),
                            .kernel = "program"};
    if (!product)
        return facts;
    facts.edge_bytes = product->yheads * product->ywidth * facts.value_bytes;
    facts.partitioned = !request->rows && p->nrows <= (int64_t)UINT32_MAX && sums == FTB_SUMS_PLAIN;
    facts.sliced = ftb_spmm_slices_of(product);
    facts.kernel = ftb_spmm_kernels(&(int){0})[ftb_spmm_find(&product->kind)].name;
    return facts;
}

double ftb_spmm_predict(ftb_pattern *p, int64_t features, FtB_Type type, const ftb_machine_facts *machine)
{
    ftb_spmm_plan plan = {0};
    ftb_spmm_facts facts = {.nrows = p->nrows,
                            .ncols = p->ncols,
                            .nvals = p->nvals,
                            .listed = p->nrows,
                            .entries = p->nvals,
                            .features = features,
                            .value_bytes = (int64_t)FtB_Type_size(type),
                            .stored_bytes = (int64_t)FtB_Type_size(type),
                            .lanes = ftb_spmm_lanes_of(type, features),
                            .threads = 1,
                            .memory_left = INT64_MAX,
                            .tuned = !p->wide,
                            .vector = !p->wide && features == 1,
                            .partitioned = !p->wide && features > 1 && p->nrows <= (int64_t)UINT32_MAX};
    facts.degrees = *ftb_pattern_degrees(p);
    ftb_rule_spmm(&plan, &facts, machine);
    return plan.seconds;
}

GrB_Info ftb_spmm_nothing(ftb_spmm_result *result, const ftb_spmm_request *request, FtB_Context ctx)
{
    ftb_pattern *p = request->p;
    *result = (ftb_spmm_result){.facts = {.nrows = p->nrows,
                                          .ncols = p->ncols,
                                          .nvals = p->nvals,
                                          .listed = p->nrows,
                                          .entries = p->nvals,
                                          .value_bytes = (int64_t)FtB_Type_size(request->into_type),
                                          .stored_bytes = (int64_t)FtB_Type_size(request->into_type),
                                          .lanes = 1,
                                          .threads = ftb_threads(ctx),
                                          .memory_left = ftb_memory_left(ctx),
                                          .kernel = "nothing"}};
    result->facts.degrees = *ftb_pattern_degrees(p);
    if (request->forced)
        result->plan = *request->forced;
    ftb_rule_spmm(&result->plan, &result->facts, ftb_machine_here());
    return request->expected
               ? ftb_plan_check_same(FTB_PLAN_SPMM, &(ftb_any_facts){.spmm = *request->expected},
                                     &(ftb_any_facts){.spmm = result->facts})
               : GrB_SUCCESS;
}

GrB_Info ftb_spmm_shape(const ftb_message *m, FtB_Type *type, int64_t *ncols)
{
    ftb_message_type compiled;
    GrB_Info info = ftb_message_types(&compiled, m);
    if (info != GrB_SUCCESS)
        return info;
    *type = compiled.reduced;
    *ncols = m->heads * compiled.width;
    return GrB_SUCCESS;
}
