/* Mutated input files: every one is read to a valid matrix or refused with a clean error, in little memory
 * whatever sizes it claims, and nothing leaks. FEATBLAS_SEED=n tries others, FEATBLAS_CASES=n as many of each
 * format. When the library crashes, the input is left behind in the test's folder. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/mutate.h"
#include "support/temporary.h"

#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zip.h>

#define CASES rng_cases(10000) /* of each format */
/* ---- the check */

static int accepted;

/* A message says which file it is about, unless it is about the options or the memory. */
static bool says_where(GrB_Info info)
{
    const char *message = FtB_error();
    return strstr(message, "fuzz") || (*message && info == FTB_LIMIT) ||
           (info == GrB_INVALID_VALUE && strncmp(message, "options.", 8) == 0);
}

static void try_read(const char *name, const FtB_Read_options *options, int number)
{
    FtB_Matrix A;
    FtB_Labels rows, cols;
    int64_t before, after, m, n;
    FtB_Context_memory(NULL, &before, NULL);
    GrB_Info info = FtB_Matrix_read(&A, &rows, &cols, temp_path(name), options);
    if (info == GrB_SUCCESS) {
        accepted++;
        assert_valid(A, options && options->duplicates == FTB_DUP_KEEP);
        assert_ok(FtB_Matrix_shape(A, &m, &n, NULL, NULL, NULL));
        if ((rows && FtB_Labels_count(rows) != m) || (cols && FtB_Labels_count(cols) != n))
            fail_msg("case %d: labels do not fit", number);
        if (number % 16 == 0 && m < 1 << 20) { /* what was read can be written, and comes back */
            FtB_Matrix B;
            remove(temp_path("back.csr"));
            assert_ok(FtB_Matrix_write(A, temp_path("back.csr"), FTB_FORMAT_AUTO, NULL, NULL, 0));
            assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("back.csr"),
                                      FTB_READ_OPTIONS(.duplicates = FTB_DUP_KEEP)));
            assert_same(A, B);
            FtB_Matrix_free(&B);
        }
    } else {
        if (A || rows || cols || !says_where(info))
            fail_msg("case %d: %d, \"%s\", and outputs, or without the file's name", number, (int)info,
                     FtB_error());
        if (info != FTB_FORMAT && info != FTB_LIMIT && info != GrB_INVALID_VALUE)
            fail_msg("case %d: %d, \"%s\" is no error of a reader", number, (int)info, FtB_error());
    }
    FtB_Matrix_free(&A);
    FtB_Labels_free(&rows);
    FtB_Labels_free(&cols);
    FtB_Context_memory(NULL, &after, NULL);
    if (before != after)
        fail_msg("case %d: %lld bytes leaked", number, (long long)(after - before));
}

/* At least one case in a hundred must be accepted, else the mutations are too wild to test the reader. */
static void finish(const char *what)
{
    const int cases = CASES;
    print_message("%s: %d of %d cases were accepted\n", what, accepted, cases);
    assert_true(accepted > cases / 100);
    accepted = 0;
}

/* "fuzz" holds the input, packed or not; of every fourth packed one the packed bytes are damaged, too. */
static void write_packed(const input *in, rng *r, bool packed)
{
    static input damaged;
    if (!packed) {
        write_bytes("fuzz", in->bytes, in->size);
        return;
    }
    write_gzip("fuzz", in->bytes, in->size);
    if (rng_below(r, 4))
        return;
    char *bytes = read_bytes("fuzz", &damaged.size);
    assert_true(damaged.size < INPUT_ROOM);
    memcpy(damaged.bytes, bytes, damaged.size);
    free(bytes);
    mutate(&damaged, r, false);
    write_bytes("fuzz", damaged.bytes, damaged.size);
}

static FtB_Dup some_rule(rng *r)
{
    static const FtB_Dup rules[] = {FTB_DUP_SUM,   FTB_DUP_MAX,   FTB_DUP_LAST,
                                    FTB_DUP_COUNT, FTB_DUP_ERROR, FTB_DUP_KEEP};
    return rules[rng_below(r, 6)];
}

/* ---- formats */

