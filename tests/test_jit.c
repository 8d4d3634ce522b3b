/* Messages compiled at run time against the interpreter's; caches that others write too, or damage; no
 * compiler. Skipped where there is no C compiler. */
#include "support/check.h"

#include "core/isa.h"
#include "cpu/jit.h"
#include "cpu/message_run.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 30
#define COLUMNS 50

static bool has_compiler;

/* A cache of this test's own, empty. */
static void fresh_cache(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s", temp_path(name));
    mkdir(path, 0700);
    setenv("XDG_CACHE_HOME", path, 1);
}

/* Calls visit for each file in the cache; their number. */
static int each_file(const char *name, void (*visit)(const char *path))
{
    char folder[1024], path[2048];
    snprintf(folder, sizeof folder, "%s/featblas", temp_path(name));
    DIR *d = opendir(folder);
    int count = 0;
    for (struct dirent *f = d ? readdir(d) : NULL; f; f = readdir(d)) {
        if (f->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        count++;
        if (visit)
            visit(path);
    }
    if (d)
        closedir(d);
    return count;
}

static void remove_file(const char *path) { unlink(path); }

static void damage_file(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("not a library", f);
    fclose(f);
}

/* Files of a test's folder are removed at its end only if its folders are empty. */
static void drop_cache(const char *name)
{
    char path[1024];
    each_file(name, remove_file);
    snprintf(path, sizeof path, "%s/featblas", temp_path(name));
    rmdir(path);
    rmdir(temp_path(name));
}

typedef struct fixture {
    FtB_Matrix A;
    FtB_Block src, dst, norm;
    ftb_message m;
    ftb_message_type type;
    char *source;
} fixture;

static void make(fixture *x, rng *r, const char *text, FtB_Type type, int64_t heads, int64_t width,
                 int64_t edge_width)
{
    FtB_Semiring s, bound;
    ftb_program *program;
    x->A = rng_matrix(r, type, ROWS, COLUMNS, edge_width, 0.2);
    assert_ok(FtB_Block_new(&x->src, COLUMNS, heads * width, type));
    assert_ok(FtB_Block_new(&x->dst, ROWS, heads * width, type));
    assert_ok(FtB_Block_new(&x->norm, ROWS, 1, type));
    rng_values(r, block_values(x->src), type, COLUMNS * heads * width);
    rng_values(r, block_values(x->dst), type, ROWS * heads * width);
    rng_values(r, block_values(x->norm), type, ROWS);
    assert_ok(FtB_Semiring_new(&s, text));
    if (strstr(text, "norm"))
        assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("norm", x->norm), FTB_BIND("scale", 0.75)));
    else
        assert_ok((FtB_Semiring_bind)(&bound, s, NULL, 0));
    assert_ok(ftb_message_new(&x->m, ftb_context(), bound, NULL));
    assert_ok(ftb_message_block(&x->m, "src", FTB_SIDE_COL, x->src, heads));
    assert_ok(ftb_message_block(&x->m, "dst", FTB_SIDE_ROW, x->dst, heads));
    assert_ok(ftb_message_values(&x->m, "edge", x->A, NULL));
    assert_ok(ftb_message_indices(&x->m, x->A->pattern, false, NULL));
    assert_ok(ftb_message_compile(&x->type, &program, &x->m));
    x->source = ftb_codegen(&x->m, program, &x->type, false);
    ftb_program_delete(program);
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&bound);
}

static void release(fixture *x)
{
    ftb_delete(x->source);
    ftb_message_clear(&x->m);
    FtB_Matrix_free(&x->A);
    FtB_Block_free(&x->src);
    FtB_Block_free(&x->dst);
    FtB_Block_free(&x->norm);
}

