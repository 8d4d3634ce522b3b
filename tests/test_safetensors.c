/* safetensors files: bytes written by hand, round trips, what is refused and how, mutated files, failing
 * allocations. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "featblas/nn_tensors.h"

#include <stdio.h>
#include <stdlib.h>

#define CASES rng_cases(10000)
#define ROOM 65536

typedef struct bytes {
    char at[ROOM];
    size_t size;
} bytes;

/* A file of a header, which says its own length if `length` is 0, and data. */
static void make(bytes *b, const char *header, uint64_t length, const void *data, size_t count)
{
    size_t text = strlen(header);
    length = length ? length : text;
    for (int k = 0; k < 8; k++)
        b->at[k] = (char)(length >> (8 * k));
    memcpy(b->at + 8, header, text);
    if (count > 0)
        memcpy(b->at + 8 + text, data, count);
    b->size = 8 + text + count;
}

static void write_file(const char *name, const char *header, const void *data, size_t count)
{
    static bytes b;
    make(&b, header, 0, data, count);
    write_bytes(name, b.at, b.size);
}

/* ---- by hand */

static const char *const model =
    "{\"__metadata__\":{\"format\":\"pt\",\"epoch\":\"\\u0031\\\"2\"},"
    "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
    "\"att\":{\"data_offsets\":[24,40],\"dtype\":\"F16\",\"shape\":[1,4,2],\"more\":[1]},"
    "\"b\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[40,56]},"
    "\"none\":{\"dtype\":\"F64\",\"shape\":[0,7],\"data_offsets\":[24,24]},"
    "\"n\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[56,57]},"
    "\"h\\u00e9\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[57,61]}}   ";

static const unsigned char model_data[] = {
    0,    0,    0x80, 0x3f, 0,    0,    0,    0x40, 0, 0,    0x40, 0x40, 0, 0,    0x80, 0xbf,
    0,    0,    0,    0xc0, 0,    0,    0,    0,    0, 0x3c, 0,    0x40, 0, 0x42, 0,    0x44,
    0,    0xbc, 0,    0xc0, 0,    0x38, 0,    0,    5, 0,    0,    0,    0, 0,    0,    0,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 7, 0x2a, 1,    0,    0};

static void expect_block(FtB_Tensors t, const char *name, FtB_Type type, int64_t nrows, int64_t ncols,
                         int rank, const int64_t *shape, const void *values)
{
    FtB_Block X;
    int64_t m, n, ld, found[FTB_TENSOR_RANK];
    int dimensions;
    FtB_Type is;
    void *data;
    assert_ok(FtB_Tensors_get(&X, t, name, &dimensions, found));
    assert_ok(FtB_Block_shape(X, &m, &n, &ld, &is, &data));
    assert_true(m == nrows && n == ncols && ld == ncols && is == type && dimensions == rank);
    for (int d = 0; d < rank; d++)
        assert_true(found[d] == shape[d]);
    assert_int_equal((uintptr_t)data % FtB_Type_size(type), 0);
    if (m * n > 0)
        assert_memory_equal(data, values, (size_t)(m * n) * FtB_Type_size(type));
    FtB_Block_free(&X);
}

static void expect_model(const char *name)
{
    FtB_Tensors t;
    const float w[] = {1, 2, 3, -1, -2, 0};
    const int64_t b[] = {5, -1};
    const int32_t h[] = {298};
    const bool yes = true;
    assert_ok(FtB_Tensors_read(&t, temp_path(name)));
    assert_int_equal(FtB_Tensors_count(t), 6);
    static const char *const names[] = {"att", "b", "h\xc3\xa9", "n", "none", "w"};
    for (int k = 0; k < 6; k++)
        assert_string_equal(FtB_Tensors_name(t, k), names[k]);
    assert_null(FtB_Tensors_name(t, 6));
    assert_null(FtB_Tensors_name(t, -1));
    expect_block(t, "w", FTB_FP32, 2, 3, 2, (const int64_t[]){2, 3}, w);
    expect_block(t, "att", FTB_FP16, 4, 2, 3, (const int64_t[]){1, 4, 2}, model_data + 24);
    expect_block(t, "b", FTB_INT64, 1, 2, 1, (const int64_t[]){2}, b);
    expect_block(t, "none", FTB_FP64, 0, 7, 2, (const int64_t[]){0, 7}, NULL);
    expect_block(t, "n", FTB_BOOL, 1, 1, 0, NULL, &yes);
    expect_block(t, "h\xc3\xa9", FTB_INT32, 1, 1, 1, (const int64_t[]){1}, h);
    assert_int_equal(FtB_Tensors_text_count(t), 2);
    assert_string_equal(FtB_Tensors_text_key(t, 0), "epoch");
    assert_string_equal(FtB_Tensors_get_text(t, "epoch"), "1\"2");
    assert_string_equal(FtB_Tensors_get_text(t, "format"), "pt");
    assert_null(FtB_Tensors_get_text(t, "for"));
    assert_null(FtB_Tensors_text_key(t, 2));
    assert_string_equal(FtB_Tensors_source(t), temp_path(name));
    FtB_Tensors_free(&t);
    assert_ok(FtB_Tensors_free(&t));
}

