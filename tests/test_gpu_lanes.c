/* Work beside, in a lane of its own (gpu/stream.c), on a GPU that does not exist, whose streams are late:
 * each lane reads what the other has written, memory that one has freed, or that had to give way, is not
 * written by the other before its time, nor is what it still reads; marks, recordings and workspaces are a
 * lane's own. Here the test's thread works beside, and others in the order of calls. */
#include "support/beside.h"
#include "support/check.h"
#include "support/fakes.h"

#include "core/core.h"
#include "core/held_device.h"
#include "gpu/memory.h"

#include <pthread.h>
#include <stdlib.h>

enum { N = 60, D = 5, ROUNDS = 20 };
#define BYTES ((int64_t)(N * D * sizeof(float)))

static const ftb_backend *gpu(void) { return ftb_device(ftb_context()); }

typedef struct world {
    rng r;
    FtB_Matrix A;
    FtB_Block X, Y, Z;
    float x[N * D], y[N * D], z[N * D]; /* what they are to be */
} world;

/* y = the greatest of the neighbours' rows of x, of which every bit is known; 0 without neighbours. */
static void greatest(float *y, FtB_Matrix A, const float *x)
{
    const int64_t *rowptr = A->pattern->rowptr;
    const int32_t *colidx = A->pattern->colidx;
    for (int64_t i = 0; i < N; i++)
        for (int64_t f = 0; f < D; f++) {
            float best = 0;
            for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
                best = e == rowptr[i] || x[colidx[e] * D + f] > best ? x[colidx[e] * D + f] : best;
            y[i * D + f] = best;
        }
}

static void new_block(FtB_Block *X) { assert_ok(FtB_Block_new(X, N, D, FTB_FP32)); }

static void multiply(const world *w, FtB_Block Y, FtB_Block X)
{
    assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MAX_SRC, w->A, X, NULL));
}

static void same(FtB_Block Y, const float *expected, const char *what, int round)
{
    const float *y = block_values(Y);
    for (int k = 0; k < N * D; k++)
        if (memcmp(&y[k], &expected[k], sizeof *y) != 0)
            fail_msg("%s, round %d: value %d is %.9g; expected %.9g", what, round, k, (double)y[k],
                     (double)expected[k]);
}

/* In the order of calls, by another thread. */
typedef struct step {
    void (*work)(world *w);
    world *w;
} step;

static void *run_step(void *of)
{
    const step *s = of;
    s->work(s->w);
    return NULL;
}

static void in_order(void (*work)(world *w), world *w)
{
    step s = {work, w};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_step, &s), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Another thread is in the default context, as this one is, and has all that a product needs. */
static void warm(world *w)
{
    FtB_Block Y;
    new_block(&Y);
    assert_ok(FtB_Block_to_device(w->X));
    multiply(w, Y, w->X);
    FtB_Block_free(&Y);
}

static void begin(world *w)
{
    w->r = rng_new();
    w->A = fake_gpu_matrix(&w->r, N, N, 0, 20);
    new_block(&w->X);
    in_order(warm, w);
    FtB_Block_free(&w->X);
    assert_ok(gpu()->memory->beside_begin(gpu(), NULL));
}

static void new_values(world *w)
{
    rng_reals(&w->r, w->x, FTB_FP32, N * D);
    memcpy(w->X->owner->host, w->x, (size_t)BYTES);
    assert_ok(FtB_Block_changed(w->X));
    greatest(w->y, w->A, w->x);
    greatest(w->z, w->A, w->y);
}

static void place_x(world *w) { assert_ok(FtB_Block_to_device(w->X)); }

/* X, with new values, is there, and nothing is under way. */
static void begin_round(world *w)
{
    new_block(&w->X);
    new_block(&w->Y);
    new_block(&w->Z);
    new_values(w);
    in_order(place_x, w);
    assert_ok(gpu()->memory->wait(gpu(), NULL));
}

