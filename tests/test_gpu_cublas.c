/* cuBLAS that is not there, too old, lacking, or fails, and which dense products it makes where it is there,
 * on a GPU that does not exist; a real one, where it is, has every function. What it computes:
 * test_gpu_dense.c. */
#include "support/check.h"

#include "gpu/cublas.h"
#include "gpu/dense_ways.h"
#include "gpu/gpu_verbs.h"
#include "gpu/memory.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"

#include <stdio.h>
#include <stdlib.h>

static ftb_cublas opened;

/* Opens one, of which there is nothing because of `why`. */
static void none(const char *library, const char *why)
{
    ftb_cublas_open(&opened, library);
    if (opened.found.version != 0 || !strstr(opened.found.why, why))
        fail_msg("%s: version %d, \"%s\"; expected \"...%s...\"", library, opened.found.version,
                 opened.found.why, why);
}

static void missing(void **state)
{
    (void)state;
    none("", "FEATBLAS_CUBLAS is empty");
    none("/nowhere/libcublas.so", "cuBLAS cannot be opened: /nowhere/libcublas.so");
    none("libm.so.6", "libm.so.6 has no function cublasGetProperty");
    setenv("FAKE_CUBLAS_VERSION", "11080", 1);
    none(fake_path("fake_cublas"), "cuBLAS is 11.8; 12.0 or later is needed");
    unsetenv("FAKE_CUBLAS_VERSION");
    setenv("FAKE_CUBLAS_FAILS", "cublasGetProperty=7", 1);
    none(fake_path("fake_cublas"), "does not say of which version it is");
    unsetenv("FAKE_CUBLAS_FAILS");
    ftb_cublas_open(&opened, fake_path("fake_cublas"));
    assert_int_equal(opened.found.version, 12040);
    assert_string_equal(opened.found.why, "");
}

/* None that is newer than the driver; the first that is there. */
static void found(void **state)
{
    const char *const list[] = {"/nowhere/libcublas.so", fake_path("fake_cublas"), "/nowhere/else.so", NULL};
    (void)state;
    setenv("FAKE_CUBLAS_VERSION", "13010", 1);
    ftb_cublas_find(&opened, list, 12080);
    assert_int_equal(opened.found.version, 0);
    assert_string_equal(opened.found.why, "cuBLAS 13.1 is newer than the driver, which is for CUDA 12.8");
    ftb_cublas_find(&opened, list, 13000);
    assert_int_equal(opened.found.version, 13010);
    ftb_cublas_find(&opened, list + 2, 13000);
    assert_non_null(strstr(opened.found.why, "cuBLAS cannot be opened: /nowhere/else.so"));
    unsetenv("FAKE_CUBLAS_VERSION");
}

static void real(void **state)
{
    const char *library = getenv("FEATBLAS_TEST_CUBLAS");
    (void)state;
    if (!library || !*library) {
        printf("skipped: cuBLAS is not there\n");
        return;
    }
    ftb_cublas_open(&opened, library);
    assert_string_equal(opened.found.why, "");
    assert_true(opened.found.version >= 12000);
}

/* ---- products; each in a process of its own, since cuBLAS is looked for once */

static int (*launches)(void), (*made)(void), (*handles)(void), (*live)(void);

static ftb_gpu_device *device(void) { return ftb_gpu_of(ftb_device(ftb_context())); }

static void begin(const char *cublas)
{
    setenv("FEATBLAS_CUBLAS", cublas, 1);
    assert_int_equal(fake_gpu_start(NULL), 0);
    fake_find("fake_cuda", "fake_cuda_launches", &launches);
    fake_find("fake_cuda", "fake_cuda_live", &live);
    fake_find("fake_cublas", "fake_cublas_products", &made);
    fake_find("fake_cublas", "fake_cublas_handles", &handles);
}

static int replays; /* of products that are recorded; 0: they are made at once */

static GrB_Info run(const ftb_dense_product *p)
{
    const ftb_backend *b = &device()->row;
    struct ftb_recording *recording;
    void *none_at;
    if (replays == 0)
        return ftb_gpu_dense(p);
    assert_ok(b->memory->replays->begin(b, p->ctx, 0, &none_at));
    const GrB_Info info = ftb_gpu_dense(p);
    assert_ok(b->memory->replays->end(b, true, &recording));
    assert_non_null(recording);
    for (int n = 0; n < replays; n++)
        assert_ok(b->memory->replays->run(b, p->ctx, recording, NULL));
    b->memory->replays->drop(b, recording);
    return info;
}

