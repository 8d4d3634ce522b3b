/* What every test file includes first. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "featblas.h"

/* The first value of a block, or of a matrix (NULL: it has none), as any caller gets it. */
static inline void *block_values(FtB_Block X)
{
    void *values = NULL;
    return FtB_Block_shape(X, NULL, NULL, NULL, NULL, &values) == GrB_SUCCESS ? values : NULL;
}
static inline void *matrix_values(FtB_Matrix A)
{
    const void *values = NULL;
    return FtB_Matrix_csr(A, NULL, NULL, &values) == GrB_SUCCESS ? (void *)(uintptr_t)values : NULL;
}

/* The call must succeed; else the test fails with the library's message. */
#define assert_ok(call)                                                                                      \
    do {                                                                                                     \
        GrB_Info assert_ok_info = (call);                                                                    \
        if (assert_ok_info != GrB_SUCCESS)                                                                   \
            fail_msg("%s: %d, %s", #call, (int)assert_ok_info, FtB_error());                                 \
    } while (0)

/* The call must fail with `code`, and the message contain `text`. */
#define assert_fails(code, text, call)                                                                       \
    do {                                                                                                     \
        GrB_Info assert_fails_info = (call);                                                                 \
        if (assert_fails_info != (code) || !strstr(FtB_error(), (text)))                                     \
            fail_msg("%s: %d, \"%s\"; expected %d, \"...%s...\"", #call, (int)assert_fails_info,             \
                     FtB_error(), (int)(code), (text));                                                      \
    } while (0)

#endif