static void by_hand(void **state)
{
    (void)state;
    static bytes b;
    write_file("model", model, model_data, sizeof model_data);
    expect_model("model");
    make(&b, model, 0, model_data, sizeof model_data);
    write_gzip("model.gz", b.at, b.size);
    expect_model("model.gz");
    static const char *const empty[] = {"{}", "{}      ", "{ \"__metadata__\" : { } }"};
    for (int k = 0; k < 3; k++) {
        FtB_Tensors t;
        write_file("empty", empty[k], NULL, 0);
        assert_ok(FtB_Tensors_read(&t, temp_path("empty")));
        assert_int_equal(FtB_Tensors_count(t) + FtB_Tensors_text_count(t), 0);
        FtB_Tensors_free(&t);
    }
}

/* What the writer writes, byte by byte: 8-byte dtypes first, then by name; texts by key; padding. */
static void as_written(void **state)
{
    (void)state;
    static const char header[] = "{\"__metadata__\":{\"a\\\"\\\\\":\"\\u000a\xc3\xa9\",\"k\":\"v\"},"
                                 "\"z\":{\"dtype\":\"F64\",\"shape\":[1,1],\"data_offsets\":[0,8]},"
                                 "\"a\":{\"dtype\":\"U8\",\"shape\":[2,1,1],\"data_offsets\":[8,10]},"
                                 "\"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[10,11]}}";
    double z = 1.5;
    uint8_t a[] = {7, 0, 9}, one = 3;
    FtB_Block Z, A, B;
    FtB_Tensors t;
    size_t size;
    assert_ok(FtB_Block_wrap(&Z, &z, 1, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap_const(&A, a, 2, 1, 2, FTB_UINT8)); /* ld 2: a gap is left out */
    assert_ok(FtB_Block_wrap(&B, &one, 1, 1, 1, FTB_UINT8));
    assert_ok(FtB_Tensors_new(&t));
    assert_string_equal(FtB_Tensors_source(t), "tensors");
    assert_ok(FtB_Tensors_set(t, "b", A, -1, NULL));
    assert_ok(FtB_Tensors_set(t, "z", Z, -1, NULL));
    assert_ok(FtB_Tensors_set(t, "a", A, 3, (const int64_t[]){2, 1, 1}));
    assert_ok(FtB_Tensors_set(t, "b", B, 0, NULL)); /* in place of the other */
    assert_ok(FtB_Tensors_set_text(t, "k", "u"));
    assert_ok(FtB_Tensors_set_text(t, "gone", ""));
    assert_ok(FtB_Tensors_set_text(t, "a\"\\", "\n\xc3\xa9"));
    assert_ok(FtB_Tensors_set_text(t, "k", "v"));
    assert_ok(FtB_Tensors_set_text(t, "gone", NULL));
    assert_ok(FtB_Tensors_set_text(t, "gone", NULL));
    assert_ok(FtB_Tensors_write(t, temp_path("written")));
    char *text = read_bytes("written", &size);
    size_t padded = (sizeof header - 1 + 7) / 8 * 8;
    assert_int_equal(size, 8 + padded + 11);
    assert_true((unsigned char)text[0] + 256 * (unsigned char)text[1] == (int)padded);
    assert_memory_equal(text + 8, header, sizeof header - 1);
    for (size_t k = sizeof header - 1; k < padded; k++)
        assert_int_equal(text[8 + k], ' ');
    assert_memory_equal(text + 8 + padded, &z, 8);
    assert_memory_equal(text + 16 + padded, "\x07\x09\x03", 3);
    free(text);
    FtB_Tensors_free(&t);
    FtB_Block_free(&Z);
    FtB_Block_free(&A);
    FtB_Block_free(&B);
}

/* ---- round trips */

static FtB_Block some_block(rng *r, FtB_Type type, int64_t nrows, int64_t ncols)
{
    FtB_Block X, V;
    void *data;
    assert_ok(FtB_Block_new(&X, nrows, ncols + 2, type));
    assert_ok(FtB_Block_shape(X, NULL, NULL, NULL, NULL, &data));
    rng_any_values(r, data, type, nrows * (ncols + 2));
    assert_ok(FtB_Block_columns(&V, X, 1, ncols));
    FtB_Block_free(&X);
    return V;
}

/* The tensor has X's values; both are row-major. */
static void expect_values(FtB_Tensors t, const char *name, FtB_Block X)
{
    FtB_Block Y;
    int64_t m, n, ld, rows, columns;
    FtB_Type type, is;
    char *x, *y;
    assert_ok(FtB_Tensors_get(&Y, t, name, NULL, NULL));
    assert_ok(FtB_Block_shape(X, &m, &n, &ld, &type, (void **)&x));
    assert_ok(FtB_Block_shape(Y, &rows, &columns, NULL, &is, (void **)&y));
    assert_true(is == type && rows * columns == m * n);
    size_t size = FtB_Type_size(type);
    for (int64_t i = 0; i < m && n > 0; i++)
        assert_memory_equal(y + (size_t)(i * n) * size, x + (size_t)(i * ld) * size, (size_t)n * size);
    FtB_Block_free(&Y);
}

static void round_trips(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int number = 0; number < 200; number++) {
        FtB_Block X[16];
        FtB_Tensors t, back;
        char name[16][40];
        int64_t count = rng_below(&r, 17), found[FTB_TENSOR_RANK], shape[16][FTB_TENSOR_RANK];
        int rank[16], is;
        assert_ok(FtB_Tensors_new(&t));
        for (int64_t k = 0; k < count; k++) {
            int64_t nrows = rng_below(&r, 20), ncols = rng_below(&r, 20);
            FtB_Type type = (FtB_Type)(1 + (number + k) % 13);
            rank[k] = (int)rng_below(&r, FTB_TENSOR_RANK + 1);
            if (rank[k] == 0)
                nrows = ncols = 1;
            for (int d = 0; d < rank[k]; d++)
                shape[k][d] = 1;
            if (rank[k] > 0) {
                shape[k][rng_below(&r, rank[k])] *= nrows;
                shape[k][rng_below(&r, rank[k])] *= ncols;
            }
            X[k] = some_block(&r, type, nrows, ncols);
            snprintf(name[k], sizeof name[k], "conv%d.%d \"\\\x01", (int)rng_below(&r, 100), (int)k);
            assert_ok(FtB_Tensors_set(t, name[k], X[k], rank[k], shape[k]));
        }
        assert_ok(FtB_Tensors_write(t, temp_path("trip")));
        FtB_Tensors_free(&t);
        assert_ok(FtB_Tensors_read(&back, temp_path("trip")));
        assert_int_equal(FtB_Tensors_count(back), count);
        for (int64_t k = 0; k < count; k++) {
            FtB_Block Y;
            expect_values(back, name[k], X[k]);
            assert_ok(FtB_Tensors_get(&Y, back, name[k], &is, found));
            assert_int_equal(is, rank[k]);
            assert_true(is == 0 || memcmp(found, shape[k], (size_t)is * sizeof *found) == 0);
            FtB_Block_free(&Y);
            FtB_Block_free(&X[k]);
        }
        FtB_Tensors_free(&back);
    }
}

