/* A compiler of kernels that does not exist, built as a library of its own: what it compiles is a text of
 * which the driver that does not exist says that it has every kernel (fake_kernels.c). A source that is no
 * file of gpu/kernels, which begins with "//", is compiled for the emulator by the host's compiler, to a
 * library. The environment says what it is:
 *
 *     FAKE_NVRTC_VERSION  1000 major + 10 minor (12040); of several it says one after the other
 *     FAKE_NVRTC_ARCHS    the least and the greatest GPU that it compiles for ("50 90")
 *     FAKE_NVRTC_FAILS    a call that fails
 *     FAKE_NVRTC_LOG      what it answers to a source, which it does not compile
 *     FAKE_NVRTC_TEXTS    0: it compiles none of those that begin with "//"
 */
#include "gpu/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DECLARE(name, arguments) unsigned name arguments;
FTB_NVRTC_CALLS(DECLARE)
int fake_nvrtc_compiled(void);        /* how often */
const char *fake_nvrtc_options(void); /* of the last time, with blanks between */

enum { OK = 0, INVALID_INPUT = 3, COMPILATION = 6, INTERNAL = 11 };

struct _nvrtcProgram {
    char *source, *image; /* of what was compiled */
    size_t bytes;
};
static const char all[] = "//all kernels";
static int compiled;
static char options_seen[512];

int fake_nvrtc_compiled(void) { return compiled; }
const char *fake_nvrtc_options(void) { return options_seen; }

static unsigned begin(const char *call)
{
    const char *fails = getenv("FAKE_NVRTC_FAILS");
    return fails && strcmp(fails, call) == 0 ? INTERNAL : OK;
}

unsigned nvrtcVersion(int *major, int *minor)
{
    const char *text = getenv("FAKE_NVRTC_VERSION"), *next = text ? strchr(text, ' ') : NULL;
    const int version = text ? atoi(text) : 12040;
    char left[100];
    if (next) {
        snprintf(left, sizeof left, "%s", next + 1);
        setenv("FAKE_NVRTC_VERSION", left, 1);
    }
    *major = version / 1000;
    *minor = version % 1000 / 10;
    return begin("nvrtcVersion");
}

static void range(int *least, int *most)
{
    const char *text = getenv("FAKE_NVRTC_ARCHS");
    if (!text || sscanf(text, "%d %d", least, most) != 2) {
        *least = 50;
        *most = 90;
    }
}

unsigned nvrtcGetNumSupportedArchs(int *count)
{
    int least, most;
    range(&least, &most);
    *count = (most - least) / 10 + 1;
    return begin("nvrtcGetNumSupportedArchs");
}

unsigned nvrtcGetSupportedArchs(int *archs)
{
    int least, most;
    range(&least, &most);
    for (int n = 0; n <= (most - least) / 10; n++)
        archs[n] = least + 10 * n;
    return begin("nvrtcGetSupportedArchs");
}

unsigned nvrtcCreateProgram(struct _nvrtcProgram **program, const char *source, const char *name,
                            int nheaders, const char *const *headers, const char *const *names)
{
    if (!source || !*source || !name)
        return INVALID_INPUT;
    for (int n = 0; n < nheaders; n++)
        if (!headers[n] || !*headers[n] || !names[n])
            return INVALID_INPUT;
    const unsigned error = begin("nvrtcCreateProgram");
    *program = error ? NULL : calloc(1, sizeof **program);
    if (error || !*program)
        return INTERNAL;
    (*program)->source = strdup(source);
    return (*program)->source ? OK : INTERNAL;
}

#ifdef FAKE_NVRTC_CXX
static void take_library(struct _nvrtcProgram *program, const char *path)
{
    FILE *file = fopen(path, "rb");
    long bytes = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    char *image = malloc((size_t)bytes + 1);
    if (file && image) {
        rewind(file);
        program->bytes = fread(image, 1, (size_t)bytes, file);
        program->image = image;
    }
    if (file)
        fclose(file);
    remove(path);
}

