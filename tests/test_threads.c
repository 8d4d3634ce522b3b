/* No call runs with more threads than its context has. The linker hands the library's calls of the OpenMP
 * run-time of gcc to this file (cmake/tests.cmake), which sees how many threads a parallel region asks for; a
 * region that leaves it to OpenMP asks for 0. The C library's pthread_create is this file's, too, so that
 * threads are seen which other libraries start.
 *
 * `calls` has a row for every function of the headers, and the test looks there for new ones: a runner, or
 * NULL where a function does nothing that could run in parallel. With three threads, a runner must be seen to
 * use them. */
#include <GraphBLAS.h>

#include "support/check.h"
#include "support/headers.h"
#include "support/rng.h"
#include "support/sampling_calls.h"
#include "support/serial_calls.h"
#include "support/temporary.h"
#include "support/vector_calls.h"
#include "support/vertex_calls.h"

#include "featblas_nn.h"

#ifdef __clang__
#include <stdio.h>

int main(void) { return puts("sees what the OpenMP run-time of gcc is asked for") < 0 ? 1 : 77; }
#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int started, most, unasked;

static void see(unsigned threads)
{
    if (threads == 0)
        unasked++;
    for (int now = most; (int)threads > now && !atomic_compare_exchange_weak(&most, &now, (int)threads);) {
    }
}

typedef void (*region)(void *);
void __real_GOMP_parallel(region f, void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(region f, void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(region f, void *data, unsigned threads, unsigned flags)
{
    see(threads);
    __real_GOMP_parallel(f, data, threads, flags);
}

/* Loops whose schedule is known when they start. */
#define LOOP(name)                                                                                           \
    void __real_GOMP_parallel_loop_##name(region f, void *data, unsigned threads, long first, long end,      \
                                          long step, long chunk, unsigned flags);                            \
    void __wrap_GOMP_parallel_loop_##name(region f, void *data, unsigned threads, long first, long end,      \
                                          long step, long chunk, unsigned flags);                            \
    void __wrap_GOMP_parallel_loop_##name(region f, void *data, unsigned threads, long first, long end,      \
                                          long step, long chunk, unsigned flags)                             \
    {                                                                                                        \
        see(threads);                                                                                        \
        __real_GOMP_parallel_loop_##name(f, data, threads, first, end, step, chunk, flags);                  \
    }
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*f)(void *),
                   void *restrict arg)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    started++;
    return next(thread, attr, f, arg);
}

/* ---- what calls work on: large enough for every operation to think that threads pay */

enum { N = 4000, ENTRIES = 200000, D = 64, HEADS = 4, CLASSES = 5 };

static FtB_Matrix A, P, S; /* with values, without, and with one for each head */
static FtB_Block X, Y, H, T, L;
static FtB_Tape tape;
static FtB_Parameter W;
static int64_t rows_of[ENTRIES], cols_of[ENTRIES], picked[N];
static float values[ENTRIES];
static int32_t labels[N];
static FtB_Var x, y;

static FtB_Block drawn(int64_t nrows, int64_t ncols)
{
    FtB_Block B;
    float *to;
    rng r = {7};
    assert_ok(FtB_Block_new(&B, nrows, ncols, FTB_FP32));
    assert_ok(FtB_Block_shape(B, NULL, NULL, NULL, NULL, (void **)&to));
    for (int64_t k = 0; k < nrows * ncols; k++)
        to[k] = (float)rng_unit(&r);
    return B;
}

