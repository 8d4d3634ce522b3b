/* Zachary's karate club: friendships between its 34 members, in CSR, each twice, and whom they followed when
 * it split. W. W. Zachary, Journal of Anthropological Research 33, 1977; his numbers less one. */
#ifndef KARATE_H
#define KARATE_H

#include <stdint.h>

enum { KARATE = 34 };

static const int64_t karate_rowptr[] = {0,  16,  25,  35,  41,  44,  48,  52,  56,  61,  63, 66,
                                        67, 69,  74,  76,  78,  80,  82,  84,  87,  89,  91, 93,
                                        98, 101, 104, 106, 110, 113, 117, 121, 127, 139, 156};
static const int32_t karate_friends[] = {
    1,  2,  3,  4,  5,  6,  7,  8,  10, 11, 12, 13, 17, 19, 21, 31, 0,  2,  3,  7,  13, 17, 19, 21, 30, 0,
    1,  3,  7,  8,  9,  13, 27, 28, 32, 0,  1,  2,  7,  12, 13, 0,  6,  10, 0,  6,  10, 16, 0,  4,  5,  16,
    0,  1,  2,  3,  0,  2,  30, 32, 33, 2,  33, 0,  4,  5,  0,  0,  3,  0,  1,  2,  3,  33, 32, 33, 32, 33,
    5,  6,  0,  1,  32, 33, 0,  1,  33, 32, 33, 0,  1,  32, 33, 25, 27, 29, 32, 33, 25, 27, 31, 23, 24, 31,
    29, 33, 2,  23, 24, 33, 2,  31, 33, 23, 26, 32, 33, 1,  8,  32, 33, 0,  24, 25, 28, 32, 33, 2,  8,  14,
    15, 18, 20, 22, 23, 29, 30, 31, 33, 8,  9,  13, 14, 15, 18, 19, 20, 22, 23, 26, 27, 28, 29, 30, 31, 32};
/* 0: followed the instructor, member 0; 1: stayed with the president, member 33. */
static const int32_t karate_club[KARATE] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0,
                                            0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

#endif
