/* From choices to plans and back. */
#include "plan/sddmm_plan.h"
#include "plan/spgemm_plan.h"
#include "plan/spmm_plan.h"

/* A number of a plan, unless it was set by hand or the choice leaves it to the rule. */
static void take(int64_t *number, int64_t chosen, int64_t most, unsigned *forced, unsigned bit)
{
    if (*forced & bit || chosen <= 0)
        return;
    *number = chosen < most ? chosen : most;
    *forced |= bit;
}

/* ---- sparse x sparse */

ftb_choice ftb_spgemm_chosen(const ftb_spgemm_plan *plan)
{
    return (ftb_choice){.family = (plan->relabel ? FTB_SPGEMM_RENAMED : 0) |
                                  (plan->accumulator == FTB_ACC_HASH ? FTB_SPGEMM_HASH : 0)};
}

bool ftb_spgemm_choose(ftb_spgemm_plan *plan, const ftb_spgemm_facts *facts, const ftb_machine_facts *machine,
                       const ftb_choice *choice, ftb_origin origin)
{
    ftb_spgemm_plan made = *plan;
    made.forced &= ~made.chosen; /* by an earlier trial */
    made.chosen = 0;
    if (made.forced & FTB_SET_HOT && made.hot > 0 && !(choice->family & FTB_SPGEMM_RENAMED))
        return false; /* hot columns are named anew */
    if (!(made.forced & FTB_SET_RELABEL)) {
        made.relabel = choice->family & FTB_SPGEMM_RENAMED;
        made.chosen |= FTB_SET_RELABEL;
    }
    if (!(made.forced & FTB_SET_ACCUMULATOR) && choice->family & FTB_SPGEMM_HASH) {
        made.accumulator = FTB_ACC_HASH;
        made.chosen |= FTB_SET_ACCUMULATOR;
    }
    made.forced |= made.chosen;
    if (!ftb_rule_spgemm(&made, facts, machine) || ftb_spgemm_chosen(&made).family != choice->family)
        return false;
    made.origin = origin;
    *plan = made;
    return true;
}

/* ---- sparse x block */

ftb_choice ftb_spmm_chosen(const ftb_spmm_plan *plan)
{
    ftb_choice choice = {.family = (int32_t)plan->family, .segment = plan->segment, .tile = plan->tile};
    if (plan->family == FTB_SPMM_PARTITIONED) {
        choice.parts = plan->parts < FTB_MOST_PARTS ? plan->parts : FTB_MOST_PARTS;
        choice.ordered = plan->ordered;
    }
    return choice;
}

bool ftb_spmm_choose(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_machine_facts *machine,
                     const ftb_choice *choice, ftb_origin origin)
{
    ftb_spmm_plan made = *plan;
    ftb_spmm_asked *asked = &made.asked;
    const unsigned by_hand = asked->forced &= ~asked->chosen;
    if (!(asked->forced & FTB_SPMM_SET_KERNEL))
        asked->family = (ftb_spmm_family)choice->family;
    if (!(asked->forced & FTB_SPMM_SET_ORDERED) && choice->parts > 0) {
        asked->ordered = choice->ordered;
        asked->forced |= FTB_SPMM_SET_ORDERED;
    }
    asked->forced |= FTB_SPMM_SET_KERNEL;
    take(&asked->segment, choice->segment, FTB_MOST_SEGMENT, &asked->forced, FTB_SPMM_SET_SEGMENT);
    take(&asked->tile, choice->tile, INT64_MAX, &asked->forced, FTB_SPMM_SET_TILE);
    take(&asked->parts, choice->parts, FTB_MOST_PARTS, &asked->forced, FTB_SPMM_SET_PARTS);
    asked->chosen = asked->forced & ~by_hand;
    ftb_rule_spmm(&made, facts, machine);
    if (made.family != (ftb_spmm_family)choice->family)
        return false;
    made.origin = origin;
    if (origin != FTB_ORIGIN_MODEL)
        made.seconds = 1e-9 * (double)choice->nanoseconds;
    *plan = made;
    return true;
}

/* ---- the same on a GPU */

/* Ways of cuSPARSE's: this and the algorithm. */
enum { SPARSE = FTB_GPU_SPMM_SPARSE };

ftb_choice ftb_gpu_spmm_chosen(const ftb_gpu_spmm_plan *plan)
{
    if (plan->sparse)
        return (ftb_choice){.family = SPARSE + (int32_t)plan->algorithm};
    if (!plan->hybrid)
        return (ftb_choice){.family = FTB_SPMM_DIRECT};
    return (ftb_choice){.family = plan->tensor ? FTB_SPMM_TENSOR : FTB_SPMM_HYBRID,
                        .segment = plan->threshold,
                        .tile = plan->tile};
}

