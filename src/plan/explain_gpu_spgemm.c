/* The plan of sparse x sparse on a GPU, for people. */
#include "plan/gpu_spgemm_plan.h"

void ftb_explain_gpu_spgemm(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f, FILE *file)
{
    const long long tiles = (f->ncols + plan->tile - 1) / plan->tile;
    fprintf(file, "on the GPU       dense rows in %lld tile%s of %lld columns, by %d warps", tiles,
            tiles == 1 ? "" : "s", (long long)plan->tile, plan->warps);
    if (plan->hashes > 0)
        fprintf(file, "; rows of up to %lld entries by hashing",
                (long long)ftb_gpu_spgemm_hash[plan->hashes - 1]);
    fprintf(file, "; predicted %.3g s\n", plan->seconds);
    if (f->counts && plan->hot > 0)
        fprintf(file, "                 the %lld most frequent columns as bits; without, %.3g s\n",
                (long long)plan->hot, plan->plain_seconds);
    else if (f->counts)
        fprintf(file, "                 no columns as bits: %s\n",
                f->hot == 0            ? "none were asked for"
                : f->hot_share[0] <= 0 ? "their share of the products is not known"
                                       : "they would not be faster");
}
