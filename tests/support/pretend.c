#include "support/pretend.h"

#include "cpu/attention_run.h"
#include "cpu/block/apply_run.h"
#include "cpu/block/gather_run.h"
#include "cpu/dense_run.h"
#include "cpu/message_run.h"
#include "cpu/nn/copy_run.h"
#include "cpu/nn/dropout_run.h"
#include "cpu/nn/head_dots_run.h"
#include "cpu/nn/loss_run.h"
#include "cpu/nn/map_rows_run.h"
#include "cpu/nn/mean_heads_run.h"
#include "cpu/nn/norm_run.h"
#include "cpu/nn/update_run.h"
#include "cpu/reduce_run.h"
#include "cpu/sddmm_run.h"
#include "cpu/softmax_run.h"
#include "cpu/spgemm_run.h"
#include "cpu/spmm_run.h"
#include "ops/backends.h"
#include "oracle/ref_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define MOST_LATE 64
#define SPOILT 0xcb

/* Memory of one buffer. */
typedef struct piece {
    struct piece *next;
    char *given, *own; /* the same pages: unreadable, and readable */
    size_t bytes;
} piece;

typedef struct copy {
    void *to;
    const void *from;
    size_t bytes;
} copy;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static piece *pieces;
static copy late[MOST_LATE];
static int nlate;
static uint64_t state;
static int64_t products;

static uint64_t draw(void) /* xorshift64* */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

static void *own_of(const void *device)
{
    if (!device)
        return NULL;
    for (const piece *p = pieces; p; p = p->next)
        if ((const char *)device >= p->given && (const char *)device < p->given + p->bytes)
            return p->own + ((const char *)device - p->given);
    fprintf(stderr, "pretend: %p is not memory of this device\n", device);
    abort();
}

static void do_copies(int count)
{
    for (int n = 0; n < count; n++)
        memcpy(late[n].to, late[n].from, late[n].bytes);
    memmove(late, late + count, (size_t)(nlate - count) * sizeof *late);
    nlate -= count;
}

static GrB_Info alloc(const ftb_backend *b, FtB_Context ctx, void **device, int64_t bytes)
{
    (void)b, (void)ctx;
    piece *made = malloc(sizeof *made);
    const size_t room = ((size_t)bytes / PAGE + 1) * PAGE;
    const int file = memfd_create("pretend", 0);
    if (!made || file < 0 || ftruncate(file, (off_t)room) != 0)
        abort();
    made->bytes = room;
    made->given = mmap(NULL, room, PROT_NONE, MAP_SHARED, file, 0);
    made->own = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (made->given == MAP_FAILED || made->own == MAP_FAILED)
        abort();
    memset(made->own, SPOILT, room);
    pthread_mutex_lock(&lock);
    made->next = pieces;
    pieces = made;
    pthread_mutex_unlock(&lock);
    *device = made->given;
    return GrB_SUCCESS;
}

static void release(const ftb_backend *b, void *device, int64_t bytes)
{
    (void)b, (void)bytes;
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    piece **at = &pieces;
    while (*at && (*at)->given != device)
        at = &(*at)->next;
    piece *gone = *at;
    if (!gone)
        abort();
    *at = gone->next;
    pthread_mutex_unlock(&lock);
    munmap(gone->given, gone->bytes);
    munmap(gone->own, gone->bytes);
    free(gone);
}

static GrB_Info put(const ftb_backend *b, FtB_Context ctx, void *device, const void *host, int64_t bytes)
{
    (void)b, (void)ctx;
    pthread_mutex_lock(&lock);
    if (nlate == MOST_LATE)
        do_copies(nlate);
    if (bytes > 0)
        late[nlate++] = (copy){own_of(device), host, (size_t)bytes};
    do_copies((int)(draw() % (uint64_t)(nlate + 1)) * (draw() % 4 == 0));
    pthread_mutex_unlock(&lock);
    return GrB_SUCCESS;
}

