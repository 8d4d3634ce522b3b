/* Gzipped files: several members, padding, and damage wherever it is, in every format that is read. */
#include "support/check.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <stdlib.h>
#include <zlib.h>

typedef struct format {
    const char *name;
    bool block;
} format;

static const format formats[] = {{"m.mtx", false}, {"m.tsv", false}, {"m.csv", false}, {"m.npz", false},
                                 {"m.csr", false}, {"b.npy", true},  {"b.mtx", true},  {"b.csv", true}};

#define NFORMATS (sizeof formats / sizeof *formats)

static GrB_Info read_file(const format *f, const char *name)
{
    FtB_Matrix A = NULL;
    FtB_Block X = NULL;
    GrB_Info info = f->block ? FtB_Block_read(&X, temp_path(name), NULL)
                             : FtB_Matrix_read(&A, NULL, NULL, temp_path(name), NULL);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    return info;
}

/* The bytes of the format's file, written by us. */
static char *plain(const format *f, size_t *size)
{
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, 30, 40, 1, 0.2);
    if (f->block) {
        FtB_Block X;
        void *data;
        assert_ok(FtB_Block_new(&X, 20, 3, FTB_FP64));
        assert_ok(FtB_Block_shape(X, NULL, NULL, NULL, NULL, &data));
        for (int k = 0; k < 60; k++)
            ((double *)data)[k] = 2 * rng_unit(&r) - 1;
        assert_ok(FtB_Block_write(X, temp_path(f->name), FTB_FORMAT_AUTO, 0));
        FtB_Block_free(&X);
    } else {
        assert_ok(FtB_Matrix_write(A, temp_path(f->name), FTB_FORMAT_AUTO, NULL, NULL, 0));
    }
    FtB_Matrix_free(&A);
    return read_bytes(f->name, size);
}

/* The file as two members, of which the second begins at *second. */
static char *two_members(const format *f, size_t *size, size_t *second)
{
    size_t whole, a, b;
    char *bytes = plain(f, &whole);
    write_gzip("one.gz", bytes, whole / 3);
    write_gzip("two.gz", bytes + whole / 3, whole - whole / 3);
    free(bytes);
    char *one = read_bytes("one.gz", &a), *two = read_bytes("two.gz", &b);
    char *both = malloc(a + b + 1024);
    memcpy(both, one, a);
    memcpy(both + a, two, b);
    memset(both + a + b, 0, 1024);
    free(one);
    free(two);
    *size = a + b;
    *second = a;
    return both;
}

static void members_and_padding(void **state)
{
    (void)state;
    for (size_t n = 0; n < NFORMATS; n++) {
        size_t size, second;
        char *both = two_members(&formats[n], &size, &second);
        const size_t padding[] = {0, 1, 511, 1024};
        for (size_t p = 0; p < 4; p++) {
            write_bytes("good.gz", both, size + padding[p]);
            assert_ok(read_file(&formats[n], "good.gz"));
        }
        free(both);
    }
}

/* Whether zlib unpacks the file to the bytes that were packed: some other bits mean the same. */
static bool unpacks_to(const char *name, const char *bytes, size_t size)
{
    char *found = malloc(size + 1);
    gzFile f = gzopen(temp_path(name), "rb");
    const bool same = gzread(f, found, (unsigned)size + 1) == (int)size && memcmp(found, bytes, size) == 0;
    gzclose(f);
    free(found);
    return same;
}

/* One bit of any byte behind the first member's head, but for time, flags and system in that of the second:
 * never read as if nothing had been. */
static void damage(void **state)
{
    (void)state;
    for (size_t n = 0; n < NFORMATS; n++) {
        size_t size, second, whole;
        char *both = two_members(&formats[n], &size, &second), *bytes = read_bytes(formats[n].name, &whole);
        for (size_t at = 10; at < size; at++) {
            if (at > second + 2 && at < second + 10)
                continue;
            both[at] ^= 1; /* the low bit: high ones of a last byte may mean nothing */
            write_bytes("bad.gz", both, size);
            const GrB_Info info = read_file(&formats[n], "bad.gz");
            both[at] ^= 1;
            if (info == GrB_SUCCESS ? !unpacks_to("bad.gz", bytes, whole)
                                    : info != FTB_FORMAT || !strstr(FtB_error(), "bad.gz"))
                fail_msg("%s, byte %zu of %zu: %d, %s", formats[n].name, at, size, (int)info, FtB_error());
        }
        free(both);
        free(bytes);
    }
}

static void cut_short(void **state)
{
    (void)state;
    for (size_t n = 0; n < NFORMATS; n++) {
        size_t size, second;
        char *both = two_members(&formats[n], &size, &second);
        for (size_t keep = 10; keep < size; keep++) {
            if (keep == second)
                continue; /* a whole member */
            write_bytes("cut.gz", both, keep);
            if (read_file(&formats[n], "cut.gz") != FTB_FORMAT)
                fail_msg("%s, %zu of %zu bytes: read", formats[n].name, keep, size);
        }
        free(both);
    }
}

/* What stands behind the last member. */
static void behind(void **state)
{
    (void)state;
    for (size_t n = 0; n < NFORMATS; n++) {
        size_t size, second;
        char *both = two_members(&formats[n], &size, &second), message[64];
        for (size_t zeros = 0; zeros < 700; zeros += 233) {
            both[size + zeros] = 'x';
            write_bytes("behind.gz", both, size + zeros + 1);
            both[size + zeros] = 0;
            snprintf(message, sizeof message, "behind.gz: byte %zu, behind the gzip data", size + zeros);
            assert_fails(FTB_FORMAT, message, read_file(&formats[n], "behind.gz"));
        }
        memcpy(both + size + 3, both + second, 100); /* a member behind padding */
        write_bytes("behind.gz", both, size + 103);
        assert_fails(FTB_FORMAT, "behind the gzip data", read_file(&formats[n], "behind.gz"));
        both[size] = 0x1f;
        write_bytes("behind.gz", both, size + 1);
        assert_fails(FTB_FORMAT, "ends early, in its gzip data", read_file(&formats[n], "behind.gz"));
        free(both);
    }
}

/* Formats that say how long they are. */
static void goes_on(void **state)
{
    (void)state;
    for (size_t n = 0; n < NFORMATS; n++) {
        if (!strstr(formats[n].name, ".csr") && !strstr(formats[n].name, ".npy"))
            continue;
        size_t size;
        char *bytes = plain(&formats[n], &size);
        write_bytes("long", bytes, size + 1); /* the NUL behind */
        assert_int_equal(read_file(&formats[n], "long"), FTB_FORMAT);
        write_gzip("long", bytes, size + 1);
        assert_fails(FTB_FORMAT, "long: goes on after its ", read_file(&formats[n], "long"));
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(members_and_padding), cmocka_unit_test(damage),
                                       cmocka_unit_test(cut_short), cmocka_unit_test(behind),
                                       cmocka_unit_test(goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
