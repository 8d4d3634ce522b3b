/* What the library finds out about GPUs, from drivers that do not exist (support/fake_cuda): every reason why
 * there is none, what is said of those that are there, and that the driver is opened once. */
#include "support/check.h"

#include "gpu/driver.h"
#include "gpu/images.h"
#include "support/fakes.h"
#include "support/temporary.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int forget(void **state)
{
    static const char *const names[] = {"FAKE_CUDA_DEVICES", "FAKE_CUDA_VERSION", "FAKE_CUDA_NAME",
                                        "FAKE_CUDA_INIT",    "FAKE_CUDA_FAILS",   "FAKE_CUDA_QUIET"};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        unsetenv(names[n]);
    return 0;
}

/* The driver refuses, and says so with `text`. */
static void refuses(const char *library, const char *text)
{
    ftb_driver d;
    ftb_driver_open(&d, library);
    if (d.count != 0 || !strstr(d.why, text))
        fail_msg("%s: %d GPUs, \"%s\"; expected \"...%s...\"", library, d.count, d.why, text);
}

static void no_library(void **state)
{
    (void)state;
    refuses("", "FEATBLAS_CUDA_DRIVER is empty");
    refuses(temp_path("nowhere.so"), "nowhere.so");
    write_string("text.so", "This is no library.");
    refuses(temp_path("text.so"), "text.so");
    write_string("empty.so", "");
    refuses(temp_path("empty.so"), "empty.so");
    write_string("closed.so", "Nobody reads this.");
    assert_int_equal(chmod(temp_path("closed.so"), 0), 0);
    refuses(temp_path("closed.so"), "closed.so");
    assert_int_equal(mkdir(temp_path("folder.so"), 0700), 0);
    refuses(temp_path("folder.so"), "folder.so");
    refuses("libfeatblas-nowhere.so.1", "libfeatblas-nowhere.so.1");
}

static void lacking_functions(void **state)
{
    (void)state;
    refuses(fake_path("fake_cuda_lacks"), "fake_cuda_lacks.so has no function cuDeviceTotalMem_v2");
    setenv("FAKE_CUDA_VERSION", "10020", 1);
    refuses(fake_path("fake_cuda_lacks"), "made for CUDA 10.2; 12.0 or later is needed");
}

static void old_versions(void **state)
{
    ftb_driver d;
    (void)state;
    setenv("FAKE_CUDA_VERSION", "11080", 1);
    refuses(fake_path("fake_cuda"), "the driver is made for CUDA 11.8; 12.0 or later is needed");
    setenv("FAKE_CUDA_VERSION", "0", 1);
    refuses(fake_path("fake_cuda"), "made for CUDA 0.0");
    setenv("FAKE_CUDA_VERSION", "12000", 1);
    ftb_driver_open(&d, fake_path("fake_cuda"));
    assert_int_equal(d.count, 1);
}

static void errors(void **state)
{
    static const char *const calls[] = {"cuDriverGetVersion", "cuDeviceGetCount",    "cuDeviceGet",
                                        "cuDeviceGetName",    "cuDeviceTotalMem_v2", "cuDeviceGetAttribute"};
    char text[128];
    (void)state;
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        setenv("FAKE_CUDA_FAILS", calls[n], 1);
        snprintf(text, sizeof text, "%s fails with CUDA_ERROR_UNKNOWN, unknown error", calls[n]);
        refuses(fake_path("fake_cuda"), text);
    }
    unsetenv("FAKE_CUDA_FAILS");
    setenv("FAKE_CUDA_INIT", "999", 1);
    refuses(fake_path("fake_cuda"), "cuInit fails with CUDA_ERROR_UNKNOWN, unknown error");
    setenv("FAKE_CUDA_FAILS", "cuGetErrorString", 1);
    refuses(fake_path("fake_cuda"), "cuInit fails with CUDA_ERROR_UNKNOWN");
    setenv("FAKE_CUDA_FAILS", "cuGetErrorName", 1);
    refuses(fake_path("fake_cuda"), "cuInit fails with error 999");
    unsetenv("FAKE_CUDA_FAILS");
    setenv("FAKE_CUDA_INIT", "12345", 1);
    refuses(fake_path("fake_cuda"), "cuInit fails with error 12345");
}

