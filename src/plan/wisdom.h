/* What was measured, remembered in the context: the costs that FtB_Wisdom_calibrate found, and what
 * FTB_MEASURE found, for each case the fastest choice. A case is an operation with all numbers that its plan
 * depends on, on one machine; memory limits are none of them, since what does not fit is not chosen. */
#ifndef FTB_PLAN_WISDOM_H
#define FTB_PLAN_WISDOM_H

#include "core/core.h"
#include "plan/kinds.h"

#define FTB_WISDOM_MACHINE 4
#define FTB_WISDOM_MOST 1024 /* cases of a context; then the oldest are forgotten */

/* Compared as bytes: without padding, and zeros where an operation has fewer facts. */
typedef struct ftb_wisdom_case {
    int32_t kind, isa;                   /* kind: ftb_plan_kind */
    int64_t machine[FTB_WISDOM_MACHINE]; /* cores, l1, l2, l3 */
    char kernel[32];
    int64_t fact[FTB_CASE_FACTS]; /* named in the kind's row */
    uint64_t degrees;             /* a hash of the degrees' histogram */
} ftb_wisdom_case;

typedef struct ftb_wisdom_entry {
    ftb_wisdom_case when;
    ftb_choice choice;
} ftb_wisdom_entry;

/* ---- plans (wisdom.c) */

/* The case of a product, here. */
void ftb_wisdom_of(ftb_wisdom_case *when, ftb_plan_kind kind, const ftb_any_facts *facts);
/* Whether there is anything to look up: describing a case takes longer than a small product. */
bool ftb_wisdom_any(FtB_Context ctx);
/* Makes a plan of which nothing is forced by the case's choice. False: it is not known, or does not fit the
 * memory that is left, and nothing was done. */
bool ftb_wisdom_plan(ftb_any_plan *plan, ftb_plan_kind kind, const ftb_any_facts *facts, FtB_Context ctx);

/* This machine, with the costs that the context has of it (NULL: the engaged one). */
ftb_machine_facts ftb_wisdom_machine(FtB_Context ctx);

/* ---- all of it (wisdom.c) */

/* All of it, as listed and as text. */
typedef struct ftb_wisdom_text {
    ftb_wisdom_entry *entries; /* reading: room for FTB_WISDOM_MOST */
    int64_t count;
    bool calibrated;
    ftb_costs costs;
} ftb_wisdom_text;
/* Adds `count` cases and, unless NULL, the costs, or nothing: GrB_OUT_OF_MEMORY or FTB_LIMIT. The same case
 * again takes the place of what was known of it. */
GrB_Info ftb_wisdom_add(FtB_Context ctx, const ftb_wisdom_entry *entries, int64_t count,
                        const ftb_costs *costs);
/* A copy of this machine's cases, oldest first, and of its costs; entries to be ftb_delete()d. */
GrB_Info ftb_wisdom_list(ftb_wisdom_text *all, FtB_Context ctx);
void ftb_wisdom_forget(FtB_Context ctx);
/* kind, isa and machine of a case here. */
void ftb_wisdom_here(ftb_wisdom_case *when, ftb_plan_kind kind);

/* ---- as text (wisdom_text.c) */

#define FTB_WISDOM_LINE 1536 /* bytes of a line, at most */
/* The header's two lines, the line of costs, one case, the last line: bytes written, without the final NUL.
 */
int ftb_wisdom_print_head(char *to, size_t room);
int ftb_wisdom_print_costs(char *to, size_t room, const ftb_costs *costs);
int ftb_wisdom_print(char *to, size_t room, const ftb_wisdom_entry *entry);
int ftb_wisdom_print_tail(char *to, size_t room, int64_t count);
/* Where a text is wrong. */
typedef struct ftb_wisdom_fault {
    int64_t line, column; /* from 1 */
    const char *expected; /* NULL: another machine's */
} ftb_wisdom_fault;
/* Reads a whole text of `size` bytes. False: see fault. */
bool ftb_wisdom_read(ftb_wisdom_text *read, const char *text, int64_t size, ftb_wisdom_fault *fault);

#endif
