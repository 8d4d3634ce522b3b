/* Kernels that came with the library, on GPUs that do not exist: which image a GPU gets, damage, and who runs
 * what where an image, NVRTC, or both are missing. Those that nvcc has made, where a build has them: all
 * sources, for every target, with sums as they are written. */
#include "support/check.h"

#include "core/core.h"
#include "gpu/compile.h"
#include "gpu/device.h"
#include "gpu/images.h"
#include "gpu/launch.h"
#include "support/fail_alloc.h"
#include "support/fakes.h"
#include "verbs/verbs.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define SOURCE "gpu/kernels/spmm_direct.cu"

enum { ROOM = 4096, MOST = 128 };

/* ---- which */

/* What images are of, for these is no matter. */
static ftb_gpu_image image_of(const char *source, int arch, bool text)
{
    return (ftb_gpu_image){.source = source, .arch = arch, .text = text};
}

static void chosen(void **state)
{
    static const struct {
        int major, minor;
        const char *expected;
    } list[] = {{7, 5, NULL},    {8, 0, "sm_80"},      {8, 6, "sm_86"},       {8, 9, "sm_86"},
                {9, 0, "sm_90"}, {9, 1, "sm_90"},      {10, 0, "compute_90"}, {12, 1, "compute_120"},
                {6, 0, NULL},    {11, 0, "compute_90"}};
    const ftb_gpu_image images[] = {image_of("b", 60, true),
                                    image_of("a", 120, true),
                                    image_of("a", 80, false),
                                    image_of("a", 90, true),
                                    image_of("a", 86, false),
                                    image_of("a", 90, false),
                                    {0}};
    (void)state;
    ftb_gpu_images_use(images);
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        const ftb_gpu gpu = {.major = list[n].major, .minor = list[n].minor};
        const ftb_gpu_image *i = ftb_gpu_image_for("a", &gpu);
        char name[32] = "";
        if (i)
            snprintf(name, sizeof name, "%s_%d", i->text ? "compute" : "sm", i->arch);
        assert_string_equal(name, list[n].expected ? list[n].expected : "");
        assert_true(!i || strcmp(i->source, "a") == 0);
        assert_null(ftb_gpu_image_for("c", &gpu));
    }
    char text[32];
    assert_string_equal(ftb_gpu_images_about(text, &(ftb_gpu){.major = 9}), "sm_90");
    assert_string_equal(ftb_gpu_images_about(text, &(ftb_gpu){.major = 7}), "compute_60");
    assert_null(ftb_gpu_images_about(text, &(ftb_gpu){.major = 5}));
    ftb_gpu_images_use(NULL);
}

/* ---- packed */

