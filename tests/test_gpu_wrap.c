/* Tensors of others on a GPU (support/fake_gpu.h), as DLPack describes them, wrapped as docs/blocks.md says:
 * every dtype, packed, in rows that are longer, and behind an offset, read and written where they are; and
 * what is refused before a kernel would touch it. */
#include "support/check.h"

#include "gpu/driver.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"
#include "support/real_gpu.h"

#include <stdio.h>
#include <stdlib.h>

/* As dlpack.h has them; device types and stream handles are not of interest here. */
enum { INT = 0, UINT = 1, FLOAT = 2, BFLOAT = 4, BOOL = 6 };
typedef struct tensor {
    void *data;
    int ndim;
    struct {
        uint8_t code, bits;
    } dtype;
    int64_t shape[2], strides[2]; /* in values; 0: NULL in its place */
    uint64_t byte_offset;
} tensor;

enum { ROWS = 7, COLS = 5, PITCH = 8, ROOM = 4096 };

static const struct {
    uint8_t code, bits;
    FtB_Type type;
} types[] = {{INT, 8, FTB_INT8},    {INT, 16, FTB_INT16},   {INT, 32, FTB_INT32},   {INT, 64, FTB_INT64},
             {UINT, 8, FTB_UINT8},  {UINT, 16, FTB_UINT16}, {UINT, 32, FTB_UINT32}, {UINT, 64, FTB_UINT64},
             {FLOAT, 16, FTB_FP16}, {FLOAT, 32, FTB_FP32},  {FLOAT, 64, FTB_FP64},  {BFLOAT, 16, FTB_BF16},
             {BOOL, 8, FTB_BOOL}};

static const ftb_cuda *cuda;
static struct CUctx_st *contexts[2];
static struct CUstream_st *stream; /* its owner's */

static int start(void **state)
{
    if (!real_gpu())
        setenv("FAKE_CUDA_DEVICES", "2", 1);
    fake_gpu_start(state);
    cuda = &ftb_driver_here()->call;
    for (int n = 0; n < 2 && n < ftb_driver_here()->count; n++)
        assert_int_equal(cuda->cuDevicePrimaryCtxRetain(&contexts[n], ftb_driver_here()->gpu[n].handle), 0);
    assert_int_equal(cuda->cuCtxPushCurrent_v2(contexts[0]), 0);
    return cuda->cuStreamCreate(&stream, 1) ? 1 : 0;
}

static GrB_Info wrap(FtB_Block *X, const tensor *t)
{
    FtB_Type type = FTB_FP32;
    for (size_t n = 0; n < sizeof types / sizeof *types; n++)
        if (types[n].code == t->dtype.code && types[n].bits == t->dtype.bits)
            type = types[n].type;
    const int64_t ncols = t->ndim == 2 ? t->shape[1] : 1;
    return FtB_Block_wrap_device(X, (char *)t->data + t->byte_offset, t->shape[0], ncols,
                                 t->strides[0] ? t->strides[0] : ncols, type);
}

/* What its owner has there, and in `bytes` here. */
static void fill(unsigned long long at, unsigned char bytes[ROOM], rng *r, bool truth)
{
    for (int k = 0; k < ROOM; k++)
        bytes[k] = (unsigned char)(rng_bits(r) & (truth ? 1 : 255));
    assert_int_equal(cuda->cuMemcpyHtoDAsync_v2(at, bytes, ROOM, stream), 0);
    assert_int_equal(cuda->cuStreamSynchronize(stream), 0);
}

/* Row i of a tensor, among the bytes. */
static const unsigned char *row(const tensor *t, const unsigned char *bytes, int64_t i)
{
    const int64_t size = t->dtype.bits / 8, ncols = t->ndim == 2 ? t->shape[1] : 1,
                  ld = t->strides[0] ? t->strides[0] : ncols;
    return bytes + t->byte_offset + (uint64_t)(i * ld * size);
}