static GrB_Info get(const ftb_backend *b, FtB_Context ctx, void *host, const void *device, int64_t bytes)
{
    (void)b, (void)ctx;
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    if (bytes > 0)
        memcpy(host, own_of(device), (size_t)bytes);
    pthread_mutex_unlock(&lock);
    return GrB_SUCCESS;
}

static GrB_Info finish(const ftb_backend *b, FtB_Context ctx)
{
    (void)b, (void)ctx;
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    pthread_mutex_unlock(&lock);
    return GrB_SUCCESS;
}

static void spoil(void *host, int64_t bytes) { memset(host, SPOILT, (size_t)bytes); }

/* ---- verbs: the host's own, on the memory that can be read */

static void enter(void)
{
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    products++;
}
static void leave(void) { pthread_mutex_unlock(&lock); }
/* A field of a product: its address here. */
#define HERE(field) ((field) = own_of(field))

static GrB_Info spmm(const ftb_spmm_product *product, const ftb_spmm_plan *plan)
{
    ftb_spmm_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.y);
    HERE(p.out);
    leave();
    return ftb_spmm_run(&p, plan);
}

static GrB_Info spgemm(const ftb_spgemm_product *product, const ftb_spgemm_plan *plan, FtB_Sink sink)
{
    ftb_spgemm_product p = *product;
    enter();
    HERE(p.a);
    HERE(p.b);
    HERE(p.m);
    HERE(p.admits.values);
    leave();
    return ftb_spgemm_run(&p, plan, sink);
}

/* A copy of a product's message, its feeds here. Within enter and leave. */
static ftb_message message_here(const ftb_message *of)
{
    ftb_message m = *of;
    for (int f = 0; f < m.nfeeds; f++)
        if (m.feeds[f].owner)
            HERE(m.feeds[f].data);
    return m;
}

static GrB_Info aggregate(const ftb_aggregate_product *product)
{
    ftb_aggregate_product p = *product;
    enter();
    const ftb_message m = message_here(product->m);
    p.m = &m;
    HERE(p.out);
    leave();
    return ftb_aggregate_run(&p);
}

static GrB_Info dense(const ftb_dense_product *product)
{
    ftb_dense_product p = *product;
    enter();
    HERE(p.a);
    HERE(p.b);
    HERE(p.c);
    leave();
    return ftb_dense_run(&p);
}

static GrB_Info attention(const ftb_attention_product *product, const ftb_sddmm_plan *plan)
{
    ftb_attention_product p = *product;
    enter();
    HERE(p.x.data);
    HERE(p.y.data);
    HERE(p.v.data);
    HERE(p.out);
    HERE(p.lse);
    leave();
    return ftb_attention_run(&p, plan);
}

static GrB_Info attention_grad(const ftb_attention_grad_product *product, const ftb_attention_grad_plan *plan)
{
    ftb_attention_grad_product p = *product;
    enter();
    HERE(p.of.x.data);
    HERE(p.of.y.data);
    HERE(p.of.v.data);
    HERE(p.lse);
    HERE(p.t);
    HERE(p.d);
    HERE(p.q);
    HERE(p.k);
    HERE(p.v);
    leave();
    return ftb_attention_grad_run(&p, plan);
}

static GrB_Info softmax(const ftb_softmax_product *product)
{
    ftb_softmax_product p = *product;
    enter();
    HERE(p.in);
    HERE(p.d);
    HERE(p.out);
    HERE(p.lse);
    leave();
    return ftb_softmax_run(&p);
}

static GrB_Info gather(const ftb_gather_product *product)
{
    ftb_gather_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.y);
    leave();
    return ftb_gather_run(&p);
}

static GrB_Info scatter(const ftb_scatter_product *product)
{
    ftb_scatter_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.y);
    leave();
    return ftb_scatter_run(&p);
}

static GrB_Info reduce(const ftb_reduce_product *product)
{
    ftb_reduce_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.out);
    leave();
    return ftb_reduce_run(&p);
}

