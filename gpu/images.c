/* Which of the kernels that were compiled with the library a GPU runs, and how they are unpacked (images.h).
 *
 * They are tried before NVRTC is asked, which takes a second for each source; what is missing or damaged, or
 * for other GPUs, and what a driver does not take that is older than nvcc was, is NVRTC's (launch.c). */
#include "gpu/images.h"

#include <stdio.h>
#include <zlib.h>

#define GZIP (16 + MAX_WBITS)    /* zlib's number for what gzip writes */
#define MOST (INT64_C(64) << 20) /* bytes of an image: more is damage */
#define TAIL 4                   /* bytes, gzip's last: how long the image is */

static const ftb_gpu_image *images = ftb_gpu_images;

void ftb_gpu_images_use(const ftb_gpu_image *others) { images = others ? others : ftb_gpu_images; }

static bool runs(const ftb_gpu_image *i, const ftb_gpu *gpu)
{
    return i->arch <= 10 * gpu->major + gpu->minor && (i->text || i->arch / 10 == gpu->major);
}

const ftb_gpu_image *ftb_gpu_image_for(const char *source, const ftb_gpu *gpu)
{
    const ftb_gpu_image *best = NULL;
    for (const ftb_gpu_image *i = images; i->source; i++)
        if ((!source || strcmp(i->source, source) == 0) && runs(i, gpu) &&
            (!best || (i->text == best->text ? i->arch > best->arch : best->text)))
            best = i;
    return best;
}

const char *ftb_gpu_images_about(char text[32], const ftb_gpu *gpu)
{
    const ftb_gpu_image *best = ftb_gpu_image_for(NULL, gpu);
    if (best)
        snprintf(text, 32, "%s_%d", best->text ? "compute" : "sm", best->arch);
    return best ? text : NULL;
}

/* A NUL follows it, as PTX needs. */
GrB_Info ftb_gpu_image_unpack(void **image, const ftb_gpu_image *packed)
{
    const int64_t bytes = packed->end - packed->at;
    const unsigned char *tail = packed->end - TAIL;
    const int64_t room =
        bytes > TAIL ? tail[0] | tail[1] << 8 | tail[2] << 16 | (int64_t)tail[3] << 24 : MOST + 1;
    char *made = room <= MOST ? ftb_raw_new((size_t)room + 1) : NULL;
    if (!made && room <= MOST)
        return ftb_fail(GrB_OUT_OF_MEMORY, "out of memory: no room for kernels of %s", packed->source);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)packed->at, .avail_in = (uInt)bytes};
    const bool begun = made && inflateInit2(&z, GZIP) == Z_OK;
    z.next_out = (Bytef *)made;
    z.avail_out = (uInt)room;
    const bool whole = begun && inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0;
    if (begun)
        inflateEnd(&z);
    if (!whole) {
        ftb_raw_delete(made);
        return ftb_fail(FTB_NO_DEVICE, "kernels of %s that came with the library are damaged",
                        packed->source);
    }
    made[room] = '\0';
    *image = made;
    return GrB_SUCCESS;
}