static void setup(void)
{
    rng r = {3};
    FtB_Block parameter, all;
    for (int64_t e = 0; e < ENTRIES; e++) {
        rows_of[e] = rng_below(&r, N);
        cols_of[e] = rng_below(&r, N);
        values[e] = (float)rng_unit(&r);
    }
    for (int64_t i = 0; i < N; i++) {
        picked[i] = N - 1 - i;
        labels[i] = (int32_t)(i % CLASSES);
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, N, N, 1, ENTRIES, rows_of, cols_of, values, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Matrix_build(&P, FTB_FP32, N, N, 0, ENTRIES, rows_of, cols_of, NULL, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Matrix_like(&S, A, HEADS, FTB_FP32));
    X = drawn(N, D);
    Y = drawn(N, D);
    L = drawn(N, HEADS);
    assert_ok(FtB_Block_new(&all, N, D, FTB_FP32));
    assert_ok(FtB_Block_heads(&H, all, HEADS));
    assert_ok(FtB_Block_heads(&T, X, HEADS));
    FtB_Block_free(&all);
    assert_ok(FtB_Tape_new(&tape, 1));
    assert_ok(FtB_Parameter_new(&W, "W", D, D, FTB_FP32));
    assert_ok(FtB_Parameter_value(&parameter, W));
    assert_ok(FtB_init(parameter, FTB_INIT_GLOROT_UNIFORM, 1, NULL));
    FtB_Block_free(&parameter);
    const FtB_Var w = FtB_parameter(tape, W);
    x = FtB_matmul(FtB_input(tape, X), w);
    y = FtB_matmul(FtB_input(tape, Y), w);
}

static void teardown(void)
{
    FtB_Block *const blocks[] = {&X, &Y, &H, &T, &L};
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&P);
    FtB_Matrix_free(&S);
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        FtB_Block_free(blocks[b]);
    FtB_Tape_free(&tape);
    FtB_Parameter_free(&W);
}

/* Runs what was recorded, forward and back. */
static void learn(FtB_Var z)
{
    int64_t nrows, ncols;
    FtB_Block target;
    assert_ok(FtB_Var_shape(z, &nrows, &ncols));
    assert_ok(FtB_Block_new(&target, nrows, ncols, FTB_FP32));
    FtB_Var loss = nrows == 1 && ncols == 1 ? z : FtB_squared_error(z, FtB_input(tape, target), NULL);
    assert_ok(FtB_backward(loss));
    FtB_Block_free(&target);
}

/* ---- runners, in the order of the headers */