bool ftb_gpu_spmm_asked(const ftb_spmm_asked *asked)
{
    return asked->forced &
           (FTB_SPMM_SET_KERNEL | FTB_SPMM_SET_SEGMENT | FTB_SPMM_SET_THRESHOLD | FTB_SPMM_SET_ALGORITHM);
}

bool ftb_gpu_spmm_choose(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_choice *choice,
                         ftb_origin origin)
{
    ftb_spmm_plan made = *plan;
    ftb_spmm_asked *asked = &made.asked;
    const unsigned by_hand = asked->forced &= ~asked->chosen;
    const bool sparse = choice->family >= SPARSE;
    if (!(by_hand & FTB_SPMM_SET_KERNEL))
        asked->family = sparse ? FTB_SPMM_CUSPARSE : (ftb_spmm_family)choice->family;
    asked->forced |= FTB_SPMM_SET_KERNEL;
    if (sparse && !(by_hand & FTB_SPMM_SET_ALGORITHM)) {
        asked->algorithm = (ftb_gpu_sparse_algorithm)(choice->family - SPARSE);
        asked->forced |= FTB_SPMM_SET_ALGORITHM;
    }
    take(&asked->threshold, choice->segment, FTB_MOST_SEGMENT, &asked->forced, FTB_SPMM_SET_THRESHOLD);
    take(&asked->segment, choice->tile, FTB_MOST_SEGMENT, &asked->forced, FTB_SPMM_SET_SEGMENT);
    asked->chosen = asked->forced & ~by_hand;
    ftb_rule_gpu_spmm(&made.gpu, facts, &facts->gpu, asked);
    ftb_rule_gpu_tensor(&made.gpu, facts, &facts->gpu, asked);
    if (ftb_gpu_spmm_chosen(&made.gpu).family != choice->family)
        return false;
    made.gpu.origin = origin;
    if (origin != FTB_ORIGIN_MODEL)
        made.gpu.seconds = 1e-9 * (double)choice->nanoseconds;
    *plan = made;
    return true;
}

/* ---- over the entries of a pattern */

ftb_choice ftb_sddmm_chosen(const ftb_sddmm_plan *plan)
{
    return (ftb_choice){.family = (int32_t)ftb_sddmm_family_of(plan),
                        .segment = plan->segment,
                        .tile = plan->segment ? plan->tile : 0};
}

bool ftb_sddmm_choose(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const ftb_machine_facts *machine,
                      const ftb_choice *choice, ftb_origin origin)
{
    ftb_sddmm_plan made = *plan;
    ftb_sddmm_asked *asked = &made.asked;
    const unsigned by_hand = asked->forced &= ~asked->chosen;
    if (!(asked->forced & FTB_SDDMM_SET_KERNEL))
        asked->family = (ftb_sddmm_family)choice->family;
    asked->forced |= FTB_SDDMM_SET_KERNEL;
    take(&asked->segment, choice->segment, FTB_MOST_SEGMENT, &asked->forced, FTB_SDDMM_SET_SEGMENT);
    take(&asked->tile, choice->tile, INT64_MAX, &asked->forced, FTB_SDDMM_SET_TILE);
    asked->chosen = asked->forced & ~by_hand;
    ftb_rule_sddmm(&made, facts, machine);
    if (ftb_sddmm_family_of(&made) != (ftb_sddmm_family)choice->family)
        return false;
    asked->family = (ftb_sddmm_family)choice->family; /* where "fused" was asked for */
    made.origin = origin;
    if (origin != FTB_ORIGIN_MODEL)
        made.seconds = 1e-9 * (double)choice->nanoseconds;
    *plan = made;
    return true;
}

/* ---- the same on a GPU */

ftb_choice ftb_gpu_sddmm_chosen(const ftb_gpu_sddmm_plan *plan)
{
    return (ftb_choice){.family = plan->sparse ? FTB_SDDMM_CUSPARSE : FTB_SDDMM_ROWS};
}

bool ftb_gpu_sddmm_choose(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const ftb_choice *choice,
                          ftb_origin origin)
{
    ftb_sddmm_plan made = *plan;
    ftb_sddmm_asked *asked = &made.asked;
    const unsigned by_hand = asked->forced &= ~asked->chosen;
    if (!(by_hand & FTB_SDDMM_SET_KERNEL))
        asked->family = (ftb_sddmm_family)choice->family;
    asked->forced |= FTB_SDDMM_SET_KERNEL;
    asked->chosen = asked->forced & ~by_hand;
    ftb_rule_gpu_sddmm(&made.gpu, &facts->gpu, asked);
    if (ftb_gpu_sddmm_chosen(&made.gpu).family != choice->family)
        return false;
    made.gpu.origin = origin;
    if (origin != FTB_ORIGIN_MODEL)
        made.gpu.seconds = 1e-9 * (double)choice->nanoseconds;
    *plan = made;
    return true;
}
