/* npz archives, made by hand. */
#ifndef TESTS_NPZ_H
#define TESTS_NPZ_H

#include <stdbool.h>
#include <stddef.h>

typedef struct member {
    const char *name, *header; /* the dictionary */
    const void *data;
    size_t bytes;
    int version; /* of the .npy header */
} member;

/* Up to 8 members. */
void make_npz(const char *name, const member *members, int count, bool deflated);

#define HEAD(dtype, shape) "{'descr': '" dtype "', 'fortran_order': False, 'shape': " shape ", }"

#endif
