/* What kernels call, behind CUDA's names (simt_cuda.h). All of it stands in objects that are not
 * instrumented. */
#ifndef SIMT_CALLS_H
#define SIMT_CALLS_H

#include "simt.h"

#include <cstddef>
#include <cstdint>

struct uint3 {
    unsigned x, y, z;
};

/* Where in a kernel's source a call stands: compilers copy and merge calls, so that an address would not say.
 */
struct simt_site {
    const char *file;
    int line;
};

enum simt_call : int {
    SIMT_SHUFFLE_INDEX,
    SIMT_SHUFFLE_UP,
    SIMT_SHUFFLE_DOWN,
    SIMT_SHUFFLE_XOR,
    SIMT_SYNCWARP,
    SIMT_BALLOT,
    SIMT_ALL,
    SIMT_MATCH_ANY,
    SIMT_REDUCE_ADD,
    SIMT_REDUCE_MIN,
    SIMT_REDUCE_MAX,
    SIMT_REDUCE_MIN_UNSIGNED,
    SIMT_REDUCE_MAX_UNSIGNED,
    SIMT_REDUCE_AND,
    SIMT_REDUCE_OR,
    SIMT_REDUCE_XOR,
    SIMT_MULTIPLY_TF32,
    SIMT_MULTIPLY_FP16,
    SIMT_MULTIPLY_BF16,
    SIMT_SYNCTHREADS,
    SIMT_SYNCTHREADS_COUNT,
    SIMT_SYNCTHREADS_AND,
    SIMT_SYNCTHREADS_OR
};

enum simt_change : int {
    SIMT_ATOMIC_ADD,
    SIMT_ATOMIC_MIN,
    SIMT_ATOMIC_MAX,
    SIMT_ATOMIC_AND,
    SIMT_ATOMIC_OR,
    SIMT_ATOMIC_XOR,
    SIMT_ATOMIC_EXCH,
    SIMT_ATOMIC_CAS
};

enum simt_type : int { SIMT_INT, SIMT_UINT, SIMT_INT64, SIMT_UINT64, SIMT_FLOAT, SIMT_DOUBLE };

/* What a lane has of the matrices of a product that its warp makes, D += A B (matrices.cpp). */
struct simt_fragments {
    float d[4];
    unsigned a[4], b[2];
};

struct simt_kernel {
    const char *name;
    void (*run)(void **arguments);
    const size_t *sizes; /* bytes of each parameter, and 0 */
    const simt_kernel *next;
};

extern "C" {
/* `const`: they are the same for the whole life of a thread. */
uint3 simt_thread_index(void) __attribute__((const));
uint3 simt_block_index(void) __attribute__((const));
uint3 simt_block_size(void) __attribute__((const));
uint3 simt_grid_size(void) __attribute__((const));
unsigned simt_lane(void) __attribute__((const));
void *simt_dynamic_shared(void);

uint64_t simt_warp(simt_call kind, unsigned mask, uint64_t value, int argument, int width, simt_site site);
void simt_multiply(simt_call kind, simt_fragments *own, simt_site site);
int simt_barrier(simt_call kind, int value, simt_site site);
/* Changes the value at `at` and returns the old one, both as their bits; `compare` is of SIMT_ATOMIC_CAS
 * alone. */
uint64_t simt_atomic(simt_change change, simt_type type, void *at, uint64_t value, uint64_t compare);
void simt_fence(bool of_block);
int simt_load_acquire(const int *at);
void simt_store_release(int *at, int value);
void simt_copy_async(void *to, const void *from, size_t size, simt_site site);
void simt_copy_commit(void);
void simt_copy_wait(int but); /* for all groups but the last so many */
void simt_barrier_begin(unsigned long long *barrier);
void simt_barrier_expect(unsigned long long *barrier, unsigned bytes);
void simt_copy_bulk(void *to, const void *from, unsigned bytes, unsigned long long *barrier, simt_site site);
void simt_barrier_wait(unsigned long long *barrier, unsigned phase);
void simt_give_way(void);

bool simt_register(simt_kernel *kernel);
float simt_half_to_float(unsigned short bits);
unsigned short simt_float_to_half(float value);
unsigned short simt_float_to_bfloat16(float value);
unsigned simt_float_to_tf32(float value);
}

#endif
