/* Serialized graphs of GAP, .sg and .wsg: byte for byte, round trips, and damaged ones. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/limits.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files made by hand */

typedef struct bytes {
    char at[4096];
    size_t size;
} bytes;

static void put(bytes *b, const void *from, size_t count)
{
    assert_true(b->size + count <= sizeof b->at);
    memcpy(b->at + b->size, from, count);
    b->size += count;
}

static void put_head(bytes *b, char directed, int64_t nvals, int64_t n)
{
    b->size = 0;
    put(b, &directed, 1);
    put(b, &nvals, 8);
    put(b, &n, 8);
}

/* 0 -> 1, 0 -> 2, 2 -> 0, and backwards. */
static const int64_t offsets[] = {0, 2, 2, 3}, inverse_offsets[] = {0, 1, 2, 3};
static const int32_t to[] = {1, 2, 0}, from[] = {2, 0, 0}, weighted[] = {1, 7, 2, 9, 0, -3},
                     inverse_weighted[] = {2, -3, 0, 7, 0, 9};

static void directed(bytes *b, bool weights)
{
    put_head(b, 1, 3, 3);
    put(b, offsets, sizeof offsets);
    put(b, weights ? (const void *)weighted : to, weights ? sizeof weighted : sizeof to);
    put(b, inverse_offsets, sizeof inverse_offsets);
    put(b, weights ? (const void *)inverse_weighted : from, weights ? sizeof inverse_weighted : sizeof from);
}

/* 0 - 1 and 1 - 2. */
static void undirected(bytes *b, bool weights)
{
    static const int64_t starts[] = {0, 1, 3, 4};
    static const int32_t both[] = {1, 0, 2, 1}, pairs[] = {1, 5, 0, 5, 2, 6, 1, 6};
    put_head(b, 0, 4, 3);
    put(b, starts, sizeof starts);
    put(b, weights ? (const void *)pairs : both, weights ? sizeof pairs : sizeof both);
}

static FtB_Matrix build(const bytes *b, bool weights)
{
    static const int64_t I[] = {0, 0, 2}, J[] = {1, 2, 0}, U[] = {0, 1, 1, 2}, V[] = {1, 0, 2, 1};
    static const int32_t X[] = {7, 9, -3}, Y[] = {5, 5, 6, 6};
    const bool both = b->at[0] == 0;
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, weights ? FTB_INT32 : FTB_BOOL, 3, 3, weights, both ? 4 : 3, both ? U : I,
                               both ? V : J, weights ? (both ? Y : X) : NULL, FTB_DUP_ERROR, NULL));
    return A;
}

static void expect(const char *name, FtB_Matrix A, FtB_Format wanted, FtB_Format format)
{
    FtB_Matrix B;
    FtB_Format found = FTB_FORMAT_AUTO;
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path(name),
                              FTB_READ_OPTIONS(.format = wanted, .found = &found)));
    assert_same(A, B);
    assert_int_equal(found, format);
    FtB_Matrix_free(&B);
}

static void byte_for_byte(void **state)
{
    (void)state;
    for (int c = 0; c < 4; c++) {
        const bool weights = c & 1;
        const FtB_Format format = weights ? FTB_WSG : FTB_SG;
        bytes b;
        size_t size;
        (c & 2 ? directed : undirected)(&b, weights);
        FtB_Matrix A = build(&b, weights);
        write_bytes("hand", b.at, b.size);
        expect("hand", A, FTB_FORMAT_AUTO, format);
        expect("hand", A, format, format);
        write_gzip("hand.gz", b.at, b.size); /* whose length shows at its end */
        expect("hand.gz", A, FTB_FORMAT_AUTO, format);
        expect("hand.gz", A, format, format);
        assert_ok(
            FtB_Matrix_write(A, temp_path(weights ? "made.wsg" : "made.sg"), FTB_FORMAT_AUTO, NULL, NULL, 0));
        char *made = read_bytes(weights ? "made.wsg" : "made.sg", &size);
        assert_int_equal(size, b.size);
        assert_memory_equal(made, b.at, size);
        free(made);
        FtB_Matrix_free(&A);
    }
}