static void end_round(world *w)
{
    FtB_Block_free(&w->X);
    FtB_Block_free(&w->Y);
    FtB_Block_free(&w->Z);
}

static void end(world *w)
{
    gpu()->memory->beside_end(gpu());
    FtB_Matrix_free(&w->A);
}

/* All freed memory of a block's size that this lane may have is written at once, and read. */
static void overwrite(void)
{
    enum { MOST = 12 };
    char other[BYTES], back[BYTES];
    void *at[MOST];
    memset(other, 0x5a, sizeof other);
    for (int n = 0; n < MOST; n++) {
        assert_ok(gpu()->memory->alloc(gpu(), NULL, &at[n], BYTES));
        assert_ok(gpu()->memory->put(gpu(), NULL, at[n], other, BYTES));
        assert_ok(gpu()->memory->get(gpu(), NULL, back, at[n], BYTES));
        assert_memory_equal(back, other, sizeof back);
    }
    for (int n = 0; n < MOST; n++)
        gpu()->memory->free(gpu(), at[n], BYTES);
}

static void y_of_x(world *w) { multiply(w, w->Y, w->X); }
static void z_of_y(world *w) { multiply(w, w->Z, w->Y); }

/* ---- what is written is read */

static void from_lane_to_lane(void **state)
{
    world w;
    (void)state;
    begin(&w);
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(&w);
        if (round % 2) {
            y_of_x(&w);
            in_order(z_of_y, &w);
        } else {
            in_order(y_of_x, &w);
            z_of_y(&w);
        }
        same(w.Z, w.z, "from lane to lane", round);
        end_round(&w);
    }
    end(&w);
}

/* The same blocks all the time, which one lane sends and the other computes with. */
static void again(void **state)
{
    world w;
    (void)state;
    begin(&w);
    begin_round(&w);
    for (int round = 0; round < ROUNDS; round++) {
        float z[N * D];
        new_values(&w);
        if (round % 2 && round < ROUNDS / 2) {
            place_x(&w);
            in_order(y_of_x, &w);
            z_of_y(&w);
        } else {
            in_order(place_x, &w);
            y_of_x(&w);
            if (round < ROUNDS / 2)
                in_order(z_of_y, &w);
            else
                z_of_y(&w);
        }
        if (w.Z->owner->valid == FTB_VALID_DEVICE) { /* and the blocks stay there */
            assert_ok(ftb_buffer_ask_at(w.Z->owner, gpu(), FTB_READ, &(void *){NULL}));
            assert_ok(gpu()->memory->get(gpu(), NULL, z, w.Z->owner->device, BYTES));
            assert_memory_equal(z, w.z, sizeof z);
        }
    }
    same(w.Z, w.z, "again", ROUNDS);
    end_round(&w);
    end(&w);
}

/* ---- what is read is not written */

/* Other values. */
static void x_changes(world *w)
{
    FtB_Block other;
    char back[BYTES];
    new_block(&other);
    assert_ok(FtB_Block_to_device(other));
    multiply(w, w->X, other);
    if (w->X->owner->valid == FTB_VALID_DEVICE) /* behind that */
        assert_ok(gpu()->memory->get(gpu(), NULL, back, w->X->owner->device, BYTES));
    FtB_Block_free(&other);
}

static void written(void **state)
{
    world w;
    (void)state;
    begin(&w);
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(&w);
        y_of_x(&w);
        in_order(x_changes, &w);
        same(w.Y, w.y, "of what is written after", round);
        end_round(&w);
    }
    end(&w);
}

static void x_goes(world *w)
{
    FtB_Block_free(&w->X);
    overwrite();
}

static void x_comes_home(world *w)
{
    assert_ok(FtB_Block_to_host(w->X));
    overwrite();
}

