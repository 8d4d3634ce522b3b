/* Compiles kernels with NVRTC (compile.h). */
#include "gpu/compile.h"

#include "gpu/nvrtc.h"

#include <stdio.h>

#define LOG_ROOM 400 /* bytes of a compiler's answer that a message shows */
#define MOST_SOURCES 64

static const char *text_of(const char *source)
{
    const ftb_gpu_source *s = ftb_gpu_sources;
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

static GrB_Info take_image(void **image, const ftb_nvrtc *n, struct _nvrtcProgram *program, bool cubin)
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
    return GrB_SUCCESS;
}

GrB_Info ftb_gpu_compile(void **image, const char *source, const ftb_gpu *gpu)
{
    const ftb_nvrtc *n = ftb_nvrtc_here();
    const char *names[MOST_SOURCES], *texts[MOST_SOURCES];
    struct _nvrtcProgram *program = NULL;
    char arch[40], log[LOG_ROOM];
    int count = 0;
    if (!n->version)
        return ftb_fail(FTB_NO_DEVICE, "%s: no kernels: %s", gpu->label, n->why);
    const int best = arch_for(n, gpu);
    const bool cubin = best == 10 * gpu->major + gpu->minor;
    if (!best)
        return ftb_fail(FTB_NO_DEVICE, "%s: NVRTC %d.%d compiles for no GPU of compute capability %d.%d",
                        gpu->label, n->version / 1000, n->version % 1000 / 10, gpu->major, gpu->minor);
    for (const ftb_gpu_source *s = ftb_gpu_sources; s->name && count < MOST_SOURCES; s++, count++) {
        names[count] = s->name;
        texts[count] = s->text;
    }
    snprintf(arch, sizeof arch, "--gpu-architecture=%s_%d", cubin ? "sm" : "compute", best);
    const char *const options[] = {arch, "--std=c++17", "--fmad=false"};
    if (n->call.nvrtcCreateProgram(&program, text_of(source), source, count, texts, names) != 0)
        return ftb_nomem();
    GrB_Info info;
    if (n->call.nvrtcCompileProgram(program, sizeof options / sizeof *options, options) == 0) {
        info = take_image(image, n, program, cubin);
    } else {
        read_log(n, program, log);
        info = ftb_fail(FTB_NO_DEVICE, "%s: NVRTC %d.%d cannot compile %s with %s: %s", gpu->label,
                        n->version / 1000, n->version % 1000 / 10, source, arch, log);
    }
    n->call.nvrtcDestroyProgram(&program);
    return info;
}
