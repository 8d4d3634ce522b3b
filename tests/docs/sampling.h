/* What docs/sampling.md's fragments take for granted. */
#include "common.h"

enum { n = 6, count = 4, nseeds = 2, h = 1, ntrain = 3, nvals = 2 * n };
static float features[n * 64];
static FtB_Matrix A, S, all, writes, cites;
static FtB_Relations list;
static FtB_Relation_sample found;
static FtB_Block X, Xs, Hs, walks, more;
static FtB_Saint saint;
static FtB_Clusters clusters;
static int32_t parts[n];
static FtB_Sample hop, bulk, batches[nseeds];
static int64_t targets, kept, gathered, hits;
static const int64_t rows[count] = {3, 0, 3, 5}, seeds[nseeds] = {1, 4}, train[ntrain] = {0, 2, 5};
static const int64_t moments[nseeds] = {5, 7}, fanouts[] = {15, 10};
static int64_t times[nvals];
static const int32_t labels[n] = {0, 1, 1};
static FtB_Loader loader;
static FtB_Layer conv1, conv2;
static FtB_Optimizer adam;
static FtB_Tape tape;

static void before(void)
{
    A = ring(n);
    OK(FtB_Block_wrap(&X, features, n, 64, 64, FTB_FP32));
    OK(FtB_Matrix_new(&S, FTB_FP32, count, n, 1));
    OK(FtB_Layer_new(&conv1, "sage", 64, 8, NULL));
    OK(FtB_Layer_new(&conv2, "sage", 8, 2, NULL));
    OK(FtB_Optimizer_new(&adam, FTB_ADAM, NULL));
    OK(FtB_Optimizer_add_layer(adam, conv1, NULL));
    OK(FtB_Optimizer_add_layer(adam, conv2, NULL));
    OK(FtB_Tape_new(&tape, 1));
    OK(FtB_Matrix_new(&all, FTB_FP32, n, n, 1));
    OK(FtB_Matrix_new(&writes, FTB_FP32, n, 4, 1));
    cites = ring(n);
}

static void after(const char *where) { no_error(where, GrB_SUCCESS); }
