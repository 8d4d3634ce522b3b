/* Which call of a driver fails (fake_fails.c). */
#ifndef FAKE_FAILS_H
#define FAKE_FAILS_H

int fake_number(const char *name, int without); /* from the environment */
unsigned fake_fails(const char *call);          /* the error of a call; 0: it does not fail */

#endif
