/* The table of SpMM kernels, for those who look for one. */
#include "cpu/kernels/spmm_kernels.h"

#define ROW(name, suffix, type, best, form, edge) {#name, {type, best, form, edge}},
static const ftb_spmm_kernel kernels[] = {FTB_SPMM_KERNELS(ROW)};

#define COUNT ((int)(sizeof kernels / sizeof *kernels))

const ftb_spmm_kernel *ftb_spmm_kernels(int *count)
{
    *count = COUNT;
    return kernels;
}

int ftb_spmm_find(const ftb_spmm_kind *kind)
{
    int any = -1;
    for (int k = 0; k < COUNT; k++) {
        const ftb_spmm_kind *here = &kernels[k].kind;
        if (here->type != kind->type || here->best != kind->best || here->edge != kind->edge)
            continue;
        if (here->form == kind->form)
            return k;
        if (here->form == FTB_FORM_ANY && kind->form >= FTB_FORM_MUL && kind->form <= FTB_FORM_DIV)
            any = k;
    }
    return kind->type == FTB_INT64 && kind->form == FTB_FORM_DIV ? -1 : any;
}