#define BANNER "%%MatrixMarket matrix coordinate "

enum { MTX, EDGES, ADJACENCY };

static void text_files(const char *what, const char *const *seeds, int count, int kind)
{
    static input in;
    static const char *const columns[] = {NULL,    NULL,        NULL,          "1,2",
                                          "2,1,3", "user,item", "item,user,n", "1,4"};
    static const char delimiters[] = {0, 0, 0, 0, ',', '\t', ' ', ';'};
    for (int number = 0; number < CASES; number++) {
        rng r = rng_case(number);
        const char *seed = seeds[rng_below(&r, count)];
        put_text(&in, seed);
        for (int64_t n = rng_below(&r, 6); n >= 0; n--)
            mutate(&in, &r, true);
        write_packed(&in, &r, number % 10 == 9);
        FtB_Read_options options = {.size = sizeof options, .duplicates = some_rule(&r)};
        options.format = kind != MTX && rng_below(&r, 2) ? FTB_CSV : FTB_FORMAT_AUTO;
        options.columns = columns[rng_below(&r, 8)];
        options.delimiter = delimiters[rng_below(&r, 8)];
        options.header = (int)rng_below(&r, 3) - 1;
        options.type = rng_below(&r, 4) ? 0 : rng_type(&r);
        options.adjacency = kind == ADJACENCY;
        if (options.adjacency && rng_below(&r, 8))
            options.columns = NULL;
        try_read("fuzz", &options, number);
    }
    finish(what);
}

static void matrix_market(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        BANNER "real general\n% comment\n3 4 4\n1 1 1.5\n2 2 -2e3\n2 4 7\n3 1 0.25\n",
        BANNER "integer symmetric\n4 4 4\n1 1 5\n3 1 -7\n4 2 8\n4 4 1\n",
        BANNER "real skew-symmetric\r\n3 3 2\r\n2 1 4\r\n3 1 0.1\r\n",
        BANNER "pattern general\n5 5 6\n1 1\n5 4\n3 2\n3 3\n2 1\n1 5\n",
        BANNER "pattern symmetric\n3 3 3\n2 1\n3 1\n3 3\n"};
    text_files("Matrix Market", seeds, 5, MTX);
}

static void edge_lists(void **state)
{
    (void)state;
    static const char *const seeds[] = {"user,item,n\n1,10,4\n2,20,5\n2,10,3.5\n7,30,1\n",
                                        "1 2\n3 4\n1 2\n5 1\n",
                                        "# c\n% d\na\tb\t1\nc\td\t2\na\td\t3\n",
                                        "user,item\n\"a \"\"x\"\", y\",7\nb,\"8\n9\"\n\"\",7\n",
                                        "1;2;3\n4;5;6\n-9223372036854775808;1;1e300\n",
                                        "\xef\xbb\xbfuser,item,n,when\r\nann,1,4.0,99\r\nbob,2,3.5,98\r\n"};
    text_files("edge lists", seeds, 6, EDGES);
}

static void adjacency_lists(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "ann x y z\nbob y\ncarl\n", "7,10,9,8,,\n\"8\n\",10,\"a,\"\"b\",,,\n9,1,,,,\n",
        "# c\n1\t2\t3\n2\t3\n\n3\t1\t1\t2\n", "user;items\n1;2;3;2\r\n4;5\r\n"};
    text_files("adjacency lists", seeds, 4, ADJACENCY);
}

static void raw_csr(void **state)
{
    (void)state;
    static input in, seeds[6];
    for (int s = 0; s < 6; s++) {
        rng r = {(uint64_t)s};
        FtB_Matrix A = rng_matrix(&r, rng_type(&r), 1 + rng_below(&r, 12), 1 + rng_below(&r, 12), s % 3, 0.4);
        assert_ok(FtB_Matrix_write(A, temp_path("seed.csr"), FTB_FORMAT_AUTO, NULL, NULL, 0));
        char *bytes = read_bytes("seed.csr", &seeds[s].size);
        memcpy(seeds[s].bytes, bytes, seeds[s].size);
        free(bytes);
        FtB_Matrix_free(&A);
    }
    for (int number = 0; number < CASES; number++) {
        rng r = rng_case(number);
        in = seeds[rng_below(&r, 6)];
        for (int64_t n = rng_below(&r, 3); n >= 0; n--)
            mutate(&in, &r, false);
        write_packed(&in, &r, number % 4 == 3);
        try_read("fuzz", FTB_READ_OPTIONS(.format = FTB_CSR, .duplicates = some_rule(&r)), number);
    }
    finish("raw CSR");
}