static void layouts(void **state)
{
    static const tensor forms[] = {
        {.ndim = 2, .shape = {ROWS, COLS}},
        {.ndim = 2, .shape = {ROWS, COLS}, .strides = {PITCH, 1}, .byte_offset = 64},
        {.ndim = 2, .shape = {1, COLS}, .strides = {COLS, 1}, .byte_offset = 8},
        {.ndim = 1, .shape = {ROWS}},
        {.ndim = 1, .shape = {ROWS}, .strides = {3}, .byte_offset = 24},
    };
    static const int64_t rows[] = {0, 0, 0, 0, 0, 0, 0};
    unsigned char x[ROOM], y[ROOM], now[ROOM];
    unsigned long long from, to;
    rng r = rng_new();
    (void)state;
    assert_int_equal(cuda->cuMemAlloc_v2(&from, ROOM) + cuda->cuMemAlloc_v2(&to, ROOM), 0);
    for (size_t n = 0; n < sizeof types / sizeof *types; n++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            tensor t = forms[f], u = forms[f];
            FtB_Block X, Y;
            t.data = (void *)(uintptr_t)from;
            u.data = (void *)(uintptr_t)to;
            t.dtype.code = u.dtype.code = types[n].code;
            t.dtype.bits = u.dtype.bits = types[n].bits;
            const size_t bytes = (size_t)(t.ndim == 2 ? t.shape[1] : 1) * t.dtype.bits / 8;
            fill(from, x, &r, types[n].type == FTB_BOOL);
            fill(to, y, &r, types[n].type == FTB_BOOL);
            assert_ok(wrap(&X, &t));
            assert_ok(wrap(&Y, &u));
            assert_ok(FtB_gather(Y, X, rows, t.shape[0])); /* the first row to all */
            assert_ok(FtB_Block_to_device(Y));
            assert_int_equal(cuda->cuMemcpyDtoHAsync_v2(now, to, ROOM, stream), 0);
            assert_int_equal(cuda->cuStreamSynchronize(stream), 0);
            for (int64_t i = 0; i < t.shape[0]; i++)
                memcpy((unsigned char *)(uintptr_t)row(&u, y, i), row(&t, x, 0), bytes);
            if (memcmp(now, y, ROOM) != 0) /* what is between rows, too */
                fail_msg("%s, form %zu: other bytes were written", FtB_Type_name(types[n].type), f);
            FtB_Block_free(&X);
            FtB_Block_free(&Y);
        }
    assert_int_equal(cuda->cuMemFree_v2(from) + cuda->cuMemFree_v2(to), 0);
}

static void refused(void **state)
{
    unsigned long long here, there = 0;
    float host[4];
    FtB_Block X;
    (void)state;
    assert_int_equal(cuda->cuMemAlloc_v2(&here, ROOM), 0);
    const tensor odd = {.data = (void *)(uintptr_t)here,
                        .ndim = 2,
                        .dtype = {FLOAT, 32},
                        .shape = {ROWS, COLS},
                        .byte_offset = 2};
    assert_fails(GrB_INVALID_VALUE, "expected a multiple of 4, the bytes of a value", wrap(&X, &odd));
    assert_null(X);
    assert_fails(GrB_INVALID_VALUE, "is no memory of a GPU; expected some of 'gpu:0'",
                 FtB_Block_wrap_device(&X, host, 1, 4, 4, FTB_FP32));
    assert_fails(GrB_INVALID_VALUE, "ld is 4", /* of a transposed tensor, or one row for all */
                 FtB_Block_wrap_device(&X, (void *)(uintptr_t)here, ROWS, COLS, 4, FTB_FP32));
    assert_ok(FtB_Block_wrap_device(&X, NULL, 0, COLS, COLS, FTB_FP32));
    FtB_Block_free(&X);
    if (ftb_driver_here()->count > 1) {
        assert_int_equal(cuda->cuCtxPushCurrent_v2(contexts[1]), 0);
        assert_int_equal(cuda->cuMemAlloc_v2(&there, ROOM), 0);
        assert_fails(GrB_INVALID_VALUE, "is memory of 'gpu:1'; expected some of 'gpu:0'",
                     FtB_Block_wrap_device(&X, (void *)(uintptr_t)there, 1, 4, 4, FTB_FP32));
        assert_int_equal(cuda->cuMemFree_v2(there), 0);
        assert_int_equal(cuda->cuCtxPopCurrent_v2(&contexts[1]), 0);
    }
    assert_int_equal(cuda->cuMemFree_v2(here), 0);
    assert_fails(GrB_INVALID_VALUE, "is no memory of a GPU",
                 FtB_Block_wrap_device(&X, (void *)(uintptr_t)here, 1, 4, 4, FTB_FP32));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(layouts, fake_gpu_clean),
                                       cmocka_unit_test_teardown(refused, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, start, NULL);
}