/* As gzip does it; its length. */
static size_t pack(unsigned char *to, const char *content, size_t bytes)
{
    z_stream z = {
        .next_in = (Bytef *)(uintptr_t)content, .avail_in = (uInt)bytes, .next_out = to, .avail_out = ROOM};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static const char words[] = "//all kernels, all kernels, and all that is not a kernel";
static unsigned char packed[ROOM];

static GrB_Info unpack_all(void *arg)
{
    void *image = NULL;
    const GrB_Info info = ftb_gpu_image_unpack(&image, arg);
    if (info == GrB_SUCCESS)
        assert_string_equal(image, words);
    ftb_raw_delete(image);
    return info;
}

static void unpacked(void **state)
{
    enum { HEAD = 10 }; /* bytes of gzip's that say when and where */
    const size_t bytes = pack(packed, words, strlen(words));
    ftb_gpu_image i = {.source = "a", .at = packed, .end = packed + bytes};
    void *image;
    (void)state;
    assert_int_equal(unpack_all(&i), GrB_SUCCESS);
    fail_every_allocation(unpack_all, NULL, &i);
    for (size_t n = 0; n < bytes; n++) { /* cut off */
        i.end = packed + n;
        assert_fails(FTB_NO_DEVICE, "kernels of a that came with the library are damaged",
                     ftb_gpu_image_unpack(&image, &i));
    }
    i.end = packed + bytes;
    int harmless = 0; /* bits that fill up a byte */
    for (size_t n = HEAD; n < bytes; n++)
        for (int bit = 0; bit < 8; bit++) {
            packed[n] ^= (unsigned char)(1 << bit);
            harmless += unpack_all(&i) == GrB_SUCCESS;
            packed[n] ^= (unsigned char)(1 << bit);
        }
    assert_true(harmless < 8);
    assert_int_equal(unpack_all(&i), GrB_SUCCESS);
}

/* ---- who runs what; each in a process of its own, since a GPU is looked at once */

static ftb_gpu_image given[MOST + 1];
static int (*compiled)(void), (*launches)(void);

/* All sources have this as their image. */
static void give(int arch, const char *content, bool damaged)
{
    static unsigned char bytes[ROOM];
    const size_t count = pack(bytes, content, strlen(content));
    int n = 0;
    bytes[count / 2] ^= damaged;
    for (const ftb_gpu_source *s = ftb_gpu_sources; s->name; s++)
        if (strcmp(s->name + strlen(s->name) - 3, ".cu") == 0) {
            assert_true(n < MOST);
            given[n++] = (ftb_gpu_image){s->name, arch, false, bytes, bytes + count};
        }
    given[n] = (ftb_gpu_image){0};
    ftb_gpu_images_use(given);
}

static void begin(bool nvrtc)
{
    setenv("FEATBLAS_CUDA_DRIVER", fake_path("fake_cuda"), 1);
    setenv("FEATBLAS_NVRTC", nvrtc ? fake_path("fake_nvrtc") : "", 1);
    setenv("FEATBLAS_CACHE", "0", 1);
    setenv("FAKE_NVRTC_TEXTS", "0", 1);
    fake_find("fake_nvrtc", "fake_nvrtc_compiled", &compiled);
    fake_find("fake_cuda", "fake_cuda_launches", &launches);
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
}

static ftb_gpu_device *device(void) { return ftb_gpu_of(ftb_device(ftb_context())); }

/* A product whose messages are src^power / power. */
static void product(const char *text, int power)
{
    enum { ROWS = 5, COLS = 7, WIDTH = 3 };
    const int64_t I[] = {0, 0, 2, 4, 4, 4}, J[] = {1, 6, 3, 0, 1, 5};
    FtB_Matrix A;
    FtB_Block X, C;
    FtB_Semiring s;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, COLS, 0, 6, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&X, COLS, WIDTH, FTB_FP32));
    assert_ok(FtB_Block_new(&C, ROWS, WIDTH, FTB_FP32));
    float *x = block_values(X);
    for (int k = 0; k < COLS * WIDTH; k++)
        x[k] = (float)(k - 5);
    FtB_Block_changed(X);
    assert_ok(FtB_Semiring_new(&s, text));
    assert_ok(FtB_mxm(C, NULL, NULL, s, A, X, NULL));
    const float *c = block_values(C);
    for (int i = 0; i < ROWS; i++)
        for (int f = 0; f < WIDTH; f++) {
            double sum = 0;
            for (int e = 0; e < 6; e++)
                if (I[e] == i) {
                    const double one = (double)(J[e] * WIDTH + f - 5);
                    sum += power == 1 ? one : one * one / 2;
                }
            if (c[i * WIDTH + f] < sum || c[i * WIDTH + f] > sum)
                fail_msg("%s: (%d, %d) is %g, expected %g", text, i, f, c[i * WIDTH + f], sum);
        }
    FtB_Semiring_free(&s);
    FtB_Block_free(&C);
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

/* One with a kernel of its own, and a text: whether that was launched, and what each had compiled. */
static void products(bool launched, int compiles, bool texts)
{
    assert_int_equal(launches(), 0);
    product("plus : src", 1);
    assert_int_equal(launches() > 0, launched);
    assert_int_equal(compiled(), compiles);
    product("plus : src * src / 2", 2); /* which this NVRTC cannot compile */
    assert_int_equal(compiled() > compiles, texts);
}

