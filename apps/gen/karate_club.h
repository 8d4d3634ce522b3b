/* Zachary's karate club: friendships between its 34 members, and whom they followed when it split (W. W.
 * Zachary, "An information flow model for conflict and fission in small groups", Journal of Anthropological
 * Research 33, 1977). Numbers are Zachary's less one. */
#ifndef KARATE_H
#define KARATE_H

#include <stdint.h>

enum { KARATE_MEMBERS = 34, KARATE_NVALS = 156 };
enum { KARATE_INSTRUCTOR = 0, KARATE_OFFICER = 33 }; /* the two who fell out: Mr. Hi, and John A. */

extern const int64_t karate_rowptr[KARATE_MEMBERS + 1];
extern const int32_t karate_colidx[KARATE_NVALS]; /* every friendship twice */
extern const int32_t karate_club[KARATE_MEMBERS]; /* 0: joined the instructor's new club, 1: stayed */

#endif
