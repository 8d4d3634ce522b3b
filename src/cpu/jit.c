/* Sources to functions: the process's table, then a folder of compiled files named by their content, then the
 * compiler. Nothing here fails: without a function the interpreter runs.
 *
 * Processes may share the folder: a file is written under a name of its own and then renamed, so that it is
 * whole or not there, and it does not matter who was first. */
#include "cpu/jit.h"

#include "core/isa.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_ROOM 1024
#define TABLE 256 /* functions that a process holds at most; more are not compiled */
#define WORDS 16  /* of a compiler's command */

extern char **environ;

static struct {
    uint64_t key[2];
    ftb_jit_rows rows; /* NULL: it was tried */
} table[TABLE];
static int table_used;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

bool ftb_jit_wanted(void)
{
    const char *text = ftb_getenv_code("FEATBLAS_JIT");
    return text && *text && strcmp(text, "0") != 0;
}

/* ---- commands */

/* "cc" is $CC, or cc; anything else is the compiler itself. */
static const char *compiler(void)
{
    const char *text = ftb_getenv_code("FEATBLAS_JIT"), *cc = ftb_getenv_code("CC");
    return strcmp(text, "cc") == 0 && cc && *cc ? cc : text;
}

/* The instruction set that kernels run on (cmake/Cells.cmake). */
static const char *flags(void)
{
#ifdef FTB_X86_CELLS
    static const char avx2[] = "-mavx2 -mfma -mbmi2 -mpopcnt",
                      avx512[] = "-mavx2 -mfma -mbmi2 -mpopcnt -mavx512f -mavx512bw -mavx512cd -mavx512dq "
                                 "-mavx512vl -mprefer-vector-width=512";
    return ftb_isa() == FTB_ISA_AVX512 ? avx512 : ftb_isa() == FTB_ISA_AVX2 ? avx2 : "";
#else
    return "";
#endif
}

/* Cuts a text at its blanks into words that are added to argv. */
static int add_words(char **argv, int count, char *text)
{
    char *rest;
    for (char *word = strtok_r(text, " ", &rest); word && count < 2 * WORDS;
         word = strtok_r(NULL, " ", &rest))
        argv[count++] = word;
    return count;
}

/* Runs the compiler on `source`, silently; true if it made `out`. */
static bool run_compiler(const char *source, const char *out)
{
    char command[PATH_ROOM], options[512];
    char *argv[2 * WORDS + 8];
    if ((size_t)snprintf(command, sizeof command, "%s", compiler()) >= sizeof command)
        return false;
    snprintf(
        options, sizeof options,
        "-std=gnu11 -O3 -fPIC -shared -w -fwrapv -ffp-contract=fast -fno-math-errno -fno-trapping-math %s",
        flags());
    int count = add_words(argv, 0, command);
    if (count == 0)
        return false;
    count = add_words(argv, count, options);
    const char *const rest[] = {"-o", out, source, "-lm"};
    for (size_t r = 0; r < sizeof rest / sizeof *rest; r++)
        argv[count++] = (char *)(uintptr_t)rest[r];
    argv[count] = NULL;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    bool ran = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    while (ran && waitpid(child, &status, 0) < 0)
        ran = errno == EINTR;
    return ran && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- files */

/* Makes the cache's folder, and its parent; false where there is no place for it. */
static bool cache_folder(char folder[PATH_ROOM])
{
    const char *cache = ftb_getenv_code("XDG_CACHE_HOME"), *home = ftb_getenv_code("HOME");
    size_t length;
    if (cache && *cache == '/')
        length = (size_t)snprintf(folder, PATH_ROOM, "%s", cache);
    else if (home && *home == '/')
        length = (size_t)snprintf(folder, PATH_ROOM, "%s/.cache", home);
    else
        return false;
    if (length > PATH_ROOM / 2)
        return false;
    mkdir(folder, 0700);
    snprintf(folder + length, PATH_ROOM - length, "/featblas");
    struct stat info;
    mkdir(folder, 0700);
    /* Others must not be able to put code there. */
    return stat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
           !(info.st_mode & 022);
}

static bool write_source(const char *path, const char *source)
{
    size_t left = strlen(source);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    while (left > 0) {
        ssize_t done = write(fd, source, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            break;
        source += done;
        left -= (size_t)done;
    }
    return close(fd) == 0 && left == 0;
}

/* Compiles to a name of this process's own, then renames. */
static bool make_file(const char *path, const char *source)
{
    static atomic_int made;
    char text[PATH_ROOM + 128], object[PATH_ROOM + 128];
    int number = atomic_fetch_add(&made, 1);
    snprintf(text, sizeof text, "%s.%ld.%d.c", path, (long)getpid(), number);
    snprintf(object, sizeof object, "%s.%ld.%d.so", path, (long)getpid(), number);
    bool done = write_source(text, source) && run_compiler(text, object) && rename(object, path) == 0;
    unlink(text);
    if (!done)
        unlink(object);
    return done;
}

static ftb_jit_rows open_file(const char *path)
{
    ftb_jit_rows rows = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL),
         *symbol = library ? dlsym(library, FTB_JIT_ENTRY) : NULL;
    if (library && !symbol)
        dlclose(library);
    memcpy(&rows, &symbol, sizeof rows);
    return rows;
}

/* From the folder, or made anew: also where a file there is damaged. */
static ftb_jit_rows load(const uint64_t key[2], const char *source)
{
    char folder[PATH_ROOM], path[PATH_ROOM + 48];
    if (!cache_folder(folder))
        return NULL;
    snprintf(path, sizeof path, "%s/%016llx%016llx.so", folder, (unsigned long long)key[0],
             (unsigned long long)key[1]);
    ftb_jit_rows rows = access(path, R_OK) == 0 ? open_file(path) : NULL;
    return rows || !make_file(path, source) ? rows : open_file(path);
}

/* ---- the table */

static uint64_t hash(uint64_t h, const char *text)
{
    for (; *text; text++) {
        h = (h ^ (unsigned char)*text) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

ftb_jit_rows ftb_jit_compile(const char *source)
{
    if (!ftb_jit_wanted())
        return NULL;
    const char *const parts[] = {source, "|", compiler(), "|", flags()};
    uint64_t key[2] = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)};
    for (int k = 0; k < 2; k++)
        for (size_t t = 0; t < sizeof parts / sizeof *parts; t++)
            key[k] = hash(key[k], parts[t]);
    ftb_jit_rows rows = NULL;
    pthread_mutex_lock(&table_lock);
    int at = 0;
    while (at < table_used && memcmp(table[at].key, key, sizeof key) != 0)
        at++;
    if (at == table_used && at < TABLE) {
        memcpy(table[at].key, key, sizeof key);
        table[at].rows = load(key, source);
        table_used++;
    }
    if (at < TABLE)
        rows = table[at].rows;
    pthread_mutex_unlock(&table_lock);
    return rows;
}