/* A graph without values has weights of 1; one that is symmetric but for a weight has a direction. */
static void weights(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 1}, J[] = {1, 0};
    static const double X[] = {2, 3};
    FtB_Matrix A, B;
    size_t size;
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 2, 2, 0, 2, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_write(A, temp_path("one.wsg"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("one.wsg"), NULL));
    assert_true(value_at(B, 0, 1, 0, 0) == 1 && value_at(B, 1, 0, 0, 0) == 1 && B->type == FTB_INT32);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 2, 2, 1, 2, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_write(A, temp_path("two.wsg"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    char *made = read_bytes("two.wsg", &size);
    assert_true(made[0] == 1 && size == 17 + 2 * (3 * 8 + 2 * 8));
    free(made);
    assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("two.wsg"), FTB_READ_OPTIONS(.type = FTB_FP64)));
    assert_same(A, B);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&A);
}

/* Random graphs of any type, dense enough that some are symmetric, and without vertices. */
static void round_trips(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 300; t++) {
        const FtB_Type type = rng_type(&r);
        const int64_t n = t % 30 == 0 ? 0 : 1 + rng_below(&r, t % 3 ? 4 : 60);
        FtB_Matrix A = rng_matrix(&r, t % 2 ? type : FTB_BOOL, n, n, t % 2, rng_unit(&r)), B;
        const char *name = t % 2 ? "rt.wsg" : "rt.sg";
        FtB_Context_set_threads(NULL, 1 + t % 3);
        assert_ok(FtB_Matrix_write(A, temp_path(name), FTB_FORMAT_AUTO, NULL, NULL, 0));
        assert_ok(FtB_Matrix_read(
            &B, NULL, NULL, temp_path(name),
            FTB_READ_OPTIONS(.type = t % 2 ? type : 0, .format = t % 2 ? FTB_WSG : FTB_FORMAT_AUTO)));
        assert_same(A, B);
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&B);
    }
    FtB_Context_set_threads(NULL, 0);
}

/* More entries than a block holds, read and written by several threads. */
static void large(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_INT32, 500, 500, 1, 0.4), B;
    size_t size;
    assert_ok(FtB_Matrix_write(A, temp_path("large.wsg"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    char *file = read_bytes("large.wsg", &size);
    write_gzip("large.gz", file, size);
    for (int threads = 1; threads < 6; threads += 2) {
        FtB_Context_set_threads(NULL, threads);
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path(threads == 3 ? "large.gz" : "large.wsg"), NULL));
        assert_same(A, B);
        FtB_Matrix_free(&B);
    }
    FtB_Context_set_threads(NULL, 0);
    free(file);
    FtB_Matrix_free(&A);
}

/* Neighbours in any order, and twice, as the options say. */
static void unsorted(void **state)
{
    (void)state;
    static const int64_t starts[] = {0, 3, 3}, back_starts[] = {0, 1, 3};
    static const int32_t pairs[] = {1, 4, 0, 2, 1, 6}, back[] = {0, 2, 0, 6, 0, 4};
    bytes b;
    FtB_Matrix A;
    put_head(&b, 1, 3, 2);
    put(&b, starts, sizeof starts);
    put(&b, pairs, sizeof pairs);
    put(&b, back_starts, sizeof back_starts);
    put(&b, back, sizeof back);
    write_bytes("unsorted", b.at, b.size);
    assert_ok(
        FtB_Matrix_read(&A, NULL, NULL, temp_path("unsorted"), FTB_READ_OPTIONS(.duplicates = FTB_DUP_MIN)));
    assert_valid(A, false);
    assert_true(value_at(A, 0, 0, 0, 0) == 2 && value_at(A, 0, 1, 0, 0) == 4 &&
                value_at(A, 1, 0, 0, -1) == -1);
    FtB_Matrix_free(&A);
}