static void matrix_build(void)
{
    const int64_t *rowptr;
    const void *colidx, *from;
    FtB_Matrix B;
    assert_ok(FtB_Matrix_build(&B, FTB_FP32, N, N, 1, ENTRIES, rows_of, cols_of, values, FTB_DUP_SUM, NULL));
    FtB_Matrix_free(&B);
    assert_ok(FtB_Matrix_csr(A, &rowptr, &colidx, &from));
    assert_ok(FtB_Matrix_wrap_csr(&B, FTB_FP32, N, N, 1, rowptr, colidx, from));
    FtB_Matrix_free(&B);
}
static void graphblas(void)
{
    GrB_Matrix G;
    FtB_Matrix B;
    assert_ok(FtB_Matrix_export(&G, A, 0));
    assert_ok(FtB_Matrix_import(&B, G));
    GrB_Matrix_free(&G);
    FtB_Matrix_free(&B);
}
static void mxm(void)
{
    FtB_Matrix C;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, N, N, 1));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_TIMES, A, A, FTB_DESC_T0));
    assert_ok(FtB_mxm(C, A, NULL, "max : a + b * k", A, A, NULL));
    assert_ok(FtB_mxm(H, NULL, NULL, FTB_PLUS_MUL, A, T, NULL));
    assert_ok(FtB_mxm(H, NULL, "x + y", "max : tanh(src + edge)", A, T, FTB_DESC_T0));
    assert_ok(FtB_mxm(S, A, NULL, FTB_PLUS_DOT, T, T, FTB_DESC_ST1));
    assert_ok(FtB_mxm(S, A, NULL, "plus : sum(abs(src - dst))", T, T, FTB_DESC_ST1));
    FtB_Matrix_free(&C);
}
static void mxm_arg(void)
{
    FtB_Block E;
    assert_ok(FtB_Block_new(&E, N, D, FTB_INT64));
    assert_ok(FtB_mxm_arg(H, E, NULL, FTB_MAX_SRC, P, T, NULL));
    assert_ok(FtB_mxm_grad(H, FTB_MAX_SRC, P, T, NULL, E, NULL, FTB_GRAD("src", Y)));
    FtB_Block_free(&E);
}
static void mxm_grad(void)
{
    FtB_Matrix dA;
    assert_ok(FtB_Matrix_like(&dA, A, 1, FTB_FP32));
    assert_ok(FtB_mxm_grad(H, "plus : edge * tanh(src)", A, T, NULL, NULL, NULL, FTB_GRAD("src", Y),
                           FTB_GRAD("edge", dA)));
    FtB_Matrix_free(&dA);
}
static void softmax(void)
{
    assert_ok(FtB_softmax(S, S, FTB_BY_ROW));
    assert_ok(FtB_softmax(S, S, FTB_BY_COLUMN));
}
static void softmax_grad(void)
{
    FtB_Matrix dS;
    assert_ok(FtB_Matrix_dup(&dS, S));
    assert_ok(FtB_softmax_grad(dS, S, dS, FTB_BY_ROW));
    assert_ok(FtB_softmax_grad(dS, S, dS, FTB_BY_COLUMN));
    FtB_Matrix_free(&dS);
}
static void attention(void)
{
    static const char *const kernels[] = {"rows", "segments", "staged"};
    for (int k = 0; k < 3; k++) {
        FtB_Plan plan;
        FtB_Descriptor desc;
        assert_ok(FtB_attention_plan(&plan, H, P, NULL, FTB_PLUS_DOT, T, T, T, NULL, NULL, FTB_ESTIMATE));
        assert_ok(FtB_Plan_set(plan, "kernel", kernels[k]));
        assert_ok(FtB_Descriptor_new(&desc));
        assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
        assert_ok(FtB_attention(H, P, NULL, FTB_PLUS_DOT, T, T, T, FTB_ATTENTION_OPTIONS(.lse = L), desc));
        if (k < 2)
            assert_ok(FtB_attention_grad(Y, NULL, NULL, H, P, FTB_PLUS_DOT, T, T, T, H,
                                         FTB_ATTENTION_OPTIONS(.lse = L), desc));
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&plan);
    }
    assert_ok(FtB_attention(H, P, "x + y", "plus : sum(abs(src - dst))", T, T, T, NULL, NULL));
}
static void apply(void)
{
    FtB_Matrix C;
    assert_ok(FtB_Matrix_dup(&C, A));
    assert_ok(FtB_apply(Y, NULL, NULL, "relu(x)", X, NULL));
    assert_ok(FtB_apply(Y, NULL, "x + y", "x / sqrt(dot(x, x))", X, NULL));
    assert_ok(FtB_apply(C, NULL, NULL, "x * 2 + i", A, FTB_DESC_T0));
    assert_ok(FtB_apply(C, P, "x + y", "x", A, NULL));
    FtB_Matrix_free(&C);
}
static void selects(void)
{
    FtB_Matrix C;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, N, N, 1));
    assert_ok(FtB_select(C, NULL, NULL, "x > 0.5", A, NULL));
    assert_ok(FtB_select_topk(C, NULL, NULL, 5, A, NULL));
    FtB_Matrix_free(&C);
}
static void add(void)
{
    FtB_Matrix C;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, N, N, 1));
    assert_ok(FtB_eWiseAdd(C, NULL, NULL, "x + y", A, P, NULL));
    assert_ok(FtB_eWiseAdd(Y, NULL, NULL, "x + y", X, X, NULL));
    FtB_Matrix_free(&C);
}
static void mult(void)
{
    FtB_Matrix C;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, N, N, 1));
    assert_ok(FtB_eWiseMult(C, NULL, NULL, "x * y", A, A, FTB_DESC_T1));
    assert_ok(FtB_eWiseMult(Y, NULL, NULL, "x * y", X, X, NULL));
    FtB_Matrix_free(&C);
}
static void reduce(void)
{
    FtB_Block s, t;
    assert_ok(FtB_Block_new(&s, N, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&t, 1, D, FTB_FP32));
    assert_ok(FtB_reduce(s, NULL, NULL, "plus", A, NULL));
    assert_ok(FtB_reduce(s, NULL, NULL, "max", A, FTB_DESC_T0));
    assert_ok(FtB_reduce(s, NULL, NULL, "plus", X, NULL));
    assert_ok(FtB_reduce(t, NULL, NULL, "plus", X, FTB_DESC_T0));
    FtB_Block_free(&s);
    FtB_Block_free(&t);
}
static void reduce_scalar(void)
{
    float sum;
    assert_ok(FtB_reduce_scalar(&sum, FTB_FP32, "plus", A));
}
static void select_sample(void) { sampling_picks(A); }
static void sample(void) { sampling_hops(A, X, picked, N); }
static void walk(void) { sampling_walks(A, picked, N); }
static void subgraphs(void) { sampling_subgraphs(A, picked, N); }
static void parts(void) { vector_parts(A); }
static void vectors(void)
{
    vector_objects();
    vector_products(A);
    vector_elementwise(A);
}
static void vertex(void) { vertex_runs(A); }
static void programs(void) { vertex_programs(A); }
static void shapes(void) { shape_programs(A); }
static void ratings(void) { rating_programs(A); }
static void gather(void) { assert_ok(FtB_gather(Y, X, picked, N)); }
static void scatter(void)
{
    assert_ok(FtB_scatter(Y, "x + y", X, picked, N));
    assert_ok(FtB_scatter(Y, NULL, X, picked, N));
}
static void project(void)
{
    FtB_Matrix whole;
    assert_ok(
        FtB_Matrix_build(&whole, FTB_INT32, N, N, 1, ENTRIES, rows_of, cols_of, values, FTB_DUP_SUM, NULL));
    FtB_Sink sink;
    FtB_Matrix C;
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, N, N, 1));
    assert_ok(FtB_project(C, A, "jaccard", FTB_PROJECT_OPTIONS(.top_k = 3)));
    assert_ok(FtB_project(C, A, "plus : min(a, b)", NULL));
    assert_ok(FtB_Sink_stats(&sink));
    assert_ok(FtB_project(sink, whole, "pearson", NULL));
    FtB_Sink_free(&sink);
    assert_ok(FtB_Sink_file(&sink, temp_path("pairs.tsv"), FTB_FORMAT_AUTO, NULL));
    assert_ok(FtB_project(sink, A, "count", FTB_PROJECT_OPTIONS(.triangle = true)));
    FtB_Sink_free(&sink);
    FtB_Matrix_free(&whole);
    FtB_Matrix_free(&C);
}
static void project_plan(void)
{
    FtB_Plan plan;
    FtB_Sink sink;
    assert_ok(FtB_Sink_stats(&sink));
    assert_ok(FtB_project_plan(&plan, sink, A, "cosine", NULL, FTB_ESTIMATE));
    FtB_Plan_free(&plan);
    FtB_Sink_free(&sink);
}
static void mxm_plan(void)
{
    for (int effort = FTB_ESTIMATE; effort <= FTB_MEASURE; effort++) {
        FtB_Plan plan;
        assert_ok(FtB_mxm_plan(&plan, H, NULL, NULL, FTB_PLUS_SRC, P, T, NULL,
                               effort ? FTB_MEASURE : FTB_ESTIMATE));
        FtB_Plan_free(&plan);
    }
}
static void attention_plan(void)
{
    FtB_Plan plan;
    assert_ok(FtB_attention_plan(&plan, H, P, NULL, FTB_PLUS_DOT, T, T, T, NULL, NULL, FTB_MEASURE));
    FtB_Plan_free(&plan);
}
static void matrix_files(void)
{
    static const char *const names[] = {"a.mtx", "a.tsv", "a.npz", "a.csr"};
    for (int f = 0; f < 4; f++) {
        FtB_Matrix B;
        assert_ok(FtB_Matrix_write(A, temp_path(names[f]), FTB_FORMAT_AUTO, NULL, NULL, 0));
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path(names[f]), FTB_READ_OPTIONS(.finite = true)));
        FtB_Matrix_free(&B);
    }
}
static void block_files(void)
{
    static const char *const names[] = {"x.mtx", "x.tsv", "x.npy"};
    for (int f = 0; f < 3; f++) {
        FtB_Block B;
        assert_ok(FtB_Block_write(X, temp_path(names[f]), FTB_FORMAT_AUTO, 0));
        assert_ok(FtB_Block_read(&B, temp_path(names[f]), NULL));
        FtB_Block_free(&B);
    }
}
static void init(void) { assert_ok(FtB_init(Y, FTB_INIT_NORMAL, 1, NULL)); }
static void optimizer(void)
{
    FtB_Optimizer o;
    FtB_Parameter big;
    FtB_Block target;
    assert_ok(FtB_Parameter_new(&big, "big", N, D, FTB_FP32));
    assert_ok(FtB_Optimizer_new(&o, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.clip_norm = 1)));
    assert_ok(FtB_Optimizer_add(o, &big, 1, NULL));
    assert_ok(FtB_Block_new(&target, N, D, FTB_FP32));
    assert_ok(FtB_backward(FtB_squared_error(FtB_parameter(tape, big), FtB_input(tape, target), NULL)));
    assert_ok(FtB_Optimizer_step(o));
    FtB_Block_free(&target);
    FtB_Optimizer_free(&o);
    FtB_Parameter_free(&big);
}
static void layers(void)
{
    static const char *const kinds[] = {
#define KIND(name, options, formula) #name,
        FTB_LAYERS(KIND)
#undef KIND
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        FtB_Layer layer;
        const bool typed = strcmp(kinds[k], "rgcn") == 0, moves = strcmp(kinds[k], "appnp") == 0;
        assert_ok(FtB_Layer_new(&layer, kinds[k], D, moves ? D : 8,
                                typed ? FTB_LAYER_OPTIONS(.relations = 1) : NULL));
        FtB_Matrix graph = P, types = NULL;
        if (typed) {
            assert_ok(FtB_Matrix_like(&types, A, 1, FTB_FP32)); /* all of type 0 */
            graph = types;
        }
        learn(FtB_Layer_apply(layer, graph, x, x, FTB_NO_VAR));
        FtB_Layer_free(&layer);
        FtB_Matrix_free(&types);
    }
}
static void backward(void)
{
    FtB_Block Z;
    FtB_Var z = FtB_multiply("plus : src", P, FTB_OPERAND("src", x));
    assert_ok(FtB_evaluate(&Z, z));
    FtB_Block_free(&Z);
    learn(z);
}
static void multiply_transposed(void)
{
    learn(FtB_multiply_transposed("plus : src * edge", A, FTB_OPERAND("src", x)));
}
static FtB_Var scores(void)
{
    return FtB_on_edges("plus : dot(src, dst)", P, FTB_OPERAND("src", FtB_heads(x, HEADS)),
                        FTB_OPERAND("dst", FtB_heads(y, HEADS)));
}
static void on_edges(void)
{
    FtB_Var e = FtB_edge_softmax(scores(), FTB_BY_ROW);
    learn(FtB_multiply("plus : src * edge", P, FTB_OPERAND("src", FtB_heads(x, HEADS)),
                       FTB_OPERAND("edge", e)));
}
static void input_edges(void)
{
    learn(FtB_multiply("plus : src * edge", A, FTB_OPERAND("src", x),
                       FTB_OPERAND("edge", FtB_input_edges(tape, A))));
}
static void attend(void)
{
    learn(FtB_attend("plus : dot(src, dst)", P, 0.5, FTB_OPERAND("src", x), FTB_OPERAND("dst", y),
                     FTB_OPERAND("values", x)));
}
static void linear(void) { learn(FtB_linear(x, W, NULL)); }
static void map(void) { learn(FtB_map("x * tanh(y)", FTB_OPERAND("x", x), FTB_OPERAND("y", y))); }
static void map_rows(void)
{
    learn(FtB_map("x / sqrt(1 + dot(y, y))", FTB_OPERAND("x", x), FTB_OPERAND("y", y)));
}
static void dropout(void) { learn(FtB_dropout(FtB_relu(x), 0.5)); }
static void mean_heads(void) { learn(FtB_mean_heads(FtB_heads(x, HEADS))); }
static void concat(void) { learn(FtB_columns(FtB_concat(x, y), 5, D)); }
static void rows(void) { learn(FtB_rows(x, picked, N)); }
static void pool(void)
{
    for (FtB_Pool how = FTB_POOL_SUM; how <= FTB_POOL_MAX; how++)
        learn(FtB_pool(x, picked, N, how));
}
static void layer_norm(void) { learn(FtB_layer_norm(x, NULL, NULL, 1e-5)); }
static void batch_norm(void)
{
    FtB_Parameter mean, variance;
    assert_ok(FtB_Parameter_new(&mean, "mean", 1, D, FTB_FP32));
    assert_ok(FtB_Parameter_new(&variance, "variance", 1, D, FTB_FP32));
    assert_ok(FtB_Parameter_set_trained(mean, false));
    assert_ok(FtB_Parameter_set_trained(variance, false));
    learn(FtB_batch_norm(x, NULL, NULL, mean, variance, 0.1, 1e-5));
    FtB_Parameter_free(&mean);
    FtB_Parameter_free(&variance);
}
static void cross_entropy(void) { learn(FtB_cross_entropy(x, labels, NULL)); }
static void binary(void)
{
    learn(FtB_binary_cross_entropy(FtB_subtract(x, y), FtB_sigmoid(FtB_times(x, FtB_scale(y, 2))), NULL));
}
static void activations(void) { learn(FtB_add(FtB_gelu(FtB_tanh(x)), FtB_elu(FtB_leaky_relu(y, 0.1)))); }
static GrB_Info copy(const FtB_Operation_call *c)
{
    return FtB_apply(c->out, NULL, NULL, "x", c->in[0], NULL);
}
static void custom(void)
{
    static const FtB_Operation operation = {"copy", copy, NULL};
    learn(FtB_add(x, FtB_custom(&operation, &x, 1, N, D, NULL)));
}

