/* Facts about the machine that plans depend on. */
#ifndef FTB_PLAN_MACHINE_H
#define FTB_PLAN_MACHINE_H

#include <stdint.h>

typedef struct ftb_machine_facts {
    int cores;
    int64_t l1, l2, l3; /* data cache bytes that one core can use */
    int64_t memory;     /* bytes of RAM */
} ftb_machine_facts;

/* Read once per process (sysconf, then hwloc where that knows nothing); FEATBLAS_L2=bytes overrides. */
const ftb_machine_facts *ftb_machine_here(void);

#endif
