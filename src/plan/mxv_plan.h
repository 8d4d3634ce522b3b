/* How a product of a sparse matrix and a vector is done (rule_mxv.c). */
#ifndef FTB_MXV_PLAN_H
#define FTB_MXV_PLAN_H

#include "plan/choice.h"
#include "plan/machine.h"

#include <stdio.h>

/* Families of choices, too. PUSH and PULL give the same bits; ALL is another order of sums. */
typedef enum ftb_mxv_way {
    FTB_MXV_AUTO,
    FTB_MXV_PUSH, /* from the vector's entries, along the matrix's that they meet */
    FTB_MXV_PULL, /* over all of the matrix, of which what meets no entry is passed over */
    FTB_MXV_ALL   /* the vector has no gaps: a product with a block of one column */
} ftb_mxv_way;

/* Receivers are the places of the result, senders those of the vector. */
typedef struct ftb_mxv_facts {
    int64_t receivers, senders;
    int64_t whole[2]; /* of a matrix that lists its rows: so many there are in all; else 0 */
    int64_t nvals;    /* of the matrix */
    int64_t entries;  /* of the vector */
    int64_t edges;    /* of the matrix's entries those that meet one of the vector's */
    bool counted;     /* else that is what a vector like this meets in the mean */
    int64_t open;     /* receivers that a mask admits, more or less */
    int64_t listed;   /* those that a product of all rows is made for */
    int threads;
    bool all;                  /* the vector has no gaps */
    bool first;                /* a receiver's first message decides: nobody looks further */
    bool plain;                /* messages that loops know */
    bool far;                  /* a pull finds the entries' values all over the matrix */
    bool may_push;             /* words have room for a receiver and an edge */
    bool push_made, pull_made; /* the pattern that it walks is there; of the two one is the matrix's own */
    double missed;             /* nanoseconds that the other one would have saved so far */
    const char *form;          /* of the vector, for people */
} ftb_mxv_facts;

enum { FTB_MXV_SET_WAY = 1, FTB_MXV_SET_THREADS = 2 };

typedef struct ftb_mxv_plan {
    ftb_mxv_way way;
    int threads;
    double push_seconds, pull_seconds, seconds; /* predicted; of ALL 0: its own plan says */
    double missed; /* nanoseconds that a pattern would save that is not there, and did not pay yet */
    unsigned forced, chosen; /* bits of what was set; chosen: not by hand */
    ftb_mxv_way asked;
    int64_t asked_threads;
    ftb_origin origin;
} ftb_mxv_plan;

/* Fills plan; what was asked for is done where it can be. */
void ftb_rule_mxv(ftb_mxv_plan *plan, const ftb_mxv_facts *facts);
bool ftb_mxv_choose(ftb_mxv_plan *plan, const ftb_mxv_facts *facts, ftb_mxv_way way, ftb_origin origin);
void ftb_explain_mxv(const ftb_mxv_plan *plan, const ftb_mxv_facts *facts, const ftb_machine_facts *machine,
                     FILE *file);
/* By name. NULL if well, else what would have been. (mxv_keys.c) */
const char *ftb_mxv_plan_set(ftb_mxv_plan *plan, const char *key, const char *value);
bool ftb_mxv_plan_get(const ftb_mxv_plan *plan, const ftb_mxv_facts *facts, const char *key, double *value);

#endif
