/* Headers of .npy arrays (NEP 1), the members of an npz file. */
#ifndef FTB_NPY_H
#define FTB_NPY_H

#include "core/core.h"

#define FTB_NPY_HEAD 128 /* bytes of the headers we write */

typedef struct ftb_npy {
    char kind;    /* of the dtype: b, i, u, f, S, U, ... */
    int size;     /* bytes of an item; of a character for U */
    int length;   /* characters of S and U */
    bool swapped; /* of the other byte order */
    bool fortran; /* columns one after another */
    int ndim;
    int64_t shape[2];
} ftb_npy;

/* Reads the header with read(arg, bytes, count), which reports errors; *size: bytes of it. */
GrB_Info ftb_npy_read_head(ftb_npy *h, int64_t *size, FtB_Context ctx,
                           GrB_Info (*read)(void *arg, void *bytes, int64_t count), void *arg,
                           const char *file, const char *member);
/* Turns items of `size` bytes round. */
void ftb_npy_swap(void *data, int64_t count, int size);
/* Parses the dictionary of a header; GrB_SUCCESS or FTB_FORMAT, "file: member: ...". */
GrB_Info ftb_npy_parse(ftb_npy *h, const char *text, const char *file, const char *member);
/* Our type for the dtype; 0: none. */
FtB_Type ftb_npy_type(const ftb_npy *h);
/* The dtype as people know it, "complex64" or "U3"; room for 32 characters. Returns the buffer. */
char *ftb_npy_name(char *buffer, const ftb_npy *h);
/* Writes FTB_NPY_HEAD bytes. dtype: such as "f8"; shape: such as "(3,)". */
void ftb_npy_head(char *out, const char *dtype, const char *shape);
const char *ftb_npy_dtype(FtB_Type type); /* NULL: numpy has no such dtype */
char ftb_npy_order(void);                 /* '<' or '>', this machine's */

#endif
