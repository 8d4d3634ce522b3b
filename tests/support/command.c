#include "support/command.h"

#include "support/check.h"
#include "support/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 120 /* of one command: far more than any needs; what is endless ends there */
#define BROKEN 99   /* exit code of a sanitizer */

void command_setup(void)
{
    setenv("ASAN_OPTIONS", "exitcode=99:allocator_may_return_null=1", 1);
    setenv("UBSAN_OPTIONS", "exitcode=99", 1);
}

static int open_new(const char *name) { return open(temp_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0666); }

int command_run(const char *const *arguments)
{
    temp_path(""); /* the folder is this program's */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int wrote = open_new("wrote"), said = open_new("said");
        if (wrote < 0 || said < 0 || dup2(wrote, 1) < 0 || dup2(said, 2) < 0)
            _exit(126);
        alarm(SECONDS);
        execv(getenv("FEATBLAS_COMMAND"), (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void keep(const char *file, const char *path)
{
    size_t size;
    char *bytes = read_bytes(file, &size);
    FILE *out = fopen(path, "w");
    if (out) {
        (void)!fwrite(bytes, 1, size, out);
        fclose(out);
    }
    free(bytes);
}

int command_bears(const char *const *arguments, const char *file, int number)
{
    char kept[64];
    size_t size;
    const int code = command_run(arguments);
    char *said = read_bytes("said", &size);
    const bool clean =
        code >= 0 && code < BROKEN && said && !strstr(said, "runtime error") && !strstr(said, "Sanitizer");
    if (!clean || (code != 0 && size == 0)) {
        snprintf(kept, sizeof kept, "/tmp/featblas-hostile-%d", number);
        keep(file, kept);
        fail_msg("case %d, %s %s: %d, %s; the file is %s", number, arguments[1], arguments[2], code,
                 said ? said : "", kept);
    }
    free(said);
    return code;
}