static void released(void **state)
{
    world w;
    (void)state;
    begin(&w);
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(&w);
        y_of_x(&w);
        in_order(round % 2 ? x_goes : x_comes_home, &w);
        same(w.Y, w.y, "of what is released", round);
        end_round(&w);
    }
    end(&w);
}

/* What this lane has freed, and reads. */
static void overwrite_there(world *w)
{
    (void)w;
    overwrite();
}

static void freed(void **state)
{
    world w;
    (void)state;
    begin(&w);
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(&w);
        y_of_x(&w);
        z_of_y(&w);
        FtB_Block_free(&w.Y);
        in_order(overwrite_there, &w);
        same(w.Z, w.z, "of memory that is freed", round);
        end_round(&w);
    }
    end(&w);
}

/* What the other lane reads gives way to what this one needs. */
static void gave_way(void **state)
{
    world w;
    (void)state;
    begin(&w);
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(&w);
        assert_int_equal(w.X->owner->valid, FTB_VALID_HOST | FTB_VALID_DEVICE);
        in_order(y_of_x, &w);
        while (ftb_device_give_way(gpu()))
            ;
        assert_null(w.X->owner->where);
        overwrite();
        same(w.Y, w.y, "of what gave way", round);
        end_round(&w);
    }
    end(&w);
}

/* ---- what is a lane's own */

static void mark(world *w)
{
    (void)w;
    assert_ok(ftb_gpu_mark(ftb_gpu_of(gpu()), 0));
}

static void marked(void **state)
{
    world w;
    (void)state;
    begin(&w);
    for (int round = 0; round < ROUNDS; round++) {
        float y[N * D];
        begin_round(&w);
        y_of_x(&w);
        if (w.Y->owner->valid == FTB_VALID_DEVICE) {
            mark(&w);
            in_order(mark, &w);
            assert_ok(ftb_gpu_fetch_aside(ftb_gpu_of(gpu()), 0, y, w.Y->owner->device, BYTES));
            assert_memory_equal(y, w.y, sizeof y);
        }
        same(w.Y, w.y, "behind a mark", round);
        end_round(&w);
    }
    end(&w);
}

/* A recording of the order of calls is done beside. */
static void replayed(void **state)
{
    const ftb_replays *replays = gpu()->memory->replays;
    world w;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    begin(&w);
    for (int round = 0; round < ROUNDS; round++) {
        struct ftb_recording *r;
        void *numbers;
        float y[N * D];
        begin_round(&w);
        assert_ok(FtB_Block_to_device(w.Y));
        assert_ok(replays->begin(gpu(), NULL, 0, &numbers));
        y_of_x(&w);
        assert_ok(replays->end(gpu(), true, &r));
        assert_non_null(r);
        assert_ok(replays->run(gpu(), NULL, r, NULL));
        assert_ok(gpu()->memory->get(gpu(), NULL, y, w.Y->owner->device, BYTES));
        assert_memory_equal(y, w.y, sizeof y);
        in_order(y_of_x, &w);
        assert_ok(replays->run(gpu(), NULL, r, NULL)); /* and still runs when it is dropped */
        replays->drop(gpu(), r);
        assert_ok(ftb_buffer_written(w.Y->owner));
        overwrite();
        same(w.Y, w.y, "of a recording", round);
        end_round(&w);
    }
    end(&w);
}

/* ---- who has an address keeps the memory */

/* Another thread asks for X in a use, and reads it when this one has brought it home, or lost it to another
 * GPU. */
typedef struct user {
    world *w;
    pthread_barrier_t asked, gone;
    float x[N * D];
    GrB_Info info;
} user;

static void *use_x(void *of)
{
    user *u = of;
    ftb_use use;
    void *at = NULL;
    ftb_use_begin(&use);
    u->info = ftb_buffer_ask_at(u->w->X->owner, gpu(), FTB_READ, &at);
    pthread_barrier_wait(&u->asked);
    pthread_barrier_wait(&u->gone);
    if (u->info == GrB_SUCCESS)
        u->info = gpu()->memory->get(gpu(), NULL, u->x, at, BYTES);
    ftb_use_end(&use);
    return NULL;
}

