/* Sources that are made of texts (text_source.h): written twice, once to count, and named by what they are.
 */
#include "gpu/texts/text_source.h"

#include "gpu/compile.h"

#include <stdio.h>

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    return hash;
}

GrB_Info ftb_gpu_text_new(ftb_gpu_text *text, FtB_Context ctx, void (*put)(ftb_printer *w, const void *arg),
                          const void *arg, const char *kernels)
{
    static const char head[] = FTB_GPU_TEXT " an expression\n";
    enum { NAMED = 200 }; /* bytes of the last two lines */
    ftb_printer w = {NULL, sizeof head - 1};
    put(&w, arg);
    *text = (ftb_gpu_text){.source = NULL};
    text->source = ftb_new(ctx, (int64_t)w.used + NAMED, 1);
    if (!text->source)
        return ftb_nomem();
    memcpy(text->source, head, sizeof head);
    w = (ftb_printer){text->source, sizeof head - 1};
    put(&w, arg);
    text->source[w.used] = '\0';
    snprintf(text->suffix, sizeof text->suffix, "_%016llx", (unsigned long long)hash_of(text->source));
    snprintf(text->source + w.used, NAMED, "#define NAMED(kernel) kernel##%s\n#include \"%s\"\n",
             text->suffix, kernels);
    return GrB_SUCCESS;
}

void ftb_gpu_text_delete(ftb_gpu_text *text) { ftb_delete(text->source); }
