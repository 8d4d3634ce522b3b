/* What tests of sparse x sparse products on a GPU that does not exist share: how large the GPU is said to be,
 * and matrices. */
#ifndef TESTS_GPU_SPGEMM_H
#define TESTS_GPU_SPGEMM_H

#include "featblas.h"

#include "support/beside.h"
#include "support/rng.h"

/* The fake GPU as it is, and what makes many chunks and tiles of small rows. */
typedef struct gpu_size {
    const char *name;
    int64_t shared, memory; /* 0: as it is */
} gpu_size;
extern const gpu_size as_it_is, of_tiles, of_chunks, tiny;
void gpu_use(const gpu_size *g);
void gpu_place(const char *device);

/* `kind` of values: reals, whole numbers from 1 to 5, or none. */
enum { REALS, RATINGS, NONE };
/* Rows without entries, with few, and some with many; columns are skewed. */
FtB_Matrix gpu_matrix(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int kind);
/* Rows of at most so many entries, reals, of many columns. */
FtB_Matrix gpu_scattered(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int64_t degree);

/* A projection: its options' epilogue and filter are what they are. */
typedef struct projection {
    const char *weight;
    FtB_Type type;
    int kind;
    FtB_Type out;
    int64_t width;
    bool there; /* the GPU has it */
    const char *epilogue, *where;
} projection;
/* Projects R on a device; the result is at home. */
FtB_Matrix gpu_project(const projection *p, FtB_Matrix R, const FtB_Project_options *o, const char *device);
/* The same on both: the bits are the host's, and it ran where it should (`surely`). Returns the result. */
FtB_Matrix gpu_projects_as_host(const projection *p, FtB_Matrix R, const FtB_Project_options *o,
                                const gpu_size *g, bool surely);
/* C = A B by a text, on both. */
void gpu_multiplies_as_host(const char *text, FtB_Type out, FtB_Matrix A, FtB_Matrix B, FtB_Arg how,
                            bool there);

#endif
