/* Contexts of GPUs that do not exist (fake_cuda.h), and what all calls have that need one: a lock, counts,
 * and what must not be done. */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUctx_st {
    int device;
};

enum { MOST_DEVICES = 32, DEPTH = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct CUctx_st contexts[MOST_DEVICES];
/* Current contexts of a thread. Not thread_local: of a module that is opened late, leak sanitizers stumble
 * over the usual kind, and where kernels' shared memory is such, too, there is no room for the other. */
typedef struct contexts_of {
    struct CUctx_st *stack[DEPTH];
    int depth;
} contexts_of;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
enum { CALLS = 48 };
static struct {
    const char *name;
    int times;
} calls[CALLS];
static char wrong[256];

unsigned fake_misuse(const char *call, const char *what)
{
    if (!wrong[0])
        snprintf(wrong, sizeof wrong, "%s: %s", call, what);
    return INVALID_VALUE;
}

static void make_key(void)
{
    if (pthread_key_create(&key, free) != 0)
        abort();
}

static contexts_of *mine(void)
{
    pthread_once(&key_once, make_key);
    contexts_of *c = pthread_getspecific(key);
    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c || pthread_setspecific(key, c) != 0)
            abort();
    }
    return c;
}

int fake_device(void) { return mine()->stack[mine()->depth - 1]->device; }

struct CUctx_st *fake_context(int device) { return &contexts[device]; }

unsigned cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device)
{
    const unsigned error = fake_begin_ready("cuDevicePrimaryCtxRetain");
    if (error || device < DEVICES || device >= DEVICES + MOST_DEVICES)
        return error ? error : INVALID_DEVICE;
    *context = &contexts[device - DEVICES];
    (*context)->device = device - DEVICES;
    return OK;
}

unsigned cuCtxPushCurrent_v2(struct CUctx_st *context)
{
    const unsigned error = fake_begin_ready("cuCtxPushCurrent");
    if (error || !context || mine()->depth == DEPTH)
        return error ? error : INVALID_VALUE;
    mine()->stack[mine()->depth++] = context;
    return OK;
}

unsigned cuCtxPopCurrent_v2(struct CUctx_st **context)
{
    if (mine()->depth == 0)
        return INVALID_CONTEXT;
    *context = mine()->stack[--mine()->depth];
    return fake_begin_ready("cuCtxPopCurrent");
}

static void count(const char *call)
{
    int n = 0;
    while (n < CALLS && calls[n].name && strcmp(calls[n].name, call) != 0)
        n++;
    if (n == CALLS)
        abort();
    calls[n].name = call;
    calls[n].times++;
}

unsigned fake_enter(const char *call, int waits)
{
    const unsigned error = fake_begin_ready(call);
    if (error || mine()->depth == 0)
        return error ? error : INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    count(call);
    if (waits && fake_captures()) {
        fake_capture_spoil();
        fake_misuse(call, "while this thread captures");
        return fake_leave(CAPTURE_UNSUPPORTED);
    }
    fake_streams_get_on();
    return OK;
}

unsigned fake_leave(unsigned error)
{
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- for other libraries */

int fake_cuda_current(void) { return mine()->depth > 0; }

void fake_cuda_wrong(const char *call, const char *what)
{
    pthread_mutex_lock(&lock);
    fake_misuse(call, what);
    pthread_mutex_unlock(&lock);
}

/* ---- for tests */

int fake_cuda_calls(const char *call)
{
    int times = 0;
    pthread_mutex_lock(&lock);
    for (int n = 0; n < CALLS && calls[n].name; n++)
        times += strcmp(calls[n].name, call) == 0 ? calls[n].times : 0;
    pthread_mutex_unlock(&lock);
    return times;
}

const char *fake_cuda_misuse(void) { return wrong[0] ? wrong : NULL; }