static void serialized(void **state)
{
    (void)state;
    static input in, seeds[6];
    for (int s = 0; s < 6; s++) {
        rng r = {(uint64_t)s + 20};
        const int64_t n = 1 + rng_below(&r, 9);
        FtB_Matrix A = rng_matrix(&r, FTB_INT16, n, n, s % 2, s < 4 ? 0.4 : 1);
        assert_ok(FtB_Matrix_write(A, temp_path("seed"), s % 2 ? FTB_WSG : FTB_SG, NULL, NULL, 0));
        char *bytes = read_bytes("seed", &seeds[s].size);
        memcpy(seeds[s].bytes, bytes, seeds[s].size);
        free(bytes);
        FtB_Matrix_free(&A);
    }
    for (int number = 0; number < CASES; number++) {
        rng r = rng_case(number);
        in = seeds[rng_below(&r, 6)];
        for (int64_t n = rng_below(&r, 3); n >= 0; n--)
            mutate(&in, &r, false);
        write_packed(&in, &r, number % 4 == 3);
        try_read("fuzz",
                 FTB_READ_OPTIONS(.format = number % 3   ? FTB_FORMAT_AUTO
                                            : number % 2 ? FTB_SG
                                                         : FTB_WSG,
                                  .duplicates = some_rule(&r)),
                 number);
    }
    finish("serialized graphs");
}

/* Another header of an array: what it may say, or nearly, at the right length, or nearly. */
static void put_npy_header(input *in, rng *r)
{
    static const char *const types[] = {"<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2",
                                        "|u1", "|b1", ">f8", "<c8", "|O",  "<U3", "|S3", "<i3", "<f16"},
                             *const sizes[] = {"0",
                                               "1",
                                               "2",
                                               "3",
                                               "4",
                                               "5",
                                               "7",
                                               "12",
                                               "108",
                                               "-1",
                                               "4294967296",
                                               "9223372036854775807",
                                               "99999999999999999999"},
                             *const orders[] = {"False", "True", "false", "1"};
    char text[256];
    const int version = rng_below(r, 4) ? 1 : 2, start = version == 1 ? 10 : 12;
    if (in->size < 12)
        return;
    size_t old = 10 + (uint8_t)in->bytes[8] + 256 * (size_t)(uint8_t)in->bytes[9];
    if (in->bytes[6] != 1 || old > in->size)
        return;
    int count = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                         types[rng_below(r, rng_below(r, 4) ? 12 : 19)],
                         orders[rng_below(r, rng_below(r, 4) ? 2 : 4)]);
    for (int64_t d = rng_below(r, 4) ? 1 + rng_below(r, 2) : rng_below(r, 4); d > 0; d--)
        count += snprintf(text + count, sizeof text - (size_t)count, "%s%s",
                          sizes[rng_below(r, rng_below(r, 4) ? 9 : 13)], d > 1 ? ", " : ",");
    count += snprintf(text + count, sizeof text - (size_t)count, "), }\n");
    const int length = count + (rng_below(r, 8) ? 0 : (int)rng_below(r, 9) - 4);
    put_at(in, (size_t)start, old - (size_t)ftb_min(start, (int)old), text, (size_t)count);
    in->bytes[6] = (char)version;
    for (int b = 8; b < start; b++)
        in->bytes[b] = (char)(length >> 8 * (b - 8));
}

