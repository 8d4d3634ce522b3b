/* Training on mini-batches: seconds a batch of GraphSAGE beside what it cannot do without. Usage:
 *
 *     bench_minibatch FILE [threads] [batches] [features] [fanouts, as 15,10,5] [hidden]
 *
 * FILE is a square graph (featblas gen products-like -o products.csr). Features, classes and seeds are drawn.
 * The network has a layer for each fanout, 256 hidden columns unless said, 47 classes, Adam; batches have
 * 1024 seeds. Lines: a batch with one made ahead, and with none; then the floors, each over the same batches:
 * picks (FtB_sample), the gather of features, and the dense products (forward, gradients of weights and, but
 * for the first layer, of inputs) by the CBLAS alone. Of one thread all is CPU time. The last line is the sum
 * of the floors over the time of a batch: no more than 1 where nothing overlaps. */
#include "featblas_nn.h"
#include "support/calls.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

extern void openblas_set_num_threads(int) __attribute__((weak)); /* of other libraries there is none */

enum { SEEDS = 1024, CLASSES = 47, HOPS = 8, MOST = 10000 };

typedef struct work {
    FtB_Matrix A;
    FtB_Block X;
    int64_t n, nseeds, features, hidden, fanouts[HOPS];
    int64_t *seeds;
    int32_t *labels;
    int nhops, batches, threads;
    double targets[HOPS], vertices, picks; /* a batch, in sum: targets of each hop */
} work;

static void draw(work *w)
{
    void *values;
    bench_check(FtB_Block_new(&w->X, w->n, w->features, FTB_FP32));
    bench_check(FtB_Block_shape(w->X, NULL, NULL, NULL, NULL, &values));
    for (int64_t e = 0; e < w->n * w->features; e++)
        ((float *)values)[e] = (float)(bench_bits() >> 40) / (1 << 23) - 1;
    bench_check(FtB_Block_changed(w->X));
    w->nseeds = (int64_t)(w->batches + 2) * SEEDS;
    w->seeds = malloc((size_t)w->nseeds * sizeof *w->seeds);
    w->labels = malloc((size_t)w->n * sizeof *w->labels);
    if (!w->seeds || !w->labels)
        exit(1);
    for (int64_t t = 0; t < w->nseeds; t++)
        w->seeds[t] = (int64_t)(bench_bits() % (uint64_t)w->n);
    for (int64_t v = 0; v < w->n; v++)
        w->labels[v] = (int32_t)(bench_bits() % CLASSES);
}

static FtB_Loader loader_of(const work *w, int ahead)
{
    FtB_Loader l;
    FtB_Loader_options o = {.size = sizeof o, .batch = SEEDS, .seed = 7, .in_order = true, .ahead = ahead};
    for (int h = 0; h < w->nhops; h++)
        o.fanout[h] = w->fanouts[h];
    bench_check(FtB_Loader_new(&l, w->A, w->X, w->labels, w->seeds, w->nseeds, &o));
    return l;
}

/* ---- training */

static void step(const work *w, FtB_Batch b, FtB_Tape tape, FtB_Layer *layers, FtB_Optimizer adam)
{
    bench_check(FtB_Tape_reset(tape));
    FtB_Var x = FtB_input(tape, FtB_Batch_features(b));
    for (int k = 0; k < w->nhops; k++) {
        x = FtB_sage(layers[k], FtB_Batch_hop(b, w->nhops - 1 - k), x);
        if (k + 1 < w->nhops)
            x = FtB_relu(x);
    }
    bench_check(FtB_backward(FtB_cross_entropy(x, FtB_Batch_labels(b), NULL)));
    bench_check(FtB_Optimizer_step(adam));
}

/* Seconds a batch, after one that warms up. */
static double train(work *w, int ahead)
{
    FtB_Layer layers[HOPS] = {NULL};
    FtB_Optimizer adam;
    FtB_Tape tape;
    double start = 0;
    bench_check(FtB_Optimizer_new(&adam, FTB_ADAM, NULL));
    bench_check(FtB_Tape_new(&tape, 1));
    for (int k = 0; k < w->nhops; k++) {
        bench_check(FtB_Layer_new(&layers[k], "sage", k == 0 ? w->features : w->hidden,
                                  k + 1 < w->nhops ? w->hidden : CLASSES,
                                  FTB_LAYER_OPTIONS(.seed = (uint64_t)k + 1)));
        bench_check(FtB_Optimizer_add_layer(adam, layers[k], NULL));
    }
    FtB_Loader l = loader_of(w, ahead);
    for (int b = -1; b < w->batches; b++) {
        FtB_Batch batch = FtB_Loader_next(l);
        bench_check(FtB_Loader_status(l));
        step(w, batch, tape, layers, adam);
        if (b < 0)
            start = bench_seconds(w->threads);
    }
    const double took = (bench_seconds(w->threads) - start) / w->batches;
    FtB_Loader_free(&l);
    FtB_Tape_free(&tape);
    FtB_Optimizer_free(&adam);
    for (int k = 0; k < w->nhops; k++)
        FtB_Layer_free(&layers[k]);
    return took;
}

/* ---- floors */