static void damaged(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        char to;
        const char *message; /* of the directed graph with weights: 129 bytes */
    } cases[] = {{0, 2, "is no serialized graph of GAP"},
                 {8, (char)0x80, "is no serialized graph of GAP"},
                 {16, 1, "is no serialized graph of GAP"},
                 {1, 4, "row pointers go from 0 to 3; expected 0 to 4"},
                 {1, 2, "row pointers go from 0 to 3; expected 0 to 2"},
                 {9, 4, "row pointers"}, /* of what were neighbours */
                 {17, 1, "row pointers go from 1 to 3"},
                 {25, 4, "row pointers fall from 4 to 2 at row 1"},
                 {49, 3, "entry 0 has column 3; expected 0 to 2"},
                 {52, (char)0x80, "entry 0 has column -"},
                 {49, 0, "the inverse graph, behind the graph, has other edges"},
                 {53, 8, "the inverse graph, behind the graph, has other edges"},
                 {73, 1, "inverse row pointers go from 1 to 3"},
                 {81, 2, "the inverse graph, behind the graph, has other edges"},
                 {105, 1, "the inverse graph, behind the graph, has other edges"},
                 {108, 1, "the inverse graph, behind the graph, has other edges"},
                 {109, 1, "the inverse graph, behind the graph, has other edges"}};
    bytes good, bad;
    FtB_Matrix A;
    directed(&good, true);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bad = good;
        bad.at[cases[c].at] = cases[c].to;
        write_bytes("bad.wsg", bad.at, bad.size);
        assert_fails(
            FTB_FORMAT, cases[c].message,
            FtB_Matrix_read(&A, NULL, NULL, temp_path("bad.wsg"), FTB_READ_OPTIONS(.format = FTB_WSG)));
        assert_non_null(strstr(FtB_error(), "bad.wsg: "));
        assert_null(A);
    }
    undirected(&bad, true);
    bad.at[17 + 32 + 4] = 6;
    write_bytes("bad.wsg", bad.at, bad.size);
    assert_fails(FTB_FORMAT, "says that its edges have no direction",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("bad.wsg"), NULL));
}

/* Cut anywhere, or with a byte more, as a file and as what has no known length. */
static void cut(void **state)
{
    (void)state;
    bytes b;
    FtB_Matrix A;
    for (int weights = 0; weights < 2; weights++) {
        directed(&b, weights);
        const FtB_Format format = weights ? FTB_WSG : FTB_SG;
        b.at[b.size] = 0;
        for (size_t size = 1; size <= b.size + 1; size++) {
            if (size == b.size)
                continue;
            for (int packed = 0; packed < 2; packed++) {
                (packed ? write_gzip : write_bytes)("cut", b.at, size);
                assert_fails(
                    FTB_FORMAT, "cut: ",
                    FtB_Matrix_read(&A, NULL, NULL, temp_path("cut"), FTB_READ_OPTIONS(.format = format)));
                assert_null(A);
            }
        }
    }
    /* Lengths are told apart: one file is not the other format. */
    directed(&b, true);
    write_bytes("w", b.at, b.size);
    assert_fails(FTB_FORMAT, ": has 129 bytes; its head announces 105, or, with weights, 129",
                 FtB_Matrix_read(&A, NULL, NULL, temp_path("w"), FTB_READ_OPTIONS(.format = FTB_SG)));
}

