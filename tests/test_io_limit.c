/* A memory limit that is too small for reading is refused with one that is enough, and that does.
 *
 * Labels: unit, serial */
#include "support/check.h"
#include "support/limits.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;

enum { SORTED_MTX, MIXED_MTX, SYMMETRIC_MTX, DENSE_IDS, SCATTERED_IDS, TEXT_IDS, LISTS, TEXT_LISTS, KINDS };

/* Writes n lines of a kind. */
static void write_kind(int kind, int n)
{
    rng r = rng_new();
    char *p = text;
    if (kind <= SYMMETRIC_MTX)
        p += sprintf(p, "%%%%MatrixMarket matrix coordinate real %s\n%d %d %d\n",
                     kind == SYMMETRIC_MTX ? "symmetric" : "general", 2 * n, 2 * n, n);
    for (int e = 0; e < n; e++)
        switch (kind) {
        case SORTED_MTX:
            p += sprintf(p, "%d %d 0.5\n", e + 1, (int)rng_below(&r, n) + 1);
            break;
        case MIXED_MTX:
        case SYMMETRIC_MTX:
            p += sprintf(p, "%d %d %d\n", (int)rng_below(&r, n) + n + 1, e + 1, e);
            break;
        case DENSE_IDS:
            p += sprintf(p, "%d,%d,%d\n", (int)rng_below(&r, 300), e, e % 7);
            break;
        case SCATTERED_IDS:
            p += sprintf(p, "%lld,%lld,%d\n", (long long)(rng_bits(&r) >> 1), (long long)(rng_bits(&r) >> 1),
                         e % 7);
            break;
        case LISTS:
            p += sprintf(p, e % 50 ? " %d" : "\n%d", e % 50 ? e : (int)rng_below(&r, n));
            break;
        case TEXT_LISTS:
            p += sprintf(p, e % 50 ? ",the item %d" : "\nuser %d", e % 50 ? e : (int)rng_below(&r, n));
            break;
        default:
            p += sprintf(p, "user %d,the item %lld\n", (int)rng_below(&r, n), (long long)rng_bits(&r));
        }
    write_bytes("limit", text, (size_t)(p - text));
}

static GrB_Info read_within(FtB_Context ctx, int64_t limit, FtB_Dup dup, int kind)
{
    FtB_Matrix A = NULL;
    FtB_Labels rows = NULL, cols = NULL;
    assert_ok(FtB_Context_set_memory_limit(ctx, limit));
    GrB_Info info = FtB_Matrix_read(
        &A, &rows, &cols, temp_path("limit"),
        FTB_READ_OPTIONS(.duplicates = dup, .adjacency = kind == LISTS || kind == TEXT_LISTS));
    FtB_Matrix_free(&A);
    FtB_Labels_free(&rows);
    FtB_Labels_free(&cols);
    return info;
}

/* Limits from a sixteenth of the file's size on: the one that is named does. */
static void chase(FtB_Context ctx, int64_t size, FtB_Dup dup, int kind)
{
    int refused = 0;
    for (int64_t limit = size / 16; limit < 4 * size; limit += limit / 2) {
        GrB_Info info = read_within(ctx, limit, dup, kind);
        if (info == GrB_SUCCESS)
            break;
        assert_int_equal(info, FTB_LIMIT);
        const int64_t enough = limit_behind("for that ");
        if (!enough) /* not even the first piece of text fits */
            continue;
        if (enough <= limit || read_within(ctx, enough, dup, kind) != GrB_SUCCESS)
            fail_msg("kind %d, rule %d: of the limit %lld, %lld was said to do: %s", kind, (int)dup,
                     (long long)limit, (long long)enough, FtB_error());
        refused++;
    }
    assert_true(refused > 0);
}

static void named_limits(void **state)
{
    (void)state;
    static const FtB_Dup rules[] = {FTB_DUP_SUM, FTB_DUP_ERROR, FTB_DUP_COUNT};
    static const int threads[] = {1, 3, 40};
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    for (int kind = 0; kind < KINDS; kind++) {
        const int n = 60000;
        write_kind(kind, n);
        for (int t = 0; t < 3; t++) {
            assert_ok(FtB_Context_set_threads(ctx, threads[t]));
            chase(ctx, 20 * (int64_t)n, rules[(t + kind) % 3], kind);
        }
    }
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

static int set_up(void **state)
{
    (void)state;
    return (text = malloc(64 * 60000 + 1000)) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(named_limits)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