static GrB_Info apply(const ftb_apply_product *product)
{
    ftb_apply_product p = *product;
    enter();
    HERE(p.x.data);
    HERE(p.y.data);
    HERE(p.out);
    leave();
    return ftb_apply_run(&p);
}

static GrB_Info sddmm(const ftb_sddmm_product *product, const ftb_sddmm_plan *plan)
{
    ftb_sddmm_product p = *product;
    enter();
    HERE(p.x.data);
    HERE(p.y.data);
    HERE(p.out);
    leave();
    return ftb_sddmm_run(&p, plan);
}

static GrB_Info sddmm_grad(const ftb_sddmm_grad_product *product)
{
    ftb_sddmm_grad_product p = *product;
    enter();
    HERE(p.x.data);
    HERE(p.y.data);
    HERE(p.grad);
    HERE(p.dx);
    HERE(p.dy);
    leave();
    return ftb_sddmm_grad_run(&p);
}

static GrB_Info copy_rows(const ftb_copy_product *product)
{
    ftb_copy_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.y);
    leave();
    return ftb_copy_run(&p);
}

static GrB_Info dropout(const ftb_dropout_product *product)
{
    ftb_dropout_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.y);
    leave();
    return ftb_dropout_run(&p);
}

static ftb_head_dots_product head_dots_here(const ftb_head_dots_product *product)
{
    ftb_head_dots_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.a);
    HERE(p.y);
    HERE(p.dy);
    HERE(p.dx);
    HERE(p.da);
    leave();
    return p;
}

static GrB_Info head_dots(const ftb_head_dots_product *product)
{
    const ftb_head_dots_product p = head_dots_here(product);
    return ftb_head_dots_run(&p);
}

static GrB_Info head_dots_grad(const ftb_head_dots_product *product)
{
    const ftb_head_dots_product p = head_dots_here(product);
    return ftb_head_dots_grad_run(&p);
}

static ftb_mean_heads_product mean_heads_here(const ftb_mean_heads_product *product)
{
    ftb_mean_heads_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.y);
    leave();
    return p;
}

static GrB_Info mean_heads(const ftb_mean_heads_product *product)
{
    const ftb_mean_heads_product p = mean_heads_here(product);
    return ftb_mean_heads_run(&p);
}

static GrB_Info mean_heads_grad(const ftb_mean_heads_product *product)
{
    const ftb_mean_heads_product p = mean_heads_here(product);
    return ftb_mean_heads_grad_run(&p);
}

static ftb_norm_product norm_here(const ftb_norm_product *product)
{
    ftb_norm_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.gain);
    HERE(p.shift);
    HERE(p.y);
    HERE(p.keep);
    HERE(p.kept);
    HERE(p.mean);
    HERE(p.variance);
    HERE(p.running_mean);
    HERE(p.running_variance);
    HERE(p.dy);
    HERE(p.dx);
    HERE(p.dgain);
    HERE(p.dshift);
    leave();
    return p;
}

static GrB_Info layer_norm(const ftb_norm_product *product)
{
    const ftb_norm_product p = norm_here(product);
    return ftb_layer_norm_run(&p);
}

static GrB_Info layer_norm_grad(const ftb_norm_product *product)
{
    const ftb_norm_product p = norm_here(product);
    return ftb_layer_norm_grad_run(&p);
}

static GrB_Info batch_norm(const ftb_norm_product *product)
{
    const ftb_norm_product p = norm_here(product);
    return ftb_batch_norm_run(&p);
}

static GrB_Info batch_norm_grad(const ftb_norm_product *product)
{
    const ftb_norm_product p = norm_here(product);
    return ftb_batch_norm_grad_run(&p);
}

static ftb_loss_product loss_here(const ftb_loss_product *product)
{
    ftb_loss_product p = *product;
    enter();
    HERE(p.x);
    HERE(p.t);
    HERE(p.labels);
    HERE(p.mask);
    HERE(p.out);
    HERE(p.dout);
    HERE(p.dx);
    HERE(p.dt);
    leave();
    return p;
}