static void reduce(const fixture *x, void *T, const char *jit, const int64_t *rows, int64_t nrows)
{
    int64_t values = x->m.heads * x->type.width;
    setenv("FEATBLAS_JIT", jit, 1);
    memset(T, 0, (size_t)(ROWS * values) * 8);
    assert_ok(ftb_message_reduce(&x->m, x->A->pattern, T, values, NULL, 0, rows, nrows));
    unsetenv("FEATBLAS_JIT");
}

static const struct {
    const char *text;
    FtB_Type type;
    int64_t heads, width, edge_width;
} cases[] = {
    {"plus : tanh(src * dst + edge)", FTB_FP32, 1, 33, 1},
    {"plus : tanh(src * dst + edge)", FTB_FP64, 2, 16, 2},
    {"max : edge > 0 ? abs(src - dst) : -inf", FTB_FP32, 3, 8, 24},
    {"min : exp(src) * norm[i] * scale", FTB_FP32, 1, 100, 0},
    {"times : src + 3", FTB_INT64, 1, 9, 0},
    {"mean : src - dst * di", FTB_INT16, 2, 11, 1},
    {"or : src > dst && edge", FTB_UINT8, 1, 20, 1},
    {"plus : src == dst", FTB_INT8, 1, 16, 0},
    {"any : sigmoid(src) / (1 + e + i + k)", FTB_FP32, 1, 8, 0},
    {"plus : idiv(src, dst) + int8(src * edge) + max(src, 1)", FTB_INT32, 1, 8, 1},
};
#define NCASES ((int)(sizeof cases / sizeof *cases))

static void test_results(void **state)
{
    (void)state;
    static const int64_t rows[] = {3, 7, 8, 29};
    rng r = rng_new();
    if (!has_compiler)
        skip();
    fresh_cache("results");
    for (int c = 0; c < NCASES; c++) {
        fixture x;
        make(&x, &r, cases[c].text, cases[c].type, cases[c].heads, cases[c].width, cases[c].edge_width);
        int64_t values = ROWS * x.m.heads * x.type.width;
        assert_non_null(x.source);
        void *T[2] = {malloc((size_t)values * 8), malloc((size_t)values * 8)};
        for (int listed = 0; listed < 2; listed++) {
            reduce(&x, T[0], "0", listed ? rows : NULL, listed ? 4 : 0);
            reduce(&x, T[1], "cc", listed ? rows : NULL, listed ? 4 : 0);
            for (int64_t f = 0; f < values; f++) {
                double want = ftb_get_real(T[0], x.type.reduced, f),
                       got = ftb_get_real(T[1], x.type.reduced, f);
                if (!(fabs(got - want) <= 1e-5 * fmax(1, fabs(want))) && got != want)
                    fail_msg("'%s', value %lld: %.9g; expected %.9g", cases[c].text, (long long)f, got, want);
            }
        }
        if (each_file("results", NULL) != c + 1)
            fail_msg("'%s' was not compiled:\n%s", cases[c].text, x.source + strlen(ftb_jit_prelude));
        free(T[0]);
        free(T[1]);
        release(&x);
    }
    drop_cache("results");
}

/* A context whose bits do not depend on the machine has nothing compiled. */
static void test_deterministic(void **state)
{
    (void)state;
    rng r = rng_new();
    fixture x;
    fresh_cache("none");
    make(&x, &r, cases[0].text, cases[0].type, cases[0].heads, cases[0].width, cases[0].edge_width);
    void *T = malloc((size_t)(ROWS * x.m.heads * x.type.width) * 8);
    assert_ok(FtB_Context_set_deterministic(NULL, true));
    reduce(&x, T, "cc", NULL, 0);
    assert_ok(FtB_Context_set_deterministic(NULL, false));
    assert_int_equal(each_file("none", NULL), 0);
    free(T);
    release(&x);
    drop_cache("none");
}

