/* Sources to functions: the process's table, then the folder of compiled code (core/code_cache.h), then the
 * compiler. Nothing here fails: without a function the interpreter runs. */
#include "cpu/jit.h"

#include "core/code_cache.h"
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

/* Compiles to `object`, from a source beside it. */
static bool make_file(const char *object, const char *source)
{
    char text[FTB_CODE_PATH + 64];
    snprintf(text, sizeof text, "%s.c", object);
    const bool done =
        ftb_code_put(text, source, (int64_t)strlen(source), NULL, 0) && run_compiler(text, object);
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
static ftb_jit_rows load_kept(const char *path, const char *source)
{
    static atomic_int number;
    char made[FTB_CODE_PATH + 48];
    ftb_jit_rows rows = ftb_code_usable(path) ? open_file(path) : NULL;
    if (rows)
        return rows;
    snprintf(made, sizeof made, "%s.%ld.%d", path, (long)getpid(), atomic_fetch_add(&number, 1));
    return make_file(made, source) && ftb_code_keep(made, path) ? open_file(path) : NULL;
}

/* In a folder of its own, where nothing is to be kept. */
static ftb_jit_rows load_once(const char *source)
{
    const char *temporary = ftb_getenv_code("TMPDIR");
    char folder[PATH_ROOM], object[PATH_ROOM + 16];
    const int length =
        snprintf(folder, sizeof folder, "%s/featblas-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (length >= PATH_ROOM || !mkdtemp(folder))
        return NULL;
    snprintf(object, sizeof object, "%s/code.so", folder);
    ftb_jit_rows rows = make_file(object, source) ? open_file(object) : NULL;
    unlink(object);
    rmdir(folder);
    return rows;
}

/* ---- the table */

/* The compiler's file with its size and time: another version is another one. */
static void describe_compiler(char text[PATH_ROOM])
{
    char name[PATH_ROOM], path[PATH_ROOM];
    const char *folders = getenv("PATH");
    struct stat info = {.st_size = 0};
    snprintf(name, sizeof name, "%s", compiler());
    name[strcspn(name, " ")] = '\0';
    bool found = strchr(name, '/') ? stat(name, &info) == 0 : false;
    while (!found && !strchr(name, '/') && folders && *folders) {
        const size_t length = strcspn(folders, ":");
        found = length + strlen(name) + 2 < sizeof path &&
                snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, name) > 0 &&
                stat(path, &info) == 0;
        folders += length + (folders[length] == ':');
    }
    snprintf(text, PATH_ROOM, "%.512s %lld %lld", compiler(), found ? (long long)info.st_size : -1,
             found ? (long long)info.st_mtime : -1);
}

static ftb_jit_rows load(const char *source)
{
    char path[FTB_CODE_PATH], with[PATH_ROOM];
    describe_compiler(with);
    const char *const texts[] = {source, with, flags()};
    return ftb_code_path(path, texts, 3, ".so") ? load_kept(path, source) : load_once(source);
}

/* Called for every product: a compiler that changes while the process runs is the same to it. */
ftb_jit_rows ftb_jit_compile(const char *source)
{
    if (!ftb_jit_wanted())
        return NULL;
    const char *const texts[] = {source, compiler(), flags()};
    uint64_t key[2];
    ftb_code_key(key, texts, 3);
    ftb_jit_rows rows = NULL;
    pthread_mutex_lock(&table_lock);
    int at = 0;
    while (at < table_used && memcmp(table[at].key, key, sizeof key) != 0)
        at++;
    if (at == table_used && at < TABLE) {
        memcpy(table[at].key, key, sizeof key);
        table[at].rows = load(source);
        table_used++;
    }
    if (at < TABLE)
        rows = table[at].rows;
    pthread_mutex_unlock(&table_lock);
    return rows;
}