static void leaves(const world *w, int round)
{
    assert_ok(FtB_Block_to_host(w->X));
    assert_null(w->X->owner->where);
    if (round % 2) /* comes again, and goes again, with nobody who has that address */
        assert_ok(FtB_Block_to_device(w->X));
    assert_ok(FtB_Block_to_host(w->X));
    overwrite();
    assert_ok(ftb_gpu_trim(gpu()));
    overwrite();
}

static void in_use(void **state)
{
    int (*live)(void);
    world w = {.r = rng_new()};
    (void)state;
    fake_find("fake_cuda", "fake_cuda_live", &live);
    w.A = fake_gpu_matrix(&w.r, N, N, 0, 20);
    for (int round = 0; round < ROUNDS; round++) {
        user u = {.w = &w};
        pthread_t thread;
        begin_round(&w);
        pthread_barrier_init(&u.asked, NULL, 2);
        pthread_barrier_init(&u.gone, NULL, 2);
        assert_int_equal(pthread_create(&thread, NULL, use_x, &u), 0);
        pthread_barrier_wait(&u.asked);
        leaves(&w, round);
        pthread_barrier_wait(&u.gone);
        assert_int_equal(pthread_join(thread, NULL), 0);
        pthread_barrier_destroy(&u.asked);
        pthread_barrier_destroy(&u.gone);
        assert_ok(u.info);
        assert_memory_equal(u.x, w.x, sizeof u.x);
        end_round(&w);
        assert_ok(ftb_gpu_trim(gpu())); /* and then it is given back */
        assert_int_equal(live(), 0);
    }
    FtB_Matrix_free(&w.A);
}

/* One at a time; the next may when that one has ended. */
static void another(world *w)
{
    (void)w;
    assert_fails(GrB_NO_VALUE, "another thread works beside", gpu()->memory->beside_begin(gpu(), NULL));
}

static void one_at_a_time(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        assert_ok(gpu()->memory->beside_begin(gpu(), NULL));
        in_order(another, NULL);
        gpu()->memory->beside_end(gpu());
    }
}

/* ---- a thread that holds a device */

static void elsewhere(world *w)
{
    assert_ptr_equal(ftb_device(NULL), w->X->owner->where); /* it is this thread's alone */
}

static void held(void **state)
{
    const ftb_backend *there = gpu();
    FtB_Context cpu;
    world w = {.r = rng_new()};
    (void)state;
    w.A = fake_gpu_matrix(&w.r, N, N, 0, 20);
    begin_round(&w);
    assert_ok(FtB_Context_new(&cpu));
    ftb_device_hold(NULL);
    assert_null(ftb_device(NULL));
    in_order(elsewhere, &w);
    ftb_device_hold(there);
    assert_ptr_equal(ftb_device(cpu), there);
    ftb_device_release();
    assert_null(ftb_device(cpu));
    assert_ptr_equal(ftb_device(NULL), there);
    assert_ok(FtB_Context_free(&cpu));
    end_round(&w);
    FtB_Matrix_free(&w.A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(from_lane_to_lane, beside_clean),
                                       cmocka_unit_test_teardown(again, beside_clean),
                                       cmocka_unit_test_teardown(written, beside_clean),
                                       cmocka_unit_test_teardown(released, beside_clean),
                                       cmocka_unit_test_teardown(freed, beside_clean),
                                       cmocka_unit_test_teardown(gave_way, beside_clean),
                                       cmocka_unit_test_teardown(marked, beside_clean),
                                       cmocka_unit_test_teardown(replayed, beside_clean),
                                       cmocka_unit_test_teardown(in_use, beside_clean),
                                       cmocka_unit_test_teardown(one_at_a_time, beside_clean),
                                       cmocka_unit_test_teardown(held, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
