/* Modules and kernels of GPUs that do not exist (fake_cuda.h): the emulator runs them (support/simt). An
 * image is an ELF file as nvcc and NVRTC make it, of which the kernels are known that it names, or a text
 * that begins with "//": of "//all" all that the emulator has. An ELF file of this machine's is a
 * library with kernels for the emulator. A launch with faults is told on stderr, and
 * sticks.
 */
#include "fake_cuda.h"

#include "tests/support/simt/simt.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct CUmod_st {
    char *image;
    size_t bytes;
};
struct fake_launch {
    const simt_kernel *kernel;
    simt_dim grid, block;
    unsigned shared;
    void *parameters[]; /* values, behind it */
};
/* Kernels that were allowed more shared memory than all have. */
static struct {
    const simt_kernel *kernel;
    unsigned bytes;
} allowed[64];

static size_t elf_bytes(const char *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    size_t end = header.e_phoff + (size_t)header.e_phnum * header.e_phentsize;
    for (int k = 0; k < header.e_shnum; k++) {
        Elf64_Shdr section;
        memcpy(&section, image + header.e_shoff + (size_t)k * header.e_shentsize, sizeof section);
        const size_t past = section.sh_offset + (section.sh_type == SHT_NOBITS ? 0 : section.sh_size);
        end = past > end ? past : end;
    }
    return end;
}

static int is_library(const char *image, size_t bytes)
{
    Elf64_Ehdr header;
    if (bytes < sizeof header || memcmp(image, ELFMAG, 4) != 0)
        return 0;
    memcpy(&header, image, sizeof header);
    return header.e_machine == EM_X86_64;
}

/* Its kernels say themselves that they are there. */
static unsigned load_library(const char *image, size_t bytes)
{
    char path[] = "/tmp/fake_cuda.XXXXXX";
    const int file = mkstemp(path);
    const int written = file >= 0 && write(file, image, bytes) == (ssize_t)bytes;
    const void *library = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        fprintf(stderr, "%s\n", written ? dlerror() : path);
    close(file);
    remove(path);
    return library ? OK : INVALID_IMAGE;
}

unsigned cuModuleLoadData(struct CUmod_st **module, const void *image)
{
    const unsigned error = fake_begin_ready("cuModuleLoadData");
    if (fake_captures())
        return fake_capture_spoil(), fake_misuse("cuModuleLoadData", "while this thread captures");
    const int elf = memcmp(image, ELFMAG, 2) == 0;
    if (error || (!elf && memcmp(image, "//", 2) != 0))
        return error ? error : INVALID_IMAGE;
    *module = malloc(sizeof **module);
    if (!*module)
        abort();
    (*module)->bytes = elf ? elf_bytes(image) : strlen(image);
    (*module)->image = malloc((*module)->bytes);
    if (!(*module)->image)
        abort();
    memcpy((*module)->image, image, (*module)->bytes);
    return is_library(image, (*module)->bytes) ? load_library(image, (*module)->bytes) : OK;
}

static int names(const struct CUmod_st *m, const char *name)
{
    static const char all[] = "//all";
    const size_t length = strlen(name);
    if (m->bytes >= sizeof all - 1 && memcmp(m->image, all, sizeof all - 1) == 0)
        return 1;
    if (is_library(m->image, m->bytes))
        return 1;
    for (size_t at = 0; at + length <= m->bytes; at++)
        if (memcmp(m->image + at, name, length) == 0)
            return 1;
    return 0;
}

/* Functions that were asked for, which who launches one does every time. */
static struct {
    char name[80];
    int times;
} asked[256];

int fake_cuda_asked(const char *part)
{
    int times = 0;
    for (size_t k = 0; k < sizeof asked / sizeof *asked && asked[k].times; k++)
        times += strstr(asked[k].name, part) ? asked[k].times : 0;
    return times;
}

static void note(const char *name)
{
    size_t k = 0;
    while (asked[k].times && strncmp(asked[k].name, name, sizeof asked[k].name - 1) != 0)
        if (++k == sizeof asked / sizeof *asked)
            abort();
    snprintf(asked[k].name, sizeof asked[k].name, "%s", name);
    asked[k].times++;
}

unsigned cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module, const char *name)
{
    const unsigned error = fake_begin_ready("cuModuleGetFunction");
    const simt_kernel *kernel = error || !names(module, name) ? NULL : simt_kernel_find(name);
    *function = (struct CUfunc_st *)(uintptr_t)kernel;
    if (kernel)
        note(name);
    return error ? error : kernel ? OK : NOT_FOUND;
}

unsigned cuFuncSetAttribute(struct CUfunc_st *function, unsigned attribute, int value)
{
    const unsigned error = fake_begin_ready("cuFuncSetAttribute");
    const simt_kernel *kernel = (const simt_kernel *)function;
    const int most_dynamic_shared = 8, most = 227 << 10;
    if (error || attribute != (unsigned)most_dynamic_shared || value > most)
        return error ? error : INVALID_VALUE;
    for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++)
        if (!allowed[k].kernel || allowed[k].kernel == kernel) {
            allowed[k].kernel = kernel;
            allowed[k].bytes = (unsigned)value;
            return OK;
        }
    abort();
}

/* What a kernel may be launched with that has a thousand bytes of its own. */
static unsigned shared_of(const simt_kernel *kernel)
{
    unsigned most = (48 << 10) - 1000;
    for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++)
        if (allowed[k].kernel == kernel && allowed[k].bytes > most)
            most = allowed[k].bytes;
    return most;
}

struct fake_launch *fake_launch_new(const struct CUfunc_st *function, const unsigned grid[3],
                                    const unsigned block[3], unsigned shared, void **parameters)
{
    const simt_kernel *kernel = (const simt_kernel *)function;
    if (shared > shared_of(kernel))
        return NULL;
    const size_t *sizes = simt_kernel_sizes(kernel);
    const size_t grain = 16;
    size_t bytes = 0;
    int count = 0;
    for (; sizes[count] > 0; count++)
        bytes += (sizes[count] + grain - 1) / grain * grain;
    const size_t head =
        (sizeof(struct fake_launch) + (size_t)count * sizeof(void *) + grain - 1) / grain * grain;
    struct fake_launch *launch = calloc(1, head + bytes);
    if (!launch)
        abort();
    char *at = (char *)launch + head;
    for (int n = 0; n < count; n++) {
        memcpy(at, parameters[n], sizes[n]);
        launch->parameters[n] = at;
        at += (sizes[n] + grain - 1) / grain * grain;
    }
    launch->kernel = kernel;
    launch->grid = (simt_dim){grid[0], grid[1], grid[2]};
    launch->block = (simt_dim){block[0], block[1], block[2]};
    launch->shared = shared;
    return launch;
}

void fake_launch_run(const struct fake_launch *launch)
{
    static uint64_t launches;
    simt_report report;
    const simt_options options = {.seed = (uint64_t)fake_number("FAKE_CUDA_SEED", 1) * 1000003 + launches++};
    if (simt_launch(launch->kernel, launch->grid, launch->block, launch->shared,
                    (void **)(uintptr_t)launch->parameters, &options, &report) != 0) {
        simt_print(&report, stderr);
        fake_stick(LAUNCH_FAILED);
    }
}

const char *fake_launch_name(const struct fake_launch *launch) { return simt_kernel_name(launch->kernel); }

void fake_launch_delete(struct fake_launch *launch) { free(launch); }

void fake_memory_told(void *start, size_t bytes)
{
    if (bytes > 0)
        simt_memory_add(start, bytes, "memory of the GPU");
    else
        simt_memory_remove(start);
}

int fake_cuda_emulates(void) { return 1; }
