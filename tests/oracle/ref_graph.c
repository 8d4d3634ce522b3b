/* Verbs of whole graphs, slowly (ref_graph.h). */
#include "oracle/ref_graph.h"

/* Until no entry joins vertices of unequal labels. */
GrB_Info ref_components(const ftb_components_product *c)
{
    const ftb_pattern *p = c->p;
    const size_t size = FtB_Type_size(c->type);
    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; i < p->nrows; i++)
            for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
                char *a = (char *)c->labels + (size_t)(i * c->ld) * size;
                char *b = (char *)c->labels + (size_t)(ftb_col(p, e) * c->ld) * size;
                int64_t x, y;
                ftb_cast(&x, FTB_INT64, a, c->type, 1);
                ftb_cast(&y, FTB_INT64, b, c->type, 1);
                more = more || x != y;
                memcpy(x < y ? b : a, x < y ? a : b, size);
            }
    }
    return GrB_SUCCESS;
}
