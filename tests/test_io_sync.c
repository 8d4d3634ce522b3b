/* Files outlive a loss of power: bytes are on the disk before the file takes its name, the name is before the
 * call returns, and none of it where the context does not care. fsync and rename are noted and may fail. */
#include "support/check.h"
#include "support/temporary.h"

#include "featblas_nn.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char calls[4096]; /* "sync NAME; rename NAME; sync folder; " */
static int failing;      /* the fsync that fails, from 1; 0: none */
static int fault, syncs;

/* The name without its folder; of a temporary, ".NAME.PID-N.tmp", the name that it will get. */
static void note(const char *what, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end = strstr(name, ".tmp");
    const size_t at = strlen(calls);
    int length = (int)strlen(name);
    name += *name == '.';
    for (int dots = 0; end && dots < 1; dots += *--end == '.')
        length = (int)(end - name) - 1;
    snprintf(calls + at, sizeof calls - at, "%s %.*s; ", what, length, name);
}

int fsync(int fd)
{
    char link[64], path[PATH_MAX] = "";
    struct stat st;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0 || fstat(fd, &st) != 0)
        return -1;
    note("sync", S_ISDIR(st.st_mode) ? "folder" : path);
    if (++syncs == failing) {
        errno = fault;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    note("rename", to);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0u);
}

static void begin(int fails, int error)
{
    calls[0] = 0;
    syncs = 0;
    failing = fails;
    fault = error;
}

/* ---- everything that is written */

static FtB_Matrix A;
static FtB_Block X;
static FtB_Labels labels;
static FtB_Tensors tensors;

static GrB_Info write_matrix(const char *path) { return FtB_Matrix_write(A, path, 0, NULL, NULL, 0); }
static GrB_Info write_ids(const char *path) { return FtB_Matrix_write(A, path, 0, labels, labels, 0); }
static GrB_Info write_block(const char *path) { return FtB_Block_write(X, path, 0, 0); }
static GrB_Info write_tensors(const char *path) { return FtB_Tensors_write(tensors, path); }
static GrB_Info write_wisdom(const char *path) { return FtB_Wisdom_save(NULL, path); }

