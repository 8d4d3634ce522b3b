/* Compiles kernels with NVRTC (compile.h). */
#include "gpu/compile.h"

#include "core/code_cache.h"
#include "gpu/nvrtc.h"

#include <stdio.h>

#define LOG_ROOM 400 /* bytes of a compiler's answer that a message shows */
#define MOST_SOURCES 128
#define STANDARD "--std=c++17"
#define PLAIN_SUMS "--fmad=false"
#define HERE "--device-as-default-execution-space" /* what is the host's, too, says nothing */

static bool is_text(const char *source)
{
    return strncmp(source, FTB_GPU_TEXT, sizeof FTB_GPU_TEXT - 1) == 0;
}

static const char *name_of(const char *source) { return is_text(source) ? "an expression" : source; }

static const char *text_of(const char *source)
{
    const ftb_gpu_source *s = ftb_gpu_sources;
    if (is_text(source))
        return source;
    while (strcmp(s->name, source) != 0)
        s++;
    return s->text;
}

/* The newest that NVRTC compiles for and the GPU runs; 0: there is none. */
static int arch_for(const ftb_nvrtc *n, const ftb_gpu *gpu)
{
    int best = 0;
    for (int k = 0; k < n->narchs; k++)
        if (n->archs[k] <= 10 * gpu->major + gpu->minor)
            best = ftb_max(best, n->archs[k]);
    return best;
}

bool ftb_gpu_compiles(const ftb_gpu *gpu)
{
    const ftb_nvrtc *n = ftb_nvrtc_here(gpu->cuda);
    return n->found.version && arch_for(n, gpu);
}

/* What the compiler says, from its first error on. */
static void read_log(const ftb_nvrtc *n, struct _nvrtcProgram *program, char log[LOG_ROOM])
{
    size_t bytes = 0;
    log[0] = '\0';
    char *all = n->call.nvrtcGetProgramLogSize(program, &bytes) == 0 ? ftb_raw_new(bytes + 1) : NULL;
    if (all && n->call.nvrtcGetProgramLog(program, all) == 0) {
        all[bytes] = '\0';
        const char *error = strstr(all, "error");
        while (error && error > all && error[-1] != '\n')
            error--;
        snprintf(log, LOG_ROOM, "%s", error ? error : all);
        log[strcspn(log, "\n")] = '\0';
    }
    ftb_raw_delete(all);
}

static GrB_Info take_image(void **image, int64_t *count, const ftb_nvrtc *n, struct _nvrtcProgram *program,
                           bool cubin)
{
    size_t bytes = 0;
    const unsigned error =
        cubin ? n->call.nvrtcGetCUBINSize(program, &bytes) : n->call.nvrtcGetPTXSize(program, &bytes);
    char *made = error ? NULL : ftb_raw_new(bytes + 1);
    if (!error && !made)
        return ftb_nomem();
    if (error || (cubin ? n->call.nvrtcGetCUBIN(program, made) : n->call.nvrtcGetPTX(program, made)) != 0) {
        ftb_raw_delete(made);
        return ftb_fail(FTB_NO_DEVICE, "NVRTC does not give what it compiled");
    }
    made[bytes] = '\0';
    *image = made;
    *count = (int64_t)bytes;
    return GrB_SUCCESS;
}

/* Compiles with every source as a header beside the one that is named. */
static GrB_Info compile(void **image, int64_t *bytes, const char *source, const char *arch,
                        const ftb_gpu *gpu)
{
    const ftb_nvrtc *n = ftb_nvrtc_here(gpu->cuda);
    const char *names[MOST_SOURCES], *texts[MOST_SOURCES];
    struct _nvrtcProgram *program = NULL;
    char log[LOG_ROOM];
    int count = 0;
    for (const ftb_gpu_source *s = ftb_gpu_sources; s->name && count < MOST_SOURCES; s++, count++) {
        names[count] = s->name;
        texts[count] = s->text;
    }
    if (ftb_gpu_sources[count].name)
        return ftb_fail(GrB_PANIC, "kernels have more sources than %d", MOST_SOURCES);
    const char *const options[] = {arch, STANDARD, PLAIN_SUMS, HERE};
    if (n->call.nvrtcCreateProgram(&program, text_of(source), name_of(source), count, texts, names) != 0)
        return ftb_nomem();
    GrB_Info info;
    if (n->call.nvrtcCompileProgram(program, sizeof options / sizeof *options, options) == 0) {
        info = take_image(image, bytes, n, program, strstr(arch, "=sm_") != NULL);
    } else {
        read_log(n, program, log);
        info = ftb_fail(FTB_NO_DEVICE, "%s: NVRTC %d.%d cannot compile %s with %s: %s", gpu->label,
                        n->found.version / 1000, n->found.version % 1000 / 10, name_of(source), arch, log);
    }
    n->call.nvrtcDestroyProgram(&program);
    return info;
}

/* Where an image is kept: by all that it is made of. */
static bool path_of(char path[FTB_CODE_PATH], const char *source, const char *arch, int compiler)
{
    const char *texts[2 * MOST_SOURCES + 6];
    char version[40];
    int count = 0;
    snprintf(version, sizeof version, "NVRTC %d", compiler);
    const char *const with[] = {version, arch, STANDARD, PLAIN_SUMS, HERE, source};
    for (size_t k = 0; k < sizeof with / sizeof *with; k++)
        texts[count++] = with[k];
    for (int k = 0; k < MOST_SOURCES && ftb_gpu_sources[k].name; k++) {
        texts[count++] = ftb_gpu_sources[k].name;
        texts[count++] = ftb_gpu_sources[k].text;
    }
    return ftb_code_path(path, texts, count, ".cubin");
}

GrB_Info ftb_gpu_compile(void **image, const char *source, const ftb_gpu *gpu)
{
    const ftb_nvrtc *n = ftb_nvrtc_here(gpu->cuda);
    char arch[40], path[FTB_CODE_PATH];
    int64_t bytes = 0;
    if (!n->found.version)
        return ftb_fail(FTB_NO_DEVICE, "%s: no kernels: %s", gpu->label, n->found.why);
    const int best = arch_for(n, gpu);
    if (!best)
        return ftb_fail(FTB_NO_DEVICE, "%s: NVRTC %d.%d compiles for no GPU of compute capability %d.%d",
                        gpu->label, n->found.version / 1000, n->found.version % 1000 / 10, gpu->major,
                        gpu->minor);
    snprintf(arch, sizeof arch, "--gpu-architecture=%s_%d",
             best == 10 * gpu->major + gpu->minor ? "sm" : "compute", best);
    const bool kept = path_of(path, source, arch, n->found.version);
    *image = kept ? ftb_code_read(path, &bytes) : NULL;
    if (*image)
        return GrB_SUCCESS;
    const GrB_Info info = compile(image, &bytes, source, arch, gpu);
    if (info == GrB_SUCCESS && kept)
        ftb_code_write(path, *image, bytes);
    return info;
}