/* ---- every function of the headers */

/* clang-format off */
static const struct {
    const char *name;
    void (*run)(void);
} calls[] = {
    {"Matrix_build", matrix_build}, {"Matrix_wrap_csr", matrix_build}, {"Matrix_import", graphblas},
    {"Matrix_export", graphblas}, {"mxm", mxm}, {"mxm_arg", mxm_arg}, {"mxm_grad", mxm_grad},
    {"softmax", softmax}, {"softmax_grad", softmax_grad}, {"attention", attention},
    {"attention_grad", attention}, {"apply", apply}, {"select", selects}, {"select_topk", selects},
    {"extract", parts}, {"assign", parts}, {"transpose", parts}, {"eWiseAdd", add}, {"eWiseMult", mult}, {"reduce", reduce}, {"reduce_scalar", reduce_scalar},
    {"Vector_build", vectors}, {"Vector_dup", vectors}, {"Vector_from_block", vectors}, {"Vector_to_block", vectors}, {"Vector_import", vectors}, {"Vector_export", vectors}, {"run", vertex}, {"Run_new", vertex}, {"Run_step", vertex}, {"bfs", programs}, {"sssp", programs}, {"components", programs}, {"pagerank", programs}, {"triangles", shapes}, {"clustering", shapes}, {"betweenness", shapes}, {"communities", shapes}, {"topological", shapes}, {"factorize", ratings}, {"factorize_error", ratings}, {"gather", gather}, {"scatter", scatter}, {"select_sample", select_sample}, {"sample_negative", select_sample}, {"sample", sample}, {"Relations_sample", sample}, {"Loader_next", sample}, {"walk", walk}, {"pinsage", walk},
    {"subgraph", subgraphs}, {"Saint_new", subgraphs}, {"Saint_batch", subgraphs}, {"partition", subgraphs}, {"partition_measure", subgraphs}, {"Clusters_batch", subgraphs}, {"project", project}, {"project_plan", project_plan},
    {"mxm_plan", mxm_plan}, {"attention_plan", attention_plan}, {"Matrix_read", matrix_files},
    {"Matrix_write", matrix_files}, {"Block_read", block_files}, {"Block_write", block_files}, {"init", init},
    {"Optimizer_step", optimizer}, {"Layer_apply", layers}, {"evaluate", backward}, {"backward", backward},
    {"multiply", backward}, {"multiply_transposed", multiply_transposed}, {"on_edges", on_edges},
    {"edge_softmax", on_edges}, {"input_edges", input_edges}, {"attend", attend}, {"matmul", linear},
    {"linear", linear}, {"map", map}, {"map", map_rows}, {"dropout", dropout}, {"mean_heads", mean_heads},
    {"heads", mean_heads}, {"concat", concat}, {"columns", concat}, {"rows", rows}, {"pool", pool},
    {"layer_norm", layer_norm}, {"batch_norm", batch_norm}, {"cross_entropy", cross_entropy},
    {"squared_error", map}, {"binary_cross_entropy", binary}, {"sigmoid", binary}, {"times", binary},
    {"subtract", binary}, {"scale", binary}, {"relu", dropout}, {"leaky_relu", activations},
    {"elu", activations}, {"tanh", activations}, {"gelu", activations}, {"add", activations},
    {"custom", custom}, {"input", linear}, {"parameter", linear},
#define LAYER(name, options, formula) {#name, layers},
    FTB_LAYERS(LAYER)
#undef LAYER
};
/* clang-format on */

