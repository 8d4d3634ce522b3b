/* Kernels from texts: NVRTC that is not there, too old, lacking, or does not answer; what it is told; what
 * its errors become; and, where a real one is, every source of gpu/kernels/ for one GPU, and for those of two
 * other generations what asks which it is, and texts. */
#include "support/check.h"

#include "gpu/compile.h"
#include "gpu/kernels/attention_grad_rows.h"
#include "gpu/kernels/attention_rows.h"
#include "gpu/kernels/copy_rows.h"
#include "gpu/kernels/dense_tiles.h"
#include "gpu/kernels/dropout_draws.h"
#include "gpu/kernels/gather_lists.h"
#include "gpu/kernels/head_dots_rows.h"
#include "gpu/kernels/loss_rows.h"
#include "gpu/kernels/mean_heads_rows.h"
#include "gpu/kernels/norm_rows.h"
#include "gpu/kernels/outer_sums.h"
#include "gpu/kernels/reduce_parts.h"
#include "gpu/kernels/sddmm_direct.h"
#include "gpu/kernels/softmax_rows.h"
#include "gpu/kernels/spgemm_rows.h"
#include "gpu/kernels/update_steps.h"
#include "gpu/kernels/vertex_rows.h"
#include "gpu/kernels/winning_entries.h"
#include "gpu/nvrtc.h"
#include "gpu/spgemm/spgemm_text.h"
#include "gpu/texts/expression.h"
#include "ops/spgemm/spgemm.h"
#include "support/cubin.h"
#include "support/fakes.h"
#include "support/sample_names.h"
#include "support/spmm_names.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>

static int start(void **state)
{
    (void)state;
    setenv("FEATBLAS_NVRTC", fake_path("fake_nvrtc"), 1);
    setenv("FEATBLAS_CACHE", "0", 1);
    return 0;
}

static ftb_nvrtc opened;

/* Opens one, of which there is nothing because of `why`. */
static void none(const char *library, const char *why)
{
    ftb_nvrtc_open(&opened, library);
    if (opened.found.version != 0 || !strstr(opened.found.why, why))
        fail_msg("%s: version %d, \"%s\"; expected \"...%s...\"", library, opened.found.version,
                 opened.found.why, why);
}

static void missing(void **state)
{
    (void)state;
    none("", "FEATBLAS_NVRTC is empty");
    none("/nowhere/libnvrtc.so", "the compiler of kernels cannot be opened: /nowhere/libnvrtc.so");
    none("libm.so.6", "libm.so.6 has no function nvrtcVersion");
    setenv("FAKE_NVRTC_VERSION", "11080", 1);
    none(fake_path("fake_nvrtc"), "NVRTC is 11.8; 12.0 or later is needed");
    unsetenv("FAKE_NVRTC_VERSION");
    setenv("FAKE_NVRTC_FAILS", "nvrtcVersion", 1);
    none(fake_path("fake_nvrtc"), "NVRTC does not say of which version it is");
    static const char *const calls[] = {"nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs"};
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        setenv("FAKE_NVRTC_FAILS", calls[n], 1);
        none(fake_path("fake_nvrtc"), "does not say which GPUs it compiles for");
    }
    unsetenv("FAKE_NVRTC_FAILS");
    ftb_nvrtc_open(&opened, fake_path("fake_nvrtc"));
    assert_int_equal(opened.found.version, 12040);
    assert_int_equal(opened.narchs, 5);
    assert_string_equal(opened.found.why, "");
}

