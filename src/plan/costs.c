/* The tables of costs, by place. */
#include "plan/costs.h"

#include "core/isa.h"

typedef struct cost {
    const char *name;
    double unit, value[3]; /* by instruction set */
} cost;

#define ROW(name, unit, baseline, avx2, avx512)                                                              \
    {#name,                                                                                                  \
     FTB_COST_##unit,                                                                                        \
     {[FTB_ISA_BASELINE] = (baseline), [FTB_ISA_AVX2] = (avx2), [FTB_ISA_AVX512] = (avx512)}},
static const cost table[] = {FTB_COSTS(ROW)};

void ftb_costs_near_l3(ftb_costs *costs)
{
#define NEAR(name, unit, value) costs->name = FTB_COST_##unit * (value);
    FTB_NEAR_L3_COSTS(NEAR)
#undef NEAR
}

_Static_assert(sizeof(ftb_costs) == sizeof table / sizeof *table * sizeof(double), "costs have places");

double *ftb_cost_at(ftb_costs *costs, int place) { return (double *)costs + place; }

const char *ftb_cost_name(int place) { return table[place].name; }

double ftb_cost_unit(int place) { return table[place].unit; }

ftb_costs ftb_costs_of(int isa)
{
    ftb_costs costs;
    for (int c = 0; c < FTB_NCOSTS; c++)
        *ftb_cost_at(&costs, c) = table[c].unit * table[c].value[isa];
    return costs;
}