static const char *about(void) { return ftb_device(ftb_context())->about; }

static void image_alone(void)
{
    give(90, "//all kernels", false);
    begin(false);
    assert_non_null(strstr(about(),
                           ", kernels built in for sm_90, no NVRTC; products, attention and training run "
                           "there, texts and the rest on the host"));
    const ftb_verbs *v = ftb_device(ftb_context())->verbs; /* operands of texts do not go there in vain */
    assert_true(v->spmm && v->dense && !v->aggregate && !v->messages && !v->map_rows && !v->apply);
    products(true, 0, false);
    assert_ok(ftb_gpu_load(device(), SOURCE));
    assert_fails(FTB_NO_DEVICE, "no kernels: FEATBLAS_NVRTC is empty", ftb_gpu_load(device(), "// a text"));
}

static void image_and_nvrtc(void)
{
    give(90, "//all kernels", false);
    begin(true);
    assert_non_null(strstr(about(), ", kernels built in for sm_90, NVRTC 12.4; products, attention"));
    products(true, 0, true);
}

static void damaged_and_nvrtc(void)
{
    give(90, "//all kernels", true);
    begin(true);
    products(true, 1, true);
}

static void refused_and_nvrtc(void)
{
    give(90, "what the driver does not know", false);
    begin(true);
    products(true, 1, true);
}

static void of_others_and_nvrtc(void)
{
    give(80, "//all kernels", false);
    begin(true);
    assert_null(strstr(about(), "built in"));
    products(true, 1, true);
}

static void damaged_alone(void)
{
    give(90, "//all kernels", true);
    begin(false);
    products(false, 0, false);
    assert_fails(FTB_NO_DEVICE, "kernels of " SOURCE " that came with the library are damaged",
                 ftb_gpu_load(device(), SOURCE));
}

static void refused_alone(void)
{
    give(90, "what the driver does not know", false);
    begin(false);
    products(false, 0, false);
    assert_fails(FTB_NO_DEVICE, "gpu:0: cuModuleLoadData fails with CUDA_ERROR_INVALID_IMAGE",
                 ftb_gpu_load(device(), SOURCE));
}

static void of_others_alone(void)
{
    give(80, "//all kernels", false);
    begin(false);
    assert_null(ftb_device(ftb_context())->verbs->spmm);
    products(false, 0, false);
}

/* No room for it is no reason to compile another, and it is tried again. */
static void no_room(void)
{
    give(90, "//all kernels", false);
    begin(true);
    setenv("FAKE_CUDA_FAILS", "cuModuleLoadData=2", 1);
    setenv("FAKE_CUDA_AT", "1", 1);
    assert_fails(FTB_NO_DEVICE, "cuModuleLoadData fails with CUDA_ERROR_OUT_OF_MEMORY",
                 ftb_gpu_load(device(), SOURCE));
    assert_int_equal(compiled(), 0);
    products(true, 0, true);
}

/* What was freed is given back first, whichever call has no room; once. */
static void room_made(void)
{
    static const char *const calls[] = {"cuModuleLoadData=2", "cuModuleGetFunction=2", "cuLaunchKernel=2"};
    int (*live)(void);
    give(90, "//all kernels", false);
    begin(true);
    fake_find("fake_cuda", "fake_cuda_live", &live);
    const ftb_backend *b = &device()->row;
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        void *piece;
        const int before = launches();
        assert_ok(b->memory->alloc(b, ftb_context(), &piece, 1 << 20));
        b->memory->free(b, piece, 1 << 20);
        setenv("FAKE_CUDA_FAILS", calls[n], 1);
        setenv("FAKE_CUDA_AT", "1", 1);
        if (n == 0) {
            assert_ok(ftb_gpu_load(device(), SOURCE));
            assert_int_equal(live(), 0);
        } else {
            product("plus : src", 1);
            assert_true(launches() > before);
        }
        assert_null(getenv("FAKE_CUDA_FAILS")); /* it has failed */
    }
    assert_int_equal(compiled(), 0);
}

