/* Every kernel of gpu/kernels/ for GPUs of the newest generation, where a real NVRTC is: none has a stack
 * frame, so that none spills registers. Run by `ctest -C slow`, as is all_frames, the same of the oldest
 * generation. (test_gpu_compile.c sees the same of the one between, and that kernels are there.)
 *
 * Labels: slow, gpu */
#include "support/check.h"

#include "gpu/compile.h"
#include "gpu/nvrtc.h"
#include "support/cubin.h"

#include <stdio.h>
#include <stdlib.h>

static int arch;

static void frames(void **state)
{
    const ftb_gpu gpu = {.label = "gpu:7", .major = arch / 10, .minor = arch % 10};
    const ftb_nvrtc *n = ftb_nvrtc_here(gpu.cuda);
    bool known = false;
    (void)state;
    for (int k = 0; k < n->narchs; k++)
        known |= n->archs[k] == arch;
    if (n->found.version && !known) {
        printf("skipped: NVRTC %d.%d knows no sm_%d\n", n->found.version / 1000, n->found.version % 1000 / 10,
               arch);
        return;
    }
    for (const ftb_gpu_source *s = ftb_gpu_sources; s->name; s++) {
        void *image;
        if (strcmp(s->name + strlen(s->name) - 3, ".cu") != 0)
            continue;
        assert_ok(ftb_gpu_compile(&image, s->name, &gpu));
        assert_true(assert_no_frames(s->name, image) > 0);
        ftb_raw_delete(image);
    }
}

/* In processes of their own, where FEATBLAS_NVRTC is what it should be before it is looked for. */
static void all(void **state)
{
    const int asked = getenv("TEST_GPU_OLDEST") ? 80 : 100;
    const char *const library = getenv("FEATBLAS_TEST_NVRTC");
    (void)state;
    if (!library || !*library) {
        printf("skipped: NVRTC is not there\n");
        return;
    }
    char command[2048];
    snprintf(command, sizeof command, "FEATBLAS_CACHE=0 FEATBLAS_NVRTC='%s' TEST_GPU_ARCH=%d '%s' >&2",
             library, asked, getenv("TEST_GPU_SELF"));
    if (system(command) != 0)
        fail_msg("%s", command);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest one[] = {cmocka_unit_test(frames)}, tests[] = {cmocka_unit_test(all)};
    const char *const asked = getenv("TEST_GPU_ARCH");
    (void)argc;
    if (asked) {
        arch = atoi(asked);
        return cmocka_run_group_tests(one, NULL, NULL);
    }
    setenv("TEST_GPU_SELF", argv[0], 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
