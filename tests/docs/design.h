/* What docs/design.md's calls take for granted. */
#include "common.h"

static FtB_Matrix C, M, A, B, R;
static const char *accum = "x + y", *semiring = "plus : a * b", *weight = "count";
static FtB_Descriptor desc;
static const FtB_Project_options *options;

static void before(void) {}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
