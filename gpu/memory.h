/* A GPU's memory, as the table of backends takes it (core/backend.h). */
#ifndef FTB_GPU_MEMORY_H
#define FTB_GPU_MEMORY_H

#include "gpu/context.h"

extern const ftb_memory ftb_gpu_memory;
/* Memory there that a verb takes for itself alone, piece by piece; all of it is given back at once, on
 * failure too. */
enum { FTB_GPU_ROOMS = 48 };
typedef struct ftb_gpu_rooms {
    ftb_gpu_device *d;
    FtB_Context ctx;
    int count;
    struct {
        void *at;
        int64_t bytes;
    } room[FTB_GPU_ROOMS];
} ftb_gpu_rooms;
/* *to stays as it is where no bytes are wanted. */
GrB_Info ftb_gpu_room(void **to, ftb_gpu_rooms *rooms, int64_t bytes);
/* The same, with a copy of the host's. */
GrB_Info ftb_gpu_send(const void **to, ftb_gpu_rooms *rooms, const void *host, int64_t bytes);
/* Gives back what was taken after the first `count`; or all. */
void ftb_gpu_rooms_free_after(ftb_gpu_rooms *rooms, int count);
void ftb_gpu_rooms_free(ftb_gpu_rooms *rooms);
/* Of what this thread's lane was given so far, `mark` n is the end. */
GrB_Info ftb_gpu_mark(ftb_gpu_device *d, int n);
/* Fetches what is there at that mark, whatever was launched after it; it is on the host when this returns. */
GrB_Info ftb_gpu_fetch_aside(ftb_gpu_device *d, int n, void *host, const void *device, int64_t bytes);
/* A piece that was freed and is kept, or that a recording has (record.h). */
struct ftb_gpu_spare {
    struct ftb_gpu_spare *next;
    unsigned long long device;
    int class;
    bool out;                 /* of a recording's: a verb has it */
    int lane;                 /* that freed it, and */
    unsigned long long epoch; /* when */
};
/* One of the class that this thread's lane may write at once, taken out; NULL: there is none. Puts one in,
 * which `lane` was the last to use. The lock is held. */
struct ftb_gpu_spare *ftb_gpu_spare_take(ftb_gpu_device *d, int class);
void ftb_gpu_spare_put(ftb_gpu_device *d, struct ftb_gpu_spare *piece, int lane);
/* Bytes that nobody has: of the driver's, and of what was freed; of a GPU that is described, no more than
 * that has. */
GrB_Info ftb_gpu_free_memory(ftb_gpu_device *d, int64_t *bytes);
/* Gives back to the driver what was freed. */
GrB_Info ftb_gpu_trim(const ftb_backend *b);
/* The same between _enter and _leave, for a call that has no room: whether it may do with some that there
 * was.
 */
bool ftb_gpu_make_room(ftb_gpu_device *d);
/* Frees memory, which `lane` was the last to use, between _enter and _leave; of a thread that records,
 * nothing may be freed so. */
void ftb_gpu_give(ftb_gpu_device *d, void *device, int64_t bytes, int lane);
/* FTB_GPU_CALL of what may need memory of the GPU: what was freed is given back first, where there is none.
 */
#define FTB_GPU_CALL_IN_ROOM(d, name, ...)                                                                   \
    do {                                                                                                     \
        unsigned error_ = (d)->driver->call.name(__VA_ARGS__);                                               \
        if (error_ == FTB_CUDA_OUT_OF_MEMORY && ftb_gpu_make_room(d))                                        \
            error_ = (d)->driver->call.name(__VA_ARGS__);                                                    \
        if (error_) {                                                                                        \
            info = ftb_gpu_failed((d), #name, error_);                                                       \
            goto done;                                                                                       \
        }                                                                                                    \
    } while (0)

#endif