/* The first that a driver loads code of, and why there is none. */
static void found(void **state)
{
    const char *const list[] = {"/nowhere/libnvrtc.so", fake_path("fake_nvrtc"), "/nowhere/libnvrtc.so.1",
                                fake_path("fake_nvrtc"), NULL};
    static const char newer[] = "NVRTC 14.1 is newer than the driver, which is for CUDA 12.4";
    static const struct {
        const char *versions;
        int cuda, found;
        const char *why;
    } cases[] = {{"13000 12040", 12080, 12040, ""},
                 {"13000 12040", 13000, 13000, ""},
                 {"12080 12040", 12040, 12080, ""},
                 {"13000 12040", 0, 13000, ""},
                 {"14010 13000", 12040, 0, newer},
                 {"11080 13000", 12040, 0, "NVRTC 13.0 is newer"},
                 {"11080 11070", 12040, 0, "NVRTC is 11.7; 12.0 or later is needed"}};
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        setenv("FAKE_NVRTC_VERSION", cases[n].versions, 1);
        ftb_nvrtc_find(&opened, list, cases[n].cuda);
        if (opened.found.version != cases[n].found || !strstr(opened.found.why, cases[n].why))
            fail_msg("%s for %d: version %d, \"%s\"", cases[n].versions, cases[n].cuda, opened.found.version,
                     opened.found.why);
    }
    unsetenv("FAKE_NVRTC_VERSION");
}

static ftb_gpu gpu_of(int major, int minor)
{
    return (ftb_gpu){.label = "gpu:7", .major = major, .minor = minor};
}

#define SOURCE "gpu/kernels/spmm_direct.cu"

/* What it is told: the GPU itself where it knows that, else the newest before it. */
static void options(void **state)
{
    static const struct {
        int major, minor;
        const char *arch;
    } list[] = {{9, 0, "sm_90"}, {9, 1, "compute_90"}, {8, 6, "compute_80"}, {12, 0, "compute_90"}};
    const char *(*told)(void);
    (void)state;
    fake_find("fake_nvrtc", "fake_nvrtc_options", &told);
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        const ftb_gpu gpu = gpu_of(list[n].major, list[n].minor);
        char expected[200];
        void *image;
        assert_ok(ftb_gpu_compile(&image, SOURCE, &gpu));
        assert_memory_equal(image, "//all", 5);
        ftb_raw_delete(image);
        snprintf(expected, sizeof expected,
                 "--gpu-architecture=%s --std=c++17 --fmad=false "
                 "--device-as-default-execution-space",
                 list[n].arch);
        assert_string_equal(told(), expected);
    }
    const ftb_gpu old = gpu_of(3, 5);
    assert_fails(FTB_NO_DEVICE, "gpu:7: NVRTC 12.4 compiles for no GPU of compute capability 3.5",
                 ftb_gpu_compile(&(void *){NULL}, SOURCE, &old));
}

static void errors(void **state)
{
    const ftb_gpu gpu = gpu_of(9, 0);
    void *image;
    (void)state;
    setenv("FAKE_NVRTC_LOG", "x.cu(1): warning: much ado\nx.cu(2): error: nothing\nmore", 1);
    assert_fails(FTB_NO_DEVICE,
                 "gpu:7: NVRTC 12.4 cannot compile " SOURCE
                 " with --gpu-architecture=sm_90: x.cu(2): error: nothing",
                 ftb_gpu_compile(&image, SOURCE, &gpu));
    assert_null(strstr(FtB_error(), "more"));
    unsetenv("FAKE_NVRTC_LOG");
    static const char *const calls[] = {"nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetCUBINSize",
                                        "nvrtcGetCUBIN"};
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        setenv("FAKE_NVRTC_FAILS", calls[n], 1);
        assert_true(ftb_gpu_compile(&image, SOURCE, &gpu) != GrB_SUCCESS);
    }
    unsetenv("FAKE_NVRTC_FAILS");
    assert_ok(ftb_gpu_compile(&image, SOURCE, &gpu));
    ftb_raw_delete(image);
}

