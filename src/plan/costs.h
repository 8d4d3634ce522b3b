/* The constants of the cost models: what an entry, a visit, a row and a byte from each cache cost one thread,
 * in one table per instruction set, and one for reading where L3 is near. rule_spmm.c, rule_sddmm.c,
 * rule_attention.c and rule_spgemm.c read them; FtB_Wisdom_calibrate fits them to the machine at hand, and
 * wisdom keeps what it finds. */
#ifndef FTB_PLAN_COSTS_H
#define FTB_PLAN_COSTS_H

/* Units of the table and of texts; within, costs are in seconds, bytes a second, or plain. */
#define FTB_COST_RATE 1e9  /* GB/s */
#define FTB_COST_TIME 1e-9 /* nanoseconds */
#define FTB_COST_PLAIN 1

/* COST(name, unit, baseline, AVX2, AVX-512) */
/* clang-format off */
#define FTB_COSTS(COST) \
    /* reading in order, where the machine's rates were not measured */ \
    COST(l2_read,        RATE,  120,  120,  120)   \
    COST(l3_read,        RATE,  50,   100,  50)    \
    COST(memory_read,    RATE,  16,   22,   18)    \
    /* sparse x block */ \
    COST(near_gather,    PLAIN, 1.1,  1.7,  0.9)   /* of L2's rate in order: rows from anywhere in it */ \
    COST(far_gather,     PLAIN, 0.53, 0.43, 0.54)  /* the same of L3, with prefetch */ \
    COST(far_bytes,      PLAIN, 220,  220,  220)   /* bytes that a row from memory costs beside its own */ \
    COST(far_row,        TIME,  4,    4,    4)     /* a row of a segment that is not in L2, beside its bytes */ \
    COST(chain,          TIME,  0.59, 0.31, 0.76)  /* an addition that waits for the one before */ \
    COST(entry,          TIME,  0.85, 1.2,  0.79)  /* a direct entry beside its bytes */ \
    COST(vector_entry,   TIME,  0.38, 0.35, 0.38)  /* an entry of a sum over one feature */ \
    COST(ordered_entry,  TIME,  0.15, 0.15, 0.15)  /* the same in the order of the entries, beside its source */ \
    COST(ordered_row,    TIME,  3,    3,    3)     /* a row of these */ \
    COST(slice_entry,    TIME,  0.1,  0.1,  0.1)   /* an entry of a slice, beside its word and its source */ \
    COST(slice_byte,     TIME,  0.03, 0.03, 0.03)  /* a byte of the features that are added there */ \
    COST(slice_line,     PLAIN, 0.6,  0.6,  0.6)   /* how much of reading sources in order is seen beside */ \
    COST(slice_build,    TIME,  3.2,  3.2,  3.2)   /* an entry that is sorted into its slice */ \
    COST(row,            TIME,  10,   17,   7.9)   /* a direct row: its end is not foreseen */ \
    COST(visit_entry,    TIME,  0.065, 0.021, 0.071) /* an entry of a visit beside its bytes */ \
    COST(visit,          TIME,  4,    6.4,  3.3)   /* a visit beside the tile's row */ \
    COST(stride,         TIME,  15,   29,   11)    /* a part of a row, where a tile takes no whole rows */ \
    COST(line,           TIME,  7.8,  7.7,  8.2)   /* a line of edge values that the visits before do not lead to */ \
    COST(far_line,       TIME,  65,   170,  31)    /* the same, where the part's rows come from memory, too */ \
    COST(first_line,     TIME,  7.8,  7.7,  8.2)   /* a line of them that comes from memory, for the first time */ \
    COST(order_line,     TIME,  18,   21,   20)    /* the same, while nothing but copying goes on */ \
    COST(build_entry,    TIME,  1.3,  0.44, 1.5)   /* an entry that is partitioned */ \
    COST(build_visit,    TIME,  21,   23,   19)    /* a visit that is written down */ \
    COST(program_value,  TIME,  0.5,  0.5,  0.5)   /* a value of a message without kernel */ \
    /* dot products on edges: rows of sources from anywhere in ... */ \
    COST(dot_l2,         RATE,  110,  120,  120)   \
    COST(dot_l3,         RATE,  60,   90,   90)    \
    COST(dot_far_row,    TIME,  6,    6,    6)     /* a row that is not in L2, beside its bytes */ \
    COST(dot_memory,     RATE,  8.8,  9.8,  9.6)   \
    COST(near_rows,      RATE,  37,   46,   38)    /* rows in order, with gaps, all of which stay in L3 */ \
    COST(far_rows,       RATE,  12,   12,   14)    /* the same, from memory */ \
    COST(dot_entry,      TIME,  1.6,  2.7,  1.6)   /* an entry beside its bytes */ \
    COST(dot_head,       TIME,  0.47, 0.22, 0.38)  /* a further head of an entry */ \
    COST(dot_visit,      TIME,  3.3,  36,   15)    /* a visit beside its bytes */ \
    /* attention: the same, and what it costs beside */ \
    COST(walk_l2,        RATE,  82,   75,   88)    \
    COST(walk_l3,        RATE,  18,   28,   28)    \
    COST(walk_memory,    RATE,  8.6,  9.1,  8.6)   \
    COST(head_visit,     TIME,  39,   19,   70)    /* a visit of one head, beside its steps of sixteen entries */ \
    COST(head_step,      TIME,  31,   26,   44)    /* such a step, beside its features */ \
    COST(head_feature,   TIME,  1.2,  1.6,  0.92)  /* a feature of a step */ \
    COST(head_moved,     PLAIN, 1,    1,    1)     /* how much of moving bytes is seen beside, of several heads */ \
    COST(any_visit,      TIME,  100,  100,  100)   /* a visit and head where all heads are walked at once */ \
    COST(any_entry,      TIME,  7,    7,    7)     /* an entry and head there */ \
    COST(program_score,  TIME,  12,   12,   12)    /* more, where a program makes the score */ \
    COST(together_visit, TIME,  21,   16,   11)    /* four heads together, where all rows are visited */ \
    COST(together_step,  TIME,  18,   19,   29)    /* sixteen scores of theirs */ \
    COST(together_row,   TIME,  150,  250,  120)   /* a row and head: state begun and ended, sources packed */ \
    COST(together_moved, PLAIN, 0.001, 0.001, 0.001) /* how much of reading sources is seen beside */ \
    COST(state,          RATE,  7,    6.1,  5.7)   /* rows' state: zeroed, walked, finished */ \
    COST(softmax_entry,  TIME,  1.9,  1.6,  1.6)   /* in steps: an entry and head */ \
    COST(softmax_row,    TIME,  120,  220,  150)   \
    COST(staged_score,   TIME,  8,    8,    8)     /* in steps: a score that a program makes in large batches */ \
    /* sparse x sparse */ \
    COST(products,       PLAIN, 1,    1,    1)     /* times the seconds that rule_spgemm.c predicts */