static const struct {
    const char *name, *calls;
    GrB_Info (*write)(const char *path);
} rows[] = {
    {"a.mtx", "sync a.mtx; rename a.mtx; sync folder; ", write_matrix},
    {"a.tsv", "sync a.tsv; rename a.tsv; sync folder; ", write_matrix},
    {"a.csv", "sync a.csv; rename a.csv; sync folder; ", write_matrix},
    {"a.npz", "sync a.npz; rename a.npz; sync folder; ", write_matrix},
    {"a.csr", "sync a.csr; rename a.csr; sync folder; ", write_matrix},
    {"i.npz", "sync i.npz; sync i.ids.csv; rename i.ids.csv; sync folder; rename i.npz; sync folder; ",
     write_ids},
    {"x.npy", "sync x.npy; rename x.npy; sync folder; ", write_block},
    {"x.mtx", "sync x.mtx; rename x.mtx; sync folder; ", write_block},
    {"x.safetensors", "sync x.safetensors; rename x.safetensors; sync folder; ", write_tensors},
    {"wisdom", "sync wisdom; rename wisdom; sync folder; ", write_wisdom},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void order(void **state)
{
    (void)state;
    for (int r = 0; r < ROWS; r++) {
        begin(0, 0);
        assert_ok(rows[r].write(temp_path(rows[r].name)));
        assert_string_equal(calls, rows[r].calls);
    }
}

/* The renames stay, and what is written is the same. */
static void not_wanted(void **state)
{
    (void)state;
    assert_ok(FtB_Context_set_sync(NULL, false));
    for (int r = 0; r < ROWS; r++) {
        size_t size[2];
        char *with = read_bytes(rows[r].name, &size[0]);
        begin(0, 0);
        assert_ok(rows[r].write(temp_path(rows[r].name)));
        assert_null(strstr(calls, "sync"));
        assert_non_null(strstr(calls, "rename"));
        char *without = read_bytes(rows[r].name, &size[1]);
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(with, without, size[0]);
        free(with);
        free(without);
    }
    assert_ok(FtB_Context_set_sync(NULL, true));
}

/* Any sync of a file that fails leaves what was there as it was, also of files that belong together. */
static void refused(void **state)
{
    (void)state;
    for (int r = 0; r < ROWS; r++) {
        const int of_files = strcmp(rows[r].name, "i.npz") == 0 ? 2 : 1;
        write_string("i.ids.csv", "old");
        for (int fails = 1; fails <= of_files; fails++) {
            write_string(rows[r].name, "old");
            const int files = count_files();
            begin(fails, EIO);
            assert_fails(FTB_IO, "cannot write: Input/output error", rows[r].write(temp_path(rows[r].name)));
            assert_null(strstr(calls, "rename"));
            assert_int_equal(count_files(), files);
            char *kept = read_bytes(rows[r].name, NULL), *ids = read_bytes("i.ids.csv", NULL);
            assert_string_equal(kept, "old");
            assert_string_equal(ids, "old");
            free(kept);
            free(ids);
        }
        begin(of_files + 1, EIO); /* of the folder: the file is there, and whole, but its name may be lost */
        assert_fails(FTB_IO, "Input/output error", rows[r].write(temp_path(rows[r].name)));
        begin(of_files + 1, EINVAL); /* a file system that syncs no folders */
        assert_ok(rows[r].write(temp_path(rows[r].name)));
        begin(1, EINTR);
        assert_ok(rows[r].write(temp_path(rows[r].name)));
        assert_int_equal(syncs, 2 * of_files + 1);
    }
}

/* Only what has a name, and what gets it, is waited for. */
static void nameless(void **state)
{
    (void)state;
    begin(0, 0);
    redirect_stdout("out");
    GrB_Info info = FtB_Matrix_write(A, "-", FTB_NPZ, NULL, NULL, 0); /* by way of a spool */
    restore_stdout();
    assert_ok(info);
    assert_ok(FtB_Matrix_write(A, "/dev/null", FTB_NPZ, NULL, NULL, 0));
    assert_string_equal(calls, "");
    FtB_Sink sink;
    assert_ok(FtB_Sink_file(&sink, temp_path("unfinished.mtx"), 0, NULL));
    assert_ok(FtB_Sink_free(&sink));
    ftb_file *f;
    assert_ok(ftb_file_create(&f, ftb_context(), temp_path("discarded")));
    assert_ok(ftb_file_write(f, "x", 1));
    ftb_file_discard(&f);
    assert_string_equal(calls, "");
}

/* A folder that may be written to but not read cannot be waited for. */
static void blind_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir(temp_path("drop"), 0700), 0);
    assert_int_equal(chmod(temp_path("drop"), 0300), 0);
    begin(0, 0);
    assert_ok(write_matrix(temp_path("drop/a.mtx")));
    assert_int_equal(syncs, geteuid() == 0 ? 2 : 1);
    assert_int_equal(chmod(temp_path("drop"), 0700), 0);
    unlink(temp_path("drop/a.mtx"));
    rmdir(temp_path("drop"));
}

/* A large file is waited for in pieces, between which a signal ends it. */
static void cancelled(void **state)
{
    (void)state;
    FtB_Context ctx;
    ftb_file *f;
    assert_ok(FtB_Context_new(&ctx));
    write_string("large", "old");
    assert_ok(ftb_file_create(&f, ctx, temp_path("large")));
    assert_ok(ftb_file_write_at(f, INT64_C(300) << 20, "x", 1)); /* all but a page of it is a hole */
    FtB_Context_cancel(ctx);
    assert_fails(FTB_CANCELLED, "cancelled while writing", ftb_file_commit(&f));
    char *kept = read_bytes("large", NULL);
    assert_string_equal(kept, "old");
    free(kept);
    FtB_Context_free(&ctx);
}

static int setup(void **state)
{
    static const char *const strings[] = {"p", "q", "r"};
    (void)state;
    write_string("in.tsv", "0\t1\t2.5\n1\t2\t0.5\n2\t0\t-1\n");
    return FtB_Matrix_read(&A, NULL, NULL, temp_path("in.tsv"), NULL) ||
           FtB_Block_read(&X, temp_path("in.tsv"), NULL) || FtB_Labels_new(&labels, 3, strings) ||
           FtB_Tensors_new(&tensors) || FtB_Tensors_set(tensors, "x", X, -1, NULL);
}

static int teardown(void **state)
{
    (void)state;
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Labels_free(&labels);
    FtB_Tensors_free(&tensors);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order),        cmocka_unit_test(not_wanted),
                                       cmocka_unit_test(refused),      cmocka_unit_test(nameless),
                                       cmocka_unit_test(blind_folder), cmocka_unit_test(cancelled)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