/* The archive of a small matrix, and where its members are. */
static void npz_seed(input *in, int s)
{
    rng r = {(uint64_t)s};
    FtB_Matrix A =
        rng_matrix(&r, s % 2 ? FTB_FP64 : FTB_INT32, 1 + rng_below(&r, 12), 1 + rng_below(&r, 12), 1, 0.4);
    assert_ok(FtB_Matrix_write(A, temp_path("seed.npz"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    char *bytes = read_bytes("seed.npz", &in->size);
    memcpy(in->bytes, bytes, in->size);
    free(bytes);
    FtB_Matrix_free(&A);
}

/* Mutates the members of seed.npz rather than the archive, whose checksums would tell. */
static void repack(rng *r, const input *seed)
{
    static input member[8];
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(seed->bytes, seed->size, 0, &error);
    zip_t *from = zip_open_from_source(source, ZIP_RDONLY, &error), *to;
    assert_non_null(from);
    remove(temp_path("fuzz"));
    to = zip_open(temp_path("fuzz"), ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(to);
    int64_t count = zip_get_num_entries(from, 0), changed = rng_below(r, count);
    for (int64_t m = 0; m < count && m < 8; m++) {
        zip_file_t *f = zip_fopen_index(from, (zip_uint64_t)m, 0);
        member[m].size = (size_t)zip_fread(f, member[m].bytes, INPUT_ROOM);
        zip_fclose(f);
        if ((m == changed || rng_below(r, 10) == 0) && rng_below(r, 3))
            mutate(&member[m], r, member[m].size < 160 && rng_below(r, 2));
        else if (m == changed)
            put_npy_header(&member[m], r);
        zip_int64_t at =
            zip_file_add(to, zip_get_name(from, (zip_uint64_t)m, 0),
                         zip_source_buffer(to, member[m].bytes, member[m].size, 0), ZIP_FL_OVERWRITE);
        if (at >= 0 && rng_below(r, 2))
            zip_set_file_compression(to, (zip_uint64_t)at, ZIP_CM_STORE, 0);
    }
    assert_int_equal(zip_close(to), 0);
    zip_discard(from);
    zip_error_fini(&error);
}

static void npz(void **state)
{
    (void)state;
    static input in, seeds[4];
    for (int s = 0; s < 4; s++)
        npz_seed(&seeds[s], s);
    for (int number = 0; number < CASES; number++) {
        rng r = rng_case(number);
        const input *seed = &seeds[rng_below(&r, 4)];
        if (number % 2) {
            repack(&r, seed);
        } else {
            in = *seed;
            for (int64_t n = rng_below(&r, 3); n >= 0; n--)
                mutate(&in, &r, false);
            write_bytes("fuzz", in.bytes, in.size);
        }
        try_read("fuzz", FTB_READ_OPTIONS(.format = FTB_NPZ, .duplicates = some_rule(&r)), number);
    }
    finish("npz");
}

/* ---- dense files */

static void try_block(const char *name, const FtB_Block_read_options *options, int number)
{
    FtB_Block X;
    int64_t before, after, m, n, ld;
    FtB_Type type;
    void *data;
    FtB_Context_memory(NULL, &before, NULL);
    GrB_Info info = FtB_Block_read(&X, temp_path(name), options);
    if (info == GrB_SUCCESS) {
        accepted++;
        assert_ok(FtB_Block_shape(X, &m, &n, &ld, &type, &data));
        if (m < 0 || n < 0 || ld != n || (options->type && type != options->type))
            fail_msg("case %d: %lld x %lld, ld %lld", number, (long long)m, (long long)n, (long long)ld);
        for (int64_t k = 0; k < m * n; k++) { /* all of it is there */
            const double value = ftb_get_real(data, type, k);
            if (options->finite && !isfinite(value))
                fail_msg("case %d: value %lld is %g", number, (long long)k, value);
        }
    } else {
        if (X || !says_where(info))
            fail_msg("case %d: %d, \"%s\", and an output, or without the file's name", number, (int)info,
                     FtB_error());
        if (info != FTB_FORMAT && info != FTB_LIMIT && info != GrB_INVALID_VALUE)
            fail_msg("case %d: %d, \"%s\" is no error of a reader", number, (int)info, FtB_error());
    }
    FtB_Block_free(&X);
    FtB_Context_memory(NULL, &after, NULL);
    if (before != after)
        fail_msg("case %d: %lld bytes leaked", number, (long long)(after - before));
}

static FtB_Block_read_options some_options(rng *r)
{
    static const char delimiters[] = {0, 0, 0, 0, ',', '\t', ' ', ';'};
    return (FtB_Block_read_options){.size = sizeof(FtB_Block_read_options),
                                    .delimiter = delimiters[rng_below(r, 8)],
                                    .header = rng_below(r, 2) ? 0 : (int)rng_below(r, 3) - 1,
                                    .finite = rng_below(r, 4) == 0,
                                    .type = rng_below(r, 2) ? 0 : rng_type(r)};
}

static void dense_texts(void **state)
{
    (void)state;
    static input in;
#define ARRAY "%%MatrixMarket matrix array "
    static const char *const seeds[] = {"a,b,c\n1,2,3\n4,5.5,6\n7,,9\n",
                                        "# c\n1\t2\n3\t4\n-5\t6e3\n",
                                        " 1 2 3\r\n4 5  6\r\n\r\n",
                                        "1;2\n3;nan\n",
                                        ARRAY "real general\n% c\n2 3\n1\n2\n3\n4\n5\n6.5\n",
                                        ARRAY "integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
                                        ARRAY "real skew-symmetric\n3 3\n1\n2\n3\n",
                                        BANNER "real general\n3 4 4\n1 1 1.5\n2 2 -2e3\n2 4 7\n3 1 0.25\n"};
    for (int number = 0; number < CASES; number++) {
        rng r = rng_case(number);
        const char *seed = seeds[rng_below(&r, 8)];
        put_text(&in, seed);
        for (int64_t n = rng_below(&r, 5); n >= 0; n--)
            mutate(&in, &r, true);
        write_packed(&in, &r, number % 10 == 9);
        const FtB_Block_read_options options = some_options(&r);
        try_block("fuzz", &options, number);
    }
    finish("dense texts");
}

static void npy(void **state)
{
    (void)state;
    static input in, seeds[6];
    for (int s = 0; s < 6; s++) {
        rng r = {(uint64_t)s + 50};
        FtB_Block X;
        char data[12 * 9 * 8];
        const FtB_Type type = rng_type(&r);
        rng_values(&r, data, type, 12 * 9);
        assert_ok(FtB_Block_wrap(&X, data, 1 + rng_below(&r, 12), 1 + rng_below(&r, 9), 9, type));
        assert_ok(FtB_Block_write(X, temp_path("seed.npy"), FTB_FORMAT_AUTO, 0));
        char *bytes = read_bytes("seed.npy", &seeds[s].size);
        memcpy(seeds[s].bytes, bytes, seeds[s].size);
        if (s % 2) { /* by columns */
            char *order = memmem(seeds[s].bytes, seeds[s].size, "False, ", 7);
            assert_non_null(order);
            memcpy(order, "True , ", 7);
        }
        free(bytes);
        FtB_Block_free(&X);
    }
    for (int number = 0; number < CASES; number++) {
        rng r = rng_case(number);
        in = seeds[rng_below(&r, 6)];
        for (int64_t n = rng_below(&r, 2); n >= 0; n--) {
            const size_t at = (size_t)rng_below(&r, 128);
            if (rng_below(&r, 3) == 0)
                put_npy_header(&in, &r);
            else if (rng_below(&r, 2))
                put_token(&in, &r, at < in.size ? at : in.size);
            else
                mutate(&in, &r, false);
        }
        write_packed(&in, &r, number % 4 == 3);
        const FtB_Block_read_options options = some_options(&r);
        try_block("fuzz", &options, number);
    }
    finish("npy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrix_market),   cmocka_unit_test(edge_lists),
                                       cmocka_unit_test(adjacency_lists), cmocka_unit_test(raw_csr),
                                       cmocka_unit_test(serialized),      cmocka_unit_test(npz),
                                       cmocka_unit_test(dense_texts),     cmocka_unit_test(npy)};
    limit_memory(1024);
    live_allocations(); /* pairs every allocation with its release */
    FtB_Context_set_memory_limit(NULL, 64 << 20);
    FtB_Context_set_threads(NULL, 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