/* Of `side` x `side` values and as many terms; each value of A is `a`, of B 1/4, of C 1 before. */
static GrB_Info multiply(int64_t side, float a, bool add, float *value)
{
    const int64_t count = side * side, bytes = count * (int64_t)sizeof(float);
    const void *sent[3];
    ftb_gpu_device *d = device();
    ftb_gpu_rooms rooms = {.d = d, .ctx = ftb_context()};
    float *values[3], all[] = {a, 0.25F, 1};
    for (int k = 0; k < 3; k++) {
        values[k] = malloc((size_t)bytes + 1);
        for (int64_t n = 0; n < count; n++)
            values[k][n] = all[k];
        assert_ok(ftb_gpu_send(&sent[k], &rooms, values[k], bytes));
    }
    const ftb_dense_product p = {.ctx = ftb_context(),
                                 .type = FTB_FP32,
                                 .nrows = side,
                                 .ncols = side,
                                 .inner = side,
                                 .a = sent[0],
                                 .b = sent[1],
                                 .c = (void *)(uintptr_t)sent[2],
                                 .lda = side,
                                 .ldb = side,
                                 .ldc = side,
                                 .add = add};
    const GrB_Info info = run(&p);
    assert_ok(d->row.memory->get(&d->row, ftb_context(), values[2], sent[2], bytes));
    *value = values[2][count - 1];
    for (int k = 0; k < 3; k++)
        free(values[k]);
    ftb_gpu_rooms_free(&rooms);
    return info;
}

/* A product, which cuBLAS made, or we did. */
static void is_by(int64_t side, bool cublas)
{
    const int ran = launches(), before = made();
    const float expected = 1 + 2 * 0.25F * (float)side;
    float value;
    assert_ok(multiply(side, 2, true, &value));
    assert_memory_equal(&value, &expected, sizeof value);
    assert_int_equal(made() - before, cublas);
    assert_int_equal(launches() > ran, !cublas);
    assert_ok(ftb_gpu_trim(&device()->row)); /* its workspace, too */
    assert_int_equal(live(), 0);
    assert_int_equal(fake_gpu_clean(NULL), 0);
}

enum { SMALL = 40, LARGE = 384 };

static void chosen(void)
{
    begin(fake_path("fake_cublas"));
    is_by(SMALL, false);
    assert_int_equal(handles(), 0); /* nobody has asked for one */
    is_by(LARGE, true);
    is_by(SMALL, false);
    is_by(LARGE, true);
    assert_int_equal(handles(), 1);
}

/* Where work is recorded, a product is, and is made at each replay. */
static void recorded(void)
{
    const float expected = 1 + 3 * 2 * 0.25F * (float)LARGE;
    float value;
    begin(fake_path("fake_cublas"));
    is_by(LARGE, true);
    const int before = made();
    replays = 3;
    assert_ok(multiply(LARGE, 2, true, &value));
    assert_memory_equal(&value, &expected, sizeof value);
    assert_int_equal(made() - before, replays);
    assert_int_equal(fake_gpu_clean(NULL), 0);
}

/* Operands are rounded where the context says so, and only then: in any order, and in what was recorded. */
static void rounded(void)
{
    int (*rounds)(void);
    float whole, value;
    begin(fake_path("fake_cublas"));
    fake_find("fake_cublas", "fake_cublas_rounded", &rounds);
    const float a = 1 + 0x1p-9F, once = 1 + a * 0.25F * (float)LARGE, cut = 1 + 0.25F * (float)LARGE;
    assert_ok(multiply(LARGE, a, true, &whole));
    assert_memory_equal(&whole, &once, sizeof whole);
    assert_int_equal(rounds(), 0);
    assert_ok(FtB_Context_set_matmul_precision(NULL, FTB_PRECISION_BF16));
    assert_ok(multiply(LARGE, a, true, &value));
    assert_memory_equal(&value, &cut, sizeof value);
    assert_int_equal(rounds(), 1);
    setenv("FAKE_CUBLAS_FAILS", "cublasGemmEx=13", 1);
    assert_fails(FTB_NO_DEVICE, "gpu:0: cublasGemmEx fails with status 13",
                 multiply(LARGE, a, false, &value));
    unsetenv("FAKE_CUBLAS_FAILS");
    assert_ok(FtB_Context_set_matmul_precision(NULL, FTB_PRECISION_FP32));
    assert_ok(multiply(LARGE, a, true, &value));
    assert_memory_equal(&value, &whole, sizeof value);
    assert_int_equal(fake_gpu_clean(NULL), 0);
}

static void absent(void)
{
    begin("");
    assert_false(ftb_gpu_cublas_ready(device()));
    assert_int_equal(handles(), 0);
}

/* A handle that cannot be had, once and for all. */
static void refused(void)
{
    begin(fake_path("fake_cublas"));
    setenv("FAKE_CUBLAS_FAILS", "cublasCreate=1", 1);
    assert_false(ftb_gpu_cublas_ready(device()));
    unsetenv("FAKE_CUBLAS_FAILS");
    assert_false(ftb_gpu_cublas_ready(device()));
    assert_int_equal(handles(), 0);
}

