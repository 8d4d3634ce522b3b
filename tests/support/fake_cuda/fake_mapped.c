/* Memory of the host that kernels of GPUs that do not exist read (fake_cuda.h). They have it at an address of
 * its own, where nobody else can read; what is there is what the host has when a kernel runs, and kernels
 * must not write it. It must not be taken away while there is work that may read it. */
#include "fake_cuda.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096
#define DEVICE_MAP 2
enum { ALREADY_REGISTERED = 712, NOT_REGISTERED = 713 };

typedef struct mapped {
    struct mapped *next;
    char *host, *there;
    size_t bytes, room;
    int device;
} mapped;

static mapped *all;

static mapped **find(const char *from, size_t bytes)
{
    mapped **at = &all;
    while (*at && !(from < (*at)->host + (*at)->bytes && (*at)->host < from + bytes))
        at = &(*at)->next;
    return at;
}

unsigned cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags)
{
    const unsigned error = fake_enter("cuMemHostRegister", 1);
    if (error)
        return error;
    if (!host || bytes == 0 || flags != DEVICE_MAP)
        return fake_leave(fake_misuse("cuMemHostRegister", "no memory, or flags that nobody needs"));
    if (*find(host, bytes))
        return fake_leave(ALREADY_REGISTERED);
    mapped *m = malloc(sizeof *m);
    const size_t room = (bytes / PAGE + 1) * PAGE, skew = (uintptr_t)host % PAGE;
    char *at = mmap(NULL, room + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!m || at == MAP_FAILED)
        abort();
    *m = (mapped){all, host, at + skew, bytes, room + PAGE, fake_device()};
    all = m;
    fake_memory_told(m->there, bytes);
    return fake_leave(OK);
}

unsigned cuMemHostGetDevicePointer_v2(unsigned long long *device, void *host, unsigned flags)
{
    const unsigned error = fake_enter("cuMemHostGetDevicePointer", 0);
    if (error)
        return error;
    const mapped *m = *find(host, 1);
    if (!m || flags != 0 || m->device != fake_device())
        return fake_leave(fake_misuse("cuMemHostGetDevicePointer", "of memory that is not registered"));
    *device = (unsigned long long)(uintptr_t)(m->there + ((char *)host - m->host));
    return fake_leave(OK);
}

unsigned cuMemHostUnregister(void *host)
{
    const unsigned error = fake_enter("cuMemHostUnregister", 1);
    if (error)
        return error;
    mapped **at = find(host, 1), *gone = *at;
    if (!gone || gone->host != host) {
        fake_misuse("cuMemHostUnregister", "of memory that is not registered");
        return fake_leave(NOT_REGISTERED);
    }
    if (fake_cuda_pending() > 0)
        fake_misuse("cuMemHostUnregister", "while work is to be done that may read it");
    *at = gone->next;
    fake_memory_told(gone->there, 0);
    munmap(gone->there - (uintptr_t)gone->host % PAGE, gone->room);
    free(gone);
    return fake_leave(OK);
}

unsigned cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    const unsigned error = fake_enter("cuMemGetInfo", 0);
    if (error)
        return error;
    const size_t most = (size_t)fake_number("FAKE_CUDA_MEMORY", 1 << 30),
                 used = fake_memory_used(fake_device());
    *total = most;
    *unused = used < most ? most - used : 0;
    return fake_leave(OK);
}

static void protect(const mapped *m, int protection)
{
    mprotect(m->there - (uintptr_t)m->host % PAGE, m->room, protection);
}

void fake_mapped_open(int device)
{
    for (const mapped *m = all; m; m = m->next)
        if (m->device == device) {
            protect(m, PROT_READ | PROT_WRITE);
            memcpy(m->there, m->host, m->bytes);
        }
}

void fake_mapped_close(int device)
{
    for (const mapped *m = all; m; m = m->next)
        if (m->device == device) {
            if (memcmp(m->there, m->host, m->bytes) != 0)
                fake_misuse("a kernel", "writes memory of the host");
            protect(m, PROT_NONE);
        }
}

int fake_cuda_mapped(void)
{
    int count = 0;
    for (const mapped *m = all; m; m = m->next)
        count++;
    return count;
}
