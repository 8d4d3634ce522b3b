/* Rows of which the first message that says all is enough (first_rows.h): of `any` the first, of `or` the
 * first that is true. */
#include "cpu/first_rows.h"

#include "expr/scalar.h"
#include "expr/tree.h"

static void run_any(const ftb_first_rows *f, int64_t first, int64_t last)
{
    const int64_t *rowptr = f->p->rowptr;
    const size_t size = FtB_Type_size(f->reduced), step = (size_t)f->ldx * FtB_Type_size(f->stored);
    for (int64_t t = first; t < last; t++) {
        const int64_t i = f->rows ? f->rows[t] : t, e = rowptr[i];
        char *to = f->out + (size_t)(i * f->ld) * size;
        const char *from = e < rowptr[i + 1] ? (const char *)f->x + (size_t)ftb_col(f->p, e) * step : NULL;
        if (!from)
            memcpy(to, f->none, size);
        else if (f->stored != f->reduced)
            ftb_cast(to, f->reduced, from, f->stored, 1);
        else if (size == 4)
            memcpy(to, from, 4);
        else if (size == 8)
            memcpy(to, from, 8);
        else
            memcpy(to, from, size);
    }
}

#define OR(name, T)                                                                                          \
    static void name(const ftb_first_rows *f, int64_t first, int64_t last)                                   \
    {                                                                                                        \
        const int64_t *rowptr = f->p->rowptr;                                                                \
        const T *x = f->x;                                                                                   \
        for (int64_t t = first; t < last; t++) {                                                             \
            const int64_t i = f->rows ? f->rows[t] : t;                                                      \
            bool found = false;                                                                              \
            for (int64_t e = rowptr[i]; e < rowptr[i + 1] && !found; e++)                                    \
                found = x[ftb_col(f->p, e) * f->ldx] != 0;                                                   \
            f->out[i * f->ld] = found;                                                                       \
        }                                                                                                    \
    }
OR(or_8, uint8_t)
OR(or_16, uint16_t)
OR(or_32, uint32_t)
OR(or_64, uint64_t)
OR(or_f32, float)
OR(or_f64, double)

ftb_first_rows ftb_first_rows_of(const ftb_message *m, const ftb_message_type *type, const ftb_pattern *p)
{
    ftb_first_rows f = {.p = p, .reduced = type->reduced};
    const ftb_expr *e = m->expr;
    const ftb_node *root = e ? &e->nodes[e->root] : NULL;
    if (!root || root->op != FTB_OP_NAME || root->name.length >= FTB_NAME_LENGTH || m->heads != 1 ||
        type->width != 1)
        return f;
    char name[FTB_NAME_LENGTH];
    snprintf(name, sizeof name, "%.*s", root->name.length, e->text + root->name.start);
    const ftb_feed *x = ftb_message_find(m, name);
    if (!x || x->side != FTB_SIDE_COL || !x->data || x->at || x->whole)
        return f;
    f.x = x->data;
    f.stored = x->type;
    f.ldx = x->ld;
    ftb_monoid_identity(m->reducer.monoid, f.reduced, f.none);
    if (m->reducer.monoid == FTB_ANY)
        f.run = run_any;
    else if (m->reducer.monoid == FTB_OR && f.reduced == FTB_BOOL && x->type != FTB_FP16 &&
             x->type != FTB_BF16) {
        const size_t size = FtB_Type_size(x->type);
        f.run = x->type == FTB_FP32   ? or_f32
                : x->type == FTB_FP64 ? or_f64
                : size == 1           ? or_8
                : size == 2           ? or_16
                : size == 4           ? or_32
                                      : or_64;
    }
    return f;
}
