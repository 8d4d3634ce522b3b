/* Insides of a set of named tensors. */
#ifndef FTB_NN_TENSORS_H
#define FTB_NN_TENSORS_H

#include "core/core.h"
#include "featblas/nn_tensors.h"

#define FTB_MAGIC_TENSORS 0x4654424e

typedef struct ftb_tensor {
    char *name; /* first, like the key of a text: both are searched for by it */
    FtB_Type type;
    int rank;
    int64_t shape[FTB_TENSOR_RANK];
    int64_t at, bytes; /* in a file's data; `at` only while one is read */
    ftb_buffer *owner; /* of `data`; of a file's tensors together */
    void *data;
} ftb_tensor;

typedef struct ftb_tensor_text {
    char *key, *value;
} ftb_tensor_text;

struct FtB_Tensors_opaque {
    uint32_t magic;
    FtB_Context ctx;
    char *source;        /* the file's name; NULL: none */
    int64_t count, room; /* of `tensors`, which ascend by name */
    ftb_tensor *tensors;
    int64_t ntexts, text_room; /* of `texts`, which ascend by key */
    ftb_tensor_text *texts;
};

GrB_Info ftb_tensors_check(FtB_Tensors t);
GrB_Info ftb_tensors_make(FtB_Tensors *t, FtB_Context ctx, const char *source); /* source: NULL, or copied */
/* Room for one more of `size` bytes in an array that grows by doubling. */
bool ftb_tensors_grow(FtB_Context ctx, void **array, int64_t count, int64_t *room, size_t size);
/* Values of a shape; -1: more than can be addressed. */
int64_t ftb_tensor_values(int rank, const int64_t *shape);

#endif