/* What was compiled is found again by whoever asks with the same; a damaged file is made anew. */
static void kept(void **state)
{
    const ftb_gpu gpu = gpu_of(9, 0), other = gpu_of(8, 0);
    int (*compiled)(void);
    char home[1024], command[2100];
    void *image;
    (void)state;
    fake_find("fake_nvrtc", "fake_nvrtc_compiled", &compiled);
    snprintf(home, sizeof home, "%s", temp_path("cubins"));
    setenv("XDG_CACHE_HOME", home, 1);
    unsetenv("FEATBLAS_CACHE");
    int before = compiled();
    const ftb_gpu *const asked[] = {&gpu, &gpu, &other, &gpu, &other};
    static const int expected[] = {1, 1, 2, 2, 2};
    for (size_t n = 0; n < sizeof asked / sizeof *asked; n++) {
        assert_ok(ftb_gpu_compile(&image, SOURCE, asked[n]));
        assert_string_equal(image, "//all kernels");
        ftb_raw_delete(image);
        assert_int_equal(compiled() - before, expected[n]);
    }
    snprintf(command, sizeof command, "for f in '%s'/featblas/*.cubin; do echo damaged > \"$f\"; done", home);
    assert_int_equal(system(command), 0);
    before = compiled();
    for (int n = 0; n < 2; n++) {
        assert_ok(ftb_gpu_compile(&image, SOURCE, &gpu));
        assert_string_equal(image, "//all kernels");
        ftb_raw_delete(image);
    }
    assert_int_equal(compiled() - before, 1);
    snprintf(command, sizeof command, "rm -r '%s'", home);
    assert_int_equal(system(command), 0);
    setenv("FEATBLAS_CACHE", "0", 1);
}

/* ---- a real one, where it is */

/* In a process of its own, where FEATBLAS_NVRTC is another. */
static void real(void **state)
{
    static const int archs[] = {80, 90, 100};
    const char *library = getenv("FEATBLAS_TEST_NVRTC");
    (void)state;
    if (!library || !*library) {
        printf("skipped: NVRTC is not there\n");
        return;
    }
    char command[2048];
    for (size_t n = 0; n < sizeof archs / sizeof *archs; n++) {
        snprintf(command, sizeof command, "FEATBLAS_NVRTC='%s' TEST_GPU_ARCH=%d '%s' >&2", library, archs[n],
                 getenv("TEST_GPU_SELF"));
        if (system(command) != 0)
            fail_msg("%s", command);
    }
}

