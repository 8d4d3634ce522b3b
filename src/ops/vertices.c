/* Expressions over the rows of one side's vertices: what is hoisted out of an edge loop, what is done to its
 * result, and what gradients are made of. */
#include "ops/vertices.h"

#include "cpu/nn/map_rows_run.h"

GrB_Info ftb_map_rows(FtB_Block Y, const ftb_backend *who, ftb_message *m, const ftb_map_rows_product *how)
{
    ftb_map_rows_product p = *how;
    ftb_place places[FTB_MAX_FEEDS + 1];
    GrB_Info info;
    p.m = m;
    p.type = Y->type;
    p.ncols = Y->ncols;
    p.ldy = Y->ld;
    ftb_places_feeds(places, m, p.program);
    places[FTB_MAX_FEEDS] = (ftb_place){.X = Y, .write = &p.y, .whole = !p.add};
    if (who && !FTB_FITS(who, map_rows, &p))
        who = NULL;
    FTB_RUN(info, who, map_rows, places, &p);
    return info;
}

GrB_Info ftb_vertex_values_new(FtB_Block *Y, const ftb_backend *device, const ftb_vertex_values *v)
{
    ftb_message m = *v->m;
    ftb_program *program = NULL;
    FtB_Block made = NULL;
    int64_t ncols, count;
    GrB_Info info;
    FTB_CHECK(ftb_message_program(&program, &m, v->expr));
    if (__builtin_mul_overflow(m.heads, ftb_program_width(program), &ncols) ||
        __builtin_mul_overflow(v->nrows, ncols, &count))
        ncols = count = INT64_MAX; /* refused by the allocator, with its message */
    const FtB_Type type = ftb_program_type(program);
    FTB_CHECK(ftb_block_view(&made, m.ctx, type, v->nrows, ncols, ncols,
                             ftb_buffer_adopt(m.ctx, ftb_new(m.ctx, count, FtB_Type_size(type)))));
    const ftb_backend *who = device && device->verbs->map_rows && ftb_feeds_fit(&m, program) ? device : NULL;
    if (v->nrows > 0)
        FTB_CHECK(ftb_map_rows(
            made, who, &m,
            &(ftb_map_rows_product){
                .program = program, .side = v->side, .nrows = v->nrows, .fold = 1, .present = v->present}));
    *Y = made;
    made = NULL;
done:
    FtB_Block_free(&made);
    ftb_program_delete(program);
    return info;
}