static GrB_Info loss(const ftb_loss_product *product)
{
    const ftb_loss_product p = loss_here(product);
    return ftb_loss_run(&p);
}

static GrB_Info loss_grad(const ftb_loss_product *product)
{
    const ftb_loss_product p = loss_here(product);
    return ftb_loss_grad_run(&p);
}

static GrB_Info map_rows(const ftb_map_rows_product *product)
{
    ftb_map_rows_product p = *product;
    enter();
    const ftb_message m = message_here(product->m);
    p.m = &m;
    HERE(p.y);
    leave();
    return ftb_map_rows_run(&p);
}

static GrB_Info update(const ftb_update_product *product)
{
    ftb_update_product p = *product;
    enter();
    HERE(p.gradient);
    HERE(p.values);
    HERE(p.first);
    HERE(p.second);
    leave();
    return ftb_update_run(&p);
}

static GrB_Info sum_squares(const ftb_sum_squares_product *product)
{
    ftb_sum_squares_product p = *product;
    enter();
    HERE(p.gradient);
    HERE(p.sum);
    leave();
    return ftb_sum_squares_run(&p);
}

static const ftb_verbs verbs = {
    .spmm = spmm,
    .spgemm = spgemm,
    .aggregate = aggregate,
    .dense = dense,
    .attention = attention,
    .attention_grad = attention_grad,
    .softmax = softmax,
    .gather = gather,
    .scatter = scatter,
    .reduce = reduce,
    .apply = apply,
    .sddmm = sddmm,
    .sddmm_grad = sddmm_grad,
    .copy = copy_rows,
    .dropout = dropout,
    .head_dots = head_dots,
    .head_dots_grad = head_dots_grad,
    .mean_heads = mean_heads,
    .mean_heads_grad = mean_heads_grad,
    .layer_norm = layer_norm,
    .layer_norm_grad = layer_norm_grad,
    .batch_norm = batch_norm,
    .batch_norm_grad = batch_norm_grad,
    .loss = loss,
    .loss_grad = loss_grad,
    .map_rows = map_rows,
    .update = update,
    .sum_squares = sum_squares,
};

static int64_t size(const ftb_backend *b)
{
    (void)b;
    return INT64_C(1) << 30;
}

static const ftb_memory memory = {size, alloc, release, put, get, finish, spoil};
const ftb_backend pretend_device = {
    .name = "pretend", .about = "a device that does not exist", .memory = &memory, .verbs = &verbs};

void pretend_begin(uint64_t seed)
{
    state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    ftb_backend_remove(&pretend_device);
    ftb_backend_add(&pretend_device);
    if (FtB_Context_set_device(NULL, "pretend") != GrB_SUCCESS)
        abort();
}

void pretend_end(void)
{
    if (FtB_Context_set_device(NULL, NULL) != GrB_SUCCESS)
        abort();
    ftb_backend_remove(&pretend_device);
}

int pretend_setup(void **nothing)
{
    (void)nothing;
    pretend_begin(7);
    return 0;
}

int pretend_teardown(void **nothing)
{
    (void)nothing;
    pretend_end();
    return 0;
}

void pretend_send(ftb_buffer *b)
{
    void *device;
    if (b && (ftb_buffer_ask_at(b, &pretend_device, FTB_UPDATE, &device) != GrB_SUCCESS ||
              ftb_buffer_written(b) != GrB_SUCCESS))
        abort();
}

const void *pretend_memory(const void *device) { return own_of(device); }
int64_t pretend_pending(void) { return nlate; }
int64_t pretend_products(void) { return products; }

/* Linked into every test (cmake/tests.cmake). */
void pretend_by_environment(void);
__attribute__((constructor)) void pretend_by_environment(void)
{
    const char *seed = getenv("FEATBLAS_PRETEND");
    if (!seed)
        return;
    fprintf(stderr, "FEATBLAS_PRETEND=%s\n", seed);
    if (strcmp(seed, "oracle") == 0)
        ref_device_begin();
    else
        pretend_begin(strtoull(seed, NULL, 10));
}
