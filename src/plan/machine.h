/* Facts about the machine that plans depend on. */
#ifndef FTB_PLAN_MACHINE_H
#define FTB_PLAN_MACHINE_H

#include "plan/costs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A GPU, as far as plans depend on it. */
typedef struct ftb_gpu_facts {
    int multiprocessors;         /* 0: there is none */
    int64_t l2, memory;          /* bytes */
    int64_t shared;              /* bytes of shared memory that a block may have; 0: not known */
    double clock;                /* of a multiprocessor, a second */
    double l2_rate, memory_rate; /* bytes a second that all of them read together; L2's 0: not known */
} ftb_gpu_facts;

typedef struct ftb_machine_facts {
    int cores;
    int64_t l1, l2, l3; /* data cache bytes that one core can use */
    int64_t memory;     /* bytes of RAM */
    int near_l3;        /* 1: L3 is of a few cores, and runs with them; 0: of a whole socket, or not known */
    /* Bytes a second that one core reads from each in order; 0: not measured. */
    double l1_rate, l2_rate, l3_rate, memory_rate;
    ftb_gpu_facts gpu; /* of a description alone: of one that is there its device knows (gpu/device.h) */
    bool calibrated;   /* costs: measured; else those of the table for the instruction set in use */
    ftb_costs costs;
} ftb_machine_facts;

/* The costs that the rules count with: as calibrated, or else of the tables, where rates that were measured
 * stand for those of reading in order. */
ftb_costs ftb_machine_costs(const ftb_machine_facts *machine);
ftb_costs ftb_machine_costs_of(const ftb_machine_facts *machine, int isa); /* of kernels of that */

/* Read once per process (sysconf, then hwloc where that knows nothing); FEATBLAS_L2=bytes overrides. Without
 * rates. */
const ftb_machine_facts *ftb_machine_here(void);
/* The same with rates, measured on first use, which takes about 0.1 s. */
const ftb_machine_facts *ftb_machine_measured(void);
/* The machine that plans are made for where bits must not depend on this one's caches (its figures are part
 * of the bits): few have less. */
const ftb_machine_facts *ftb_machine_standard(void);
/* What of L3 a core gets: a system may say more. */
double ftb_machine_l3(const ftb_machine_facts *machine);
/* What the first two functions return from now on; NULL: this machine again. Copied. For tests, and for plans
 * of machines that are not there; not while plans are made. */
void ftb_machine_force(const ftb_machine_facts *facts);

/* A description as text: lines "name = number" with the names above, sizes with K, M, G (powers of 1024),
 * rates in GB/s (10^9); # begins a comment. Names that are not given keep what *facts holds. False where it
 * is wrong, with the line's number (0: the facts as a whole) and what is wrong. */
bool ftb_machine_read(ftb_machine_facts *facts, FILE *file, int *line, const char **wrong);
void ftb_machine_write(const ftb_machine_facts *facts, FILE *file);
/* "2 cores, L1 48 KiB, L2 2048 KiB, L3 33 MiB; one core reads 165 GB/s from L2", without a newline, for
 * plans. */
void ftb_machine_print(const ftb_machine_facts *facts, FILE *file);

#endif