static bool known(const char *name)
{
    char word[80];
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        if (strcmp(calls[c].name, name) == 0)
            return true;
    snprintf(word, sizeof word, " %s ", name);
    return strstr(serial_calls, word);
}

static void look_up(const char *file, const char *name)
{
    if (!known(name + 4))
        fail_msg("%s declares %s: it needs a row in tests/test_threads.c", file, name);
}

static void every_call(void **state)
{
    (void)state;
    assert_true(each_public_call(look_up) > 150);
}

/* Whether an earlier row has the same runner. */
static bool ran(size_t c)
{
    size_t b = 0;
    while (calls[b].run != calls[c].run)
        b++;
    return b < c;
}

static void with_threads(int threads)
{
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, threads));
    assert_ok(FtB_Context_engage(ctx));
    setup();
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        if (ran(c))
            continue;
        most = unasked = started = 0;
        calls[c].run();
        if (unasked)
            fail_msg("FtB_%s: %d parallel regions do not say how many threads", calls[c].name, unasked);
        if (most > threads)
            fail_msg("FtB_%s: asks for %d threads where the context has %d", calls[c].name, most, threads);
        if (threads == 1 && started)
            fail_msg("FtB_%s: starts %d threads where the context has 1", calls[c].name, started);
        if (threads > 1 && most < 2)
            fail_msg("FtB_%s: never runs in parallel here; the test sees nothing of it", calls[c].name);
    }
    teardown();
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

static void one_thread(void **state)
{
    (void)state;
    with_threads(1);
}

static void three_threads(void **state)
{
    (void)state;
    with_threads(3);
}
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(one_thread),
                                       cmocka_unit_test(three_threads)};
    return GrB_init(GrB_NONBLOCKING) || cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
