/* What README.md's fragments take for granted. */
#include "common.h"

enum { n = 6, nfeatures = 12, nclasses = 2 };
static int64_t nfilms = 4;
static float features[n * 64];
static GrB_Matrix ratings, similar;
static FtB_Matrix A;
static FtB_Block X, Y, H, Q, K, V, Xs;
static FtB_Sample hop;
static FtB_Loader loader;
static void train(FtB_Matrix hop1, FtB_Matrix hop0, FtB_Block features_of, const int32_t *classes)
{
    if (!hop1 || !hop0 || !features_of || !classes)
        exit(1);
}
static int64_t seeds[] = {3, 1};
static const int64_t nseeds = 2;
static FtB_Semiring bound;
static FtB_Tape tape;
static FtB_Layer conv1, conv2;
static FtB_Optimizer adam;
static FtB_Parameter W;
static FtB_Var y;
static int32_t labels[n];
static uint8_t train_mask[n] = {1, 1, 1};

static void before(void)
{
    FtB_Semiring mlp;
    FtB_Block weights;
    GrB_init(GrB_NONBLOCKING);
    OK(GrB_Matrix_new(&ratings, GrB_FP64, 5, (GrB_Index)nfilms));
    for (GrB_Index i = 0; i < 5; i++)
        OK(GrB_Matrix_setElement_FP64(ratings, (double)i, i, i % 4));
    A = ring(n);
    OK(FtB_Block_wrap(&X, features, n, nfeatures, 64, FTB_FP32));
    OK(FtB_Block_new(&Q, n, 16, FTB_FP32));
    OK(FtB_Block_new(&K, n, 16, FTB_FP32));
    OK(FtB_Block_new(&V, n, 64, FTB_FP32));
    OK(FtB_Block_new(&weights, 64, 64, FTB_FP32));
    OK(FtB_Semiring_new(&mlp, "max : relu((src + dst) @ W)"));
    OK(FtB_Block_new(&H, n, 64, FTB_FP32));
    OK(FtB_Semiring_bind(&bound, mlp, FTB_BIND("dst", H), FTB_BIND("W", weights)));
    OK(FtB_Tape_new(&tape, 1));
    OK(FtB_Optimizer_new(&adam, FTB_ADAM, NULL));
    OK(FtB_Parameter_new(&W, "W", 2 * 16, 3, FTB_FP32));
}

static void after(const char *where) { no_error(where, FtB_Tape_status(tape)); }