/* A handle for which there is no memory, until what was freed is given back; and else later. */
static void without_room(void)
{
    const ftb_backend *b;
    void *kept, *freed;
    begin(fake_path("fake_cublas"));
    b = &device()->row;
    assert_ok(b->memory->alloc(b, ftb_context(), &kept, 1000));
    setenv("FAKE_CUBLAS_PIECES", "1", 1);
    assert_false(ftb_gpu_cublas_ready(device()));
    setenv("FAKE_CUBLAS_PIECES", "2", 1);
    assert_ok(b->memory->alloc(b, ftb_context(), &freed, 5000));
    b->memory->free(b, freed, 5000);
    assert_int_equal(live(), 2);
    assert_true(ftb_gpu_cublas_ready(device()));
    assert_int_equal(live(), 1);
    assert_int_equal(handles(), 1);
    unsetenv("FAKE_CUBLAS_PIECES");
    b->memory->free(b, kept, 1000);
    assert_int_equal(fake_gpu_clean(NULL), 0);
}

static void of_fewer_bits(void)
{
    begin(fake_path("fake_cublas"));
    setenv("FAKE_CUBLAS_FAILS", "cublasSetMathMode=7", 1);
    assert_false(ftb_gpu_cublas_ready(device()));
    assert_int_equal(handles(), 0);
}

/* Of a GPU that it has no code for: then it is our kernel's. */
static void unsupported(void)
{
    float value;
    begin(fake_path("fake_cublas"));
    assert_true(ftb_gpu_cublas_ready(device()));
    setenv("FAKE_CUBLAS_FAILS", "cublasSgemm=8", 1);
    assert_ok(multiply(LARGE / 2, 2, false, &value)); /* of which the emulator has its fill */
    assert_int_equal(made(), 0);
    ftb_dense_product p = {.ctx = ftb_context(), .type = FTB_FP32, .nrows = 1, .ncols = 1, .inner = 1};
    assert_int_equal(ftb_gpu_cublas_dense(device(), &p), GrB_NO_VALUE);
    assert_false(ftb_gpu_cublas_ready(device()));
    assert_int_equal(handles(), 0);
}

static void fails(void)
{
    static const char *const calls[] = {"cublasSetStream", "cublasSetWorkspace", "cublasSgemm"};
    char text[60];
    float value;
    begin(fake_path("fake_cublas"));
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        snprintf(text, sizeof text, "%s=13", calls[n]);
        setenv("FAKE_CUBLAS_FAILS", text, 1);
        snprintf(text, sizeof text, "gpu:0: %s fails with status 13", calls[n]);
        assert_fails(FTB_NO_DEVICE, text, multiply(LARGE, 2, false, &value)); /* the host can do it */
        assert_fails(n < 2 ? FTB_NO_DEVICE : GrB_PANIC, text, multiply(LARGE, 2, true, &value));
    }
    unsetenv("FAKE_CUBLAS_FAILS");
    is_by(LARGE, true);
    setenv("FAKE_CUDA_MEMORY", "8388608", 1); /* no room for its workspace, for which caches are dropped */
    assert_fails(FTB_NO_DEVICE, "33554432 bytes: gpu:0: cuMemAlloc_v2 fails with CUDA_ERROR_OUT_OF_MEMORY",
                 multiply(LARGE, 2, true, &value));
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"chosen", chosen},
             {"absent", absent},
             {"recorded", recorded},
             {"rounded", rounded},
             {"refused", refused},
             {"without_room", without_room},
             {"of_fewer_bits", of_fewer_bits},
             {"unsupported", unsupported},
             {"fails", fails}};
static const char *self;
static void (*only)(void);

static void one(void **state)
{
    (void)state;
    only();
}

static void each(void **state)
{
    int (*emulates)(void);
    (void)state;
    fake_find("fake_cuda", "fake_cuda_emulates", &emulates);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char command[2048];
        const bool ours = cases[n].run == chosen || cases[n].run == unsupported;
        if (ours && !emulates()) {
            printf("skipped: no kernels run here\n");
            continue;
        }
        snprintf(command, sizeof command, "'%s' %s >&2", self, cases[n].name);
        if (system(command) != 0)
            fail_msg("%s", command);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(missing), cmocka_unit_test(found),
                                       cmocka_unit_test(real), cmocka_unit_test(each)};
    const struct CMUnitTest alone[] = {cmocka_unit_test(one)};
    self = argv[0];
    for (size_t n = 0; argc > 1 && n < sizeof cases / sizeof *cases; n++)
        if (strcmp(argv[1], cases[n].name) == 0)
            only = cases[n].run;
    return only ? cmocka_run_group_tests(alone, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