/* COST(name, unit, any): reading, where L3 is near: rows come from it nearly as fast as from L2. Fitted on Zen 5, 1 MB of
   L2, alike under AVX2 and AVX-512; the table above is of processors with one L3 for a socket. */
#define FTB_NEAR_L3_COSTS(COST) \
    COST(l2_read,        RATE,  165)  \
    COST(near_gather,    PLAIN, 0.92) \
    COST(l3_read,        RATE,  110)  \
    COST(far_gather,     PLAIN, 0.84) \
    COST(far_bytes,      PLAIN, 80)   \
    COST(far_row,        TIME,  0.35) \
    COST(memory_read,    RATE,  38)   \
    COST(line,           TIME,  4.5)  \
    COST(far_line,       TIME,  19)   \
    COST(first_line,     TIME,  24)   \
    COST(dot_l3,         RATE,  105)  \
    COST(dot_far_row,    TIME,  0.2)  \
    COST(dot_memory,     RATE,  32)   \
    COST(near_rows,      RATE,  95)   \
    COST(far_rows,       RATE,  27)   \
    COST(walk_memory,    RATE,  15)   \
    COST(head_moved,     PLAIN, 0.3)  \
    COST(together_moved, PLAIN, 0.25) \
    COST(products,       PLAIN, 0.6)
/* clang-format on */

typedef struct ftb_costs {
#define FTB_COST_FIELD(name, unit, baseline, avx2, avx512) double name;
    FTB_COSTS(FTB_COST_FIELD)
#undef FTB_COST_FIELD
} ftb_costs;

#define FTB_NCOSTS (int)(sizeof(ftb_costs) / sizeof(double))

/* Of the table; isa: FTB_ISA_BASELINE ... */
ftb_costs ftb_costs_of(int isa);
/* What a near L3 changes of them. */
void ftb_costs_near_l3(ftb_costs *costs);
/* By place, 0 .. FTB_NCOSTS - 1: the cost itself, its name, and what its number in a text is times. */
double *ftb_cost_at(ftb_costs *costs, int place);
const char *ftb_cost_name(int place);
double ftb_cost_unit(int place);

#endif
