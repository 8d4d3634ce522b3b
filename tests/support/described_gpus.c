#include "support/described_gpus.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const described_gpus[GPUS] = {
    [GPU_A100] = "a100", [GPU_H100] = "h100", [GPU_H200] = "h200", [GPU_SMALL] = "small", [GPU_OLD] = "old"};

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

ftb_machine_facts described_machine(int n)
{
    ftb_machine_facts m = {0};
    const char *const folder = getenv("FEATBLAS_SOURCE_DIR"), *wrong;
    char path[1024];
    int line;
    assert_non_null(folder);
    snprintf(path, sizeof path, "%s/tests/cases/gpus/%s.txt", folder, described_gpus[n]);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be opened", path);
    const bool ok = ftb_machine_read(&m, file, &line, &wrong);
    fclose(file);
    if (!ok)
        fail_msg("%s:%d: %s", path, line, wrong);
    return m;
}

ftb_gpu_facts described_gpu(int n) { return described_machine(n).gpu; }
