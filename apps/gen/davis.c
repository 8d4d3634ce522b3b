/* Women and the events that they went to: Davis, Gardner, Gardner, "Deep South", 1941 (davis.h). */
#include "gen/davis.h"

/* First names: no two are alike. */
const char *const davis_women[DAVIS_WOMEN] = {
    "Evelyn", "Laura", "Theresa",   "Brenda", "Charlotte", "Frances", "Eleanor", "Pearl",  "Ruth",
    "Verne",  "Myra",  "Katherina", "Sylvia", "Nora",      "Helen",   "Dorothy", "Olivia", "Flora"};

const char *const davis_events[DAVIS_EVENTS] = {"E1", "E2", "E3",  "E4",  "E5",  "E6",  "E7",
                                                "E8", "E9", "E10", "E11", "E12", "E13", "E14"};

const int64_t davis_rowptr[DAVIS_WOMEN + 1] = {0,  8,  15, 23, 30, 34, 38, 42, 45, 49,
                                               53, 57, 63, 70, 78, 83, 85, 87, 89};

/* clang-format off: a line a woman */
const int32_t davis_colidx[DAVIS_NVALS] = {
    0, 1,  2, 3,  4,  5,  7,  8,  /* Evelyn Jefferson */
    0, 1,  2, 4,  5,  6,  7,      /* Laura Mandeville */
    1, 2,  3, 4,  5,  6,  7,  8,  /* Theresa Anderson */
    0, 2,  3, 4,  5,  6,  7,      /* Brenda Rogers */
    2, 3,  4, 6,                  /* Charlotte McDowd */
    2, 4,  5, 7,                  /* Frances Anderson */
    4, 5,  6, 7,                  /* Eleanor Nye */
    5, 7,  8,                     /* Pearl Oglethorpe */
    4, 6,  7, 8,                  /* Ruth DeSand */
    6, 7,  8, 11,                 /* Verne Sanderson */
    7, 8,  9, 11,                 /* Myra Liddel */
    7, 8,  9, 11, 12, 13,         /* Katherina Rogers */
    6, 7,  8, 9,  11, 12, 13,     /* Sylvia Avondale */
    5, 6,  8, 9,  10, 11, 12, 13, /* Nora Fayette */
    6, 7,  9, 10, 11,             /* Helen Lloyd */
    7, 8,                         /* Dorothy Murchison */
    8, 10,                        /* Olivia Carleton */
    8, 10,                        /* Flora Price */
};