/* Nor is a GPU that is lost by it. */
static void lost(void)
{
    give(90, "//all kernels", false);
    begin(true);
    setenv("FAKE_CUDA_FAILS", "cuModuleLoadData=700", 1);
    assert_fails(FTB_NO_DEVICE, "lost by CUDA_ERROR_ILLEGAL_ADDRESS", ftb_gpu_load(device(), SOURCE));
    assert_int_equal(compiled(), 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"image_alone", image_alone},
    {"image_and_nvrtc", image_and_nvrtc},
    {"damaged_and_nvrtc", damaged_and_nvrtc},
    {"refused_and_nvrtc", refused_and_nvrtc},
    {"of_others_and_nvrtc", of_others_and_nvrtc},
    {"damaged_alone", damaged_alone},
    {"refused_alone", refused_alone},
    {"of_others_alone", of_others_alone},
    {"no_room", no_room},
    {"room_made", room_made},
    {"lost", lost},
};
static const char *self;
static void (*only)(void);

static void one(void **state)
{
    (void)state;
    only();
}

static void each(void **state)
{
    int (*emulates)(void);
    (void)state;
    fake_find("fake_cuda", "fake_cuda_emulates", &emulates);
    if (!emulates()) {
        printf("skipped: no kernels run here\n");
        return;
    }
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char command[2048];
        snprintf(command, sizeof command, "'%s' %s >&2", self, cases[n].name);
        if (system(command) != 0)
            fail_msg("%s", command);
    }
}

/* ---- those that nvcc has made */

/* That of a file of code, of which two versions keep it in different bits. */
static bool is_for(const void *image, int arch)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           ((header.e_flags & 0xff) == (unsigned)arch || (header.e_flags >> 8 & 0xff) == (unsigned)arch);
}

static void made(void **state)
{
    static const int gpus[] = {80, 90, 100, 120};
    /* Of those that have products and sums, but no fma of their own. */
    static const char *const plain[] = {SOURCE, "gpu/kernels/update.cu", "gpu/kernels/layer_norm.cu"};
    (void)state;
    if (!ftb_gpu_images[0].source) {
        printf("skipped: no kernels came with this library\n");
        return;
    }
    int fused = 0, looked = 0;
    for (const ftb_gpu_source *s = ftb_gpu_sources; s->name; s++)
        for (size_t n = 0; n < sizeof gpus / sizeof *gpus; n++) {
            const ftb_gpu gpu = {.major = gpus[n] / 10, .minor = gpus[n] % 10};
            const ftb_gpu_image *i = ftb_gpu_image_for(s->name, &gpu);
            void *image;
            if (strcmp(s->name + strlen(s->name) - 3, ".cu") != 0)
                continue;
            assert_non_null(i);
            assert_ok(ftb_gpu_image_unpack(&image, i));
            assert_true(i->text ? strstr(image, ".visible .entry") != NULL : is_for(image, gpus[n]));
            for (size_t k = 0; i->text && k < sizeof plain / sizeof *plain; k++)
                if (strcmp(plain[k], s->name) == 0) {
                    fused += strstr(image, "fma.") != NULL;
                    looked++;
                }
            ftb_raw_delete(image);
        }
    assert_int_equal(fused, 0);
    assert_int_equal(looked, 2 * sizeof plain / sizeof *plain);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chosen), cmocka_unit_test(unpacked),
                                       cmocka_unit_test(each), cmocka_unit_test(made)};
    const struct CMUnitTest alone[] = {cmocka_unit_test(one)};
    self = argv[0];
    for (size_t n = 0; argc > 1 && n < sizeof cases / sizeof *cases; n++)
        if (strcmp(argv[1], cases[n].name) == 0)
            only = cases[n].run;
    return only ? cmocka_run_group_tests(alone, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