static void no_devices(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_INIT", "100", 1);
    refuses(fake_path("fake_cuda"), "the driver finds none");
    setenv("FAKE_CUDA_INIT", "0", 1);
    setenv("FAKE_CUDA_DEVICES", "0", 1);
    refuses(fake_path("fake_cuda"), "the driver finds none");
    setenv("FAKE_CUDA_DEVICES", "-1", 1);
    refuses(fake_path("fake_cuda"), "the driver finds none");
}

static void two_devices(void **state)
{
    ftb_driver d;
    (void)state;
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    ftb_driver_open(&d, fake_path("fake_cuda"));
    assert_int_equal(d.count, 2);
    assert_string_equal(d.why, "");
    assert_int_equal(d.version, 12040);
    for (int n = 0; n < 2; n++) {
        const ftb_gpu *g = &d.gpu[n];
        assert_string_equal(g->label, n ? "gpu:1" : "gpu:0");
        assert_string_equal(g->name, "Fake GPU");
        assert_true(g->memory == (n + 1) * (INT64_C(3) << 29));
        assert_int_equal(g->major, 9);
        assert_int_equal(g->minor, 1);
        assert_int_equal(g->multiprocessors, 14);
        assert_int_equal(g->clock, 1750000);
        assert_int_equal(g->memory_clock, 2619000);
        assert_int_equal(g->memory_width, 5120);
        assert_int_equal(g->l2, 50 << 20);
        assert_int_equal(g->shared, 227 << 10);
        assert_int_equal(g->bus, 0x1b);
        assert_int_equal(g->slot, 2);
    }
    assert_string_equal(
        d.gpu[1].about,
        "Fake GPU, compute capability 9.1, 3.0 GiB at 2619 MHz x 5120 bits, 14 "
        "multiprocessors at 1750 MHz, L2 51200 KiB, shared memory 227 KiB a block, bus "
        "0000:1b:02, driver for CUDA 12.4, no NVRTC; values can be kept there, work runs on the host");
    setenv("FAKE_CUDA_DEVICES", "1000", 1);
    ftb_driver_open(&d, fake_path("fake_cuda"));
    assert_int_equal(d.count, FTB_GPUS);
    assert_string_equal(d.gpu[FTB_GPUS - 1].label, "gpu:31");
}

/* A driver that does not know an attribute: what depends on it is not said. */
static void few_attributes(void **state)
{
    ftb_driver d;
    (void)state;
    setenv("FAKE_CUDA_QUIET", "1", 1);
    ftb_driver_open(&d, fake_path("fake_cuda"));
    assert_int_equal(d.count, 1);
    assert_int_equal(d.gpu[0].l2, 0);
    assert_string_equal(d.gpu[0].about,
                        "Fake GPU, compute capability 9.1, 1.5 GiB, driver for CUDA 12.4, no NVRTC; "
                        "values can be kept there, work runs on the host");
}

static void odd_names(void **state)
{
    ftb_driver d;
    char longest[300];
    (void)state;
    setenv("FAKE_CUDA_NAME", "a\x1b[31m\"\xff\n\x7f z", 1);
    ftb_driver_open(&d, fake_path("fake_cuda"));
    assert_string_equal(d.gpu[0].name, "a?[31m\"??? z");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    setenv("FAKE_CUDA_NAME", longest, 1);
    ftb_driver_open(&d, fake_path("fake_cuda"));
    assert_int_equal(strlen(d.gpu[0].name), sizeof d.gpu[0].name - 1);
    assert_non_null(strstr(d.gpu[0].about, "; values can be kept there, work runs on the host"));
    setenv("FAKE_CUDA_NAME", "", 1);
    ftb_driver_open(&d, fake_path("fake_cuda"));
    assert_string_equal(d.gpu[0].name, "");
    assert_int_equal(d.count, 1);
}

/* ---- this process's driver */

/* Behind the last row of the table of backends, which tests can have more of. */
static int first_gpu(void)
{
    const char *name;
    int n = 0;
    while (FtB_Device_describe(n, &name, NULL, NULL) == GrB_SUCCESS && strncmp(name, "gpu", 3) != 0)
        n++;
    return n;
}

