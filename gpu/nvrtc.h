/* NVRTC, the compiler of kernels: found by its name when somebody first asks. As with the driver (driver.h),
 * neither its header nor its library is needed to build. */
#ifndef FTB_GPU_NVRTC_H
#define FTB_GPU_NVRTC_H

#include "gpu/library.h"

struct _nvrtcProgram;

/* A row per function that is called. All return an nvrtcResult, an enumeration without negative values. */
#define FTB_NVRTC_CALLS(CALL)                                                                                \
    CALL(nvrtcVersion, (int *major, int *minor))                                                             \
    CALL(nvrtcGetNumSupportedArchs, (int *count))                                                            \
    CALL(nvrtcGetSupportedArchs, (int *archs))                                                               \
    CALL(nvrtcCreateProgram, (struct _nvrtcProgram * *program, const char *source, const char *name,         \
                              int nheaders, const char *const *headers, const char *const *names))           \
    CALL(nvrtcCompileProgram, (struct _nvrtcProgram * program, int noptions, const char *const *options))    \
    CALL(nvrtcGetProgramLogSize, (struct _nvrtcProgram * program, size_t * bytes))                           \
    CALL(nvrtcGetProgramLog, (struct _nvrtcProgram * program, char *log))                                    \
    CALL(nvrtcGetCUBINSize, (struct _nvrtcProgram * program, size_t * bytes))                                \
    CALL(nvrtcGetCUBIN, (struct _nvrtcProgram * program, char *image))                                       \
    CALL(nvrtcGetPTXSize, (struct _nvrtcProgram * program, size_t * bytes))                                  \
    CALL(nvrtcGetPTX, (struct _nvrtcProgram * program, char *image))                                         \
    CALL(nvrtcDestroyProgram, (struct _nvrtcProgram * *program))

typedef struct ftb_nvrtc_calls {
#define FTB_NVRTC_MEMBER(name, arguments) unsigned(*name) arguments;
    FTB_NVRTC_CALLS(FTB_NVRTC_MEMBER)
#undef FTB_NVRTC_MEMBER
} ftb_nvrtc_calls;

enum { FTB_NVRTC_ARCHS = 64 };

typedef struct ftb_nvrtc {
    ftb_nvrtc_calls call;
    ftb_found found;
    int narchs, archs[FTB_NVRTC_ARCHS]; /* that it compiles for, ascending: 10 major + minor */
} ftb_nvrtc;

/* Opens one by its name or path, "" for none. What was found, or why there is nothing, is in *n. */
void ftb_nvrtc_open(ftb_nvrtc *n, const char *path);
/* Opens the first of a list, which ends with NULL, that is there and of no newer a major version than `cuda`,
 * a driver's, since drivers load nothing that a newer one makes; 0: of any. */
void ftb_nvrtc_find(ftb_nvrtc *n, const char *const *paths, int cuda);

/* This process's, opened by the first who asks: the newest that there is for a driver of the version `cuda`,
 * or what FEATBLAS_NVRTC names. */
const ftb_nvrtc *ftb_nvrtc_here(int cuda);

#endif
