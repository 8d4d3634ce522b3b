/* Sources of kernels that are made of texts. */
#ifndef FTB_GPU_TEXT_SOURCE_H
#define FTB_GPU_TEXT_SOURCE_H

#include "expr/print_c.h"

typedef struct ftb_gpu_text {
    char *source;    /* as ftb_gpu_launch takes it; ours */
    char suffix[20]; /* of its kernels' names */
} ftb_gpu_text;

/* What put() writes, and the kernels of a file that is included after it, which name themselves by
 * NAMED(kernel). On failure too, ftb_gpu_text_delete must follow. */
GrB_Info ftb_gpu_text_new(ftb_gpu_text *text, FtB_Context ctx, void (*put)(ftb_printer *w, const void *arg),
                          const void *arg, const char *kernels);
void ftb_gpu_text_delete(ftb_gpu_text *text);

#endif
