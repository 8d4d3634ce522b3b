#include "support/described_gpus.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

const char *const described_gpus[GPUS] = {
    [GPU_A100] = DESCRIBED_HOST "gpu_multiprocessors = 108 # A100\ngpu_clock = 1.41\ngpu_l2 = 40M\n"
                                "gpu_memory = 40G\ngpu_shared = 163K\ngpu_memory_rate = 1555\n",
    [GPU_H100] = DESCRIBED_HOST "gpu_multiprocessors = 132 # H100\ngpu_clock = 1.755\ngpu_l2 = 50M\n"
                                "gpu_memory = 80G\ngpu_shared = 227K\ngpu_l2_rate = 5500\n"
                                "gpu_memory_rate = 3350\n",
    [GPU_H200] = DESCRIBED_HOST "gpu_multiprocessors = 132 # H200\ngpu_clock = 1.755\ngpu_l2 = 50M\n"
                                "gpu_memory = 141G\ngpu_shared = 227K\ngpu_memory_rate = 4800\n",
    [GPU_SMALL] = DESCRIBED_HOST "gpu_multiprocessors = 14 # small\ngpu_clock = 1.2\ngpu_l2 = 2M\n"
                                 "gpu_memory = 4G\ngpu_shared = 64K\ngpu_memory_rate = 112\n",
    [GPU_OLD] = DESCRIBED_HOST "gpu_multiprocessors = 14 # old\ngpu_clock = 1.2\ngpu_l2 = 2M\n"
                               "gpu_memory = 4G\ngpu_memory_rate = 112\n"};

bool described_read(ftb_machine_facts *m, const char *text)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    const char *wrong;
    int line;
    assert_non_null(file);
    const bool ok = ftb_machine_read(m, file, &line, &wrong);
    fclose(file);
    return ok;
}

ftb_gpu_facts described_gpu(int n)
{
    ftb_machine_facts m = {0};
    assert_true(described_read(&m, described_gpus[n]));
    return m.gpu;
}