static void not_written(void **state)
{
    (void)state;
    static const double X[] = {1, 2.5};
    static const int64_t I[] = {0, 1}, J[] = {1, 1};
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 2, 2, 1, 2, I, J, X, FTB_DUP_ERROR, NULL));
    assert_fails(GrB_INVALID_VALUE,
                 "x.sg: an entry of an .sg file has no value, but of a .wsg file; these have 1",
                 FtB_Matrix_write(A, temp_path("x.sg"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    assert_fails(GrB_INVALID_VALUE,
                 "x.wsg: the weight of entry 1, from 0, is 2.5; expected a whole number of 32 bits",
                 FtB_Matrix_write(A, temp_path("x.wsg"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 2, 3, 0, 2, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_fails(GrB_INVALID_VALUE, "this is 2 x 3",
                 FtB_Matrix_write(A, temp_path("x.sg"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    assert_int_equal(access(temp_path("x.sg"), F_OK), -1);
    assert_int_equal(access(temp_path("x.wsg"), F_OK), -1);
}

/* A limit that is too small is refused with one that does: of a length that shows at the end, too. Where
 * neighbours turn out not to ascend, which is known when they were read, it may be refused once more. */
static void chase(FtB_Context ctx, int64_t most, bool ascend)
{
    FtB_Matrix A;
    int refused = 0;
    for (int64_t limit = 20000, enough; limit < most; limit += limit / 2, refused++) {
        assert_ok(FtB_Context_set_memory_limit(ctx, limit));
        GrB_Info info = FtB_Matrix_read(&A, NULL, NULL, temp_path("limit"), NULL);
        FtB_Matrix_free(&A);
        if (info == GrB_SUCCESS)
            break;
        assert_int_equal(info, FTB_LIMIT);
        if ((enough = limit_behind("for that ")) == 0)
            continue; /* the file is not even open */
        assert_true(enough > limit);
        assert_ok(FtB_Context_set_memory_limit(ctx, enough));
        info = FtB_Matrix_read(&A, NULL, NULL, temp_path("limit"), NULL);
        if (info == FTB_LIMIT && !ascend) {
            assert_true(limit_behind("for that ") > enough);
            assert_ok(FtB_Context_set_memory_limit(ctx, limit_behind("for that ")));
            info = FtB_Matrix_read(&A, NULL, NULL, temp_path("limit"), NULL);
        }
        assert_ok(info);
        FtB_Matrix_free(&A);
    }
    assert_true(refused > 0);
}

static void limits(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Context ctx;
    enum { N = 400 };
    for (int kind = 0; kind < 4; kind++) {
        size_t size;
        int32_t pairs[4];
        FtB_Matrix A = rng_matrix(&r, kind % 2 ? FTB_INT32 : FTB_BOOL, N, N, kind % 2, 0.3);
        assert_ok(FtB_Matrix_write(A, temp_path("limit"), kind % 2 ? FTB_WSG : FTB_SG, NULL, NULL, 0));
        FtB_Matrix_free(&A);
        char *file = read_bytes("limit", &size);
        if (kind == 1) { /* the first two neighbours of the first vertex, the other way round */
            memcpy(pairs, file + 17 + 8 * (N + 1) + 8, 8);
            memcpy(pairs + 2, file + 17 + 8 * (N + 1), 8);
            memcpy(file + 17 + 8 * (N + 1), pairs, 16);
        }
        (kind > 1 ? write_gzip : write_bytes)("limit", file, size);
        free(file);
        assert_ok(FtB_Context_new(&ctx));
        assert_ok(FtB_Context_engage(ctx));
        chase(ctx, 100 * N * N, kind != 1);
        assert_ok(FtB_Context_engage(NULL));
        FtB_Context_free(&ctx);
    }
}

static GrB_Info read_it(void *arg)
{
    FtB_Matrix A;
    GrB_Info info = FtB_Matrix_read(&A, NULL, NULL, temp_path(arg), FTB_READ_OPTIONS(.type = FTB_INT64));
    FtB_Matrix_free(&A);
    return info;
}

static GrB_Info write_it(void *arg)
{
    FtB_Matrix A;
    GrB_Info info = FtB_Matrix_read(&A, NULL, NULL, temp_path("hand"), NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_write(A, temp_path(arg), FTB_FORMAT_AUTO, NULL, NULL, 0);
    FtB_Matrix_free(&A);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    char names[3][32] = {"hand", "hand.gz", "out.wsg"};
    bytes b;
    directed(&b, true);
    write_bytes("hand", b.at, b.size);
    write_gzip("hand.gz", b.at, b.size);
    fail_every_allocation(read_it, NULL, names[0]);
    fail_every_allocation(read_it, NULL, names[1]);
    fail_every_allocation(write_it, NULL, names[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_for_byte), cmocka_unit_test(weights),
        cmocka_unit_test(round_trips),   cmocka_unit_test(large),
        cmocka_unit_test(unsorted),      cmocka_unit_test(damaged),
        cmocka_unit_test(cut),           cmocka_unit_test(not_written),
        cmocka_unit_test(limits),        cmocka_unit_test(failing_allocations)};
    FtB_Context_set_sync(NULL, false); /* hundreds of files */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
