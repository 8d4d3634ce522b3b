/* The verb `apply` on a GPU: operators over rows of blocks, as kernels that are made of their text
 * (kernels/expression.cuh), with the host's bits (expression.c says of what). */
#include "gpu/gpu_verbs.h"
#include "gpu/texts/expression.h"

#include <stdio.h>

static void add_rows(ftb_message *m, const char *name, const ftb_block_operand *x,
                     const ftb_block_operand *other)
{
    const bool by_head = ftb_operand_by_head(x, other);
    ftb_feed *feed = &m->feeds[m->nfeeds++];
    *feed = (ftb_feed){.side = FTB_SIDE_ROW,
                       .type = x->type,
                       .data = x->data,
                       .ld = x->one_row ? 0 : x->ld,
                       .heads = by_head ? m->heads : 1,
                       .width = x->ncols / (by_head ? m->heads : 1)};
    snprintf(feed->name, sizeof feed->name, "%s", name);
}

/* The operator as a message of rows, which owns nothing, and its program, which is the caller's. */
static GrB_Info make_message(ftb_message *m, ftb_program **program, const ftb_apply_product *p)
{
    const ftb_block_operand none = {.heads = 1}, *const y = p->binary ? &p->y : &none;
    *m = (ftb_message){.ctx = p->ctx, .expr = p->op->body, .heads = ftb_max(p->x.heads, y->heads)};
    add_rows(m, "x", &p->x, y);
    if (p->binary)
        add_rows(m, "y", y, &p->x);
    m->feeds[m->nfeeds++] =
        (ftb_feed){.name = "i", .side = FTB_SIDE_ROW, .type = FTB_INT64, .heads = 1, .width = 1};
    ftb_name names[FTB_MAX_FEEDS];
    ftb_operand values[FTB_MAX_FEEDS];
    const int end = ftb_bound_names(p->op->nbound, p->op->bound, names, values, m->nfeeds, FTB_MAX_FEEDS);
    for (; m->nfeeds < end; m->nfeeds++) {
        const ftb_name *name = &names[m->nfeeds];
        ftb_feed *feed = &m->feeds[m->nfeeds];
        *feed = (ftb_feed){
            .type = name->type, .data = values[m->nfeeds].data, .heads = 1, .width = 1, .constant = true};
        snprintf(feed->name, sizeof feed->name, "%s", name->name);
    }
    return end < 0 ? ftb_fail(FTB_NO_DEVICE, "op: too many names for a GPU")
                   : ftb_message_program(program, m, m->expr);
}

bool ftb_gpu_apply_fits(const ftb_apply_product *p)
{
    ftb_program *program = NULL;
    ftb_message m;
    const bool fits =
        make_message(&m, &program, p) == GrB_SUCCESS &&
        m.heads * ftb_program_width(program) == p->ncols && /* not one value for wider operands */
        ftb_gpu_expression_fits(&m, program, FTB_SIDE_ROW, NULL);
    ftb_program_delete(program);
    return fits;
}

GrB_Info ftb_gpu_apply(const ftb_apply_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    ftb_expression_arguments a = {
        .nrows = p->nrows, .ncols = p->ncols, .out = p->out, .ldo = p->ldo, .add = p->add};
    ftb_gpu_expression e = {.source = NULL};
    ftb_program *program = NULL;
    ftb_message m;
    if (p->nrows == 0 || p->ncols == 0)
        return GrB_SUCCESS;
    GrB_Info info = make_message(&m, &program, p);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_expression_new(&e, &m, program, p->type, FTB_PLUS, FTB_EXPRESSION_ROWS);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_load(d, e.source);
    if (info == GrB_SUCCESS) {
        ftb_gpu_expression_feeds(&a, &m, program);
        info = ftb_gpu_expression_run(d, &e, FTB_EXPRESSION_ROWS, p->nrows, &a);
    }
    ftb_gpu_expression_delete(&e);
    ftb_program_delete(program);
    return info;
}
