/* Messages of gradients, summed into rows or stored for each entry, by what runs products. */
#include "ops/grad/grad.h"

#include "cpu/message_run.h"
#include "ops/sddmm.h"
#include "ops/spmm.h"
#include "ops/vertices.h"

static ftb_message with_expr(const ftb_message *m, ftb_expr *expr)
{
    ftb_message copy = *m;
    copy.expr = expr;
    copy.reducer = (ftb_reducer){.monoid = FTB_PLUS};
    copy.wide = true;
    return copy;
}

GrB_Info ftb_grad_vertices(ftb_grad_rows *Y, const ftb_message *m, ftb_side side, int64_t nrows,
                           ftb_expr *expr)
{
    const ftb_message of = with_expr(m, expr);
    FtB_Block made = NULL;
    *Y = (ftb_grad_rows){.nrows = nrows};
    GrB_Info info = ftb_vertex_values_new(
        &made, NULL, &(ftb_vertex_values){.m = &of, .expr = expr, .side = side, .nrows = nrows});
    if (info != GrB_SUCCESS)
        return info;
    *Y = (ftb_grad_rows){ftb_buffer_take(made->owner), made->type, nrows, made->ncols};
    FtB_Block_free(&made);
    return info;
}

/* Room for what m gives, in nrows rows. */
static GrB_Info new_rows(ftb_grad_rows *T, const ftb_message *m, int64_t nrows)
{
    ftb_message_type type;
    ftb_program *program;
    GrB_Info info = ftb_message_compile(&type, &program, m);
    if (info != GrB_SUCCESS)
        return info;
    ftb_program_delete(program);
    *T = (ftb_grad_rows){.type = type.reduced, .nrows = nrows, .width = m->heads * type.width};
    if (__builtin_mul_overflow(nrows, T->width, &(int64_t){0}))
        return ftb_fail(GrB_INVALID_VALUE, "semiring: %lld rows of %lld values cannot be addressed",
                        (long long)nrows, (long long)T->width);
    T->data = ftb_new(m->ctx, nrows * T->width, FtB_Type_size(T->type));
    return T->data ? GrB_SUCCESS : ftb_nomem();
}

static void clear_empty(const ftb_grad_rows *T, const ftb_pattern *p)
{
    size_t bytes = (size_t)T->width * FtB_Type_size(T->type);
    for (int64_t i = 0; i < p->nrows; i++)
        if (p->rowptr[i] == p->rowptr[i + 1])
            memset((char *)T->data + (size_t)i * bytes, 0, bytes);
}

GrB_Info ftb_grad_sum(ftb_grad_rows *T, const ftb_message *m, ftb_pattern *p, ftb_expr *expr)
{
    ftb_message sum = with_expr(m, expr);
    ftb_spmm_request request = {.message = &sum, .p = p};
    ftb_spmm_result result;
    GrB_Info info = ftb_spmm_message(&result, &request);
    if (info != GrB_SUCCESS)
        return info;
    *T = (ftb_grad_rows){result.owned, result.type, p->nrows, result.ncols};
    clear_empty(T, p);
    return GrB_SUCCESS;
}

GrB_Info ftb_grad_store(ftb_grad_rows *V, const ftb_message *m, ftb_pattern *p, ftb_expr *expr)
{
    ftb_message stored = with_expr(m, expr);
    ftb_grad_rows made = {0};
    GrB_Info info = new_rows(&made, &stored, p->nvals);
    if (info == GrB_SUCCESS) {
        ftb_message_type type = {made.type, made.type, made.width / m->heads};
        info = ftb_sddmm_message(made.data, &stored, &type, p, NULL);
    }
    if (info != GrB_SUCCESS) {
        ftb_delete(made.data);
        return info;
    }
    *V = made;
    return GrB_SUCCESS;
}