/* For the emulator, which is in the driver that is in use. */
static unsigned compile_text(struct _nvrtcProgram *program)
{
    static int count;
    const char *folder = getenv("TMPDIR"), *driver = getenv("FEATBLAS_CUDA_DRIVER"),
               *texts = getenv("FAKE_NVRTC_TEXTS");
    char path[200], command[2000];
    if (texts && strcmp(texts, "0") == 0)
        return COMPILATION;
    snprintf(path, sizeof path, "%s/fake_nvrtc.%d.%d.so", folder ? folder : "/tmp", (int)getpid(), count++);
    snprintf(command, sizeof command, FAKE_NVRTC_CXX " -shared -o '%s' -x c++ - -x none '%s'", path,
             driver ? driver : "");
    FILE *compiler = popen(command, "w");
    if (!compiler)
        return INTERNAL;
    fputs(program->source, compiler);
    if (pclose(compiler) == 0)
        take_library(program, path);
    return program->image ? OK : COMPILATION;
}
#else
static unsigned compile_text(struct _nvrtcProgram *program)
{
    return program->source ? COMPILATION : INTERNAL;
}
#endif

unsigned nvrtcCompileProgram(struct _nvrtcProgram *program, int noptions, const char *const *options)
{
    const unsigned error = begin("nvrtcCompileProgram");
    compiled++;
    options_seen[0] = '\0';
    for (int n = 0; n < noptions; n++) {
        const size_t used = strlen(options_seen);
        snprintf(options_seen + used, sizeof options_seen - used, "%s%s", n ? " " : "", options[n]);
    }
    if (error || getenv("FAKE_NVRTC_LOG"))
        return error ? error : COMPILATION;
    if (strncmp(program->source, "//", 2) == 0)
        return compile_text(program);
    program->bytes = sizeof all;
    program->image = malloc(sizeof all);
    if (program->image)
        memcpy(program->image, all, sizeof all);
    return program->image ? OK : INTERNAL;
}

static const char *answer(void)
{
    const char *log = getenv("FAKE_NVRTC_LOG");
    return log ? log : "";
}

unsigned nvrtcGetProgramLogSize(struct _nvrtcProgram *program, size_t *bytes)
{
    (void)program;
    *bytes = strlen(answer()) + 1;
    return begin("nvrtcGetProgramLogSize");
}

unsigned nvrtcGetProgramLog(struct _nvrtcProgram *program, char *log)
{
    (void)program;
    memcpy(log, answer(), strlen(answer()) + 1);
    return begin("nvrtcGetProgramLog");
}

/* A cubin is asked for where the GPU is one that is compiled for; the text serves for both. */
unsigned nvrtcGetCUBINSize(struct _nvrtcProgram *program, size_t *bytes)
{
    *bytes = program->bytes;
    return program->image ? begin("nvrtcGetCUBINSize") : INVALID_INPUT;
}

unsigned nvrtcGetCUBIN(struct _nvrtcProgram *program, char *to)
{
    if (program->image)
        memcpy(to, program->image, program->bytes);
    return program->image ? begin("nvrtcGetCUBIN") : INVALID_INPUT;
}

unsigned nvrtcGetPTXSize(struct _nvrtcProgram *program, size_t *bytes)
{
    *bytes = program->bytes;
    return program->image ? begin("nvrtcGetPTXSize") : INVALID_INPUT;
}

unsigned nvrtcGetPTX(struct _nvrtcProgram *program, char *to)
{
    if (program->image)
        memcpy(to, program->image, program->bytes);
    return program->image ? begin("nvrtcGetPTX") : INVALID_INPUT;
}

unsigned nvrtcDestroyProgram(struct _nvrtcProgram **program)
{
    if (*program) {
        free((*program)->source);
        free((*program)->image);
    }
    free(*program);
    *program = NULL;
    return begin("nvrtcDestroyProgram");
}
