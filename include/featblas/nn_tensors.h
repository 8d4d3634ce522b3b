/* Named tensors in safetensors files. Part of featblas_nn.h. */
#ifndef FEATBLAS_NN_TENSORS_H
#define FEATBLAS_NN_TENSORS_H

#ifndef FEATBLAS_H
#error "include <featblas.h> or <featblas_nn.h> first"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FtB_Tensors_opaque *FtB_Tensors; /**< tensors by name, and texts by key */

#define FTB_TENSOR_RANK 8 /**< most dimensions of a tensor */

/** Makes an empty set of tensors. @param[out] t the new set, NULL on failure.
 *  @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Tensors_new(FtB_Tensors *t);

/** Reads a safetensors file: all of it, in one piece. @param[out] t the new set, NULL on failure.
 *  @param path "-" is standard input; gzip is recognised by content.
 *  @return FTB_IO, FTB_FORMAT (the message names file and tensor), GrB_NULL_POINTER, GrB_OUT_OF_MEMORY,
 * FTB_LIMIT. Source: the safetensors format, https://github.com/huggingface/safetensors#format */
GrB_Info FtB_Tensors_read(FtB_Tensors *t, const char *path);

/** Writes a safetensors file, whole or not at all; the same tensors and texts give the same bytes. Tensors
 * are laid out by size of their dtype, larger ones first, then by name, so that all are aligned. @param t
 * any.
 *  @param path "-" is standard output. @return FTB_IO, GrB_NULL_POINTER, GrB_INVALID_VALUE (names and texts
 * of more than 100 MB), GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Tensors_write(FtB_Tensors t, const char *path);

/** How many tensors there are; 0 for NULL. @param t any or NULL. */
int64_t FtB_Tensors_count(FtB_Tensors t);

/** Name of a tensor, in the order of bytes; NULL outside. Valid until @p t is changed. @param t any.
 *  @param k 0 to count - 1. */
const char *FtB_Tensors_name(FtB_Tensors t, int64_t k);

/** The file that @p t was read from, for messages; "tensors" if none. @param t any. */
const char *FtB_Tensors_source(FtB_Tensors t);

/** A view of a tensor as a block: a vector of n is 1 x n, a number 1 x 1; of more than two dimensions, all
 * but the last become rows. Writing to it changes @p t; it stays valid after @p t is freed.
 *  @param[out] X the view, NULL on failure. @param t any. @param name of the tensor.
 *  @param[out] rank number of dimensions, 0 for a number; may be NULL. @param[out] shape dimensions, room for
 *  FTB_TENSOR_RANK; may be NULL.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE (no such tensor; the message names the file),
 * GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Tensors_get(FtB_Block *X, FtB_Tensors t, const char *name, int *rank, int64_t *shape);

/** Puts in a copy of a block's values, in place of a tensor of the same name. @param t changed.
 *  @param name UTF-8, copied. @param X any; its rows are stored without gaps.
 *  @param rank number of dimensions, at most FTB_TENSOR_RANK; -1: two, those of @p X.
 *  @param shape dimensions, as many values as @p X has; not read if @p rank is -1 or 0.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Tensors_set(FtB_Tensors t, const char *name, FtB_Block X, int rank, const int64_t *shape);

/** How many texts there are; 0 for NULL. @param t any or NULL. */
int64_t FtB_Tensors_text_count(FtB_Tensors t);

/** Key of a text, in the order of bytes; NULL outside. Valid until @p t is changed. @param t any.
 *  @param k 0 to count - 1. */
const char *FtB_Tensors_text_key(FtB_Tensors t, int64_t k);

/** A text (safetensors' __metadata__); NULL if there is none of that key. Valid until @p t is changed.
 *  @param t any. @param key of the text. */
const char *FtB_Tensors_get_text(FtB_Tensors t, const char *key);

/** Puts in a text, in place of one of the same key. @param t changed. @param key UTF-8, copied.
 *  @param value UTF-8, copied; NULL: removes the text.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Tensors_set_text(FtB_Tensors t, const char *key, const char *value);

/** Releases tensors. @param[in,out] t set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Tensors_free(FtB_Tensors *t);

#ifdef __cplusplus
}
#endif

#endif
