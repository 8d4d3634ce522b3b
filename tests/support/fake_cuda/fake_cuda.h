/* What the files of the fake driver share (fake_cuda.c). */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "gpu/driver.h"

#define DECLARE(name, arguments) unsigned name arguments;
FTB_CUDA_CALLS(DECLARE)
#undef DECLARE

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    ILLEGAL_ADDRESS = 700,
    UNKNOWN = 999
};

enum { DEVICES = 1000 }; /* the handle of the first: handles are no ordinals */

int fake_number(const char *name, int without); /* from the environment */
/* What a call fails with before it does anything, and OK else. `ready`: after cuInit only. */
unsigned fake_begin(const char *call);
unsigned fake_begin_ready(const char *call);

/* For tests, which find these by dlsym. */
int fake_cuda_inits(void);          /* calls of cuInit so far */
int fake_cuda_live(void);           /* pieces of device memory that are allocated */
int fake_cuda_pending(void);        /* copies that are not done yet */
const char *fake_cuda_misuse(void); /* what was done that must not be, the first of it; NULL: nothing */
void fake_cuda_calm(void);          /* forgets an error that sticks */

#endif