/* Views share the tensor's memory and outlive the set. */
static void views(void **state)
{
    (void)state;
    FtB_Tensors t;
    FtB_Block X, Y;
    float *x, *y;
    write_file("model", model, model_data, sizeof model_data);
    assert_ok(FtB_Tensors_read(&t, temp_path("model")));
    assert_ok(FtB_Tensors_get(&X, t, "w", NULL, NULL));
    assert_ok(FtB_Tensors_get(&Y, t, "w", NULL, NULL));
    assert_ok(FtB_Block_shape(X, NULL, NULL, NULL, NULL, (void **)&x));
    assert_ok(FtB_Block_shape(Y, NULL, NULL, NULL, NULL, (void **)&y));
    x[1] = 17;
    assert_true(y[1] == 17);
    assert_ok(FtB_Tensors_set(t, "w", X, 1, (const int64_t[]){6})); /* by its own values */
    x[1] = 18;
    FtB_Tensors_free(&t);
    assert_true(y[1] == 18);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
}

/* ---- refused */

typedef struct refusal {
    const char *header;
    size_t bytes; /* of data */
    const char *message;
} refusal;

#define ONE(dtype, shape, offsets)                                                                           \
    "{\"w\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define TWO(first, second)                                                                                   \
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":" first "},"                                    \
    "\"b\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":" second "}}"