/* Those of steps on rows of blocks; false: the source is none. */
static bool assert_has_row_kernels(const char *source, const char *image)
{
    if (strcmp(source, "gpu/kernels/copy.cu") == 0) {
#define NAMED_COPY(type, what, values) assert_names(image, "copy_" #type "_" #what "_" #values);
        FTB_COPY(NAMED_COPY)
#define NAMED_TURNED(bytes, word) assert_names(image, "copy_turned_" #bytes);
        FTB_COPY_TURNED(NAMED_TURNED)
    } else if (strcmp(source, "gpu/kernels/dropout.cu") == 0) {
#define NAMED_DROPOUT(type, what) assert_names(image, "dropout_" #type "_" #what);
        FTB_DROPOUT(NAMED_DROPOUT)
    } else if (strcmp(source, "gpu/kernels/mean_heads.cu") == 0) {
#define NAMED_MEAN_HEADS(type, what, values) assert_names(image, "mean_heads_" #type "_" #what "_" #values);
        FTB_MEAN_HEADS(NAMED_MEAN_HEADS)
    } else if (strcmp(source, "gpu/kernels/update.cu") == 0) {
#define NAMED_UPDATE(type, rule, values) assert_names(image, "update_" #type "_" #rule "_" #values);
#define NAMED_SQUARES(type) assert_names(image, "sum_squares_" #type);
        FTB_UPDATE(NAMED_UPDATE)
        FTB_SUM_SQUARES(NAMED_SQUARES)
        assert_names(image, "sum_squares_join");
    } else if (strcmp(source, "gpu/kernels/gather.cu") == 0) {
#define NAMED_GATHER(bytes, type)                                                                            \
    assert_names(image, "gather_" #bytes);                                                                   \
    assert_names(image, "gather_kept_" #bytes);
#define NAMED_SCATTER(type, values) assert_names(image, "scatter_" #type "_" #values);
        FTB_GATHER(NAMED_GATHER)
        assert_names(image, "gather_places");
        FTB_SCATTER(NAMED_SCATTER)
    } else if (strcmp(source, "gpu/kernels/head_dots.cu") == 0) {
#define NAMED_HEAD_DOTS(type, values)                                                                        \
    assert_names(image, "head_dots_" #type "_DOT_" #values);                                                 \
    assert_names(image, "head_dots_" #type "_DX_" #values);
#define NAMED_HEAD_DOTS_DA(type)                                                                             \
    assert_names(image, "head_dots_" #type "_DA");                                                           \
    assert_names(image, "head_dots_" #type "_JOIN");
        FTB_HEAD_DOTS(NAMED_HEAD_DOTS)
        FTB_HEAD_DOTS_DA(NAMED_HEAD_DOTS_DA)
    } else if (strcmp(source, "gpu/kernels/reduce.cu") == 0) {
#define NAMED_REDUCE(type)                                                                                   \
    assert_names(image, "reduce_" #type "_columns");                                                         \
    assert_names(image, "reduce_" #type "_join");                                                            \
    assert_names(image, "reduce_" #type "_rows");                                                            \
    assert_names(image, "reduce_" #type "_pattern");                                                         \
    assert_names(image, "reduce_" #type "_cut");
        FTB_REDUCE(NAMED_REDUCE)
    } else if (strcmp(source, "gpu/kernels/loss.cu") == 0) {
#define NAMED_LOSS(type)                                                                                     \
    assert_names(image, "loss_" #type "_part");                                                              \
    assert_names(image, "loss_" #type "_join");                                                              \
    assert_names(image, "loss_" #type "_grad");
        FTB_LOSS_KERNELS(NAMED_LOSS)
    } else if (strcmp(source, "gpu/kernels/dense.cu") == 0) {
#define NAMED_DENSE(type, form, r, s) assert_names(image, "dense_" #type "_" #form "_" #r "x" #s);
#define NAMED_DENSE_JOIN(type) assert_names(image, "dense_" #type "_join");
        FTB_DENSE(NAMED_DENSE)
        FTB_DENSE_JOIN(NAMED_DENSE_JOIN)
    } else {
        return false;
    }
    return true;
}

/* Those of sums over rows and entries. */
static bool assert_has_sum_kernels(const char *source, const char *image)
{
    if (strcmp(source, "gpu/kernels/winners.cu") == 0) {
#define NAMED_WINNERS(bytes, word) assert_names(image, "winners_" #bytes);
#define NAMED_GRAD(type)                                                                                     \
    assert_names(image, "winners_grad_" #type);                                                              \
    assert_names(image, "winners_grad_" #type "_cut");
        FTB_WINNERS(NAMED_WINNERS)
        FTB_WINNERS_GRAD(NAMED_GRAD)
        assert_names(image, "winners_any");
    } else if (strcmp(source, "gpu/kernels/layer_norm.cu") == 0) {
#define NAMED_LAYER(type)                                                                                    \
    assert_names(image, "layer_norm_" #type);                                                                \
    assert_names(image, "layer_norm_" #type "_grad");                                                        \
    assert_names(image, "layer_norm_" #type "_part");                                                        \
    assert_names(image, "layer_norm_" #type "_join");
        FTB_NORM(NAMED_LAYER)
    } else if (strcmp(source, "gpu/kernels/batch_norm.cu") == 0) {
        static const char *const parts[] = {
            "",           "_mean",           "_mean_join", "_variance", "_variance_join",
            "_grad_part", "_grad_part_join", "_given",     "_follow",   "_grad"};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            char name[60];
#define NAMED_BATCH(type)                                                                                    \
    snprintf(name, sizeof name, "batch_norm_" #type "%s", parts[k]);                                         \
    assert_names(image, name);
            FTB_NORM(NAMED_BATCH)
        }
    } else if (strcmp(source, "gpu/kernels/outer.cu") == 0) {
#define NAMED_OUTER(l, r) assert_names(image, "outer_" #l "_" #r);
        FTB_OUTER(NAMED_OUTER)
        assert_names(image, "outer_join");
    } else if (strcmp(source, "gpu/kernels/sddmm_grad.cu") == 0) {
        assert_names(image, "sddmm_grad_f32_pieces");
        assert_names(image, "sddmm_grad_f32_cut");
    } else {
        return false;
    }
    return true;
}

/* Those of sparse x sparse. */
static bool assert_has_spgemm_kernels(const char *source, const char *image)
{
    if (strcmp(source, "gpu/kernels/spgemm_rows.cu") == 0) {
#define NAMED_SUMS(name, message, type, values)                                                              \
    assert_names(image, "spgemm_" #name "_dense");                                                           \
    assert_names(image, "spgemm_" #name "_hash");
#define NAMED_PAIRS(bits) assert_names(image, "spgemm_pair_dense_" #bits);
        FTB_SPGEMM_SUMS(NAMED_SUMS)
        FTB_SPGEMM_PAIRS(NAMED_PAIRS)
        assert_names(image, "spgemm_pair_hash");
    } else if (strcmp(source, "gpu/kernels/spgemm_bits.cu") == 0) {
#define NAMED_BITS(bits) assert_names(image, "spgemm_pair_bits_" #bits);
        FTB_SPGEMM_PAIRS(NAMED_BITS)
        assert_names(image, "spgemm_bits");
    } else if (strcmp(source, "gpu/kernels/spgemm_mask.cu") == 0) {
#define NAMED_MASK(name, message, type, values) assert_names(image, "spgemm_" #name "_mask");
        FTB_SPGEMM_SUMS(NAMED_MASK)
        assert_names(image, "spgemm_pair_mask");
    } else if (strcmp(source, "gpu/kernels/spgemm_large.cu") == 0) {
#define NAMED_LARGE(name, message, type, values) assert_names(image, "spgemm_" #name "_large");
        FTB_SPGEMM_SUMS(NAMED_LARGE)
        assert_names(image, "spgemm_pair_large");
    } else if (strcmp(source, "gpu/kernels/spgemm_finish.cu") == 0) {
#define NAMED_FINISH(type, c_type)                                                                           \
    assert_names(image, "spgemm_finish_" #type);                                                             \
    assert_names(image, "spgemm_values_" #type);
        FTB_SPGEMM_VALUES(NAMED_FINISH)
    } else if (strcmp(source, "gpu/kernels/spgemm_pack.cu") == 0) {
#define NAMED_TOPK(type, c_type)                                                                             \
    assert_names(image, "spgemm_topk_" #type);                                                               \
    assert_names(image, "spgemm_tally_" #type);
#define NAMED_PACK(bytes, word) assert_names(image, "spgemm_pack_" #bytes);
        FTB_SPGEMM_VALUES(NAMED_TOPK)
        FTB_SPGEMM_WORDS(NAMED_PACK)
    } else if (strcmp(source, "gpu/kernels/vertex.cu") == 0) {
#define NAMED_RENEW(type, values) assert_names(image, "vertex_renew_" #type);
        FTB_VERTEX_RENEW(NAMED_RENEW)
        assert_names(image, "vertex_flags");
        assert_names(image, "vertex_sums");
    } else if (strcmp(source, "gpu/kernels/scan.cu") == 0) {
        assert_names(image, "scan_sum");
        assert_names(image, "scan_top");
        assert_names(image, "scan_put");
    } else {
        return false;
    }
    return true;
}

/* Every variant of a source's table, by the name that the host has for it. */
static void assert_has_kernels(const char *source, const char *image)
{
    if (strcmp(source, "gpu/kernels/sddmm_direct.cu") == 0) {
#define NAMED_DOT(lanes, span, values)                                                                       \
    assert_names(image, "sddmm_direct_f32_DOT_" #lanes "x" #span "x" #values);
#define NAMED_ADD(lanes) assert_names(image, "sddmm_direct_f32_ADD_" #lanes);
        FTB_SDDMM_DIRECT_DOT(NAMED_DOT)
        FTB_SDDMM_DIRECT_ADD(NAMED_ADD)
    } else if (strcmp(source, "gpu/kernels/softmax.cu") == 0) {
#define NAMED_SOFTMAX(what, lanes) assert_names(image, "softmax_f32_" #what "_" #lanes);
#define NAMED_CUT(what) assert_names(image, "softmax_f32_" #what "_cut");
        FTB_SOFTMAX(NAMED_SOFTMAX)
        FTB_SOFTMAX_CUT(NAMED_CUT)
    } else if (strcmp(source, "gpu/kernels/attention.cu") == 0) {
#define NAMED_ATTENTION(score, lanes, span, values)                                                          \
    assert_names(image, "attention_f32_" #score "_" #lanes "x" #span "x" #values);
        FTB_ATTENTION(NAMED_ATTENTION)
        assert_names(image, "attention_f32_merge");
    } else if (strcmp(source, "gpu/kernels/attention_grad.cu") == 0) {
#define NAMED_ATTENTION_GRAD(walk, score, lanes, span, values)                                               \
    assert_names(image, "attention_grad_f32_" #walk "_" #score "_" #lanes "x" #span "x" #values);
        FTB_ATTENTION_GRAD(NAMED_ATTENTION_GRAD)
        assert_names(image, "attention_grad_merge");
        assert_names(image, "attention_grad_delta");
    } else if (!assert_has_spmm_kernels(source, image) && !assert_has_row_kernels(source, image) &&
               !assert_has_sum_kernels(source, image) && !assert_has_spgemm_kernels(source, image) &&
               !sample_kernels_named(source, image, assert_names)) {
        fail_msg("%s: a source without a table here", source);
    }
}

/* Texts that use every operator, over operands of each class, as sources of kernels. */
static const char *const texts[] = {
    "x + y * z - x / y + (x < y) + (x <= z) + (y > 2) + (x >= z) + (x == y) + (x != y)",
    "min(x, y) + max(x, z) + abs(x) + relu(x) + step(x) + floor(x) + ceil(x) + exp(x) + expm1(x) + log(x)",
    "log1p(x) + log2(x) + lgamma(x) + sqrt(x) + pow(x, y) + tanh(x) + sigmoid(x) + erf(x) + elu(x, y)",
    "log1p(y) + log2(y) + lgamma(y) + sqrt(y) + pow(y, z) + tanh(y) + sigmoid(y) + erf(y) + elu(y, z)",
    "idiv(i, j) + bitand(i, 3) + bitor(i, j) + bitxor(i, j) + int8(x) + uint16(y) + uint64(z) + fp32(i)",
    "i > 3 ? idiv(x, z) : fp64(j) + bool(x) + min(i, j) + s + (x && y) + (x || !y)",
    "dot(leaky_relu(x + y, 0.2), z) + sum(x * i) + mean(y) + dot(x, x) * x",
    "max(relu(x - z) @ W + z, [x[0], s, j])",
    "dot(tanh(x * z) @ W, [y[1], z[0], i]) * y + [tanh(x - y) @ W, x] @ V"};

static ftb_feed feed_of(const char *name, ftb_side side, FtB_Type type, ftb_buffer *owner)
{
    ftb_feed feed = {.side = side, .type = type, .nrows = 9, .ld = 6, .heads = 2, .width = 3, .owner = owner};
    snprintf(feed.name, sizeof feed.name, "%s", name);
    return feed;
}

static int compile_text(const char *text, const ftb_gpu *gpu, int kind)
{
    static const double number = 0.5;
    ftb_buffer *owner = ftb_buffer_new(ftb_context(), 54, 8);
    ftb_message m = {.ctx = ftb_context(), .heads = 2, .nfeeds = 8};
    FtB_Block whole[2];
    m.feeds[0] = feed_of("x", FTB_SIDE_COL, FTB_FP32, owner);
    m.feeds[1] = feed_of("y", FTB_SIDE_ROW, FTB_FP64, owner);
    m.feeds[2] = feed_of("z", FTB_SIDE_EDGE, FTB_BF16, owner);
    m.feeds[3] = feed_of("i", FTB_SIDE_ROW, FTB_INT64, NULL);
    m.feeds[4] = feed_of("j", FTB_SIDE_COL, FTB_INT64, NULL);
    m.feeds[5] = feed_of("s", FTB_SIDE_NONE, FTB_FP64, NULL);
    for (int f = 3; f < 6; f++)
        m.feeds[f].heads = m.feeds[f].width = 1;
    m.feeds[5].data = &number;
    for (int n = 0; n < 2; n++) {
        assert_ok(FtB_Block_new(&whole[n], n ? 6 : 3, 3, n ? FTB_FP16 : FTB_FP32));
        m.feeds[6 + n] = ftb_whole_feed(whole[n]);
        snprintf(m.feeds[6 + n].name, sizeof m.feeds[6].name, n ? "V" : "W");
    }
    ftb_expr *expr = NULL;
    ftb_program *program = NULL;
    ftb_gpu_expression e = {.source = NULL};
    void *image = NULL;
    assert_ok(ftb_expr_parse(&expr, m.ctx, text, "text", 0));
    assert_ok(ftb_message_program(&program, &m, expr));
    assert_true(ftb_gpu_expression_fits(&m, program, 0, NULL));
    assert_ok(ftb_gpu_expression_new(&e, &m, program, ftb_program_type(program), FTB_PLUS, kind));
    const GrB_Info info = ftb_gpu_compile(&image, e.source, gpu);
    static const char *const kernels[][2] = {{"rows", "rows"}, {"entries", "entries"}, {"reduce", "join"}};
    for (int k = 0; info == GrB_SUCCESS && k < 2; k++) {
        char name[80];
        snprintf(name, sizeof name, "expression_%s%s", kernels[kind][k], e.suffix);
        assert_names(image, name);
    }
    if (info != GrB_SUCCESS)
        printf("%s: %s\n", text, FtB_error());
    ftb_raw_delete(image);
    ftb_gpu_expression_delete(&e);
    ftb_program_delete(program);
    ftb_expr_release(expr);
    ftb_buffer_release(owner);
    for (int n = 0; n < 2; n++)
        FtB_Block_free(&whole[n]);
    return info != GrB_SUCCESS;
}

/* Texts of sparse x sparse: a message, an epilogue and a filter over every name that they have. */
static int compile_products(const ftb_gpu *gpu)
{
    static const char *const list[][3] = {
        {"mean : a * b / (di + dj + dk) + si - sj * sk + i - j + k + nrows / ncols",
         "h / (di + dj) + qi * qj", NULL},
        {"plus : [a, b, a * b, exp(a), pow(a, b)]", "h0 + h1 * si / sj", "w > 0.5 && j != i"},
        {"max : i * j", NULL, "h > 3"},
        {"or : a > b", NULL, NULL}};
    static const int64_t I[] = {0, 1}, J[] = {1, 0};
    static const double x[] = {0.5, 0.25};
    int64_t degree[] = {1, 1};
    double sum[] = {1, 2};
    const ftb_vertices vertices = {degree, sum, sum};
    int failed = 0;
    for (size_t t = 0; t < sizeof list / sizeof *list; t++) {
        FtB_Matrix R;
        FtB_Semiring s;
        ftb_spgemm_product *product = NULL;
        ftb_gpu_text text = {.source = NULL};
        void *image = NULL;
        assert_ok(FtB_Matrix_build(&R, t % 2 ? FTB_FP32 : FTB_FP64, 2, 2, 1, 2, I, J,
                                   t % 2 ? (const void *)(float[]){0.5F, 0.25F} : x, FTB_DUP_ERROR, NULL));
        assert_ok(FtB_Semiring_new(&s, list[t][0]));
        assert_ok(ftb_product_new(&product, ftb_context(), &s, R, true, R, false, FTB_LISTED_NONE));
        assert_ok(ftb_product_message(product, &vertices, &vertices, &vertices, true));
        assert_ok(ftb_finish_compile(&product->finish, product, list[t][1], list[t][2]));
        assert_true(ftb_gpu_spgemm_text_fits(product));
        assert_ok(ftb_gpu_spgemm_text_new(&text, product));
        if (ftb_gpu_compile(&image, text.source, gpu) == GrB_SUCCESS) {
            static const char *const kernels[] = {"dense", "hash", "large", "finish"};
            for (int k = 0; k < (list[t][1] || list[t][2] ? 4 : 3); k++) {
                char name[80];
                snprintf(name, sizeof name, "spgemm_%s%s", kernels[k], text.suffix);
                assert_names(image, name);
            }
        } else {
            printf("%s: %s\n", list[t][0], FtB_error());
            failed++;
        }
        ftb_raw_delete(image);
        ftb_gpu_text_delete(&text);
        ftb_product_delete(product);
        FtB_Matrix_free(&R);
    }
    return failed;
}

static int compile_all(int arch)
{
    const ftb_gpu gpu = gpu_of(arch / 10, arch % 10);
    const ftb_nvrtc *n = ftb_nvrtc_here(gpu.cuda);
    bool known = false;
    for (int k = 0; k < n->narchs; k++)
        known |= n->archs[k] == arch;
    if (n->found.version && !known) {
        printf("skipped: NVRTC %d.%d knows no sm_%d\n", n->found.version / 1000, n->found.version % 1000 / 10,
               arch);
        return 0;
    }
    for (const ftb_gpu_source *s = ftb_gpu_sources; s->name; s++) {
        void *image;
        if (strcmp(s->name + strlen(s->name) - 3, ".cu") != 0)
            continue;
        if (arch != 90 && !strstr(s->text, "__CUDA_ARCH__")) /* the same code, and seconds of work */
            continue;
        if (ftb_gpu_compile(&image, s->name, &gpu) != GrB_SUCCESS) {
            printf("%s\n", FtB_error());
            return 1;
        }
        assert_has_kernels(s->name, image);
        assert_true(assert_no_frames(s->name, image) > 0);
        ftb_raw_delete(image);
    }
    int failed = 0;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int kind = FTB_EXPRESSION_ROWS; kind <= FTB_EXPRESSION_REDUCE; kind++)
            if ((arch == 90 && t == 0) || (int)t % 3 == (kind + arch / 10) % 3)
                failed += compile_text(texts[t], &gpu, kind);
    return failed + (arch == 90 ? compile_products(&gpu) : 0);
}

static int arch_to_compile;
static void all(void **state)
{
    (void)state;
    assert_int_equal(compile_all(arch_to_compile), 0);
}

int main(int argc, char **argv)
{
    const char *arch = getenv("TEST_GPU_ARCH");
    const struct CMUnitTest one[] = {cmocka_unit_test(all)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(missing), cmocka_unit_test(found),
                                       cmocka_unit_test(options), cmocka_unit_test(errors),
                                       cmocka_unit_test(kept),    cmocka_unit_test(real)};
    (void)argc;
    if (arch) {
        arch_to_compile = atoi(arch);
        return cmocka_run_group_tests(one, NULL, NULL);
    }
    setenv("TEST_GPU_SELF", argv[0], 1);
    return cmocka_run_group_tests(tests, start, NULL);
}
