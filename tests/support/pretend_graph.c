/* Verbs of whole graphs of the device that does not exist (pretend_verbs.c). */
#include "support/pretend_graph.h"

#include "cpu/graph/components_run.h"
#include "cpu/graph/paths_run.h"
#include "support/pretend.h"

#define HERE(field) ((field) = pretend_own(field))

static GrB_Info no_pattern(void) { return pretend_refused() ? FTB_NO_DEVICE : ftb_nomem(); }

GrB_Info pretend_components(const ftb_components_product *product)
{
    ftb_components_product p = *product;
    p.p = pretend_pattern(product->p);
    if (!p.p)
        return no_pattern();
    pretend_enter();
    HERE(p.labels);
    pretend_leave();
    GrB_Info info = ftb_components_run(&p);
    ftb_pattern_release(p.p);
    return info;
}

GrB_Info pretend_paths(const ftb_paths_product *product)
{
    ftb_paths_product p = *product;
    p.p = pretend_pattern(product->p);
    if (!p.p)
        return no_pattern();
    pretend_enter();
    HERE(p.lengths);
    HERE(p.dist);
    pretend_leave();
    GrB_Info info = ftb_paths_run(&p);
    ftb_pattern_release(p.p);
    return info;
}
