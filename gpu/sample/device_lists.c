/* Lists on a GPU (device_lists.h). */
#include "gpu/sample/device_lists.h"

#include "gpu/scan.h"

#define WIDE 4096 /* blocks that fill every GPU a few times over */

bool ftb_gpu_load_all(ftb_gpu_device *d, const char *const *sources)
{
    while (*sources && ftb_gpu_load(d, *sources) == GrB_SUCCESS)
        sources++;
    return !*sources;
}

GrB_Info ftb_gpu_list(ftb_gpu_rooms *rooms, void *at, int64_t bytes)
{
    return ftb_gpu_room(at, rooms, ftb_max(bytes, 8));
}

GrB_Info ftb_gpu_list_of(ftb_gpu_rooms *rooms, void *at, const void *host, int64_t bytes)
{
    return bytes > 0 ? ftb_gpu_send(at, rooms, host, bytes) : ftb_gpu_list(rooms, at, bytes);
}

GrB_Info ftb_gpu_lists_get(const ftb_gpu_rooms *rooms, void *host, const void *at, int64_t bytes)
{
    return bytes > 0 ? rooms->d->row.memory->get(&rooms->d->row, rooms->ctx, host, at, bytes) : GrB_SUCCESS;
}

static GrB_Info fill(const ftb_gpu_rooms *rooms, void *at, int64_t count, unsigned long long word)
{
    long long n = count;
    const int64_t threads = ftb_min(count, (int64_t)WIDE * FTB_SAMPLE_BLOCK);
    return ftb_gpu_step(rooms, FTB_GPU_SAMPLE_NUMBERS, "sample_fill", threads, (void *[]){&at, &n, &word});
}

GrB_Info ftb_gpu_ones(const ftb_gpu_rooms *rooms, void *at, int64_t count)
{
    return fill(rooms, at, count, ~0ULL);
}

GrB_Info ftb_gpu_zeros(const ftb_gpu_rooms *rooms, void *at, int64_t count)
{
    return fill(rooms, at, count, 0);
}

GrB_Info ftb_gpu_step(const ftb_gpu_rooms *rooms, const char *source, const char *kernel, int64_t threads,
                      void **parameters)
{
    const ftb_gpu_grid grid = {
        .x = (threads + FTB_SAMPLE_BLOCK - 1) / FTB_SAMPLE_BLOCK, .y = 1, .threads = FTB_SAMPLE_BLOCK};
    return ftb_gpu_launch(rooms->d, rooms->ctx, source, kernel, grid, parameters);
}

/* ---- running sums */

GrB_Info ftb_gpu_list_sums(ftb_gpu_rooms *rooms, long long *x, int64_t n)
{
    const int count = rooms->count;
    void *sums = NULL;
    GrB_Info info = ftb_gpu_room(&sums, rooms, ftb_gpu_scan_bytes(n));
    if (info == GrB_SUCCESS)
        info = ftb_gpu_scan(rooms->d, rooms->ctx, (ftb_scan_arguments){.to = x, .n = n, .sums = sums});
    ftb_gpu_rooms_free_after(rooms, count);
    return info;
}

/* ---- order */

static GrB_Info order_digit(ftb_gpu_rooms *rooms, ftb_order_arguments *a, int shift)
{
    const int64_t threads = a->ntiles * 32;
    a->shift = shift;
    GrB_Info info = ftb_gpu_step(rooms, FTB_GPU_SAMPLE_ORDER, "sample_order_count", threads, (void *[]){a});
    if (info == GrB_SUCCESS)
        info = ftb_gpu_list_sums(rooms, a->counts, a->ntiles * FTB_ORDER_DIGITS);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_step(rooms, FTB_GPU_SAMPLE_ORDER, "sample_order_move", threads, (void *[]){a});
    const unsigned long long *keys = a->from;
    const unsigned *with = a->with_from;
    a->from = a->to;
    a->with_from = a->with_to;
    a->to = (unsigned long long *)(uintptr_t)keys;
    a->with_to = (unsigned *)(uintptr_t)with;
    return info;
}

GrB_Info ftb_gpu_order_by(ftb_gpu_rooms *rooms, ftb_gpu_order *order, int low, int high)
{
    ftb_order_arguments a = {.from = order->keys,
                             .with_from = order->with,
                             .n = order->n,
                             .ntiles = (order->n + FTB_ORDER_TILE - 1) / FTB_ORDER_TILE};
    GrB_Info info = GrB_SUCCESS;
    if (order->n < 2)
        return info;
    FTB_CHECK(ftb_gpu_list(rooms, &a.to, 8 * order->n));
    FTB_CHECK(ftb_gpu_list(rooms, &a.with_to, 4 * order->n));
    FTB_CHECK(ftb_gpu_list(rooms, &a.counts, 8 * (a.ntiles * FTB_ORDER_DIGITS + 1)));
    for (int shift = 0; shift < low; shift += 8)
        FTB_CHECK(order_digit(rooms, &a, shift));
    for (int shift = 32; shift < 32 + high; shift += 8)
        FTB_CHECK(order_digit(rooms, &a, shift));
    order->keys = (unsigned long long *)(uintptr_t)a.from;
    order->with = (unsigned *)(uintptr_t)a.with_from;
done:
    return info;
}
