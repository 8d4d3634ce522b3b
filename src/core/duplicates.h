/* Entries at one position that become one, and what goes wrong with them. */
#ifndef FTB_DUPLICATES_H
#define FTB_DUPLICATES_H

#include "core/core.h"

/* What is wrong with duplicates. */
typedef struct ftb_clash {
    bool refused;        /* they are, by rule error */
    int64_t first, last; /* two of those */
    bool beyond;         /* a sum or a count is beyond the type */
} ftb_clash;

/* As FtB_Matrix_build. With clash (zeroed; NULL: not wanted) also sums and counts beyond the type are
 * refused. (build.c) */
GrB_Info ftb_build_strictly(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                            int64_t nvals, const int64_t *I, const int64_t *J, const void *X, FtB_Dup dup,
                            int64_t *perm, ftb_clash *clash);

/* Merges the entries at base + (at[t] & mask) * stride, t < count, each of `width` values of `type`, into
 * one, in this order. rule: any but FTB_DUP_ERROR and FTB_DUP_KEEP. Returns false where a sum of finite
 * values or a count is beyond the type, which then has it wrapped, rounded or infinite. */
bool ftb_merge_entries(void *out, FtB_Type type, int64_t width, FtB_Dup rule, const void *base, size_t stride,
                       const uint64_t *at, uint64_t mask, int64_t count);

#endif