/* What has no source, and a compiler that is not there: the interpreter runs. */
static void test_absent(void **state)
{
    (void)state;
    rng r = rng_new();
    fixture x;
    fresh_cache("absent");
    make(&x, &r, "plus : dot(src, dst)", FTB_FP32, 1, 16, 0);
    assert_null(x.source);
    release(&x);
    make(&x, &r, "plus : src * 2", FTB_BF16, 1, 16, 0);
    assert_null(x.source);
    release(&x);
    make(&x, &r, "plus : src * src * dst", FTB_FP32, 1, 16, 0);
    float T[2][ROWS * 16 * 2];
    reduce(&x, T[0], "0", NULL, 0);
    reduce(&x, T[1], "/nonexistent", NULL, 0);
    assert_memory_equal(T[0], T[1], ROWS * 16 * 4);
    assert_int_equal(each_file("absent", NULL), 0);
    setenv("XDG_CACHE_HOME", "/nonexistent/cache", 1);
    reduce(&x, T[1], "cc", NULL, 0);
    assert_int_equal(each_file("absent", NULL), 0);
    release(&x);
    drop_cache("absent");
}

/* Whether a new process gets a function of the source. */
static pid_t start_process(const char *source)
{
    pid_t child = fork();
    if (child == 0)
        _exit(ftb_jit_compile(source) ? 0 : 1);
    return child;
}

static void assert_compiled(pid_t child)
{
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_cache(void **state)
{
    (void)state;
    rng r = rng_new();
    fixture x;
    pid_t children[4];
    if (!has_compiler)
        skip();
    fresh_cache("cache");
    setenv("FEATBLAS_JIT", "cc", 1);
    make(&x, &r, "plus : src * 5 - dst", FTB_FP32, 1, 16, 0);
    for (int c = 0; c < 4; c++)
        children[c] = start_process(x.source);
    for (int c = 0; c < 4; c++)
        assert_compiled(children[c]);
    assert_int_equal(each_file("cache", NULL), 1);
    setenv("CC", "/nonexistent", 1); /* another key: nothing is found */
    int status;
    pid_t child = start_process(x.source);
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1);
    unsetenv("CC");
    each_file("cache", damage_file);
    assert_compiled(start_process(x.source));
    assert_int_equal(each_file("cache", NULL), 1);
    setenv("FEATBLAS_CACHE", "0", 1); /* nothing is kept, and it is compiled as ever */
    each_file("cache", remove_file);
    assert_compiled(start_process(x.source));
    assert_int_equal(each_file("cache", NULL), 0);
    unsetenv("FEATBLAS_CACHE");
    unsetenv("FEATBLAS_JIT");
    release(&x);
    drop_cache("cache");
}

/* A compiler whose file changes is another one. */
static void test_compiler_changes(void **state)
{
    (void)state;
    rng r = rng_new();
    fixture x;
    if (!has_compiler)
        skip();
    fresh_cache("changes");
    write_string("compiler", "#!/bin/sh\nexec cc \"$@\"\n");
    assert_int_equal(chmod(temp_path("compiler"), 0700), 0);
    setenv("FEATBLAS_JIT", temp_path("compiler"), 1);
    make(&x, &r, "plus : src * 7 - dst", FTB_FP32, 1, 16, 0);
    for (int n = 0; n < 4; n++) {
        const struct timespec times[] = {{1000 + n / 2, 0}, {1000 + n / 2, 0}};
        assert_int_equal(utimensat(AT_FDCWD, temp_path("compiler"), times, 0), 0);
        assert_compiled(start_process(x.source));
        assert_int_equal(each_file("changes", NULL), 1 + n / 2);
    }
    unsetenv("FEATBLAS_JIT");
    release(&x);
    drop_cache("changes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results), cmocka_unit_test(test_deterministic),
                                       cmocka_unit_test(test_absent), cmocka_unit_test(test_cache),
                                       cmocka_unit_test(test_compiler_changes)};
    unsetenv("CC");
    unsetenv("FEATBLAS_JIT");
    has_compiler = system("cc --version >/dev/null 2>&1") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