/* A driver is asked for once in a process, so that one that has none is another process. */
static void none(void **state)
{
    int status;
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        setenv("FEATBLAS_CUDA_DRIVER", "", 1);
        static const char why[] = "; no GPU: FEATBLAS_CUDA_DRIVER is empty";
        const bool described = FtB_Device_describe(first_gpu(), NULL, NULL, NULL) == GrB_NO_VALUE &&
                               strstr(FtB_error(), "there is no device ") && strstr(FtB_error(), why);
        const bool set = FtB_Context_set_device(NULL, "gpu") == FTB_NO_DEVICE &&
                         strstr(FtB_error(), "there is no 'gpu' here; expected cpu") &&
                         strstr(FtB_error(), why);
        const bool other = FtB_Context_set_device(NULL, "gpus") == FTB_NO_DEVICE &&
                           strstr(FtB_error(), "there is no 'gpus' here; expected cpu") &&
                           !strstr(FtB_error(), why);
        _exit(described && set && other ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

enum { THREADS = 8 };

static pthread_barrier_t together;

static void *ask(void *found)
{
    const char *why;
    pthread_barrier_wait(&together);
    *(const ftb_gpu **)found = ftb_gpu_named("gpu:1", &why);
    return NULL;
}

static int count_inits(void)
{
    int (*inits)(void) = NULL;
    fake_find("fake_cuda", "fake_cuda_inits", &inits);
    return inits();
}

static void opened_once(void **state)
{
    pthread_t threads[THREADS];
    const ftb_gpu *found[THREADS] = {NULL};
    (void)state;
    setenv("FEATBLAS_CUDA_DRIVER", fake_path("fake_cuda"), 1);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    const int before = count_inits();
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    assert_ok(FtB_Device_describe(0, NULL, NULL, NULL));
    assert_fails(GrB_NO_VALUE, "no device -1", FtB_Device_describe(-1, NULL, NULL, NULL));
    assert_fails(FTB_NO_DEVICE, "no 'gpux' here", FtB_Context_set_device(NULL, "gpux"));
    assert_int_equal(count_inits(), before); /* nobody has asked */
    assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, ask, &found[t]), 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    pthread_barrier_destroy(&together);
    for (int t = 0; t < THREADS; t++)
        assert_ptr_equal(found[t], &ftb_driver_here()->gpu[1]);
    assert_int_equal(count_inits(), before + 1);
}

static void public_calls(void **state)
{
    const char *name, *about;
    int64_t memory;
    (void)state;
    const int first = first_gpu();
    assert_ok(FtB_Device_describe(first + 1, &name, &about, &memory));
    assert_string_equal(name, "gpu:1");
    assert_true(memory == INT64_C(3) << 30);
    assert_non_null(strstr(about, "Fake GPU, compute capability 9.1, 3.0 GiB"));
    assert_ok(FtB_Device_describe(first, NULL, NULL, NULL));
    assert_fails(GrB_NO_VALUE, "there is no device", FtB_Device_describe(first + 2, NULL, NULL, NULL));
    assert_null(strstr(FtB_error(), "no GPU"));
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    assert_ok(FtB_Context_set_device(NULL, "gpu:1"));
    static const char *const absent[] = {"gpu:2", "gpu:", "gpu:01", "gpu:1x", "gpu0", "GPU", "gp", ""};
    for (size_t n = 0; n < sizeof absent / sizeof *absent; n++) {
        char text[64];
        snprintf(text, sizeof text, "there is no '%s' here; expected cpu", absent[n]);
        assert_fails(FTB_NO_DEVICE, text, FtB_Context_set_device(NULL, absent[n]));
    }
    assert_ok(FtB_Context_set_device(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(no_library, forget),
                                       cmocka_unit_test_teardown(lacking_functions, forget),
                                       cmocka_unit_test_teardown(old_versions, forget),
                                       cmocka_unit_test_teardown(errors, forget),
                                       cmocka_unit_test_teardown(no_devices, forget),
                                       cmocka_unit_test_teardown(two_devices, forget),
                                       cmocka_unit_test_teardown(few_attributes, forget),
                                       cmocka_unit_test_teardown(odd_names, forget),
                                       cmocka_unit_test_teardown(none, forget),
                                       cmocka_unit_test_teardown(opened_once, forget),
                                       cmocka_unit_test_teardown(public_calls, forget)};
    setenv("FEATBLAS_NVRTC", "", 1);
    ftb_gpu_images_use((const ftb_gpu_image[]){{0}});
    return cmocka_run_group_tests(tests, NULL, NULL);
}