static const refusal refusals[] = {
    {ONE("\"F32\"", "[2]", "[0,8]"), 7, "bad: ends early, in the data of the tensors"},
    {ONE("\"F32\"", "[2]", "[0,8]"), 9, "bad: goes on behind the 8 bytes of its tensors"},
    {"{}", 1, "bad: goes on behind the 0 bytes"},
    {ONE("\"F8_E4M3\"", "[8]", "[0,8]"), 8, "bad: tensor 'w': dtype 'F8_E4M3' is none of F64, "},
    {ONE("32", "[8]", "[0,8]"), 8, "bad: tensor 'w': has no dtype"},
    {"{\"w\":{}}", 0, "tensor 'w': has no dtype"},
    {"{\"w\":7}", 0, "tensor 'w': is described by no object"},
    {ONE("\"U8\"", "[-8]", "[0,8]"), 8, "tensor 'w': shape is no array"},
    {ONE("\"U8\"", "[8.0]", "[0,8]"), 8, "tensor 'w': shape is no array"},
    {ONE("\"U8\"", "8", "[0,8]"), 8, "tensor 'w': shape is no array"},
    {ONE("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, "shape is no array of at most 8 dimensions"},
    {ONE("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0, "more values than can be addressed"},
    {ONE("\"U8\"", "[2305843009213693952,4,0]", "[0,0]"), 0, "more values than can be addressed"},
    {ONE("\"U8\"", "[0,9223372036854775807]", "[0,0]"), 0, "more values than can be addressed"},
    {ONE("\"U8\"", "[99999999999999999999]", "[0,0]"), 0, "the header, at its byte"},
    {ONE("\"U8\"", "[8]", "[0]"), 8, "data_offsets is no array of two places"},
    {ONE("\"U8\"", "[8]", "[0,8,16]"), 8, "data_offsets is no array of two places"},
    {ONE("\"U8\"", "[8]", "[-8,0]"), 8, "data_offsets is no array of two places"},
    {ONE("\"U8\"", "[8]", "[8,0]"), 8, "its shape takes 8 bytes; its data_offsets are 8, 0"},
    {ONE("\"F32\"", "[8]", "[0,8]"), 8, "its shape takes 32 bytes; its data_offsets are 0, 8"},
    {ONE("\"U8\"", "[8]", "[9223372036854775800,9223372036854775807]"), 8, "its shape takes 8 bytes"},
    {ONE("\"U8\"", "[7]", "[9223372036854775800,9223372036854775807]"), 8, "expected 0, its begin"},
    {TWO("[0,8]", "[7,15]"), 16, "tensor 'b' begins at byte 7 of the data; expected 8, where 'a' ends"},
    {TWO("[8,16]", "[0,8]"), 15, "ends early"},
    {TWO("[0,8]", "[0,8]"), 16, "begins at byte 0 of the data; expected 8"},
    {TWO("[9,17]", "[0,8]"), 17, "tensor 'a' begins at byte 9 of the data; expected 8, where 'b' ends"},
    {TWO("[1,9]", "[9,17]"), 17, "tensor 'a' begins at byte 1 of the data; expected 0, its begin"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
     0, "duplicate"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is no object"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "__metadata__: 'k' is no text"},
    {"{\"__metadata__\":{\"k\":\"\xff\"}}", 0, "the header, at its byte"},
    {"{\"\xc0\x80\":{}}", 0, "the header, at its byte"},
    {"{\"a\\u0000b\":{}}", 0, "the header, at its byte"},
    {"{} x", 0, "the header, at its byte"},
    {"{\"a\"}", 0, "the header, at its byte 5"},
    {" {}", 0, "its header does not begin with '{'"},
    {"[]", 0, "its header does not begin with '{'"},
};

static void refused(void **state)
{
    (void)state;
    static bytes b;
    char zeros[64] = {0};
    FtB_Tensors t;
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        const refusal *f = &refusals[k];
        write_file("bad", f->header, zeros, f->bytes);
        t = (FtB_Tensors)(uintptr_t)1;
        assert_fails(FTB_FORMAT, f->message, FtB_Tensors_read(&t, temp_path("bad")));
        assert_null(t);
        make(&b, f->header, 0, zeros, f->bytes);
        write_gzip("bad.gz", b.at, b.size);
        GrB_Info info = FtB_Tensors_read(&t, temp_path("bad.gz"));
        if (info != FTB_FORMAT)
            fail_msg("gzipped: %d, %s", info, FtB_error());
    }
    static const uint64_t lengths[] = {1, 100000001, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 32};
    for (int k = 0; k < 5; k++) {
        make(&b, "{}", lengths[k], zeros, 0);
        write_bytes("bad", b.at, b.size);
        assert_fails(FTB_FORMAT, "bad: is no safetensors file: its header would have",
                     FtB_Tensors_read(&t, temp_path("bad")));
    }
    make(&b, "{}", 99999999, zeros, 0);
    write_bytes("bad", b.at, b.size);
    assert_fails(FTB_FORMAT, "bad: ends early, in the header", FtB_Tensors_read(&t, temp_path("bad")));
    for (b.size = 0; b.size < 8; b.size++) {
        write_bytes("bad", b.at, b.size);
        assert_fails(FTB_FORMAT, "bad: ends early, in the length", FtB_Tensors_read(&t, temp_path("bad")));
    }
    assert_fails(FTB_IO, "none: cannot read", FtB_Tensors_read(&t, temp_path("none")));
}

static void bad_arguments(void **state)
{
    (void)state;
    FtB_Tensors t, null = NULL;
    FtB_Block X, Y;
    assert_ok(FtB_Tensors_new(&t));
    assert_ok(FtB_Block_new(&X, 2, 3, FTB_FP32));
    assert_fails(GrB_INVALID_VALUE, "has no tensor 'w'; it has none",
                 FtB_Tensors_get(&Y, t, "w", NULL, NULL));
    assert_ok(FtB_Tensors_set(t, "a", X, -1, NULL));
    assert_ok(FtB_Tensors_set(t, "b", X, -1, NULL));
    assert_fails(GrB_INVALID_VALUE, "has no tensor 'w'; it has 'a', 'b'",
                 FtB_Tensors_get(&Y, t, "w", NULL, NULL));
    assert_null(Y);
    assert_fails(GrB_NULL_POINTER, "t is NULL", FtB_Tensors_get(&Y, NULL, "w", NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "name is NULL", FtB_Tensors_get(&Y, t, NULL, NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Tensors_get(NULL, t, "a", NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "name is NULL", FtB_Tensors_set(t, NULL, X, -1, NULL));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Tensors_set(t, "w", NULL, -1, NULL));
    assert_fails(GrB_NULL_POINTER, "'w': shape is NULL", FtB_Tensors_set(t, "w", X, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "'w': rank is 9", FtB_Tensors_set(t, "w", X, 9, NULL));
    assert_fails(GrB_INVALID_VALUE, "'w': dimension 1 of shape is -3",
                 FtB_Tensors_set(t, "w", X, 2, (const int64_t[]){2, -3}));
    assert_fails(GrB_INVALID_VALUE, "'w': shape has 5 values; expected those of X, which is 2 x 3",
                 FtB_Tensors_set(t, "w", X, 1, (const int64_t[]){5}));
    assert_fails(GrB_INVALID_VALUE, "'w': shape has 1 values", FtB_Tensors_set(t, "w", X, 0, NULL));
    assert_fails(GrB_INVALID_VALUE, "expected UTF-8", FtB_Tensors_set(t, "__metadata__", X, -1, NULL));
    static const char wrong[][5] = {"\x80",
                                    "\xc1\x81",
                                    "a\xe2\x82",
                                    "\xe0\x9f\xbf",
                                    "\xed\xa0\x80",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xff",
                                    "\xc3"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_fails(GrB_INVALID_VALUE, "expected UTF-8", FtB_Tensors_set(t, wrong[k], X, -1, NULL));
        assert_fails(GrB_INVALID_VALUE, "UTF-8", FtB_Tensors_set_text(t, "k", wrong[k]));
        assert_fails(GrB_INVALID_VALUE, "UTF-8", FtB_Tensors_set_text(t, wrong[k], "v"));
    }
    assert_ok(FtB_Tensors_set(t, "\xc3\xa9 \xe2\x82\xac \xed\x9f\xbf \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf", X,
                              -1, NULL));
    assert_int_equal(FtB_Tensors_count(t), 3);
    assert_int_equal(FtB_Tensors_text_count(t), 0);
    assert_fails(GrB_NULL_POINTER, "key is NULL", FtB_Tensors_set_text(t, NULL, "v"));
    assert_fails(GrB_NULL_POINTER, "path is NULL", FtB_Tensors_write(t, NULL));
    assert_fails(FTB_IO, "cannot write", FtB_Tensors_write(t, "/no/such/folder/file"));
    assert_fails(GrB_NULL_POINTER, "t is NULL", FtB_Tensors_write(NULL, "x"));
    assert_fails(GrB_NULL_POINTER, "path is NULL", FtB_Tensors_read(&null, NULL));
    assert_fails(GrB_NULL_POINTER, "t is NULL", FtB_Tensors_read(NULL, "x"));
    assert_fails(GrB_NULL_POINTER, "t is NULL", FtB_Tensors_new(NULL));
    assert_int_equal(FtB_Tensors_count(NULL) + FtB_Tensors_text_count(NULL), 0);
    assert_null(FtB_Tensors_name(NULL, 0));
    assert_null(FtB_Tensors_get_text(NULL, "k"));
    FtB_Block_free(&X);
    FtB_Tensors_free(&t);
}

/* The header's tree and the data count; a limit in between is said with the file's name. */
static void memory_limit(void **state)
{
    (void)state;
    FtB_Tensors t;
    int64_t before, now;
    write_file("model", model, model_data, sizeof model_data);
    FtB_Context_memory(NULL, &before, NULL);
    FtB_Context_set_memory_limit(NULL, before + 20000);
    assert_fails(FTB_LIMIT, "model: memory limit", FtB_Tensors_read(&t, temp_path("model")));
    FtB_Context_set_memory_limit(NULL, before + 200000);
    assert_ok(FtB_Tensors_read(&t, temp_path("model")));
    FtB_Tensors_free(&t);
    FtB_Context_set_memory_limit(NULL, 0);
    FtB_Context_memory(NULL, &now, NULL);
    assert_int_equal(now, before);
}

/* ---- mutated files */

static void put_at(bytes *b, size_t at, size_t removed, const char *text, size_t count)
{
    removed = removed < b->size - at ? removed : b->size - at;
    if (b->size - removed + count > ROOM)
        return;
    memmove(b->at + at + count, b->at + at + removed, b->size - at - removed);
    memcpy(b->at + at, text, count);
    b->size += count - removed;
}

static void mutate(bytes *b, rng *r)
{
    static const char words[] =
        "0 -1 8 1e3 9223372036854775807 18446744073709551616 \"F64\" \"BOOL\" \" { } [ ] [] , : "
        "\\u0000 \\ud800 \xff null \"__metadata__\" \"b\" [[[[[[[[[[[[[[[[ ";
    size_t header = b->size > 8 ? 8 + (size_t)rng_below(r, (int64_t)b->size - 8) : 0;
    size_t at = rng_below(r, 4) ? header : b->size ? (size_t)rng_below(r, (int64_t)b->size) : 0;
    const char *word = words + rng_below(r, sizeof words - 1);
    while (word > words && word[-1] != ' ')
        word--;
    switch (rng_below(r, 6)) {
    case 0:
        if (b->size > 0)
            b->at[at] ^= (char)(1 << rng_below(r, 8));
        break;
    case 1:
        b->size = rng_below(r, 4) ? b->size : at;
        break;
    case 2: /* digits of shapes and places */
        for (; at < b->size && (b->at[at] < '0' || b->at[at] > '9'); at++)
            ;
        if (at < b->size)
            b->at[at] = (char)('0' + rng_below(r, 10));
        break;
    default:
        put_at(b, at, (size_t)rng_below(r, 4), word, strcspn(word, " "));
    }
}

/* The length again fits the text, so that what the text says is looked at. */
static void repair(bytes *b, size_t data)
{
    size_t length = b->size > 8 + data ? b->size - 8 - data : 0;
    for (int k = 0; k < 8 && b->size >= 8; k++)
        b->at[k] = (char)(length >> (8 * k));
}

static void try_read(int number, int *accepted)
{
    FtB_Tensors t;
    int64_t before, after;
    FtB_Context_memory(NULL, &before, NULL);
    GrB_Info info = FtB_Tensors_read(&t, temp_path("fuzz"));
    for (int64_t k = 0; info == GrB_SUCCESS && k < FtB_Tensors_count(t); k++) {
        FtB_Block X;
        assert_ok(FtB_Tensors_get(&X, t, FtB_Tensors_name(t, k), NULL, NULL));
        expect_values(t, FtB_Tensors_name(t, k), X);
        FtB_Block_free(&X);
    }
    if (info == GrB_SUCCESS) { /* what was read can be written, and comes back */
        FtB_Tensors back;
        ++*accepted;
        assert_ok(FtB_Tensors_write(t, temp_path("back")));
        assert_ok(FtB_Tensors_read(&back, temp_path("back")));
        assert_int_equal(FtB_Tensors_count(back), FtB_Tensors_count(t));
        FtB_Tensors_free(&back);
        FtB_Tensors_free(&t);
    } else if ((info != FTB_FORMAT && info != FTB_LIMIT) || t || !strstr(FtB_error(), "fuzz")) {
        fail_msg("case %d: %d, %s", number, (int)info, FtB_error());
    }
    FtB_Context_memory(NULL, &after, NULL);
    assert_int_equal(before, after);
}

static void mutated(void **state)
{
    (void)state;
    static bytes b;
    int accepted = 0;
    rng r = rng_new();
    FtB_Context_set_memory_limit(NULL, 64 << 20);
    for (int number = 0; number < CASES; number++) {
        make(&b, model, 0, model_data, sizeof model_data);
        for (int64_t n = rng_below(&r, 4); n >= 0; n--)
            mutate(&b, &r);
        if (number % 4)
            repair(&b, sizeof model_data);
        if (number % 16 == 15)
            write_gzip("fuzz", b.at, b.size);
        else
            write_bytes("fuzz", b.at, b.size);
        try_read(number, &accepted);
    }
    FtB_Context_set_memory_limit(NULL, 0);
    printf("mutated files: %d of %d were read\n", accepted, CASES);
    assert_true(accepted > CASES / 100);
}

/* ---- failing allocations */

static GrB_Info work(void *arg)
{
    FtB_Block X = NULL, Y = NULL;
    FtB_Tensors t = NULL, made = NULL;
    GrB_Info info = FtB_Tensors_read(&t, arg);
    if (info == GrB_SUCCESS)
        info = FtB_Tensors_get(&X, t, "w", NULL, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Tensors_new(&made);
    for (int k = 0; k < 10 && info == GrB_SUCCESS; k++) {
        int64_t before = FtB_Tensors_count(made);
        char name[2] = {(char)('a' + k % 9), 0};
        info = FtB_Tensors_set(made, name, X, -1, NULL);
        assert_int_equal(FtB_Tensors_count(made), before + (info == GrB_SUCCESS && k < 9));
        if (info == GrB_SUCCESS)
            info = FtB_Tensors_set_text(made, name, "text");
    }
    if (info == GrB_SUCCESS)
        info = FtB_Tensors_write(made, temp_path("made"));
    if (info == GrB_SUCCESS)
        info = FtB_Tensors_get(&Y, made, "b", NULL, NULL);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    FtB_Tensors_free(&t);
    FtB_Tensors_free(&made);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    static char path[256];
    write_file("model", model, model_data, sizeof model_data);
    snprintf(path, sizeof path, "%s", temp_path("model"));
    int files = count_files();
    fail_every_allocation(work, NULL, path);
    remove(temp_path("made"));
    assert_int_equal(count_files(), files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),      cmocka_unit_test(as_written), cmocka_unit_test(round_trips),
        cmocka_unit_test(views),        cmocka_unit_test(refused),    cmocka_unit_test(bad_arguments),
        cmocka_unit_test(memory_limit), cmocka_unit_test(mutated),    cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
