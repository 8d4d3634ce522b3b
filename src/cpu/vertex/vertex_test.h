/* Whether a vertex is settled by a comparison of a field with a number. */
#ifndef FTB_VERTEX_TEST_H
#define FTB_VERTEX_TEST_H

#include "cpu/vertex/vertex_work.h"

#define FTB_VERTEX_OPEN_WORDS 1024 /* of bits, that a thread makes in one go */

/* x: the field. type: the test's, a constant where loops should be made for each. */
static inline __attribute__((always_inline)) bool ftb_vertex_shut(const ftb_vertex_test *test, FtB_Type type,
                                                                  const void *x, int64_t v)
{
    const int64_t at = v * test->ld;
    bool in;
    if (type == FTB_INT32) {
        const int32_t value = ((const int32_t *)x)[at];
        in = value >= test->least && value <= test->most;
    } else if (type == FTB_INT64) {
        const int64_t value = ((const int64_t *)x)[at];
        in = value >= test->least && value <= test->most;
    } else {
        const double value = type == FTB_FP32 ? (double)((const float *)x)[at] : ((const double *)x)[at];
        in = value >= test->low && value <= test->high;
    }
    return in != test->beyond;
}

#endif