/* Picks and gathers of the same batches, seconds of each. */
static void sample(work *w, double *picking, double *gathering)
{
    for (int b = -1; b < w->batches; b++) {
        FtB_Sample s;
        FtB_Block Xs;
        double start = bench_seconds(w->threads);
        bench_check(FtB_sample(&s, w->A, w->seeds + (b + 1) * SEEDS, SEEDS, w->fanouts, w->nhops,
                               FTB_SAMPLE_OPTIONS(.seed = 7, .batch = b + 1)));
        *picking += b < 0 ? 0 : bench_seconds(w->threads) - start;
        const FtB_Ids vertices = FtB_Sample_vertices(s);
        start = bench_seconds(w->threads);
        bench_check(FtB_Block_new(&Xs, vertices.count, w->features, FTB_FP32));
        bench_check(FtB_gather(Xs, w->X, vertices));
        *gathering += b < 0 ? 0 : bench_seconds(w->threads) - start;
        for (int h = 0; h < w->nhops && b >= 0; h++) {
            int64_t targets;
            bench_check(FtB_Matrix_shape(FtB_Sample_layer(s, h), &targets, NULL, NULL, NULL, NULL));
            w->targets[h] += (double)targets / w->batches;
            w->picks += (double)FtB_Sample_edge_counts(s).at[h] / w->batches;
        }
        w->vertices += b < 0 ? 0 : (double)vertices.count / w->batches;
        FtB_Block_free(&Xs);
        FtB_Sample_free(&s);
    }
    *picking /= w->batches;
    *gathering /= w->batches;
}

/* Seconds of m x inner times inner x n, the best of three. */
static double product(int64_t m, int64_t n, int64_t inner, int threads)
{
    const size_t a = (size_t)(m * inner), b = (size_t)(inner * n), c = (size_t)(m * n);
    float *A = calloc(a, sizeof *A), *B = calloc(b, sizeof *B), *C = calloc(c, sizeof *C);
    double best = 1e300;
    if (!A || !B || !C)
        exit(1);
    for (int r = 0; r < 3; r++) {
        const double start = bench_seconds(threads);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)inner, 1, A, (int)inner,
                    B, (int)n, 0, C, (int)n);
        const double took = bench_seconds(threads) - start;
        best = took < best ? took : best;
    }
    free(A);
    free(B);
    free(C);
    return best;
}

/* Each layer has two weights: forward, their gradients, and those of what comes in. */
static double dense(const work *w)
{
    double sum = 0;
    for (int k = 0; k < w->nhops; k++) {
        const int64_t m = (int64_t)w->targets[w->nhops - 1 - k], in = k == 0 ? w->features : w->hidden,
                      out = k + 1 < w->nhops ? w->hidden : CLASSES;
        sum += 2 * (product(m, out, in, w->threads) + product(in, out, m, w->threads)) +
               (k > 0 ? 2 * product(m, in, out, w->threads) : 0);
    }
    return sum;
}

static bool parse(work *w, int argc, char **argv)
{
    const char *at = argc > 5 ? argv[5] : "15,10,5";
    char *end;
    w->threads = argc > 2 ? atoi(argv[2]) : 2;
    w->batches = argc > 3 ? atoi(argv[3]) : 20;
    w->features = argc > 4 ? atoi(argv[4]) : 100;
    w->hidden = argc > 6 ? atoi(argv[6]) : 256;
    for (; w->nhops < HOPS; at = end + 1) {
        w->fanouts[w->nhops] = strtoll(at, &end, 10);
        if (end == at || w->fanouts[w->nhops++] < 1)
            return false;
        if (*end != ',')
            break;
    }
    return argc > 1 && w->threads > 0 && w->batches > 0 && w->batches < MOST && w->features > 0 &&
           w->hidden > 0;
}

int main(int argc, char **argv)
{
    work w = {0};
    FtB_Tape tape; /* while it is there, the floors find memory that was used before, as training does */
    double picking = 0, gathering = 0;
    if (!parse(&w, argc, argv)) {
        fprintf(stderr, "usage: bench_minibatch FILE [threads] [batches] [features] [15,10,5] [hidden]\n");
        return 2;
    }
    bench_check(FtB_Context_set_threads(NULL, w.threads));
    if (openblas_set_num_threads)
        openblas_set_num_threads(w.threads);
    bench_check(FtB_Matrix_read(&w.A, NULL, NULL, argv[1], NULL));
    bench_check(FtB_Matrix_shape(w.A, &w.n, NULL, NULL, NULL, NULL));
    draw(&w);
    bench_check(FtB_Tape_new(&tape, 1));
    sample(&w, &picking, &gathering);
    FtB_Tape_free(&tape);
    printf("%s, %d threads, batches of %d: %.0f picks, %.0f vertices\n", argv[1], w.threads, SEEDS, w.picks,
           w.vertices);
    const double ahead = train(&w, 1), alone = train(&w, -1), products = dense(&w);
    printf("a batch, one made ahead    %9.2f ms\n", 1e3 * ahead);
    printf("a batch, none made ahead   %9.2f ms\n", 1e3 * alone);
    printf("floor: picks               %9.2f ms\n", 1e3 * picking);
    printf("floor: gather              %9.2f ms\n", 1e3 * gathering);
    printf("floor: dense products      %9.2f ms\n", 1e3 * products);
    printf("floors over a batch        %9.2f, none ahead %.2f\n", (picking + gathering + products) / ahead,
           (picking + gathering + products) / alone);
    FtB_Matrix_free(&w.A);
    FtB_Block_free(&w.X);
    free(w.seeds);
    free(w.labels);
    return 0;
}
