/* What every subcommand writes outlives a loss of power: where fsync fails, the command says so and leaves
 * the old file; with --no-sync nothing waits for the disk. A filter of system calls, which the command
 * inherits, makes fsync fail. */
#include "support/check.h"
#include "support/command.h"
#include "support/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* fsync fails with EIO from now on, here and in children; false: the system cannot do that. */
static bool break_fsync(void)
{
#ifdef __linux__
    struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
#else
    return false;
#endif
}

/* The arguments of a subcommand that writes `file`, in the folder of the test. */
typedef struct writing {
    const char *file, *arguments[12];
} writing;

static const writing rows[] = {
    {"g.tsv", {"gen", "sbm", "--vertices", "40", "--blocks", "2", "--symmetric", "-o", "g.tsv"}},
    {"pairs.npz", {"project", "g.tsv", "-o", "pairs.npz"}},
    {"g.svg", {"draw", "g.tsv", "-o", "g.svg"}},
    {"wisdom", {"plan", "--op", "spmm", "--graph", "g.tsv", "--dim", "4", "--measure", "--wisdom", "wisdom"}},
    {"made/split.txt", {"gen", "csbm", "--vertices", "60", "-o", "made"}},
    {"m.safetensors", {"train", "made", "--epochs", "1", "--save", "m.safetensors"}},
    {"learned.svg", {"train", "made", "--epochs", "1", "--plot", "learned.svg"}},
    {"y.tsv", {"predict", "made", "--load", "m.safetensors", "-o", "y.tsv"}},
    {"demo/women.csv", {"demo", "demo"}},
};

static int run(const writing *w, bool synced)
{
    const char *arguments[16] = {getenv("FEATBLAS_COMMAND")};
    int count = 1;
    for (int a = 0; w->arguments[a]; a++)
        arguments[count++] = w->arguments[a];
    arguments[count++] = "-q";
    if (!synced)
        arguments[count] = "--no-sync";
    return command_run(arguments);
}

static void every_writer(void **state)
{
    (void)state;
    assert_int_equal(chdir(temp_path("")), 0);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const int code = run(&rows[r], false);
        char *said = read_bytes("said", NULL);
        if (code != 0)
            fail_msg("%s --no-sync, for %s: %d, %s", rows[r].arguments[0], rows[r].file, code, said);
        free(said);
        char *whole = read_bytes(rows[r].file, NULL);
        assert_non_null(whole);
        free(whole);
        if (strcmp(rows[r].file, "wisdom") != 0) /* read before it is written */
            write_string(rows[r].file, "old");
        const int refused = run(&rows[r], true);
        said = read_bytes("said", NULL);
        if (refused != 5 || !strstr(said, "cannot write: Input/output error"))
            fail_msg("%s, for %s: %d, %s", rows[r].arguments[0], rows[r].file, refused, said);
        free(said);
        char *kept = read_bytes(rows[r].file, NULL);
        if (strcmp(rows[r].file, "wisdom") != 0)
            assert_string_equal(kept, "old");
        free(kept);
        assert_int_equal(run(&rows[r], false), 0); /* for those that follow */
    }
}

static void not_a_writer(void **state)
{
    (void)state;
    const writing info = {.arguments = {"info", "g.tsv"}};
    assert_int_equal(run(&info, true), 0);
    assert_int_equal(run(&info, false), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_writer), cmocka_unit_test(not_a_writer)};
    command_setup();
    setenv("ASAN_OPTIONS", "exitcode=99:allocator_may_return_null=1:detect_leaks=0", 1); /* fontconfig's */
    temp_path(""); /* the folder is this program's */
    if (!getenv("FEATBLAS_COMMAND") || !break_fsync()) {
        puts("skipped: needs the command, and a system that filters its calls");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
