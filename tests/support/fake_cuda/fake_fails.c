/* Which call of a driver fails, as the environment says (fake_cuda.c): of one that does not exist, and of a
 * real one (support/real_gpu.c). */
#include "fake_fails.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fake_number(const char *name, int without)
{
    const char *text = getenv(name);
    return text ? atoi(text) : without;
}

/* Whether this is the call that fails: any, or the n-th from now on. */
static int is_turn(void)
{
    const int left = fake_number("FAKE_CUDA_AT", 0);
    char text[16];
    if (left <= 1) {
        if (left == 1) {
            unsetenv("FAKE_CUDA_AT");
            unsetenv("FAKE_CUDA_FAILS");
        }
        return 1;
    }
    snprintf(text, sizeof text, "%d", left - 1);
    setenv("FAKE_CUDA_AT", text, 1);
    return 0;
}

unsigned fake_fails(const char *call)
{
    const unsigned unknown = 999; /* CUDA_ERROR_UNKNOWN */
    const char *fails = getenv("FAKE_CUDA_FAILS");
    const size_t length = strlen(call);
    if (!fails || strncmp(fails, call, length) != 0 || (fails[length] && fails[length] != '='))
        return 0;
    const unsigned error = fails[length] ? (unsigned)atoi(fails + length + 1) : unknown;
    return is_turn() ? error : 0;
}
