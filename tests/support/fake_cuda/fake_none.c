/* In place of fake_kernels.c where there is no emulator: nothing can be loaded. */
#include "fake_cuda.h"

unsigned cuModuleLoadData(struct CUmod_st **module, const void *image)
{
    const unsigned error = fake_begin_ready("cuModuleLoadData");
    *module = NULL;
    (void)image;
    return error ? error : INVALID_IMAGE;
}

unsigned cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module, const char *name)
{
    const unsigned error = fake_begin_ready("cuModuleGetFunction");
    *function = NULL;
    (void)module;
    (void)name;
    return error ? error : NOT_FOUND;
}

unsigned cuFuncSetAttribute(struct CUfunc_st *function, unsigned attribute, int value)
{
    (void)function;
    (void)attribute;
    (void)value;
    return INVALID_VALUE;
}

struct fake_launch *fake_launch_new(const struct CUfunc_st *function, const unsigned grid[3],
                                    const unsigned block[3], unsigned shared, void **parameters)
{
    (void)function;
    (void)grid;
    (void)block;
    (void)shared;
    (void)parameters;
    return 0;
}

const char *fake_launch_name(const struct fake_launch *launch)
{
    (void)launch;
    return "";
}
void fake_launch_run(const struct fake_launch *launch) { (void)launch; }
void fake_launch_delete(struct fake_launch *launch) { (void)launch; }

void fake_memory_told(void *start, size_t bytes)
{
    (void)start;
    (void)bytes;
}

int fake_cuda_emulates(void) { return 0; }
